"""Failures of children: the reason in one sentence, and the line of code, if it is known."""

from __future__ import annotations

import signal

from attn_tutor.lessons.engine.launching.launchers import ChildProcess, line_of
from attn_tutor.lessons.engine.launching.tasks import TooFewTasks
from attn_tutor.lessons.format.lesson import Limits
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import child_exit_codes, wire

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
    if ended.code == child_exit_codes.CUT_OFF:
        return Failure(
            "crash",
            say(
                "code-closed-files", "The code closed files that are not its own, so that its result could not be sent."
            ),
            line,
        )
    if ended.code == child_exit_codes.BROKEN:
        return Failure(
            "crash",
            say("code-broke-python", "The code broke Python's own tools, so that its result could not be sent."),
            line,
        )
    return Failure(
        "crash", say("code-ended-program", "The code ended the program itself (os._exit) before it was done."), line
    )
