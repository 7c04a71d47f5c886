"""Files in shared memory that a child leaves behind: no process has them open, and nobody else would remove them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

FOLDER = Path("/dev/shm")


def listed(folder: Path = FOLDER) -> frozenset[str]:
    """Return the names of the files in shared memory; none where there is no such folder."""
    with contextlib.suppress(OSError):
        return frozenset(os.listdir(folder))
    return frozenset()


def sweep(before: frozenset[str], folder: Path = FOLDER) -> None:
    """Remove the files of this user that were not there `before` and that no process uses."""
    new = listed(folder) - before
    if not new:
        return
    used = _used(folder)
    for path in (folder / name for name in new):
        with contextlib.suppress(OSError):
            if str(path) not in used and path.lstat().st_uid == os.getuid() and not path.is_dir():
                path.unlink()


def _used(folder: Path) -> set[str]:
    """Return the paths below a folder that processes of this user have open or mapped."""
    found: set[str] = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            for link in os.listdir(process / "fd"):
                with contextlib.suppress(OSError):
                    found.add(os.readlink(process / "fd" / link))
        with contextlib.suppress(OSError):
            maps = (process / "maps").read_text(errors="replace").splitlines()
            found |= {line.split(maxsplit=5)[-1] for line in maps if f" {folder}/" in line}
    return found
