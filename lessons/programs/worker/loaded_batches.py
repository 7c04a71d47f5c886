"""What a data loader gets from its processes, as copies: as it comes, each tensor keeps a file open.

A record keeps the batches of a training, so a program would soon have more files open than it may: 64 while limits
hold. The processes themselves are copies of the program with its recorder, which would keep the batches there too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from torch.multiprocessing import reductions
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.data._utils import worker
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter as LoaderWithProcesses

from attn_tutor.lessons.worker.recording import origins

_copies: ContextVar[dict[int, tuple[Any, Any]] | None] = ContextVar("_copies", default=None)
"""Each storage of the batch that is received at the moment, with its copy, by its address; None in between."""


@contextmanager
def copied() -> Iterator[None]:
    """Let data loaders copy what their processes send them, and record nothing there. The numbers are the same."""
    rebuild: Callable[..., Any] = reductions.rebuild_storage_fd
    receive: Callable[..., Any] = LoaderWithProcesses._try_get_data
    loop: Callable[..., None] = worker._worker_loop

    # Under the name of the original, by which the messages of processes call it.
    @functools.wraps(rebuild)
    def rebuilt(*args: Any) -> Any:
        storage, copies = rebuild(*args), _copies.get()
        return storage if copies is None else _copy(storage, copies)

    @functools.wraps(receive)
    def received(*args: Any, **kwargs: Any) -> Any:
        before = _copies.set({})
        try:
            return receive(*args, **kwargs)
        finally:
            _copies.reset(before)

    @functools.wraps(loop)
    def unrecorded(*args: Any, **kwargs: Any) -> None:
        with _disable_current_modes():
            loop(*args, **kwargs)

    patches: list[tuple[Any, Callable[..., Any], Callable[..., Any]]] = [
        (reductions, rebuild, rebuilt),
        (LoaderWithProcesses, receive, received),
        (worker, loop, unrecorded),
    ]
    for owner, original, patch in patches:
        setattr(owner, original.__name__, patch)
    try:
        yield
    finally:
        for owner, original, _ in patches:
            setattr(owner, original.__name__, original)


def _copy(storage: Any, copies: dict[int, tuple[Any, Any]]) -> Any:
    """Return the copy of a storage. Two tensors of a batch that share a storage go on to do so."""
    if storage._cdata not in copies:
        with _disable_current_modes():
            copies[storage._cdata] = storage, storage.clone()
        origins.note_loaded(copies[storage._cdata][1])
    return copies[storage._cdata][1]
