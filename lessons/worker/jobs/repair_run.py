"""Running repaired copies of a wrong answer on the hidden inputs, one after the other in one process."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.jobs import values
from attn_tutor.lessons.worker.jobs.answer_run import MODULE, OURS, forbid, run_probe
from attn_tutor.lessons.worker.jobs.execute import YOUR_CODE, execute, new_namespace
from attn_tutor.lessons.worker.jobs.lesson_run import seed as seed_generators
from attn_tutor.lessons.worker.judging_messages import (
    HiddenInputs,
    RepairReport,
    RunRepairs,
)

LONGEST = 0.7
"""Seconds of the processor after which a copy counts as one that does not end."""


def run_repairs(job: RunRepairs, talk: socket.socket) -> None:
    """Run each copy on all hidden inputs, which come first, and report its values."""
    hidden = channel.receive(talk, HiddenInputs)
    contexts = values.decode(hidden.inputs, hidden.blob)
    forbid([OURS, *job.without])
    for source in job.sources:
        try:
            report = RepairReport(*values.encode(_values(job, source, contexts, hidden.seeds)))
        except values.ValueNotPlain:
            report = RepairReport(None, b"")
        channel.send(talk, report)


def _values(
    job: RunRepairs, source: str, contexts: list[dict[str, Any]], seeds: tuple[int, ...]
) -> list[dict[str, Any]] | None:
    """Return the values of one copy on all hidden inputs; None if it fails."""
    namespace = new_namespace(MODULE)
    seed_generators(job.seed)
    with _limited():
        if execute(source, YOUR_CODE, namespace) or not set(job.defines) <= set(namespace):
            return None
    defined = {name: namespace[name] for name in job.defines}
    actual = []
    for number, context in zip(seeds, contexts, strict=True):
        with _limited():
            got, _ = run_probe(defined, job.probe, deepcopy(context), number)
        if got is None:
            return None
        actual.append(got)
    return actual


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Stop Python code that takes too long; the functions that run it make a failure of the exception."""
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(*_: object) -> None:
    raise TimeoutError
