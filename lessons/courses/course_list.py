"""The courses that can be opened, those of packages among them, and the one that a command line names.

Courses in packages that are installed beside the tutor are found without importing any of their code. A package says in
its metadata that it has one, by an entry point of the group `attn_tutor.courses`: its name is the id of the course, its
value the package with the files of the course, `rows_course` or `rows_course.rows`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from attn_tutor.lessons.courses import added_courses
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.folders import BUILT_IN, OPENED, CourseFolder, state_folder_of
from attn_tutor.lessons.texts.wording import Wording

ENTRY_POINTS = "attn_tutor.courses"
INSTALLED_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
PACKAGE_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class InstalledCourse(NamedTuple):
    """A course in a package.

    Attributes:
        course: where it lies.
        distribution: what the package is called where it is installed and removed.
    """

    course: CourseFolder
    distribution: str


def find_installed(course_id: str) -> InstalledCourse | None:
    """Return the installed course of an id; None if there is none."""
    return next((found for found in installed_courses() if found.course.id == course_id), None)


def installed_courses() -> Iterator[InstalledCourse]:
    """Yield the installed courses whose files can be found, in the order of their ids; one of each id."""
    found: dict[str, InstalledCourse] = {}
    for point in metadata.entry_points(group=ENTRY_POINTS):
        if not INSTALLED_ID.fullmatch(point.name) or not PACKAGE_NAME.fullmatch(point.value) or point.name in found:
            continue
        folder = _folder_of(point.value)
        if folder is not None:
            course = CourseFolder(point.name, folder, state_folder_of(point.name), "installed")
            found[point.name] = InstalledCourse(course, point.dist.name if point.dist is not None else point.value)
    for name in sorted(found):
        yield found[name]


def _folder_of(package: str) -> Path | None:
    """Return the folder of a package that has a course in it, None if there is none."""
    # To find a package in another one would import that one.
    first, *rest = package.split(".")
    try:
        spec = find_spec(first)
    except (AttributeError, ImportError, ValueError):
        return None
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(location).joinpath(*rest)
        if (folder / loader.COURSE_FILE).is_file():
            return folder
    return None


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
    return (found.course for found in installed_courses())


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
    course_id = loader.read_description(folder).id
    digest = hashlib.blake2b(os.fsencode(folder), digest_size=4).hexdigest()
    return CourseFolder(course_id, folder, f"{OPENED}/{course_id}-{digest}", "folder")
