"""Files of tensors, built by hand, so that their headers can say anything."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from attn_tutor.lessons.programs.worker.tensor_files.array_headers import NPY_MAGIC


def npy(description: object, shape: tuple[int, ...], data: bytes, *, fortran: bool = False, version: int = 1) -> bytes:
    """Return an array as numpy saves it."""
    header = repr({"descr": description, "fortran_order": fortran, "shape": shape}).encode()
    header += b" " * (-(len(header) + 13) % 64) + b"\n"
    return NPY_MAGIC + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data


def safetensors(entries: dict[str, Any], data: bytes) -> bytes:
    """Return a file of safetensors with this header."""
    header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header + data


def larger_than_memory(folder: Path) -> tuple[Path, int, int]:
    """Make a file of one matrix `w` of 40 GB: 1.5, -2.5, then zeros that take no room. Returns its rows and columns."""
    rows, columns = 200_000, 50_000
    size = rows * columns * 4
    entries = {"w": {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, size]}}
    path = folder / "large.safetensors"
    path.write_bytes(safetensors(entries, struct.pack("<2f", 1.5, -2.5)))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 8 + size)
    return path, rows, columns
