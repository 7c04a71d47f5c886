"""Which courses of others a learner has allowed to run, remembered by a hash of their content.

A course that ships is a part of the tutor, and a folder on the command line is named by whoever wants it to run. Every
other course runs once its learner has said so, and until its content changes.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from attn_tutor.lessons.courses import course_content
from attn_tutor.lessons.courses.course_content import RefusedCourse
from attn_tutor.lessons.files import read_regular, write_whole
from attn_tutor.lessons.learner import progress_file
from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.lessons.texts.wording import Wording

say = Wording("courses/consent")

FILE = "allowed-courses.json"
VERSION = 1


class Allowed(NamedTuple):
    """What was allowed of a course.

    Attributes:
        digest: the hash of its content.
        stamp: what tells that nothing was written to its files since.
    """

    digest: str
    stamp: str


def needs_consent(course: CourseFolder) -> bool:
    """Return whether a course runs only after its learner has allowed it."""
    return course.source in ("added", "installed")


def is_allowed(course: CourseFolder) -> bool:
    """Return whether a course may run as its files are now. Raises `RefusedCourse` and `OSError`."""
    if not needs_consent(course):
        return True
    before = _read().get(course.id)
    if before is None:
        return False
    files = _files(course)
    stamp = course_content.stamp_of(files)
    if stamp == before.stamp:
        return True
    if course_content.digest_of(files) != before.digest:
        return False
    _write(_read() | {course.id: Allowed(before.digest, stamp)})
    return True


def was_allowed(course: CourseFolder) -> bool:
    """Return whether a course was allowed at some time, as its files were then."""
    return course.id in _read()


def digest_of(course: CourseFolder) -> str:
    """Return the hash of a course as its files are now. Raises `RefusedCourse` and `OSError`."""
    return course_content.digest_of(_files(course))


def allow(course: CourseFolder, digest: str) -> bool:
    """Remember that a course may run as long as its content has this hash; return whether that could be remembered.

    Raises `RefusedCourse` if it has another one by now, and `OSError` if its files cannot be read.
    """
    files = _files(course)
    stamp = course_content.stamp_of(files)
    if course_content.digest_of(files) != digest:
        raise RefusedCourse(say("changed", "The course '{id}' has changed meanwhile.", id=course.id))
    return _write(_read() | {course.id: Allowed(digest, stamp)})


def forget(course: CourseFolder) -> None:
    """Forget that a course was allowed."""
    _write({course_id: allowed for course_id, allowed in _read().items() if course_id != course.id})


def _files(course: CourseFolder) -> list[course_content.ContentFile]:
    return course_content.files_of(course.path, linked=course.source == "installed")


def _path() -> Path | None:
    with suppress(RuntimeError):
        return progress_file.state_root() / FILE
    return None


def _read() -> dict[str, Allowed]:
    """Return what was allowed, by the ids of the courses; nothing if that cannot be read."""
    path = _path()
    try:
        data = json.loads(read_regular(path)) if path is not None else {}
        if type(data["version"]) is not int or data["version"] != VERSION:
            return {}
        return {str(key): Allowed(str(digest), str(stamp)) for key, (digest, stamp) in data["courses"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _write(allowed: dict[str, Allowed]) -> bool:
    """Keep what is allowed; return whether that was possible."""
    path = _path()
    if path is None:
        return False
    text = json.dumps({"version": VERSION, "courses": allowed}, indent=1)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError:
        return False
    return True
