"""How many files this process and its children may have open at once (`ulimit -n`)."""

from __future__ import annotations

from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/open-files")

FEWEST = 32
"""The least with which answers are judged, found by trying; the tutor has up to 20 files open, a child fewer."""

AMPLE = 256


def check_limit() -> None:
    """Raise `WorkerError` if so few files may be open that the worker could fail anywhere, without a word."""
    import resource  # not at the top: the doctor works on Windows, which has no such module

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
