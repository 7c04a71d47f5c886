"""The main path of a lesson, and the side steps that branch off from it.

A side step belongs to the nearest main step before it. Models of lessons and outlines both ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Protocol, TypeVar

from attn_tutor.lessons.format.nouns import NOUNS
from attn_tutor.lessons.texts.wording import Wording

say = Wording("course/steps")


class AnyStep(Protocol):
    """A step, as far as paths are concerned."""

    @property
    def id(self) -> str:
        """The id of the step."""

    @property
    def side(self) -> bool:
        """Whether the step is a side step."""

    @property
    def noun(self) -> str:
        """What the step is called in front of learners."""


S = TypeVar("S", bound=AnyStep)


def main_steps(steps: Sequence[S]) -> tuple[S, ...]:
    """Return the steps of the main path, in order."""
    return tuple(step for step in steps if not step.side)


def main_step_of(steps: Sequence[S], step_id: str) -> S:
    """Return the main step that a step belongs to, itself if it is one. Raises `KeyError` if there is none."""
    return steps[_main_index(steps, step_id)]


def side_steps_of(steps: Sequence[S], step_id: str) -> tuple[S, ...]:
    """Return the side steps of a main step, or those beside a side step and itself, in order.

    Raises `KeyError` if there is no such step.
    """
    return tuple(takewhile(lambda step: step.side, steps[_main_index(steps, step_id) + 1 :]))


def step_after(steps: Sequence[S], step_id: str) -> S | None:
    """Return the step that a learner goes on to: past the side steps, unless they are at one; None after the last.

    Raises `KeyError` if there is no such step.
    """
    index = _index(steps, step_id)
    return next((step for step in steps[index + 1 :] if steps[index].side or not step.side), None)


def step_before(steps: Sequence[S], step_id: str) -> S | None:
    """Return the step that a learner goes back to: past the side steps, unless they are at one; None before the first.

    Raises `KeyError` if there is no such step.
    """
    index = _index(steps, step_id)
    return next((step for step in reversed(steps[:index]) if steps[index].side or not step.side), None)


def steps_behind(steps: Sequence[S], step_id: str) -> tuple[S, ...]:
    """Return the steps before a step that a learner has seen who turned aside for nothing else, in order.

    These are the main steps and, before a side step, those that come first beside the same main step. Raises `KeyError`
    if there is no such step.
    """
    main = _main_index(steps, step_id)
    return (*main_steps(steps[:main]), *steps[main : _index(steps, step_id)])


def name_of(steps: Sequence[S], step_id: str) -> str:
    """Return what learners call a step: `step 5`, `page 5`, or `side step 5a` for the first of those beside it.

    Raises `KeyError` if there is no such step.
    """
    main, index = _main_index(steps, step_id), _index(steps, step_id)
    number = len(main_steps(steps[: main + 1]))
    if index == main:
        return NOUNS[steps[index].noun].numbered(number)
    return say("side-step", "side step {number}", number=f"{number}{chr(ord('a') + index - main - 1)}")


def position_of(steps: Sequence[S], step_id: str) -> str:
    """Return where a step stands in its lesson, in words: `step 5 of 18`, `page 5 of 18`, or `side step 5a`.

    Side steps are not counted.

    Raises `KeyError` if there is no such step.
    """
    main = _main_index(steps, step_id)
    if steps[main].id != step_id:
        return name_of(steps, step_id)
    number, count = len(main_steps(steps[: main + 1])), len(main_steps(steps))
    return NOUNS[steps[main].noun].numbered_of(number, count)


def _index(steps: Sequence[S], step_id: str) -> int:
    """Return the position of a step, from 0. Raises `KeyError` if there is none."""
    for index, step in enumerate(steps):
        if step.id == step_id:
            return index
    raise KeyError(step_id)


def _main_index(steps: Sequence[S], step_id: str) -> int:
    """Return the position of the main step that a step belongs to, from 0. Raises `KeyError` if there is none."""
    for index in range(_index(steps, step_id), -1, -1):
        if not steps[index].side:
            return index
    raise KeyError(step_id)
