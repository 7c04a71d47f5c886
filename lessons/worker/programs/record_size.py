"""How much memory the record of a program of one's own may take."""

from __future__ import annotations

import os
import re
from pathlib import Path

LEAST, MOST = 256 << 20, 2 << 30
"""Bytes that a record may keep at least and at most, whatever is free."""

PART = 4
"""A record keeps up to this part of the free memory: the program needs more, and a what-if runs it once more."""

_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


def record_size(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the bytes of tensors that a record may keep alive, by the memory that is free now."""
    return max(LEAST, min(MOST, _free(meminfo) // PART))


def _free(meminfo: Path) -> int:
    try:
        if found := _AVAILABLE.search(meminfo.read_text()):
            return int(found[1]) << 10
    except OSError:
        pass
    # Where the system does not say what it could free, half of all memory.
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
