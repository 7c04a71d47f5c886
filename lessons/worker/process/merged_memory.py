"""Memory that is equal in many workers on one host, which the kernel keeps once if its administrator lets it (KSM)."""

from __future__ import annotations

import json
import os

from attn_tutor.lessons.worker.fence.linux import ADDR_NO_RANDOMIZE, PR_SET_MEMORY_MERGE, personality, prctl


def allow() -> None:
    """Let the kernel merge pages of this process and of its children with equal ones (Linux 6.4 and later).

    Costs nothing on a host that merges none. For many pages to be equal, the process must have been started with its
    memory at the same addresses as others (`lessons/engine/launching/worker_process.py`). What it starts itself is not.
    """
    prctl(PR_SET_MEMORY_MERGE, 1)
    personality(lambda now: now & ~ADDR_NO_RANDOMIZE)


def take_on_environment() -> None:
    """Take on the learner's environment, from standard input: no sooner than what is equal for all has been loaded."""
    os.environ.update(json.loads(os.read(0, os.fstat(0).st_size)))
