"""The folder that a child may write to: how much is in it, and its end."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

MOST_FILES = 10_000
BLOCK = 512
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def exceeds(folder: str, limit: int, pids: Iterable[int] = ()) -> bool:
    """Return whether files take more than `limit` bytes, or are more than `MOST_FILES`.

    Counted are those below a folder, and those in no folder that the processes `pids` have open.
    """
    total, count = _unlinked(pids), 0
    pending = [folder]
    while pending and total <= limit:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                count += 1
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                if total > limit or count > MOST_FILES:
                    return True
    return total > limit


def _unlinked(pids: Iterable[int]) -> int:
    """Return how many bytes the files take that are in no folder, and that processes have open.

    Such are files that were removed, those of `tempfile.TemporaryFile`, and those in memory (memfd). Files that are
    only on their way through a socket are not seen.
    """
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    found = entry.stat()
                    if found.st_nlink == 0 and stat.S_ISREG(found.st_mode):
                        sizes[found.st_dev, found.st_ino] = found.st_blocks * BLOCK
    return sum(sizes.values())


def remove(folder: str) -> None:
    """Remove a folder with everything in it, however deep its folders lie; what cannot be removed stays.

    `shutil.rmtree` calls itself for each folder inside a folder, and fails at the thousandth.
    """
    with contextlib.suppress(OSError):
        fd = os.open(folder, FOLDER)
        try:
            _remove_inside(fd)
        finally:
            os.rmdir(folder)


def _remove_inside(fd: int) -> None:
    """Remove what is in an open folder, and close it. Only one folder is open at a time."""
    # The folders from the outermost to the one that is open, by name; and the folders in each that are still to go.
    names: list[str] = []
    inside = [_without_files(fd)]
    try:
        while names or inside[-1]:
            if inside[-1]:
                name, outer = inside[-1].pop(), fd
                try:
                    fd = os.open(name, FOLDER, dir_fd=outer)
                except OSError:
                    continue
                names.append(name)
                inside.append(_without_files(fd))
                os.close(outer)
            else:
                inside.pop()
                inner, fd = fd, os.open("..", FOLDER, dir_fd=fd)
                os.close(inner)
                with contextlib.suppress(OSError):
                    os.rmdir(names.pop(), dir_fd=fd)
    finally:
        os.close(fd)


def _without_files(fd: int) -> list[str]:
    """Remove the files of an open folder and return the names of the folders in it."""
    folders = []
    with os.scandir(fd) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(entry.name, dir_fd=fd)
    return folders
