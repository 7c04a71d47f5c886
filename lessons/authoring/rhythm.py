"""The rhythm of a lesson: how long its main path is, when the learner writes code, and what there is to do."""

from __future__ import annotations

from collections.abc import Iterator

from lessons.format.base_steps import RunningStep
from lessons.format.learner_texts import Path
from lessons.format.lesson import ExerciseStep, ExperimentStep, FindStep, Lesson, Step

FEWEST_STEPS, MOST_STEPS = 15, 20
"""How many steps the main path of a lesson has."""

CODE_EVERY = 5
"""On the main path, the learner writes code at this step at the latest, and then at least as often again."""


def complaints(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    """Yield what is wrong in the rhythm of a lesson, as path, problem and remedy."""
    path = lesson.main_steps
    if not FEWEST_STEPS <= len(path) <= MOST_STEPS:
        problem = f"the main path has {len(path)} steps, not {FEWEST_STEPS} to {MOST_STEPS}"
        yield ("steps",), problem, "Cut or merge steps, or make side steps of them."
    for kind, what in ((ExperimentStep, "experiment"), (FindStep, "find")):
        if not any(isinstance(step, kind) for step in path):
            yield ("steps",), f"the main path has no step of the kind '{what}'", "Give the learner one."
    without = 0
    for step in path:
        without = 0 if isinstance(step, ExerciseStep) else without + 1
        if without == CODE_EVERY and step is not path[-1]:
            problem = f"{CODE_EVERY} steps of the main path without code by the learner"
            yield ("steps", lesson.index(step.id)), problem, "Let the learner write a line before."
    for position, step in enumerate(lesson.steps):
        if not _has_something_to_see(step):
            yield ("steps", position), "the step is text alone", "Show a tensor or code."


def first_code(lesson: Lesson) -> int | None:
    """Return the number, from 1, of the step of the main path in which the learner first writes code."""
    numbers = (number for number, step in enumerate(lesson.main_steps, 1) if isinstance(step, ExerciseStep))
    return next(numbers, None)


def _has_something_to_see(step: Step) -> bool:
    return isinstance(step, ExerciseStep) or (isinstance(step, RunningStep) and bool(step.code or step.show))
