"""The code of a course, piece by piece, for somebody who wants to read it before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import AfterValidator

from attn_tutor.lessons.format import template, text_walk
from attn_tutor.lessons.format.fields import Model, python_code
from attn_tutor.lessons.format.lesson import Course, ExerciseStep, Lesson
from attn_tutor.lessons.format.template import Field

PROSE = "prose"
EDITS = "edits"


@dataclass(frozen=True, slots=True)
class CodePiece:
    """A piece of code.

    Attributes:
        where: the lesson and the step, `first-row/table`, or the lesson alone.
        what: the field of the file that has it, such as `code` or `checks.test`; `PROSE` for the expressions between
            braces in texts; `EDITS` for what the judge changes in answers to find out whether a mistake was made.
        code: the code.
    """

    where: str
    what: str
    code: str


def of_course(course: Course) -> Iterator[CodePiece]:
    """Yield every piece of code and every expression that a course brings, in its order."""
    for lesson in course.lessons:
        yield from _of_lesson(lesson)


def _of_lesson(lesson: Lesson) -> Iterator[CodePiece]:
    without_steps = lesson.model_copy(update={"steps": ()})
    yield from _of_part(without_steps, lesson.id)
    for step in lesson.steps:
        yield from _of_part(step, f"{lesson.id}/{step.id}")
        if isinstance(step, ExerciseStep):
            edits = [edit for mistake in step.mistakes for edits in mistake.edits for edit in edits]
            if edits:
                lines = (f"{edit.find!r} -> {edit.replace!r}" for edit in edits)
                yield CodePiece(f"{lesson.id}/{step.id}", EDITS, "\n".join(lines))


def _of_part(part: Model, where: str) -> Iterator[CodePiece]:
    for what, code in _fields(part, ""):
        if code.strip():
            yield CodePiece(where, what, code.strip("\n"))
    texts = [text.text for text in text_walk.texts_of(part, ("",)) if text.is_template]
    found = [piece.expression for text in texts for piece in template.parse(text) if isinstance(piece, Field)]
    if found:
        yield CodePiece(where, PROSE, "\n".join(dict.fromkeys(found)))


def _fields(part: Model, path: str) -> Iterator[tuple[str, str]]:
    """Yield the code in the fields of a part of a course, with the names of the fields."""
    for name, info in type(part).model_fields.items():
        value, inner = getattr(part, name), f"{path}{info.alias or name}"
        if _is_python(info.metadata) or _has_python(info.annotation):
            yield from ((inner, text) for text in _texts(value))
        else:
            for each in _models(value):
                yield from _fields(each, f"{inner}.")


def _is_python(metadata: Any) -> bool:
    """Return whether what a type carries says that its text has to be Python."""
    return any(
        isinstance(each, AfterValidator) and each.func.__qualname__.startswith(f"{python_code.__name__}.")
        for each in metadata
    )


def _has_python(annotation: Any) -> bool:
    """Return whether a type such as `tuple[Expression, ...]` has texts in it that have to be Python."""
    return _is_python(getattr(annotation, "__metadata__", ())) or any(map(_has_python, get_args(annotation)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, Model):
        yield from (code for _, code in _fields(value, ""))


def _models(value: object) -> Iterator[Model]:
    if isinstance(value, Model):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _models(each)
    elif isinstance(value, dict):
        yield from _models(tuple(value.values()))
