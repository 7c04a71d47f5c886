"""What tests of the tutor share: the course, which takes longer to read than most of them to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons.format.lesson import Course
from lessons.reading import loader
from tests.course import COURSE


@pytest.fixture(autouse=True)
def course_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the tutor the course that was read for all tests; what lies in another folder it reads itself."""
    read = loader.load_course

    def load_course(folder: Path = loader.COURSE) -> Course:
        return COURSE if folder == loader.COURSE else read(folder)

    monkeypatch.setattr(loader, "load_course", load_course)
