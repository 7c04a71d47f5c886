"""The recorded outputs that ship with a lesson: the results of its steps, which are shown until live ones arrive."""

from __future__ import annotations

import array
import json
from math import prod
from pathlib import Path
from typing import Any

from attn_tutor.lessons.files import read_text
from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import Lesson, ShownTensor
from attn_tutor.lessons.results import line_shapes
from attn_tutor.lessons.results.result import MemoryLayout, StepResult, Tensor, Window

FILE = "recorded.json"
SINGLE_PRECISION = ("float32", "float16", "bfloat16")
"""Dtypes whose numbers travel and are recorded as 32-bit floats, which nine digits represent exactly."""


LONGEST_AXIS = 1_000_000
"""The largest size of an axis, each position of which has a label."""


def load(lesson: Lesson) -> dict[str, StepResult]:
    """Read the recorded results of a lesson by step id; empty if there are none that can be read."""
    try:
        data = json.loads(read_text(Path(lesson.folder) / FILE))
        return {str(key): _step_from_json(lesson, str(key), item) for key, item in data["steps"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _step_from_json(lesson: Lesson, step_id: str, data: dict[str, Any]) -> StepResult:
    step = lesson.step(step_id)
    shown = {spec.name: spec for spec in step.tensors}
    tensors = tuple(
        _tensor_from_json(lesson, shown[name], entry, data["text"])
        for name, entry in data["tensors"].items()
        if name in shown
    )
    lines = line_shapes.of_json(data.get("shapes", []))
    return StepResult(step_id, stdout=data["stdout"], text=data["text"], tensors=tensors, shapes=lines)


def _tensor_from_json(lesson: Lesson, spec: ShownTensor, entry: dict[str, Any], text: dict[str, str]) -> Tensor:
    shape = tuple(map(int, entry["shape"]))
    if any(not 0 <= size <= LONGEST_AXIS for size in shape):
        raise ValueError("an axis that is too long")
    names_and_labels = axis_labels.names_and_labels(lesson, spec, shape, text)

    def exact(values: list[float | str]) -> tuple[float, ...]:
        if entry["dtype"] in SINGLE_PRECISION:
            return tuple(array.array("f", map(float, values)))
        return tuple(float(value) if isinstance(value, str) else value for value in values)

    window = None
    if "window" in entry:
        window = Window((0,) * (len(shape) - 2), 0, 0, tuple(exact(row) for row in entry["window"]))
    values = exact(entry["values"]) if "values" in entry else None
    _check_sizes(shape, values, window)
    layout = _layout_from_json(entry["layout"]) if "layout" in entry else None
    bounds = _number(entry["low"]), _number(entry["high"])
    return Tensor.of(spec, str(entry["dtype"]), shape, names_and_labels, bounds, values, window, layout)


def _check_sizes(shape: tuple[int, ...], values: tuple[float, ...] | None, window: Window | None) -> None:
    """Raise `ValueError` if a tensor has more or fewer numbers than its shape says, which no drawing would expect."""
    rows, columns = ((1, 1, *shape))[-2:]
    if values is not None and len(values) != prod(shape):
        raise ValueError("a tensor of another size")
    if window is not None and (
        len(window.rows) > rows or any(len(row) > columns or len(row) != len(window.rows[0]) for row in window.rows)
    ):
        raise ValueError("a window that is no part of its tensor")


def _number(value: object) -> float | None:
    if value is not None and not isinstance(value, int | float):
        raise ValueError("no number")
    return value


def _layout_from_json(entry: dict[str, Any]) -> MemoryLayout:
    return MemoryLayout(**entry | {"strides": tuple(entry["strides"])})
