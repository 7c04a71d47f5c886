"""Naming a mistake by undoing it: edits of a wrong answer are tried, and one with which it passes is told."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from lessons.engine.launching.launchers import ChildProcess
from lessons.format.lesson import ExerciseStep, Limits
from lessons.reading.mistake_edits import right_answers
from lessons.reading.own_edits import OwnEdits
from lessons.reading.repairs import Repair, choose, repairs
from lessons.worker import channel, wire
from lessons.worker.judging_messages import (
    HiddenInputs,
    RepairReport,
    RunRepairs,
)

MOST = 16
"""The largest number of copies of an answer with pieces of right ones. It decides, and not the time that they take."""

MOST_OWN, MOST_PAIRS = 240, 160
"""The largest numbers of copies with one small edit of the answer's own, and with two."""

MOST_LEAVING = 400
"""The largest number of copies with two edits of which one leaves a known mistake."""

MOST_LEADING = 3
"""The most edits after which an answer runs, of which pairs with all others are tried."""

MOST_PARTNERS = 30
"""The most edits of which pairs are tried."""

SURPLUS = ("too-much", "statement-extra")
"""Kinds of edits that take something away."""

CPU, WALL = 5.0, 15.0
"""Limits in seconds for all copies of an answer together. An answer whose copies do not keep them gets no name."""

CPU_OF_PAIRS = 2.5
"""The same for copies with two edits."""

Judged = tuple[bool, Sequence[str]]
"""Whether the values of a copy pass, and else the ids of the known mistakes that give the same values."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the copies of a wrong answer have shown.

    Attributes:
        repairs: the edits with which the answer passes, none, one, or two together.
        is_later: whether the copy with them has run in a process where another one has run before.
        left: the edits with which a single known mistake is left, by the id of that mistake.
    """

    repairs: tuple[Repair, ...] = ()
    is_later: bool = True
    left: dict[str, Repair] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Copies:
    """How copies of an answer are run and judged.

    Attributes:
        seed: the seed for the random numbers of the answer.
        judge: judges the values of a copy.
        values: the values that the answer itself gives, None if it raises an exception.
        named: the known mistakes that the answer is known to make.
    """

    exercise: ExerciseStep
    seed: int
    hidden: HiddenInputs
    child: Callable[[Limits], AbstractContextManager[ChildProcess]]
    judge: Callable[[RepairReport], Judged]
    values: RepairReport | None
    named: frozenset[str]

    @contextmanager
    def running(self, sources: Sequence[str], cpu: float) -> Iterator[Callable[[], RepairReport | None]]:
        """Run copies in one child, one after the other; yields a function that returns the report of the next one.

        It returns None for a copy that fails or changes nothing. Raises what `channel.receive` raises.
        """
        limits = self.exercise.limits
        limits = limits.model_copy(update={"cpu": min(limits.cpu, cpu), "wall": min(limits.wall, WALL)})
        job = RunRepairs(self.exercise.probe, self.seed, self.exercise.defines, self.exercise.without, tuple(sources))
        deadline = time.monotonic() + limits.wall
        with self.child(limits) as process:
            channel.send(process.talk, job)
            channel.send(process.talk, self.hidden)

            def receive() -> RepairReport | None:
                report = channel.receive(process.talk, RepairReport, deadline=deadline)
                return None if report.actual is None or self._is_same(report) else report

            yield receive

    def _is_same(self, report: RepairReport) -> bool:
        same = self.values
        return same is not None and (same.actual, same.blob) == (report.actual, report.blob)


def find(source: str, copies: Copies, blamed: int | None) -> Found:
    """Try edits of a wrong answer. Of several with which it passes, one of the `blamed` line is preferred."""
    exercise = copies.exercise
    groups = repairs(source, right_answers(exercise), MOST, gap=exercise.form == "line")
    own = OwnEdits(source, MOST_OWN)
    every = [item for group in (*groups, own.repairs) for item in group]
    if not every:
        return Found()
    silent: Repair | None = None
    left: dict[str, Repair] = {}
    leaving: list[int] = []
    distinct: dict[tuple[str, bytes], int] = {}
    try:
        with copies.running([item.code for item in every], CPU) as receive:
            for group in groups:
                passing = []
                for item in group:
                    report = receive()
                    passes, names = (False, ()) if report is None else copies.judge(report)
                    passing += [item] if passes else []
                    for name in names:
                        left.setdefault(name, item)
                chosen = choose(passing)
                if chosen is not None and not chosen.silent:
                    return Found((chosen,), chosen is not every[0])
                silent = silent or chosen
            passing = []
            for index, item in enumerate(own.repairs):
                report = receive()
                if report is None or (key := (repr(report.actual), report.blob)) in distinct:
                    # Edits of one effect are one, except that each has its line.
                    continue
                passes, names = copies.judge(report)
                if passes:
                    passing.append(item)
                    continue
                distinct[key] = index
                leaving += [index] if names else []
                for name in names:
                    left.setdefault(name, item)
            if (best := likeliest(passing, blamed)) is not None:
                return Found((best,), best is not every[0])
        if copies.named:
            return Found(left={name: left[name] for name in left.keys() & copies.named})
        found = _pair(own, leaving, [*distinct.values()], copies)
        return Found((silent,)) if silent is not None and not found.repairs else found
    except (wire.WireError, TimeoutError):
        # A copy has crashed the child, or does not end.
        return Found()


def _pair(own: OwnEdits, leaving: Sequence[int], chosen: Sequence[int], copies: Copies) -> Found:
    """Try pairs of edits, first those in which one leaves a known mistake. Raises what `channel.receive` raises."""
    # An edit that prevents the exception of an answer leads further, as one does that leaves a known mistake.
    leading = leaving or (chosen[:MOST_LEADING] if copies.values is None else [])
    first = [(index, other) for index in leading for other in range(len(own.repairs)) if other != index]
    second = sorted(itertools.combinations(chosen[:MOST_PARTNERS], 2), key=sum)
    indices = first[:MOST_LEAVING] + second[:MOST_PAIRS]
    pairs = own.pairs(indices)
    if not pairs:
        return Found()
    with copies.running([one.code for one, _ in pairs], CPU_OF_PAIRS) as receive:
        for pair in pairs:
            report = receive()
            if report is not None and copies.judge(report)[0]:
                return Found(pair)
    return Found()


def likeliest(found: Sequence[Repair], blamed: int | None) -> Repair | None:
    """Choose from small edits with which an answer passes: one of the blamed line, then the likeliest kind.

    Of two operations of which one is too much, that is the later one.
    """

    def order(item: Repair) -> tuple[bool, int, int]:
        line = item.lines[0]
        return line != blamed, item.rank, -line if item.kind in SURPLUS else 0

    return min(found, key=order, default=None)
