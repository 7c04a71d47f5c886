"""How much address space this process and its children may have (`ulimit -v`)."""

from __future__ import annotations

from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/address-space")

MIB = 1024 * 1024

LEAST = 600 * MIB
"""The least with which PyTorch loads, found by trying; with less, it seems to be damaged."""

AMPLE = 4096 * MIB


def check_limit() -> None:
    """Raise `WorkerError` if so little may be taken that PyTorch would not load."""
    import resource  # not at the top: the doctor works on Windows, which has no such module

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY and allowed < LEAST:
        raise WorkerError(
            say(
                "too-little",
                "Only {count} MiB of address space may be taken, and PyTorch needs {least}. Raise that with "
                "'ulimit -v {ample}', and start again.",
                count=allowed // MIB,
                least=LEAST // MIB,
                ample=AMPLE // 1024,
            )
        )
