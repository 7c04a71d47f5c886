"""The folder that a child may write to: how much is in it, and its end."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from attn_tutor.lessons.files import IMPORT_FOLDER
from attn_tutor.lessons.worker.fence import layers
from attn_tutor.lessons.worker.fence.cleaner import FOLDER, walk
from attn_tutor.lessons.worker.fence.processes import ZERO, MappedFile

MOST_FILES = 10_000
BLOCK = 512
PATIENCE = 120.0
"""Seconds after which a cleaner is given up; it takes milliseconds."""

_BOOT = """
import sys
sys.path.insert(0, sys.argv[1])
from attn_tutor.lessons.worker.fence import cleaner
cleaner.main(sys.argv[2])
"""


@dataclass(slots=True)
class Content:
    """What a child's folder holds, as far as it has been counted: how many bytes on the disk, in how many entries.

    `complete` tells whether nothing was moved or removed while it was counted, which may then have been missed.
    """

    bytes: int = 0
    entries: int = 0
    complete: bool = True


def make_base() -> str:
    """Make the folder of a worker, in which its children have theirs, and return it. Raises `OSError`."""
    usual = tempfile.gettempdir()
    # The worker has a folder of its own in place of the one for shared memory, and would not find its folder any more.
    elsewhere = next(filter(os.path.isdir, ("/tmp", "/var/tmp")), None)
    inside = Path(usual).resolve().is_relative_to(layers.SHARED_MEMORY)
    return tempfile.mkdtemp(prefix="attn-tutor-", dir=elsewhere if inside else usual)


def content(folder: str, limit: int) -> Content:
    """Count what is below a folder, and stop once that is more than `limit` bytes or `MOST_FILES` entries."""
    found = Content()

    def count(fd: int) -> list[str]:
        folders: list[str] = []
        with os.scandir(fd) as entries:
            for entry in entries:
                found.entries += 1
                with contextlib.suppress(OSError):
                    found.bytes += entry.stat(follow_symlinks=False).st_blocks * BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                if found.bytes > limit or found.entries > MOST_FILES:
                    raise _Enough
        return folders

    with contextlib.suppress(OSError, _Enough):
        top = os.open(folder, FOLDER)
        try:
            found.complete = walk(top, count, lambda fd, name: None)
        finally:
            os.close(top)
    return found


class _Enough(Exception):
    """More was counted than there may be."""


def kept_open(pids: Iterable[int], maps: Iterable[MappedFile], largest: int, shared: Path | None = None) -> int:
    """Return how many bytes the files take that are in no folder, but that processes have open or mapped.

    Such are files that were removed, those of `tempfile.TemporaryFile`, and those in memory (memfd). The size of one
    that is only mapped cannot be looked up, so it counts with `largest`, the most that a file may have. Files in the
    worker's own `shared` memory do not count, which has a limit of its own. Files that are only on their way through a
    socket are not seen.
    """
    own = os.stat(shared).st_dev if shared is not None else None
    sizes: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    found = entry.stat()
                    if found.st_nlink == 0 and stat.S_ISREG(found.st_mode) and found.st_dev != own:
                        sizes[found.st_ino] = found.st_blocks * BLOCK
    files = {each.inode for each in maps if each.device != own and each.name != ZERO}
    return sum(sizes.values()) + largest * len(files - sizes.keys())


def remove(folder: str) -> None:
    """Remove a folder with everything in it, however deep its folders lie; what cannot be removed stays.

    A process that can reach nothing but this folder empties it (`cleaner`). Most are empty, and need none.
    """
    if _removed(folder):
        return
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _BOOT, IMPORT_FOLDER, folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
        )
    _removed(folder)


def _removed(folder: str) -> bool:
    """Remove an empty folder; returns whether there is none any more."""
    try:
        os.rmdir(folder)
    except OSError as error:
        return error.errno not in (errno.ENOTEMPTY, errno.EEXIST)
    return True
