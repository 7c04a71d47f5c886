"""The job that reads a file of tensors: it lists them, then shows those that it is asked about."""

from __future__ import annotations

import socket

from attn_tutor.lessons.results.result import MOST_AXES
from attn_tutor.lessons.results.tensor_file import ListedTensor, TensorList
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.fence import limits
from attn_tutor.lessons.worker.jobs import tensor_entries
from attn_tutor.lessons.worker.program_messages import (
    ReadTensorFile,
    ShowStoredTensor,
    StoredTensorReport,
    TensorFileReport,
)
from attn_tutor.lessons.worker.tensor_files import tensor_summary
from attn_tutor.lessons.worker.tensor_files.stored_tensor import StoredTensor, UnreadableFile
from attn_tutor.lessons.worker.tensor_files.tensor_files import TensorFile

say = Wording("worker/tensor-files")

MOST_TEXT = 400_000
"""Characters of a list, so that it fits into one message."""
COST = 100
"""Characters that an entry takes besides its name and its shape, about."""
LARGEST_NUMBER = 1 << 53
"""Numbers up to which JSON is read alike everywhere."""


def read_tensor_file(job: ReadTensorFile, talk: socket.socket) -> None:
    """Open a file, list its tensors, and show some of them, until the peer disconnects."""
    try:
        file = TensorFile(job.path)
    except UnreadableFile as error:
        channel.send(talk, Refusal(str(error)))
        return
    channel.send(talk, TensorFileReport(listed(file)))
    limits.allow_questions()
    while True:
        channel.send(talk, show(file, channel.receive(talk, ShowStoredTensor)))


def listed(file: TensorFile) -> TensorList:
    """List the tensors of a file, as many as fit into a message."""
    tensors: list[ListedTensor] = []
    others: list[tuple[str, str]] = []
    room = MOST_TEXT
    for stored in file.stored.values():
        room -= COST + len(stored.name) + 20 * min(len(stored.shape), MOST_AXES) + len(stored.problem)
        if room >= 0:
            tensors.append(_entry(stored))
    for other in file.others:
        room -= COST + len(other[0])
        if room >= 0:
            others.append(other)
    more = len(file.stored) - len(tensors), len(file.others) - len(others)
    return TensorList(file.kind, file.size, tuple(tensors), tuple(others), *more)


def _entry(stored: StoredTensor) -> ListedTensor:
    # Of a shape that cannot be, the numbers may have any length.
    possible = len(stored.shape) <= MOST_AXES and all(size <= LARGEST_NUMBER for size in stored.shape)
    shape = stored.shape if possible else ()
    nbytes = min(stored.nbytes, LARGEST_NUMBER) if possible else 0
    offset = stored.first_byte if not stored.problem else None
    return ListedTensor(stored.name, shape, stored.type_text, nbytes, offset, stored.problem)


def show(file: TensorFile, question: ShowStoredTensor) -> StoredTensorReport | Refusal:
    """Return the statistics of a tensor and its corner."""
    if question.name not in file.stored:
        return Refusal(say("no-name", "There is no such tensor in {path}.", path=file.path))
    try:
        tensor = file[question.name]
        statistics = tensor_summary.summarize(tensor, question.seconds)
        name, corner = question.name, tensor
        if tensor.is_complex():
            name, corner = f"{name}.abs()", tensor_entries.corner(tensor).abs()
        blob = bytearray()
        report = tensor_entries.entry(name, corner, blob, (statistics.low, statistics.high))
    except UnreadableFile as error:
        return Refusal(str(error))
    except (RuntimeError, MemoryError) as error:
        why = str(error).partition("\n")[0][:200] or type(error).__name__
        return Refusal(
            say("no-numbers", "PyTorch cannot read the numbers of {name}: {why}", name=question.name, why=why)
        )
    return StoredTensorReport(statistics, report, bytes(blob))
