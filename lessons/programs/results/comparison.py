"""How two runs compare: the intermediate results that both have, and the first one that differs. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from attn_tutor.lessons.results.clean_text import in_one_line
from attn_tutor.lessons.results.field_bounds import Count, Index, Line, Longest, Printed, PrintedLines, ReadBy, Sizes

Agreeing = Literal["same", "arranged"]


@dataclass(frozen=True, slots=True)
class ComparedResult:
    """An intermediate result of one of the runs.

    Attributes:
        name: the variable that it was assigned to (`named`), or the code that computed it.
        file, line, code: where it was computed; "" and None if that is not known.
        op: the operation, as PyTorch calls it.
        callers: files and lines from which the function was called that computed it, the innermost first.
    """

    name: Printed
    named: bool
    file: Printed
    line: Line | None
    code: Printed
    op: Printed
    shape: Sizes
    dtype: Annotated[str, Longest(64), ReadBy(in_one_line)]
    callers: Annotated[tuple[tuple[Printed, Line], ...], Longest(64)] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """A result that both runs have: in the same places, or as a view of the other could have it (`arranged`)."""

    one: ComparedResult
    other: ComparedResult
    how: Agreeing


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """A cell that differs, with its number in each run."""

    index: Index
    one: float
    other: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """Successive numbers of a result, from an index on."""

    index: Index
    length: Count


@dataclass(frozen=True, slots=True)
class IndexSpan:
    """So many successive indices of an axis, of all that it has."""

    start: Count
    size: Count
    full: Count


@dataclass(frozen=True, slots=True)
class RunDifference:
    """The first result that one of the runs lacks, beside the one in its place.

    Attributes:
        one, other: what each run has; None if it has nothing in this place.
        apart: whether the run that has nothing in this place lacks not only this, but has other results of its own.
        unlike: whether nothing speaks for it that the two should be the same: each is only the first that the other
            run lacks.
        permuted: whether both hold the same numbers in another order.
        cells: the first cells that differ, then the one that differs most, if the shapes agree.
        count, size: how many of how many cells differ.
        largest: the largest difference.
        sampled: whether only some of the cells were compared one by one, because there are too many.
        stretch: the first numbers whose sums differ, if the cells that were compared one by one agree.
        spans: where one run computes a piece of what the other one computes as a whole, which piece, for each axis of
            the whole; the cells are those of the piece.
    """

    one: ComparedResult | None
    other: ComparedResult | None
    permuted: bool = False
    cells: Annotated[tuple[ComparedCell, ...], Longest(64)] = ()
    count: Count = 0
    size: Count = 0
    largest: float = 0.0
    sampled: bool = False
    stretch: Stretch | None = None
    spans: Annotated[tuple[IndexSpan, ...], Longest(64)] = ()
    apart: bool = False
    unlike: bool = False


@dataclass(frozen=True, slots=True)
class Gaps:
    """What of a run was not compared.

    Attributes:
        many: whether it has more results than were compared: its first ones were.
        stopped: why recording stopped before its end; "" if it did not.
        unread: how many results could not be compared, because nobody has their numbers any more, or can read them.
        unfinished: whether the program did not come to its end.
    """

    many: bool = False
    stopped: PrintedLines = ""
    unread: Count = 0
    unfinished: bool = False

    @property
    def ends_early(self) -> bool:
        """Whether results at the end of the run are missing."""
        return self.many or bool(self.stopped)

    def __bool__(self) -> bool:
        return self.ends_early or self.unread > 0 or self.unfinished


NO_GAPS = Gaps()


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The comparison of two runs.

    Attributes:
        agreed: results that both have, up to the difference, in the order of the first run; those with names, if there
            are many.
        matched: how many results of the first run the second one has.
        matched_of_other: how many results of the second run the first one has.
        of_one, of_other: how many results were compared of each run.
        difference: the first difference; None if there is none.
        gaps_of_one, gaps_of_other: what was not compared of each run.
        of_other_types: how many pairs up to the difference have the same numbers, in different types.
        other_type: the first of these pairs; None if there is none.
    """

    agreed: Annotated[tuple[Agreement, ...], Longest(1000)]
    matched: Count
    of_one: Count
    of_other: Count
    difference: RunDifference | None
    gaps_of_one: Gaps = NO_GAPS
    gaps_of_other: Gaps = NO_GAPS
    matched_of_other: Count = 0
    of_other_types: Count = 0
    other_type: Agreement | None = None

    @property
    def agree(self) -> bool | None:
        """Whether the runs agree; None if no difference was found where not everything was compared, or nothing."""
        if self.difference is not None:
            return False
        is_known = (self.of_one or self.of_other) and not (self.gaps_of_one or self.gaps_of_other)
        return True if is_known else None
