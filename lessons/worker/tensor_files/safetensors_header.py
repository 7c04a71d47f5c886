"""The header of a safetensors file: its length in 8 bytes, then JSON with the type, shape and bytes of each tensor."""

from __future__ import annotations

import json
import struct

import torch

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.tensor_files.stored_tensor import StoredTensor, UnreadableFile, row_major

say = Wording("worker/safetensors")

LENGTH = 8
LONGEST_HEADER = 100_000_000
"""Bytes of a header, a limit of the format."""

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U64": torch.uint64,
    "U32": torch.uint32,
    "U16": torch.uint16,
    "U8": torch.uint8,
    "BOOL": torch.bool,
    "C64": torch.complex64,
}
"""The types of the format that every version of PyTorch has."""


def looks_like(head: bytes, size: int) -> bool:
    """Return whether a file of so many bytes that begins with these is one of safetensors."""
    return head[LENGTH : LENGTH + 1] == b"{" and 2 <= struct.unpack("<Q", head[:LENGTH])[0] <= size - LENGTH


def read_header(data: memoryview, size: int) -> list[StoredTensor]:
    """Return the tensors of a file, in the order of their bytes. Raises `UnreadableFile`."""
    (length,) = struct.unpack("<Q", data[:LENGTH])
    if length > LONGEST_HEADER:
        raise UnreadableFile(say("long-header", "Its header has {length} bytes.", length=length))
    try:
        header = json.loads(bytes(data[LENGTH : LENGTH + length]), object_pairs_hook=_without_twins)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise UnreadableFile(say("header", "Its header is no JSON that describes tensors."))
    first = LENGTH + length
    found = [_tensor(name, entry, first) for name, entry in header.items() if name != "__metadata__"]
    found.sort(key=lambda tensor: (tensor.start or 0, tensor.length))
    end = first
    for tensor in found:
        assert tensor.start is not None
        if tensor.start < end and tensor.length:
            raise UnreadableFile(
                say("overlap", "The bytes of '{name}' belong to another tensor too.", name=tensor.name)
            )
        end = max(end, tensor.start + tensor.length)
    return found


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _tensor(name: str, entry: object, first: int) -> StoredTensor:
    try:
        type_name, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]  # type: ignore[index]
        fits = isinstance(type_name, str) and all(type(one) is int and one >= 0 for one in (*shape, begin, end))
        fits = fits and isinstance(shape, list) and begin <= end
    except (TypeError, ValueError, KeyError):
        fits = False
    if not fits:
        raise UnreadableFile(say("entry", "Its header does not say where '{name}' lies.", name=name[:80]))
    dtype, sizes = DTYPES.get(type_name), tuple(shape)
    strides = row_major(sizes) if len(sizes) < 100 else ()
    return StoredTensor(name, sizes, dtype, first + begin, end - begin, strides, type_name=type_name)
