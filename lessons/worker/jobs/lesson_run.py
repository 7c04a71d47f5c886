"""Run a lesson's steps in one namespace and report each, then answer questions about the tensors they left."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import time
from typing import Any

import torch

from lessons.worker import fence, wire
from lessons.worker.jobs import tensor_questions, trained_state
from lessons.worker.jobs.execute import Failed
from lessons.worker.jobs.run_state import RunState


def run_lesson(job: wire.Frame, talk: socket.socket) -> None:
    """Run the setup and the steps of a job, one frame for each step, then serve questions until the peer leaves."""
    header = job.header
    stage = RunState(header["cells"])
    seed(header["seed"])
    failure = stage.run(header["setup"], "setup")
    for step in header["steps"]:
        start, began = out_size(), time.perf_counter()
        tensors: list[dict[str, Any]] = []
        blob = bytearray()
        text: dict[str, str] = {}
        shapes: list[dict[str, Any]] = []
        if failure is None:
            failure = run_step(stage, step, job.blob)
            shapes = stage.lines
        if failure is None:
            text, failure = stage.fill(step["fields"])
        if failure is None:
            tensors, failure = stage.show(step["id"], step["show"], blob)
        report = {
            "op": "step",
            "id": step["id"],
            "error": failure,
            "stdout": [start, out_size()],
            "tensors": tensors,
            "text": text,
            "shapes": shapes,
            "notes": stage.patch.tell(),
            "seconds": time.perf_counter() - began,
        }
        wire.send(talk, report, bytes(blob))
        if failure is not None:
            break
    fence.allow_questions()
    wire.send(talk, {"op": "done"})
    tensor_questions.serve(talk, stage)


def run_step(stage: RunState, step: dict[str, Any], blob: bytes) -> Failed | None:
    """Run the code of a step. If it rests on a training, it finds in `trained` what that has kept."""
    if "untrained" in step:
        return {"kind": "error", "message": step["untrained"], "line": None}
    if "trained" in step:
        start, end = step["trained"]
        stage.namespace["trained"], failure = trained_state.opened(blob[start:end])
        if failure is not None:
            return failure
    seed(step["seed"])
    return stage.run(step["code"], step["id"])


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
