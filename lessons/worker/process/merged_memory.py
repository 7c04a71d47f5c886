"""Memory that is equal in many workers on one host, which the kernel keeps once if its administrator lets it (KSM)."""

from __future__ import annotations

import ctypes
import json
import os
import sys

from lessons.worker.fence.linux import PR_SET_MEMORY_MERGE, libc, prctl

# sys/personality.h
_ASK, _NO_RANDOM_ADDRESSES = 0xFFFFFFFF, 0x0040000


def allow() -> None:
    """Let the kernel merge pages of this process and of its children with equal ones (Linux 6.4 and later).

    Costs nothing on a host that merges none. For many pages to be equal, the process must have been started with memory
    at the same addresses as others (`lessons/engine/worker_process.py`); what is started from here on has not.
    """
    prctl(PR_SET_MEMORY_MERGE, 1)
    if sys.platform != "linux":
        return
    personality = getattr(libc(), "personality", None)
    if personality is not None and (now := personality(ctypes.c_ulong(_ASK))) != -1:
        personality(ctypes.c_ulong(now & ~_NO_RANDOM_ADDRESSES))


def take_on_environment() -> None:
    """Take on the learner's environment, from standard input: no sooner than what is equal for all has been loaded."""
    os.environ.update(json.loads(os.read(0, os.fstat(0).st_size)))
