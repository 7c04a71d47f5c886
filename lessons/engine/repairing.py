"""Naming the kind of a mistake by undoing it: small edits of a wrong answer are tried until one makes it pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from lessons.engine.launchers import ChildProcess
from lessons.format.lesson import ExerciseStep, Limits
from lessons.reading.repairs import Repair, kind_texts, repairs
from lessons.results.result import NamedMistake
from lessons.worker import channel, wire
from lessons.worker.messages import HiddenInputs, RepairReport, RunRepairs

SECONDS = 1.5
"""Seconds for all copies of an answer together."""

MOST = 400
"""The largest number of copies of an answer that are tried."""


def find(
    exercise: ExerciseStep,
    code: bytes,
    seed: int,
    line: int | None,
    hidden: HiddenInputs,
    child: Callable[[Limits], AbstractContextManager[ChildProcess]],
    passes: Callable[[object, bytes], bool],
    cancelled: Callable[[], bool],
) -> Repair | None:
    """Find the repair with which a wrong answer passes; None if there is none, or if several tell different things.

    Repairs on the blamed `line` are tried first; only if none of them passes, others count. `seed` is for the random
    numbers of the answer; `passes` judges values.
    """
    try:
        source = code.decode()
    except UnicodeDecodeError:
        return None
    tried = repairs(source, line, MOST)
    if not tried:
        return None
    job = RunRepairs(
        exercise.probe, seed, exercise.defines, exercise.without, source, tuple(item.code for item in tried)
    )
    limits = exercise.limits
    short = limits.model_copy(update={"cpu": min(limits.cpu, 2 * SECONDS), "wall": min(limits.wall, 2 * SECONDS)})
    deadline = time.monotonic() + SECONDS
    found: list[Repair] = []
    with child(short) as process:
        for index, passed in _outcomes(process, job, hidden, passes, deadline):
            if cancelled():
                return None
            # Every repair on a line counts before one is chosen.
            if found and (index >= len(tried) or tried[index].line != found[0].line) and found[0].line == line:
                break
            if passed:
                found.append(tried[index])
    return choose(found, line)


REMOVING = ("call-extra", "operand-extra", "statement-extra")
"""Kinds of which the repair leaves something out, in order of preference.

If an answer passes without a piece of code, then it also passes with some edits that only make that piece harmless, and
these do not tell what is wrong.
"""


VAGUE = ("number", "fixed-number", "flag")
"""Kinds that count on the blamed line alone: elsewhere another number may make up for a mistake by chance."""


def choose(found: Sequence[Repair], line: int | None) -> Repair | None:
    """Choose from repairs with which an answer passes: on the blamed line, if there are any, and what leaves code out.

    Returns None if repairs of two kinds remain, or on two lines.
    """
    chosen = [repair for repair in found if repair.line == line]
    chosen = chosen or [repair for repair in found if line is None or repair.kind not in VAGUE]
    if len({repair.line for repair in chosen}) != 1:
        return None
    kinds = {repair.kind for repair in chosen}
    kind = next((kind for kind in REMOVING if kind in kinds), chosen[0].kind)
    if len(kinds) > 1 and kind not in REMOVING:
        return None
    return next(repair for repair in chosen if repair.kind == kind)


def mistake(repair: Repair) -> NamedMistake:
    """Name the mistake that a repair undoes."""
    text = kind_texts()[repair.kind]
    return NamedMistake(repair.kind, text.name, text.why, repair.line)


def _outcomes(
    process: ChildProcess,
    job: RunRepairs,
    hidden: HiddenInputs,
    passes: Callable[[object, bytes], bool],
    deadline: float,
) -> Iterator[tuple[int, bool]]:
    """Yield the index of each copy that gives values, and whether it passes, as long as there is time."""
    known: dict[tuple[str, bytes], bool] = {}
    try:
        channel.send(process.talk, job)
        channel.send(process.talk, hidden)
        while True:
            report = channel.receive(process.talk, RepairReport, deadline=deadline)
            if not 0 <= report.index < len(job.sources):
                return
            values = repr(report.actual), report.blob
            if values not in known:
                known[values] = passes(report.actual, report.blob)
            yield report.index, known[values]
    except (wire.WireError, TimeoutError):
        # The child may have crashed or hung in a copy: what came before it counts.
        return
