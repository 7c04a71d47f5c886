"""Explanations in words and digits: the text that the screen and `attn-tutor explain` show.

Digits are honest: operands have as many as make the result come out visibly; `=` appears only where the shown digits
give exactly the shown result, and `≈` everywhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from rich.cells import cell_len

from lessons.render.numbers import DECIMALS, exact, nonfinite, readable, written_out
from lessons.render.source_text import NO_NAMES, source
from lessons.results import exact_formula
from lessons.results import formula as f
from lessons.results.explanation import Explanation, Operand, primary
from lessons.results.floats import exact_number, rounded
from lessons.texts.wording import Wording

say = Wording("explanation/text")

MOST_DECIMALS = 9
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
class Group:
    """Operands of one tensor that belong together; `positions` are their positions among all operands."""

    name: str
    pattern: str
    positions: tuple[int, ...]


def groups(explanation: Explanation) -> tuple[Group, ...]:
    """Group the operands: the first factors of a dot product, then the second factors; otherwise by tensor."""
    e = explanation
    found: dict[tuple[int, str], list[int]] = {}
    for term in terms(e.formula):
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
        Group(name, pattern([e.operands[position] for position in row]), tuple(row if column >= 0 else sorted(row)))
        for (column, name), row in found.items()
    )


def terms(formula: f.Formula) -> tuple[f.Formula, ...]:
    """Return the terms of a sum; anything else is a single term."""
    return formula.parts if isinstance(formula, f.Op) and formula.op == "+" else (formula,)


def _base(name: str) -> str:
    """Return a name without the `#count` suffix that distinguishes iterations of a loop."""
    base, _, count = name.rpartition("#")
    return base if base and count.isdigit() else name


def pattern(operands: Sequence[Operand]) -> str:
    """Return what the indices of cells have in common, as Python would write it: `weights[1,:]` for a row."""
    first = operands[0]
    name, indices = _base(first.name), [operand.index for operand in operands]
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
    summed = terms(e.formula)
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


@dataclass(frozen=True, slots=True)
class Digits:
    """A formula in digits (`0.55·0.57 + 0.87·0.85`), the sign that joins it to its result, and the result.

    `remark` is a sentence if the written digits do not come to the result because PyTorch rounded on the way.
    """

    text: str
    sign: str
    result: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class _Written:
    """A formula with its numbers as texts.

    Attributes:
        digits: what is shown.
        value: what the written digits come to in double precision.
        exactly: what they come to in exact arithmetic; None if that is no rational number.
        is_whole: whether the result is a whole number that double precision does not hold.
    """

    digits: Digits
    value: float
    exactly: Fraction | None
    is_whole: bool

    def comes_out(self, formula: f.Formula) -> bool:
        """Return whether a reader who computes with the written digits gets the written result."""
        if self.is_whole:
            return self.exactly == Fraction(self.digits.result)
        same = _same_text(readable(self.value, "float64", _decimals(self.digits.result)), self.digits.result)
        if not same or self.exactly is None or not exact_formula.jumps(formula):
            return same
        on_paper = readable(float(self.exactly), "float64", _decimals(self.digits.result))
        return _same_text(on_paper, self.digits.result)


def digits(explanation: Explanation, most: int = 8, unicode: bool = True) -> Digits:
    """Write the formula with numbers: of a sum the `most` largest terms at most, and the total of the rest.

    Operands get as few decimals as make the result come out to its last shown digit.
    """
    e = explanation
    short = _shortened(_taken(_short_softmax(e), e.values), e.values, most)
    # A result that lies between two roundings may need more decimals too.
    for decimals in range(DECIMALS, DECIMALS + 3):
        result = readable(e.value, e.dtype, decimals)
        for at, write in enumerate(_precisions()):
            written = _write(short, e, write, result, unicode, as_single=at == 0)
            if written.comes_out(short) or _is_rounded(short, written.value, e.dtype, result):
                return written.digits
    written = _write(short, e, _bare, readable(e.value, e.dtype), unicode)
    if written.digits.result in ("nan", "inf", "-inf"):
        # The notes say what is beyond the largest number of the type.
        return written.digits
    unrounded = written.value if written.exactly is None else float(written.exactly)
    return replace(written.digits, remark=_rounding_remark(unrounded, e.dtype))


def _is_rounded(formula: f.Formula, value: float, dtype: str, result: str) -> bool:
    """Return whether a formula rounds to the type of its result: 5.3 stands for the number of float16 next to it."""
    rounds = isinstance(formula, f.Op) and formula.op == dtype
    return rounds and _same_text(readable(value, dtype, _decimals(result)), result)


def rounding_remark(explanation: Explanation) -> str:
    """Say what the formula gives if nothing is rounded on the way; "" if that differs from the value by little.

    Where large numbers cancel, as in the logarithm of a sum near 1, the roundings of a kernel are most of what is left.
    """
    e = explanation
    got = f.evaluate(e.formula, e.values) if e.operands else e.value
    near = MANY_ROUNDINGS * EPSILON.get(e.dtype, 0.0) * abs(e.value)
    if e.dtype not in EPSILON or not (math.isfinite(got) and math.isfinite(e.value)) or abs(got - e.value) <= near:
        return ""
    return _rounding_remark(got, e.dtype, MOST_DECIMALS)


def _rounding_remark(unrounded: float, dtype: str, decimals: int = DECIMALS) -> str:
    number = readable(unrounded, "float64", decimals)
    remark = say("unrounded", "Without rounding on the way, it would be {number}.", number=number)
    return f"{remark} ({_precision(dtype)})"


Write = Callable[[float, str], str]
"""Writes a number of a dtype."""


def _precisions() -> Iterator[Write]:
    """Yield ways to write a number, from short to exact."""
    for decimals in range(DECIMALS, MOST_DECIMALS + 1):
        yield lambda value, dtype, decimals=decimals: readable(value, dtype, decimals)  # type: ignore[misc]
    yield lambda value, dtype: exact(value, dtype).removesuffix(".0")
    # What is 0.1 in single precision is a little more than that.
    yield lambda value, dtype: readable(value, "float64" if dtype in PRECISION else dtype, MOST_DECIMALS)
    yield _bare


def _bare(value: float, dtype: str) -> str:
    """Write a number as it is in double precision, which holds any other exactly."""
    return exact(value, "float64" if dtype in PRECISION else dtype).removesuffix(".0")


EPSILON = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}
"""The distance from 1 to the next number of a dtype."""

MANY_ROUNDINGS = 64
"""Roundings that an ordinary formula may add up to, and about which nothing is said."""

PRECISION = {"bfloat16": (2, 3), "float16": (3,), "float32": (7,), "float64": (16,)}
"""How many decimal digits a dtype keeps, or from how many to how many."""


def _precision(dtype: str) -> str:
    match PRECISION.get(dtype):
        case (low, high):
            return say("keeps-range", "{dtype} keeps about {low} to {high} digits.", dtype=dtype, low=low, high=high)
        case (kept,):
            return say.count(
                "keeps", kept, "{dtype} keeps about {count} digit.", "{dtype} keeps about {count} digits.", dtype=dtype
            )
    return say("each-rounded", "PyTorch rounds each result.")


def _decimals(text: str) -> int:
    """Return with how many decimals to write what is compared with a written number."""
    mantissa, e, _ = text.partition("e")
    return max(DECIMALS, len(mantissa.partition(".")[2]) + len(e))


def _write(
    formula: f.Formula, e: Explanation, write: Write, result: str, unicode: bool, as_single: bool = False
) -> _Written:
    """Write the formula with its numbers as `write` writes them; `as_single`: constants of single precision as such."""
    cells = set(f.operand_positions(formula))
    numbers = [write(cell.value, cell.dtype) if position in cells else "" for position, cell in enumerate(e.operands)]
    shown = list(numbers)

    def with_texts(item: f.Formula) -> f.Formula:
        """Make operands of the constants too."""
        if isinstance(item, f.Op):
            return f.Op(item.op, tuple(map(with_texts, item.parts)))
        if isinstance(item, f.Number):
            # Kernels for whole numbers take whole numbers.
            whole = e.dtype.startswith(("int", "uint")) and type(item.value) is float and item.value.is_integer()
            # A kernel that compares with 0.8 has rounded it to the type of the tensor.
            dtype = "float32" if as_single and rounded(item.value, "float32") == item.value else "float64"
            numbers.append(str(int(item.value)) if whole else write(item.value, dtype))
            shown.append(f"({_rest(item.count, numbers[-1])})" if isinstance(item, _Rest) else numbers[-1])
            return f.OperandRef(len(numbers) - 1)
        return item

    formula = with_texts(formula)
    got = f.evaluate(formula, [_double(text) for text in numbers])
    exactly = exact_formula.evaluate(formula, [_number(text) for text in numbers])
    if exactly is None:
        equal = not math.isfinite(got) and result == nonfinite(got)
    else:
        # Nobody sees the terms that were left out.
        equal = shown == numbers and _number(result) == exactly
    sign = "=" if equal else "≈" if unicode else "~"
    text = f.text(formula, shown, repr, "people" if unicode else "python")
    return _Written(Digits(text, sign, result), got, exactly, type(e.value) is int and exactly is not None)


def _rest(count: int, number: str) -> str:
    return say.count("rest", count, "{count} more: {number}", "{count} more: {number}", number=number)


def _number(text: str) -> Fraction | float:
    """Return what a written number is, exactly if it is finite."""
    return Fraction(text) if text.lstrip("-")[:1].isdigit() else float(text or "nan")


def _double(text: str) -> float:
    """Return what a written number is in double precision, and a whole number beyond that exactly."""
    return exact_number(int(text)) if text.removeprefix("-").isdecimal() else float(text or "nan")


@dataclass(frozen=True, slots=True)
class _Rest(f.Number):
    """The total of the omitted terms of a sum, or the maximum of the omitted numbers."""

    count: int = 0


def _shortened(formula: f.Formula, values: Sequence[float], most: int) -> f.Formula:
    """Keep only the `most` largest terms of each sum, and the `most` largest arguments of each maximum."""
    if not isinstance(formula, f.Op):
        return formula
    if formula.op == "max" and len(formula.parts) > most:
        numbers = [f.evaluate(part, values) for part in formula.parts]
        positions = sorted(range(len(numbers)), key=lambda position: (-numbers[position], position))
        rest = _Rest(numbers[positions[most]], count=len(numbers) - most)
        return f.Op("max", (*(formula.parts[position] for position in sorted(positions[:most])), rest))
    short = f.shorten(formula, values, most)
    if short.left_out:
        return f.add(*terms(short.formula), _Rest(short.rest, count=short.left_out))
    return f.Op(formula.op, tuple(_shortened(part, values, most) for part in formula.parts))


def _same_text(one: str, other: str) -> bool:
    try:
        return one == other or Decimal(one) == Decimal(other)
    except InvalidOperation:
        return False


def _taken(formula: f.Formula, values: Sequence[float]) -> f.Formula:
    """Return the branch that a conditional took."""
    while isinstance(formula, f.Op) and formula.op == "if":
        test, yes, no = formula.parts
        formula = yes if f.evaluate(test, values) else no
    return formula


def _short_softmax(e: Explanation) -> f.Formula:
    """Reduce a softmax to one exponential divided by the sum of all; the details list the exponentials."""
    parts = e.formula.parts if isinstance(e.formula, f.Op) else ()
    if e.op == "softmax" and len(e.details) >= 2 and e.details[1][1] and len(parts) == 2:
        numerator, total = f.evaluate(parts[0], e.values), e.details[1][1][0]
        return f.Op("/", (f.Number(numerator), f.Number(total)))
    return e.formula


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
        found = digits(e, 8, unicode)
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
    found = digits(e, most, unicode)
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
