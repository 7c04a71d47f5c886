"""A guard rail around a learner's program: limits, and Landlock where the kernel has it (Linux 5.13 and later).

It protects learners from their own slips. It is not a sandbox against an attacker: the code runs with the learner's
own rights, and without Landlock it may write wherever the learner may.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
from pathlib import Path

MIB = 1 << 20
OUTPUT_CAP = 8 * MIB
TASKS = 64
GRACE = 2
"""Seconds between the signal that asks a program to end and the one that kills it."""

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER = 1, 38, 36

# linux/landlock.h
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_RULE_PATH_BENEATH = 1
_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE = sum(1 << bit for bit in range(6, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_TCP_BIND, _TCP_CONNECT = 1 << 0, 1 << 1
_SCOPE_SIGNAL = 1 << 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("fd", ctypes.c_int32))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, argument: int) -> bool:
    """Call prctl(2) with one argument; False where it is missing or refuses."""
    if sys.platform != "linux":
        return False
    status: int = _libc().prctl(option, argument, 0, 0, 0)
    return status == 0


def limit(cpu: float, memory: int, question_cpu: float = 0) -> None:
    """Set the limits of this process: `cpu` seconds from now, `memory` MiB on top of its present size.

    `question_cpu`: seconds that `allow_questions` adds to `cpu` once the program has run.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    # The kernel accepts whole seconds only.
    soft = max(1, round(used.ru_utime + used.ru_stime + cpu))
    _set(resource.RLIMIT_CPU, soft, soft + GRACE + round(question_cpu))
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, OUTPUT_CAP)
    _set(resource.RLIMIT_NOFILE, 64)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _set(resource.RLIMIT_AS, pages + memory * MIB)
        _set(resource.RLIMIT_NPROC, tasks_of_user() + TASKS)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")


def allow_questions() -> None:
    """Raise the processor limit of this process by the time that `limit` reserved for questions after the program."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    _set(resource.RLIMIT_CPU, max(1, hard - GRACE), hard)


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


def confine(scratch: str) -> bool:
    """Restrict this process: it can write only below `scratch`, use no TCP, and signal no process outside.

    Restrictions that the kernel's version of Landlock does not support are omitted. Returns False if there is no
    Landlock at all.
    """
    if sys.platform != "linux":
        return False
    libc = _libc()
    version = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        return False
    fs = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE
    fs |= (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    rules = _Ruleset(fs, _TCP_BIND | _TCP_CONNECT if version >= 4 else 0, _SCOPE_SIGNAL if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    try:
        for path, access in ((scratch, fs), ("/dev/null", fs & (_WRITE_FILE | _TRUNCATE)), ("/dev/shm", fs)):
            with contextlib.suppress(OSError):
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
                rule = _PathBeneath(access, fd)
                libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
                os.close(fd)
        return prctl(PR_SET_NO_NEW_PRIVS, 1) and int(libc.syscall(_RESTRICT, ruleset, 0)) == 0
    finally:
        os.close(ruleset)
