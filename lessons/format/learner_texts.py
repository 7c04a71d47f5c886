"""The texts of a step that a learner reads, each with its position in the lesson file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lessons.format.exercises import ChoiceStep, ExerciseStep, PointStep, PredictStep
from lessons.format.lesson import Question, Step

Path = tuple[int | str, ...]
"""Keys and indices that lead to a node of a lesson file, such as `("hints", 0)`."""


@dataclass(frozen=True, slots=True)
class LearnerText:
    """A text that a learner reads.

    Attributes:
        path: its path in its step.
        text: the text as the author wrote it, with its fields.
        is_task: whether it says exactly what is wanted in an exercise, or why the solution works.
        is_sentence: whether it consists of whole sentences.
    """

    path: Path
    text: str
    is_task: bool = False
    is_sentence: bool = True


def texts(step: Step) -> Iterator[LearnerText]:
    """Iterate over the texts of a step: its prose, and for an exercise its hints and what is said of answers."""
    is_task = isinstance(step, ExerciseStep)
    yield LearnerText(("prose",), step.prose, is_task)
    if not isinstance(step, ExerciseStep | Question):
        return
    yield LearnerText(("why",), step.why, is_task)
    for number, hint in enumerate(step.hints):
        yield LearnerText(("hints", number), hint)
    if isinstance(step, ChoiceStep):
        for number, option in enumerate(step.options):
            yield LearnerText(("options", number, "text"), option.text, is_sentence=False)
            yield LearnerText(("options", number, "why"), option.why)
    if isinstance(step, PredictStep | PointStep):
        for number, wrong in enumerate(step.wrong):
            yield LearnerText(("wrong", number, "why"), wrong.why)
