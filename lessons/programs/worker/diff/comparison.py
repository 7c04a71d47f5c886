"""Two runs compared by the numbers that they computed on their way, whatever they call them.

`trace` lists the intermediate results of a recorded run in the order in which they were computed; `compare` says which
ones two runs have in common, and which is the first that differs. A result of one run agrees with any of the other that
holds the same numbers, up to a tolerance that depends on their type, also as a view with axes in another order. Results
that lead to some that the other run has too are only another way there.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import torch

from attn_tutor.lessons.programs.results.comparison import (
    Agreeing,
    Agreement,
    ComparedCell,
    Gaps,
    IndexSpan,
    RunComparison,
    RunDifference,
    Stretch,
)
from attn_tutor.lessons.programs.worker.diff import result_pieces, result_sketch
from attn_tutor.lessons.programs.worker.diff.result_log import ResultLog
from attn_tutor.lessons.programs.worker.diff.result_pairs import ResultPairs, Tolerances, is_telling
from attn_tutor.lessons.programs.worker.diff.result_pieces import Piece, ResultPieces
from attn_tutor.lessons.programs.worker.diff.traced_result import ResultTrace, TracedResult
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.jobs.intermediates import hide_the_same, is_mask
from attn_tutor.lessons.worker.recording.element_history import ElementHistory, ValueLost
from attn_tutor.lessons.worker.recording.regions import Region

MOST_ORIGINS = 16
"""Values that a result may come from, at most."""

COPIES = frozenset({"clone", "detach_copy", "alias_copy"})


def bypassed(results: Sequence[TracedResult], known: Collection[int], *, ends: bool = False) -> list[bool]:
    """Return for each result whether all that was computed from it led to known ones: it was another way to these.

    Numbers that may agree by coincidence excuse no others; nor do whole numbers, such as the place of the greatest one,
    excuse the fractions that they were computed from. With `ends`, it is enough that one way led to a known one.
    """
    # How well what it led to is known: not at all, by numbers that may be a coincidence, or by others.
    evidence, fails = [0] * len(results), [False] * len(results)
    telling = [is_telling(item) for item in results]
    for at in range(len(results) - 1, -1, -1):
        item = results[at]
        own = 0 if at not in known else 2 if telling[at] else 1
        led = evidence[at] if ends or not fails[at] else 0
        for parent in item.parents:
            is_rounded = results[parent].value.is_floating_point() and not item.value.is_floating_point()
            if own == 2:
                evidence[parent] = max(evidence[parent], 0 if is_rounded else own)
            elif own or led:
                evidence[parent] = max(evidence[parent], own, led)
            else:
                fails[parent] |= telling[at] and (fails[at] or not _shows(item))
    return [evidence[at] >= (2 if telling[at] else 1) and (ends or not fails[at]) for at in range(len(results))]


def passes_on(
    item: TracedResult, results: Sequence[TracedResult], known: Collection[int], ways: Sequence[bool]
) -> bool:
    """Return whether a result only shows known numbers otherwise, on the way inside of an operation."""
    shown = _shows(item) and not item.named and item.parents
    return bool(shown) and all(at in known or ways[at] or results[at].view for at in item.parents)


def _shows(item: TracedResult) -> bool:
    """Return whether a result has no numbers of its own: a view, or a copy such as the one kept for a backward pass."""
    return item.view or (item.op in COPIES and not item.named)


def beside_the_point(
    results: Sequence[TracedResult], known: Collection[int], ways: Sequence[bool], lacking: Collection[int]
) -> set[int]:
    """Return which of the lacking results nothing needs to be explained by.

    These are numbers that were drawn or given, such as the first weights of a layer, where all that was computed from
    them differs for another reason: it was also computed from results that differ although what they were computed from
    agrees. So do those from which nothing was computed that the other run lacks.
    """
    given, differs = [False] * len(results), [False] * len(results)
    children: list[list[int]] = [[] for _ in results]
    for at, item in enumerate(results):
        for parent in item.parents:
            children[parent].append(at)
        if at in known:
            continue
        given[at] = all(given[parent] or not is_telling(results[parent]) for parent in item.parents)
        # The first of what differs, and all that follows from it.
        starts = at in lacking and not given[at] and all(one in known or ways[one] for one in item.parents)
        differs[at] = starts or any(differs[parent] for parent in item.parents)
    explained = [False] * len(results)
    for at in range(len(results) - 1, -1, -1):
        explained[at] = given[at] and all(
            child in known or ways[child] or differs[child] or explained[child] for child in children[at]
        )
    return {at for at in lacking if explained[at]}


def leads_to(results: Sequence[TracedResult], one: int, later: int | None) -> bool:
    """Return whether a result of a run was computed from another one of it."""
    reached = {one}
    for at in range(one + 1, 0 if later is None else later + 1):
        if results[at].parents & reached:
            reached.add(at)
    return later in reached


def origins_of(results: Sequence[TracedResult], known: Mapping[int, int]) -> list[frozenset[object]]:
    """Return for each result the last known values that it was computed from; nothing if there are none, or many.

    Single numbers of the code do not count. Zeros and the like are told by their shape and number: which of several are
    the same is chance.
    """
    found: list[frozenset[object]] = []
    constant = constants_of(results)
    for item in results:
        between = [at for at in item.parents if at not in known and not constant[at]]
        own = {at: results[at] for at in item.parents if at in known}
        values = (known[at] if is_telling(parent) else _constant(parent) for at, parent in own.items())
        origin = frozenset[object](values).union(*(found[at] for at in between))
        found.append(origin if len(origin) <= MOST_ORIGINS and all(found[at] for at in between) else frozenset())
    return found


def constants_of(results: Sequence[TracedResult]) -> list[bool]:
    """Return for each result whether it is a single number of the code."""
    found: list[bool] = []
    for item in results:
        found.append(item.size == 1 and all(found[at] for at in item.parents))
    return found


def _constant(item: TracedResult) -> object:
    return item.shape, float(item.value.flatten()[0])


MOST_CELLS = 6
MOST_AGREED = 200
MOST_RIVALS = 30
MOST_STEPS = 16
"""In how many results after the first one that the other run lacks something that is nearly the same is looked for."""
ALIKE = 3
"""How much speaks for it that two results should be the same, at least, so that they stand side by side."""
NEAR = 0.02
"""How far the numbers of two results are apart, as a part of their length, that are nearly the same."""


def trace(run: Explainer, until: int | None = None) -> ResultTrace:
    """List the intermediate results of a run up to a time. Not to be called while its recorder is entered."""
    record = run.record
    history, log = ElementHistory(record), ResultLog(record)
    time = 0

    def read(region: Region) -> torch.Tensor | None:
        with contextlib.suppress(ValueLost, RuntimeError):
            return history.tensor(region, time + 1, copy=False)
        return None

    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        for event in record.events[: None if until is None else record.events.after(until)]:
            time = event.time
            log.add(event, read)
        found = log.finish(read)
    found.gaps = replace(found.gaps, unread=found.gaps.unread + record.forgotten)
    return found


# Comparing ---------------------------------------------------------------------------------------------------------


def compare(
    one: ResultTrace, other: ResultTrace, rtol: float | None = None, atol: float | None = None
) -> RunComparison:
    """Compare two runs, given their traces."""
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        return _Comparison(one, other, Tolerances(rtol, atol)).run()


class _Comparison:
    def __init__(self, one: ResultTrace, other: ResultTrace, tolerances: Tolerances) -> None:
        self.one, self.other, self.tolerances = one.results, other.results, tolerances
        self.one_gaps, self.other_gaps = one.gaps, other.gaps
        self.pairs = ResultPairs(self.one, self.other, tolerances)
        self.ones, self.others = self.pairs.ones, self.pairs.others
        # The same, with what one run has in pieces and the other one as a whole.
        self.known: Mapping[int, int] = self.ones
        self.known_others: Mapping[int, int] = self.others
        self.pieces: ResultPieces | None = None
        self.pieces_of_others: ResultPieces | None = None
        self.constants = constants_of(self.one)
        self.constants_of_other = constants_of(self.other)
        self.apart = self.unlike = False

    def run(self) -> RunComparison:
        first, second = self._difference()
        if first is not None and second is not None:
            first, second = self._exchanged(first, second)
        difference = None if first is None and second is None else self._described(first, second)
        # What leads to the difference. Of code that ran again and again, the last time.
        pairs = [(at, mine) for at, mine in sorted(self.ones.items()) if first is None or at < first]
        last = {(self.one[at].name, self.one[at].file, self.one[at].line): (at, mine) for at, mine in pairs}
        kept = sorted(last.values())
        named = [pair for pair in kept if self.one[pair[0]].named]
        shown = kept if len(kept) <= MOST_AGREED else named[-MOST_AGREED:]
        shown = [pair for pair in shown if self._is_worth_telling(*pair)]
        agreed = tuple(self._agreement(*pair) for pair in shown)
        typed = [pair for pair in pairs if self._has_other_type(*pair)]
        return RunComparison(
            agreed, len(self.ones), len(self.one), len(self.other), difference, self.one_gaps, self.other_gaps,
            len(self.others), len(typed), next((self._agreement(*pair) for pair in typed), None),
        )  # fmt: skip

    def _agreement(self, one: int, other: int) -> Agreement:
        how: Agreeing = "arranged" if self.pairs.of(one, other) == "arranged" else "same"
        return Agreement(self.one[one].compared, self.other[other].compared, how)

    def _has_other_type(self, one: int, other: int) -> bool:
        """Return whether two results that are one and the same have different types."""
        is_pair = _is_paired(one, self.ones, self.others) and self._is_worth_telling(one, other)
        return is_pair and self.one[one].dtype != self.other[other].dtype

    def _is_worth_telling(self, one: int, other: int) -> bool:
        return self.one[one].name == self.other[other].name or is_telling(self.one[one])

    def _difference(self) -> tuple[int | None, int | None]:
        """Return the first result that one of the runs lacks, and the one in its place; None for both if they agree."""
        first, second = self._first_of_each()
        if (first is not None or second is not None) and self._take_pieces():
            first, second = self._first_of_each()
        twins = self._twins(len(self.one) if first is None else first + 1)
        if twins is not None or (first is None and second is None):
            return twins or (None, None)
        if first is None or second is None:
            first = _unless_missing(first, self.ones, self.other_gaps)
            second = _unless_missing(second, self.others, self.one_gaps)
            if first is None and second is None:
                return None, None
        if second is None:
            return self._first_lacking(self.one, self.known, self.other, ends=True) or first, None
        if first is None:
            return None, self._first_lacking(self.other, self.known_others, self.one, ends=True) or second
        if (variable := self._same_variable(first, second)) is not None:
            return variable
        mine, likeness = self._beside(first)
        theirs, their_likeness = self._beside_other(second)
        if mine is not None and (likeness >= their_likeness or leads_to(self.one, first, theirs)):
            moved = self._moved(second, first) if second < mine else None
            return (first, mine) if moved is None else (moved, second)
        namesakes = self._namesakes(first) if mine is None else None
        if namesakes is not None:
            return namesakes
        if theirs is not None:
            return theirs, second
        # Nothing is like the other. If only one of them was computed from what both have, that one tells more.
        told = self._is_continued(self.one[first], self.one, self.ones)
        told_other = self._is_continued(self.other[second], self.other, self.others)
        self.apart = told != told_other
        self.unlike = told == told_other
        return (first if told or not told_other else None), (second if told_other or not told else None)

    @staticmethod
    def _is_continued(item: TracedResult, results: Sequence[TracedResult], known: Mapping[int, int]) -> bool:
        return any(at in known and is_telling(results[at]) for at in item.parents)

    def _first_of_each(self) -> tuple[int | None, int | None]:
        """Return the first result of each run that the other one lacks."""
        first = self._first_lacking(self.one, self.known, self.other)
        second = self._first_lacking(self.other, self.known_others, self.one)
        first = None if first is not None and second is None and _counts_steps(self.one[first]) else first
        second = None if second is not None and first is None and _counts_steps(self.other[second]) else second
        if first is not None and second is not None:
            # Single whole numbers, zeros and the like are told if there is nothing else.
            told = is_telling(self.one[first]), is_telling(self.other[second])
            first, second = (first if told[0] or not told[1] else None), (second if told[1] or not told[0] else None)
        return first, second

    def _take_pieces(self) -> bool:
        """Find what one run computes in pieces and the other one as a whole, and return whether there is any of it."""
        self.pieces = ResultPieces(self.one, self.ones, self.other, self.tolerances)
        self.pieces_of_others = ResultPieces(self.other, self.others, self.one, self.tolerances)
        self.known = result_pieces.extended(self.ones, self.pieces, self.pieces_of_others)
        self.known_others = result_pieces.extended(self.others, self.pieces_of_others, self.pieces)
        return bool(self.pieces.pieces or self.pieces_of_others.pieces)

    def _moved(self, second: int, until: int) -> int | None:
        """Return where the first run has the same code as the second one, on other numbers; None if it has not."""
        item = self.other[second]
        for at, found in enumerate(self.one[:until]):
            alike = (found.code, found.name, found.op, found.size) == (item.code, item.name, item.op, item.size)
            if alike and item.named and at not in self.known:
                return at
        return None

    def _exchanged(self, first: int, second: int) -> tuple[int, int]:
        """Return the whole numbers that two results were computed from in place of each other; else these results.

        Both runs may have both, such as the words of a text and the same moved on by one.
        """
        mine = [at for at in self.one[first].parents if self.known.get(at) not in self.other[second].parents]
        theirs = [at for at in self.other[second].parents if self.known_others.get(at) not in self.one[first].parents]
        if len(mine) != 1 or len(theirs) != 1:
            return first, second
        one, other = self.one[mine[0]], self.other[theirs[0]]
        is_whole = not (one.value.is_floating_point() or other.value.is_floating_point())
        is_other = one.shape == other.shape and self.pairs.of(mine[0], theirs[0]) != "same"
        return (mine[0], theirs[0]) if is_whole and is_other else (first, second)

    def _same_variable(self, first: int, second: int) -> tuple[int, int] | None:
        """Return one of the first results that the other run lacks, and what that run calls by its name.

        The latter is known and leads to the first one that is not: its numbers are among those that the run with the
        former has elsewhere, such as in a derivative. Returns None if there is no such pair.
        """
        mine, theirs = self._origins

        def same(at: int, index: int) -> bool:
            one, other = self.one[at], self.other[index]
            alike = one.named and other.named and (one.name, one.shape) == (other.name, other.shape)
            return alike and bool(mine[index]) and mine[index] == theirs[at]

        for index in self.known_others:
            if same(first, index) and leads_to(self.other, index, second):
                return first, index
        for at in self.known:
            if same(at, second) and leads_to(self.one, at, first):
                return at, second
        return None

    @cached_property
    def _origins(self) -> tuple[list[frozenset[object]], list[frozenset[object]]]:
        """What the results of the second run and of the first one were computed from."""
        mine = {index: self.pairs.value_of(index) for index in self.others}
        theirs = {index: self.pairs.value_of(found) for index, found in self.ones.items()}
        return origins_of(self.other, mine), origins_of(self.one, theirs)

    def _namesakes(self, first: int) -> tuple[int, int] | None:
        """Return what a line computes that has a result which the other run lacks, and the same variable there.

        Both have been assigned to as often, and differ; it does not matter what other results the latter may be like.
        """
        line = (self.one[first].file, self.one[first].line)
        at = next((at for at in range(first, len(self.one)) if (self.one[at].file, self.one[at].line) != line), None)
        at = (len(self.one) if at is None else at) - 1
        item = self.one[at]
        if not item.named or at in self.ones:
            return None
        turn = _assignments(self.one, item.name).index(at)
        index = next(iter(_assignments(self.other, item.name)[turn:]), None)
        if index is None or self.other[index].shape != item.shape or self.pairs.of(at, index) == "same":
            return None
        return at, index

    def _twins(self, until: int) -> tuple[int, int] | None:
        """Return the first results up to one that are computed from the same in both runs, but not quite to the same.

        The runs call them alike, or their numbers are nearly the same. That a later result agrees, up to the tolerance,
        excuses none of these.
        """
        mine, theirs = self._origins
        rivals: dict[tuple[object, ...], list[int]] = {}
        for index, item in enumerate(self.other):
            if mine[index] and not _is_paired(index, self.others, self.ones):
                rivals.setdefault((item.shape, mine[index]), []).append(index)
        if not rivals:
            return None
        last = self.one[until - 1]
        for at, item in enumerate(self.one[: until + MOST_STEPS]):
            if at >= until and (item.file, item.callers) != (last.file, last.callers):
                break
            if _is_paired(at, self.ones, self.others):
                continue
            for index in rivals.get((item.shape, theirs[at]), ())[:MOST_RIVALS]:
                # In what follows in the same function, all of a formula may be nearly what the other run has.
                if self._are_twins(at, index) if at < until else _is_near(item, self.other[index]):
                    return at, index
        return None

    def _are_twins(self, one: int, other: int) -> bool:
        """Return whether two results that are computed from the same should be the same, and are not."""
        item, found = self.one[one], self.other[other]
        same_name = item.name == found.name
        known = (one in self.ones) + (other in self.others)
        if known:
            # One of them is what the other run has in another place, such as what it should have been divided by.
            alike = same_name and item.named and found.named
            alike = alike and (item.line == found.line or (item.is_whole and found.is_whole))
            return known == 1 and alike and not self._between(one, other)
        return (same_name and (item.named or not self._between(one, other))) or _is_near(item, found)

    def _between(self, one: int, other: int) -> bool:
        """Return whether anything that only one run has stands between two results and what they come from.

        Single numbers of the code do not count.
        """
        mine = (at for at in self.one[one].parents if at not in self.ones)
        theirs = (at for at in self.other[other].parents if at not in self.others)
        return not all(self.constants[at] for at in mine) or not all(self.constants_of_other[at] for at in theirs)

    def _first_lacking(
        self,
        results: Sequence[TracedResult],
        known: Mapping[int, int],
        others: Sequence[TracedResult],
        *,
        ends: bool = False,
    ) -> int | None:
        """Return the first result that the other run lacks, of those that are no coincidence if there are any."""
        ways = bypassed(results, known, ends=ends)
        lacking = list(self._lacking(results, known, others, ways))
        aside = beside_the_point(results, known, ways, set(lacking))
        lacking = [at for at in lacking if at not in aside] or lacking
        told = [at for at in lacking if is_telling(results[at])] or lacking
        return next((at for at in told if not self._is_idle_view(at, results, known, others)), next(iter(told), None))

    def _is_idle_view(
        self, at: int, results: Sequence[TracedResult], known: Mapping[int, int], others: Sequence[TracedResult]
    ) -> bool:
        """Return whether a result is a view of what both have, and the other run has no other view in its place."""
        item = results[at]
        parents = {known[parent] for parent in item.parents if parent in known}
        if not item.view or item.named or len(parents) < len(item.parents):
            return False
        theirs = self.known_others if results is self.one else self.known
        views = (index for index, found in enumerate(others) if found.view and index not in theirs)
        pairs = (((at, index) if results is self.one else (index, at)) for index in views)
        return not any(
            parents & others[pair[1] if results is self.one else pair[0]].parents or self.pairs.of(*pair) == "permuted"
            for pair in pairs
        )

    def _lacking(
        self,
        results: Sequence[TracedResult],
        known: Mapping[int, int],
        others: Sequence[TracedResult],
        ways: Sequence[bool],
    ) -> Iterator[int]:
        """Yield the results that the other run lacks, unless they are just another way to those that it has."""
        read = {parent for item in results for parent in item.parents}
        masks = [item for item in others if is_mask(item.value)]
        for at, item in enumerate(results):
            is_passing = at not in read and passes_on(item, results, known, ways)
            if at in known or ways[at] or is_passing:
                continue
            if is_mask(item.value) and any(
                item.size == mask.size and hide_the_same(item.value, mask.value) for mask in masks
            ):
                continue
            yield at

    def _beside(self, one: int) -> tuple[int | None, int]:
        """Return which result of the second run stands in the place of one that it lacks, and how alike they are."""
        return _most_alike(self.other, self.known_others, lambda other: self._likeness(one, other))

    def _beside_other(self, other: int) -> tuple[int | None, int]:
        """Return which result of the first run stands in the place of one that it lacks, and how alike they are."""
        return _most_alike(self.one, self.known, lambda one: self._likeness(one, other))

    def _likeness(self, one: int, other: int) -> int:
        """Return how much speaks for two results that they should be the same."""
        item, found = self.one[one], self.other[other]
        same_name = found.named == item.named and found.name == item.name
        same_shape = found.outline == item.outline
        permuted = found.size == item.size > 1 and self.pairs.of(one, other) == "permuted"
        shared = max(
            len({self.known[at] for at in item.parents if at in self.known} & found.parents),
            len({self.known_others[at] for at in found.parents if at in self.known_others} & item.parents),
        )
        is_piece = found.size != item.size and self._has_place(one, other)
        if not (same_name or permuted or is_piece or shared or found.op == item.op):
            # Many results have one shape, and nothing to do with each other.
            return 0
        return 3 * (same_name + same_shape + permuted + is_piece) + (found.op == item.op) + 2 * min(shared, 2)

    def _has_place(self, one: int, other: int) -> bool:
        """Return whether one of two results is like those that are pieces of the other one."""
        if self.one[one].size > self.other[other].size:
            return self.pieces_of_others is not None and self.pieces_of_others.has_place(other, one)
        return self.pieces is not None and self.pieces.has_place(one, other)

    def _described(self, one: int | None, other: int | None) -> RunDifference:
        first = None if one is None else self.one[one]
        second = None if other is None else self.other[other]
        told = (None if first is None else first.compared, None if second is None else second.compared)
        if one is None or other is None or first is None or second is None:
            return RunDifference(*told, apart=self.apart)
        if self.unlike:
            return RunDifference(*told, unlike=True)
        permuted = self.pairs.of(one, other) == "permuted"
        # A float cannot tell all whole numbers apart.
        is_whole = not (first.value.is_floating_point() or second.value.is_floating_point())
        wide = torch.int64 if is_whole else torch.float64
        a, b = first.value.to(wide), second.value.to(wide)
        spans: tuple[IndexSpan, ...] = ()
        if first.shape != second.shape:
            place = self._place_of_piece(one, other)
            if place is None:
                return RunDifference(*told, permuted=permuted)
            whole, piece = (first, place) if first.size > second.size else (second, place)
            shown = result_pieces.part(whole, piece).to(wide)
            a, b = (shown, b.reshape(shown.shape)) if whole is first else (a.reshape(shown.shape), shown)
            spans = result_pieces.spans(whole, piece)
        part = second if first.size > second.size else first
        limits = self.tolerances.of(first, second)
        differs = ~torch.isclose(a, b, rtol=limits[0], atol=limits[1], equal_nan=True)
        apart = (a - b).abs().double().nan_to_num(math.inf, math.inf)
        apart = torch.where(differs, apart, 0.0)
        flat = differs.flatten().nonzero().flatten()[: MOST_CELLS - 1].tolist()
        furthest = int(apart.flatten().argmax())
        cells = tuple(
            ComparedCell(_index(position, part), float(a.flatten()[position]), float(b.flatten()[position]))
            for position in dict.fromkeys([*flat, furthest] if flat else ())
        )
        return RunDifference(
            *told, permuted, cells, int(differs.sum()), a.numel(), float(apart.max()),
            sampled=first.sketch is not None, stretch=None if flat else _stretch(first, second, limits), spans=spans,
        )  # fmt: skip

    def _place_of_piece(self, one: int, other: int) -> Piece | None:
        """Return which piece of the larger of two results the other one should be; None if that is not known."""
        if self.one[one].size > self.other[other].size:
            return self.pieces_of_others.place_of(other, one) if self.pieces_of_others is not None else None
        return self.pieces.place_of(one, other) if self.pieces is not None else None


def _most_alike(
    results: Sequence[TracedResult], known: Mapping[int, int], likeness: Callable[[int], int]
) -> tuple[int | None, int]:
    """Return the result that is most alike, and how alike it is; None if none is.

    What is only another way to results that agree is looked at later, and zeros and the like last.
    """
    ways = bypassed(results, known)
    ranks = [0 if at in known else 3 if not is_telling(item) else 1 + ways[at] for at, item in enumerate(results)]
    for rank in (1, 2, 3):
        free = (at for at in range(len(results)) if ranks[at] == rank)
        alike, place = max(((likeness(at), -at) for at in free), default=(0, 0))
        if alike >= ALIKE:
            return -place, alike
    return None, 0


def _unless_missing(lacking: int | None, known: Mapping[int, int], gaps: Gaps) -> int | None:
    """Return a result that the other run lacks; None if it may be among what is missing there."""
    if lacking is None or gaps.unread:
        return None
    return lacking if not gaps.ends_early or lacking < max(known, default=0) else None


def _is_paired(index: int, known: Mapping[int, int], back: Mapping[int, int]) -> bool:
    """Return whether a result is one of a pair, and not only the same as one of a pair."""
    return index in known and back.get(known[index]) == index


def _assignments(results: Sequence[TracedResult], name: str) -> list[int]:
    """List the results that a variable was assigned to: of those that one line computes for it, the last."""
    named = [at for at, item in enumerate(results) if item.named and item.name == name]
    return [at for at in named if at + 1 not in named or results[at + 1].line != results[at].line]


def _counts_steps(item: TracedResult) -> bool:
    """Return whether a result is the count that an optimizer keeps of its steps."""
    return item.shape == () and not item.named and item.name.endswith(".step()") and not is_telling(item)


def _is_near(one: TracedResult, other: TracedResult) -> bool:
    """Return whether the numbers of two results of one shape are nearly the same: the same thing, not quite."""
    if not (one.value.is_floating_point() and other.value.is_floating_point() and is_telling(one)):
        return False
    first, second = one.value.double(), other.value.double()
    return bool((first - second).norm() <= NEAR * first.norm())


def _stretch(one: TracedResult, other: TracedResult, limits: tuple[float, float]) -> Stretch | None:
    """Return the first stretch whose sums differ in two large results of one shape."""
    if one.sketch is None or other.sketch is None:
        return None
    every = result_sketch.stretch(one.size)
    found = result_sketch.differing(one.sketch, other.sketch, every, limits).nonzero().flatten()[:1].tolist()
    return next((Stretch(_index(at, one), min(every, one.size - at * every)) for at in found), None)


def _index(position: int, result: TracedResult) -> tuple[int, ...]:
    """Return the index in the whole result of a number that is kept of it."""
    rest, index = position * max(result_sketch.stretch(result.size), 1), []
    for size in reversed(result.shape):
        index.append(rest % size)
        rest //= size
    return tuple(reversed(index))
