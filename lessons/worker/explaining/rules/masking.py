"""Rules for masks: which of two numbers a cell got, and which line decided it."""

from __future__ import annotations

import math

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import source_location
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import ZERO, make, region, rule, short, stored
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/masking")


@rule("masked_fill")
def _masked_fill(derivation: Derivation, index: Index, value: float) -> RuleResult:
    mask = region(derivation, "mask")
    mask_index = broadcast(mask.shape, index)
    mask_value = derivation.value(mask, mask_index)
    test = derivation.cell(mask, mask_index)
    fill, original = derivation.operand("value", index), derivation.operand("self", index)
    line = derivation.line()
    number = short(mask_value)
    if mask_value and line:
        note = say(
            "masked-on-line",
            "Masked on line {line}: the mask is {mask} here, so the value is replaced.",
            line=line,
            mask=number,
        )
    elif mask_value:
        note = say("masked", "Masked: the mask is {mask} here, so the value is replaced.", mask=number)
    else:
        note = say("not-masked", "Not masked: the mask is {mask} here, so the value stays.", mask=number)
    return make("masked_fill", f.choose(test, stored(fill, region(derivation).dtype), original), note)


MOST_STEPS = 32
"""Steps back from a score that are searched for a mask."""

HIDDEN = 1e4
"""Absolute value from which on a score counts as masked: people add or subtract -inf, -1e9 and the like."""

_CHOOSING = ("masked_fill", "where")
_WRITING = ("index_put_", "_index_put_impl_", "fill_", "copy_", "index_fill", "index_fill_", "masked_scatter_")


def masked_on(derivation: Derivation, given: Region, index: Index) -> str | None:
    """Say where a cell of an operand was masked, as in `on line 4`; "" if no line can be told, None if it was not.

    A cell counts as masked if it is -inf or nearly so and a mask set it, or a mask that holds only constants was added
    to it or to what it was computed from.
    """
    run, history = derivation.run, derivation.run.history
    element = derivation.element(given, index)
    if not history.value(element) <= -HIDDEN:
        return None
    joined: Event | None = None
    for _ in range(MOST_STEPS):
        writer = history.writer(element)
        derived = run.derive(element)
        event, formula, operands = derived.event, derived.result.formula, derived.operands
        if writer is None or event is None:
            return None
        if not operands:
            return _masked_by(derivation, writer if writer.op in _WRITING else joined)
        values = history.values(operands)
        if event.op.removesuffix("_") in _CHOOSING:
            chosen = _chosen_branch(formula, values)
            if not isinstance(chosen, f.OperandRef):
                return _masked_by(derivation, event)
            element = operands[chosen.position]
            writer = history.writer(element)
            if not run.derive(element).operands and (writer is None or writer.op not in _WRITING):
                return _masked_by(derivation, event)
            continue
        large = [item for item, value in zip(operands, values, strict=True) if abs(value) >= HIDDEN]
        if derived.result.op in ("add", "subtract") and len(large) < len(operands):
            joined = joined or event
        if not large:
            # `1e9 * (1 - kept)` is a mask; a product of scores that happens to be large is none.
            return _masked_by(derivation, joined) if _is_number_of(formula, history.value(element)) else None
        element = large[0]
    return None


def _chosen_branch(formula: f.Formula | None, values: list[float]) -> f.Formula | None:
    """Return the branch that an `if` takes, or the formula itself if it is something else."""
    if isinstance(formula, f.Op) and formula.op == "if":
        test, yes, no = formula.parts
        return yes if f.evaluate(test, values) else no
    return formula


def _is_number_of(formula: f.Formula | None, value: float) -> bool:
    """Return whether a value is one of the numbers of its formula, up to sign and rounding."""
    parts = formula.parts if isinstance(formula, f.Op) else ()
    numbers = [abs(part.value) for part in parts if isinstance(part, f.Number)]
    return any(math.isclose(number, abs(value), rel_tol=1e-6) for number in numbers)


def _masked_by(derivation: Derivation, event: Event | None) -> str | None:
    if event is None:
        return None
    return source_location.on_line(derivation.run.names.positions, event, derivation.event)


@rule("where")
def _where(derivation: Derivation, index: Index, value: float) -> RuleResult:
    test = derivation.operand("condition", index)
    return make("where", f.choose(test, derivation.operand("self", index), derivation.operand("other", index)))


@rule("triu", "tril")
def _triangle(derivation: Derivation, index: Index, value: float) -> RuleResult:
    diagonal = int(derivation.event.arg("diagonal") or 0)
    row, col = index[-2:]
    op = derivation.event.op.strip("_")
    kept = col - row >= diagonal if op == "triu" else col - row <= diagonal
    formula = derivation.operand("self", index) if kept else ZERO
    return make(op, formula, _side_of_diagonal(op, kept, row, col, diagonal))


def _side_of_diagonal(op: str, kept: bool, row: int, column: int, diagonal: int) -> str:
    which = say("diagonal", "diagonal {number}", number=diagonal) if diagonal else say("main", "the main diagonal")
    if op == "triu":
        if kept:
            return say(
                "kept-above",
                "Kept: row {row}, column {column} is on or above {diagonal}.",
                row=row,
                column=column,
                diagonal=which,
            )
        return say(
            "not-above",
            "Set to 0: row {row}, column {column} is not on or above {diagonal}.",
            row=row,
            column=column,
            diagonal=which,
        )
    if kept:
        return say(
            "kept-below",
            "Kept: row {row}, column {column} is on or below {diagonal}.",
            row=row,
            column=column,
            diagonal=which,
        )
    return say(
        "not-below",
        "Set to 0: row {row}, column {column} is not on or below {diagonal}.",
        row=row,
        column=column,
        diagonal=which,
    )
