"""The rhythm of a lesson: how long its main path is, when the learner writes code, and what there is to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attn_tutor.lessons.authoring.rewritten import is_short
from attn_tutor.lessons.format.base_steps import RunningStep
from attn_tutor.lessons.format.learner_texts import Path, count_words
from attn_tutor.lessons.format.lesson import ExerciseStep, ExperimentStep, FindStep, Lesson, Question, Step

FEWEST_STEPS, MOST_STEPS = 15, 20
"""How many steps the main path of a lesson has."""

FEWEST_IF_SHORT, MOST_IF_SHORT = 8, 10
"""How many steps the main path of a short lesson has."""

CODE_EVERY = 5
"""On the main path, the learner writes code at this step at the latest, and then at least as often again."""


def complaints(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    """Yield what is wrong in the rhythm of a lesson, as path, problem and remedy."""
    path = lesson.main_steps
    fewest, most = (FEWEST_IF_SHORT, MOST_IF_SHORT) if is_short(lesson) else (FEWEST_STEPS, MOST_STEPS)
    if not fewest <= len(path) <= most:
        problem = f"the main path has {len(path)} steps, not {fewest} to {most}"
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


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How a lesson moves.

    Attributes:
        lesson: the id of the lesson.
        main_steps: the number of steps on its main path.
        side_steps: the number of its side steps.
        first_code: the number of the main step in which the learner first writes code; None if there is none.
        code, experiments, finds, questions: the numbers of main steps of these kinds.
        words: the mean number of words in the text of a step.
    """

    lesson: str
    main_steps: int
    side_steps: int
    first_code: int | None
    code: int
    experiments: int
    finds: int
    questions: int
    words: float


def measure(lesson: Lesson) -> Rhythm:
    """Return how a lesson moves."""
    path = lesson.main_steps

    def count(kind: type) -> int:
        return sum(isinstance(step, kind) for step in path)

    asked = sum(isinstance(step, Question) and not isinstance(step, FindStep) for step in path)
    words = sum(count_words(step.prose) for step in lesson.steps) / len(lesson.steps)
    return Rhythm(
        lesson.id,
        len(path),
        len(lesson.steps) - len(path),
        first_code(lesson),
        count(ExerciseStep),
        count(ExperimentStep),
        count(FindStep),
        asked,
        round(words, 1),
    )


def first_code(lesson: Lesson) -> int | None:
    """Return the number, from 1, of the step of the main path in which the learner first writes code."""
    numbers = (number for number, step in enumerate(lesson.main_steps, 1) if isinstance(step, ExerciseStep))
    return next(numbers, None)


def _has_something_to_see(step: Step) -> bool:
    return isinstance(step, ExerciseStep) or (isinstance(step, RunningStep) and bool(step.code or step.show))
