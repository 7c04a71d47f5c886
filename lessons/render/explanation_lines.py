"""Explanations of numbers as linear text: each number, and below it those that it was computed from.

Those that contribute most are chosen, and of the others it is said what is left out.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from attn_tutor.lessons.render import explanation_text
from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.render.source_text import NO_NAMES
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation, counts_note
from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/left-out")

MOST_OPERANDS = 8
"""Terms of a sum whose operands are followed, and the terms that its formula shows in digits."""

FEW_ZEROS = 2
"""Terms of a sum that are 0 up to which all are followed; of more only the first is."""


@dataclass(frozen=True, slots=True)
class OperandChoice:
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


def choose_operands(explanation: Explanation, most: int = MOST_OPERANDS) -> OperandChoice:
    """Choose the operands of the `most` terms of a sum that contribute most, and all that are outside of long sums."""
    e = explanation
    fixed: dict[int, None] = {}
    sums: list[tuple[str, list[_Term]]] = []
    if f.operand_positions(e.formula):
        _split(e.formula, e.values, most, fixed, sums)
    elif len(e.operands) > most:
        sums.append(("", [_Term((position,), value, f.magnitude(value)) for position, value in enumerate(e.values)]))
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
        return OperandChoice(tuple(range(len(e.operands))))
    is_one_sum = [op for op, _ in left_out] == ["+"]
    return OperandChoice(tuple(chosen), _rest([term for _, terms in left_out for term in terms], is_one_sum))


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
        size = f.magnitude(number)
        if formula.op != "+":
            # The numbers that come near the chosen one say most; one that is masked by -inf says nothing.
            distance = -abs(number - chosen) if math.isfinite(chosen) else number - chosen
            size = 0.0 if number == -math.inf else 1 / (1 - distance) if math.isfinite(distance) else math.inf
        positions = tuple(f.operand_positions(part))
        if positions:
            yield _Term(positions, number, size)


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


WIDTH = 80
NARROWEST = 48
"""Columns of a line, however deep it stands."""


def lines(
    root: explanation_tree.Node,
    most: int = MOST_OPERANDS,
    here: str = "",
    steps: Mapping[str, str] = NO_NAMES,
    width: int = WIDTH,
    in_shell: bool = True,
) -> Iterator[str]:
    """Yield how a number was computed: its formula, then, indented, the formulas of its operands, each only once.

    A tree that was grown with `operand_choice` has the operands of the `most` largest terms; a line sums up the others.
    Lines of the step `here` are called by their number alone; `steps` are the names of other steps by their ids. Only a
    reader who is `in_shell` is told of options.
    """
    explained: dict[tuple[object, ...], list[explanation_tree.Node]] = {}
    said: set[str] = set()
    is_too_much = False
    pending: list[tuple[explanation_tree.Node | str, int]] = [(root, 0)]
    while pending:
        node, level = pending.pop()
        if isinstance(node, str):
            yield from textwrap.wrap(node, width, initial_indent="    " * level, subsequent_indent="    " * (level + 1))
            continue
        above = explained.setdefault(explanation_tree.identity(node), [])
        if any(explanation_tree.covers(known, node) for known in above):
            # The number is explained above already, with all that it was computed from.
            continue
        above.append(node)
        indent = "    " * level
        # Deep in a tree lines are longer rather than narrower.
        room = max(width, len(indent) + min(width, NARROWEST))
        # What counts in labels mean is said once.
        notes = tuple(note for note in node.explanation.notes if note not in said)
        said |= {counts_note(), counts_note(partly=True)} & set(notes)
        for line in explanation_text.report(replace(node.explanation, notes=notes), most=most, here=here, steps=steps):
            hanging = indent + ("      " if line.startswith(" ") else "    ")
            yield from textwrap.wrap(
                line, room, initial_indent=indent, subsequent_indent=hanging, break_long_words=False,
                break_on_hyphens=False,
            )  # fmt: skip
        is_too_much |= node.is_too_much
        if node.operands is not None and len(node.operands) < len(node.explanation.operands):
            rest = choose_operands(node.explanation, most).rest
            pending.append((f"{rest} (--all)" if in_shell else rest, level + 1))
        pending += ((operand, level + 1) for operand in reversed(node.operands or ()))
    if is_too_much:
        yield "  " + say("too-many-numbers", "There are too many numbers behind this one to show them all.")
