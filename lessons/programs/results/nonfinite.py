"""The first numbers of a run that are not finite: where they came from, and what cures them. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.field_bounds import items, real, text, whole

Phase = Literal["forward", "backward", "optimizer"]
PHASES: tuple[Phase, ...] = ("forward", "backward", "optimizer")


@dataclass(frozen=True, slots=True)
class NonfiniteOrigin:
    """Where numbers that are not finite came from.

    Attributes:
        kind: an id of the reason that scripts can rely on, such as `zero-by-zero`; "unknown" if there is none.
        reason: the reason as a sentence; "" if there is none.
        phase: whether the program computed it itself, or autograd for its gradients, or an optimizer.
        step: the number of the optimizer's step in which this happened, from 1; 0 if no optimizer has been used.
        times: how often this code had run, counting this time; 0 if that is not known, or if it ran only once.
        of: how often it ran in all.
        count, size: how many numbers of the tensor are not finite, and how many it has.
        chain: the number itself, then what was computed from it until the number where it was noticed.
        operands: how the operands of the first one were computed.
        forward: for one of a backward pass, the code whose derivative this is, with its file and line.
        losses: what `backward` was called on in each step until then.
        afterwards: which operations took such numbers and gave only finite ones, and which derivative brought them
            back, a sentence each.
        grown: how an operand far back became as large as it was, if one operation did that; None if not.
        is_apart: whether nothing that was recorded carried the infinity that came first to this NaN.
        cures: what helps, a sentence each. Most were tried on the recorded numbers, with what follows.
    """

    kind: str
    reason: str
    phase: Phase
    step: int
    times: int
    of: int
    count: int
    size: int
    chain: tuple[Explanation, ...]
    operands: tuple[Explanation, ...] = ()
    forward: tuple[str, str, int | None] = ("", "", None)
    losses: tuple[float, ...] = ()
    cures: tuple[str, ...] = ()
    grown: Explanation | None = None
    afterwards: tuple[str, ...] = ()
    is_apart: bool = False

    @property
    def first(self) -> Explanation:
        """The first number that is not finite."""
        return self.chain[0]


@dataclass(frozen=True, slots=True)
class NotableTensor:
    """A tensor with a number worth knowing.

    Attributes:
        name: as the code calls it.
        count, size: how many of its numbers are not finite, and how many it has.
        largest: the largest magnitude of its finite numbers; None if it has none.
        dtype: the type of its numbers.
        file, line: where it was computed; "" and None if that is not known.
    """

    name: str
    count: int
    size: int
    largest: float | None
    dtype: str
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class NonfiniteReport:
    """What a search for numbers that are not finite has found.

    Attributes:
        origins: where the first one came from; then, if that is another one, where the first NaN came from.
        reached: the variables and parameters that are not finite at the end of the run.
        large: the tensors with the numbers that came closest to the largest one of their type.
        operations, numbers: how many operations were looked at, and how many numbers these wrote.
        forgotten: how many operations were not: nothing that the run had in the end depended on them.
        unkept: how many operations were looked at, but are so long ago that the record no longer has them.
        skipped: how many steps a `GradScaler` has skipped because a gradient was not finite.
        is_over: whether the run was ended soon after the first NaN, when enough was known.
        marks: where numbers that are not finite were set by the code, left out by it, or mark what is missing; "" for
            a place that is not known.
        unfollowed: what could not be found out about what depends on these, a sentence each.
        lost: how many numbers were not, because they were overwritten and there was no room for a copy.
        unseen: how many sparse or nested tensors were made whose numbers are not finite, or were not looked at.
        unjudged: of how many tensors with infinities it was not looked at whether the code has set these.
        stopped: why recording stopped before the end of the run; "" if it did not.
        stopped_line: the line at which it stopped.
    """

    origins: tuple[NonfiniteOrigin, ...]
    reached: tuple[NotableTensor, ...]
    large: tuple[NotableTensor, ...]
    operations: int
    numbers: int
    forgotten: int = 0
    lost: int = 0
    stopped: str = ""
    stopped_line: int | None = None
    unkept: int = 0
    skipped: int = 0
    is_over: bool = False
    marks: tuple[str, ...] = ()
    unfollowed: tuple[str, ...] = ()
    unseen: int = 0
    unjudged: int = 0

    @property
    def first(self) -> NonfiniteOrigin | None:
        """Where the first number that is not finite came from; None if none was found."""
        return self.origins[0] if self.origins else None

    @property
    def is_complete(self) -> bool:
        """Whether something was looked at, and nothing was not."""
        left_out = self.stopped or self.forgotten or self.lost or self.unseen or self.unjudged or self.unfollowed
        return self.operations > 0 and not left_out

    @property
    def is_finite(self) -> bool | None:
        """Whether all numbers are finite; None if none was found that is not, but not all were looked at."""
        if self.origins or self.reached:
            return False
        return True if self.is_complete else None


MOST_CHAIN = 10_000
"""The most explanations of a chain, and the most tensors and losses of a report."""


def of_json(data: Any) -> NonfiniteReport:
    """Read a report from plain data. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    return NonfiniteReport(
        origins=tuple(map(_origin, items(data["origins"], 2))),
        reached=tuple(_tensor(*items(row, 7)) for row in items(data["reached"], MOST_CHAIN)),
        large=tuple(_tensor(*items(row, 7)) for row in items(data["large"], MOST_CHAIN)),
        operations=whole(data["operations"]),
        numbers=whole(data["numbers"]),
        forgotten=whole(data["forgotten"]),
        lost=whole(data["lost"]),
        stopped=_text(data["stopped"]),
        stopped_line=x.line_of_json(data["stopped_line"]),
        unkept=whole(data["unkept"]),
        skipped=whole(data["skipped"]),
        is_over=_truth(data["is_over"]),
        marks=tuple(map(_text, items(data["marks"], 1000))),
        unfollowed=tuple(map(_text, items(data["unfollowed"], 1000))),
        unseen=whole(data["unseen"]),
        unjudged=whole(data["unjudged"]),
    )


def _origin(data: Any) -> NonfiniteOrigin:
    if data["phase"] not in PHASES or not data["chain"]:
        raise ValueError("no origin")
    code, file, line = items(data["forward"], 3)
    return NonfiniteOrigin(
        kind=_text(data["kind"]),
        reason=_text(data["reason"]),
        phase=data["phase"],
        step=whole(data["step"]),
        times=whole(data["times"]),
        of=whole(data["of"]),
        count=whole(data["count"]),
        size=whole(data["size"]),
        chain=_explanations(data["chain"]),
        operands=_explanations(data["operands"]),
        forward=(_text(code), _text(file), x.line_of_json(line)),
        losses=tuple(map(real, items(data["losses"], MOST_CHAIN))),
        cures=tuple(map(_text, items(data["cures"], 1000))),
        grown=None if data["grown"] is None else x.of_json(data["grown"]),
        afterwards=tuple(map(_text, items(data["afterwards"], 1000))),
        is_apart=_truth(data["is_apart"]),
    )


def _explanations(given: Any) -> tuple[Explanation, ...]:
    return tuple(map(x.of_json, items(given, MOST_CHAIN)))


def _tensor(name: Any, count: Any, size: Any, largest: Any, dtype: Any, file: Any, line: Any) -> NotableTensor:
    magnitude = None if largest is None else real(largest)
    return NotableTensor(
        *(_text(name), whole(count), whole(size), magnitude, _text(dtype), _text(file)), x.line_of_json(line)
    )


def _text(given: Any) -> str:
    return clean(text(given), keep="")


def _truth(given: Any) -> bool:
    if type(given) is not bool:
        raise ValueError("expected a truth value")
    return given
