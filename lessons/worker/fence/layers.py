"""Which layers of protection this host has, and how a worker puts them on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from attn_tutor.lessons.worker.fence import landlock, shared_memory, system_calls


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
    return Layers(landlock.version(), system_calls.works(), shared_memory.works())


def enclose() -> Path | None:
    """Put the layers that work on this host around this process, for good, and around all that it will start.

    Must be called while the process has one thread; a child then adds Landlock around its own scratch folder. Returns
    the folder for shared memory that is the worker's own, None if there is none.
    """
    shared = shared_memory.works() and shared_memory.separate()
    if system_calls.works():
        # Last, since it refuses mounts too.
        system_calls.confine()
    return shared_memory.FOLDER if shared else None
