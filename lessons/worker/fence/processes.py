"""The processes of a run: which there are, what they take, and how all of them are stopped and ended.

A child is a subreaper (prctl(2)): whatever its program starts stays below it as long as it lives, even what wants to
leave. When it has died, what is left belongs to the process that forked the child, which is a subreaper too. So what
such a process has below it, and has not started itself, is left over from a run that has ended.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Collection, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from attn_tutor.lessons.worker.fence.system_calls import LARGEST_SHARED, LONGEST_QUEUE

MANY = 320
"""Where a list of processes ends, as in a fork bomb; far more than a run may have."""
SOCKET = 212_992
"""Bytes that are on their way through one socket at the most, where the system says nothing else."""
FEW = 2
LONGEST_MAPS = 2 << 20
"""Bytes of the list of what a process has mapped that are read; that of a large program has a tenth."""
ZERO = b"/dev/zero"
"""What memory is called that processes share, and that belongs to no file."""
_SOCKET_ROW = re.compile(rb"^[0-9a-f]+: [0-9A-F]+ [0-9A-F]+ ([0-9A-F]+) [0-9A-F]+ [0-9A-F]+ +(\d+)", re.MULTILINE)
_LISTENS = 0x10000
_PSS = re.compile(rb"^Pss: *(\d+) kB", re.MULTILINE)
PATIENCE = 5.0
"""Seconds after which those that start others faster than they can be stopped are given up, until the next time."""
_PAUSE, _SOON = 0.001, 0.1
"""Seconds between two looks, and in which a process that was told to stop does so."""


def offspring(pid: int) -> list[int]:
    """List the direct children of a process, whichever of its threads started them, those that are dead too."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    except OSError:
        return found
    return found if found or _has_lists() else [each for each in _all() if _parent(each) == pid]


@cache
def _has_lists() -> bool:
    """Return whether this kernel lists the children of a process (CONFIG_PROC_CHILDREN)."""
    return Path("/proc/self/task", str(os.getpid()), "children").exists()


def _all() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def descendants(pid: int) -> list[int]:
    """List all processes below a process that are alive; stops after a few hundred, as in a fork bomb."""
    found = offspring(pid)
    for child in found:
        found += offspring(child)
        if len(found) > MANY:
            break
    return [each for each in found if living(each)]


def living(pid: int) -> int:
    """Return a thread of a process that lives, by which to look into it; 0 if none does.

    The first thread has the number of the process. When it has ended, others may go on, and the process seems dead.
    """
    state = _state(pid)
    if state not in ("Z", "X", ""):
        return pid
    with contextlib.suppress(OSError):
        for task in map(int, os.listdir(f"/proc/{pid}/task")):
            if _state(task) not in ("Z", "X", ""):
                return task
    return 0


def _fields(pid: int) -> list[str]:
    """Return what the kernel tells of a process from its state on (proc_pid_stat(5)), nothing if it is gone."""
    with contextlib.suppress(OSError):
        # The name before them may hold anything.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return []


def _state(pid: int) -> str:
    return (_fields(pid) or [""])[0]


def _parent(pid: int) -> int:
    fields = _fields(pid)
    return int(fields[1]) if fields else 0


def ticks(pid: int) -> int:
    """Return how much time of a processor a process has used, in ticks of the kernel's clock."""
    fields = _fields(pid)
    return int(fields[11]) + int(fields[12]) if fields else 0


class MappedFile(NamedTuple):
    """A file in no folder that a process has mapped."""

    device: int
    inode: int
    name: bytes


_MAPPED = re.compile(rb"[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+) +(.*) \(deleted\)", re.DOTALL)


def maps(pid: int) -> bytes:
    """Return what a process has mapped, as the kernel lists it, up to a little more than `LONGEST_MAPS` bytes."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            return file.read(LONGEST_MAPS + 1)
    except OSError:
        return b""


def mapped(lists: Iterable[bytes]) -> set[MappedFile]:
    """Return the files in no folder that processes have mapped, by their lists (`maps`).

    Memory that they share is one too, `ZERO`.
    """
    found = set()
    for line in (line for text in lists for line in text.split(b"\n")):
        if line.endswith(b" (deleted)") and (match := _MAPPED.fullmatch(line)):
            major, minor, inode, name = match.groups()
            found.add(MappedFile(os.makedev(int(major, 16), int(minor, 16)), int(inode), name))
    return found


def memory(pids: Iterable[int]) -> int:
    """Return the memory of processes in bytes, with pages that they share counted in parts.

    A process that does not let others look into it counts with all of its pages.
    """
    return sum(map(_pages, pids))


def unseen_memory(pids: Iterable[int], shown: Iterable[MappedFile]) -> int:
    """Return how many bytes processes may have where nothing tells how many they are: the most that there can be.

    They are on their way through sockets, or in memory that is shared and was unmapped but for a page (`shown`).
    """
    sockets = {socket for pid in pids for socket in _sockets(pid)}
    # A child has one for its connection, and one for its prompt perhaps.
    listening = _listening() & sockets if len(sockets) > FEW else set()
    waiting = LONGEST_QUEUE * len(listening)
    return (len(sockets) + waiting) * _socket_size() + LARGEST_SHARED * sum(each.name == ZERO for each in shown)


def _sockets(pid: int) -> set[int]:
    """List the sockets that a process has open, by their inodes."""
    found = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if match := re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{name}")):
                    found.add(int(match[1]))
    return found


def _listening() -> set[int]:
    """List the sockets at which connections may wait, by their inodes."""
    with contextlib.suppress(OSError):
        # A path may have line ends, so that a line may be anything.
        rows = _SOCKET_ROW.finditer(Path("/proc/net/unix").read_bytes())
        return {int(row[2]) for row in rows if int(row[1], 16) & _LISTENS}
    return set()


@cache
def _socket_size() -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/sys/net/core/wmem_default").read_text())
    return SOCKET


def _pages(pid: int) -> int:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
    except PermissionError:
        return _resident(pid)
    except OSError:
        return 0
    found = _PSS.search(rollup)
    return int(found[1]) * 1024 if found else 0


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def hidden(pid: int) -> bool:
    """Return whether a process does not let this one see which files it has open (a program that nobody may read)."""
    try:
        os.listdir(f"/proc/{pid}/fd")
    except PermissionError:
        # One that is about to end has no memory any more.
        return _resident(pid) > 0
    except OSError:
        return False
    return False


def stop(listed: Callable[[], Iterable[int]]) -> set[int]:
    """Stop processes until all that are listed are: those that are found first may start others. Returns them."""
    stopped: set[int] = set()
    patience = time.monotonic() + PATIENCE
    while (fresh := set(listed()) - stopped) and time.monotonic() < patience:
        send(fresh, signal.SIGSTOP)
        stopped |= fresh
        # A call of the kernel that had begun comes to its end.
        until = time.monotonic() + _SOON
        while any(_state(pid) in ("R", "D") for pid in fresh) and time.monotonic() < until:
            time.sleep(_PAUSE)
    return stopped


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes, as far as they are still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_left_over(own: Collection[int], patience: float) -> bool:
    """End all processes that this one has below it, but for those in `own`, which it has started itself.

    Returns whether none is left; after `patience` seconds it gives up. This process must be a subreaper with one
    thread. No entry leaves the list of its children before it is waited for here, so an empty list is no chance.
    """

    def left() -> list[int]:
        return [pid for pid in offspring(os.getpid()) if pid not in own]

    def all_left() -> list[int]:
        found = left()
        return [*found, *(below for pid in found for below in descendants(pid))]

    until = time.monotonic() + patience
    while left():
        # Killing alone loses against a fork bomb.
        send(stop(all_left), signal.SIGKILL)
        for pid in left():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if left():
            if time.monotonic() > until:
                return False
            time.sleep(_PAUSE)
    return True
