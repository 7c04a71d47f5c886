"""The way from step to step through the course, whoever shows the steps, and why a learner opens one.

The purpose decides what counts as the place where they work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from attn_tutor.lessons.format import main_path

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Lesson, Step
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.what_if.changes import ChangeHistory


class Purpose(Enum):
    """The purpose for which a learner opens a step."""

    WORK = auto()
    """To work through the lesson; "continue" leads back here."""
    LOOK = auto()
    """To look something up, from the glossary; "continue" leads to where they worked before."""
    REVIEW = auto()
    """To do an exercise again from the start."""
    CHALLENGE = auto()
    """To pass the challenge of a lesson in place of its other steps."""


Position = tuple["Lesson", int]
"""A step: its lesson, and its position there from 0."""


class HasLessons(Protocol):
    """A course, or what is gone through like one."""

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The lessons, in order."""


@dataclass(frozen=True, slots=True)
class JumpOrigin:
    """A step that the learner has jumped away from, with their changes to its lesson and why they were there."""

    lesson: Lesson
    index: int
    purpose: Purpose
    history: ChangeHistory


def step_after(course: HasLessons, lesson: Lesson, step: Step) -> Position | None:
    """Return the step that a learner goes on to, past side steps unless they are at one; None after the last."""
    after = main_path.step_after(lesson.steps, step.id)
    if after is not None:
        return lesson, lesson.index(after.id)
    number = course.lessons.index(lesson)
    return (course.lessons[number + 1], 0) if number + 1 < len(course.lessons) else None


def step_before(course: HasLessons, lesson: Lesson, step: Step) -> Position | None:
    """Return the step that a learner goes back to, which may be in the lesson before; None before the first.

    The first side step leads back to its main step; other side steps are passed.
    """
    before = main_path.step_before(lesson.steps, step.id)
    if before is not None:
        return lesson, lesson.index(before.id)
    number = course.lessons.index(lesson)
    if not number:
        return None
    earlier = course.lessons[number - 1]
    return earlier, len(earlier.steps) - 1


def side_steps(lesson: Lesson, step: Step) -> tuple[Step, ...]:
    """Return the side steps of a main step; none of a side step."""
    return () if step.side else lesson.side_steps_of(step.id)


def purpose_of(progress: Progress, lesson: Lesson, index: int, *, jumped: bool) -> Purpose:
    """Return why a learner goes on to a neighbor of their step: after a jump, one that is done is only looked at."""
    done = progress.state(lesson.id, lesson.steps[index].id) == "done"
    return Purpose.LOOK if jumped and done else Purpose.WORK


def visit(progress: Progress, lesson: Lesson, step: Step, purpose: Purpose) -> None:
    """Record that a learner opens a step. Only where they work, they go on the next time."""
    if purpose is Purpose.WORK:
        progress.visit(lesson.id, step.id)
    else:
        progress.set_state(lesson.id, step.id, "seen")


def step_named(lesson: Lesson, text: str) -> int | None:
    """Return the position of the step that a text names: `5`, `5a`, or its id; None if it names none."""
    text = text.casefold()
    for index, step in enumerate(lesson.steps):
        if text == step.id:
            return index
    if not re.fullmatch(r"\d{1,3}[a-z]?", text):
        return None
    main, side = (text[:-1], ord(text[-1]) - ord("a") + 1) if text[-1].isalpha() else (text, 0)
    number = int(main) - 1
    if not 0 <= number < len(lesson.main_steps):
        return None
    step = lesson.main_steps[number]
    beside = (step, *lesson.side_steps_of(step.id))
    return lesson.index(beside[side].id) if side < len(beside) else None
