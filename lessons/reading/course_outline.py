"""The outline of a course: what the course map shows of it, as plain data that can be read in no time."""

from __future__ import annotations

import json
from typing import NamedTuple

from attn_tutor.lessons.format import main_path


class Corner(NamedTuple):
    """The upper left corner of the tensor that stands for a lesson.

    Attributes:
        name, kind: as its step shows it.
        shape: the sizes of all its axes, outermost first.
        low, high: the least and greatest finite value of the whole tensor, None if there is none.
        labels: the labels of the rows, empty if rows have none.
        rows: the numbers of the first matrix, at most `SIDE` rows and columns.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    low: float | None
    high: float | None
    labels: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]


SIDE = 8
"""The greatest number of rows and of columns in a corner."""


class StepOutline(NamedTuple):
    """A step: `noun` is what it is called in front of learners, `side` says that it is no part of the main path.

    `aliases` are ids that it had before. The rest is empty unless it `is_exercise`.
    """

    id: str
    title: str
    noun: str
    is_exercise: bool
    exercise: str = ""
    number: str = ""
    challenge: bool = False
    side: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def exercise_id(self) -> str:
        """The id of the exercise in the course, "" if the step is none."""
        return self.exercise


class LessonOutline(NamedTuple):
    """A lesson."""

    id: str
    number: int
    title: str
    goal: str
    corner: Corner | None
    steps: tuple[StepOutline, ...]
    aliases: tuple[str, ...] = ()

    def step(self, step_id: str) -> StepOutline:
        """Return the step with an id. Raises `KeyError` if there is none."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    @property
    def main_steps(self) -> tuple[StepOutline, ...]:
        """The steps of the main path, in order."""
        return main_path.main_steps(self.steps)

    def side_steps_of(self, step_id: str) -> tuple[StepOutline, ...]:
        """Return the side steps of the main step that a step belongs to. Raises `KeyError` if there is no such step."""
        return main_path.side_steps_of(self.steps, step_id)

    def main_step_of(self, step_id: str) -> StepOutline:
        """Return the main step that a step belongs to, itself if it is one. Raises `KeyError` if there is none."""
        return main_path.main_step_of(self.steps, step_id)

    @property
    def exercises(self) -> tuple[StepOutline, ...]:
        """The exercises of the lesson, in order."""
        return tuple(step for step in self.steps if step.is_exercise)

    @property
    def challenge(self) -> StepOutline | None:
        """The exercise that lets a learner who solves it skip the rest of the lesson."""
        return next((step for step in self.steps if step.challenge), None)


class CourseOutline(NamedTuple):
    """All lessons, in order, with what the course is called in front of learners, and the paragraph about it."""

    lessons: tuple[LessonOutline, ...]
    title: str = ""
    about: str = ""


def to_json(course: CourseOutline) -> bytes:
    """Return an outline as one line of JSON."""
    return json.dumps(course).encode()


def from_json(text: bytes) -> CourseOutline:
    """Return the outline that `to_json` wrote."""
    lessons, *words = json.loads(text)
    return CourseOutline(tuple(map(_lesson, lessons)), *words)


def _lesson(fields: list[object]) -> LessonOutline:
    lesson = LessonOutline(*fields)  # type: ignore[arg-type]
    corner = lesson.corner
    if corner is not None:
        corner = Corner(*(_tuples(field) for field in corner))  # type: ignore[arg-type]
    steps = tuple(StepOutline(*map(_tuples, step)) for step in lesson.steps)  # type: ignore[arg-type]
    return lesson._replace(corner=corner, steps=steps, aliases=tuple(lesson.aliases))


def _tuples(field: object) -> object:
    return tuple(map(_tuples, field)) if isinstance(field, list) else field
