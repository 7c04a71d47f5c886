"""Digests of what named tensors held, in all calls of functions that are kept, by which two runs are compared."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import time

import torch

from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.jobs.run_state import LARGEST_COPY, RunState
from attn_tutor.lessons.worker.program_messages import Digest, DigestReport, DigestValues
from attn_tutor.lessons.worker.programs.named_report import fitting, last_write
from attn_tutor.lessons.worker.programs.named_tensors import NamedTensor, in_all_calls
from attn_tutor.lessons.worker.recording.element_history import ValueLost
from attn_tutor.lessons.worker.wire import JSON_CAP

BYTES = 8
"""Bytes of a digest."""


def digest_values(run: RunState, question: DigestValues) -> DigestReport:
    """Return digests from a position on, in the order in which the tensors were computed, as long as there is time."""
    values, until = _values(run), time.monotonic() + question.seconds
    found: list[Digest] = []
    for item in values[question.start :]:
        if time.monotonic() > until:
            break
        file = run.explainer.names.positions.file_of(item.file)
        found.append((item.scope, file, item.name, item.call, _digest(run.explainer, item)))
    digests = fitting(found, JSON_CAP // 2)
    return DigestReport(digests, question.start + len(digests) >= len(values))


@functools.lru_cache(maxsize=1)
def _values(run: RunState) -> list[NamedTensor]:
    """List the named tensors of a run in the order in which they were computed; all parts are parts of this list."""
    record = run.explainer.record
    items = in_all_calls(run.explainer, PROGRAM.filename, run.recorder.naming.present)
    return sorted(items, key=lambda item: (last_write(item, record), item.time))


def _digest(explainer: Explainer, item: NamedTensor) -> str:
    """Return the digest of a tensor; "" if its values are lost, or it is so large that a copy may not fit."""
    if item.region.size * item.region.dtype.itemsize > LARGEST_COPY:
        return ""
    try:
        values = explainer.history.tensor(item.region, item.time, copy=False)
    except ValueLost:
        return ""
    if values.is_complex():
        values = torch.view_as_real(values.resolve_conj())
    if values.dtype.is_floating_point and values.dtype.itemsize > 1:
        # Then 0 and -0 are the same.
        values = values + 0
    values = values.detach().resolve_neg().contiguous()
    size = values.nbytes
    memory = (ctypes.c_char * size).from_address(values.data_ptr()) if size else b""
    facts = f"{values.dtype} {tuple(values.shape)}".encode()
    return hashlib.blake2b(memory, digest_size=BYTES, key=hashlib.blake2b(facts, digest_size=16).digest()).hexdigest()
