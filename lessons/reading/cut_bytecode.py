"""Compiled files that Python has cut short, because the disk was full when it wrote them.

Before 3.12.8 and 3.13.1, Python takes the part of a file that it could write for all of it, and from then on each
import of that module fails, also when there is room again.
"""

from __future__ import annotations

import errno
import marshal
import os
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER

BLOCK = 512
"""A full disk takes whole blocks of a file, of at least this size, so only files of such a length are looked into."""

HEADER = 16

_read = SourceFileLoader.get_data


def ignore() -> None:
    """Have this process compile a module again whose compiled file was cut short, and write that file anew."""
    setattr(SourceFileLoader, "get_data", _read_whole)  # noqa: B010 (mypy allows no other way)


def _read_whole(loader: SourceFileLoader, path: str) -> bytes:
    """Return what is in a file; for a compiled one that was cut short, raise what Python takes for one that is gone."""
    data = _read(loader, path)
    if len(data) % BLOCK == 0 and data.startswith(MAGIC_NUMBER) and not _is_whole(data):
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)
    return data


def _is_whole(data: bytes) -> bool:
    try:
        marshal.loads(memoryview(data)[HEADER:])
    except (EOFError, ValueError, TypeError):
        return False
    return True
