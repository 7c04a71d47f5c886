"""The members of a zip archive by where their bytes lie in the file, so that they can be mapped instead of read."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.tensor_files.stored_tensor import UnreadableFile

say = Wording("worker/zip-members")

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
