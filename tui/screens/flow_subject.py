"""What a flow is shown of."""

from __future__ import annotations

from dataclasses import dataclass

from lessons.results.tensor_questions import FlowQuestion


@dataclass(frozen=True, slots=True)
class FlowSubject:
    """What a flow is shown of.

    Attributes:
        title: of the step, or what else has run.
        question: the question about its flow, with the operands of the explanation that is open.
        tensor: the name of the tensor that the learner is in; "" for none.
    """

    title: str
    question: FlowQuestion
    tensor: str = ""
