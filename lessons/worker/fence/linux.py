"""Calls of the Linux kernel for which Python has no functions."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 36, 38
PR_SET_MEMORY_MERGE = 67

# sys/personality.h
ADDR_NO_RANDOMIZE = 0x0040000
_ASK = 0xFFFFFFFF


def libc() -> ctypes.CDLL:
    """Return the C library, which keeps errno."""
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, argument: int, pointer: object = 0) -> bool:
    """Call prctl(2) with one or two arguments; False where it is missing or refuses."""
    if sys.platform != "linux":
        return False
    status: int = libc().prctl(option, argument, pointer, 0, 0)
    return status == 0


def personality(change: Callable[[int], int]) -> int | None:
    """Change the personality(2) of this thread, which what it starts has as well.

    `change` makes the new flags from those of now. Returns the flags before; None where the call is missing or refused,
    as it is in some containers.
    """
    call = getattr(libc(), "personality", None) if sys.platform == "linux" else None
    before: int = call(ctypes.c_ulong(_ASK)) if call is not None else -1
    if call is None or before == -1 or call(ctypes.c_ulong(change(before))) == -1:
        return None
    return before


def checked(status: int) -> None:
    """Raise `OSError` if a call of the C library has failed."""
    if status < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def trial(action: Callable[[], bool]) -> bool:
    """Return what an action returns in a process of its own, False if it raises or the process dies.

    Must be called while this process has one thread.
    """
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if action() else 1)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    return status == 0
