"""Files on disk: read only where reading ends, and written whole or not at all.

Of a pipe, a device or a socket, reading may never end, or not even opening it, so only ordinary files are read. A file
may be something else by the time it is opened, so it is the open file that is looked at.

A file that is written is whole whenever somebody looks: another process may read it, or the power fail, at any moment.
What cannot be written to its end, as on a full disk, leaves what was there, or nothing.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

MOST_READ = 64 * 1024 * 1024
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
    _check_regular(path, os.stat(path, dir_fd=folder, follow_symlinks=links).st_mode)
    # A pipe is opened at once, a terminal does not become ours, and no child has the file.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    opened = os.open(path, flags, dir_fd=folder)
    try:
        _check_regular(path, os.fstat(opened).st_mode)
        return open(opened, "rb", buffering=0)
    except BaseException:
        os.close(opened)
        raise


def _check_regular(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise NotRegular(path, mode)


def read_regular(path: str | os.PathLike[str], most: int = MOST_READ, *, links: bool = True) -> bytes:
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


def read_text(path: str | os.PathLike[str], most: int = MOST_READ) -> str:
    """Return the text of an ordinary file of at most so many bytes, with the ends of lines as Python reads them.

    Raises `UnicodeDecodeError`, and what `open_regular` does.
    """
    text = read_regular(path, most).decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


OWN, USUAL = 0o600, 0o666
"""The rights of a file for its user alone, and those of a new file, of which the umask takes its part."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file for its user alone, in place of the one that is there, if any. Raises `OSError`."""
    _write(path, content, OWN, lambda part: part.replace(path))


def rewrite(path: Path, content: bytes) -> None:
    """Write a file where somebody wants one: behind links, and with the rights that a file there has already.

    What is there and no file, such as a device, is written to. Raises `OSError`.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return

    def move(part: Path) -> None:
        with suppress(FileNotFoundError):
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)

    _write(path, content, USUAL, move)


def create_whole(path: Path, content: bytes) -> None:
    """Make a file that is not there yet. Raises `OSError`, above all `FileExistsError`."""

    def move(part: Path) -> None:
        try:
            # Unlike a renamed file, a link replaces nothing.
            os.link(part, path, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            # There are file systems without links.
            _create_in_place(path, content)

    _write(path, content, USUAL, move)


def _write(path: Path, content: bytes, mode: int, move: Callable[[Path], object]) -> None:
    """Write a file under another name, and have it moved where it belongs once all of it is on the disk."""
    # The name may be as long as a file system allows, and then leaves no room for more.
    part = path.parent / f".{path.name[:40]}-{secrets.token_hex(4)}"
    try:
        _fill(part, content, mode)
        move(part)
    finally:
        with suppress(OSError):
            part.unlink()
    with suppress(OSError):
        _sync_folder(path.parent)


def _create_in_place(path: Path, content: bytes) -> None:
    try:
        _fill(path, content, USUAL)
    except FileExistsError:
        raise
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _fill(path: Path, content: bytes, mode: int) -> None:
    """Make a file, and return when its content is on the disk: some file systems notice only then that they are full.

    Raises `OSError`.
    """
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


# Not resolved: in a checkout, links lead from this package to the folders at the root.
IMPORT_FOLDER = str(Path(__file__).absolute().parents[2])
