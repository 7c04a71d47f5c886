"""Running more code in a child that has already run a lesson: send the code, then read its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from attn_tutor.lessons.engine import child_failures, replies
from attn_tutor.lessons.engine.launching.launchers import ChildProcess
from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import Lesson, Limits
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import Failure, Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.message_parts import TensorReport
from attn_tutor.lessons.worker.messages import RunInput, RunScratch

say = Wording("engine/child-code")

R = TypeVar("R")
T = TypeVar("T")

Names = tuple[tuple[str, str], ...]
"""The names that code can use, each with a summary of its value, such as `(6,3)` or `Linear`."""


def gone() -> Failure:
    """Return the failure of code whose child has ended before."""
    return Failure("crash", say("gone", "The program is no longer there."))


@dataclass(frozen=True, slots=True)
class CodeRequest(Generic[R, T]):
    """Code to run in a child that waits for questions.

    Attributes:
        message: the message with the code.
        report: the type of the child's reply.
        wall: the longest time that the code may take, in seconds.
        limits: the limits that the child was started with.
        read: builds the result from the reply, the child (for its output) and the time taken, in seconds.
        failed: builds the result from a failure, the child and the time taken, if the child did not survive.
    """

    message: RunInput | RunScratch
    report: type[R]
    wall: float
    limits: Limits
    read: Callable[[R, ChildProcess, float], T]
    failed: Callable[[Failure, ChildProcess, float], T]


def run_in_child(request: CodeRequest[R, T], job: ChildProcess, cancelled: Callable[[], bool]) -> tuple[T, bool]:
    """Run code in a child. Returns the result, and whether the child survived."""
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
    except wire.WireError as error:
        # A child that sends something unreadable is ended.
        failure = child_failures.exit_failure(job, error, request.limits, cancelled())
    return request.failed(failure, job, time.monotonic() - began), False


def tensors_of(lesson: Lesson, step: str, reports: Iterable[TensorReport], blob: bytes) -> tuple[Tensor, ...]:
    """Read tensors of learner's code, drawn as the lesson draws those of the same name and rank."""

    def read(report: TensorReport) -> Tensor:
        name = clean(report.name, keep="")
        return replies.tensor_of(
            lesson, axis_labels.drawn_as(lesson, step, name, len(report.shape), report.dtype), report, blob
        )

    return tuple(map(read, reports))
