"""The courses that ship, read once for all tests, which cannot change them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.reading import folders, kept_course, loader
from attn_tutor.lessons.reading.course_outline import CourseOutline
from attn_tutor.lessons.reading.folders import FIRST, CourseFolder
from attn_tutor.lessons.reading.loader import load_course

ROOT = Path(__file__).parent.parent
COURSE = load_course()
LESSONS = COURSE.lessons
TENSORS = load_course(folders.TENSORS.path)
COURSES = {folders.FIRST.id: COURSE, folders.TENSORS.id: TENSORS}
EVERY_COURSE = Course(lessons=(*COURSE.lessons, *TENSORS.lessons))
"""All lessons that ship, to be found by their ids: each course has numbers of its own."""


@cache
def outline_of_course() -> CourseOutline:
    """Return the outline of the course that ships, made once for all tests."""
    return loader.outline_of(COURSE)


def use_course(monkeypatch: pytest.MonkeyPatch, course: Course) -> None:
    """Have the tutor and its commands use a course in place of the first one; others are read as ever."""
    load = kept_course.load_outline

    def load_outline(of: CourseFolder = FIRST) -> object:
        if of != FIRST:
            return load(of)
        outline = outline_of_course() if course is COURSE else loader.outline_of(course)
        return outline, lambda: course

    monkeypatch.setattr(kept_course, "load_outline", load_outline)
    monkeypatch.setattr(kept_course, "load_course", lambda of=FIRST: course if of == FIRST else load(of)[1]())
