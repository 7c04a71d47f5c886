"""Explanations in words, symbols and digits: the text that the screen and `attn-tutor explain` show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from attn_tutor.lessons.render import formula_digits
from attn_tutor.lessons.render.numbers import readable, written_out
from attn_tutor.lessons.render.source_text import NO_NAMES, source
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation, Operand, primary
from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/text")

LONG = 4
"""In symbols, a sum with more terms than this is abbreviated to a row pattern or to its first terms."""


def leaf_word(op: str) -> str:
    """Return how a number came about that was computed from nothing else; the operation itself if no words say it."""
    match op:
        case "draw":
            return say("drawn", "drawn at random")
        case "literal":
            return say("literal", "written in the code")
        case "given":
            return say("given", "given")
        case "constant":
            return say("constant", "a constant")
        case "set":
            return say("set", "set by you")
        case "uninitialized":
            return say("uninitialized", "uninitialized")
        case "unrecorded":
            return say("unrecorded", "unrecorded")
    return op


@dataclass(frozen=True, slots=True)
class OperandGroup:
    """Operands of one tensor that belong together; `positions` are their positions among all operands."""

    name: str
    pattern: str
    positions: tuple[int, ...]


def groups(explanation: Explanation) -> tuple[OperandGroup, ...]:
    """Group the operands: the first factors of a dot product, then the second factors; otherwise by tensor."""
    e = explanation
    found: dict[tuple[int, str], list[int]] = {}
    for term in f.terms(e.formula):
        for column, position in enumerate(_factors(term) or f.operand_positions(term)):
            name = _base(e.operands[position].name)
            row = found.setdefault((column if _factors(term) else -1, name), [])
            if position not in row:
                row.append(position)
    seen = {position for row in found.values() for position in row}
    for position in range(len(e.operands)):
        if position not in seen:
            found.setdefault((-1, _base(e.operands[position].name)), []).append(position)
    return tuple(
        OperandGroup(
            name, pattern([e.operands[position] for position in row]), tuple(row if column >= 0 else sorted(row))
        )
        for (column, name), row in found.items()
    )


def _base(name: str) -> str:
    """Return a name without the `#count` suffix that distinguishes iterations of a loop."""
    base, _, count = name.rpartition("#")
    return base if base and count.isdigit() else name


def pattern(operands: Sequence[Operand]) -> str:
    """Return what the cells have in common, as Python would write it: `weights[1,:]` for a row.

    Cells of one name are of several values of it if they come from the iterations of a loop.
    """
    names = {operand.name for operand in operands}
    name = names.pop() if len(names) == 1 else _base(operands[0].name)
    indices = [operand.index for operand in operands]
    if len({len(index) for index in indices}) > 1:
        return name
    axes = [f"{values.pop()}" if len(values := set(column)) == 1 else ":" for column in zip(*indices, strict=True)]
    return f"{primary(name)}[{','.join(axes)}]" if axes else name


# The formula -------------------------------------------------------------------------------------------------------


def symbols(explanation: Explanation, unicode: bool = True) -> str:
    """Return the formula in symbols: rows and columns where it runs along them, single cells elsewhere."""
    e, dot = explanation, "·" if unicode else "*"
    if e.leaf:
        return leaf_word(e.op)
    parts = [group.pattern for group in groups(e)]
    if e.op in ("softmax", "log_softmax") and len(parts) == 1:
        return f"{e.op}({parts[0]})"
    if e.op == "copy":
        return e.operands[0].label
    if isinstance(e.formula, f.Number) and not e.formula.code:
        # Only the inputs are known, not how the value was computed from them.
        return f"{e.op}({', '.join(parts)})"
    if e.op == "masked_fill":
        return _masked(e, unicode)
    summed = f.terms(e.formula)
    products = [term for term in summed if _factors(term)]
    columns = _columns(products, e)
    if columns and len(summed) - len(products) <= 2:
        joined = iter([dot.join(map(pattern, columns))])
        # Write the product where its first term was.
        return " + ".join(
            part_text(term, e, unicode) if not _factors(term) else text
            for term in summed
            if not _factors(term) or (text := next(joined, ""))
        )
    return part_text(e.formula, e, unicode)


def _columns(products: Sequence[f.Formula], e: Explanation) -> list[list[Operand]]:
    """Return the first, second, ... factors of several products if each are a block of one tensor, else nothing."""
    factors = [_factors(product) or () for product in products]
    if len(products) < 2 or len(set(map(len, factors))) > 1:
        return []
    columns = [[e.operands[position] for position in column] for column in zip(*factors, strict=True)]
    return columns if all(map(_is_block, columns)) else []


def _is_block(operands: Sequence[Operand]) -> bool:
    """Return whether cells are those that a pattern such as `w[1,:]` names: of one tensor, and all combinations."""
    indices = {operand.index for operand in operands}
    if len({_base(operand.name) for operand in operands}) > 1 or len(set(map(len, indices))) > 1:
        return False
    return math.prod(len(set(axis)) for axis in zip(*indices, strict=True)) == len(indices)


def _masked(e: Explanation, unicode: bool) -> str:
    """Return what a masked fill chose: the fill value for masked cells, or else the original value."""
    if not (isinstance(e.formula, f.Op) and e.formula.op == "if"):
        return part_text(e.formula, e, unicode)
    test, yes, no = (part_text(part, e, unicode) for part in e.formula.parts)
    return " ".join((yes, "if", test, "else", no))


def _cell(part: f.Formula) -> int | None:
    return part.position if isinstance(part, f.OperandRef) else None


def _factors(term: f.Formula) -> tuple[int, ...] | None:
    """Return the operand positions of a product that consists only of cells, None for other formulas."""
    if isinstance(term, f.Op) and term.op == "*":
        positions = [_cell(part) for part in term.parts]
        if None not in positions:
            return tuple(position for position in positions if position is not None)
    return None


def part_text(part: f.Formula, e: Explanation, unicode: bool) -> str:
    """Write a part of the formula.

    Numbers are written as the code that gives them, long sums as a row pattern or their first terms.
    """
    labels = [operand.label for operand in e.operands]
    style: f.Style = "people" if unicode else "python"

    def called(text: str) -> f.Formula:
        labels.append(text)
        return f.OperandRef(len(labels) - 1)

    def named(item: f.Formula) -> f.Formula:
        if isinstance(item, f.Number) and item.code:
            return called(f"({item.code})" if " " in item.code else item.code)
        if not isinstance(item, f.Op):
            return item
        if len(item.parts) > LONG and (row := _row(item, e)):
            return called(f"{'sum' if item.op == '+' else item.op}({row})")
        if len(item.parts) > LONG and item.op == "+":
            count = say.count("terms", len(item.parts), "{count} term", "{count} terms")
            gap = called(f"{'…' if unicode else '...'} ({count})")
            return f.add(*map(named, item.parts[: LONG - 1]), gap)
        return f.Op(item.op, tuple(map(named, item.parts)))

    return f.text(named(part), labels, written_out, style)


def _row(item: f.Op, e: Explanation) -> str:
    """Return the row pattern of the terms if all of them are cells of the same tensor, "" otherwise."""
    cells = [e.operands[part.position] for part in item.parts if isinstance(part, f.OperandRef)]
    return pattern(cells) if len(cells) == len(item.parts) and _is_block(cells) else ""


# Lines -------------------------------------------------------------------------------------------------------------


def where(explanation: Explanation, here: str = "", steps: Mapping[str, str] = NO_NAMES) -> str:
    """Return the source line, if it is known, as `source_text.source` writes it."""
    e = explanation
    return source(e.file, e.line, here, steps) if e.line is not None else ""


def one_line(
    explanation: Explanation, width: int, here: str = "", unicode: bool = True, steps: Mapping[str, str] = NO_NAMES
) -> str:
    """Return the explanation in one line: symbols, digits and result, as much as fits into `width` columns."""
    e = explanation
    place = where(e, here, steps)
    tail = f"   {place}" if place else ""
    head, sum_up = f"{e.label} = ", symbols(e, unicode)
    if e.leaf:
        value = f"{head}{readable(e.value, e.dtype)}"
        candidates = [*(f"{value}   {note}" for note in e.notes[:1]), f"{value}   {sum_up}", value]
    else:
        found = formula_digits.digits(e, 8, unicode)
        result = f"{found.sign} {found.result}"
        arithmetic = "" if found.text in (found.result, sum_up) else found.text
        candidates = [f"{head}{sum_up} = {arithmetic} {result}", f"{head}{arithmetic} {result}"] if arithmetic else []
        candidates.append(f"{head}{sum_up} {result}")
    candidates = [text + end for text in candidates for end in (tail, "")]
    return next((text for text in candidates if cell_len(text) <= width), candidates[-1])


def report(
    explanation: Explanation, unicode: bool = True, most: int = 8, here: str = "", steps: Mapping[str, str] = NO_NAMES
) -> list[str]:
    """Return the explanation as lines: symbols, digits with the `most` largest terms of a sum, notes, details."""
    e = explanation
    place = where(e, here, steps)
    code = f"{place}: {e.code}" if place and e.code else place or e.code
    found = formula_digits.digits(e, most, unicode)
    lines = [f"{e.label} = {found.result}" + (f"   {code}" if code else "")]
    if not e.leaf:
        text = symbols(e, unicode)
        lines.append(f"  = {text}")
        if found.text not in (found.result, text):
            lines.append(f"  = {found.text} {found.sign} {found.result}")
        lines += [f"  {found.remark}"] if found.remark else []
    lines += [f"  {note}" for note in e.notes]
    for title, row in e.details:
        lines.append(f"  {title}: {numbers(row)}")
    return lines


def numbers(row: Sequence[float], most: int = 12) -> str:
    """Join a row of numbers; of a long row only the first `most`."""
    text = "  ".join(readable(value) for value in row[:most])
    left = len(row) - most
    return f"{text}  ({say.count('and-more', left, 'and {count} more', 'and {count} more')})" if left > 0 else text


def crumbs(path: Sequence[Explanation], group: str = "", unicode: bool = True, width: int = 0) -> str:
    """Return the path from the first number to the explained one, followed by the chosen group of operands."""
    steps = [*(e.label for e in path), *([group] if group else [])]
    arrow = " ← " if unicode else " <- "
    text = arrow.join(steps)
    if width and cell_len(text) > width and len(steps) > 2:
        # The beginning and the end are the most informative parts.
        gap = "…" if unicode else "..."
        while len(steps) > 3 and cell_len(arrow.join([steps[0], gap, *steps[2:]])) > width:
            del steps[1]
        text = arrow.join([steps[0], gap, *steps[2:]])
    return text
