"""Notice when a file is saved, from any editor, or one of the files of a program of one's own.

The file is polled, since nothing reports changes on a network mount. Editors save in pieces, or replace the file by a
new one, so a file counts as saved when two looks in a row find the same state.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from attn_tutor.lessons.engine.judging import MAX_SOURCE
from attn_tutor.lessons.files import create_whole, open_regular, read_most


@dataclass(frozen=True, slots=True)
class FileFingerprint:
    """Properties that distinguish two versions of a file without reading it."""

    size: int
    mtime_ns: int
    inode: int


class Settling:
    """Detects when a file has been saved: two looks in a row find the same state, which has not been judged yet."""

    def __init__(self, judged: FileFingerprint | None = None) -> None:
        self._judged, self._last = judged, judged

    def settled(self, found: FileFingerprint | None) -> bool:
        """Return whether to judge the state that this look has found."""
        same, self._last = found == self._last, found
        return same and found is not None and found != self._judged

    def judge(self, found: FileFingerprint) -> None:
        """Note that the state which this look has found is being judged."""
        self._judged = found


def look(path: Path) -> FileFingerprint | None:
    """Return the fingerprint of the file, None if it is missing or not an ordinary file."""
    try:
        return _look(path.stat())
    except (OSError, ValueError):
        return None


def _look(found: os.stat_result) -> FileFingerprint | None:
    return FileFingerprint(found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def read(path: Path, expected: FileFingerprint) -> str | None:
    """Return the text of the file, None if it is not as expected or changes while it is read. Raises `OSError`.

    Bytes that are not UTF-8 stay in it as surrogates, so that the judge can report them; a text longer than any answer
    is cut off.
    """
    with open_regular(path) as file:
        before = _look(os.fstat(file.fileno()))
        data = read_most(file, MAX_SOURCE + 1)
        after = _look(os.fstat(file.fileno()))
    if before != after or look(path) != expected:
        return None
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def create(path: Path, code: str) -> FileFingerprint | None:
    """Make the file with this code and return its fingerprint, None if it exists already. Raises `OSError`."""
    try:
        create_whole(path, code.encode("utf-8", "replace"))
    except FileExistsError:
        return None
    return look(path)
