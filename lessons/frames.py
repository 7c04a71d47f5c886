"""What the worker is asked and what it answers, between frames on the wire and plain data."""

from __future__ import annotations

import array
from dataclasses import asdict
from functools import partial
from math import prod
from typing import Any

from lessons import explanation, labels, shapes
from lessons.changes import Changes, places
from lessons.explanation import Explanation
from lessons.launch import Job, output
from lessons.model import Lesson, ReadStep, RunningStep, Shown
from lessons.result import LONGEST_AXIS, MOST_AXES, Failure, FailureKind, StepResult, Tensor, Window
from lessons.views import Blocks, How, RowStats
from lessons.worker import wire


def request_of(lesson: Lesson, step: ReadStep | RunningStep) -> dict[str, Any]:
    """What the worker needs to know to run a step."""
    run = step if isinstance(step, RunningStep) else None
    return {
        "id": step.id,
        "code": run.code if run else "",
        "seed": run.seed if run and run.seed is not None else lesson.seed,
        "show": [{"name": shown.name, "expr": shown.expression} for shown in run.tensors] if run else [],
        "fields": [
            {"expression": field.expression, "conversion": field.conversion, "spec": field.spec}
            for field in step.fields
        ],
    }


def cells_of(lesson: Lesson, changes: Changes) -> list[dict[str, Any]]:
    """What the worker needs to know to change cells. Raises `ChangeError`."""
    return [
        {"name": cell.name, "index": list(cell.index), "value": cell.value, **asdict(place)}
        for cell, place in places(lesson, changes)
    ]


def step_result(lesson: Lesson, step: ReadStep | RunningStep, frame: wire.Frame, job: Job) -> StepResult:
    """The result of a step from the worker's report. Raises what a wrong report makes it raise."""
    header = frame.header
    shown = step.tensors if isinstance(step, RunningStep) else ()
    start, end = header["stdout"]
    return StepResult(
        id=step.id,
        stdout=output(job.out, start, end),
        error=failure_of(header["error"]) if header["error"] else None,
        tensors=tuple(
            tensor_of(lesson, spec, entry, frame.blob) for spec, entry in zip(shown, header["tensors"], strict=False)
        ),
        text={str(key): str(value) for key, value in header["text"].items()},
        seconds=float(header["seconds"]),
        notes=tuple(str(note) for note in header.get("notes", ())),
        shapes=shapes.of_worker(header.get("shapes", []), partial(labels.axes_of, lesson, step.id)),
    )


def tensor_of(lesson: Lesson, shown: Shown, entry: dict[str, Any], blob: bytes) -> Tensor:
    """A tensor from its description in a frame and the frame's blob."""
    shape = tuple(int(size) for size in entry["shape"])
    if len(shape) > MOST_AXES or not all(0 <= size <= LONGEST_AXIS for size in shape):
        raise ValueError("a tensor that cannot be shown")
    numbers = _cast(entry["code"], blob[entry["offset"] : entry["offset"] + entry["bytes"]])
    whole = bool(entry["whole"])
    if whole and len(numbers) != prod(shape):
        raise ValueError("a tensor of another size")
    rows = int(entry["rows"])
    window = None if whole else Window((0,) * max(0, len(shape) - 2), 0, 0, _rows(numbers, rows))
    names, texts = labels.of(lesson, shown, shape)
    return Tensor(
        name=shown.name,
        kind=shown.kind,
        dtype=str(entry["dtype"]),
        shape=shape,
        axes=names,
        labels=texts,
        low=_bound(entry["low"]),
        high=_bound(entry["high"]),
        values=tuple(numbers) if whole else None,
        window=window,
        draw=shown.draw,
    )


def _bound(given: object) -> float | None:
    return float(given) if isinstance(given, int | float) else None


def window_of(reply: wire.Frame, lead: tuple[int, ...], top: int, left: int) -> Window | None:
    """The rectangle in a reply, None if there is none."""
    if reply.op != "window" or "error" in reply.header:
        return None
    numbers = _cast(reply.header["code"], reply.blob)
    return Window(lead, top, left, _rows(numbers, int(reply.header["rows"])))


def blocks_in(reply: wire.Frame, lead: tuple[int, ...], rows: int, cols: int, how: How) -> Blocks | None:
    """The blocks in a reply, None if there are none."""
    if reply.op != "blocks" or "error" in reply.header:
        return None
    half = len(reply.blob) // 2
    down, width = int(reply.header["rows"]), int(reply.header["width"])
    places = array.array("q", reply.blob[half:])
    peaks = tuple((place // width, place % width) for place in places)
    across = len(peaks) // down if down else 0
    return Blocks(
        lead,
        rows,
        cols,
        how,
        _rows(_cast("d", reply.blob[:half]), down),
        tuple(peaks[place * across : (place + 1) * across] for place in range(down)),
    )


def row_of(reply: wire.Frame, lead: tuple[int, ...], row: int) -> RowStats | None:
    """The statistics of a row in a reply, None if there are none."""
    if reply.op != "row" or "error" in reply.header:
        return None
    header = reply.header
    total, *values = _cast("d", reply.blob)
    top = tuple(zip(map(int, header["cols"]), values, strict=True))
    low, high, bits = (_bound(header[key]) for key in ("low", "high", "bits"))
    return RowStats(lead, row, total, low, high, int(header["support"]), bits, top)


def explanation_of(reply: wire.Frame) -> Explanation | str:
    """The explanation in a reply, or why there is none."""
    if reply.op != "explain":
        raise ValueError("another answer")
    if "error" in reply.header:
        return str(reply.header["error"])
    return explanation.of_json(reply.header["explanation"])


def _cast(code: str, data: bytes) -> list[float]:
    if code not in ("B", "q", "d", "f"):
        raise ValueError("unknown number format")
    return [*array.array(code, data)]


def _rows(numbers: list[float], rows: int) -> tuple[tuple[float, ...], ...]:
    width = len(numbers) // rows if rows else 0
    return tuple(tuple(numbers[row * width : (row + 1) * width]) for row in range(rows))


def failure_of(data: dict[str, Any]) -> Failure:
    """A failure that a child has told of itself."""
    kind: FailureKind = "memory" if data["kind"] == "memory" else "error"
    line = data.get("line")
    return Failure(kind, str(data["message"]), line if isinstance(line, int) else None)
