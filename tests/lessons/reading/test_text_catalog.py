"""The catalog of all texts of the course."""

from __future__ import annotations

from functools import cache

from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.reading import course_texts, glossary, line_exercises, mistake_library
from attn_tutor.lessons.reading.course_texts import Catalog
from tests.course import COURSE
from tests.lessons.lesson_builders import doubling_exercise, lesson_of


@cache
def whole() -> Catalog:
    return course_texts.catalog(COURSE, mistake_library.load_library(), glossary.load())


def test_ids_are_unique_and_begin_with_their_group() -> None:
    ids = [text.id for texts in whole().values() for text in texts]
    assert len(set(ids)) == len(ids)
    assert all(text.id.startswith(f"{group}/") for group, texts in whole().items() for text in texts)
    assert {lesson.id for lesson in COURSE.lessons} < set(whole())
    assert all(whole().values())


def test_a_mistake_of_the_library_stands_there_once() -> None:
    named = [mistake.why for step in exercises() for mistake in step.mistakes if mistake.id == "softmax-dim0"]
    assert len(named) > 1
    [why] = [text.text for text in whole()["mistakes"] if text.id == "mistakes/softmax-dim0/why"]
    found = [text.id for texts in whole().values() for text in texts if text.text == why]
    assert found == ["mistakes/softmax-dim0/why"]


def test_what_an_exercise_says_itself_of_a_mistake_belongs_to_the_exercise() -> None:
    own = [text for texts in whole().values() for text in texts if "/mistakes/" in text.id]
    assert own
    library = {text.id: text.text for text in whole()["mistakes"]}
    assert all(library.get(course_texts.shared_id(text.id)) != text.text for text in own)


def test_checks_of_exercises_in_one_line_stand_there_once() -> None:
    step = doubling_exercise().model_dump(mode="json", by_alias=True)
    step |= {"form": "line", "starter": "def double(x):\n    return ...\n"}
    step |= {"solution": "def double(x):\n    return 2 * x\n"}
    for key in ("probe", "checks"):
        del step[key]
    line_exercises.fill_in_line(step)
    lesson = lesson_of(step)
    shared = {text.id: text.text for text in whole()["line"]}
    assert "line/0/fail/0/say" in shared
    assert not [text for text in course_texts.texts_of_lesson(lesson, shared) if "/checks/" in text.id]
    assert [text for text in course_texts.texts_of_lesson(lesson, {}) if "/checks/" in text.id]


def exercises() -> list[ExerciseStep]:
    return [step for lesson in COURSE.lessons for step in lesson.steps if isinstance(step, ExerciseStep)]


def test_labels_that_repeat_the_tokens_of_a_lesson_stand_there_once() -> None:
    for lesson in COURSE.lessons:
        for start in course_texts.labels_of_tokens(lesson):
            assert not [text for text in whole()[lesson.id] if text.id.startswith(start)]
    assert any(course_texts.labels_of_tokens(lesson) for lesson in COURSE.lessons)
