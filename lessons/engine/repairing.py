"""Naming a mistake by undoing it: edits of a wrong answer are tried, and one with which it passes is told."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from lessons.engine.launching.launchers import ChildProcess
from lessons.format.lesson import ExerciseStep, Limits
from lessons.reading.mistake_edits import right_answers
from lessons.reading.own_edits import OwnEdits
from lessons.reading.repair_kinds import LAST
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
"""The largest number of copies with two edits of which the first one comes nearer."""

MOST_THREE = 240
"""The largest number of copies with three edits."""

MOST_LEADING = 3
"""The most edits, or pairs of edits, after which an answer is nearer, that are tried with one edit more."""

MOST_PARTNERS = 30
"""The most edits of which pairs are tried."""

SURPLUS = ("too-much", "statement-extra")
"""Kinds of edits that take something away."""

CPU, WALL = 5.0, 15.0
"""Limits in seconds for all copies of an answer together. An answer whose copies do not keep them gets no name."""

CPU_OF_PAIRS = 2.5
"""The same for copies with two edits."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judge says of the values of a copy.

    Attributes:
        passes: whether they pass all checks.
        names: else, the ids of the known mistakes that give the same values.
        right: else, the checks that they pass and the results that are right.
    """

    passes: bool
    names: tuple[str, ...] = ()
    right: frozenset[str | int] = frozenset()


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
    # One of which nothing is said, or no more than where a mistake is, is told if there is no other.
    last: Repair | None = None
    left: dict[str, Repair] = {}
    steps: dict[int, Judged] = {}
    distinct: set[tuple[str, bytes]] = set()
    try:
        with copies.running([item.code for item in every], CPU) as receive:
            for group in groups:
                passing = []
                for item in group:
                    report = receive()
                    judged = Judged(False) if report is None else copies.judge(report)
                    passing += [item] if judged.passes else []
                    for name in judged.names:
                        left.setdefault(name, item)
                chosen = choose(passing)
                if chosen is not None and not chosen.silent and chosen.kind not in LAST:
                    return Found((chosen,), chosen is not every[0])
                last = last or chosen
            passing = []
            for index, item in enumerate(own.repairs):
                best = likeliest(passing, blamed)
                if best is not None and not _may_be_likelier(own.repairs[index:], best, blamed):
                    break
                report = receive()
                if report is None or (key := (repr(report.actual), report.blob)) in distinct:
                    # Edits of one effect are one, except that each has its line.
                    continue
                judged = copies.judge(report)
                if judged.passes:
                    passing.append(item)
                    continue
                distinct.add(key)
                steps[index] = judged
                for name in judged.names:
                    left.setdefault(name, item)
            if (best := likeliest(passing, blamed)) is not None:
                return Found((best,), best is not every[0])
        if last is not None and not last.silent:
            return Found((last,), last is not every[0])
        if copies.named:
            return Found(left={name: left[name] for name in left.keys() & copies.named})
        found = _together(own, steps, copies)
        return Found((last,)) if last is not None and not found.repairs else found
    except (wire.WireError, TimeoutError):
        # A copy has crashed the child, or does not end.
        return Found()


def _may_be_likelier(others: Sequence[Repair], best: Repair, blamed: int | None) -> bool:
    """Return whether one of the edits that are still to be tried would be preferred to one that passes."""
    return any(likeliest([best, item], blamed) is item for item in others)


def _together(own: OwnEdits, steps: Mapping[int, Judged], copies: Copies) -> Found:
    """Try edits together: first two, and then three if two have come nearer. Raises what `channel.receive` raises."""
    before = Judged(False) if copies.values is None else copies.judge(copies.values)
    chosen = [*steps]
    nearer = _nearer({(index,): judged for index, judged in steps.items()}, before)
    leading = nearer or ([(index,) for index in chosen[:MOST_LEADING]] if copies.values is None else [])
    second = sorted(itertools.combinations(chosen[:MOST_PARTNERS], 2), key=sum)
    indices = [*itertools.islice(_one_more(leading, own), MOST_LEAVING), *second[:MOST_PAIRS]]
    found, judged = _try_together(own, indices, copies)
    if not found:
        farther = {pair: item for pair, item in judged.items() if item.right > steps[pair[0]].right}
        three = itertools.islice(_one_more(_nearer(farther, before), own), MOST_THREE)
        found, judged = _try_together(own, [*three], copies)
        if found:
            # Two of them may be enough.
            edits = next(edits for edits, item in judged.items() if item.passes)
            fewer, _ = _try_together(own, [*itertools.combinations(edits, 2)], copies)
            found = fewer or found
    return Found(found)


def _nearer(tried: Mapping[tuple[int, ...], Judged], before: Judged) -> list[tuple[int, ...]]:
    """Return the edits after which a known mistake is left, or more is right and nothing less, the nearest first."""
    found = [
        (not judged.names, -len(judged.right), edits)
        for edits, judged in tried.items()
        if judged.names or judged.right > before.right
    ]
    return [edits for _, _, edits in sorted(found)[:MOST_LEADING]]


def _one_more(leading: Sequence[tuple[int, ...]], own: OwnEdits) -> Iterator[tuple[int, ...]]:
    """Yield edits with one more."""
    for edits in leading:
        for other in range(len(own.repairs)):
            if other not in edits:
                yield (*edits, other)


def _try_together(
    own: OwnEdits, indices: Sequence[tuple[int, ...]], copies: Copies
) -> tuple[tuple[Repair, ...], dict[tuple[int, ...], Judged]]:
    """Return the first edits with which together the answer passes, and what the judge has said of all up to these."""
    judged: dict[tuple[int, ...], Judged] = {}
    together = own.together(indices)
    if together:
        with copies.running([made[0].code for _, made in together], CPU_OF_PAIRS) as receive:
            for edits, made in together:
                report = receive()
                if report is not None:
                    judged[edits] = copies.judge(report)
                    if judged[edits].passes:
                        return made, judged
    return (), judged


def likeliest(found: Sequence[Repair], blamed: int | None) -> Repair | None:
    """Choose from small edits with which an answer passes: one of the blamed line, then the likeliest kind.

    Of two operations of which one is too much, that is the later one.
    """

    def order(item: Repair) -> tuple[bool, int, int]:
        line = item.lines[0]
        return line != blamed, item.rank, -line if item.kind in SURPLUS else 0

    return min(found, key=order, default=None)
