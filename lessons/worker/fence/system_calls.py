"""A layer around the whole worker: a filter of system calls (seccomp), which decides by call and by its numbers.

Landlock does not know of modes, times and attributes of files, nor of limits and priorities of other processes. A
filter cannot read a path, so `chmod` is refused in the scratch folder too. A call that is refused fails with EPERM, as
it would for lack of rights; a call that is newer than this table is answered as by an older kernel.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from attn_tutor.lessons.worker.fence.linux import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, libc, prctl, trial

_SECCOMP_MODE_FILTER = 2

# linux/bpf_common.h: read four bytes of the call, compare them, mask them, and end with a verdict.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000

# struct seccomp_data on a little-endian machine; the kernel too reads only the lower half of an `int` argument.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The machines with a table, and the kernel's numbers for them (AUDIT_ARCH)."""
NEWEST = 469
"""The last system call that this table has been compared with (Linux 6.17). x32 calls are above it too."""

AF_UNIX, SOCK_DGRAM, SOCKET_KIND = 1, 2, 0xF
SOL_SOCKET, SO_SNDBUF, SO_SNDBUFFORCE = 1, 7, 32
LONGEST_QUEUE = 128
"""Connections that may wait at a socket, each with what has been sent over it already."""
MAP_SHARED_ANONYMOUS = 0x21
LARGEST_SHARED = 16 << 20
"""Bytes that a program may share with its own processes at once, outside of files. Unmapped but for a page, all of that
remains, and nothing tells how much it is."""
OWNER_RIGHTS = 0o700
TRUNCATE, READ_ONLY, ACCESS = 0o1000, 0, 3
"""Flags of open(2): to empty a file; and for what it is opened, where all bits of `ACCESS` mean for neither."""
PRIO_PROCESS, IOPRIO_WHO_PROCESS = 0, 1
NAMESPACES = 0x7E020000
"""The flags of clone(2) that make a namespace (CLONE_NEW*)."""
CLONE_FILES, CLONE_THREAD, CLOSE_RANGE_UNSHARE = 0x400, 0x10000, 2
TERMINAL, FILE_FLAGS, FILE_ATTRIBUTES, FILE_VERSIONS = (ord(group) << 8 for group in "TfXv")
FAT, BTRFS, BCACHEFS, CIFS, F2FS = (group << 8 for group in (ord("r"), 0x94, 0xBC, 0xCF, 0xF5))
REQUEST_GROUPS = (TERMINAL, FILE_FLAGS, FILE_ATTRIBUTES, FILE_VERSIONS, FAT, BTRFS, BCACHEFS, CIFS, F2FS)
"""Groups of ioctl(2): settings of terminals, which include typing into them; attributes of files; and what single file
systems do beyond that, such as a copy of a folder, for which a descriptor to read suffices."""
HARMLESS_REQUESTS = (0x5401, 0x802C542A, 0x5413, 0x540F, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452, 0x80086601)
"""Requests of these groups that only ask (TCGETS, TIOCGWINSZ, FIONREAD) or set the descriptor (FIONBIO, FIOCLEX)."""
COPIES = (0x40049409, 0x4020940D)
"""Requests that copy to a descriptor which must be open for writing (FICLONE, FICLONERANGE)."""


class Instruction(NamedTuple):
    """One instruction of the filter: a code, how many to skip if it is true or false, and a number."""

    code: int
    if_true: int
    if_false: int
    number: int


Block = list[Instruction]
"""Instructions that end with a verdict or go on after the last one."""

ALLOWED = Instruction(_RETURN, 0, 0, _ALLOW)
REFUSED = Instruction(_RETURN, 0, 0, _ERRNO | errno.EPERM)
UNKNOWN = Instruction(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)


def _argument(index: int) -> Instruction:
    return Instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * index)


def _unless(index: int, *values: int) -> Block:
    """Refuse a call unless an argument has one of these values."""
    tests = [Instruction(_EQUAL, len(values) - position, 0, value) for position, value in enumerate(values)]
    return [_argument(index), *tests, REFUSED]


def _above(index: int, limit: int) -> Block:
    """Refuse a call if the lower half of an argument is larger than a limit."""
    return [_argument(index), Instruction(_AT_LEAST, 0, 1, limit + 1), REFUSED]


def _if_masked(index: int, mask: int, value: int) -> Block:
    """Refuse a call if those bits of an argument that a mask has are this value."""
    return [_argument(index), Instruction(_AND, 0, 0, mask), Instruction(_EQUAL, 0, 1, value), REFUSED]


def _unless_bits(index: int, bits: int) -> Block:
    """Refuse a call unless an argument has all of these bits."""
    return [_argument(index), Instruction(_AND, 0, 0, bits), Instruction(_EQUAL, 1, 0, bits), REFUSED]


def _if(index: int, value: int) -> Block:
    """Refuse a call if an argument has this value."""
    return [_argument(index), Instruction(_EQUAL, 0, 1, value & 0xFFFFFFFF), REFUSED]


def _if_any_bit(index: int, bits: int) -> Block:
    """Refuse a call if an argument has any of these bits."""
    return [_argument(index), Instruction(_ANY_BIT, 0, 1, bits), REFUSED]


def _if_in_group(index: int, groups: tuple[int, ...], besides: tuple[int, ...]) -> Block:
    """Refuse a call if the second byte of an argument is one of `groups`, except for the values `besides`."""
    tests = [Instruction(_EQUAL, len(groups) - 1 - position, 0, group) for position, group in enumerate(groups)]
    tests[-1] = tests[-1]._replace(if_false=1)
    block = [Instruction(_AND, 0, 0, 0xFF00), *tests, REFUSED]
    known = [
        Instruction(_EQUAL, len(besides) - 1 - position + len(block), 0, value)
        for position, value in enumerate(besides)
    ]
    return [_argument(index), *known, *block]


def _if_truncates_to_read(index: int) -> Block:
    """Refuse to open a file if the flags empty it without asking for a descriptor to write."""
    flags = Instruction(_AND, 0, 0, TRUNCATE | ACCESS)
    tests = [Instruction(_EQUAL, 1, 0, TRUNCATE | READ_ONLY), Instruction(_EQUAL, 0, 1, TRUNCATE | ACCESS)]
    return [_argument(index), flags, *tests, REFUSED]


def _if_shares_much() -> Block:
    """Refuse to map memory that is shared and belongs to no file, if that is more than `LARGEST_SHARED`."""
    upper_half = _argument(1)._replace(number=_argument(1).number + 4)
    much = [upper_half, Instruction(_EQUAL, 0, 2, 0), *_above(1, LARGEST_SHARED)]
    kind = Instruction(_AND, 0, 0, MAP_SHARED_ANONYMOUS)
    return [_argument(3), kind, Instruction(_EQUAL, 0, len(much), MAP_SHARED_ANONYMOUS), *much]


def _if_option(level: int, options: tuple[int, ...]) -> Block:
    """Refuse to set these options of a socket."""
    tests = [Instruction(_EQUAL, len(options) - 1 - index, 0, option) for index, option in enumerate(options)]
    tests[-1] = tests[-1]._replace(if_false=1)
    chosen = [_argument(2), *tests, REFUSED]
    return [_argument(1), Instruction(_EQUAL, 0, len(chosen), level), *chosen]


REFUSE: Block = [REFUSED]
OWN_PROCESS = _unless(0, 0)
ABSENT = -1


class SystemCall(NamedTuple):
    """A system call: its number on each machine (asm/unistd_64.h, asm-generic/unistd.h), and what is refused."""

    x86_64: int
    aarch64: int
    refuse: Block

    def number(self, machine: str) -> int:
        """Return its number on a machine, `ABSENT` if there is no such call."""
        return self.x86_64 if machine == "x86_64" else self.aarch64


CALLS = {
    # Files, wherever they are: mode, owner, times, extended attributes, and the length of a file that is not open.
    "chmod": SystemCall(90, ABSENT, REFUSE),
    "fchmod": SystemCall(91, 52, REFUSE),
    "fchmodat": SystemCall(268, 53, REFUSE),
    "fchmodat2": SystemCall(452, 452, REFUSE),
    "chown": SystemCall(92, ABSENT, REFUSE),
    "fchown": SystemCall(93, 55, REFUSE),
    "lchown": SystemCall(94, ABSENT, REFUSE),
    "fchownat": SystemCall(260, 54, REFUSE),
    "utime": SystemCall(132, ABSENT, REFUSE),
    "utimes": SystemCall(235, ABSENT, REFUSE),
    "futimesat": SystemCall(261, ABSENT, REFUSE),
    "utimensat": SystemCall(280, 88, REFUSE),
    "setxattr": SystemCall(188, 5, REFUSE),
    "lsetxattr": SystemCall(189, 6, REFUSE),
    "fsetxattr": SystemCall(190, 7, REFUSE),
    "setxattrat": SystemCall(463, 463, REFUSE),
    "removexattr": SystemCall(197, 14, REFUSE),
    "lremovexattr": SystemCall(198, 15, REFUSE),
    "fremovexattr": SystemCall(199, 16, REFUSE),
    "removexattrat": SystemCall(466, 466, REFUSE),
    "file_setattr": SystemCall(469, 469, REFUSE),
    "truncate": SystemCall(76, 45, REFUSE),
    # Landlock has only known since Linux 6.2 that this is more than to read. The flags of openat2 are out of reach.
    "open": SystemCall(2, ABSENT, _if_truncates_to_read(1)),
    "openat": SystemCall(257, 56, _if_truncates_to_read(2)),
    "openat2": SystemCall(437, 437, [UNKNOWN]),
    # Folders that could not be removed after the program, since their owner may not look into them.
    "mkdir": SystemCall(83, ABSENT, _unless_bits(1, OWNER_RIGHTS)),
    "mkdirat": SystemCall(258, 34, _unless_bits(2, OWNER_RIGHTS)),
    "umask": SystemCall(95, 166, _if_any_bit(0, OWNER_RIGHTS)),
    # Other processes: their limits, priorities, processors and memory. A process may still change its own, as 0.
    "prlimit64": SystemCall(302, 261, OWN_PROCESS),
    "sched_setparam": SystemCall(142, 118, OWN_PROCESS),
    "sched_setscheduler": SystemCall(144, 119, OWN_PROCESS),
    "sched_setaffinity": SystemCall(203, 122, OWN_PROCESS),
    "sched_setattr": SystemCall(314, 274, OWN_PROCESS),
    "setpriority": SystemCall(141, 140, _unless(0, PRIO_PROCESS) + _unless(1, 0)),
    "ioprio_set": SystemCall(251, 30, _unless(0, IOPRIO_WHO_PROCESS) + _unless(1, 0)),
    "migrate_pages": SystemCall(256, 238, OWN_PROCESS),
    "move_pages": SystemCall(279, 239, OWN_PROCESS),
    "ptrace": SystemCall(101, 117, REFUSE),
    "process_vm_readv": SystemCall(310, 270, REFUSE),
    "process_vm_writev": SystemCall(311, 271, REFUSE),
    "process_madvise": SystemCall(440, 440, REFUSE),
    "pidfd_getfd": SystemCall(438, 438, REFUSE),
    "kcmp": SystemCall(312, 272, REFUSE),
    # All processes of the user at once; older versions of Landlock do not know of signals.
    "kill": SystemCall(62, 129, _if(0, -1)),
    # The network, whatever the protocol. Processes of one program talk by sockets of this one family.
    "socket": SystemCall(41, 198, _unless(0, AF_UNIX) + _if_masked(1, SOCKET_KIND, SOCK_DGRAM)),
    "socketpair": SystemCall(53, 199, _unless(0, AF_UNIX) + _if_masked(1, SOCKET_KIND, SOCK_DGRAM)),
    # Memory that no process has, and that nobody can count.
    "listen": SystemCall(50, 201, _above(1, LONGEST_QUEUE)),
    "setsockopt": SystemCall(54, 208, _if_option(SOL_SOCKET, (SO_SNDBUF, SO_SNDBUFFORCE))),
    "mmap": SystemCall(9, 222, _if_shares_much()),
    "vmsplice": SystemCall(278, 75, REFUSE),
    "inotify_init": SystemCall(253, ABSENT, REFUSE),
    "inotify_init1": SystemCall(294, 26, REFUSE),
    "fanotify_init": SystemCall(300, 262, REFUSE),
    # The limit on the size of a file does not hold for what is reserved beyond its end.
    "fallocate": SystemCall(285, 47, _unless(1, 0)),
    # The terminal, and attributes of files.
    "ioctl": SystemCall(16, 29, _if_in_group(1, REQUEST_GROUPS, (*HARMLESS_REQUESTS, *COPIES))),
    # Memory that outlives every process, and that of other programs, whose number suffices to use or to remove it.
    "shmget": SystemCall(29, 194, REFUSE),
    "shmat": SystemCall(30, 196, REFUSE),
    "shmctl": SystemCall(31, 195, REFUSE),
    "semget": SystemCall(64, 190, REFUSE),
    "semop": SystemCall(65, 193, REFUSE),
    "semtimedop": SystemCall(220, 192, REFUSE),
    "semctl": SystemCall(66, 191, REFUSE),
    "msgget": SystemCall(68, 186, REFUSE),
    "msgsnd": SystemCall(69, 189, REFUSE),
    "msgrcv": SystemCall(70, 188, REFUSE),
    "msgctl": SystemCall(71, 187, REFUSE),
    "mq_open": SystemCall(240, 180, REFUSE),
    "mq_unlink": SystemCall(241, 181, REFUSE),
    # Parts of the kernel that no lesson needs, and that have let programs out of such layers before.
    "io_uring_setup": SystemCall(425, 425, REFUSE),
    "bpf": SystemCall(321, 280, REFUSE),
    "userfaultfd": SystemCall(323, 282, REFUSE),
    "perf_event_open": SystemCall(298, 241, REFUSE),
    "add_key": SystemCall(248, 217, REFUSE),
    "request_key": SystemCall(249, 218, REFUSE),
    "keyctl": SystemCall(250, 219, REFUSE),
    # Mounts and namespaces. The flags of clone3 are out of reach; without it, the C library takes clone.
    # A thread with open files of its own is none that a list of the process has.
    "clone": SystemCall(
        *(56, 220), _if_any_bit(0, NAMESPACES) + _if_masked(0, CLONE_THREAD | CLONE_FILES, CLONE_THREAD)
    ),
    "close_range": SystemCall(436, 436, _if_any_bit(2, CLOSE_RANGE_UNSHARE)),
    "clone3": SystemCall(435, 435, [UNKNOWN]),
    "unshare": SystemCall(272, 97, REFUSE),
    "setns": SystemCall(308, 268, REFUSE),
    "mount": SystemCall(165, 40, REFUSE),
    "umount2": SystemCall(166, 39, REFUSE),
    "pivot_root": SystemCall(155, 41, REFUSE),
    "chroot": SystemCall(161, 51, REFUSE),
    "open_tree": SystemCall(428, 428, REFUSE),
    "open_tree_attr": SystemCall(467, 467, REFUSE),
    "move_mount": SystemCall(429, 429, REFUSE),
    "fsopen": SystemCall(430, 430, REFUSE),
    "fsconfig": SystemCall(431, 431, REFUSE),
    "fsmount": SystemCall(432, 432, REFUSE),
    "fspick": SystemCall(433, 433, REFUSE),
    "mount_setattr": SystemCall(442, 442, REFUSE),
}


LATER_CALLS = {
    # Each ruleset takes megabytes that nobody can count. A child needs one before its program runs, and later asks for
    # the version.
    "landlock_create_ruleset": SystemCall(444, 444, _unless(2, 1)),
}
"""What is refused to the program of a child, but not to the fork server."""


def program(machine: str, calls: Mapping[str, SystemCall] = CALLS) -> Block:
    """Return the filter for a machine, as `os.uname()` calls it. Raises `KeyError` if there is no table."""
    # A program may make calls for another machine, such as 32-bit ones, whose numbers mean something else.
    block = [
        Instruction(_LOAD, 0, 0, _ARCHITECTURE),
        Instruction(_EQUAL, 1, 0, MACHINES[machine]),
        UNKNOWN,
        Instruction(_LOAD, 0, 0, _NUMBER),
        Instruction(_AT_LEAST, 0, 1, NEWEST + 1),
        UNKNOWN,
    ]
    for call in calls.values():
        if (number := call.number(machine)) != ABSENT:
            block += [Instruction(_EQUAL, 0, len(call.refuse) + 1, number), *call.refuse, ALLOWED]
    return [*block, ALLOWED]


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("number", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def install(instructions: Iterable[Instruction]) -> bool:
    """Filter the calls of this thread for good, with all processes that it will start; False if the kernel refuses."""
    items = [_Instruction(*item) for item in instructions]
    block = (_Instruction * len(items))(*items)
    whole = _Program(len(items), block)
    return prctl(PR_SET_NO_NEW_PRIVS, 1) and prctl(PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(whole))


def works() -> bool:
    """Return whether there is a table for this machine, and a trial in another process shows that it takes effect.

    Must be called while this process has one thread.
    """
    if sys.platform != "linux" or sys.byteorder != "little" or os.uname().machine not in MACHINES:
        return False
    return trial(lambda: confine() and in_force() and os.getppid() > 0)


def confine() -> bool:
    """Refuse the calls of the table to this process for good, with all processes that it will start.

    Must be called while the process has one thread, and only if it `works`: under an emulator of another machine, the
    numbers of all calls may mean something else. Returns False if the kernel does not filter.
    """
    return install(program(os.uname().machine))


def confine_further() -> bool:
    """Refuse `LATER_CALLS` as well, to a process that has the filter. Returns False if it has none."""
    return in_force() and install(program(os.uname().machine, LATER_CALLS))


def in_force() -> bool:
    """Return whether a call of the table that would change nothing is refused to this process."""
    if sys.platform != "linux":
        return False
    # Its own limit under its own number, which the filter cannot tell from that of another process.
    return bool(libc().prlimit(os.getpid(), 0, None, None) == -1 and ctypes.get_errno() == errno.EPERM)
