"""The code of a course: its pieces, to be read before it runs, and how much of it runs within which limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import AfterValidator

from attn_tutor.lessons.format import template, text_walk
from attn_tutor.lessons.format.fields import Model, python_code
from attn_tutor.lessons.format.lesson import Course, Lesson, Limits
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


def pieces_of(course: Course) -> Iterator[CodePiece]:
    """Yield every piece of code and every expression that a course brings, in its order."""
    for lesson in course.lessons:
        yield from _of_lesson(lesson)


def _of_lesson(lesson: Lesson) -> Iterator[CodePiece]:
    without_steps = lesson.model_copy(update={"steps": ()})
    yield from _of_part(without_steps, lesson.id)
    for step in lesson.steps:
        yield from _of_part(step, f"{lesson.id}/{step.id}")
        if (exercise := lesson.code_exercises.get(step.id)) is not None:
            edits = [edit for mistake in exercise.mistakes for edits in mistake.edits for edit in edits]
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


@dataclass(frozen=True, slots=True)
class WhatRuns:
    """How much of a course runs.

    Attributes:
        lessons, steps: how many it has in all.
        running: how many steps run code when they are opened.
        exercises: how many are judged by code of the course.
        trainings: how many train a model when they are started.
        lines: how many lines of code it has in all.
        limits: the greatest limits that any of it asks for.
    """

    lessons: int
    steps: int
    running: int
    exercises: int
    trainings: int
    lines: int
    limits: Limits

    @property
    def asks_for_more(self) -> bool:
        """Whether any limit is above the usual one."""
        usual = Limits()
        return self.limits.cpu > usual.cpu or self.limits.wall > usual.wall or self.limits.memory > usual.memory


def what_runs(course: Course) -> WhatRuns:
    """Return what of a course runs."""
    steps = [step for lesson in course.lessons for step in lesson.steps]
    limits = [Limits(), *(limits for lesson in course.lessons for limits in _limits(lesson))]
    code = [text for lesson in course.lessons for text in _code(lesson)]
    return WhatRuns(
        lessons=len(course.lessons),
        steps=len(steps),
        running=sum(any(code.strip() for _, code in step.programs) for step in steps),
        exercises=sum(len(lesson.code_exercises) for lesson in course.lessons),
        trainings=sum(len(lesson.trainings) for lesson in course.lessons),
        lines=sum(bool(line.strip()) for text in code for line in text.splitlines()),
        limits=Limits(
            cpu=max(each.cpu for each in limits),
            wall=max(each.wall for each in limits),
            memory=max(each.memory for each in limits),
        ),
    )


def _limits(lesson: Lesson) -> Iterator[Limits]:
    yield lesson.limits
    yield from (step.own_limits for step in lesson.steps if step.own_limits is not None)


def _code(lesson: Lesson) -> Iterator[str]:
    yield lesson.setup
    yield from (code for step in lesson.steps for _, code in step.programs)
    for exercise in lesson.code_exercises.values():
        yield from (exercise.context, exercise.probe, exercise.solution, exercise.attempt)
