"""The headers of files that hold arrays: of numpy (`.npy`), and of safetensors.

That of numpy is a Python literal, never evaluated, and read without numpy. That of safetensors has its length in 8
bytes, then JSON with the type, shape and bytes of each tensor.
"""

from __future__ import annotations

import ast
import json
import math
import struct
from collections.abc import Callable

import torch

from attn_tutor.lessons.programs.worker.tensor_files.stored_tensor import StoredTensor, UnreadableFile, row_major
from attn_tutor.lessons.texts.wording import Wording

say = Wording("worker/npy-arrays")

NPY_MAGIC = b"\x93NUMPY"
LONGEST_NPY_HEADER = 1 << 16
"""Bytes of a header; numpy itself reads 10000 of one that it does not trust."""

NPY_DTYPES = {
    "f2": torch.float16,
    "f4": torch.float32,
    "f8": torch.float64,
    "i1": torch.int8,
    "i2": torch.int16,
    "i4": torch.int32,
    "i8": torch.int64,
    "u1": torch.uint8,
    "u2": torch.uint16,
    "u4": torch.uint32,
    "u8": torch.uint64,
    "b1": torch.bool,
    "c8": torch.complex64,
    "c16": torch.complex128,
}
"""The types of numpy that PyTorch has, without the order of bytes."""

KINDS = ("O", "S", "U", "V", "M", "m")
"""The kinds of arrays that hold no numbers."""


def read_npy_header(name: str, read: Callable[[int], bytes], start: int | None) -> tuple[StoredTensor, int]:
    """Return the array that begins here, and the bytes that its header takes.

    `read` returns the next bytes of the file; `start` is the position of the first, None if they are compressed.
    Raises `UnreadableFile`.
    """
    head = read(8)
    if head[:6] != NPY_MAGIC or len(head) < 8:
        raise UnreadableFile(say("no-array", "It is no array of numpy."))
    form = {1: "<H", 2: "<I", 3: "<I"}.get(head[6])
    if form is None:
        raise UnreadableFile(say("version", "It is written in version {version} of the format.", version=head[6]))
    packed = read(struct.calcsize(form))
    if len(packed) < struct.calcsize(form):
        raise UnreadableFile(_cut_off())
    (length,) = struct.unpack(form, packed)
    if length > LONGEST_NPY_HEADER:
        raise UnreadableFile(say("long-header", "Its header has {length} bytes.", length=length))
    text = read(length)
    if len(text) < length:
        raise UnreadableFile(_cut_off())
    size = 8 + len(packed) + length
    description, fortran, shape = _fields(text.decode("utf-8" if head[6] == 3 else "latin-1", "replace"))
    return _array(name, description, fortran, shape, None if start is None else start + size), size


def _cut_off() -> str:
    return say("cut-off", "It ends within its header.")


def _fields(text: str) -> tuple[object, bool, tuple[int, ...]]:
    """Return the type, whether columns lie one after the other, and the shape. Raises `UnreadableFile`."""
    try:
        fields = ast.literal_eval(text.strip())
        description, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        fields = description = fortran = shape = None
    if (
        not isinstance(fields, dict)
        or type(fortran) is not bool
        or not isinstance(shape, tuple)
        or not all(type(one) is int and one >= 0 for one in shape)
    ):
        raise UnreadableFile(say("header", "Its header does not say which array it is."))
    return description, fortran, shape


def _array(name: str, description: object, fortran: bool, shape: tuple[int, ...], start: int | None) -> StoredTensor:
    text = description if isinstance(description, str) else "V"
    order, kind = (text[0], text[1:]) if text[:1] in ("<", ">", "|", "=") else ("|", text)
    dtype = NPY_DTYPES.get(kind)
    strides = row_major(shape[::-1])[::-1] if fortran else row_major(shape)
    length = math.prod(shape) * (dtype.itemsize if dtype is not None else 0)
    swapped = order == ">" and dtype is not None and dtype.itemsize > 1
    problem = ""
    if dtype is None and kind[:1] in KINDS:
        problem = say("no-numbers", "It holds {what} instead of numbers.", what=_words(kind[0]))
    return StoredTensor(
        name, shape, dtype, start, length, strides, type_name=text[:40], swapped=swapped, problem=problem
    )


def _words(kind: str) -> str:
    match kind:
        case "O":
            return say("objects", "Python objects")
        case "S" | "U":
            return say("texts", "texts")
        case "V":
            return say("records", "records")
    return say("times", "times")


SAFETENSORS_LENGTH = 8
LONGEST_SAFETENSORS_HEADER = 100_000_000
"""Bytes of a header, a limit of the format."""

SAFETENSORS_DTYPES = {
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


def is_safetensors(head: bytes, size: int) -> bool:
    """Return whether a file of so many bytes that begins with these is one of safetensors."""
    return (
        head[SAFETENSORS_LENGTH : SAFETENSORS_LENGTH + 1] == b"{"
        and 2 <= struct.unpack("<Q", head[:SAFETENSORS_LENGTH])[0] <= size - SAFETENSORS_LENGTH
    )


def read_safetensors_header(data: memoryview, size: int) -> list[StoredTensor]:
    """Return the tensors of a file, in the order of their bytes. Raises `UnreadableFile`."""
    (length,) = struct.unpack("<Q", data[:SAFETENSORS_LENGTH])
    if length > LONGEST_SAFETENSORS_HEADER:
        raise UnreadableFile(say("long-header", "Its header has {length} bytes.", length=length))
    try:
        header = json.loads(
            bytes(data[SAFETENSORS_LENGTH : SAFETENSORS_LENGTH + length]), object_pairs_hook=_without_twins
        )
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise UnreadableFile(say("safetensors-header", "Its header is no JSON that describes tensors."))
    first = SAFETENSORS_LENGTH + length
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
    dtype, sizes = SAFETENSORS_DTYPES.get(type_name), tuple(shape)
    strides = row_major(sizes) if len(sizes) < 100 else ()
    return StoredTensor(name, sizes, dtype, first + begin, end - begin, strides, type_name=type_name)
