"""Courses in packages that are installed beside the tutor, found without importing any of their code.

A package says so in its metadata, by an entry point of the group `attn_tutor.courses`: its name is the id of the
course, its value the package with the files of the course, `rows_course` or `rows_course.rows`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from attn_tutor.lessons.reading import course_description
from attn_tutor.lessons.reading.folders import CourseFolder, state_folder_of

GROUP = "attn_tutor.courses"
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
PACKAGE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class InstalledCourse(NamedTuple):
    """A course in a package.

    Attributes:
        course: where it lies.
        distribution: what the package is called where it is installed and removed.
    """

    course: CourseFolder
    distribution: str


def find(course_id: str) -> InstalledCourse | None:
    """Return the installed course of an id; None if there is none."""
    return next((found for found in installed() if found.course.id == course_id), None)


def installed() -> Iterator[InstalledCourse]:
    """Yield the installed courses whose files can be found, in the order of their ids; one of each id."""
    found: dict[str, InstalledCourse] = {}
    for point in metadata.entry_points(group=GROUP):
        if not ID.fullmatch(point.name) or not PACKAGE.fullmatch(point.value) or point.name in found:
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
        if (folder / course_description.FILE).is_file():
            return folder
    return None
