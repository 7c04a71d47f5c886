"""The jobs that run a lesson: all of its steps, with answers to questions afterwards, or the training of one of them.

Steps run in one namespace, each is reported. A training runs the steps before it, then its loop, and reports snapshots
and the trained state of a model: a dict of tensors, sent and saved as a file in PyTorch's own format.
"""

from __future__ import annotations

import io
import random
import select
import socket
import time
from typing import Any

import torch

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.line_shapes import LineReport
from attn_tutor.lessons.results.result import MOST_KEPT, MOST_SNAPSHOTS, MOST_STEPS, Failure
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.fence import limits
from attn_tutor.lessons.worker.jobs import tensor_entries, tensor_questions
from attn_tutor.lessons.worker.jobs.execute import describe, execute, out_size, seed_generators
from attn_tutor.lessons.worker.jobs.run_state import RunState, as_tensor, in_parts
from attn_tutor.lessons.worker.message_parts import LessonCode, NamedExpression, StepRequest, TensorReport
from attn_tutor.lessons.worker.messages import (
    LessonDone,
    Pause,
    Paused,
    Resume,
    RunLesson,
    Snapshot,
    StepReport,
    Train,
    Trained,
    TrainingFailed,
    TrainingRequest,
)

say = Wording("worker/trained")

KEEP = CodeUnit.internal("keep").filename


def pack_trained(expression: str, namespace: dict[str, Any]) -> tuple[bytes, Failure | None]:
    """Save the tensors that a training keeps in PyTorch's format. Returns the file, and the failure, if any."""
    try:
        tensors = eval(compile(expression, KEEP, "eval"), namespace)
        # Copy them: a view would save its whole storage.
        copies = {str(name): tensor.detach().clone() for name, tensor in tensors.items()}
        file = io.BytesIO()
        torch.save(copies, file)
    except BaseException as error:
        failure = describe(error, KEEP)
        message = say("not-kept", "What was trained cannot be kept: {why}", why=failure.message)
        return b"", Failure(failure.kind, message)
    data = file.getvalue()
    if len(data) > MOST_KEPT:
        message = say(
            "too-large",
            "What was trained is too large to be kept: {size} MiB, {most} are allowed.",
            size=len(data) >> 20,
            most=MOST_KEPT >> 20,
        )
        return b"", Failure("error", message)
    return data, None


def unpack_trained(data: bytes) -> tuple[dict[str, torch.Tensor], Failure | None]:
    """Return the tensors in a saved file, and the failure if it cannot be read. Loads nothing but tensors."""
    try:
        tensors = torch.load(io.BytesIO(data), weights_only=True)
        if not isinstance(tensors, dict) or not all(isinstance(item, torch.Tensor) for item in tensors.values()):
            raise TypeError("no dict of tensors")
    except Exception:
        message = say("unreadable", "What was trained cannot be read any more. Train again.")
        return {}, Failure("error", message)
    return tensors, None


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


def start(program: LessonCode) -> tuple[RunState, Failure | None]:
    """Run the setup of a program. Returns the state of the run, and the failure if the setup did not complete."""
    state = RunState(program.cells)
    seed_generators(program.seed)
    return state, state.run(program.setup, code_unit.SETUP)


def run_step(state: RunState, step: StepRequest, blob: bytes) -> Failure | None:
    """Run the code of a step. Returns the failure, if any. A step with a training finds its model in `trained`."""
    if step.untrained is not None:
        return Failure("error", step.untrained)
    if step.trained is not None:
        start, end = step.trained
        trained, failure = unpack_trained(blob[start:end])
        if failure is not None:
            return failure
        state.namespace["trained"] = trained
        sentence = say(
            "trained", "Trained: the training of the step '{step}' had left this number when it ended.", step=step.id
        )
        state.explainer.describe_origin(trained.values(), sentence)
    seed_generators(step.seed)
    return state.run(step.code, CodeUnit.step(step.id))


class SnapshotError(Exception):
    """A snapshot that cannot be taken; the message says why."""


class SnapshotTaker:
    """A taker of snapshots: the code of a training calls `frame(done, total)`, which also waits while it is paused."""

    def __init__(self, talk: socket.socket, state: RunState, spec: TrainingRequest) -> None:
        self._talk, self._namespace, self._spec = talk, state.namespace, spec
        self._taken = 0
        # Bound here, since the program may replace it.
        self._select = select.select

    def frame(self, done: int, total: int) -> None:
        """Take a snapshot after `done` of `total` steps. Leaves the random number generators unchanged."""
        if self._taken == MOST_SNAPSHOTS:
            raise SnapshotError(say("too-often", "frame() was called more than {most} times", most=MOST_SNAPSHOTS))
        if not 0 <= done <= total <= MOST_STEPS:
            why = say("out-of-range", "frame(done, total) wants 0 <= done <= total <= {most}", most=MOST_STEPS)
            raise SnapshotError(why)
        self._taken += 1
        torch_state, state = torch.get_rng_state(), random.getstate()
        blob = bytearray()
        with torch.no_grad():
            numbers = {curve.name: float(self._value(curve)) for curve in self._spec.curves}
            tensors = tuple(self._tensor(spec, blob) for spec in self._spec.watch)
        torch.set_rng_state(torch_state)
        random.setstate(state)
        channel.send(self._talk, Snapshot(int(done), int(total), numbers, tensors, bytes(blob)))
        self._listen()

    def _tensor(self, spec: NamedExpression, blob: bytearray) -> TensorReport:
        return tensor_entries.entry(spec.name, in_parts(as_tensor(self._value(spec))), blob)

    def _value(self, spec: NamedExpression) -> Any:
        try:
            return eval(compile(spec.expression, CodeUnit.internal(spec.name).filename, "eval"), self._namespace)
        except Exception as error:
            why = say("no-value", "{name} has no value: {why}", name=spec.name, why=describe(error, "").message)
            raise SnapshotError(why) from error

    def _listen(self) -> None:
        """Read whether to wait, and wait for `Resume` if so, without using processor time."""
        while self._select([self._talk], [], [], 0)[0]:
            if isinstance(channel.receive(self._talk, Pause, Resume), Pause):
                channel.send(self._talk, Paused())
                channel.receive(self._talk, Resume)


def run_training(job: Train, talk: socket.socket) -> None:
    """Run the setup and the earlier steps of a job, then its training. Reports the snapshots, then the outcome."""
    spec = job.training
    state, failure = start(job.program)
    for step in job.program.steps:
        if failure is None:
            failure = run_step(state, step, job.blob)
    if failure is not None:
        message = say("not-started", "The training was not started: {why}", why=failure.message)
        failure = Failure(failure.kind, message)
    else:
        seed_generators(spec.seed)
        state.namespace["frame"] = SnapshotTaker(talk, state, spec).frame
        # Not under the recorder: nobody asks for the explanation of a number in the ten-thousandth product.
        failure = execute(spec.code, CodeUnit.step(spec.id).filename, state.namespace)
    if failure is None:
        data, failure = pack_trained(spec.keep, state.namespace)
    if failure is not None:
        channel.send(talk, TrainingFailed(failure))
    else:
        channel.send(talk, Trained(data))
