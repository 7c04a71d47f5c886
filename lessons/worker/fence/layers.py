"""The layers around a worker: which of them this host has, how they are put on, and a folder for shared memory.

Files in /dev/shm take memory and outlive the program that made them. A mount namespace gives the worker a folder of its
own there, with a limit, that no other program sees and that ends with the worker. Ordinary users need a user namespace
for it, which some systems refuse (Ubuntu's AppArmor, Docker); the worker then has no shared memory.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from attn_tutor.lessons.worker.fence import landlock, system_calls
from attn_tutor.lessons.worker.fence.linux import PR_SET_DUMPABLE, checked, libc, prctl, trial

SHARED_MEMORY = Path("/dev/shm")
SHARED_MEMORY_LIMIT = 256
"""MiB that the files of all children of a worker may have together."""
MOST_SHARED_FILES = 10_000

_NEW_MOUNTS, _NEW_USERS = 0x00020000, 0x10000000
_NO_SET_UID, _NO_DEVICES, _RECURSIVE, _RECEIVING = 2, 4, 1 << 14, 1 << 19
_CAPABILITIES_VERSION_3 = 0x20080522


def shared_memory_works() -> bool:
    """Return whether a trial in another process shows that the system allows such a folder.

    Must be called while this process has one thread.
    """
    return sys.platform == "linux" and trial(separate_shared_memory)


def separate_shared_memory() -> bool:
    """Mount an empty folder for shared memory for this process and all that it will start. Returns True.

    Must be called while the process has one thread, and only if it `works`: half done, it would leave a process that
    can write no file. Raises `OSError` if the system does not allow it.
    """
    user, group = os.getuid(), os.getgid()
    kernel = libc()
    if kernel.unshare(_NEW_MOUNTS) != 0:
        checked(kernel.unshare(_NEW_MOUNTS | _NEW_USERS))
        # The user and the group keep their numbers. The kernel demands that groups cannot be left.
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        _mount_folder()
        _drop_capabilities()
    else:
        _mount_folder()
    return True


def _mount_folder() -> None:
    kernel = libc()
    # What is mounted or ejected outside from now on is so in here too.
    checked(kernel.mount(None, b"/", None, _RECURSIVE | _RECEIVING, None))
    options = f"size={SHARED_MEMORY_LIMIT}m,nr_inodes={MOST_SHARED_FILES},mode=1777".encode()
    checked(kernel.mount(b"tmpfs", os.fsencode(SHARED_MEMORY), b"tmpfs", _NO_SET_UID | _NO_DEVICES, options))


def _drop_capabilities() -> None:
    """Give up the rights that the maker of a user namespace has in it."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0)
    checked(libc().capset(header, (ctypes.c_uint32 * 6)()))
    # Such a change of rights closes /proc/self to the process itself.
    prctl(PR_SET_DUMPABLE, 1)


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers that work on this host; the limits of `limits.py` work everywhere."""

    landlock: int
    """The version of Landlock, 0 if there is none: 1 refuses writing outside the scratch folder, 3 cutting files short
    there, 5 control of devices, 6 signals and abstract sockets to other programs."""
    system_calls: bool
    """Whether system calls are filtered."""
    shared_memory: bool
    """Whether the worker has a folder for shared memory of its own. Without one, code has no shared memory; without
    Landlock too, it has that of the host, where what it leaves stays."""


def found() -> Layers:
    """Find out which layers work on this host, by trying them in other processes. Must be called with one thread."""
    return Layers(landlock.version(), system_calls.works(), shared_memory_works())


def enclose() -> Path | None:
    """Put the layers that work on this host around this process, for good, and around all that it will start.

    Must be called while the process has one thread; a child then adds Landlock around its own scratch folder. Returns
    the folder for shared memory that is the worker's own, None if there is none.
    """
    shared = shared_memory_works() and separate_shared_memory()
    if system_calls.works():
        # Last, since it refuses mounts too.
        system_calls.confine()
    return SHARED_MEMORY if shared else None
