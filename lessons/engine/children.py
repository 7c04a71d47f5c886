"""Children of the worker: running more code in one that has already run a lesson, and why one has failed.

The reason is one sentence, with the line of code, if it is known.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.engine.launching.host_limits import TooFewTasks
from attn_tutor.lessons.engine.launching.launchers import ChildProcess, line_of, output
from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import Lesson, Limits
from attn_tutor.lessons.results import line_shapes
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import Failure, StepResult, Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, messages, wire
from attn_tutor.lessons.worker.message_parts import TensorReport
from attn_tutor.lessons.worker.messages import CodeReport, RunInput, RunScratch

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


Names = tuple[tuple[str, str], ...]
"""The names that code can use, each with a summary of its value, such as `(6,3)` or `Linear`."""


def gone() -> Failure:
    """Return the failure of code whose child has ended before."""
    return Failure("crash", say("gone", "The program is no longer there."))


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """Code to run in a child that waits for questions.

    Attributes:
        lesson, step: the lesson and its step whose tensors those of the code are drawn like.
        wall: the longest time that the code may take, in seconds.
    """

    message: RunInput | RunScratch
    lesson: Lesson
    step: str
    wall: float


@dataclass(frozen=True, slots=True)
class CodeResult(StepResult):
    """The result of code that runs after a lesson, as a step has one; the `id` of an input is `input 1`, and so on.

    Of an input, `value` is the `repr` of its last expression, unless that is among the tensors; `names` are the names
    that the next input can use.
    """

    value: str = ""
    names: Names = ()


def run_in_child(request: CodeRequest, job: ChildProcess, cancelled: Callable[[], bool]) -> tuple[CodeResult, bool]:
    """Run code in a child. Returns the result, and whether the child survived."""
    began = time.monotonic()
    job.set_idle(False)
    try:
        channel.send(job.talk, request.message)
        report = channel.receive(job.talk, CodeReport, deadline=began + request.wall)
        result = _result(request, report, job, time.monotonic() - began)
        job.set_idle(True)
        return result, True
    except TimeoutError:
        failure = timeout_failure(job, request.wall)
    except wire.WireError as error:
        # A child that sends something unreadable is ended.
        failure = exit_failure(job, error, request.lesson.limits, cancelled())
    unit, seconds = str(request.message.unit), time.monotonic() - began
    return CodeResult(unit, stdout=output(job.out), error=failure, seconds=seconds), False


def _result(request: CodeRequest, report: CodeReport, job: ChildProcess, seconds: float) -> CodeResult:
    lesson, step = request.lesson, request.step
    return CodeResult(
        str(request.message.unit),
        stdout=output(job.out, 0, report.printed),
        error=report.error,
        tensors=_tensors(lesson, step, report.tensors, report.blob),
        shapes=line_shapes.of_worker(report.shapes, partial(axis_labels.axes_of, lesson, step)),
        seconds=seconds,
        value=report.value,
        names=report.names,
    )


def _tensors(lesson: Lesson, step: str, reports: Iterable[TensorReport], blob: bytes) -> tuple[Tensor, ...]:
    """Read tensors of learner's code, drawn as the lesson draws those of the same name and rank."""

    def read(report: TensorReport) -> Tensor:
        name = clean(report.name, keep="")
        return replies.tensor_of(
            lesson, axis_labels.drawn_as(lesson, step, name, len(report.shape), report.dtype), report, blob
        )

    return tuple(map(read, reports))
