"""What a flow is shown of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attn_tutor.lessons.results.tensor_questions import FlowQuestion


@dataclass(frozen=True, slots=True)
class FlowSubject:
    """What a flow is shown of.

    Attributes:
        title: of the step, or what else has run.
        question: the question about its flow, with the operands of the explanation that is open.
        tensor: the name of the tensor that the learner is in; "" for none.
        point: what to do with the name of the box that the learner points at; None if nothing asks for one.
    """

    title: str
    question: FlowQuestion
    tensor: str = ""
    point: Callable[[str], None] | None = None
