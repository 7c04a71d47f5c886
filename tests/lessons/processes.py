"""The processes of a worker, and ways to wait for them."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from attn_tutor.lessons.engine.launching.launchers import ForkServerLauncher
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.process import fork_server

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds after which a test that waits for an event fails; what it waits for takes some milliseconds, mostly."""


def with_enough_time(
    attempt: Callable[[float], T], came_there: Callable[[T], object], seconds: float
) -> tuple[T, float]:
    """Attempt something within a limit of time; with more if it did not come to the place where the limit is to end it.

    A program that is ended at once has not begun on a busy machine. Returns the result, and the limit that it had.
    """
    for limit in (seconds, 10 * seconds):
        result = attempt(limit)
        if came_there(result):
            return result, limit
    return attempt(100 * seconds), 100 * seconds


def fork_server_pid(session: Session) -> int:
    """Return the process id of a session's fork server."""
    pid = cast(ForkServerLauncher, session.launcher).pid
    assert pid is not None
    return pid


def at_work(session: Session) -> list[int]:
    """List the processes that work for a session or were left behind, without a child that only waits for its job."""
    return [pid for pid in descendants(fork_server_pid(session)) if not waits_ahead(pid)]


def waits_ahead(pid: int) -> bool:
    """Return whether a process is a child that was forked ahead and has no job yet."""
    return os.path.lexists(f"/proc/{pid}/fd/{fork_server.DOOR_AHEAD}")


def rests(pid: int) -> bool:
    """Return whether a process waits for an event, and neither computes nor waits for a processor."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def descendants(pid: int) -> list[int]:
    """Return the ids of all processes below a process."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split()):
                found += [child, *descendants(child)]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def wait_for_end(pid: int, seconds: float = PATIENCE) -> None:
    """Wait until a process, which need not be a child, has ended. A zombie has ended too."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ended, _, _ = select.select([fd], [], [], seconds)
    finally:
        os.close(fd)
    assert ended, f"process {pid} still runs"


def wait_until(condition: Any, seconds: float = PATIENCE) -> None:
    """Poll until a condition holds, where no event announces it."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)
