"""Run a lesson's steps in one namespace, report each, then answer questions about the tensors they left."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import time
from typing import Any

import torch

from lessons.result import WHOLE
from lessons.template import Field
from lessons.worker import values, wire
from lessons.worker.execute import Failed, describe, execute

CORNER = 32
LARGEST_WINDOW = 256


def run_lesson(job: wire.Frame, talk: socket.socket) -> None:
    """Run the setup and the steps of a job, one frame for each step, then serve windows until the peer leaves."""
    header = job.header
    namespace: dict[str, Any] = {"__name__": "__lesson__"}
    kept: dict[tuple[str, str], torch.Tensor] = {}
    seed(header["seed"])
    failure = execute(header["setup"], "<setup>", namespace)
    for step in header["steps"]:
        start, began = out_size(), time.perf_counter()
        tensors: list[dict[str, Any]] = []
        blob = bytearray()
        text: dict[str, str] = {}
        if failure is None:
            seed(step["seed"])
            failure = execute(step["code"], f"<{step['id']}>", namespace)
        if failure is None:
            text, failure = _fill(step["fields"], namespace)
        if failure is None:
            for shown in step["show"]:
                try:
                    tensor = _tensor(eval(shown["expr"], namespace))
                    entry = _describe_tensor(shown["name"], tensor, blob)
                except BaseException as error:
                    failure = describe(error, f"<{step['id']}>")
                    failure["message"] = f"{shown['name']} cannot be shown: {failure['message']}"
                    break
                kept[step["id"], shown["name"]] = tensor
                tensors.append(entry)
        report = {
            "op": "step",
            "id": step["id"],
            "error": failure,
            "stdout": [start, out_size()],
            "tensors": tensors,
            "text": text,
            "seconds": time.perf_counter() - began,
        }
        wire.send(talk, report, bytes(blob))
        if failure is not None:
            break
    wire.send(talk, {"op": "done"})
    serve(talk, kept)


def serve(talk: socket.socket, kept: dict[tuple[str, str], torch.Tensor]) -> None:
    """Answer `window` questions until the peer closes the connection."""
    while True:
        question = wire.receive(talk).header
        tensor = kept.get((str(question.get("step")), str(question.get("name"))))
        lead = tuple(question.get("lead", ()))
        if tensor is None or len(lead) != max(0, tensor.dim() - 2):
            wire.send(talk, {"op": "window", "error": "no such tensor"})
            continue
        top, left = int(question["top"]), int(question["left"])
        height, width = (min(int(question[key]), LARGEST_WINDOW) for key in ("height", "width"))
        matrix = tensor[lead]
        if matrix.dim() < 2:
            matrix = matrix.reshape(1, -1)
        part = matrix[top : top + height, left : left + width]
        code, data = _numbers(part)
        wire.send(talk, {"op": "window", "rows": part.shape[0], "cols": part.shape[1], "code": code}, data)


def seed(number: int) -> None:
    """Seed every generator that lesson code may use."""
    torch.manual_seed(number)
    random.seed(number)


def out_size() -> int:
    """Bytes written to standard output so far. It is a file, so this is its size, whoever wrote it."""
    # The program may have closed or replaced either.
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
    try:
        return os.fstat(1).st_size
    except OSError:
        return 0


def _fill(fields: list[dict[str, str]], namespace: dict[str, Any]) -> tuple[dict[str, str], Failed | None]:
    text: dict[str, str] = {}
    for item in fields:
        field = Field(item["expression"], item["conversion"], item["spec"])
        try:
            text[field.key] = field.format(eval(field.expression, namespace))
        except BaseException as error:
            failure = describe(error, "<prose>")
            failure["message"] = f"{{{field.key}}} in the prose: {failure['message']}"
            return text, failure
    return text, None


def _tensor(value: object) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            raise TypeError("its numbers are complex")
        return value.detach()
    if isinstance(value, bool | int | float):
        return torch.tensor(value)
    if isinstance(value, list | tuple):
        return torch.tensor(value)
    raise TypeError(f"it is a {type(value).__name__}, not a tensor")


def _describe_tensor(name: str, tensor: torch.Tensor, blob: bytearray) -> dict[str, Any]:
    """Shape, bounds and numbers: all of a small tensor, the first corner of a large one. Adds to the blob."""
    whole = tensor.numel() <= WHOLE
    part = tensor if whole else tensor[(0,) * max(0, tensor.dim() - 2)]
    if not whole:
        part = part[:CORNER, :CORNER] if part.dim() > 1 else part[:CORNER]
    code, data = _numbers(part)
    low, high = _bounds(tensor)
    entry = {
        "name": name,
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "low": low,
        "high": high,
        "whole": whole,
        "rows": 1 if part.dim() < 2 else part.shape[-2],
        "code": code,
        "offset": len(blob),
        "bytes": len(data),
    }
    blob += data
    return entry


def _numbers(tensor: torch.Tensor) -> tuple[str, bytes]:
    """The elements and their code for `memoryview.cast`: bool B, integers q, double d, all other floats f."""
    if tensor.dtype == torch.bool:
        return "B", values.raw(tensor.to(torch.uint8))
    if not tensor.dtype.is_floating_point:
        return "q", values.raw(tensor.to(torch.int64))
    if tensor.dtype == torch.float64:
        return "d", values.raw(tensor)
    return "f", values.raw(tensor.to(torch.float32))


def _bounds(tensor: torch.Tensor) -> tuple[float | None, float | None]:
    """Least and greatest finite value."""
    if tensor.numel() == 0:
        return None, None
    if tensor.dtype.is_floating_point:
        low, high = torch.aminmax(tensor)
        if not torch.isfinite(low + high):
            tensor = tensor[torch.isfinite(tensor)]
            if tensor.numel() == 0:
                return None, None
            low, high = torch.aminmax(tensor)
        return float(low), float(high)
    flat = tensor.to(torch.int64)
    return float(flat.min()), float(flat.max())
