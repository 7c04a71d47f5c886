"""Which storages came from the processes of a data loader, so that a number can say so."""

from __future__ import annotations

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from attn_tutor.lessons.texts.wording import Wording

say = Wording("explaining/loader-origins")

_LOADED: dict[int, StorageWeakRef] = {}
"""By identity. A weak reference keeps no numbers, but no other storage takes its place."""


def note(storage: torch.UntypedStorage) -> None:
    """Note that a storage came from a process of a data loader."""
    _LOADED[storage._cdata] = StorageWeakRef(storage)


def is_loaded(storage: int) -> bool:
    """Return whether a storage came from a process of a data loader."""
    return storage in _LOADED


def sentence() -> str:
    """Say where the numbers of such a storage came from."""
    return say("loaded", "It came from a process of a data loader. What is computed there is not recorded.")
