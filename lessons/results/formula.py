"""Formulas as small trees, which can be written with names or digits, evaluated, and shortened.

A leaf is an operand (`OperandRef`, its position in a list of operands) or a number; everything else is an operation on
parts. A formula in Python's own notation can be evaluated by any Python; `people` notation is for the screen.
"""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.field_bounds import text as text_of
from attn_tutor.lessons.results.floats import exact_number, rounded

Style = Literal["python", "people"]


@dataclass(frozen=True, slots=True)
class OperandRef:
    """An operand, by its position in the list of operands."""

    position: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the code itself gives; `code` is its spelling there, if that says more than the digits."""

    value: float
    code: str = ""


@dataclass(frozen=True, slots=True)
class Op:
    """An operation on parts: `+` and `*` take any number of them, the others as many as in Python."""

    op: str
    parts: tuple[Formula, ...]


Formula = OperandRef | Number | Op

_BINARY = {"+": 10, "-": 10, "*": 20, "/": 20, "//": 20, "%": 20, "**": 40}
_COMPARE = {"<", "<=", ">", ">=", "==", "!="}
_COMPARING, _LOGIC, _CHOICE, _CALL = 5, 3, 1, 50


def terms(formula: Formula) -> tuple[Formula, ...]:
    """Return the terms of a sum; anything else is a single term."""
    return formula.parts if isinstance(formula, Op) and formula.op == "+" else (formula,)


def add(*parts: Formula) -> Formula:
    """Return a sum; a single part is returned as it is."""
    return parts[0] if len(parts) == 1 else Op("+", parts)


def multiply(*parts: Formula) -> Formula:
    """Return a product; a single part is returned as it is."""
    return parts[0] if len(parts) == 1 else Op("*", parts)


def subtract(first: Formula, second: Formula) -> Formula:
    """Return a difference."""
    return Op("-", (first, second))


def divide(first: Formula, second: Formula) -> Formula:
    """Return a quotient."""
    return Op("/", (first, second))


def negate(part: Formula) -> Formula:
    """Return what a formula gives with the other sign."""
    return Op("neg", (part,))


def call(name: str, *parts: Formula) -> Formula:
    """Return a call of a function of `FUNCTIONS`, by name."""
    return Op(name, parts)


def choose(test: Formula, yes: Formula, no: Formula) -> Formula:
    """Return a choice: `yes` if `test` is not 0, else `no`."""
    return Op("if", (test, yes, no))


def replaced(formula: Formula, operands: Mapping[int, Formula]) -> Formula:
    """Return a formula with other formulas in the place of its operands, by position."""
    if isinstance(formula, OperandRef):
        return operands[formula.position]
    if isinstance(formula, Number):
        return formula
    return Op(formula.op, tuple(replaced(part, operands) for part in formula.parts))


def size(formula: Formula) -> int:
    """Count the operands, numbers and operations of a formula."""
    return 1 + (sum(map(size, formula.parts)) if isinstance(formula, Op) else 0)


# Evaluating --------------------------------------------------------------------------------------------------------


def _divide(a: float, b: float) -> float:
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def _power(a: float, b: float) -> float:
    try:
        # As floats: a whole number with a large exponent may have more digits than there is room for.
        result = float(a) ** float(b)
    except ZeroDivisionError:
        return math.inf
    except OverflowError:
        return math.inf
    return math.nan if isinstance(result, complex) else float(result)


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


def _greatest(*values: float) -> float:
    return math.nan if any(map(math.isnan, values)) else max(values)


def _least(*values: float) -> float:
    return math.nan if any(map(math.isnan, values)) else min(values)


def _position(extreme: Callable[[Sequence[float]], float], values: Sequence[float]) -> float:
    """Return the position of the greatest or least number; of the first NaN if there is one."""
    nan = next((position for position, value in enumerate(values) if math.isnan(value)), None)
    return float(values.index(extreme(values)) if nan is None else nan)


def _median_low(*values: float) -> float:
    """Return the middle number in order, of two the lower; NaN if there is one."""
    return math.nan if any(map(math.isnan, values)) else statistics.median_low(values)


def _bits(function: Callable[[int, int], int]) -> Callable[[float, float], float]:
    """Return an operation on the bits of integers that takes and gives floats; NaN for what is not finite."""
    return lambda a, b: float(function(int(a), int(b))) if math.isfinite(a) and math.isfinite(b) else math.nan


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda x: float(function(x)) if math.isfinite(x) else x


def _remainder(a: float, b: float) -> float:
    """Return what is left of `a` after whole multiples of `b`, with the sign of `a`."""
    return math.nan if b == 0 or not math.isfinite(a) or math.isnan(b) else math.fmod(a, b)


def _sine(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(x) if math.isfinite(x) else math.nan


FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "abs": abs,
    "max": _greatest,
    "min": _least,
    "argmax": lambda *values: _position(max, values),
    "argmin": lambda *values: _position(min, values),
    "tanh": math.tanh,
    "erf": math.erf,
    "sin": _sine(math.sin),
    "cos": _sine(math.cos),
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "round": _whole(round),
    "trunc": _whole(math.trunc),
    "isnan": lambda x: float(math.isnan(x)),
    "isinf": lambda x: float(math.isinf(x)),
    "median_low": _median_low,
    "atan2": math.atan2,
    "fmod": _remainder,
    "float16": lambda x: rounded(x, "float16"),
    "float32": lambda x: rounded(x, "float32"),
    "bfloat16": lambda x: rounded(x, "bfloat16"),
    "bitand": _bits(operator.and_),
    "bitor": _bits(operator.or_),
    "bitxor": _bits(operator.xor),
}
"""The functions that a formula may call, with the arithmetic of IEEE 754: none raises, undefined results are NaN.

`float16`, `float32` and `bfloat16` round to the nearest number of that type.
"""

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
"""The comparisons of a formula, which are the same for floats and for exact numbers."""

_OPERATORS: dict[str, Callable[[float, float], Any]] = {
    "-": operator.sub,
    "/": _divide,
    "//": lambda a, b: _divide(a, b) if b == 0 else float(a // b),
    "%": lambda a, b: math.nan if b == 0 or not math.isfinite(a) else a % b,
    "**": _power,
    **COMPARISONS,
}


def evaluate(formula: Formula, values: Sequence[float]) -> float:
    """Return the value of a formula for these operands, in double precision with exactly rounded sums."""
    if isinstance(formula, OperandRef):
        return values[formula.position]
    if isinstance(formula, Number):
        return formula.value
    if formula.op == "if":
        test, yes, no = formula.parts
        return evaluate(yes if evaluate(test, values) else no, values)
    parts = [evaluate(part, values) for part in formula.parts]
    if any(type(part) is int for part in parts):
        whole = _whole_number(formula.op, parts)
        if whole is not None:
            return whole
    if formula.op == "+":
        return total(parts)
    if formula.op == "*":
        return math.prod(parts, start=1.0)
    if formula.op == "neg":
        return -parts[0]
    if formula.op in ("and", "or"):
        # As in Python, the value is that of the part that decides.
        return next((part for part in parts if bool(part) == (formula.op == "or")), parts[-1])
    if formula.op == "not":
        return float(not parts[0])
    if formula.op in FUNCTIONS:
        return FUNCTIONS[formula.op](*parts)
    return float(_OPERATORS[formula.op](*parts))


def taken(formula: Formula, values: Sequence[float]) -> Formula:
    """Return the branch that a choice takes for these operands; any other formula as it is."""
    while isinstance(formula, Op) and formula.op == "if":
        test, yes, no = formula.parts
        formula = yes if evaluate(test, values) else no
    return formula


_WHOLE: dict[str, Callable[[list[int]], int]] = {
    "+": sum,
    "*": math.prod,
    "-": lambda parts: parts[0] - parts[1],
    "//": lambda parts: parts[0] // parts[1],
    "%": lambda parts: parts[0] % parts[1],
    "neg": lambda parts: -parts[0],
    "abs": lambda parts: abs(parts[0]),
    "max": max,
    "min": min,
    "**": lambda parts: parts[0] ** parts[1],
    "fmod": lambda parts: abs(parts[0]) % abs(parts[1]) * (1 if parts[0] >= 0 else -1),
    "bitand": lambda parts: parts[0] & parts[1],
    "bitor": lambda parts: parts[0] | parts[1],
    "bitxor": lambda parts: parts[0] ^ parts[1],
}

MOST_EXPONENT = 64
"""Exponents up to which powers are computed without rounding."""

MOST_BITS = 1000
"""Bits of a whole number beyond which it is rounded, like any other. A float may be as large."""


def _whole_number(op: str, parts: Sequence[float]) -> float | None:
    """Return the result of an operation on whole numbers as Python computes it, without rounding.

    None for any other operation, and for a result of more than `MOST_BITS`.
    """
    if op not in _WHOLE or not all(type(part) is int or part.is_integer() for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if (op in ("//", "%", "fmod") and numbers[1] == 0) or (op == "**" and not 0 <= numbers[1] <= MOST_EXPONENT):
        return None
    if op in ("*", "**"):
        # More bits than the result may have, but for products of a few.
        bits = [number.bit_length() for number in numbers]
        if (bits[0] * numbers[1] if op == "**" else sum(bits)) > MOST_BITS:
            return None
    result = _WHOLE[op](numbers)
    return exact_number(result) if result.bit_length() <= MOST_BITS else None


def total(parts: Sequence[float]) -> float:
    """Return a sum: exactly rounded if everything is finite, else by the rules of IEEE 754."""
    try:
        return math.fsum(parts)
    except (OverflowError, ValueError):
        return sum(parts)


# Writing -----------------------------------------------------------------------------------------------------------

LONG_SUM = 32
"""Parts up to which a sum is written with `+` in Python's notation; a longer one is `sum([...])`, without nesting."""


def text(formula: Formula, operands: Sequence[str], number: Callable[[float], str], style: Style = "python") -> str:
    """Write the formula with these texts for its operands; `number` formats its own numbers."""
    return _text(formula, operands, number, style)[0]


def _text(formula: Formula, operands: Sequence[str], number: Callable[[float], str], style: Style) -> tuple[str, int]:
    """Write the formula; return the text and how tightly it binds."""
    if isinstance(formula, OperandRef):
        shown = operands[formula.position]
        return shown, 30 if shown.startswith("-") else 100
    if isinstance(formula, Number):
        shown = number(formula.value)
        return shown, 30 if shown.startswith("-") else 100

    def part(item: Formula, least: int) -> str:
        shown, binds = _text(item, operands, number, style)
        return shown if binds >= least else f"({shown})"

    op, parts = formula.op, formula.parts
    if op in _BINARY:
        if op == "+" and style == "python" and len(parts) > LONG_SUM:
            return "sum([" + ", ".join(part(item, 0) for item in parts) + "])", _CALL
        rank = _BINARY[op]
        sign = {"*": "·", "**": "^"}.get(op, op) if style == "people" else op
        joint = sign if style == "people" and op in ("*", "**") else f" {sign} " if op != "**" else "**"
        # A part after an operator needs parentheses if it has a sign of its own, or if the order matters.
        later = rank + 1 if op in ("-", "/", "//", "%") else rank
        first = part(parts[0], rank + 1 if op == "**" else rank)
        rest = (_unsigned(part(item, max(later, 31 if op != "+" else later)), op) for item in parts[1:])
        return joint.join([first, *rest]), rank
    if op in _COMPARE:
        return f"{part(parts[0], 6)} {op} {part(parts[1], 6)}", _COMPARING
    if op in ("and", "or"):
        return f" {op} ".join(part(item, _LOGIC + 1) for item in parts), _LOGIC
    if op == "not":
        return f"not {part(parts[0], _LOGIC + 1)}", _LOGIC
    if op == "neg":
        return f"-{part(parts[0], 31)}", 30
    if op == "if":
        test, yes, no = parts
        return f"{part(yes, _LOGIC)} if {part(test, _LOGIC)} else {part(no, _CHOICE)}", _CHOICE
    return f"{op}({', '.join(part(item, 0) for item in parts)})", _CALL


def _unsigned(shown: str, op: str) -> str:
    """Return a part that follows `+`, in parentheses if it begins with a minus: `a + (-b)`."""
    return f"({shown})" if op == "+" and shown.startswith("-") else shown


# Shortening --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shortened:
    """A sum that is cut to its largest terms, with the sum of the others.

    Attributes:
        formula: the sum of the remaining terms, or the whole formula.
        left_out: how many terms were cut.
        rest: the sum of the terms that were cut.
    """

    formula: Formula
    left_out: int = 0
    rest: float = 0.0


def shorten(formula: Formula, values: Sequence[float], most: int) -> Shortened:
    """Keep the `most` largest terms of a sum, in their order, and add up the others."""
    if not (isinstance(formula, Op) and formula.op == "+") or len(formula.parts) <= most:
        return Shortened(formula)
    terms = [evaluate(part, values) for part in formula.parts]
    largest = set(sorted(range(len(terms)), key=lambda position: (-magnitude(terms[position]), position))[:most])
    rest = total([term for position, term in enumerate(terms) if position not in largest])
    return Shortened(add(*(formula.parts[position] for position in sorted(largest))), len(terms) - len(largest), rest)


def magnitude(term: float) -> float:
    """Return the size of a term, by which the largest are chosen; a NaN decides everything, so it is infinite."""
    return math.inf if math.isnan(term) else abs(term)


def operand_positions(formula: Formula) -> list[int]:
    """Return the positions of the operands that occur, in the order of their first occurrence, each once."""
    return list(dict.fromkeys(all_positions(formula)))


def all_positions(formula: Formula) -> list[int]:
    """Return the positions of the operands in the order of a formula, each as often as it occurs."""
    if isinstance(formula, OperandRef):
        return [formula.position]
    return [at for part in formula.parts for at in all_positions(part)] if isinstance(formula, Op) else []


# As JSON -----------------------------------------------------------------------------------------------------------


def to_json(formula: Formula) -> Any:
    """Return the formula as JSON: an operand is an integer, a number `["n", text, code]`, the rest `[op, *parts]`."""
    if isinstance(formula, OperandRef):
        return formula.position
    if isinstance(formula, Number):
        return ["n", repr(exact_number(formula.value)), formula.code]
    return [formula.op, *map(to_json, formula.parts)]


LONGEST_NUMBER = 400
"""The most digits of a number of a formula: those of the largest float."""


def _number(given: Any) -> float:
    if type(given) is not str or len(given) > LONGEST_NUMBER:
        raise ValueError("not a number")
    if not given.removeprefix("-").isdecimal():
        return float(given)
    whole = int(given)
    if whole.bit_length() > MOST_BITS:
        raise ValueError("not a number")
    return exact_number(whole)


_ANY = {"+", "*", "max", "min", "argmax", "argmin", "median_low", "and", "or"}
_TWO = {*_OPERATORS, "atan2", "fmod", "bitand", "bitor", "bitxor"}
_ARITY = {"neg": 1, "not": 1, "if": 3, **dict.fromkeys(set(FUNCTIONS) - _ANY, 1), **dict.fromkeys(_TWO, 2)}
MOST_DEPTH = 50


def from_json(tree: Any, depth: int = 0) -> Formula:
    """Read a formula from JSON. Raises `ValueError` for anything else, since the worker has run a learner's code."""
    if depth > MOST_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(tree, int) and not isinstance(tree, bool):
        return OperandRef(tree)
    if not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
        raise ValueError("not a formula")
    op, *parts = tree
    if op == "n":
        if len(parts) != 2:
            raise ValueError("not a number")
        return Number(_number(parts[0]), clean(text_of(parts[1]), keep=""))
    if not parts if op in _ANY else _ARITY.get(op) != len(parts):
        raise ValueError("no operation of so many parts")
    return Op(op, tuple(from_json(part, depth + 1) for part in parts))
