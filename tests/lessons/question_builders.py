"""Questions for tests, and the results of their runs."""

from __future__ import annotations

import json
import math
from typing import Any

from attn_tutor.lessons.format.lesson import ChoiceStep, PointStep, PredictStep, Question
from attn_tutor.lessons.results.result import StepResult, Tensor
from tests.lessons.lesson_builders import lesson_of

DEFAULTS = {"exercise": "made", "title": "Made", "prose": "What?", "hints": ["a", "b", "c"], "why": "So it is."}


def question(**fields: Any) -> Question:
    """Build a question from its fields."""
    lesson = lesson_of({"id": "made"} | DEFAULTS | fields)
    step = lesson.steps[0]
    assert isinstance(step, Question)
    return step


def predict_question(asks: str, **fields: Any) -> PredictStep:
    """Build a question whose answer is predicted."""
    step = question(kind="predict", asks=asks, answer="x", **fields)
    assert isinstance(step, PredictStep)
    return step


def point_question(**fields: Any) -> PointStep:
    """Build a question that is answered by pointing at a cell of `w`."""
    shown = {"name": "w", "kind": "weight"} | fields.pop("shown", {})
    step = question(kind="point", on="w", cells="x", show=[shown], **fields)
    assert isinstance(step, PointStep)
    return step


def choice_question(*texts: str) -> ChoiceStep:
    """Build a question with these options, of which the first is right."""
    entries = [{"text": text, "why": f"`{text}`", "right": not index} for index, text in enumerate(texts)]
    step = question(kind="choice", options=entries)
    assert isinstance(step, ChoiceStep)
    return step


def result_with(*tensors: Tensor, **facts: Any) -> StepResult:
    """Build the result of a run in which the expressions of a question had these values."""
    return StepResult("made", text={f"{name}!j": json.dumps(value) for name, value in facts.items()}, tensors=tensors)


def tensor(name: str, *labels: tuple[str, ...]) -> Tensor:
    """Build a tensor of 0.5 with these labels along its axes."""
    shape = tuple(map(len, labels))
    return Tensor(
        name, "vector", "float32", shape, ("index",) * len(shape), labels, 0.0, 1.0, (0.5,) * math.prod(shape)
    )
