"""The files of a course: which of a folder's or an archive's belong to it, what they may be, and a hash of them.

Only files that the tutor reads belong to a course, and those that say who wrote it. So a hash of them tells everything
that the course can do, and what else lies in the folder never gets further.
"""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from attn_tutor.lessons.files import read_regular
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording

say = Wording("courses/content")

ENDINGS = (".yaml", ".json", ".pt", ".md", ".txt")
"""The endings of the files that belong to a course: its texts and code, recordings, trained models, and notes."""

LEGAL = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS")
"""Files without an ending that belong to a course too."""

MOST_ENTRIES = 5000
"""The most files and folders of a folder or an archive, with those that do not belong to the course."""

MOST_BYTES = 64 * 1024 * 1024
"""The most bytes of all files of a course, which an archive may not exceed either."""

MOST_LEVELS = 8
"""The most folders that a file may lie in."""

LONGEST_NAME = 100
"""The most characters of the name of a file or a folder."""


class RefusedCourse(Exception):
    """Files that are no course, or might do harm; the message is a sentence."""


class ContentFile(NamedTuple):
    """A file of a course: the names on its way from the course's folder, and where it lies."""

    names: tuple[str, ...]
    path: Path


def belongs(names: tuple[str, ...]) -> bool:
    """Return whether a file of these names belongs to a course."""
    return not is_hidden(names) and (names[-1].lower().endswith(ENDINGS) or names[-1] in LEGAL)


def is_hidden(names: tuple[str, ...]) -> bool:
    """Return whether a name is hidden, or made by Python: nothing below it belongs to a course."""
    return any(name.startswith(".") or name == "__pycache__" for name in names)


def check_names(names: tuple[str, ...]) -> None:
    """Refuse names that could lead somewhere else, or that a terminal or another system might not take as they are.

    Raises `RefusedCourse`.
    """
    shown = shown_name(names)
    if len(names) > MOST_LEVELS + 1:
        raise too_deep(names)
    for name in names:
        if name in ("", ".", ".."):
            raise RefusedCourse(say("leads-out", "{name} leads out of the course.", name=shown))
        if len(name) > LONGEST_NAME:
            most = LONGEST_NAME
            raise RefusedCourse(
                say("long-name", "A name in {name} has more than {most} characters.", name=shown, most=most)
            )
        if not name.isprintable() or "\\" in name or name != name.strip():
            raise RefusedCourse(say("odd-name", "The name {name} has characters that no course needs.", name=shown))


class DifferentNames:
    """The names that were seen so far. No two may differ by case alone, since some file systems know no difference."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}
        self._files: dict[str, str] = {}

    def add(self, names: tuple[str, ...]) -> None:
        """Add the file of these names, with the folders that it lies in. Raises `RefusedCourse`."""
        name = "/".join(names)
        key = _key(name)
        other = self._files.get(key) or self._folders.get(key)
        for length in range(1, len(names)):
            folder = "/".join(names[:length])
            same = self._files.get(_key(folder)) or self._folders.setdefault(_key(folder), folder)
            if same != folder or _key(folder) in self._files:
                other = same
        if other == name:
            raise RefusedCourse(say("twice", "{name} is there twice.", name=name))
        if other is not None:
            raise RefusedCourse(say("same-name", "{name} and {other} could be the same file.", name=name, other=other))
        self._files[key] = name


def _key(name: str) -> str:
    """Return what names have in common that the least particular file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def files_of(folder: Path, *, linked: bool = False) -> list[ContentFile]:
    """Return the files of the course in a folder, in the order of their names.

    Args:
        folder: the folder.
        linked: whether files may be links, as some installers of packages make them.

    Raises `RefusedCourse` for a link, a device and the like, and what is too much; `OSError` for what cannot be read.
    """
    found = sorted(_walk(folder, (), [0], linked=linked))
    different = DifferentNames()
    size = 0
    for file in found:
        check_names(file.names)
        different.add(file.names)
        size += file.path.stat().st_size
    if size > MOST_BYTES:
        raise too_large()
    return found


def _walk(folder: Path, names: tuple[str, ...], count: list[int], *, linked: bool) -> Iterator[ContentFile]:
    with os.scandir(folder) as entries:
        for entry in entries:
            count[0] += 1
            if count[0] > MOST_ENTRIES:
                raise too_many()
            here = (*names, entry.name)
            if is_hidden(here):
                continue
            if entry.is_dir(follow_symlinks=linked):
                if len(here) > MOST_LEVELS:
                    raise too_deep(here)
                yield from _walk(Path(entry.path), here, count, linked=linked)
            elif belongs(here) or (entry.is_symlink() and not linked):
                check_kind(here, entry.stat(follow_symlinks=linked).st_mode)
                yield ContentFile(here, Path(entry.path))


def check_kind(names: tuple[str, ...], mode: int) -> None:
    """Refuse what is not an ordinary file, by its mode. Raises `RefusedCourse`."""
    shown = shown_name(names)
    if stat.S_ISLNK(mode):
        raise RefusedCourse(say("link", "{name} is a link, which a course may not have.", name=shown))
    if not stat.S_ISREG(mode):
        raise RefusedCourse(say("device", "{name} is not an ordinary file.", name=shown))


def shown_name(names: tuple[str, ...]) -> str:
    """Return the name of a file as it can be shown, whatever it consists of."""
    name = "/".join(names)
    return clean(name if len(name) <= 2 * LONGEST_NAME else f"{name[: 2 * LONGEST_NAME]}...", keep="", escape=True)


def too_deep(names: tuple[str, ...]) -> RefusedCourse:
    """Return what is said of a file that lies too deep."""
    sentence = say("deep", "{name} lies in more than {most} folders.", name=shown_name(names), most=MOST_LEVELS)
    return RefusedCourse(sentence)


def too_many() -> RefusedCourse:
    """Return what is said of too many files."""
    return RefusedCourse(say("too-many", "There are more than {most} files and folders.", most=MOST_ENTRIES))


def too_large() -> RefusedCourse:
    """Return what is said of files that are too large together."""
    return RefusedCourse(say("too-large", "Its files have more than {most} MiB.", most=MOST_BYTES // 1024**2))


def digest_of(files: list[ContentFile]) -> str:
    """Return the SHA-256 of the names and the content of files. Raises `OSError`."""
    found = hashlib.sha256()
    for file in files:
        content = read_regular(file.path)
        name = "/".join(file.names).encode()
        # Lengths keep a piece apart from the next one.
        found.update(b"%d %s %d\n" % (len(name), name, len(content)))
        found.update(content)
    return found.hexdigest()


def stamp_of(files: list[ContentFile]) -> str:
    """Return what tells in no time that nothing was written to any file: sizes, numbers and times. Raises `OSError`."""
    found = hashlib.sha256()
    for file in files:
        at = file.path.stat()
        row = (file.names, at.st_size, at.st_ino, at.st_dev, at.st_mtime_ns, at.st_ctime_ns)
        found.update(repr(row).encode())
    return found.hexdigest()
