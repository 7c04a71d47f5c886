"""The course in the learner's language: every text that has a translation is replaced by it, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from attn_tutor.lessons.format.course_file import CourseFile
from attn_tutor.lessons.format.exercises import ExerciseStep
from attn_tutor.lessons.format.fields import Model
from attn_tutor.lessons.format.lesson import Course, Lesson, RunningStep, ShownTensor, TrainStep
from attn_tutor.lessons.format.steps import Step
from attn_tutor.lessons.format.text_walk import SEPARATOR, Change, CourseText, change_texts, with_fields_of
from attn_tutor.lessons.reading import glossary, text_catalog
from attn_tutor.lessons.reading.glossary import Glossary, Term
from attn_tutor.lessons.reading.text_catalog import ABOUT, GLOSSARY, REFERENCES, shared_id
from attn_tutor.lessons.texts import translations
from attn_tutor.lessons.texts.translations import Translations

M = TypeVar("M", bound=Model)


def translate_course(course: Course, into: Translations) -> Course:
    """Return a course in another language."""
    if into.folder is None:
        return course
    lessons = tuple(translate_lesson(lesson, into) for lesson in course.lessons)
    return course.model_copy(update={"lessons": lessons, "description": _translated(course.description, into)})


def _translated(description: CourseFile | None, into: Translations) -> CourseFile | None:
    if description is None:
        return None
    return change_texts(description, (ABOUT, description.text_key), _change(into, ABOUT))


def translate_lesson(lesson: Lesson, into: Translations) -> Lesson:
    """Return a lesson in another language. Labels that are its tokens stay its tokens."""
    translated = change_texts(lesson, (lesson.id,), _change(into, lesson.id))
    steps_with_needs = tuple(map(_with_needs, lesson.steps, translated.steps))
    translated = translated.model_copy(update={"steps": steps_with_needs})
    if not (repeated := text_catalog.labels_of_tokens(lesson)):
        return translated
    steps = []
    for step in translated.steps:
        if isinstance(step, RunningStep):
            update: dict[str, object] = {}
            for field in ("show", "reveal", *(("watch",) if isinstance(step, TrainStep) else ())):
                start = SEPARATOR.join((lesson.id, step.id, field))
                shown: Sequence[ShownTensor] = getattr(step, field, ())
                update |= {field: tuple(_with_tokens(item, start, translated.tokens, repeated) for item in shown)}
            step = step.model_copy(update={field: value for field, value in update.items() if value})
        steps.append(step)
    return translated.model_copy(update={"steps": tuple(steps)})


def _with_needs(before: Step, after: Step) -> Step:
    """Have the checks of a translated exercise rest on checks by their translated names."""
    if not (isinstance(before, ExerciseStep) and isinstance(after, ExerciseStep)):
        return after
    names = {one.name: other.name for one, other in zip(before.checks, after.checks, strict=True)}
    checks = tuple(
        check.model_copy(update={"needs": tuple(names[name] for name in check.needs)}) if check.needs else check
        for check in after.checks
    )
    return after.model_copy(update={"checks": checks})


def load_glossary(course: Course) -> Glossary:
    """Read the glossary and the references of a course in the learner's language. Raises `LessonError`."""
    found = glossary.load(Path(course.folder)) if course.folder else Glossary()
    return translate_glossary(course, found, translations.current())


def translate_glossary(course: Course, found: Glossary, into: Translations) -> Glossary:
    """Return the glossary of a course in another language, in the order of its alphabet as far as code points tell."""
    if into.folder is None:
        return found
    group, references = text_catalog.group_of(course, GLOSSARY), text_catalog.group_of(course, REFERENCES)
    terms = tuple(change_texts(term, (group, term.text_key), _change(into, group)) for term in found.terms)
    words = {before.term: after.term for before, after in zip(found.terms, terms, strict=True)}
    related = (term.model_copy(update={"see": tuple(words.get(other, other) for other in term.see)}) for term in terms)
    return Glossary(
        terms=tuple(sorted(map(_fresh, related), key=lambda term: term.term.casefold())),
        references=tuple(
            change_texts(each, (references, each.text_key), _change(into, references)) for each in found.references
        ),
    )


def _fresh(term: Term) -> Term:
    """Return an equal term that has not computed anything of its texts yet."""
    return Term.model_construct(**{name: getattr(term, name) for name in Term.model_fields})


def _change(into: Translations, group: str) -> Change:
    """Return the function that translates the texts of a group."""

    def change(text: CourseText, written: str) -> str:
        found = into.find(group, text.id, text.text)
        if found is None and (shared := shared_id(text.id)):
            found = into.find(shared.partition(SEPARATOR)[0], shared, text.text)
        if found is not None and text.is_template:
            found = with_fields_of(written, found)
        return written if found is None else found

    return change


def _with_tokens(shown: ShownTensor, start: str, tokens: tuple[str, ...], repeated: dict[str, bool]) -> ShownTensor:
    """Replace the labels of a tensor that are the tokens of the lesson, forward or in reverse order."""
    labels = {
        axis: (tokens[::-1] if repeated[path] else tokens)
        if (path := SEPARATOR.join((start, shown.name, "labels", axis))) in repeated
        else words
        for axis, words in shown.labels.items()
    }
    return shown if labels == shown.labels else shown.model_copy(update={"labels": labels})
