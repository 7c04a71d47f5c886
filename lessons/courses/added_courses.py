"""Courses that a learner has added: copies of folders or archives, in the tutor's own folder.

An archive, `.tar.gz`, is unpacked into a folder, unless something in it would lead out of there. What it says of
owners, rights, times and links is never applied: the content of its ordinary files is read and written into new files.
What is strange is refused all the same, since a course has no use for it.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
import shutil
import stat
import tarfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from attn_tutor.lessons.courses import course_content
from attn_tutor.lessons.courses.course_content import DifferentNames, RefusedCourse
from attn_tutor.lessons.files import NotRegular, open_regular
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.folders import BUILT_IN, CourseFolder, state_folder_of
from attn_tutor.lessons.texts.wording import Wording

say = Wording("courses/archive")

MOST_AHEAD = 1024 * 1024
"""How many bytes are read before an archive says whose they are: headers, names, and what fills a block."""

OF_MEMBER = 4096
"""How many bytes an archive may have for each member besides its content."""

CHUNK = 256 * 1024

SPECIAL_RIGHTS = stat.S_ISUID | stat.S_ISGID

DAMAGE = (tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile, ValueError, OverflowError)
"""What an archive that is damaged or no archive may raise."""


def _damaged() -> str:
    return say("damaged", "It is damaged, or no archive of the kind .tar.gz.")


def unpack(archive: Path, into: Path) -> None:
    """Unpack the files of a course into a new folder; what does not belong to a course is left out.

    Raises `RefusedCourse` with a sentence, and `OSError` if a file cannot be read or written.
    """
    into.mkdir(mode=0o700)
    entries = size = 0
    different = DifferentNames()
    try:
        with open_regular(archive) as file, gzip.open(file) as unzipped:
            limited = _Limited(unzipped, MOST_AHEAD)
            with tarfile.open(fileobj=limited, mode="r|", errors="surrogateescape") as members:
                for member in members:
                    entries += 1
                    if entries > course_content.MOST_ENTRIES:
                        raise course_content.too_many()
                    names = _checked(member, into)
                    size += member.size
                    if size > course_content.MOST_BYTES:
                        raise course_content.too_large()
                    limited.allow(member.size + OF_MEMBER)
                    if not member.isreg():
                        continue
                    if not course_content.belongs(names):
                        continue
                    different.add(names)
                    content = members.extractfile(member)
                    assert content is not None
                    _write_member(content, into.joinpath(*names))
            # At its end, it has a checksum.
            while limited.read(CHUNK):
                pass
    except (NotRegular, *DAMAGE):
        raise RefusedCourse(_damaged()) from None


def _checked(member: tarfile.TarInfo, into: Path) -> tuple[str, ...]:
    """Return the names on the way to a member of an archive. Raises `RefusedCourse` for one that no course has."""
    names = tuple(name for name in member.name.split("/") if name != ".")
    shown = course_content.shown_name(names)
    if member.name.startswith("/"):
        raise RefusedCourse(say("absolute", "{name} has an absolute path, which leads out of the course.", name=shown))
    if member.isdir():
        # A folder ends with a slash in some archives, and the first one may be `./`.
        names = names[:-1] if names and not names[-1] else names
        if names:
            course_content.check_names(names)
        return names
    course_content.check_names(names)
    if member.issym() or member.islnk():
        raise RefusedCourse(say("link", "{name} is a link, which a course may not have.", name=shown))
    if not member.isreg() or member.issparse():
        raise RefusedCourse(say("device", "{name} is not an ordinary file.", name=shown))
    if member.mode & SPECIAL_RIGHTS:
        sentence = say("rights", "{name} would run with the rights of its owner, which no course needs.", name=shown)
        raise RefusedCourse(sentence)
    _ask_python(member, into, shown)
    return names


def _ask_python(member: tarfile.TarInfo, into: Path, shown: str) -> None:
    """Refuse what Python's own filter for archives refuses, where Python has one. Raises `RefusedCourse`."""
    check = getattr(tarfile, "data_filter", None)
    if check is None:
        return
    try:
        check(member, str(into))
    except tarfile.FilterError:
        raise RefusedCourse(say("filtered", "{name} leads out of the course.", name=shown)) from None


def _write_member(content: IO[bytes], file: Path) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with file.open("xb") as written:
        while part := content.read(CHUNK):
            written.write(part)


class _Limited(io.RawIOBase):
    """The content of a compressed file, of which no more is read than was allowed so far."""

    def __init__(self, inner: gzip.GzipFile, most: int) -> None:
        self._inner, self._left = inner, most

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def allow(self, size: int) -> None:
        """Allow so many bytes more."""
        self._left += size

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes. Raises `RefusedCourse` if there are more than were allowed."""
        found = self._inner.read(min(size, CHUNK) if size >= 0 else CHUNK)
        self._left -= len(found)
        if self._left < 0:
            raise course_content.too_large()
        return found


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
            if not path.name.startswith(".") and (path / loader.COURSE_FILE).is_file()
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
            unpack(source, copy)
        folder = _folder_of_course(copy)
        try:
            course = loader.load_course(folder)
            loader.read_description(folder)
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
    if (copy / loader.COURSE_FILE).is_file():
        return copy
    inner = list(copy.iterdir())
    if len(inner) == 1 and (inner[0] / loader.COURSE_FILE).is_file():
        return inner[0]
    file = loader.COURSE_FILE
    raise RefusedCourse(say("no-course", "It has no {file}, neither at its top nor in its only folder.", file=file))


def _from(folder: Path, found: Finding) -> Finding:
    """Return a finding with the name of its file as its author knows it."""
    return replace(found, file=found.file.removeprefix(f"{folder}{os.sep}"))
