"""The explanations of the numbers of small matrices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.play.step_document import Explained
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion

MOST_NUMBERS = 36
"""The numbers of a tensor up to which each is explained: a matrix of six words with six words."""


def explained(run: Run, step: str, tensor: Tensor) -> tuple[Explained, ...]:
    """Return the explanation of each number of a small tensor; of a larger one, and of one that has none, nothing."""
    if not 0 < tensor.size <= MOST_NUMBERS:
        return ()
    return tuple(_explanations(run, step, tensor))


def _explanations(run: Run, step: str, tensor: Tensor) -> Iterator[Explained]:
    for index in product(*map(range, tensor.shape)):
        found = run.ask(ExplainQuestion(tensor.name, index, CodeUnit.step(step)))
        if not isinstance(found, Explanation):
            # What refuses one number of a tensor refuses the others too.
            return
        if not found.leaf:
            yield Explained(index, found)
