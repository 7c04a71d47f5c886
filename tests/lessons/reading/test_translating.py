"""The course in another language: nothing but its texts is different, and everything works as it does in English."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.questions import answer_forms, question_words
from attn_tutor.lessons.engine.questions.answer_forms import judge
from attn_tutor.lessons.engine.questions.question_facts import order_names
from attn_tutor.lessons.format.exercises import ExerciseStep
from attn_tutor.lessons.format.lesson import ChoiceStep, Course, Lesson, PredictStep, Question
from attn_tutor.lessons.format.steps import Step
from attn_tutor.lessons.format.text_walk import CourseText, change_texts, texts_of
from attn_tutor.lessons.reading import course_texts, glossary, kept_course, recorded_outputs, repair_kinds
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts import po_file, translations
from attn_tutor.lessons.texts.po_file import Entry
from attn_tutor.lessons.texts.translations import Translations
from tests import pseudo_language
from tests.course import COURSE, LESSONS
from tests.pseudo_language import CLOSE, OPEN


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("translations")
    pseudo_language.write(found)
    return found


@pytest.fixture(scope="module")
def course(folder: Path) -> Course:
    return course_texts.translate_course(COURSE, Translations(folder / pseudo_language.CODE))


def test_every_text_is_translated(course: Course) -> None:
    for lesson in course.lessons:
        assert [
            text for text in texts_of(lesson, (lesson.id,)) if text.text[:1] != OPEN or text.text[-1:] != CLOSE
        ] == []


def test_nothing_but_texts_is_translated(course: Course) -> None:
    """Taking the brackets away gives the course as it was."""

    def english(text: CourseText, written: str) -> str:
        return written.replace(OPEN, "").replace(CLOSE, "")

    def plain(lesson: Lesson) -> Lesson:
        found = change_texts(lesson, (lesson.id,), english)
        return found.model_copy(update={"steps": tuple(map(resting_on_english, found.steps))})

    def resting_on_english(step: Step) -> Step:
        """Checks rest on others by their names, which are texts."""
        if not isinstance(step, ExerciseStep):
            return step
        needs = [tuple(name.replace(OPEN, "").replace(CLOSE, "") for name in check.needs) for check in step.checks]
        checks = zip(step.checks, needs, strict=True)
        return step.model_copy(update={"checks": tuple(one.model_copy(update={"needs": each}) for one, each in checks)})

    def in_lines(lesson: Lesson) -> Lesson:
        return change_texts(lesson, (lesson.id,), lambda text, _: text.text.replace(" }", "}"))

    for before, after in zip(LESSONS, course.lessons, strict=True):
        assert in_lines(plain(after)) == in_lines(before)


def test_run_of_a_translated_lesson_is_asked_for_the_same(course: Course) -> None:
    for before, after in zip(LESSONS, course.lessons, strict=True):
        assert before.parts == after.parts
        assert [set(step.fields) for step in before.steps] == [set(step.fields) for step in after.steps]
        assert [knob.initial(before) for knob in before.knobs if knob.kind != "words"] == [
            knob.initial(after) for knob in after.knobs if knob.kind != "words"
        ]


def in_words(step: Question, result: StepResult) -> bool:
    """Whether the right answer is told by labels, which are words of the language."""
    return isinstance(step, PredictStep) and step.asks == "order" and bool(order_names(step, result))


@cache
def questions() -> list[tuple[int, int]]:
    return [
        (number, position)
        for number, lesson in enumerate(LESSONS)
        for position, step in enumerate(lesson.steps)
        if isinstance(step, Question)
    ]


def test_questions_are_judged_in_any_language_alike(course: Course) -> None:
    """Answers are options, numbers and cells; words of the learner's language name them too."""
    for number, position in questions():
        results = [recorded_outputs.load(each.lessons[number]) for each in (COURSE, course)]
        english, other = (each.lessons[number].steps[position] for each in (COURSE, course))
        assert isinstance(english, Question)
        assert isinstance(other, Question)
        before, after = (result[english.id] for result in results)
        answers = ["b", "1", "0, 1", "3 1 2", "no answer"]
        if not in_words(english, before):
            answers.append(answer_forms.right_answer(english, before))
        for answer in answers:
            assert judge(english, before, answer).passed == judge(other, after, answer).passed, (english.id, answer)
        assert judge(other, after, answer_forms.right_answer(other, after)).passed
        if isinstance(other, ChoiceStep):
            for choice in question_words.choices(other, after):
                assert judge(other, after, choice.text).passed == choice.right
        if isinstance(other, PredictStep) and other.asks == "order":
            assert judge(other, after, answer_forms.answer_text(other, after)).passed


def test_feedback_on_wrong_answers_is_translated(course: Course) -> None:
    lesson = course.lesson("causal-mask")
    step = next(step for step in lesson.steps if isinstance(step, ChoiceStep))
    result = recorded_outputs.load(lesson)[step.id]
    wrong = next(choice for choice in question_words.choices(step, result) if not choice.right)
    assert OPEN in judge(step, result, wrong.letter).message


def test_choices_of_a_knob_are_told_by_their_names(course: Course) -> None:
    knob = course.lesson("causal-mask").knob("scaling")
    assert knob.choices == ("on", "off")
    assert knob.accepts == "⟦on⟧ / ⟦off⟧"
    assert knob.read("⟦off⟧") == knob.read("off") == "off"


def test_labels_that_are_the_tokens_are_the_translated_tokens(folder: Path) -> None:
    for before in LESSONS:
        for start, is_reversed in course_texts.labels_of_tokens(before).items():
            after = course_texts.translate_lesson(before, Translations(folder / pseudo_language.CODE))
            tokens = after.tokens[::-1] if is_reversed else after.tokens
            assert course_texts.labels_of_tokens(after)[start] == is_reversed
            assert tokens != before.tokens


# Falling back --------------------------------------------------------------------------------------------------------


def lesson_with(folder: Path, *entries: Entry, group: str = "causal-mask") -> Lesson:
    (folder / f"{group}.po").write_text(po_file.write({}, entries), encoding="utf-8")
    return course_texts.translate_lesson(COURSE.lesson("causal-mask"), Translations(folder))


def test_text_without_a_translation_for_what_it_says_now_stays_english(tmp_path: Path) -> None:
    before = COURSE.lesson("causal-mask")
    after = lesson_with(
        tmp_path,
        Entry("causal-mask/title", before.title, translations=("Маска",)),
        Entry("causal-mask/goal", f"{before.goal} Now.", translations=("Цель",)),
    )
    assert (after.title, after.goal) == ("Маска", before.goal)
    assert after.steps == before.steps


def test_template_with_other_fields_stays_english(tmp_path: Path) -> None:
    before = COURSE.lesson("causal-mask")
    step = before.step("open-weights")
    source = next(text.text for text in texts_of(before, (before.id,)) if text.id == "causal-mask/open-weights/prose")
    after = lesson_with(tmp_path, Entry("causal-mask/open-weights/prose", source, translations=("{1 + 1}",)))
    assert after.step("open-weights") == step


def test_mistake_of_the_library_is_translated_wherever_it_is_named(tmp_path: Path) -> None:
    texts = {text.id: text for text in pseudo_language.catalog()["mistakes"]}
    name = texts["mistakes/softmax-dim0/name"]
    after = lesson_with(tmp_path, pseudo_language.entry_of(name), group="mistakes")
    found = [
        mistake.name
        for step in after.exercises
        for mistake in getattr(step, "mistakes", ())
        if mistake.id == "softmax-dim0"
    ]
    assert found
    assert set(found) == {f"{OPEN}{name.text}{CLOSE}"}


# The rest of the course ----------------------------------------------------------------------------------------------


def test_glossary_is_translated_with_its_links(folder: Path) -> None:
    before = glossary.load()
    after = course_texts.translate_glossary(COURSE, before, Translations(folder / pseudo_language.CODE))
    assert len(after.terms) == len(before.terms)
    for term in after.terms:
        assert all(after.search(other) for other in term.see)
        assert term.pattern.search(f"an {term.term}")
    assert {each.title for each in after.references} == {each.title for each in before.references}
    assert all(each.about.startswith(OPEN) for each in after.references)


def test_kinds_of_repairs_are_told_in_the_learners_language(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert repair_kinds.kind_text("axis") == repair_kinds.kind_texts()["axis"]
    pseudo_language.speak(monkeypatch, folder)
    assert repair_kinds.kind_text("axis").name == "⟦wrong axis⟧"
    assert "{code}" in repair_kinds.kind_text("axis").why


def test_course_is_kept_for_each_language(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    english = kept_course.load_outline()[0]
    with monkeypatch.context() as patch:
        pseudo_language.speak(patch, folder)
        for _ in range(2):
            outline, load = kept_course.load_outline()
            assert outline.lessons[0].title == load().lessons[0].title == f"⟦{english.lessons[0].title}⟧"
    assert kept_course.load_outline()[0] == english
    kept = (tmp_path / "cache" / "attn-tutor").iterdir()
    assert sorted(path.name for path in kept) == ["course-xx.json", "course.json"]


def test_changed_translation_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    language = tmp_path / "xx"
    language.mkdir()
    pseudo_language.speak(monkeypatch, tmp_path)
    source = COURSE.lesson("causal-mask").title
    for title in ("Раз", "Два"):
        entry = Entry("causal-mask/title", source, translations=(title,))
        (language / "causal-mask.po").write_text(po_file.write({}, [entry]), encoding="utf-8")
        translations._of.cache_clear()  # as in another process
        assert kept_course.load_course().lesson("causal-mask").title == title
