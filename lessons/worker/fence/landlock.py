"""A layer around a child: Landlock (Linux 5.13 and later), which decides by folder and by process.

It protects learners from their own slips. It is not a sandbox against an attacker: the code may read what the learner
may read, and talk to programs that listen on a socket file.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

from attn_tutor.lessons.worker.fence.linux import PR_SET_NO_NEW_PRIVS, libc, prctl

# linux/landlock.h
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_RULE_PATH_BENEATH = 1
_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE = sum(1 << bit for bit in range(6, 13))
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_TCP_BIND, _TCP_CONNECT = 1 << 0, 1 << 1
_SCOPE_ABSTRACT_SOCKET, _SCOPE_SIGNAL = 1 << 0, 1 << 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("fd", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock that the kernel has, 0 if it has none or has it turned off."""
    return max(0, libc().syscall(_CREATE, None, 0, 1)) if sys.platform == "linux" else 0


def confine(scratch: str, shared: Path | None = None) -> bool:
    """Restrict this process for good, with all processes that it will start.

    It can write only below the folders `scratch` and `shared` and to /dev/null, use no TCP, control no
    device, and reach no process outside by a signal or an abstract socket. Restrictions that the kernel's version of
    Landlock does not support are omitted. Returns False if there is no Landlock at all.
    """
    known = version()
    write = _WRITE_FILE | (_TRUNCATE if known >= 3 else 0)
    whole = _changes(known)
    folders = (scratch,) if shared is None else (scratch, str(shared))
    with contextlib.ExitStack() as opened:
        rules = []
        for path, access in (("/dev/null", write), *((folder, whole) for folder in folders)):
            with contextlib.suppress(OSError):
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
                opened.callback(os.close, fd)
                rules.append((fd, access))
        return _restrict(known, rules)


def confine_to_removal(folder: int) -> bool:
    """Restrict this process for good to removing what is below an open folder; it can change no other file.

    Returns False if there is no Landlock.
    """
    return _restrict(version(), [(folder, _REMOVE_DIR | _REMOVE_FILE)])


def _changes(known: int) -> int:
    """Return all changes of files and folders that a version of Landlock can refuse."""
    refer, truncate = _REFER if known >= 2 else 0, _TRUNCATE if known >= 3 else 0
    return _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE | refer | truncate


def _restrict(known: int, allowed: list[tuple[int, int]]) -> bool:
    """Refuse to this process whatever a version of Landlock can refuse, except for accesses below open folders."""
    if known < 1:
        return False
    device = _IOCTL_DEVICE if known >= 5 else 0
    scope = _SCOPE_ABSTRACT_SOCKET | _SCOPE_SIGNAL if known >= 6 else 0
    rules = _Ruleset(_changes(known) | device, _TCP_BIND | _TCP_CONNECT if known >= 4 else 0, scope)
    size = 8 if known < 4 else 16 if known < 6 else 24
    kernel = libc()
    ruleset = kernel.syscall(_CREATE, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    try:
        for fd, access in allowed:
            rule = _PathBeneath(access, fd)
            kernel.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
        return prctl(PR_SET_NO_NEW_PRIVS, 1) and int(kernel.syscall(_RESTRICT, ruleset, 0)) == 0
    finally:
        os.close(ruleset)
