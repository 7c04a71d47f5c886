"""Where the rules of operations are kept, and what a rule returns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, Index, RuleResult
from lessons.worker.recording.recorder import Region

Rule = Callable[[Derivation, Index, float], RuleResult]
"""Gets the work (the event and its operands so far), the index of a cell in the result, and its value."""

MOST_TERMS = 4096
"""Numbers that are joined in one cell, up to which they are listed."""

MOST_UNKNOWN = 64
"""Operands of an operation without a rule that are listed."""

ONE = f.Number(1.0)
ZERO = f.Number(0.0)

_RULES: dict[str, Rule] = {}


def rule(*ops: str) -> Callable[[Rule], Rule]:
    """Register the rule of these operations, and of the same in place."""

    def register(function: Rule) -> Rule:
        for op in ops:
            _RULES[op] = _RULES[op + "_"] = function
        return function

    return register


def find(op: str) -> Rule:
    """The rule of an operation."""
    return _RULES.get(op, unknown)


def known() -> Iterable[str]:
    """All operations that have a rule."""
    return _RULES.keys()


def make(op: str, formula: f.Formula | None = None, *notes: str, **more: Any) -> RuleResult:
    """What a rule returns."""
    return RuleResult(op, formula, list(notes), **more)


def short(value: float) -> str:
    """A number in a sentence."""
    return f"{value:.6g}"


def ordinal(count: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, ..."""
    last = "th" if 10 < count % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{last}"


def too_many(work: Derivation, count: int) -> RuleResult:
    """A cell that is made from more numbers than anybody reads."""
    return make(work.event.op.strip("_"), None, f"Made from {count:,} numbers, too many to list.")


def unknown(work: Derivation, index: Index, value: float) -> RuleResult:
    """An operation outside the list says its name and shows its operands."""
    left = MOST_UNKNOWN
    for given in work.event.operands():
        same = given.shape == work.event.outs[work.output].shape
        for place in [index] if same else itertools.islice(given.indices(), left):
            work.cell(given, place)
            left -= 1
    return named_only(work)


def named_only(work: Derivation) -> RuleResult:
    """An operation without a formula."""
    op = work.event.op.strip("_")
    return make(op, None, f"The operation {op} has no rule here: these are its operands, not its formula.")


def region(work: Derivation, name: str = "self") -> Region:
    """An argument that is a tensor."""
    given = work.event.arg(name)
    assert isinstance(given, Region)
    return given
