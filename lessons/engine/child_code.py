"""Code that a living child is asked to run where a lesson has come to: send it, and read what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from lessons.engine import child_failures
from lessons.engine.launchers import ChildProcess
from lessons.format import axis_labels
from lessons.format.lesson import Kind, Lesson, Limits, ShownTensor
from lessons.results.result import Failure
from lessons.worker import wire

T = TypeVar("T")

Names = tuple[tuple[str, str], ...]
"""What code can use: names, and what each stands for, `(6,3)` or `Linear`."""

GONE = Failure("crash", "The program is no longer there.")


def run_in_child(
    question: dict[str, object],
    read: Callable[[wire.Frame], T],
    wall: float,
    limits: Limits,
    job: ChildProcess,
    cancelled: Callable[[], bool],
) -> T | Failure:
    """Have a child that waits for questions run code, and read its answer; a failure if it did not survive that."""
    deadline = time.monotonic() + wall
    job.settled(calm=False)
    try:
        wire.send(job.talk, question)
        answer = read(wire.receive(job.talk, deadline))
        job.settled()
        return answer
    except TimeoutError:
        return child_failures.timed_out(job, wall)
    except Exception as error:
        # Whatever a child sends that cannot be read is its own end.
        return child_failures.died(job, error, limits, cancelled())


def drawn_as(lesson: Lesson, step: str, entry: dict[str, object]) -> ShownTensor:
    """How a tensor is drawn: as the lesson draws what has its name and as many axes, else by its indices."""
    name, sizes = str(entry["name"]), entry["shape"]
    known = axis_labels.known(lesson, step, name, len(sizes)) if isinstance(sizes, list) else None
    kind: Kind = "mask" if entry["dtype"] == "bool" else "vector"
    return known.model_copy(update={"name": name}) if known else ShownTensor(name=name or "_", kind=kind)


def names_of(data: object) -> Names:
    """Names from the worker's answer. Raises `ValueError` or `TypeError` for anything else."""
    if not isinstance(data, list):
        raise TypeError("no names")
    return tuple((str(name), str(kind)) for name, kind in data)
