"""The recorded outputs that ship with a lesson: the results of its steps, which are shown until live ones arrive."""

from __future__ import annotations

import array
import json
from pathlib import Path
from typing import Any

from lessons.format import axis_labels
from lessons.format.lesson import Lesson, RunningStep, ShownTensor
from lessons.results import line_shapes
from lessons.results.result import MemoryLayout, StepResult, Tensor, Window

FILE = "recorded.json"
SINGLE_PRECISION = ("float32", "float16", "bfloat16")
"""Dtypes whose numbers travel and are recorded as 32-bit floats, which nine digits represent exactly."""


def load(lesson: Lesson) -> dict[str, StepResult]:
    """Read the recorded results of a lesson by step id; empty if there are none that can be read."""
    try:
        data = json.loads((Path(lesson.folder) / FILE).read_text(encoding="utf-8"))
        return {str(key): _step_from_json(lesson, str(key), item) for key, item in data["steps"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _step_from_json(lesson: Lesson, step_id: str, data: dict[str, Any]) -> StepResult:
    step = lesson.step(step_id)
    shown = {spec.name: spec for spec in step.tensors} if isinstance(step, RunningStep) else {}
    tensors = tuple(
        _tensor_from_json(lesson, shown[name], entry, data["text"])
        for name, entry in data["tensors"].items()
        if name in shown
    )
    lines = line_shapes.of_json(data.get("shapes", []))
    return StepResult(step_id, stdout=data["stdout"], text=data["text"], tensors=tensors, shapes=lines)


def _tensor_from_json(lesson: Lesson, spec: ShownTensor, entry: dict[str, Any], text: dict[str, str]) -> Tensor:
    shape = tuple(entry["shape"])
    names, texts = axis_labels.names_and_labels(lesson, spec, shape, text)

    def exact(values: list[float | str]) -> tuple[float, ...]:
        if entry["dtype"] in SINGLE_PRECISION:
            return tuple(array.array("f", map(float, values)))
        return tuple(float(value) if isinstance(value, str) else value for value in values)

    window = None
    if "window" in entry:
        window = Window((0,) * (len(shape) - 2), 0, 0, tuple(exact(row) for row in entry["window"]))
    return Tensor(
        name=spec.name,
        kind=spec.kind,
        dtype=entry["dtype"],
        shape=shape,
        axes=names,
        labels=texts,
        low=entry["low"],
        high=entry["high"],
        values=exact(entry["values"]) if "values" in entry else None,
        window=window,
        draw=spec.draw,
        layout=_layout_from_json(entry["layout"]) if "layout" in entry and spec.draw == "memory" else None,
    )


def _layout_from_json(entry: dict[str, Any]) -> MemoryLayout:
    return MemoryLayout(**entry | {"strides": tuple(entry["strides"])})
