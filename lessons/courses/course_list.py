"""The courses that can be opened, and the one that a command line names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from attn_tutor.lessons.courses import added_courses, installed_courses
from attn_tutor.lessons.reading import course_description
from attn_tutor.lessons.reading.folders import BUILT_IN, OPENED, CourseFolder
from attn_tutor.lessons.texts.wording import Wording

say = Wording("courses/list")


class NoCourse(LookupError):
    """There is no course of a name; the message is a sentence."""


def available() -> Iterator[CourseFolder]:
    """Yield all courses that can be opened by their ids; of two with one id, the one that comes first is opened.

    Those that ship come first, then those that were added, and then those of packages, which take a while to find.
    """
    found: set[str] = set()
    for courses in (lambda: BUILT_IN, added_courses.added, _installed):
        for course in courses():
            if course.id not in found:
                yield course
            found.add(course.id)


def _installed() -> Iterator[CourseFolder]:
    return (found.course for found in installed_courses.installed())


def find(name: str) -> CourseFolder:
    """Return the course of an id, or the one in a folder.

    Raises `NoCourse`, or `LessonError` for a folder whose `course.yaml` cannot be read.
    """
    for course in available():
        if course.id == name:
            return course
    try:
        folder = Path(name).expanduser().resolve()
        is_folder = folder.is_dir()
    except (OSError, RuntimeError, ValueError):
        is_folder = False
    if not is_folder:
        ids = ", ".join(course.id for course in available())
        raise NoCourse(
            say("no-course", "There is no course '{name}', and no folder. The courses are: {ids}", name=name, ids=ids)
        )
    return in_folder(folder, available())


def in_folder(folder: Path, known: Iterable[CourseFolder]) -> CourseFolder:
    """Return the course in a folder; one that is not known is somebody's work, and has progress of its own.

    Raises `LessonError`.
    """
    for course in known:
        if course.path.resolve() == folder:
            return course
    course_id = course_description.read_description(folder).id
    digest = hashlib.blake2b(os.fsencode(folder), digest_size=4).hexdigest()
    return CourseFolder(course_id, folder, f"{OPENED}/{course_id}-{digest}", "folder")
