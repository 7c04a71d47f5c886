"""The processes of a worker, and ways to wait for them."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import Any, cast

from lessons.engine.launchers import ForkServerLauncher
from lessons.engine.session import Session
from lessons.worker.process import child_ahead


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
    return os.path.lexists(f"/proc/{pid}/fd/{child_ahead.DOOR}")


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


def wait_for_end(pid: int, seconds: float = 10) -> None:
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


def wait_until(condition: Any, seconds: float = 10) -> None:
    """Poll until a condition holds, where no event announces it."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)
