"""Files of tensors: which tensors a file holds, and any of them without reading the file as a whole.

The formats are told apart by their first bytes. A file is mapped into memory, so that only those of its pages are read
that somebody looks at, and so that a tensor may be larger than the memory. What a program writes to such a tensor stays
in its own process: the file never changes. No code that a file contains or names is run.
"""

from __future__ import annotations

import io
import mmap
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch.utils._python_dispatch import _disable_current_modes

from attn_tutor.lessons.files import NotRegular, open_regular
from attn_tutor.lessons.programs.worker.tensor_files import array_headers, checkpoint_outline
from attn_tutor.lessons.programs.worker.tensor_files.stored_tensor import (
    Archive,
    Member,
    StoredTensor,
    UnreadableFile,
    checked,
)
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording import origins

say = Wording("worker/tensor-files")

NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
"""Has the kernel set no memory aside for pages that a program might change; Python names it from 3.13 on."""

ONLY = "tensor"
"""The name of the only tensor of a file that gives it none."""


class TensorFile(Mapping[str, torch.Tensor]):
    """The tensors of a file by name. Raises `UnreadableFile` for a file, or a tensor, that cannot be read.

    Attributes:
        path: the file.
        kind: its format.
        size: its bytes.
        stored: its tensors as they lie in the file, in its order.
        others: the names and descriptions of what else it holds.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._data = _mapped(path)
        self.size = len(self._data)
        self._storages: dict[tuple[int | None, int, str], torch.Tensor] = {}
        self.others: list[tuple[str, str]] = []
        try:
            self.kind, found = self._read()
        except UnreadableFile as error:
            raise UnreadableFile(say("unreadable", "{path} cannot be shown. {why}", path=path, why=error)) from None
        except MemoryError:
            why = say("no-memory", "What it says of its tensors does not fit into memory.")
            raise UnreadableFile(say("unreadable", "{path} cannot be shown. {why}", path=path, why=why)) from None
        self.stored = {tensor.name: checked(tensor, self.size) for tensor in found}

    def __getitem__(self, name: str) -> torch.Tensor:
        stored = self.stored[name]
        if stored.problem or stored.dtype is None:
            raise UnreadableFile(
                say(
                    "no-tensor",
                    "{name} in {path} cannot be shown. {why}",
                    name=name,
                    path=self.path,
                    why=stored.problem,
                )
            )
        # The numbers come from outside of the program: that they are laid out is no operation of it.
        with _disable_current_modes():
            return self._tensor(stored, stored.dtype)

    def __contains__(self, name: object) -> bool:
        # Not by trying, as a mapping does otherwise: a tensor that cannot be read is in the file all the same.
        return name in self.stored

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)

    def __repr__(self) -> str:
        return f"open_tensors({self.path!r})"

    def _tensor(self, stored: StoredTensor, dtype: torch.dtype) -> torch.Tensor:
        if 0 in stored.shape:
            return torch.empty(stored.shape, dtype=dtype)
        key = stored.start, stored.length, "" if stored.start is not None else stored.name
        if key not in self._storages:
            self._storages[key] = self._storage(stored, dtype)
        return self._storages[key].view(dtype).as_strided(stored.shape, stored.strides, stored.offset)

    def _storage(self, stored: StoredTensor, dtype: torch.dtype) -> torch.Tensor:
        """Return the bytes of a storage, of which tensors may be views; a last part of a number is left out."""
        count = stored.length - stored.length % dtype.itemsize
        if stored.start is not None:
            data = torch.frombuffer(self._data, dtype=torch.uint8, count=count, offset=stored.start)
        else:
            assert stored.read is not None
            read = stored.read()
            if len(read) < count:
                raise UnreadableFile(say("cut-off", "The numbers of {name} end too early.", name=stored.name))
            data = torch.frombuffer(bytearray(read), dtype=torch.uint8, count=count)
        if stored.swapped:
            size = dtype.to_real().itemsize if dtype.is_complex else dtype.itemsize
            data = data.view(-1, size).flip(1).reshape(-1)
        origins.note_file(data, self.path, stored.start)
        return data

    def _read(self) -> tuple[str, list[StoredTensor]]:
        """Return the format and the tensors. Raises `UnreadableFile`."""
        data = memoryview(self._data)
        head = bytes(data[:16])
        if head.startswith(array_headers.NPY_MAGIC):
            return "npy", [
                array_headers.read_npy_header(ONLY, io.BytesIO(data[: array_headers.LONGEST_NPY_HEADER + 16]).read, 0)[
                    0
                ]
            ]
        if head.startswith(b"PK"):
            archive = Archive(self.path, data)
            if any(map(checkpoint_outline.is_pickle, archive.members)):
                tensors, self.others = checkpoint_outline.outline(archive)
                return "torch", tensors
            if any(name.endswith(".npy") for name in archive.members):
                return "npz", [_member(archive, member) for member in archive.members.values()]
            raise UnreadableFile(say("other-archive", "It is a zip archive, but none of tensors."))
        if len(head) == 16 and array_headers.is_safetensors(head, self.size):
            return "safetensors", array_headers.read_safetensors_header(data, self.size)
        raise UnreadableFile(_unknown(bytes(data[:MOST_OF_INDEX])))


def open_tensors(path: str | os.PathLike[str]) -> TensorFile:
    """Open a file of tensors: `.safetensors`, `.pt`, `.npy` or `.npz`. Raises `UnreadableFile`."""
    return TensorFile(os.fspath(path))


def _mapped(path: str) -> mmap.mmap:
    """Return the bytes of a file, none of which is read before somebody looks at it. Raises `UnreadableFile`."""
    try:
        opened = open_regular(path)
    except NotRegular:
        raise UnreadableFile(say("no-file", "{path} is no ordinary file.", path=path)) from None
    except OSError as error:
        raise UnreadableFile(say("no-access", "{path}: {reason}.", path=path, reason=error.strerror)) from None
    except ValueError:
        raise UnreadableFile(say("no-path", "{path} is no name of a file.", path=repr(path))) from None
    fd = opened.fileno()
    try:
        size = os.fstat(fd).st_size
        if not size:
            raise UnreadableFile(say("empty", "{path} is empty.", path=path))
        try:
            return mmap.mmap(fd, size, mmap.MAP_PRIVATE | NO_RESERVE, mmap.PROT_READ | mmap.PROT_WRITE)
        except OSError:
            # Where the kernel sets memory aside all the same, tensors cannot be written to.
            return mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ)
    except OSError as error:
        raise UnreadableFile(say("no-access", "{path}: {reason}.", path=path, reason=error.strerror)) from None
    finally:
        opened.close()


def _member(archive: Archive, member: Member) -> StoredTensor:
    """Return the array in a member of an `.npz`, with its problem if it is none."""
    name = member.name.removesuffix(".npy")
    head = io.BytesIO(archive.read(member, array_headers.LONGEST_NPY_HEADER + 16))
    try:
        array, skip = array_headers.read_npy_header(name, head.read, member.start)
    except UnreadableFile as error:
        return StoredTensor(name, (), None, problem=str(error))
    if array.start is None:
        return replace(array, read=lambda: archive.read(member, array.length, skip))
    return array


MOST_OF_INDEX = 4096
"""Bytes in which an index of files says that it is one: its metadata are small."""


def _unknown(head: bytes) -> str:
    """Say what a file is that is none of tensors, if its first bytes tell."""
    if head[:1] == b"\x80":
        return say(
            "old-checkpoint",
            "It is a pickle, perhaps a checkpoint of PyTorch before 1.6. To read one runs what is in it. If you trust "
            "the file, load it with torch.load and save it again with torch.save.",
        )
    if head.startswith((b"\x89HDF", b"GGUF")):
        return say(
            "other-format", "It is a file of {kind}. Convert it to safetensors.", kind=head[:4].strip(b"\x89").decode()
        )
    if head.lstrip()[:1] == b"{" and b'"weight_map"' in head:
        return say(
            "index", "It is an index, which says which files hold the tensors of a model. Show one of those files."
        )
    return say("unknown", "It is no file of tensors that this tutor reads: .safetensors, .pt, .npy or .npz.")
