"""The registry of rules by operation, and helpers that rules share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.narrow_types import dtype_name, rounded_note
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/rules")

Rule = Callable[[Derivation, Index, float], RuleResult]
"""Takes a derivation (the event and its operands so far), the index of a cell in the result, and its value."""

MOST_TERMS = 4096
"""Operands of one cell up to which all are listed."""

MOST_UNKNOWN = 64
"""Numbers that are listed of an operation without a rule."""

ONE = f.Number(1.0)
ZERO = f.Number(0.0)

_RULES: dict[str, Rule] = {}


def rule(*ops: str) -> Callable[[Rule], Rule]:
    """Register a rule for these operations and their in-place forms."""

    def register(function: Rule) -> Rule:
        for op in ops:
            _RULES[op] = _RULES[op + "_"] = function
        return function

    return register


def find(op: str) -> Rule:
    """Return the rule of an operation, `unknown` if it has none."""
    return _RULES.get(op, unknown)


def make(op: str, formula: f.Formula | None = None, *notes: str, **more: Any) -> RuleResult:
    """Build the result of a rule; `more` are further fields of `RuleResult`."""
    return RuleResult(op, formula, list(notes), **more)


def leaf(derivation: Derivation, op: str, index: Index, note: str, **more: Any) -> RuleResult:
    """Build the result of a rule for a number that was made from no other; its formula is that number."""
    return make(op, derivation.initial(index), note, **more)


def initial(derivation: Derivation, index: Index, value: float) -> float:
    """Return the number that an operation without operands made; what it is now if that is not known."""
    number = derivation.initial(index)
    return number.value if isinstance(number, f.Number) else value


def stored(number: f.Formula, dtype: torch.dtype) -> f.Formula:
    """Convert a number to what a tensor of a type that it is written to can hold: whole numbers have no fraction."""
    if dtype == torch.bool:
        return f.Op("!=", (number, ZERO))
    if dtype in (torch.float16, torch.bfloat16):
        rounding = f.call(dtype_name(dtype), number)
        return rounding if isinstance(number, f.Number) and f.evaluate(rounding, []) != number.value else number
    is_whole = isinstance(number, f.Number) and number.value.is_integer()
    return number if dtype.is_floating_point or dtype.is_complex or is_whole else f.call("trunc", number)


def as_stored(number: f.Formula, dtype: torch.dtype) -> tuple[str, ...]:
    """Say what became of a number so that a tensor can hold it; nothing if it stayed as it was."""
    if not isinstance(number, f.Op) or dtype == torch.bool:
        return ()
    return (rounded_note(dtype),) if dtype.is_floating_point else (cut_off(),)


def cut_off() -> str:
    """Say that a fraction was left out."""
    return say("cut-off", "Cut off to a whole number.")


def short(value: float) -> str:
    """Format a number for a sentence."""
    return f"{value:.6g}"


def ordinal_ending(count: int) -> str:
    """Return how an ordinal number ends in English: "st", "nd", "rd" or "th"."""
    return "th" if 10 < count % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")


def set_here(number: float) -> str:
    """Say that an element was set to a number."""
    return say("set-here", "Set to {number} here.", number=short(number))


def given_by_python() -> str:
    """Say that a number came from Python."""
    return say("given", "A number that Python gave to PyTorch here.")


def too_many(derivation: Derivation, count: int) -> RuleResult:
    """Explain a cell that was computed from more numbers than anybody reads."""
    note = say.count(
        "too-many",
        count,
        "Made from {number} number, too many to list.",
        "Made from {number} numbers, too many to list.",
        number=f"{count:,}",
    )
    return make(derivation.event.op.strip("_"), None, note)


def unknown(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain an operation that has no rule by its name and the numbers that may count in a cell of its result."""
    for operand, at in may_count(derivation, index):
        derivation.cell(operand, at)
    return named_only(derivation)


def may_count(derivation: Derivation, index: Index) -> Iterator[tuple[Region, Index]]:
    """Yield cells that may count in a cell of a result: those at its place if no others can, else the first of all."""
    operands = list(_taken(derivation.event))
    if derivation.event.info.pointwise:
        yield from ((operand, broadcast(operand.shape, index)) for operand in operands)
        return
    cells = ((operand, at) for operand in operands for at in operand.indices())
    yield from itertools.islice(cells, MOST_UNKNOWN)


def _taken(event: Event) -> Iterator[Region]:
    """Yield the tensors that an operation computed from, without one in `out`."""
    return (replace(event, kwargs={}) if event.info.out else event).operands()


def named_only(derivation: Derivation) -> RuleResult:
    """Explain an operation for which there is no formula by its name, and say what is known of the numbers it took."""
    event, op = derivation.event, derivation.event.op.strip("_")
    count = sum(operand.size for operand in _taken(event))
    if not derivation.elements:
        note = say("no-rule-alone", "The operation {op} has no rule here.", op=op)
    elif event.info.pointwise:
        note = say(
            "no-rule", "The operation {op} has no rule here: below are numbers that it took, not its formula.", op=op
        )
    elif count <= MOST_UNKNOWN:
        note = say(
            "no-rule-all",
            "The operation {op} has no rule here. It took the numbers below; which of them count in this one is not "
            "known.",
            op=op,
        )
    else:
        note = say(
            "no-rule-first",
            "The operation {op} has no rule here. It took {number} numbers, and the first of them are below; which "
            "ones count in this one is not known.",
            op=op,
            number=f"{count:,}",
        )
    return make(op, None, note)


def without_storage(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain an operation that took or made a tensor whose numbers are not recorded, such as a sparse one.

    Or one that runs functions of the program, of which nothing is recorded.
    """
    result = unknown(derivation, index, value)
    if derivation.event.info.runs_code:
        note = say(
            "runs-code",
            "PyTorch runs {op} as a single operation. What is computed inside it is not recorded, so there is no "
            "formula: below are numbers that it took.",
            op=result.op,
        )
        return make(result.op, None, note)
    note = say(
        "sparse", "It took a tensor whose numbers are not recorded, such as a sparse one or zeros that take no memory."
    )
    return make(result.op, None, note, *(result.notes if derivation.elements else ()))


def region(derivation: Derivation, name: str = "self") -> Region:
    """Return an argument that is a tensor."""
    argument = derivation.event.arg(name)
    assert isinstance(argument, Region)
    return argument
