"""Files of tensors, built by hand, so that their headers can say anything."""

from __future__ import annotations

import json
import struct
from typing import Any

from lessons.worker.programs.npy_arrays import MAGIC


def npy(description: object, shape: tuple[int, ...], data: bytes, *, fortran: bool = False, version: int = 1) -> bytes:
    """Return an array as numpy saves it."""
    header = repr({"descr": description, "fortran_order": fortran, "shape": shape}).encode()
    header += b" " * (-(len(header) + 13) % 64) + b"\n"
    return MAGIC + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data


def safetensors(entries: dict[str, Any], data: bytes) -> bytes:
    """Return a file of safetensors with this header."""
    header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header + data
