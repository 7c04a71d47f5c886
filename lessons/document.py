"""Results as JSON documents: what `attn-tutor run --json` prints, and how numbers are written there.

JSON has no infinity and no NaN, so they stand as the strings `"inf"`, `"-inf"` and `"nan"`.
"""

from __future__ import annotations

import math
from typing import Any

from lessons import template
from lessons.model import ExerciseStep, Lesson, ReadStep, RunStep
from lessons.result import Failure, Judgement, StepResult, Tensor

Json = dict[str, Any]


def number(value: float) -> float | str:
    """A number as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def nested(values: tuple[float, ...], shape: tuple[int, ...], dtype: str) -> Any:
    """Flat values as lists in lists, like `tensor.tolist()`."""
    if not shape:
        value = values[0]
        return bool(value) if dtype == "bool" else number(value)
    step = math.prod(shape[1:])
    return [nested(values[place * step : (place + 1) * step], shape[1:], dtype) for place in range(shape[0])]


def tensor(value: Tensor) -> Json:
    """Shape, dtype, values (None above `lessons.result.WHOLE` elements) and the labels of rows and columns."""
    return {
        "shape": list(value.shape),
        "dtype": value.dtype,
        "values": None if value.values is None else nested(value.values, value.shape, value.dtype),
        "rows": list(value.row_labels),
        "cols": list(value.col_labels),
        "axes": list(value.axes),
        "kind": value.kind,
    }


def failure(value: Failure | None) -> Json | None:
    """A failure, or None."""
    return None if value is None else {"kind": value.kind, "message": value.message, "line": value.line}


def step(spec: ReadStep | RunStep | ExerciseStep, result: StepResult | None) -> Json:
    """One step of a lesson and what it gave."""
    result = result or StepResult(spec.id)
    return {
        "id": spec.id,
        "kind": spec.kind,
        "title": spec.title,
        "prose": template.fill(spec.prose, result.text),
        "code": spec.code if isinstance(spec, RunStep) else "",
        "stdout": result.stdout,
        "error": failure(result.error),
        "tensors": {shown.name: tensor(shown) for shown in result.tensors},
    }


def lesson(spec: Lesson, results: dict[str, StepResult], only: str | None = None) -> Json:
    """A lesson, or one of its steps, and what the run gave."""
    steps = [item for item in spec.steps if only in (None, item.id)]
    return {"lesson": spec.id, "title": spec.title, "steps": [step(item, results.get(item.id)) for item in steps]}


def judgement(value: Judgement) -> Json:
    """The judge's word on an answer."""
    return {
        "exercise": value.exercise,
        "passed": value.passed,
        "verdict": value.verdict,
        "message": value.message,
        "line": value.line,
        "mistake": value.mistake,
        "checks": [{"name": item.name, "passed": item.passed, "message": item.message} for item in value.checks],
        "seconds": value.seconds,
        "stdout": value.stdout,
    }
