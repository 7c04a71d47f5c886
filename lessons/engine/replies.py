"""What the worker is asked and what it answers, between frames on the wire and plain data."""

from __future__ import annotations

import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from math import prod
from typing import Any

from lessons.engine.launchers import ChildProcess, output
from lessons.format import axis_labels
from lessons.format.lesson import Lesson, ReadStep, RunningStep, ShownTensor, TrainStep
from lessons.learner import trained_models
from lessons.learner.trained_models import TrainedModel
from lessons.results import explanation, line_shapes
from lessons.results.explanation import Explanation
from lessons.results.result import (
    LONGEST_AXIS,
    MOST_AXES,
    MOST_STEPS,
    WHOLE,
    Failure,
    FailureKind,
    MemoryLayout,
    StepResult,
    Tensor,
    TrainingSnapshot,
    Window,
)
from lessons.results.summaries import Blocks, How, RowStats
from lessons.what_if.changes import Changes, statements_before_cells
from lessons.worker import wire


def request_of(lesson: Lesson, step: ReadStep | RunningStep) -> dict[str, Any]:
    """What the worker needs to know to run a step."""
    run = step if isinstance(step, RunningStep) else None
    return {
        "id": step.id,
        "code": run.code if run else "",
        "seed": lesson.seed_of(run) if run else lesson.seed,
        "show": [{"name": shown.name, "expr": shown.expression} for shown in run.tensors] if run else [],
        "fields": [
            {"expression": field.expression, "conversion": field.conversion, "spec": field.spec}
            for field in step.fields
        ],
    }


def lesson_request(
    lesson: Lesson, steps: Sequence[ReadStep | RunningStep], cells: list[dict[str, Any]], *, changed: bool
) -> tuple[wire.Frame, dict[str, TrainedModel]]:
    """What the worker needs to know to run the setup and these steps, and what was found of their trainings."""
    blob = bytearray()
    requests, found = [], {}
    for step in steps:
        request = request_of(lesson, step)
        if isinstance(step, TrainStep):
            kept = found[step.id] = trained_models.find(lesson, step, cells)
            if kept.origin == "missing":
                request["untrained"] = trained_models.untrained(step, changed=changed)
            else:
                request["trained"] = [len(blob), len(blob) + len(kept.data)]
                blob += kept.data
        requests.append(request)
    header = {"op": "lesson", "seed": lesson.seed, "setup": lesson.setup, "cells": cells, "steps": requests}
    return wire.Frame(header, bytes(blob)), found


def training_request(lesson: Lesson, step: TrainStep, cells: list[dict[str, Any]], *, changed: bool) -> wire.Frame:
    """What the worker needs to know to train."""
    before = [other for other in lesson.steps[: lesson.index(step.id)] if isinstance(other, RunningStep)]
    request, _ = lesson_request(lesson, before, cells, changed=changed)
    training = {
        "id": step.id,
        "code": step.training,
        "seed": lesson.seed_of(step),
        "curves": [{"name": curve.name, "expr": curve.expr} for curve in step.curves],
        "watch": [{"name": shown.name, "expr": shown.expression} for shown in step.watch],
        "keep": step.keep,
    }
    return wire.Frame(request.header | {"op": "train", "training": training}, request.blob)


def picture_of(lesson: Lesson, step: TrainStep, frame: wire.Frame) -> TrainingSnapshot:
    """A picture of a training from the worker's message. Raises what a wrong message makes it raise."""
    header = frame.header
    # Pictures are kept, all of them: none may be larger than what is shown whole.
    if frame.op != "picture" or len(frame.blob) > 8 * WHOLE * len(step.watch):
        raise wire.WireError("unexpected message")
    numbers = {curve.name: float(header["numbers"][curve.name]) for curve in step.curves}
    tensors = tuple(
        tensor_of(lesson, spec, entry, frame.blob) for spec, entry in zip(step.watch, header["tensors"], strict=True)
    )
    done, total = int(header["done"]), int(header["total"])
    # The worker sees to it first.
    if not 0 <= done <= total <= MOST_STEPS:
        raise wire.WireError("unexpected message")
    return TrainingSnapshot(done, total, numbers, tensors)


def cells_of(lesson: Lesson, changes: Changes) -> list[dict[str, Any]]:
    """List what the worker needs to know to change cells. Raises `ChangeError`."""
    return [
        {"name": cell.name, "index": list(cell.index), "value": cell.value, **asdict(position)}
        for cell, position in statements_before_cells(lesson, changes)
    ]


def step_result(lesson: Lesson, step: ReadStep | RunningStep, frame: wire.Frame, job: ChildProcess) -> StepResult:
    """The result of a step from the worker's report. Raises what a wrong report makes it raise."""
    header = frame.header
    shown = step.tensors if isinstance(step, RunningStep) else ()
    start, end = header["stdout"]
    return StepResult(
        id=step.id,
        stdout=output(job.out, start, end),
        error=failure_of(header["error"]) if header["error"] else None,
        tensors=with_letters(
            tensor_of(lesson, spec, entry, frame.blob) for spec, entry in zip(shown, header["tensors"], strict=False)
        ),
        text={str(key): str(value) for key, value in header["text"].items()},
        seconds=float(header["seconds"]),
        notes=tuple(str(note) for note in header.get("notes", ())),
        shapes=line_shapes.of_worker(header.get("shapes", []), partial(axis_labels.axes_of, lesson, step.id)),
    )


def tensor_of(lesson: Lesson, shown: ShownTensor, entry: dict[str, Any], blob: bytes) -> Tensor:
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
    names, texts = axis_labels.of(lesson, shown, shape)
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
        layout=_layout(entry["layout"]) if shown.draw == "memory" and entry["layout"] else None,
    )


def _layout(entry: dict[str, Any]) -> MemoryLayout:
    """Where elements lie; the storage has its address for a name."""
    strides = tuple(map(int, entry["strides"]))
    return MemoryLayout(
        strides, int(entry["offset"]), int(entry["size"]), bool(entry["contiguous"]), str(entry["storage"])
    )


def with_letters(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors of one step, whose storages are called A, B, ... in place of their addresses."""
    letters: dict[str, str] = {}
    named: list[Tensor] = []
    for tensor in tensors:
        if tensor.layout is not None:
            letter = letters.setdefault(tensor.layout.storage, chr(ord("A") + len(letters)))
            tensor = replace(tensor, layout=replace(tensor.layout, storage=letter))
        named.append(tensor)
    return tuple(named)


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
