"""The catalog of the course: every text that learners read, in groups, each translated in a file of its own.

A mistake of the library stands in the catalog once, however many exercises name it, and so do the checks of exercises
in one line; what an exercise says in their place belongs to the exercise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from attn_tutor.lessons.format.exercises import Check, Mistake
from attn_tutor.lessons.format.lesson import Course, Lesson, RunningStep, TrainStep
from attn_tutor.lessons.format.text_walk import SEPARATOR, CourseText, key_of, texts_of
from attn_tutor.lessons.reading import line_exercises, repair_kinds
from attn_tutor.lessons.reading.folders import FIRST
from attn_tutor.lessons.reading.glossary import Glossary
from attn_tutor.lessons.reading.mistake_library import Library

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
        if not isinstance(step, RunningStep):
            continue
        fields = {"show": step.show, "reveal": getattr(step, "reveal", ())}
        if isinstance(step, TrainStep):
            fields["watch"] = step.watch
        for field, shown in fields.items():
            for tensor in shown:
                for axis, words in tensor.labels.items():
                    if words in (lesson.tokens, lesson.tokens[::-1]):
                        path = (lesson.id, step.id, field, key_of(tensor), "labels", axis)
                        found[SEPARATOR.join(path)] = words != lesson.tokens
    return found
