"""The imports that every child needs, done once before the first child starts."""

from __future__ import annotations

import warnings

SAID = ("advice", "change", "explaining", "worker")
"""The groups of texts that children say."""


def load() -> None:
    """Import torch, `attention` and the jobs of a child. No tensor operation may run here."""
    # Without numpy, torch warns on standard error; nothing here needs numpy.
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    import torch

    from attn_tutor.lessons.texts import translations
    from attn_tutor.lessons.worker import channel
    from attn_tutor.lessons.worker.jobs import course_package
    from attn_tutor.lessons.worker.process import child, stand_ins
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
