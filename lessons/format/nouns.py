"""What steps are called in front of learners: the words for each noun that a kind of step may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from attn_tutor.lessons.texts.wording import Wording

say = Wording("course/steps")


def _step(number: int) -> str:
    return say("step", "step {number}", number=number)


def _step_of(number: int, count: int) -> str:
    return say("step-of", "step {number} of {all}", number=number, all=count)


class Noun(NamedTuple):
    """The words for a noun.

    Attributes:
        word: the noun itself.
        skipped: what is said once such a step is skipped; "" of steps that are done when a learner goes on.
        numbered, numbered_of: what the step with a number is called, alone and out of so many.
    """

    word: Callable[[], str]
    skipped: Callable[[], str] = str
    numbered: Callable[[int], str] = _step
    numbered_of: Callable[[int, int], str] = _step_of


NOUNS: Mapping[str, Noun] = {
    "step": Noun(lambda: say("noun-step", "step")),
    "page": Noun(
        lambda: say("noun-page", "page"),
        numbered=lambda number: say("page", "page {number}", number=number),
        numbered_of=lambda number, count: say("page-of", "page {number} of {all}", number=number, all=count),
    ),
    "question": Noun(lambda: say("question", "question"), lambda: say("question-skipped", "question skipped")),
    "experiment": Noun(
        lambda: say("experiment", "experiment"), lambda: say("experiment-skipped", "experiment skipped")
    ),
    "find": Noun(lambda: say("find", "find"), lambda: say("find-skipped", "find skipped")),
    "exercise": Noun(lambda: say("exercise", "exercise"), lambda: say("exercise-skipped", "exercise skipped")),
}
"""The words for the `noun` of each class of steps."""
