"""The job that reads a file of tensors: it lists them, then shows those that it is asked about.

Statistics of a tensor of any size are computed in parts, within a limit of time, without a copy of the whole.
"""

from __future__ import annotations

import math
import socket
import time

import torch

from attn_tutor.lessons.programs.messages import ReadTensorFile, ShowStoredTensor, StoredTensorReport
from attn_tutor.lessons.programs.results.tensor_file import ListedTensor, TensorList, TensorStatistics
from attn_tutor.lessons.programs.worker.tensor_files.stored_tensor import StoredTensor, UnreadableFile
from attn_tutor.lessons.programs.worker.tensor_files.tensor_files import TensorFile
from attn_tutor.lessons.results.result import MOST_AXES
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.fence import limits
from attn_tutor.lessons.worker.jobs import tensor_entries
from attn_tutor.lessons.worker.recording.tensor_parts import parts


def summarize(tensor: torch.Tensor, seconds: float) -> TensorStatistics:
    """Return the statistics of a tensor, of a part of its numbers if not all can be looked at within this time."""
    until = time.monotonic() + seconds
    seen = finite_count = zeros = nans = 0
    low, high, mean, squares = math.inf, -math.inf, 0.0, 0.0
    for part in parts(tensor):
        numbers = (part.abs() if part.is_complex() else part).to(torch.float64)
        seen += numbers.numel()
        zeros += int((numbers == 0).sum())
        finite = numbers.isfinite()
        if not finite.all():
            nans += int(numbers.isnan().sum())
            numbers = numbers[finite]
        if count := numbers.numel():
            least, greatest = numbers.aminmax()
            low, high = min(low, float(least)), max(high, float(greatest))
            part_mean = float(numbers.mean())
            # Chan's way to join sums of squares, which does not lose digits where the mean is large.
            difference, total = part_mean - mean, finite_count + count
            squares += float((numbers - part_mean).square().sum()) + difference**2 * finite_count * count / total
            mean += difference * count / total
            finite_count = total
        if time.monotonic() > until:
            break
    there = finite_count > 0
    return TensorStatistics(
        count=tensor.numel(),
        seen=seen,
        low=low if there else None,
        high=high if there else None,
        mean=_finite(mean) if there else None,
        std=_finite(math.sqrt(squares / finite_count)) if there else None,
        zeros=zeros,
        nans=nans,
        infinities=seen - finite_count - nans,
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


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
    channel.send(talk, listed(file))
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
        statistics = summarize(tensor, question.seconds)
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
