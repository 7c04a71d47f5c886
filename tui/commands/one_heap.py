"""One heap for all threads of the screen, where the C library (glibc) would make each thread one of its own."""

from __future__ import annotations

import ctypes
import sys

M_ARENA_MAX = -8
"""From malloc.h of glibc."""


def share() -> None:
    """Have the threads that are started from here on take their memory from the heap of the first one.

    Python runs one thread at a time, so they would not wait less with heaps of their own, but what one of them leaves
    free could not be used by the others: the thread that reads the course leaves megabytes. Does nothing where the C
    library is another one.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)
