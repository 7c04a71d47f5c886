"""Running repaired copies of a wrong answer on the hidden inputs, in one process, to see which of them pass."""

from __future__ import annotations

import signal
import socket
import sys
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

from lessons.worker import channel
from lessons.worker.jobs import exercise_tools, values
from lessons.worker.jobs.answer_run import MODULE, OURS, PROBE, forbid
from lessons.worker.jobs.execute import YOUR_CODE, new_namespace
from lessons.worker.jobs.lesson_run import seed as seed_generators
from lessons.worker.messages import HiddenInputs, RepairReport, RunRepairs

MOST_SECONDS = 0.4
"""Seconds after which a copy is given up: an edit may have made a loop endless."""

Plain = tuple[Any, bytes]
"""Encoded values."""


def run_repairs(job: RunRepairs, talk: socket.socket) -> None:
    """Run each copy on all hidden inputs, which come first; report the values of those that give any."""
    hidden = channel.receive(talk, HiddenInputs)
    contexts = values.decode(hidden.inputs, hidden.blob)
    forbid([OURS, *job.without])
    signal.signal(signal.SIGALRM, _give_up)
    unchanged = _values(job, job.unchanged, contexts, hidden.seeds)
    for index, source in enumerate(job.sources):
        found = _values(job, source, contexts, hidden.seeds)
        if found is not None and found != unchanged:
            channel.send(talk, RepairReport(index, *found))
    channel.send(talk, RepairReport(len(job.sources), None, b""))


def _values(job: RunRepairs, source: str, contexts: list[dict[str, Any]], seeds: tuple[int, ...]) -> Plain | None:
    """Return the values of one copy on all hidden inputs; None if it fails."""
    loaded = dict(sys.modules)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        namespace = new_namespace(MODULE)
        seed_generators(job.seed)
        exec(compile(source, YOUR_CODE, "exec", dont_inherit=True), namespace)
        defined = {name: namespace[name] for name in job.defines}
        actual = []
        for number, context in zip(seeds, contexts, strict=True):
            given = SimpleNamespace(**deepcopy(context))
            scope = defined | exercise_tools.tools() | {"context": given, "seed": number}
            seed_generators(number)
            exec(compile(job.probe, PROBE, "exec"), scope)
            actual.append(scope["got"])
        return values.encode(actual)
    except BaseException:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for name, module in loaded.items():
            sys.modules.setdefault(name, module)


def _give_up(*_: object) -> None:
    raise TimeoutError
