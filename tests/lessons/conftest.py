"""One worker for all tests, because loading PyTorch takes longer than most of the tests together."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from lessons.engine.session import Session
from lessons.format.lesson import Course
from tests.course import COURSE
from tests.lessons.course_runs import CourseRuns


@pytest.fixture(scope="session")
def worker() -> Iterator[Session]:
    """Start a session with the usual launcher of this system."""
    if sys.platform != "linux":
        pytest.skip("the fork server is for Linux")
    session = Session()
    session.start()
    yield session
    session.close()


@pytest.fixture(scope="session")
def results(worker: Session) -> CourseRuns:
    """Return the results of the lessons of the course; each lesson runs once for all tests."""
    return CourseRuns(worker)


@pytest.fixture(scope="session")
def course() -> Course:
    """Return the course that ships with the tutor."""
    return COURSE
