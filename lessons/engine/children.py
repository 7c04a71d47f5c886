"""Children of the worker: running more code in one that has already run a lesson, and why one has failed.

The reason is one sentence, with the line of code, if it is known.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.engine.launching.host_limits import TooFewTasks
from attn_tutor.lessons.engine.launching.launchers import ChildProcess, line_of
from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import Lesson, Limits
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import Failure, Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, messages, wire
from attn_tutor.lessons.worker.message_parts import TensorReport
from attn_tutor.lessons.worker.messages import RunInput, RunScratch

say = Wording("engine/child-failures")

CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)


def timeout_failure(job: ChildProcess, wall: float) -> Failure:
    """End a child that is past its deadline and return the failure, with the line that the child had reached."""
    job.end(ask_line=True)
    line = line_of(job)
    where = say("line", " It was at line {line}.", line=line) if line else ""
    message = say("stopped-after-seconds", "Stopped after {wall:g} seconds.{where}", wall=wall, where=where)
    return Failure("timeout", message, line, names_line=True)


def no_folder() -> str:
    """Say that a program could not be given a folder for its files."""
    return say(
        "no-folder",
        "There is no room for the files that a program needs. To see what is wrong here: {command}",
        command="attn-tutor doctor",
    )


def exit_failure(job: ChildProcess, error: Exception, limits: Limits, cancelled: bool) -> Failure:
    """Explain why a child ended without a report, or sent an unreadable one.

    `error` is the exception that reading from its connection raised.
    """
    ended = job.end()
    line = line_of(job)
    where = say("at-line", " at line {line}", line=line) if line else ""
    if cancelled or ended.code == -signal.SIGINT:
        return Failure("stopped", say("stopped", "Stopped by you{where}.", where=where), line, names_line=True)
    if ended.reason == "no process":
        return Failure("error", str(TooFewTasks()))
    if ended.reason == "no folder":
        return Failure("error", no_folder())
    if ended.reason == "processes":
        return Failure("error", say("code-started-too", "The code started too many processes; they were ended."), line)
    if ended.reason == "memory":
        return Failure(
            "memory",
            say("processes-code-started", "The code and the processes that it started used too much memory together."),
            line,
        )
    if ended.reason == "files":
        return Failure(
            "error", say("code-wrote-files", "The code wrote too many files, or too large ones; it was ended."), line
        )
    if ended.reason == "hidden":
        return Failure(
            "error",
            say(
                "code-started-hidden",
                "The code, or a program that it started, hides what it uses, so nobody could limit that; it was ended.",
            ),
            line,
        )
    # A program that ignores the signal of the soft limit is killed at the hard one.
    if ended.code == -signal.SIGXCPU or (ended.code == -signal.SIGKILL and ended.cpu > limits.cpu):
        return Failure(
            "timeout",
            say(
                "stopped-after-seconds-computing",
                "Stopped after {cpu:g} seconds of computing{where}.",
                cpu=limits.cpu,
                where=where,
            ),
            line,
            names_line=True,
        )
    if not isinstance(error, wire.Closed):
        return Failure(
            "crash", say("code-sent-something", "The code sent something unreadable in place of its result."), line
        )
    if -ended.code in CRASHES:
        name = signal.Signals(-ended.code).name
        return Failure(
            "crash",
            say(
                "python-interpreter-itself",
                "The Python interpreter itself crashed{where} ({signal}).",
                where=where,
                signal=name,
            ),
            line,
            names_line=True,
        )
    if ended.code == -signal.SIGKILL:
        return Failure(
            "crash",
            say("program-killed-from", "The program was killed from outside, perhaps for lack of memory."),
            line,
        )
    if ended.code == messages.EXIT_CUT_OFF:
        return Failure(
            "crash",
            say(
                "code-closed-files", "The code closed files that are not its own, so that its result could not be sent."
            ),
            line,
        )
    if ended.code == messages.EXIT_BROKEN:
        return Failure(
            "crash",
            say("code-broke-python", "The code broke Python's own tools, so that its result could not be sent."),
            line,
        )
    return Failure(
        "crash", say("code-ended-program", "The code ended the program itself (os._exit) before it was done."), line
    )


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
        failure = timeout_failure(job, request.wall)
    except wire.WireError as error:
        # A child that sends something unreadable is ended.
        failure = exit_failure(job, error, request.limits, cancelled())
    return request.failed(failure, job, time.monotonic() - began), False


def tensors_of(lesson: Lesson, step: str, reports: Iterable[TensorReport], blob: bytes) -> tuple[Tensor, ...]:
    """Read tensors of learner's code, drawn as the lesson draws those of the same name and rank."""

    def read(report: TensorReport) -> Tensor:
        name = clean(report.name, keep="")
        return replies.tensor_of(
            lesson, axis_labels.drawn_as(lesson, step, name, len(report.shape), report.dtype), report, blob
        )

    return tuple(map(read, reports))
