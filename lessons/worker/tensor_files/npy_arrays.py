"""The header of an array as numpy saves it (`.npy`), read without numpy: it is a Python literal, never evaluated."""

from __future__ import annotations

import ast
import math
import struct
from collections.abc import Callable

import torch

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.tensor_files.stored_tensor import StoredTensor, UnreadableFile, row_major

say = Wording("worker/npy-arrays")

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1 << 16
"""Bytes of a header; numpy itself reads 10000 of one that it does not trust."""

DTYPES = {
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


def read_header(name: str, read: Callable[[int], bytes], start: int | None) -> tuple[StoredTensor, int]:
    """Return the array that begins here, and the bytes that its header takes.

    `read` returns the next bytes of the file; `start` is the position of the first, None if they are compressed.
    Raises `UnreadableFile`.
    """
    head = read(8)
    if head[:6] != MAGIC or len(head) < 8:
        raise UnreadableFile(say("no-array", "It is no array of numpy."))
    form = {1: "<H", 2: "<I", 3: "<I"}.get(head[6])
    if form is None:
        raise UnreadableFile(say("version", "It is written in version {version} of the format.", version=head[6]))
    packed = read(struct.calcsize(form))
    if len(packed) < struct.calcsize(form):
        raise UnreadableFile(_cut_off())
    (length,) = struct.unpack(form, packed)
    if length > LONGEST_HEADER:
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
    dtype = DTYPES.get(kind)
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
