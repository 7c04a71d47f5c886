"""Which operands of a number its explanation goes on with: those that contribute most, and what is left out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/left-out")

MOST = 8
"""Terms of a sum whose operands are followed, and the terms that its formula shows in digits."""

FEW_ZEROS = 2
"""Terms of a sum that are 0 up to which all are followed; of more only the first is."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The operands of an explanation that are followed.

    Attributes:
        positions: their positions among all operands; the greatest contribution first, if some are left out.
        rest: how many terms are left out and what they add up to, as a sentence; "" if there are none.
    """

    positions: tuple[int, ...]
    rest: str = ""


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a long sum, a number of a long maximum, or an operand of an operation without a formula."""

    positions: tuple[int, ...]
    value: float
    size: float


def choose(explanation: Explanation, most: int = MOST) -> Choice:
    """Choose the operands of the `most` terms of a sum that contribute most, and all that are outside of long sums."""
    e = explanation
    fixed: dict[int, None] = {}
    sums: list[tuple[str, list[_Term]]] = []
    if f.operand_positions(e.formula):
        _split(e.formula, e.values, most, fixed, sums)
    elif len(e.operands) > most:
        sums.append(("", [_Term((position,), value, _size(value)) for position, value in enumerate(e.values)]))
    chosen = dict(fixed)
    for _, terms in sums:
        order = sorted(range(len(terms)), key=lambda at: (-terms[at].size, at))
        nothing = [at for at in order if terms[at].size == 0]
        if len(nothing) > FEW_ZEROS:
            # The first one says why it is 0, and the others resemble it.
            order = [at for at in order if terms[at].size > 0 or at == nothing[0]]
        chosen.update(dict.fromkeys(position for at in order[:most] for position in terms[at].positions))
    left_out = [(op, [term for term in terms if not chosen.keys() >= set(term.positions)]) for op, terms in sums]
    left_out = [(op, terms) for op, terms in left_out if terms]
    if not left_out:
        return Choice(tuple(range(len(e.operands))))
    is_one_sum = [op for op, _ in left_out] == ["+"]
    return Choice(tuple(chosen), _rest([term for _, terms in left_out for term in terms], is_one_sum))


_CHOICES = ("max", "min", "median_low")
"""Functions that give one of their numbers."""


def _split(
    formula: f.Formula, values: Sequence[float], most: int, fixed: dict[int, None], sums: list[tuple[str, list[_Term]]]
) -> None:
    """Collect the terms of long sums, each with its operation, of those with many zeros, and the operands outside."""
    if isinstance(formula, f.OperandRef):
        fixed[formula.position] = None
    if not isinstance(formula, f.Op):
        return
    if formula.op == "+" or formula.op in _CHOICES:
        terms = list(_terms(formula, values))
        if len(terms) > most or sum(term.size == 0 for term in terms) > FEW_ZEROS:
            sums.append((formula.op, terms))
            return
    for part in formula.parts:
        _split(part, values, most, fixed, sums)


def _terms(formula: f.Op, values: Sequence[float]) -> Iterator[_Term]:
    numbers = [f.evaluate(part, values) for part in formula.parts]
    chosen = f.evaluate(formula, values)
    for part, number in zip(formula.parts, numbers, strict=True):
        size = _size(number)
        if formula.op != "+":
            # The numbers that come near the chosen one say most; one that is masked by -inf says nothing.
            distance = -abs(number - chosen) if math.isfinite(chosen) else number - chosen
            size = 0.0 if number == -math.inf else 1 / (1 - distance) if math.isfinite(distance) else math.inf
        positions = tuple(f.operand_positions(part))
        if positions:
            yield _Term(positions, number, size)


def _size(value: float) -> float:
    return math.inf if math.isnan(value) else abs(value)


def _rest(terms: list[_Term], with_total: bool) -> str:
    """Say how many terms are left out, how many of them are 0, and what they add up to."""
    count, zeros = len(terms), sum(term.value == 0 for term in terms)
    if zeros == count:
        return say.count("all-zero", count, "{count:,} more term, which is 0", "{count:,} more terms, all 0")
    facts = [say.count("more", count, "{count:,} more term", "{count:,} more terms")]
    if zeros:
        facts.append(say.count("some-zero", zeros, "{count:,} of them 0", "{count:,} of them 0"))
    if with_total:
        total = readable(f.total([term.value for term in terms]))
        facts.append(say("together", "together {total}", total=total))
    return ", ".join(facts)
