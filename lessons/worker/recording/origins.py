"""Which storages came from files or from the processes of a data loader, so that a number can say where it was read."""

from __future__ import annotations

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from attn_tutor.lessons.texts.wording import Wording

say = Wording("explaining/file-origins")

_READ: dict[int, tuple[torch.UntypedStorage, str, int | None]] = {}
"""The storages by identity, which are kept so that no other can take their place."""


def note_file(tensor: torch.Tensor, path: str, start: int | None) -> None:
    """Note that the storage of a tensor holds a file's bytes from `start` on, None if they were compressed."""
    memory = tensor.untyped_storage()
    _READ[memory._cdata] = memory, path, start


def file_sentence(storage: int, offset: int) -> str:
    """Return where the number at an offset of a storage was read; "" if it was not read from a file."""
    if storage not in _READ:
        return ""
    _, path, start = _READ[storage]
    if start is None:
        return say("compressed", "Read from {path}, where it is compressed.", path=path)
    return say("byte", "Read from {path}, byte offset {offset}.", path=path, offset=start + offset)


_LOADED: dict[int, StorageWeakRef] = {}
"""By identity. A weak reference keeps no numbers, but no other storage takes its place."""


def note_loaded(storage: torch.UntypedStorage) -> None:
    """Note that a storage came from a process of a data loader."""
    _LOADED[storage._cdata] = StorageWeakRef(storage)


def is_loaded(storage: int) -> bool:
    """Return whether a storage came from a process of a data loader."""
    return storage in _LOADED


def loaded_sentence() -> str:
    """Say where the numbers of such a storage came from."""
    return say("loaded", "It came from a process of a data loader. What is computed there is not recorded.")
