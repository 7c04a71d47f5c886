"""A scratch run of a learner's answer: what it prints, and the tensors that it makes, also inside its functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import torch

from lessons.worker.jobs import prompt
from lessons.worker.jobs.run_state import RunState, as_tensor
from lessons.worker.messages import RunScratch, ScratchReport

MOST_TENSORS = 8

_setprofile = sys.setprofile


def run(state: RunState, question: RunScratch) -> ScratchReport:
    """Run an answer. Shown are the tensors that its functions held when they returned, then those that it has bound."""
    unit = question.unit
    prompt.start_output()
    before = dict(state.namespace)
    inner: dict[str, torch.Tensor] = {}
    with _returning(unit.filename, inner):
        failure = state.run(question.code, unit)
    for name, value in state.namespace.items():
        if before.get(name) is not value and not name.startswith("_") and prompt.can_be_shown(value):
            # The newest last, where both have the name.
            inner.pop(name, None)
            inner[name] = value
    blob = bytearray()
    tensors = tuple(
        state.show_tensor(unit, name, as_tensor(value), blob) for name, value in [*inner.items()][-MOST_TENSORS:]
    )
    shapes = tuple(state.lines[: prompt.MOST_LINES])
    return ScratchReport(failure, tensors, shapes, prompt.flushed_output(), bytes(blob))


@contextmanager
def _returning(filename: str, found: dict[str, torch.Tensor]) -> Iterator[None]:
    """Keep the tensors among the local variables of every function of a file as it returns."""

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event == "return" and frame.f_code.co_filename == filename and frame.f_code.co_name != "<module>":
            for name, value in frame.f_locals.items():
                if name.isidentifier() and prompt.can_be_shown(value):
                    found.pop(name, None)
                    found[name] = value

    _setprofile(note)
    try:
        yield
    finally:
        _setprofile(None)
