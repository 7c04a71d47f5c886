"""The course that ships, read once for all tests, which cannot change it."""

from __future__ import annotations

from lessons.reading.loader import load_course

COURSE = load_course()
LESSONS = COURSE.lessons
