"""A tensor as a file describes it, and how its numbers are reached without reading the file.

What is in a zip archive is found by where its bytes lie in the file, so that it can be mapped instead of read.
"""

from __future__ import annotations

import math
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch

from attn_tutor.lessons.results.result import MOST_AXES
from attn_tutor.lessons.texts.wording import Wording

say = Wording("worker/tensor-files")

LARGEST = 1 << 62
"""Bytes beyond which sizes are not computed with."""
CONVERTED = 256 << 20
"""Bytes of a tensor up to which it is decompressed, or its bytes are put in order: both take memory."""


class UnreadableFile(Exception):
    """A file, or a tensor in it, that cannot be read. The message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor in a file.

    Attributes:
        name: what the file calls it.
        dtype: its type; of one that PyTorch lacks None, with the file's own word in `type_name`.
        start, length: the bytes of the file that its storage takes; `start` is None for compressed ones.
        strides, offset: where its elements lie in the storage, counted in elements.
        swapped: whether the most significant byte of a number comes first.
        read: returns the bytes of a compressed storage.
        problem: why it cannot be shown, in a sentence; "" if it can.
    """

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype | None
    start: int | None = 0
    length: int = 0
    strides: tuple[int, ...] = ()
    offset: int = 0
    type_name: str = ""
    swapped: bool = False
    read: Callable[[], bytes] | None = field(default=None, compare=False)
    problem: str = ""

    @property
    def type_text(self) -> str:
        """Its type as PyTorch calls it, or else the file."""
        return str(self.dtype).removeprefix("torch.") if self.dtype is not None else self.type_name

    @property
    def first_byte(self) -> int | None:
        """The byte of the file at which its first number begins; None for a compressed tensor."""
        if self.start is None or self.dtype is None:
            return self.start
        return self.start + self.offset * self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes that its numbers take together."""
        return math.prod(self.shape) * self.dtype.itemsize if self.dtype is not None else self.length


def checked(tensor: StoredTensor, size: int) -> StoredTensor:
    """Return a tensor of a file of so many bytes with its `problem`, if it says of itself what cannot be."""
    return replace(tensor, problem=tensor.problem or _problem(tensor, size))


def _problem(tensor: StoredTensor, size: int) -> str:
    if tensor.dtype is None:
        return say("no-such-type", "PyTorch has no numbers of its type, {type}.", type=tensor.type_name[:80])
    if len(tensor.shape) > MOST_AXES:
        return say(
            "many-axes", "It has {count} axes, {most} at most can be shown.", count=len(tensor.shape), most=MOST_AXES
        )
    sizes = (*tensor.shape, *tensor.strides, tensor.offset, tensor.length)
    if not all(0 <= number < LARGEST for number in sizes) or (
        math.prod(max(1, one) for one in tensor.shape) >= LARGEST // 16
    ):
        return say("impossible-sizes", "Its sizes cannot be right.")
    if tensor.start is not None and not 0 <= tensor.start <= tensor.start + tensor.length <= size:
        return say("beyond-end", "Its numbers would lie beyond the end of the file, which may have been cut off.")
    if math.prod(tensor.shape):
        steps = zip(tensor.shape, tensor.strides, strict=True)
        last = tensor.offset + sum((count - 1) * step for count, step in steps)
        if (last + 1) * tensor.dtype.itemsize > tensor.length:
            return say("too-few-bytes", "Its shape needs more numbers than the file has for it.")
    if (tensor.swapped or tensor.start is None) and tensor.length > CONVERTED:
        most = CONVERTED >> 20
        if tensor.start is None:
            return say(
                "compressed", "It is compressed, and too large to be read as a whole ({most} MiB at most).", most=most
            )
        return say(
            "swapped",
            "Its numbers begin with the most significant byte, and it is too large to turn them around ({most} MiB at "
            "most).",
            most=most,
        )
    return ""


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a tensor whose rows lie one after the other."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(1, size)
    return tuple(reversed(strides))


MOST_MEMBERS = 1_000_000
LOCAL = struct.Struct("<4s22xHH")
"""What stands before the bytes of a member: a mark, and at its end the lengths of its name and of more fields."""
ENCRYPTED = 1


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an archive. `start` is the position of its first byte, None if it is compressed."""

    name: str
    info: zipfile.ZipInfo
    start: int | None

    @property
    def size(self) -> int:
        """The bytes that it has when it is not compressed, as the archive says."""
        return self.info.file_size


class Archive:
    """A zip archive in the bytes of a mapped file."""

    def __init__(self, path: str, data: memoryview) -> None:
        self._data = data
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error):
            raise _damaged() from None
        entries = self._zip.infolist()
        if len(entries) > MOST_MEMBERS:
            raise UnreadableFile(say("many-members", "It is an archive of {count} files.", count=len(entries)))
        self.members = {info.filename: self._member(info) for info in entries}

    def _member(self, info: zipfile.ZipInfo) -> Member:
        if info.flag_bits & ENCRYPTED:
            raise UnreadableFile(say("encrypted", "It is encrypted."))
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            return Member(info.filename, info, None)
        here = info.header_offset
        if not 0 <= here <= len(self._data) - LOCAL.size:
            raise _damaged()
        mark, name, more = LOCAL.unpack(self._data[here : here + LOCAL.size])
        if mark != b"PK\x03\x04":
            raise _damaged()
        return Member(info.filename, info, here + LOCAL.size + name + more)

    def read(self, member: Member, most: int, skip: int = 0) -> bytes:
        """Return up to `most` bytes of a member after the first ones. Raises `UnreadableFile`."""
        if member.start is not None:
            end = min(member.start + member.size, member.start + skip + most)
            return bytes(self._data[member.start + skip : end])
        try:
            with self._zip.open(member.info) as opened:
                opened.read(skip)
                return opened.read(most)
        except Exception:
            # Damaged data raise whatever the method of compression raises.
            raise UnreadableFile(
                say("member", "'{name}' in it cannot be decompressed.", name=member.name[:80])
            ) from None


def _damaged() -> UnreadableFile:
    return UnreadableFile(say("damaged", "It begins like a zip archive, and its end is missing or damaged."))
