"""The texts of a question that its run fills in: its options, and why the right answer is right. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import Step
from attn_tutor.lessons.format.questions import BaseQuestion
from attn_tutor.lessons.results.result import StepResult

LETTERS = "abcdefgh"


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a question, filled in: its letter, its text, why it is right or wrong."""

    letter: str
    text: str
    why: str
    right: bool


def choices(step: Step, result: StepResult) -> tuple[Choice, ...]:
    """Return the options of a step, with their templates filled in from the run; none if there is nothing to choose."""
    return tuple(
        Choice(letter, template.fill(option.text, result.text), template.fill(option.why, result.text), option.right)
        for letter, option in zip(LETTERS, step.offered_options, strict=False)
    )


def why(step: BaseQuestion, result: StepResult) -> str:
    """Return the explanation that a learner reads once the question is answered."""
    return template.fill(step.why, result.text)
