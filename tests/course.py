"""The course that ships, read once for all tests: nobody can change what was read."""

from __future__ import annotations

from lessons.reading.loader import load_course

COURSE = load_course()
LESSONS = COURSE.lessons
