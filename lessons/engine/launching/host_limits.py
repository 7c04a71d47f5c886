"""Limits of the host (`ulimit`): address space, open files, and the threads and processes of an account."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/address-space")

MIB = 1024 * 1024

LEAST_MEMORY = 600 * MIB
"""The least with which PyTorch loads, found by trying; with less, it seems to be damaged."""

AMPLE_MEMORY = 4096 * MIB


def check_address_space() -> None:
    """Raise `WorkerError` if so little may be taken that PyTorch would not load."""
    import resource  # not at the top: the doctor works on Windows, which has no such module

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY and allowed < LEAST_MEMORY:
        raise WorkerError(
            say(
                "too-little",
                "Only {count} MiB of address space may be taken, and PyTorch needs {least}. Raise that with "
                "'ulimit -v {ample}', and start again.",
                count=allowed // MIB,
                least=LEAST_MEMORY // MIB,
                ample=AMPLE_MEMORY // 1024,
            )
        )


FEWEST_FILES = 32
"""The least with which answers are judged, found by trying; the tutor has up to 20 files open, a child fewer."""

AMPLE_FILES = 256


def check_open_files() -> None:
    """Raise `WorkerError` if so few files may be open that the worker could fail anywhere, without a word."""
    import resource  # not at the top: the doctor works on Windows, which has no such module

    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed < FEWEST_FILES:
        raise WorkerError(
            say(
                "too-few",
                "Only {count} files may be open at once. Raise that with 'ulimit -n {ample}', and start again.",
                count=allowed,
                ample=AMPLE_FILES,
            )
        )


AMPLE_TASKS = 100

P = ParamSpec("P")
T = TypeVar("T")


class TooFewTasks(WorkerError):
    """The system starts no further thread or process for this account."""

    def __init__(self) -> None:
        super().__init__(
            say(
                "tasks-too-few",
                "This account may not start another thread or process. End programs that you do not need, or raise the "
                "limit with 'ulimit -u {ample}', and start again.",
                ample=AMPLE_TASKS,
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
