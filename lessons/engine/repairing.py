"""Naming what is wrong with an answer: by edits that undo it, and by what the message of an exception suggests.

Edits of a wrong answer are tried, and one with which it passes is told.
"""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace

from attn_tutor.lessons.engine import judge_children
from attn_tutor.lessons.engine.judge_children import AnswerOutcome, Child, Request
from attn_tutor.lessons.engine.launching.launchers import ChildProcess
from attn_tutor.lessons.format.lesson import ExerciseStep, Limits
from attn_tutor.lessons.reading import mistake_edits
from attn_tutor.lessons.reading.code_differences import Statement, statements_of
from attn_tutor.lessons.reading.mistake_edits import right_answers
from attn_tutor.lessons.reading.operations import may_make, words_of
from attn_tutor.lessons.reading.own_edits import LAST_RANK, OwnEdits
from attn_tutor.lessons.reading.repair_kinds import ADDING, LAST, LEAVING, outcome_of
from attn_tutor.lessons.reading.repairs import Repair, choose, gives_away, is_a_name, repairs
from attn_tutor.lessons.results.result import AnswerComparison, Judgement, NamedMistake, WorkerError
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.judging_messages import (
    CompareResults,
    HiddenInputs,
    Recognition,
    Recognize,
    RepairReport,
    RunRepairs,
)

MOST = 16
"""The largest number of copies of an answer with pieces of right ones. It decides, and not the time that they take."""

MOST_OWN, MOST_PAIRS = 240, 300
"""The largest numbers of copies with one small edit of the answer's own, and with two."""

MOST_GOOD = 6
"""The most edits that each come nearer of which any few are tried together."""

MOST_SOUND, MOST_REST = 240, 120
"""The largest numbers of copies with one edit more than those that lead: one that breaks nothing, and any other."""

MOST_LEADING = 5
"""The most edits after which an answer is nearer that are tried with one edit more."""

MOST_EDITS = 4
"""The most edits of a copy."""

MOST_LIKELY = 8
"""The most edits of which it is asked whether each one helps."""

MOST_PARTNERS = 30
"""The most edits of which pairs are tried."""

SURPLUS = ("too-much", "statement-extra", "condition-extra", "argument-extra", "values-extra", "block-extra")
"""Kinds of edits that take something away."""

SKIPPING = ("opposite", "condition", "condition-missing")
"""Kinds of edits with which code that fails may no longer run."""

REPLACING = ("other-value", "other-name")
"""Kinds of edits that put something else in the place of a variable."""

CPU, WALL = 5.0, 15.0
"""Limits in seconds for the copies with one edit that run in one process."""

MOST_PROCESSES = 2
"""The largest number of processes in which these run."""

MOST_IN_BATCH, CPU_OF_BATCH = 120, 2.5
"""The largest number of copies with several edits that run in one process, and the limit for these."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judge says of the values of a copy.

    Attributes:
        passes: whether they pass all checks.
        names: else, the ids of the known mistakes that give the same values.
        right: else, the checks that they pass and the results that are right.
        checks: the names of the checks that they pass, in the order of the exercise.
    """

    passes: bool
    names: tuple[str, ...] = ()
    right: frozenset[str | int] = frozenset()
    checks: tuple[str, ...] = ()

    def first_more(self, before: Judged) -> str:
        """Return the first check that these values pass and others don't, "" if there is none.

        There is none, either, if something is right in the others that is not right here, or if no result is: a check
        may pass because there is nothing left that it could find fault with.
        """
        more = self.right - before.right
        if not self.right > before.right or not any(isinstance(item, int) for item in more):
            return ""
        return next((check for check in self.checks if check not in before.checks), "")


@dataclass(frozen=True, slots=True)
class Found:
    """What the copies of a wrong answer have shown.

    Attributes:
        repairs: the edits with which the answer passes together, or with which at least more is right.
        helps: if it doesn't pass, for each of them a check that passes with it, and not without.
        leaves: or the id of the known mistake which alone gives the values that the answer has with them.
        is_later: whether the copy with them has run in a process where another one has run before.
        left: the edits with which a single known mistake is left, by the id of that mistake.
    """

    repairs: tuple[Repair, ...] = ()
    helps: tuple[str, ...] = ()
    leaves: str = ""
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

    def reports(self, sources: Sequence[str], cpu: float) -> Generator[RepairReport | None, None, None]:
        """Yield the report of each copy, None for one that fails, changes nothing, or ends the process.

        After such a one, the next ones run in a new process; those that follow several of them do not run.
        """
        start = 0
        for _ in range(MOST_PROCESSES):
            try:
                with self.running(sources[start:], cpu) as receive:
                    while start < len(sources):
                        report = receive()
                        start += 1
                        yield report
                return
            except (wire.WireError, TimeoutError):
                start += 1
                yield None

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
    known: dict[tuple[str, bytes], Judged] = {}
    alone: dict[tuple[int, ...], Judged] = {}
    reports = copies.reports([item.code for item in every], CPU)
    with closing(reports):
        for group in groups:
            passing = []
            for item in group:
                report = next(reports, None)
                judged = Judged(False) if report is None else copies.judge(report)
                passing += [item] if judged.passes else []
                for name in judged.names:
                    left.setdefault(name, item)
            chosen = choose(passing)
            if chosen is not None and not chosen.silent and chosen.kind not in LAST:
                return Found((chosen,), is_later=chosen is not every[0])
            last = last or chosen
        passing = []
        for index, item in enumerate(own.repairs):
            best = likeliest(passing, blamed)
            if best is not None and not _may_be_likelier(own.repairs[index:], best, blamed):
                break
            report = next(reports, None)
            if report is None:
                continue
            key = repr(report.actual), report.blob
            if key in known:
                # Edits of one effect are one, except that each has its line.
                alone[index,] = known[key]
                continue
            judged = copies.judge(report)
            if judged.passes:
                passing.append(item)
                continue
            steps[index] = alone[index,] = known[key] = judged
            for name in judged.names:
                left.setdefault(name, item)
        if (best := likeliest(passing, blamed)) is not None:
            return Found((best,), is_later=best is not every[0])
    if last is not None and not last.silent:
        return Found((last,), is_later=last is not every[0])
    if copies.named:
        return Found(left={name: left[name] for name in left.keys() & copies.named})
    found = _Together(source, own, steps, alone, copies).find()
    # If all of it is one expression, this one says where, and a part of it no more.
    part = bool(found.helps or found.leaves) or not found.repairs
    return Found((last,)) if last is not None and part else found


def _may_be_likelier(others: Sequence[Repair], best: Repair, blamed: int | None) -> bool:
    """Return whether one of the edits that are still to be tried would be preferred to one that passes."""
    return any(likeliest([best, item], blamed) is item for item in others)


class _Together:
    """The search for edits with which an answer passes together, led by what becomes right with them."""

    def __init__(
        self,
        source: str,
        own: OwnEdits,
        steps: Mapping[int, Judged],
        alone: Mapping[tuple[int, ...], Judged],
        copies: Copies,
    ) -> None:
        self._source, self._own, self._steps, self._copies = source, own, steps, copies
        self._before = Judged(False) if copies.values is None else copies.judge(copies.values)
        self._tried = dict(alone)

    def find(self) -> Found:
        """Return the edits with which the answer passes; if there are none, those that make most of it right."""
        found = self._passing()
        if len(found) > 2:
            # Fewer of them may be enough.
            fewer = itertools.chain.from_iterable(itertools.combinations(found, n) for n in range(2, len(found)))
            found = self._try(fewer) or found
        if found:
            repairs = self._repairs_of(found)
            return Found() if makes_up(self._source, repairs) else Found(repairs)
        return self._leaving() or (self._running() if self._copies.values is None else self._helping())

    def _passing(self) -> tuple[int, ...]:
        """Return edits with which the answer passes, none if none are found."""
        single = [
            edits[0] for edits in self._nearest({(index,): item for index, item in self._steps.items()}, MOST_GOOD)
        ]
        several = itertools.chain.from_iterable(itertools.combinations(sorted(single), n) for n in (2, 3, 4))
        if found := self._try(several):
            return found
        # What breaks something by itself is tried last.
        sound = [index for index, item in self._steps.items() if item.right >= self._before.right]
        rest = [index for index in range(len(self._own.repairs)) if index not in sound]
        # An edit that does not run by itself may be right where the answer does not run either.
        most_others = MOST_REST if self._copies.values is not None else MOST_SOUND
        led: set[tuple[int, ...]] = set()
        for count in range(1, MOST_EDITS):
            leading = self._nearest(
                {edits: item for edits, item in self._tried.items() if edits not in led}, MOST_LEADING
            )
            if not leading and count == 1:
                return self._blindly(rest)
            led.update(leading)
            further = itertools.islice(_one_more(leading, sound), MOST_SOUND)
            others = itertools.islice(_one_more(leading, rest), most_others if count == 1 else 0)
            if found := self._try(further) or self._try(others):
                return found
        return ()

    def _blindly(self, rest: Sequence[int]) -> tuple[int, ...]:
        """Return two edits with which the answer passes, where none comes nearer by itself; none if none are found."""
        if self._copies.values is None:
            first = [(index,) for index in [*self._steps][:MOST_LEADING]]
            if found := self._try(itertools.islice(_one_more(first, [*self._steps, *rest]), MOST_SOUND)):
                return found
        pairs = sorted(itertools.combinations([*self._steps][:MOST_PARTNERS], 2), key=sum)
        return self._try(pairs[:MOST_PAIRS])

    def _nearest(self, tried: Mapping[tuple[int, ...], Judged], most: int) -> list[tuple[int, ...]]:
        """Return the edits that leave a known mistake, or with which more is right and nothing less, nearest first."""
        found = [
            (not judged.names, -len(judged.right), edits)
            for edits, judged in tried.items()
            if judged.names or judged.right > self._before.right
        ]
        return [edits for _, _, edits in sorted(found)[:most]]

    def _leaving(self) -> Found | None:
        """Return an edit with which a single known mistake is left, None if there is none."""
        for index, judged in self._steps.items():
            if judged.names and judged.first_more(self._before) and self._keeps_all(index):
                return Found((self._own.repairs[index],), leaves=judged.names[0])
        return None

    def _keeps_all(self, index: int) -> bool:
        """Return whether an edit is a likely one that goes on using each step of the answer.

        Without a step, an answer may run, and may give what a mistake gives, whatever is wrong with it.
        """
        edit = self._own.repairs[index]
        fails = self._copies.values is None
        return edit.rank < LAST_RANK and edit.kind not in LEAVING.union(SURPLUS, SKIPPING if fails else ())

    def _running(self) -> Found:
        """Return the edit with which most checks pass of an answer that fails; none if there are some on two lines."""
        likely = [index for index in self._steps if self._keeps_all(index)]
        most = max((len(self._steps[index].checks) for index in likely), default=0)
        best = [index for index in likely if len(self._steps[index].checks) == most]
        if most == 0 or len({self._own.repairs[index].lines for index in best}) > 1:
            return Found()
        return Found((self._own.repairs[best[0]],), helps=self._steps[best[0]].checks[-1:])

    def _helping(self) -> Found:
        """Return the edits with which most checks pass, each with a check that fails without it."""
        likely = (
            (-len(judged.checks), len(edits), edits)
            for edits, judged in self._tried.items()
            if judged.first_more(self._before) and all(self._own.repairs[index].rank < LAST_RANK for index in edits)
        )
        for _, _, edits in sorted(likely)[:MOST_LIKELY]:
            judged = self._tried[edits]
            fewer = [(*edits[:at], *edits[at + 1 :]) for at in range(len(edits))]
            self._try(each for each in fewer if each not in self._tried)
            without = {(): self._before} | self._tried
            helps = [judged.first_more(without.get(each, judged)) for each in fewer]
            if all(helps) and all(map(self._is_certain, edits, helps)):
                return Found(self._repairs_of(edits), tuple(helps))
        return Found()

    def _is_certain(self, index: int, check: str) -> bool:
        """Return whether no edit of another line comes nearer and has a check pass: it may be the one that is right."""
        others = (
            self._own.repairs[edits[0]].lines
            for edits, judged in self._tried.items()
            if len(edits) == 1 and judged.right > self._before.right and check in judged.checks
        )
        return all(lines == self._own.repairs[index].lines for lines in others)

    def _repairs_of(self, edits: tuple[int, ...]) -> tuple[Repair, ...]:
        return (self._own.repairs[edits[0]],) if len(edits) == 1 else self._own.together([edits])[0][1]

    def _try(self, chosen: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the first edits with which together the answer passes, none if there are none."""
        together = self._own.together(edits for edits in chosen if edits not in self._tried)
        for start in range(0, len(together), MOST_IN_BATCH):
            batch = together[start : start + MOST_IN_BATCH]
            judged: dict[tuple[int, ...], Judged] = {}
            try:
                with self._copies.running([made[0].code for _, made in batch], CPU_OF_BATCH) as receive:
                    for edits, _ in batch:
                        report = receive()
                        if report is not None:
                            judged[edits] = self._copies.judge(report)
                            if judged[edits].passes:
                                return edits
            except (wire.WireError, TimeoutError):
                # How many have come depends on the machine.
                continue
            self._tried |= judged
        return ()


def makes_up(source: str, repairs: Sequence[Repair]) -> bool:
    """Return whether one of the edits only makes up for another.

    It replaces a variable that the other has changed, or puts something onto it where the other takes something away.
    Then the two are another way to a right answer, and what is said of them blames right code.
    """
    assigned = {
        (line, name.id)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return any(
        (line, one.about) in assigned
        for one, other in itertools.permutations(repairs, 2)
        if one.kind in REPLACING or (one.kind == "too-little" and other.kind in SURPLUS)
        for line in other.lines
    )


def _one_more(leading: Sequence[tuple[int, ...]], others: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield edits with one more."""
    for edits in leading:
        for other in others:
            if other not in edits:
                yield tuple(sorted((*edits, other)))


def likeliest(found: Sequence[Repair], blamed: int | None) -> Repair | None:
    """Choose from small edits with which an answer passes: one of the blamed line, then the likeliest kind.

    Of two operations of which one is too much, that is the later one.
    """

    def order(item: Repair) -> tuple[bool, int, int]:
        line = item.lines[0]
        return line != blamed, item.rank, -line if item.kind in SURPLUS else 0

    return min(found, key=order, default=None)


def with_repair(
    judgement: Judgement,
    judge: ChildProcess,
    hidden: HiddenInputs,
    request: Request,
    child: Child,
    answer: AnswerOutcome,
) -> Judgement:
    """Tell the lines and, unless it has one, the name of a mistake that an edit of the answer undoes."""
    exercise, words = request.exercise, words_of(request.code.decode(errors="replace"))
    known = tuple(
        mistake
        for mistake in map(mistake_edits.KnownMistake.of, exercise.mistakes)
        if (code := mistake.apply_to(exercise.solution)) and may_make(words, code, exercise.solution)
    )

    weighed: dict[tuple[str, bytes], Judged] = {}

    def weigh(report: RepairReport) -> Judged:
        key = repr(report.actual), report.blob
        if key not in weighed:
            weighed[key] = newly_weighed(report)
        return weighed[key]

    def newly_weighed(report: RepairReport) -> Judged:
        decided = judge_children.decide(judge, exercise, AnswerOutcome(report.actual, report.blob))
        if decided.passed:
            return Judged(True)
        near = judge_children.ask(judge, Recognize(report.actual, report.blob, known), Recognition)
        passed = tuple(check.name for check in decided.checks if check.passed)
        return Judged(False, near.found, frozenset((*passed, *near.right)), passed)

    values = None if answer.failure else RepairReport(answer.actual, answer.blob)
    names = frozenset(item.id for item in judgement.mistakes)
    copies = Copies(exercise, request.own_seed, hidden, child, weigh, values, names)
    try:
        found = find(request.code.decode(errors="replace"), copies, judgement.line)
        if found.repairs and found.is_later:
            # A copy may disturb later ones in the same process, so what is said has been tried alone.
            copy = found.repairs[0].code.encode()
            alone = judge_children.run(replace(request, code=copy), child, hidden, lambda: False)
            if alone.failure or alone.missing or not _holds(found, weigh(RepairReport(alone.actual, alone.blob))):
                found = Found()
    except WorkerError:
        # The verdict stands without a diagnosis.
        found = Found()
    named = _named(judgement.mistakes, found, statements_of(request.code.decode(errors="replace")))
    named += tuple(NamedMistake(item.id, item.name, item.why) for item in exercise.mistakes if item.id == found.leaves)
    lines = [item.line for item in named if item.line]
    # An exception has a line of its own, where it was raised.
    line = judgement.line if judgement.verdict == "error" else next(iter(lines), None)
    difference = judgement.difference
    if found.repairs and difference is not None and difference.line not in lines:
        # What differs first may be another way, and right.
        difference = None
    return replace(judgement, mistakes=named, line=line, difference=difference)


def _holds(found: Found, judged: Judged) -> bool:
    """Return whether the edits of an answer do what is said of them."""
    if found.leaves:
        return found.leaves in judged.names
    return {*judged.checks}.issuperset(found.helps) if found.helps else judged.passes


def _named(given: tuple[NamedMistake, ...], found: Found, statements: Sequence[Statement]) -> tuple[NamedMistake, ...]:
    """Return the mistakes to name, with their lines, after edits have been tried; `given` are those named already."""
    if not given:
        comes = "leaves" if found.leaves else outcome_of(len(found.repairs), helps=bool(found.helps))
        checks = found.helps or ("",) * len(found.repairs)
        return tuple(repair.mistake(comes, check) for repair, check in zip(found.repairs, checks, strict=True))
    if len(found.repairs) == 1:
        repair = found.repairs[0]
        line = repair.lines[0]
        # A line such as `return x` can be made to compute what an earlier one should have.
        plain = repair.kind in ADDING and any(
            item.line <= line <= item.end and not words_of(item.text) for item in statements
        )
        return given if plain else tuple(replace(item, line=line or item.line) for item in given)
    if len(given) == 2:
        # What is left after an edit is one of the two, so the edit is on the line of the other.
        lines = [found.left[other.id].lines[0] if other.id in found.left else None for other in reversed(given)]
        return tuple(replace(item, line=line or item.line) for item, line in zip(given, lines, strict=True))
    return given


def try_suggestions(
    judge: ChildProcess,
    request: Request,
    child: Child,
    hidden: HiddenInputs,
    cancelled: Callable[[], bool],
    answer: AnswerOutcome,
    *,
    named: bool,
) -> str:
    """Try what the message of a failure suggests. Returns the message with the first suggestion that helps, or "".

    It helps if the answer gets further. If it may run and still be wrong, then the line must also compute a result that
    the model answer has. But it must not be what the exercise asks for; and beside a mistake that is `named`, which
    may be a different one, only a misspelled name is corrected.
    """
    first, first_input = judge_children.short(request, hidden)
    source, models = request.code.decode(errors="replace"), mistake_edits.right_answers(request.exercise)
    for suggestion in answer.failure.suggestions if answer.failure else ():
        code = suggestion.apply_to(request.code)
        corrects = is_a_name(suggestion.code)
        if code is None or cancelled() or (named and not corrects) or gives_away(suggestion.code, source, models):
            continue
        traced = judge_children.run(replace(first, code=code), child, first_input, cancelled, trace=True)
        if traced.missing or traced.actual is None or not answer.failure:
            continue
        if traced.failure and (traced.failure.kind != "error" or traced.failure.line == answer.failure.line):
            continue
        if not corrects and not traced.failure:
            completed = judge_children.run(replace(request, code=code), child, hidden, cancelled)
            if not completed.failure and judge_children.decide(judge, request.exercise, completed).passed:
                return ""
        if not suggestion.semantic:
            return suggestion.text
        try:
            report = judge_children.ask(judge, CompareResults(traced.actual, traced.blob), AnswerComparison)
        except WorkerError:
            return ""
        if any(item.your_line == answer.failure.line for item in report.intermediates):
            return suggestion.text
    return ""
