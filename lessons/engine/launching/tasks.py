"""Threads and processes that the system refuses to start, since the account has as many as it may (`ulimit -u`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/tasks")

AMPLE = 100

P = ParamSpec("P")
T = TypeVar("T")


class TooFewTasks(WorkerError):
    """The system starts no further thread or process for this account."""

    def __init__(self) -> None:
        super().__init__(
            say(
                "too-few",
                "This account may not start another thread or process. End programs that you do not need, or raise the "
                "limit with 'ulimit -u {ample}', and start again.",
                ample=AMPLE,
            )
        )


class JobThread(ThreadPoolExecutor):
    """A thread that does one job after the other; it is started with the first one."""

    def __init__(self, name: str) -> None:
        super().__init__(1, thread_name_prefix=name)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have the thread do a job. Raises `TooFewTasks` if the thread cannot be started."""
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError as error:
            if not is_refusal(error):
                raise
            raise TooFewTasks from None


def try_threads(count: int) -> None:
    """Start so many threads, and end them. Raises `TooFewTasks` if the system does not allow it."""
    done = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(count):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        if not is_refusal(error):
            raise
        raise TooFewTasks from None
    finally:
        done.set()
        for thread in started:
            thread.join()


def is_refusal(error: RuntimeError) -> bool:
    """Return whether Python says by this error that a thread could not be started; it has no class for that."""
    return "start new thread" in str(error)
