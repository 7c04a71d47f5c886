"""Courses in an archive, `.tar.gz`: unpacked into a folder, unless something in it would lead out of there.

What an archive says of owners, rights, times and links is never applied: the content of its ordinary files is read and
written into new files. What is strange is refused all the same, since a course has no use for it.
"""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zlib
from pathlib import Path
from typing import IO

from attn_tutor.lessons.courses import course_content
from attn_tutor.lessons.courses.course_content import DifferentNames, RefusedCourse
from attn_tutor.lessons.files.regular_file import NotRegular, open_regular
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
                    _write(content, into.joinpath(*names))
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


def _write(content: IO[bytes], file: Path) -> None:
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
