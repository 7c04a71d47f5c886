"""What limits a child of the worker."""

from __future__ import annotations

import sys
import threading

import pytest

from lessons.worker.fence import limits


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
