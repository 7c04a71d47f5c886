"""The imports that every child needs, done once before the first child starts, in memory that workers may share.

Memory that is equal in many workers on one host is kept once if the administrator lets the kernel do so (KSM).
"""

from __future__ import annotations

import json
import os
import warnings

from attn_tutor.lessons.worker.fence.linux import ADDR_NO_RANDOMIZE, PR_SET_MEMORY_MERGE, personality, prctl


def allow_merged_memory() -> None:
    """Let the kernel merge pages of this process and of its children with equal ones (Linux 6.4 and later).

    Costs nothing on a host that merges none. For many pages to be equal, the process must have been started with its
    memory at the same addresses as others (`lessons/engine/launching/worker_process.py`). What it starts itself is not.
    """
    prctl(PR_SET_MEMORY_MERGE, 1)
    personality(lambda now: now & ~ADDR_NO_RANDOMIZE)


def take_on_environment() -> None:
    """Take on the learner's environment, from standard input: no sooner than what is equal for all has been loaded."""
    os.environ.update(json.loads(os.read(0, os.fstat(0).st_size)))


SAID = ("advice", "change", "explaining", "worker")
"""The groups of texts that children say."""


def load() -> None:
    """Import torch, `attention` and the jobs of a child. No tensor operation may run here."""
    # Without numpy, torch warns on standard error; nothing here needs numpy.
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    import torch

    from attn_tutor.lessons.process import child, stand_ins
    from attn_tutor.lessons.texts import translations
    from attn_tutor.lessons.worker import channel
    from attn_tutor.lessons.worker.jobs import course_package
    from attn_tutor.lessons.worker.recording import operation_info

    # It formats a stack, for which the lines of torch's files are read; a child of the fork server has them then.
    torch.manual_seed(0)
    translations.fix(*SAID)
    channel.prepare()
    operation_info.read_common()
    stand_ins.install()
    course_package.provide()
    # These use the imported names without running any tensor operation.
    assert torch
    assert child
