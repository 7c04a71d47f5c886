"""Why no process of the worker could be started, or loaded PyTorch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/starting")


@contextlib.contextmanager
def named() -> Iterator[None]:
    """Raise `WorkerError` for what the system refuses while a process is started: room on a disk, a file, memory."""
    try:
        yield
    except OSError as error:
        reason = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
        sentence = say(
            "not-started", "The worker cannot be started ({reason}). To see what is wrong here: {command}",
            reason=clean(reason, keep=""), command="attn-tutor doctor",
        )  # fmt: skip
        raise WorkerError(sentence) from error


def slow_load(timeout: float) -> WorkerError:
    """Return the error that PyTorch has not loaded in so many seconds."""
    sentence = say.count(
        "slow-load",
        round(timeout),
        "PyTorch did not load within {count} second.",
        "PyTorch did not load within {count} seconds.",
    )
    return WorkerError(sentence)


def load_failed(why: str) -> WorkerError:
    """Return the error that importing PyTorch has failed, which says why and what to do."""
    from attn_tutor.lessons.engine.launching.reinstalling import (
        reinstall_command,  # only now: it reads what is installed
    )

    sentence = say(
        "load-failed", "PyTorch could not be loaded: {why}. To install it again: {command}",
        why=why.rstrip(".\n"), command=reinstall_command("torch"),
    )  # fmt: skip
    return WorkerError(sentence)


def ended_while_loading(log: str) -> WorkerError:
    """Return the error that the worker ended, as it does where a library of PyTorch or memory was cut short."""
    from attn_tutor.lessons.engine.launching.reinstalling import (
        reinstall_command,  # only now: it reads what is installed
    )

    ended = say("ended-loading", "The worker process ended while it loaded PyTorch.")
    remedy = say(
        "ended-again", "If it does so again, PyTorch may be damaged. To install it again: {command}",
        command=reinstall_command("torch"),
    )  # fmt: skip
    return WorkerError(" ".join(filter(None, [ended, log, remedy])))
