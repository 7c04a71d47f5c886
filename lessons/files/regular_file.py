"""Read ordinary files only: of a pipe, a device or a socket, reading may never end, or not even opening it.

A file may be something else by the time it is opened, so it is the open file that is looked at.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

MOST = 64 * 1024 * 1024
"""The largest file in bytes that is read, unless its reader knows better."""


class NotRegular(OSError):
    """What is to be read is there, and is no ordinary file."""

    def __init__(self, path: str | os.PathLike[str], mode: int) -> None:
        """Say in `strerror`, as the system would, what it is."""
        folder = stat.S_ISDIR(mode)
        number = errno.EISDIR if folder else errno.EINVAL
        super().__init__(number, os.strerror(number) if folder else "Not an ordinary file", os.fspath(path))


def open_regular(path: str | os.PathLike[str], *, links: bool = True, folder: int | None = None) -> BinaryIO:
    """Open an ordinary file to read it.

    Args:
        path: the file.
        links: whether a link may be in its place; links in place of folders are always followed.
        folder: an open folder that the path begins in.

    Raises:
        NotRegular: There is something else than a file.
        OSError: The file cannot be opened.
        ValueError: No file can have this name.
    """
    # To open a device may do something, such as rewind a tape.
    _check(path, os.stat(path, dir_fd=folder, follow_symlinks=links).st_mode)
    # A pipe is opened at once, a terminal does not become ours, and no child has the file.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    opened = os.open(path, flags, dir_fd=folder)
    try:
        _check(path, os.fstat(opened).st_mode)
        return open(opened, "rb", buffering=0)
    except BaseException:
        os.close(opened)
        raise


def _check(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise NotRegular(path, mode)


def read_regular(path: str | os.PathLike[str], most: int = MOST, *, links: bool = True) -> bytes:
    """Return the content of an ordinary file of at most so many bytes. Raises what `open_regular` does."""
    with open_regular(path, links=links) as file:
        content = read_most(file, most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(path))
    return content


def read_most(file: BinaryIO, most: int) -> bytes:
    """Return the content of an open file, of a longer one so many bytes. Raises `OSError`."""
    parts, left = [], most
    while left and (part := file.read(min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_text(path: str | os.PathLike[str], most: int = MOST) -> str:
    """Return the text of an ordinary file of at most so many bytes, with the ends of lines as Python reads them.

    Raises `UnicodeDecodeError`, and what `open_regular` does.
    """
    text = read_regular(path, most).decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")
