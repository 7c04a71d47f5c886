"""Courses that a learner has added: copies of folders or archives, in the tutor's own folder."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from attn_tutor.lessons.courses import course_archive, course_content
from attn_tutor.lessons.courses.course_content import RefusedCourse
from attn_tutor.lessons.files.regular_file import open_regular
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.reading import course_description, loader
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.folders import BUILT_IN, CourseFolder, state_folder_of
from attn_tutor.lessons.texts.wording import Wording

say = Wording("courses/added")

FOLDER = "added-courses"
HOUR = 3600
NEW = ".new-"
"""How the names of folders begin that are not whole yet."""


class StagedCourse(NamedTuple):
    """A course that was copied and read, and is not added yet.

    Attributes:
        course: what was read of it.
        folder: the copy.
    """

    course: Course
    folder: Path

    @property
    def id(self) -> str:
        """The id of the course."""
        assert self.course.description is not None
        return self.course.description.id


def root() -> Path | None:
    """Return the folder of the courses that were added; None if there is no home directory."""
    data = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(data):
        return Path(data, "attn-tutor", FOLDER)
    from platformdirs import user_data_path

    with suppress(RuntimeError):
        path = user_data_path("attn-tutor")
        return path / FOLDER if path.is_absolute() else None
    return None


def find(course_id: str) -> CourseFolder | None:
    """Return the course of this id that was added, None if there is none."""
    return next((course for course in added() if course.id == course_id), None)


def added() -> tuple[CourseFolder, ...]:
    """Return the courses that were added, in the order of their ids."""
    parent = root()
    with suppress(OSError):
        paths = sorted(parent.iterdir()) if parent is not None else ()
        return tuple(
            CourseFolder(path.name, path, state_folder_of(path.name), "added")
            for path in paths
            if not path.name.startswith(".") and (path / course_description.FILE).is_file()
        )
    return ()


@contextmanager
def staged(source: Path) -> Iterator[StagedCourse]:
    """Copy a folder or unpack an archive, and read the course in it; what is not added by the end is removed.

    Raises `RefusedCourse` with a sentence, `LessonError` with the findings of a course that cannot be read, and
    `OSError`.
    """
    work = _new_folder()
    try:
        copy = work / "course"
        if source.is_dir():
            _copy(source, copy)
        else:
            course_archive.unpack(source, copy)
        folder = _folder_of_course(copy)
        try:
            course = loader.load_course(folder)
            course_description.read_description(folder)
        except LessonError as error:
            raise LessonError([_from(folder, found) for found in error.findings]) from None
        found = StagedCourse(course, folder)
        if any(found.id == known.id for known in BUILT_IN):
            raise RefusedCourse(say("id-of-ours", "'{id}' is the id of a course of the tutor itself.", id=found.id))
        yield found
    finally:
        shutil.rmtree(work, ignore_errors=True)


def add(course: StagedCourse) -> CourseFolder:
    """Add a course, in place of the one of its id that was added before. Raises `OSError` and `RefusedCourse`."""
    parent = _parent()
    found = CourseFolder(course.id, parent / course.id, state_folder_of(course.id), "added")
    if found.path.exists():
        remove(found)
    course.folder.rename(found.path)
    return found


def remove(course: CourseFolder) -> None:
    """Remove a course that was added; the learner's progress stays. Raises `OSError`."""
    # Under another name first, so that it is gone at once, whatever happens meanwhile.
    aside = course.path.with_name(f"{NEW}{secrets.token_hex(8)}")
    course.path.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def _parent() -> Path:
    """Return the folder of the courses that were added. Raises `RefusedCourse` if there is no home directory."""
    parent = root()
    if parent is None:
        raise RefusedCourse(say("no-home", "There is no home directory to keep it in. Set HOME or XDG_DATA_HOME."))
    return parent


def _new_folder() -> Path:
    """Make a folder for one course. Raises `OSError` and `RefusedCourse`."""
    parent = _parent()
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in parent.glob(f"{NEW}*"):
        # Of a process that was killed; one that is adding a course now takes no hour.
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - HOUR:
                shutil.rmtree(left, ignore_errors=True)
    folder = parent / f"{NEW}{secrets.token_hex(8)}"
    folder.mkdir(mode=0o700)
    return folder


def _copy(source: Path, copy: Path) -> None:
    """Copy the files of the course in a folder into a new folder. Raises `RefusedCourse` and `OSError`."""
    copy.mkdir(mode=0o700)
    for file in course_content.files_of(source):
        target = copy.joinpath(*file.names)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A link that has taken the place of the file meanwhile is not followed.
        with open_regular(file.path, links=False) as content, target.open("xb") as written:
            shutil.copyfileobj(content, written)


def _folder_of_course(copy: Path) -> Path:
    """Return the folder with the description of a course: this one, or the only one in it. Raises `RefusedCourse`."""
    if (copy / course_description.FILE).is_file():
        return copy
    inner = list(copy.iterdir())
    if len(inner) == 1 and (inner[0] / course_description.FILE).is_file():
        return inner[0]
    file = course_description.FILE
    raise RefusedCourse(say("no-course", "It has no {file}, neither at its top nor in its only folder.", file=file))


def _from(folder: Path, found: Finding) -> Finding:
    """Return a finding with the name of its file as its author knows it."""
    return replace(found, file=found.file.removeprefix(f"{folder}{os.sep}"))
