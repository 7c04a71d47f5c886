"""What a data loader gets from its processes does not keep files open, however long a record keeps it."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils.data import DataLoader

from attn_tutor.lessons.programs.worker import loaded_batches

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, tensors are not sent as open files")


def _pairs(rows: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    batch = torch.stack(rows)
    return batch, batch.T


def _loader() -> DataLoader[torch.Tensor]:
    rows = list(torch.arange(12.0).view(6, 2))
    return DataLoader(rows, batch_size=2, num_workers=1, collate_fn=_pairs, multiprocessing_context="fork")  # type: ignore[arg-type]


def test_batches_are_copies_whose_views_still_share_them() -> None:
    with loaded_batches.copied():
        batches = list(_loader())
    assert [batch.flatten().tolist() for batch, _ in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    for batch, turned in batches:
        assert not batch.is_shared()
        batch[0, 1] = -1
        assert turned[1, 0] == -1


def test_the_processes_of_a_loader_record_nothing() -> None:
    # Those who fork take the recorder along.
    seen = torch.zeros(1).share_memory_()

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if os.getpid() != process:
                with _disable_current_modes():
                    seen.add_(1)
            return func(*args, **(kwargs or {}))

    process = os.getpid()
    with loaded_batches.copied(), Noting():  # type: ignore[no-untyped-call]
        assert len(list(_loader())) == 3
    assert seen.item() == 0


def test_afterwards_they_come_as_before() -> None:
    with loaded_batches.copied():
        pass
    assert all(batch.is_shared() for batch, _ in _loader())
