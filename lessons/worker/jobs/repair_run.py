"""Running repaired copies of a wrong answer on the hidden inputs, one after the other in one process."""

from __future__ import annotations

import socket
from copy import deepcopy
from typing import Any

from lessons.worker import channel
from lessons.worker.jobs import values
from lessons.worker.jobs.answer_run import MODULE, OURS, forbid, run_probe
from lessons.worker.jobs.execute import YOUR_CODE, execute, new_namespace
from lessons.worker.jobs.lesson_run import seed as seed_generators
from lessons.worker.judging_messages import (
    HiddenInputs,
    RepairReport,
    RunRepairs,
)


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
    if execute(source, YOUR_CODE, namespace) or not set(job.defines) <= set(namespace):
        return None
    defined = {name: namespace[name] for name in job.defines}
    actual = []
    for number, context in zip(seeds, contexts, strict=True):
        got, _ = run_probe(defined, job.probe, deepcopy(context), number)
        if got is None:
            return None
        actual.append(got)
    return actual
