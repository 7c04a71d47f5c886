"""What of a course runs: how much code it brings, and which limits it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attn_tutor.lessons.format.lesson import Course, ExerciseStep, Lesson, Limits, TrainStep


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


def of_course(course: Course) -> WhatRuns:
    """Return what of a course runs."""
    steps = [step for lesson in course.lessons for step in lesson.steps]
    limits = [Limits(), *(limits for lesson in course.lessons for limits in _limits(lesson))]
    code = [text for lesson in course.lessons for text in _code(lesson)]
    return WhatRuns(
        lessons=len(course.lessons),
        steps=len(steps),
        running=sum(any(code.strip() for _, code in step.programs) for step in steps),
        exercises=sum(isinstance(step, ExerciseStep) for step in steps),
        trainings=sum(isinstance(step, TrainStep) for step in steps),
        lines=sum(bool(line.strip()) for text in code for line in text.splitlines()),
        limits=Limits(
            cpu=max(each.cpu for each in limits),
            wall=max(each.wall for each in limits),
            memory=max(each.memory for each in limits),
        ),
    )


def _limits(lesson: Lesson) -> Iterator[Limits]:
    yield lesson.limits
    for step in lesson.steps:
        if isinstance(step, ExerciseStep | TrainStep):
            yield step.limits


def _code(lesson: Lesson) -> Iterator[str]:
    yield lesson.setup
    for step in lesson.steps:
        yield from (code for _, code in step.programs)
        if isinstance(step, ExerciseStep):
            yield from (step.context, step.probe, step.solution, step.attempt)
