"""How many files this process and its children may have open at once (`ulimit -n`)."""

from __future__ import annotations

import resource

from lessons.results.result import WorkerError
from lessons.texts.wording import Wording

say = Wording("engine/open-files")

FEWEST = 32
"""The tutor has up to 20 files open, a child fewer."""

AMPLE = 256


def check_limit() -> None:
    """Raise `WorkerError` if so few files may be open that the worker could fail anywhere, without a word."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed < FEWEST:
        raise WorkerError(
            say(
                "too-few",
                "Only {count} files may be open at once. Raise that with 'ulimit -n {ample}', and start again.",
                count=allowed,
                ample=AMPLE,
            )
        )
