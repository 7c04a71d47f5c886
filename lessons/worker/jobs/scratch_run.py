"""The job of a scratch run: runs an answer and reports its output and its tensors, including those in its functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import torch

from attn_tutor.lessons.worker.jobs import prompt
from attn_tutor.lessons.worker.jobs.run_state import RunState, as_tensor
from attn_tutor.lessons.worker.messages import RunScratch, ScratchReport

MOST_TENSORS = 8

_setprofile = sys.setprofile


def run(state: RunState, question: RunScratch) -> ScratchReport:
    """Run an answer. Shows the local tensors of its functions as of their return, then the tensors that it binds."""
    unit = question.unit
    prompt.start_output()
    before = dict(state.namespace)
    inner: dict[str, torch.Tensor] = {}
    with _returning(unit.filename, inner):
        failure = state.run(question.code, unit)
    for name, value in state.namespace.items():
        if before.get(name) is not value and not name.startswith("_") and prompt.can_be_shown(value):
            # Where both have the name, keep the newer tensor, and move it to the end.
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
    """Collect the tensors among the local variables of every function of a file when it returns."""

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
