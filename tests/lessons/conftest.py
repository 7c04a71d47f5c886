"""The course, which tests share."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.format.lesson import Course
from tests.course import COURSE


@pytest.fixture(scope="session")
def course() -> Course:
    """Return the course that ships with the tutor."""
    return COURSE
