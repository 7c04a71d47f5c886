"""One worker for all tests of the engine: to load PyTorch takes longer than most of them together."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from lessons.engine.session import Session
from lessons.format.lesson import Course
from lessons.reading.loader import load_course


@pytest.fixture(scope="session")
def worker() -> Iterator[Session]:
    """A session with the usual launcher of this system."""
    if sys.platform != "linux":
        pytest.skip("the fork server is for Linux")
    session = Session()
    session.start()
    yield session
    session.close()


@pytest.fixture(scope="session")
def course() -> Course:
    """The course that ships."""
    return load_course()
