"""The course that ships, read once for all tests, which cannot change it."""

from __future__ import annotations

from pathlib import Path

from lessons.reading.loader import load_course

ROOT = Path(__file__).parent.parent
COURSE = load_course()
LESSONS = COURSE.lessons
