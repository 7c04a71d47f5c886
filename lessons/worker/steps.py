"""Run a lesson's steps in one namespace, report each."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import time
from typing import Any

import torch

from lessons.template import Field
from lessons.worker import answers, shown, wire
from lessons.worker.execute import Failed, describe, execute


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
            for spec in step["show"]:
                try:
                    tensor = _tensor(eval(spec["expr"], namespace))
                    entry = shown.entry(spec["name"], tensor, blob)
                except BaseException as error:
                    failure = describe(error, f"<{step['id']}>")
                    failure["message"] = f"{spec['name']} cannot be shown: {failure['message']}"
                    break
                kept[step["id"], spec["name"]] = tensor
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
    answers.serve(talk, kept)


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
