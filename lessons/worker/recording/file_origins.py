"""Which storages hold bytes of files, and from which byte on, so that a number can say where it was read."""

from __future__ import annotations

import torch

from attn_tutor.lessons.texts.wording import Wording

say = Wording("explaining/file-origins")

_ORIGINS: dict[int, tuple[torch.UntypedStorage, str, int | None]] = {}
"""The storages by identity, which are kept so that no other can take their place."""


def note(tensor: torch.Tensor, path: str, start: int | None) -> None:
    """Note that the storage of a tensor holds a file's bytes from `start` on, None if they were compressed."""
    memory = tensor.untyped_storage()
    _ORIGINS[memory._cdata] = memory, path, start


def sentence(storage: int, offset: int) -> str:
    """Return where the number at an offset of a storage was read; "" if it was not read from a file."""
    if storage not in _ORIGINS:
        return ""
    _, path, start = _ORIGINS[storage]
    if start is None:
        return say("compressed", "Read from {path}, where it is compressed.", path=path)
    return say("byte", "Read from {path}, byte offset {offset}.", path=path, offset=start + offset)
