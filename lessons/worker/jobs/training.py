"""The job of a training: runs the steps before it, then its loop, and reports snapshots and the trained model."""

from __future__ import annotations

import random
import select
import socket
from typing import Any

import torch

from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import MOST_SNAPSHOTS, MOST_STEPS
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.jobs import lesson_run, tensor_entries, trained_state
from attn_tutor.lessons.worker.jobs.execute import describe, execute
from attn_tutor.lessons.worker.jobs.run_state import RunState, as_tensor, in_parts
from attn_tutor.lessons.worker.message_parts import ErrorReport, NamedExpression, TensorReport
from attn_tutor.lessons.worker.messages import (
    Pause,
    Paused,
    Resume,
    Snapshot,
    Train,
    Trained,
    TrainingFailed,
    TrainingRequest,
)

say = Wording("worker/training")


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
    state, failure = lesson_run.start(job.program)
    for step in job.program.steps:
        if failure is None:
            failure = lesson_run.run_step(state, step, job.blob)
    if failure is not None:
        message = say("not-started", "The training was not started: {why}", why=failure.message)
        failure = ErrorReport(failure.kind, message)
    else:
        lesson_run.seed(spec.seed)
        state.namespace["frame"] = SnapshotTaker(talk, state, spec).frame
        # Not under the recorder: nobody asks for the explanation of a number in the ten-thousandth product.
        failure = execute(spec.code, CodeUnit.step(spec.id).filename, state.namespace)
    if failure is None:
        data, failure = trained_state.pack(spec.keep, state.namespace)
    if failure is not None:
        channel.send(talk, TrainingFailed(failure))
    else:
        channel.send(talk, Trained(data))
