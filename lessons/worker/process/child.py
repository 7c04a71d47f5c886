"""What one child of the worker does: fence itself in, take one job, do it, end."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any

from lessons.worker import fence, wire
from lessons.worker.jobs import answer_run, judge, lesson_run, training

TALK = 3
CUT_OFF = 97
"""The exit code of a child whose program has closed its connection."""

# Bound before any program runs, which may replace them.
_fstat, _exit = os.fstat, os._exit


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """Where a child runs and what it may use: a scratch directory, processor seconds, MiB of memory.

    `later`: processor seconds for questions, when its program has run.
    """

    scratch: str
    cpu: float
    memory: int
    later: float

    @classmethod
    def of(cls, header: dict[str, Any]) -> LaunchConfig:
        """The place that a launch message describes."""
        return cls(str(header["scratch"]), float(header["cpu"]), int(header["memory"]), float(header["later"]))


def settle_in(place: LaunchConfig) -> None:
    """Streams, signals, limits and fence, in an order that leaves no gap. Descriptors 1 and 2 are in place already."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it lives as long as the process
    # Line by line, so that what was printed before a crash is there.
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    # The line that a program was at, told on descriptor 2 even while the interpreter is stuck in C code.
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)
    faulthandler.register(signal.SIGXCPU, file=2, all_threads=False, chain=True)
    os.chdir(place.scratch)
    os.environ.update(HOME=place.scratch, TMPDIR=place.scratch)
    sys.path[:] = [entry for entry in sys.path if entry]
    fence.limit(place.cpu, place.memory, place.later)
    with contextlib.suppress(OSError):
        os.nice(5)
    fence.confine(place.scratch)


def work(talk: socket.socket) -> None:
    """Take one job and do it. Returns when the peer has what it wanted or is gone."""
    try:
        job = wire.receive(talk)
        if job.op == "lesson":
            lesson_run.run_lesson(job, talk)
        elif job.op == "train":
            training.run_training(job, talk)
        elif job.op == "answer":
            answer_run.answer(job, talk)
        elif job.op == "judge":
            judge.decide(job, talk)
    except wire.Closed:
        if not _is_open(TALK):
            # By the program: the peer is still there, and waits.
            _exit(CUT_OFF)


def _is_open(fd: int) -> bool:
    try:
        _fstat(fd)
    except OSError:
        return False
    return True
