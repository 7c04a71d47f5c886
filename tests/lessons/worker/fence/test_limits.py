"""What limits a child of the worker."""

from __future__ import annotations

import resource
import sys
import threading
from pathlib import Path

import pytest

from attn_tutor.lessons.worker.fence import limits


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_threads_of_this_user_are_counted() -> None:
    waiting = threading.Event()
    threads = [threading.Thread(target=waiting.wait) for _ in range(100)]
    before = limits.tasks_of_user()
    for thread in threads:
        thread.start()
    try:
        # Other processes of this user come and go.
        assert limits.tasks_of_user() - before > 50
    finally:
        waiting.set()
        for thread in threads:
            thread.join()


def test_without_proc_there_are_limits_on_time_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit on memory would need to know how much there is already."""
    limited = []
    monkeypatch.setattr(Path, "exists", lambda path: path.parts[:2] != ("/", "proc"))
    monkeypatch.setattr(limits, "_set", lambda kind, *_: limited.append(kind))
    limits.limit(1, 1)
    assert limited == [resource.RLIMIT_CPU, resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE]
