"""A program that empties one folder, and can reach nothing else: what is in it was made by code of learners.

It runs in a process of its own, so that Landlock confines it to removing what is below that folder, where the kernel
has Landlock. Whatever programs that are still alive move under its feet, files of others are out of its reach.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys

from attn_tutor.lessons.worker.fence import landlock
from attn_tutor.lessons.worker.fence.folder_walk import FOLDER, walk

TRIES = 100
"""How often it begins again where somebody moves the folders that it is in."""
SECONDS = 60
"""How much time of a processor it may take."""


def main(folder: str) -> None:
    """Empty a folder, as far as that is possible."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    with contextlib.suppress(OSError):
        top = os.open(folder, FOLDER)
        landlock.confine_to_removal(top)
        empty(top)


def empty(top: int) -> None:
    """Remove everything that is in an open folder, as far as that is possible, and nothing else."""
    for _ in range(TRIES):
        if walk(top, _remove_files, _remove_folder):
            break


def _remove_files(fd: int) -> list[str]:
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


def _remove_folder(fd: int, name: str) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=fd)


if __name__ == "__main__":
    main(sys.argv[1])
