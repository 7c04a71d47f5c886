"""Write files that are whole whenever somebody looks: another process may read them, or the power fail, at any moment.

What cannot be written to its end, as on a full disk, leaves what was there, or nothing.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

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
