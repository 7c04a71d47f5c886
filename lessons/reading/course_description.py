"""What a course says about itself, in the `course.yaml` of its folder."""

from __future__ import annotations

from pathlib import Path

from attn_tutor.lessons.format.course_file import CourseFile
from attn_tutor.lessons.reading import course_versions
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.yaml_models import read_model

FILE = "course.yaml"


def find_description(folder: Path) -> CourseFile | None:
    """Read what the course in a folder says about itself; None if it says nothing. Raises `LessonError`."""
    file = folder / FILE
    return read_model(file, CourseFile, course_versions.upgrade_course) if file.exists() else None


def read_description(folder: Path) -> CourseFile:
    """Read what the course in a folder says about itself. Raises `LessonError`."""
    found = find_description(folder)
    if found is None:
        remedy = "Write one with id, title, about and format."
        raise LessonError([Finding(str(folder), 1, 1, f"this is no course, because it has no {FILE}", remedy)])
    return found
