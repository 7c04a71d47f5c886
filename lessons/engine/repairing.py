"""Naming a mistake by undoing it: edits of a wrong answer are tried, and one with which it passes is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from lessons.engine.launching.launchers import ChildProcess
from lessons.format.lesson import ExerciseStep, Limits
from lessons.reading.mistake_edits import variant_code
from lessons.reading.own_edits import own_edits
from lessons.reading.repairs import Repair, choose, repairs
from lessons.worker import channel, wire
from lessons.worker.judging_messages import (
    HiddenInputs,
    RepairReport,
    RunRepairs,
)

MOST = 16
"""The largest number of copies of an answer with pieces of right ones. It decides, and not the time that they take."""

MOST_OWN = 240
"""The largest number of copies with small edits of the answer's own."""

CPU, WALL = 6.0, 15.0
"""Limits in seconds for all copies of an answer together. An answer whose copies do not keep them gets no name."""

Passes = Callable[[RepairReport], bool]


def find(
    exercise: ExerciseStep,
    code: bytes,
    seed: int,
    hidden: HiddenInputs,
    child: Callable[[Limits], AbstractContextManager[ChildProcess]],
    passes: Passes,
    blamed: int | None,
) -> tuple[Repair, bool] | None:
    """Find the repair with which a wrong answer passes; None if there is none.

    `seed` is for the random numbers of the answer; `passes` judges values. Of several small edits, one of the `blamed`
    line is preferred. Returns the repair, and whether its copy has run in a process where another one has run before.
    """
    try:
        source = code.decode()
    except UnicodeDecodeError:
        return None
    models = [exercise.solution, *filter(None, (variant_code(exercise, item) for item in exercise.accepted))]
    tried = repairs(source, models, MOST, gap=exercise.form == "line")
    own = own_edits(source, MOST_OWN)
    copies = [item for group in (*tried, own) for item in group]
    if not copies:
        return None
    limits = exercise.limits
    limits = limits.model_copy(update={"cpu": min(limits.cpu, CPU), "wall": min(limits.wall, WALL)})
    job = RunRepairs(exercise.probe, seed, exercise.defines, exercise.without, tuple(item.code for item in copies))
    with child(limits) as process:
        try:
            channel.send(process.talk, job)
            channel.send(process.talk, hidden)
            deadline = time.monotonic() + limits.wall
            for group in tried:
                if (repair := choose(_passing(process, group, passes, deadline))) is not None:
                    return repair, repair is not copies[0]
            repair = likeliest(_passing(process, own, passes, deadline), blamed)
            return None if repair is None else (repair, repair is not copies[0])
        except (wire.WireError, TimeoutError):
            # A copy has crashed the child, or does not end.
            return None


def likeliest(found: Sequence[Repair], blamed: int | None) -> Repair | None:
    """Choose from small edits with which an answer passes: one of the blamed line, then the likeliest kind."""
    return min(found, key=lambda item: (item.lines[0] != blamed, item.rank), default=None)


def _passing(process: ChildProcess, group: Sequence[Repair], passes: Passes, deadline: float) -> list[Repair]:
    """Return the repairs of a group with which the answer passes. Raises what `channel.receive` raises."""
    found = []
    for repair in group:
        report = channel.receive(process.talk, RepairReport, deadline=deadline)
        if report.actual is not None and passes(report):
            found.append(repair)
    return found
