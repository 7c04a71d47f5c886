"""The texts of a course: the catalog of all that learners read, and the course in the learner's language.

The catalog has groups, each translated in a file of its own. A mistake of the library stands in it once, however many
exercises name it, and so do the checks of exercises in one line; what an exercise says in their place belongs to the
exercise. In the course, every text that has a translation is replaced by it, and nothing else is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from attn_tutor.lessons.format.exercises import Check, ExerciseStep, Mistake
from attn_tutor.lessons.format.fields import Model
from attn_tutor.lessons.format.lesson import Course, CourseFile, Lesson, ShownTensor
from attn_tutor.lessons.format.text_walk import (
    SEPARATOR,
    Change,
    CourseText,
    change_texts,
    key_of,
    texts_of,
    with_fields_of,
)
from attn_tutor.lessons.reading import glossary, line_exercises, repair_kinds
from attn_tutor.lessons.reading.folders import FIRST
from attn_tutor.lessons.reading.glossary import Glossary, Term
from attn_tutor.lessons.reading.mistake_library import Library
from attn_tutor.lessons.texts import translations
from attn_tutor.lessons.texts.translations import Translations

ABOUT, MISTAKES, LINE, GLOSSARY, REFERENCES = "about", "mistakes", "line", "glossary", "references"
"""The groups that are no lessons. A group of texts is also how their ids begin."""

Catalog = Mapping[str, Sequence[CourseText]]
"""The texts of each group, in order."""

SHARED = (
    (re.compile(r"[^/]+/[^/]+/mistakes/(?P<rest>.+)"), MISTAKES),
    (re.compile(r"[^/]+/[^/]+/checks/(?P<rest>.+)"), LINE),
)
"""The ids of texts in exercises that may be those of a group which exercises share, and that group."""


def catalog(course: Course, library: Library, glossary: Glossary) -> Catalog:
    """Return all texts of a course, of its library of mistakes, and of its glossary."""
    mistakes, line = texts_of_library(library), texts_of_line_exercises()
    known = {text.id: text.text for text in (*mistakes, *line)}
    about = course.description
    terms, references = group_of(course, GLOSSARY), group_of(course, REFERENCES)
    return {
        ABOUT: texts_of(about, (ABOUT, about.text_key)) if about else [],
        **{lesson.id: texts_of_lesson(lesson, known) for lesson in course.lessons},
        MISTAKES: mistakes,
        LINE: line,
        repair_kinds.GROUP: texts_of_repairs(),
        terms: [text for term in glossary.terms for text in texts_of(term, (terms, term.text_key))],
        references: [text for each in glossary.references for text in texts_of(each, (references, each.text_key))],
    }


def group_of(course: Course, name: str) -> str:
    """Return the group of a course for what other courses have too: two of them may explain one word differently."""
    own = course.description.id if course.description is not None else FIRST.id
    return name if own == FIRST.id else f"{own}-{name}"


def merged(catalogs: Iterable[Catalog]) -> Catalog:
    """Return the texts of several courses; those that they share stand there once."""
    found: dict[str, dict[str, CourseText]] = {}
    for each in catalogs:
        for group, texts in each.items():
            for text in texts:
                found.setdefault(group, {}).setdefault(text.id, text)
    return {group: list(texts.values()) for group, texts in found.items()}


def texts_of_lesson(lesson: Lesson, shared: Mapping[str, str]) -> list[CourseText]:
    """Return the texts of a lesson, but for labels that repeat its tokens and for what exercises share.

    `shared` maps the ids of the texts that exercises share to these texts.
    """
    repeated = labels_of_tokens(lesson)
    return [
        text
        for text in texts_of(lesson, (lesson.id,))
        if text.id.rpartition(SEPARATOR)[0] not in repeated and shared.get(shared_id(text.id)) != text.text
    ]


def texts_of_library(library: Library) -> list[CourseText]:
    """Return the texts of all mistakes of the library."""
    mistakes = map(Mistake.model_validate, library.values())
    return [text for mistake in mistakes for text in texts_of(mistake, (MISTAKES, mistake.id))]


def texts_of_line_exercises() -> list[CourseText]:
    """Return the texts of the checks of exercises in one line that have none of their own. Raises `LessonError`."""
    checks = map(Check.model_validate, line_exercises.shared_checks())
    return [text for number, check in enumerate(checks) for text in texts_of(check, (LINE, str(number)))]


def texts_of_repairs() -> list[CourseText]:
    """Return the texts about the kinds of repairs."""
    return [
        CourseText(SEPARATOR.join((repair_kinds.GROUP, kind, field)), text, True)
        for kind, texts in repair_kinds.kind_texts().items()
        for field, text in (("name", texts.name), ("why", texts.why))
    ]


def shared_id(text_id: str) -> str:
    """Return the id that a text of an exercise has if other exercises share it; "" if none of its kind is shared."""
    for pattern, group in SHARED:
        if match := pattern.fullmatch(text_id):
            return SEPARATOR.join((group, match["rest"]))
    return ""


def labels_of_tokens(lesson: Lesson) -> dict[str, bool]:
    """Return how the ids of labels begin that are the tokens of the lesson; whether these are in reverse order."""
    found = {}
    for step in lesson.steps:
        for field, shown in step.tensor_fields.items():
            for tensor in shown:
                for axis, words in tensor.labels.items():
                    if words in (lesson.tokens, lesson.tokens[::-1]):
                        path = (lesson.id, step.id, field, key_of(tensor), "labels", axis)
                        found[SEPARATOR.join(path)] = words != lesson.tokens
    return found


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
    before = lesson.code_exercises
    needing = {id: _with_needs(before[id], after) for id, after in translated.code_exercises.items()}
    steps_with_needs = tuple(needing.get(step.id, step) for step in translated.steps)
    translated = translated.model_copy(update={"steps": steps_with_needs})
    if not (repeated := labels_of_tokens(lesson)):
        return translated
    steps = []
    for step in translated.steps:
        update: dict[str, object] = {}
        for field, shown in step.tensor_fields.items():
            start = SEPARATOR.join((lesson.id, step.id, field))
            if shown:
                update[field] = tuple(_with_tokens(item, start, translated.tokens, repeated) for item in shown)
        steps.append(step.model_copy(update=update))
    return translated.model_copy(update={"steps": tuple(steps)})


def _with_needs(before: ExerciseStep, after: ExerciseStep) -> ExerciseStep:
    """Have the checks of a translated exercise rest on checks by their translated names."""
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
    group, references = group_of(course, GLOSSARY), group_of(course, REFERENCES)
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
