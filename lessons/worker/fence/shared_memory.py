"""A layer around the whole worker: a folder for shared memory that no other program sees, and that ends with it.

Files in /dev/shm take memory and outlive the program that made them. A mount namespace gives the worker a folder of its
own there, with a limit. Ordinary users need a user namespace for it, which some systems refuse (Ubuntu's AppArmor,
Docker); the worker then has no shared memory.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from attn_tutor.lessons.worker.fence.linux import PR_SET_DUMPABLE, checked, libc, prctl, trial

FOLDER = Path("/dev/shm")
LIMIT = 256
"""MiB that the files of all children of a worker may have together."""
MOST_FILES = 10_000

_NEW_MOUNTS, _NEW_USERS = 0x00020000, 0x10000000
_NO_SET_UID, _NO_DEVICES, _RECURSIVE, _RECEIVING = 2, 4, 1 << 14, 1 << 19
_CAPABILITIES_VERSION_3 = 0x20080522


def works() -> bool:
    """Return whether a trial in another process shows that the system allows such a folder.

    Must be called while this process has one thread.
    """
    return sys.platform == "linux" and trial(separate)


def separate() -> bool:
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
    options = f"size={LIMIT}m,nr_inodes={MOST_FILES},mode=1777".encode()
    checked(kernel.mount(b"tmpfs", os.fsencode(FOLDER), b"tmpfs", _NO_SET_UID | _NO_DEVICES, options))


def _drop_capabilities() -> None:
    """Give up the rights that the maker of a user namespace has in it."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0)
    checked(libc().capset(header, (ctypes.c_uint32 * 6)()))
    # Such a change of rights closes /proc/self to the process itself.
    prctl(PR_SET_DUMPABLE, 1)
