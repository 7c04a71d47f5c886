"""The main path of a lesson, and the side steps that branch off from it.

A side step belongs to the nearest main step before it. Models of lessons and outlines both ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar


class AnyStep(Protocol):
    """A step, as far as paths are concerned."""

    @property
    def id(self) -> str:
        """The id of the step."""

    @property
    def side(self) -> bool:
        """Whether the step is a side step."""


S = TypeVar("S", bound=AnyStep)


def main_steps(steps: Sequence[S]) -> tuple[S, ...]:
    """Return the steps of the main path, in order."""
    return tuple(step for step in steps if not step.side)


def main_step_of(steps: Sequence[S], step_id: str) -> S:
    """Return the main step that a step belongs to, itself if it is one. Raises `KeyError` if there is none."""
    main: S | None = None
    for step in steps:
        main = main if step.side else step
        if step.id == step_id and main is not None:
            return main
    raise KeyError(step_id)


def side_steps_of(steps: Sequence[S], step_id: str) -> tuple[S, ...]:
    """Return the side steps of a main step, or those beside a side step and itself, in order.

    Raises `KeyError` if there is no such step.
    """
    main = main_step_of(steps, step_id)
    return tuple(step for step in steps if step.side and main_step_of(steps, step.id) == main)
