"""Code that a living child is asked to run where a lesson has come to: send it, and read what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from lessons.engine import child_failures
from lessons.engine.launchers import ChildProcess
from lessons.format import axis_labels
from lessons.format.lesson import Kind, Lesson, Limits, ShownTensor
from lessons.results.result import Failure
from lessons.worker import channel
from lessons.worker.message_parts import TensorReport
from lessons.worker.messages import RunInput, RunScratch

R = TypeVar("R")
T = TypeVar("T")

Names = tuple[tuple[str, str], ...]
"""What code can use: names, and what each stands for, `(6,3)` or `Linear`."""

GONE = Failure("crash", "The program is no longer there.")


@dataclass(frozen=True, slots=True)
class CodeRequest(Generic[R, T]):
    """Code for a child that waits for questions.

    Attributes:
        message: what it is asked.
        report: the type of its reply.
        wall: seconds that it may take.
        limits: those that the child was started with.
        read: makes the result of that, of what it printed and of the seconds that it took.
        failed: makes the result of a failure instead, if it did not survive.
    """

    message: RunInput | RunScratch
    report: type[R]
    wall: float
    limits: Limits
    read: Callable[[R, ChildProcess, float], T]
    failed: Callable[[Failure, ChildProcess, float], T]


def run_in_child(request: CodeRequest[R, T], job: ChildProcess, cancelled: Callable[[], bool]) -> tuple[T, bool]:
    """Have a child run code. Returns what became of it, and whether the child survived it."""
    began = time.monotonic()
    job.set_idle(False)
    try:
        channel.send(job.talk, request.message)
        report = channel.receive(job.talk, request.report, deadline=began + request.wall)
        result = request.read(report, job, time.monotonic() - began)
        job.set_idle(True)
        return result, True
    except TimeoutError:
        failure = child_failures.timeout_failure(job, request.wall)
    except Exception as error:
        # Whatever a child sends that cannot be read is its own end.
        failure = child_failures.exit_failure(job, error, request.limits, cancelled())
    return request.failed(failure, job, time.monotonic() - began), False


def shown_tensor_for(lesson: Lesson, step: str, report: TensorReport) -> ShownTensor:
    """Tell how a tensor is drawn: as the lesson draws what has its name and as many axes, else by its indices."""
    known = axis_labels.declaration_of(lesson, step, report.name, len(report.shape))
    kind: Kind = "mask" if report.dtype == "bool" else "vector"
    return known.model_copy(update={"name": report.name}) if known else ShownTensor(name=report.name or "_", kind=kind)
