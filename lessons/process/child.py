"""The life of a child of the worker: it fences itself in, takes one job, does it, and ends."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attn_tutor.lessons.programs.messages import CompareTraces, ReadTensorFile, RunProgram
from attn_tutor.lessons.programs.worker import run
from attn_tutor.lessons.programs.worker.diff import trace_comparison
from attn_tutor.lessons.programs.worker.tensor_files import job
from attn_tutor.lessons.worker import channel, judging_messages, messages, wire
from attn_tutor.lessons.worker.fence import landlock, limits, system_calls
from attn_tutor.lessons.worker.jobs import answer_run, judge, lesson_run
from attn_tutor.lessons.worker.messages import Launch

TALK = 3

JOBS: dict[type[Any], Callable[[Any, socket.socket], None]] = {
    messages.RunLesson: lesson_run.run_lesson,
    RunProgram: run.run_program,
    CompareTraces: trace_comparison.compare_traces,
    messages.Train: lesson_run.run_training,
    judging_messages.RunAnswer: answer_run.run_answer,
    judging_messages.RunRepairs: answer_run.run_repairs,
    judging_messages.Judge: judge.judge,
    ReadTensorFile: job.read_tensor_file,
}
"""The function that does each job."""
# Bound before any learner's program runs, which may replace them.
_fstat, _exit = os.fstat, os._exit


def set_up(launch: Launch, scratch: str, shared: Path | None, *, limited: bool = True) -> None:
    """Set up streams, signals, limits and Landlock, in an order that leaves no gap.

    If it is `limited`, the child can then write only below the folders `scratch` and `shared`. Descriptors 1 and 2 must
    already be the output files.
    """
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it lives as long as the process
    # Line by line, so that output from before a crash is not lost.
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    # Write the line that a program is at to descriptor 2, even while the interpreter is stuck in C code.
    faulthandler.enable(file=2, all_threads=False)
    for number in (signal.SIGUSR1, signal.SIGXCPU):
        # After that the signal ends the process, by which the parent knows that all of the line is written.
        faulthandler.register(number, file=2, all_threads=False, chain=True)
    os.chdir(scratch)
    os.environ.update(HOME=scratch, TMPDIR=scratch)
    sys.path[:] = [entry for entry in sys.path if entry]
    if limited:
        limits.limit(launch.cpu, launch.memory, launch.question_cpu, launch.file)
    with contextlib.suppress(OSError):
        os.nice(5)
    if limited:
        landlock.confine(scratch, shared)
        system_calls.confine_further()


def work(talk: socket.socket) -> None:
    """Take one job and do it. Returns when the job is done or the peer is gone."""
    try:
        job = channel.receive(talk, *JOBS)
        JOBS[type(job)](job, talk)
    except wire.Closed:
        if not _is_open(TALK):
            # The program has closed it; the peer is still there, waiting.
            _exit(messages.EXIT_CUT_OFF)


def _is_open(fd: int) -> bool:
    try:
        _fstat(fd)
    except OSError:
        return False
    return True
