"""Files that a child leaves in the worker's shared memory, where they would take room from the next children."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from attn_tutor.lessons.worker.fence import scratch_folders


def listed(folder: Path | None) -> frozenset[str]:
    """Return the names of the files in the folder for shared memory; none where the worker has none of its own."""
    with contextlib.suppress(OSError):
        return frozenset(os.listdir(folder)) if folder is not None else frozenset()
    return frozenset()


def sweep(before: frozenset[str], folder: Path | None, *, folders: bool = False) -> None:
    """Remove the files of this user that were not there `before` and that no process uses; with `folders`, these too.

    Nobody can tell whether a folder is in use, so they are removed only when nothing runs.
    """
    new = listed(folder) - before
    if folder is None or not new:
        return
    used = _used(folder)
    for path in (folder / name for name in new):
        with contextlib.suppress(OSError):
            if str(path) in used or path.lstat().st_uid != os.getuid():
                continue
            if path.is_symlink() or not path.is_dir():
                path.unlink()
            elif folders:
                scratch_folders.remove(str(path))


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
