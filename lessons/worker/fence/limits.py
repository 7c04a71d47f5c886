"""The limits of a child: on time, memory, files, processes and output."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from pathlib import Path

MIB = 1 << 20
OUTPUT_CAP = 8 * MIB
TASKS = 64
OPEN_FILES = 64
GRACE = 2
"""Seconds between the signal that asks a program to end and the one that kills it."""


def limit(cpu: float, memory: int, question_cpu: float = 0, file: int = OUTPUT_CAP // MIB) -> None:
    """Set the limits of this process: `cpu` seconds from now, `memory` MiB on top of its present size.

    `question_cpu`: seconds that `allow_questions` adds to `cpu` once the program has run. `file`: MiB up to which
    `allow_files` lets files grow.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    # The kernel accepts whole seconds only.
    soft = max(1, round(used.ru_utime + used.ru_stime + cpu))
    _set(resource.RLIMIT_CPU, soft, soft + GRACE + round(question_cpu))
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, OUTPUT_CAP, max(OUTPUT_CAP, file * MIB))
    _set(resource.RLIMIT_NOFILE, OPEN_FILES)
    # Without /proc, nobody can say how much there is already on top of which the limit would be.
    if sys.platform == "linux" and Path("/proc/self/statm").exists():
        pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _set(resource.RLIMIT_AS, pages + memory * MIB)
        _set(resource.RLIMIT_NPROC, tasks_of_user() + TASKS)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")


def allow_questions() -> None:
    """Raise the processor limit of this process by the time that `limit` reserved for questions after the program."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY:
        return
    _set(resource.RLIMIT_CPU, max(1, hard - GRACE), hard)


def allow_files() -> None:
    """Let the files of this process grow as large as `limit` has provided for, not only as large as its output may."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    _set(resource.RLIMIT_FSIZE, hard, hard)


def _set(kind: int, soft: int, hard: int | None = None) -> None:
    _, ceiling = resource.getrlimit(kind)
    wanted = hard if hard is not None else soft
    if ceiling != resource.RLIM_INFINITY:
        soft, wanted = min(soft, ceiling), min(wanted, ceiling)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (soft, wanted))


def tasks_of_user() -> int:
    """Count the threads of this user on this host, since RLIMIT_NPROC applies to all of them."""
    total, user = 0, os.getuid()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                tasks = os.stat(f"{entry.path}/task")
                if tasks.st_uid == user:
                    # Besides its own two links, the folder has one for each thread.
                    total += tasks.st_nlink - 2
    return total
