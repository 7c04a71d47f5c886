"""A recorder that keeps what a program computes, to compare it, and forgets the operations."""

from __future__ import annotations

from typing import Any

import torch

from attn_tutor.lessons.worker.comparing.result_log import ResultLog
from attn_tutor.lessons.worker.comparing.traced_result import ResultTrace
from attn_tutor.lessons.worker.recording.event import Site
from attn_tutor.lessons.worker.recording.events import Noted
from attn_tutor.lessons.worker.recording.regions import Region
from attn_tutor.lessons.worker.recording.rolling_recorder import RollingRecorder

KEEP = 128 << 20
MOST = 10_000
"""Bytes and operations that the record holds, which nobody will ask about."""


class TracingRecorder(RollingRecorder):
    """Records a run of any length, and logs each result as soon as it is computed."""

    def __init__(self, keep: int = KEEP, most: int = MOST) -> None:
        super().__init__(keep=keep, most=most)
        self._log = ResultLog(self.record)
        self._observe = self._add

    def trace(self) -> ResultTrace:
        """Return the results. Not to be called while the recorder is entered."""
        with torch.no_grad():
            return self._log.finish(_present)

    def _add(self, noted: Noted, out: Any) -> None:
        with torch.no_grad():
            self._log.add(self.record.events[-1], _present)

    def _make_room(self, sites: tuple[Site, ...]) -> None:
        super()._make_room(sites)
        self._log.forget(self._storages)


def _present(region: Region) -> torch.Tensor | None:
    return region.tensor if region.memory.device.type == "cpu" else None
