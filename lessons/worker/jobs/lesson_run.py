"""The job that runs a lesson: runs its steps in one namespace, reports each, then answers questions about tensors."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import time

import torch

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.line_shapes import LineReport
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.fence import limits
from attn_tutor.lessons.worker.jobs import tensor_questions, trained_state
from attn_tutor.lessons.worker.jobs.run_state import RunState
from attn_tutor.lessons.worker.message_parts import ErrorReport, Program, StepRequest, TensorReport
from attn_tutor.lessons.worker.messages import LessonDone, RunLesson, StepReport

say = Wording("worker/lesson-run")

ACCELERATED = torch.backends.cuda.is_built() or torch.backends.mps.is_built() or torch.xpu._is_compiled()
"""Whether this build of PyTorch has generators on devices other than the processor."""


def run_lesson(job: RunLesson, talk: socket.socket) -> None:
    """Run the setup and the steps of a job, report each step, then answer questions until the peer disconnects."""
    state, failure = start(job.program)
    for step in job.program.steps:
        before, began = out_size(), time.perf_counter()
        tensors: tuple[TensorReport, ...] = ()
        blob = bytearray()
        text: dict[str, str] = {}
        shapes: list[LineReport] = []
        if failure is None:
            failure = run_step(state, step, job.blob)
            shapes = state.lines
        if failure is None:
            text, failure = state.fill(step.fields)
        if failure is None:
            tensors, failure = state.show(CodeUnit.step(step.id), step.show, blob)
        report = StepReport(
            id=step.id,
            error=failure,
            stdout=(before, out_size()),
            tensors=tensors,
            text=text,
            shapes=tuple(shapes),
            notes=tuple(state.cell_writer.take_notes()),
            seconds=time.perf_counter() - began,
            blob=bytes(blob),
        )
        channel.send(talk, report)
        if failure is not None:
            break
    limits.allow_questions()
    channel.send(talk, LessonDone())
    tensor_questions.serve(talk, state)


def start(program: Program) -> tuple[RunState, ErrorReport | None]:
    """Run the setup of a program. Returns the state of the run, and the failure if the setup did not complete."""
    state = RunState(program.cells)
    seed(program.seed)
    return state, state.run(program.setup, code_unit.SETUP)


def run_step(state: RunState, step: StepRequest, blob: bytes) -> ErrorReport | None:
    """Run the code of a step. Returns the failure, if any. A step with a training finds its model in `trained`."""
    if step.untrained is not None:
        return ErrorReport("error", step.untrained)
    if step.trained is not None:
        start, end = step.trained
        trained, failure = trained_state.unpack(blob[start:end])
        if failure is not None:
            return failure
        state.namespace["trained"] = trained
        sentence = say(
            "trained", "Trained: the training of the step '{step}' had left this number when it ended.", step=step.id
        )
        state.explainer.describe_origin(trained.values(), sentence)
    seed(step.seed)
    return state.run(step.code, CodeUnit.step(step.id))


def seed(number: int) -> None:
    """Seed every generator that lesson code may use."""
    if ACCELERATED:
        torch.manual_seed(number)
    else:
        # For each kind of accelerator that is not in use, `torch.manual_seed` keeps a text of the whole stack, which
        # takes longer than most steps.
        torch.default_generator.manual_seed(number)
    random.seed(number)


def out_size() -> int:
    """Return the number of bytes written to standard output so far. It is a file, so other writers count too."""
    # The program may have closed or replaced the stream.
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
    try:
        return os.fstat(1).st_size
    except OSError:
        return 0
