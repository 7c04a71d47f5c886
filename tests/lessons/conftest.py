"""The course and its results, which tests share."""

from __future__ import annotations

import pytest

from lessons.engine.session import Session
from lessons.format.lesson import Course
from tests.course import COURSE
from tests.lessons.course_runs import CourseRuns


@pytest.fixture(scope="session")
def results(worker: Session) -> CourseRuns:
    """Return the results of the lessons of the course; each lesson runs once for all tests."""
    return CourseRuns(worker)


@pytest.fixture(scope="session")
def course() -> Course:
    """Return the course that ships with the tutor."""
    return COURSE
