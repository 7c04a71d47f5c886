"""Files of tensors, as the screen's side sees them: a list, and any tensor that is asked for.

A child of the worker reads the file, so that one which is damaged, or made to do harm, can at most end that child.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.engine.launching.launchers import ChildProcess
from attn_tutor.lessons.engine.running_program import with_room_for
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Limits
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.tensor_file import TensorList, TensorStatistics
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.program_messages import (
    ReadTensorFile,
    ShowStoredTensor,
    StoredTensorReport,
    TensorFileReport,
)

say = Wording("engine/stored-tensors")

SECONDS = 20.0
"""The longest time that a file may take to be listed, or the numbers of a tensor besides its statistics."""
LIMITS = Limits(cpu=2 * SECONDS, wall=SECONDS, memory=1024)

Report = TypeVar("Report")


class UnreadableTensors(Exception):
    """A file of tensors, or one of them, that cannot be read. The message is a sentence for people."""


class StoredTensors:
    """An open file of tensors: what it holds, and a child that reads it."""

    def __init__(self, path: Path, job: ChildProcess, found: TensorList) -> None:
        self.found = found
        self._path, self._job = path, job

    def show(self, name: str, seconds: float) -> tuple[Tensor, TensorStatistics]:
        """Return a tensor, of a large one the corner, and statistics that take so many seconds at most.

        Raises `UnreadableTensors`.
        """
        report = _asked(self._job, self._path, ShowStoredTensor(name, seconds), StoredTensorReport, SECONDS + seconds)
        return replies.corner_of(name, report.tensor, report.blob), report.statistics


@contextmanager
def opened(session: Session, path: Path) -> Iterator[StoredTensors]:
    """Provide the tensors of a file. Raises `UnreadableTensors`; `WorkerError` if the worker cannot run anything."""
    path = path.absolute()
    with session.start_child(with_room_for(path, LIMITS)) as job:
        report = _asked(job, path, ReadTensorFile(str(path)), TensorFileReport, SECONDS)
        yield StoredTensors(path, job, _cleaned(report.found))


def _cleaned(found: TensorList) -> TensorList:
    return replace(found, others=tuple((clean(name, keep=""), clean(text, keep="")) for name, text in found.others))


def _asked(job: ChildProcess, path: Path, question: object, kind: type[Report], seconds: float) -> Report:
    try:
        channel.send(job.talk, question)
        reply = channel.receive(job.talk, kind, Refusal, deadline=time.monotonic() + seconds)
    except TimeoutError:
        raise UnreadableTensors(
            say("slow", "{path} was not read within {seconds:g} seconds.", path=path, seconds=seconds)
        ) from None
    except wire.WireError:
        raise UnreadableTensors(
            say("ended", "The process that read {path} ended. The file may be damaged.", path=path)
        ) from None
    if isinstance(reply, Refusal):
        raise UnreadableTensors(clean(reply.reason, keep=""))
    return reply
