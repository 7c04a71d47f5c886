"""The first numbers of a run that are not finite: where they came from, and what cures them. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lessons.results import explanation as x
from lessons.results.clean_text import clean
from lessons.results.explanation import Explanation

Phase = Literal["forward", "backward", "optimizer"]
PHASES: tuple[Phase, ...] = ("forward", "backward", "optimizer")


@dataclass(frozen=True, slots=True)
class Origin:
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
        grown: how an operand far back became as large as it was, if one operation did that; None if not.
        cures: what helps, a sentence each. Whatever can be tried on the recorded numbers was tried.
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
        has_marks: whether some variables hold NaN in the end from which nothing was computed.
        lost: how many numbers were not, because they were overwritten and there was no room for a copy.
        stopped: why recording stopped before the end of the run; "" if it did not.
        stopped_line: the line at which it stopped.
    """

    origins: tuple[Origin, ...]
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
    has_marks: bool = False

    @property
    def first(self) -> Origin | None:
        """Where the first number that is not finite came from; None if all are finite."""
        return self.origins[0] if self.origins else None


def of_json(data: dict[str, Any]) -> NonfiniteReport:
    """Read a report from plain data. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    return NonfiniteReport(
        origins=tuple(map(_origin, data["origins"])),
        reached=tuple(map(_tensor, data["reached"])),
        large=tuple(map(_tensor, data["large"])),
        operations=int(data["operations"]),
        numbers=int(data["numbers"]),
        forgotten=int(data["forgotten"]),
        lost=int(data["lost"]),
        stopped=_text(data["stopped"]),
        stopped_line=_line(data["stopped_line"]),
        unkept=int(data["unkept"]),
        skipped=int(data["skipped"]),
        is_over=bool(data["is_over"]),
        has_marks=bool(data["has_marks"]),
    )


def _origin(data: dict[str, Any]) -> Origin:
    if data["phase"] not in PHASES or not data["chain"]:
        raise ValueError("no origin")
    code, file, line = data["forward"]
    return Origin(
        kind=_text(data["kind"]),
        reason=_text(data["reason"]),
        phase=data["phase"],
        step=int(data["step"]),
        times=int(data["times"]),
        of=int(data["of"]),
        count=int(data["count"]),
        size=int(data["size"]),
        chain=tuple(map(x.of_json, data["chain"])),
        operands=tuple(map(x.of_json, data["operands"])),
        forward=(_text(code), _text(file), _line(line)),
        losses=tuple(map(float, data["losses"])),
        cures=tuple(map(_text, data["cures"])),
        grown=None if data["grown"] is None else x.of_json(data["grown"]),
    )


def _tensor(data: list[Any]) -> NotableTensor:
    name, count, size, largest, dtype, file, line = data
    largest = None if largest is None else float(largest)
    return NotableTensor(_text(name), int(count), int(size), largest, _text(dtype), _text(file), _line(line))


def _text(given: Any) -> str:
    return clean(str(given), keep="")


def _line(given: Any) -> int | None:
    return given if isinstance(given, int) else None
