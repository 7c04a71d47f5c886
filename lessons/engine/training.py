"""Running a training: its control, its snapshots as they arrive, and the snapshots that ship with the course."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from math import isfinite, prod
from pathlib import Path
from typing import Any

from attn_tutor.lessons.engine import children, replies
from attn_tutor.lessons.engine.launching.launchers import ChildProcess
from attn_tutor.lessons.files import read_text, rewrite
from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import Lesson, ShownTensor, TrainStep
from attn_tutor.lessons.learner.trained_models import key
from attn_tutor.lessons.results.result import MOST_SNAPSHOTS, WHOLE, Failure, Tensor, Training, TrainingSnapshot
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.messages import (
    Pause,
    Paused,
    Resume,
    Snapshot,
    Train,
    Trained,
    TrainingFailed,
)

SNAPSHOTS = "snapshots.json"
MOST_SHIPPED = 40
"""Maximum number of snapshots of a training that ship with the course."""

DIGITS = 4
"""Decimals of the numbers in the snapshots that ship with the course."""

FRAME_LIMIT = 10.0
"""Seconds from the first byte of a message to its last."""


class Control:
    """A handle to pause, resume and stop a training from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paused = self._stopped = False
        self._bell: socket.socket | None = None
        self.waiting = False
        """Whether the training is waiting at a snapshot; set by the thread that watches the training."""

    def pause(self) -> None:
        """Make the training wait at its next snapshot."""
        self._set(paused=True)

    def resume(self) -> None:
        """Let a paused training continue."""
        self._set(paused=False)

    def stop(self) -> None:
        """End the training for good, without saving anything."""
        self._set(stopped=True)

    @property
    def paused(self) -> bool:
        """Whether the learner wants the training to wait."""
        return self._paused

    @property
    def stopped(self) -> bool:
        """Whether the learner wants the training to end."""
        return self._stopped

    def _set(self, *, paused: bool | None = None, stopped: bool = False) -> None:
        with self._lock:
            self._paused = self._paused if paused is None else paused
            self._stopped = self._stopped or stopped
            if self._bell is not None:
                # A single unread byte is enough: its reader looks at the state.
                with contextlib.suppress(BlockingIOError):
                    self._bell.send(b"!")

    @contextlib.contextmanager
    def listening(self) -> Iterator[socket.socket]:
        """Yield a socket that becomes readable whenever the state changes."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            theirs.setblocking(False)
            with self._lock:
                self._bell = ours
            try:
                yield theirs
            finally:
                with self._lock:
                    self._bell = None
                    self.waiting = False


# Watching ----------------------------------------------------------------------------------------------------------


class _Watch:
    """The parent's end of a training. Only one thread uses the connection."""

    def __init__(self, job: ChildProcess, control: Control, bell: socket.socket, wall: float) -> None:
        self._job, self._control, self._bell = job, control, bell
        self._left = wall
        self._paused = False

    def next(self) -> Snapshot | Trained | TrainingFailed | None:
        """Wait for the child's next message; None if the learner has stopped the training.

        Raises `TimeoutError` when the training's time is up, not counting pauses, and what `channel.receive` raises.
        """
        while not self._control.stopped:
            self._obey()
            began = time.monotonic()
            readable, _, _ = select.select([self._job.talk, self._bell], [], [], None if self._paused else self._left)
            if not self._paused:
                self._left = max(0.0, self._left - (time.monotonic() - began))
            if self._bell in readable:
                with contextlib.suppress(BlockingIOError):
                    self._bell.recv(4096)
            if self._job.talk in readable:
                report = channel.receive(
                    self._job.talk,
                    *(Snapshot, Trained, TrainingFailed, Paused),
                    deadline=time.monotonic() + FRAME_LIMIT,
                )
                if isinstance(report, Snapshot | Trained | TrainingFailed):
                    return report
                if self._paused:
                    # Otherwise it has been told to continue in the meantime.
                    self._job.set_idle(True)
                    self._control.waiting = True
            elif not readable:
                raise TimeoutError("deadline")
        return None

    def _obey(self) -> None:
        """Tell the child to wait or to continue, if the control has changed."""
        wanted = self._control.paused
        if wanted == self._paused:
            return
        if self._control.waiting and not wanted:
            self._control.waiting = False
            self._job.set_idle(False)
        self._paused = wanted
        channel.send(self._job.talk, Pause() if wanted else Resume())


def watch(
    job: ChildProcess,
    lesson: Lesson,
    step: TrainStep,
    request: Train,
    on_snapshot: Callable[[TrainingSnapshot], None],
    control: Control,
    cancelled: Callable[[], bool],
) -> tuple[Training, bytes]:
    """Start a training in a child and follow it to its end. Returns the training, and the file of the trained model.

    The file is empty if the training did not finish.
    """
    snapshots: list[TrainingSnapshot] = []
    began = time.monotonic()

    def ended(failure: Failure | None = None, *, stopped: bool = False) -> Training:
        if failure is not None and failure.kind == "stopped":
            failure, stopped = None, True
        return Training(tuple(snapshots), failure, stopped, time.monotonic() - began)

    with control.listening() as bell:
        following = _Watch(job, control, bell, step.limits.wall)
        try:
            channel.send(job.talk, request)
        except wire.Closed as error:
            return ended(children.exit_failure(job, error, step.limits, cancelled())), b""
        while True:
            snapshot = None
            try:
                report = following.next()
                if report is None:
                    job.end()
                    return ended(stopped=True), b""
                if isinstance(report, Trained):
                    return ended(), report.blob
                if isinstance(report, TrainingFailed):
                    return ended(report.error), b""
                # The worker checks this too, but has run the learner's code.
                if len(snapshots) == MOST_SNAPSHOTS:
                    raise wire.WireError("too many messages")
                snapshot = replies.snapshot_of(lesson, step, report)
            except TimeoutError:
                return ended(children.timeout_failure(job, step.limits.wall)), b""
            except (wire.WireError, OSError, ValueError) as error:
                # A child that sends something unreadable is ended; the connection to one that was stopped is closed.
                return ended(children.exit_failure(job, error, step.limits, cancelled())), b""
            snapshots.append(snapshot)
            on_snapshot(snapshot)


# Snapshots that ship with the course -------------------------------------------------------------------------------


def load_recorded(lesson: Lesson, step: TrainStep) -> Training:
    """Load the training that ships with the course. It has no snapshots if the lesson or its code has changed since."""
    if not lesson.folder:
        return Training(())
    try:
        data = json.loads(read_text(Path(lesson.folder) / SNAPSHOTS))[step.id]
        if data["key"] != key(lesson, step):
            return Training(())
        shown = {spec.name: spec for spec in step.watch}
        snapshots = tuple(_snapshot(lesson, shown, entry) for entry in data["snapshots"])
        return Training(snapshots, seconds=float(data["seconds"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Training(())


def save_snapshots(lesson: Lesson, trainings: Sequence[tuple[TrainStep, Training]]) -> None:
    """Write the snapshots of a lesson's trainings that ship with the course, and how long each training took."""
    lines = []
    for step, ended in trainings:
        entries = ",\n".join(json.dumps(_entry(snapshot)) for snapshot in thin_out(ended.snapshots, MOST_SHIPPED))
        about = json.dumps({"key": key(lesson, step), "seconds": round(ended.seconds, 1)})
        lines.append(f'{json.dumps(step.id)}: {about[:-1]}, "snapshots": [\n{entries}\n]}}')
    text = "{" + ",\n".join(lines) + "}\n"
    rewrite(Path(lesson.folder) / SNAPSHOTS, text.encode())


def thin_out(snapshots: Sequence[TrainingSnapshot], most: int) -> Sequence[TrainingSnapshot]:
    """Return at most `most` of the snapshots, evenly spread, including the first and the last."""
    if len(snapshots) <= most:
        return snapshots
    return [snapshots[round(index * (len(snapshots) - 1) / (most - 1))] for index in range(most)]


def _entry(snapshot: TrainingSnapshot) -> dict[str, Any]:
    return {
        "done": snapshot.done,
        "total": snapshot.total,
        "numbers": {name: round(number, DIGITS) for name, number in snapshot.numbers.items()},
        "tensors": {
            tensor.name: {
                "dtype": tensor.dtype,
                "shape": list(tensor.shape),
                "values": [round(value, DIGITS) for value in tensor.values],
            }
            for tensor in snapshot.tensors
            if tensor.values is not None
        },
    }


def _snapshot(lesson: Lesson, shown: dict[str, ShownTensor], entry: dict[str, Any]) -> TrainingSnapshot:
    tensors = tuple(_tensor(lesson, shown[name], data) for name, data in entry["tensors"].items())
    numbers = {str(name): float(number) for name, number in entry["numbers"].items()}
    return TrainingSnapshot(int(entry["done"]), int(entry["total"]), numbers, tensors)


def _tensor(lesson: Lesson, spec: ShownTensor, entry: dict[str, Any]) -> Tensor:
    shape = tuple(map(int, entry["shape"]))
    values = tuple(map(float, entry["values"]))
    if len(values) != prod(shape) or len(values) > WHOLE:
        raise ValueError("a tensor of another size")
    names_and_labels = axis_labels.names_and_labels(lesson, spec, shape)
    finite = [value for value in values if isfinite(value)]
    bounds = min(finite, default=None), max(finite, default=None)
    return Tensor.of(spec, str(entry["dtype"]), shape, names_and_labels, bounds, values)
