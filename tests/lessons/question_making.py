"""Questions of their own for tests, and what a run gives for them."""

from __future__ import annotations

import json
import math
from typing import Any

from lessons.format.lesson import ChoiceStep, PointStep, PredictStep, Question
from lessons.results.result import StepResult, Tensor
from tests.lessons.making import lesson_of

USUAL = {"exercise": "made", "title": "Made", "prose": "What?", "hints": ["a", "b", "c"], "why": "So it is."}


def question(**fields: Any) -> Question:
    """A question of its own."""
    lesson = lesson_of({"id": "made"} | USUAL | fields)
    step = lesson.steps[0]
    assert isinstance(step, Question)
    return step


def predict(asks: str, **fields: Any) -> PredictStep:
    step = question(kind="predict", asks=asks, answer="x", **fields)
    assert isinstance(step, PredictStep)
    return step


def pointing(**fields: Any) -> PointStep:
    shown = {"name": "w", "kind": "weight"} | fields.pop("shown", {})
    step = question(kind="point", on="w", cells="x", show=[shown], **fields)
    assert isinstance(step, PointStep)
    return step


def options(*texts: str) -> ChoiceStep:
    listed = [{"text": text, "why": f"`{text}`", "right": not place} for place, text in enumerate(texts)]
    step = question(kind="choice", options=listed)
    assert isinstance(step, ChoiceStep)
    return step


def gave(*tensors: Tensor, **facts: Any) -> StepResult:
    """The result of a run whose expressions had these values."""
    return StepResult("made", text={f"{name}!j": json.dumps(value) for name, value in facts.items()}, tensors=tensors)


def tensor(name: str, *labels: tuple[str, ...]) -> Tensor:
    shape = tuple(map(len, labels))
    return Tensor(
        name, "vector", "float32", shape, ("index",) * len(shape), labels, 0.0, 1.0, (0.5,) * math.prod(shape)
    )
