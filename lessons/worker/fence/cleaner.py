"""A walk through folders that programs may move meanwhile, and a program that empties one of them.

What is in that folder was made by code of learners. The program runs in a process of its own, so that Landlock confines
it to removing what is below that folder, where the kernel has Landlock. Whatever programs that are still alive move
under its feet, files of others are out of its reach.

One folder is open at a time, and each is reached from the one around it: a path may be longer than the kernel takes,
and Python may call itself only so often. A folder that somebody has moved has another folder around it than the one
that the walk came from. So the way back is compared with the way there, by device and inode, and the walk ends where
they differ: it is never in a folder that it did not enter.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Callable
from typing import NamedTuple

from attn_tutor.lessons.worker.fence import landlock

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Identity(NamedTuple):
    """What a folder is, whatever it is called and wherever it is moved."""

    device: int
    inode: int


def identity(fd: int) -> Identity:
    """Return the identity of an open folder."""
    found = os.fstat(fd)
    return Identity(found.st_dev, found.st_ino)


def walk(top: int, enter: Callable[[int], list[str]], leave: Callable[[int, str], None]) -> bool:
    """Walk through all folders below an open one, which stays open.

    Returns whether no folder was moved or removed meanwhile.
    `enter` is given each folder, open, and returns the names of those in it that the walk goes to. `leave` is given the
    folder around one that has been walked through, open, and the name of that one. Folders on other disks are left out.
    """
    undisturbed = True
    device = identity(top).device
    way: list[tuple[Identity, str]] = []
    fd = os.open(".", FOLDER, dir_fd=top)
    try:
        ahead = [enter(fd)]
        while True:
            if ahead[-1]:
                name = ahead[-1].pop()
                try:
                    inner = os.open(name, FOLDER, dir_fd=fd)
                except OSError:
                    undisturbed = False
                    continue
                if identity(inner).device != device:
                    os.close(inner)
                    continue
                way.append((identity(fd), name))
                os.close(fd)
                fd = inner
                ahead.append(enter(fd))
            elif way:
                ahead.pop()
                around, name = way.pop()
                outer = os.open("..", FOLDER, dir_fd=fd)
                os.close(fd)
                fd = outer
                if identity(fd) != around:
                    return False
                leave(fd, name)
            else:
                return undisturbed
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            os.close(fd)


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
