"""A reader of printed explanations that knows nothing but the printed text: numbers, formulas, how lines are folded.

It shares no code with the tutor. A formula is computed twice, as with a calculator and as on paper: in double precision
and, as far as its functions allow, with exact fractions.
"""

from __future__ import annotations

import contextlib
import math
import re
import statistics
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")
REST = re.compile(r"\(\d+ more: (-?[\w.+-]+)\)")
WITHOUT_ROUNDING = re.compile(r"Without rounding, these numbers would give (-?[\w.+-]+?)[.,]? ")


@dataclass
class PrintedNode:
    """A number in a printed tree: its label, its printed value, the formulas, and the other lines."""

    level: int
    label: str
    value: str
    formulas: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read(text: Iterable[str]) -> Iterator[PrintedNode]:
    """Yield the numbers of a printed tree, each with its formulas and notes."""
    node: PrintedNode | None = None
    body = 0
    lines: list[tuple[int, str, bool]] = []
    for line in text:
        indent = len(line) - len(line.lstrip(" "))
        content = line[indent:]
        # The lines below a number are indented by two, what it was computed from by four.
        head = indent % 4 == 0
        if lines and ((indent == lines[-1][0] + 4 and lines[-1][2]) or (indent == body + 4 and not head)):
            # A folded line goes on.
            first, start, is_head = lines[-1]
            lines[-1] = (first, f"{start} {content}", is_head)
            continue
        lines.append((indent, content, head))
        body = indent
    for indent, content, head in lines:
        if head:
            if node is not None:
                yield node
            label, _, rest = content.partition(" = ")
            node = PrintedNode(indent // 4, label, rest.split(maxsplit=1)[0])
        elif node is not None and content.startswith("= "):
            node.formulas.append(content[2:])
        elif node is not None:
            node.notes.append(content)
    if node is not None:
        yield node


def problem(node: PrintedNode) -> str:
    """Return what is wrong with the arithmetic of a printed number; "" if it comes out, or if none is printed."""
    for formula in node.formulas:
        found = re.fullmatch(r"(.*) ([=≈]) (-?[\w.+-]+)", formula)
        if found is None or re.search(r"[A-Za-z_]\w*\[|…", found[1]):
            continue
        text, sign, result = found.groups()
        if result != node.value:
            return f"the result is printed as {node.value} and as {result}"
        told = next((match[1] for note in node.notes if (match := WITHOUT_ROUNDING.search(note + " "))), None)
        for way, number in (("calculator", float), ("paper", Fraction)):
            try:
                got = compute(text, number)
            except (SyntaxError, NameError) as error:
                # Names of the code stand in it: these are symbols and no digits.
                if re.search(r"[A-Za-z_]\w*", re.sub(r"\b(inf|nan|if|else|and|or|not|e)\b", "", text)):
                    break
                return f"unreadable: {text!r} ({error})"
            if not comes_out(got, told or result) and not (told and comes_out(got, result)):
                return f"{text} comes to {float(got)!r} on a {way}, not to {told or result}"
            if sign == "=" and not told and isinstance(got, Fraction) and got != Fraction(result):
                return f"{text} is not exactly {result} but {float(got)!r}"
    return ""


def comes_out(got: Any, result: str) -> bool:
    """Return whether a number rounds to a printed one: to half a unit of its last printed digit."""
    expected = float(result)
    if not math.isfinite(expected) or not math.isfinite(got):
        return str(float(got)) == str(expected) or (
            abs(got) > 6e4 and math.isinf(expected) and (got > 0) == (expected > 0)
        )
    mantissa, _, exponent = result.partition("e")
    unit = Fraction(10) ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    # A number with so many digits may have been computed in double precision.
    return abs(Fraction(got) - Fraction(result)) <= unit * Fraction(505, 1000) + abs(Fraction(result)) / 2**50


# Arithmetic ---------------------------------------------------------------------------------------------------------


def compute(text: str, number: Callable[[str], Any]) -> Any:
    """Compute a formula whose numbers are written out; `number` reads each of them."""
    numbers: list[Any] = []

    def keep(match: re.Match[str]) -> str:
        numbers.append(number(match[0]))
        return f"_n[{len(numbers) - 1}]"

    code = REST.sub(r"(\1)", text).replace("·", "*").replace("^", "**")
    code = NUMBER.sub(keep, code)
    return evaluate(code, {"_n": numbers})


def evaluate(code: str, values: dict[str, Any]) -> Any:
    """Evaluate Python with the functions that formulas may call. Divisions by 0 follow IEEE 754."""
    try:
        return _plain(eval(code, {"__builtins__": {}, **FUNCTIONS}, values))
    except ZeroDivisionError:
        names = {name: _infinite(value) for name, value in FUNCTIONS.items()}
        with contextlib.suppress(ArithmeticError, ValueError):
            return _plain(eval(code, {"__builtins__": {}, **names}, {k: _infinite(v) for k, v in values.items()}))
        return math.nan
    except (ValueError, OverflowError):
        return math.nan


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, _Ieee) else math.nan if isinstance(value, complex) else value


def _infinite(value: Any) -> Any:
    """Return a number that can be divided by 0, also for each number of a list and for what a function returns."""
    if callable(value):
        return lambda *given: _infinite(value(*given))
    return [_Ieee(float(item)) for item in value] if isinstance(value, list) else _Ieee(float(value))


class _Ieee(float):
    """A number in double precision whose division by 0 gives an infinity or NaN, as all that is computed from it."""

    @property
    def value(self) -> float:
        return float(self)

    def __neg__(self) -> _Ieee:
        return _Ieee(-self.value)

    def __abs__(self) -> _Ieee:
        return _Ieee(abs(self.value))

    def __add__(self, other: float) -> _Ieee:
        return _Ieee(self.value + float(other))

    def __sub__(self, other: float) -> _Ieee:
        return _Ieee(self.value - float(other))

    def __mul__(self, other: float) -> _Ieee:
        return _Ieee(self.value * float(other))

    def __pow__(self, other: Any, modulus: None = None) -> Any:
        if self.value == 0.0 and other < 0:
            return _Ieee(1.0) / (math.copysign(1, self) * 0.0 if other % 2 == 1 else 0.0)
        return _infinite(self.value ** float(other))

    def __truediv__(self, other: float) -> _Ieee:
        above, below = self.value, float(other)
        if below == 0.0:
            wrong = above == 0.0 or math.isnan(above)
            return _Ieee(math.nan if wrong else math.copysign(math.inf, above) * math.copysign(1, below))
        return _Ieee(above / below)

    def __floordiv__(self, other: float) -> _Ieee:
        return self / other if float(other) == 0.0 else _Ieee(self.value // float(other))

    def __mod__(self, other: float) -> _Ieee:
        return _Ieee(math.nan if float(other) == 0.0 else self.value % float(other))

    def __radd__(self, other: float) -> _Ieee:
        return _Ieee(other) + self

    def __rsub__(self, other: float) -> _Ieee:
        return _Ieee(other) - self

    def __rmul__(self, other: float) -> _Ieee:
        return _Ieee(other) * self

    def __rpow__(self, other: Any, modulus: None = None) -> Any:
        return _Ieee(other) ** self

    def __rtruediv__(self, other: float) -> _Ieee:
        return _Ieee(other) / self

    def __rfloordiv__(self, other: float) -> _Ieee:
        return _Ieee(other) // self

    def __rmod__(self, other: float) -> _Ieee:
        return _Ieee(other) % self


def _safe(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with NaN for what it does not take."""

    def safe(*given: Any) -> Any:
        try:
            return function(*given)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return safe


def _log(x: Any) -> float:
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: math.nan if any(map(math.isnan, values)) else function(values)


def _position(function: Callable[..., Any]) -> Callable[..., Any]:
    def position(*values: Any) -> int:
        nans = [at for at, value in enumerate(values) if math.isnan(value)]
        return nans[0] if nans else values.index(function(values))

    return position


def _fmod(a: Any, b: Any) -> Any:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b * math.trunc(a / b)
    return math.fmod(a, b)


def _narrow(code: str) -> Callable[[Any], float]:
    """Return a function that rounds to the nearest number of a type of `struct`."""

    def narrow(x: Any) -> float:
        try:
            return float(struct.unpack(code, struct.pack(code, float(x)))[0])
        except OverflowError:
            return math.copysign(math.inf, x)

    return narrow


def _brain(x: Any) -> float:
    """Round to bfloat16: to eight binary digits, halves to even."""
    mantissa, exponent = math.frexp(float(x))
    return math.ldexp(round(mantissa * 256), exponent - 8)


def as_stored(value: float, dtype: str) -> str:
    """Return a text that two numbers share only if they are the same number in a type."""
    return stored(value, dtype).hex()


def stored(value: float, dtype: str) -> float:
    """Return the number of a type that a document has in as few digits as tell it from its neighbors."""
    narrow = FUNCTIONS.get(dtype)
    return float(narrow(value)) if narrow is not None and math.isfinite(value) else value


def _whole(function: Callable[..., int]) -> Callable[[Any], Any]:
    return lambda x: function(x) if math.isfinite(x) else x


FUNCTIONS: dict[str, Any] = {
    "exp": _safe(math.exp),
    "log": _log,
    "sqrt": _safe(math.sqrt),
    "abs": abs,
    "max": _extreme(max),
    "min": _extreme(min),
    "argmax": _position(max),
    "argmin": _position(min),
    "tanh": math.tanh,
    "erf": math.erf,
    "sin": _safe(math.sin),
    "cos": _safe(math.cos),
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "round": _whole(round),
    "trunc": _whole(math.trunc),
    "isnan": math.isnan,
    "isinf": math.isinf,
    "median_low": _extreme(statistics.median_low),
    "atan2": math.atan2,
    "fmod": _safe(_fmod),
    "float16": _narrow("e"),
    "float32": _narrow("f"),
    "bfloat16": _brain,
    "bitand": lambda a, b: int(a) & int(b),
    "bitor": lambda a, b: int(a) | int(b),
    "bitxor": lambda a, b: int(a) ^ int(b),
    "sum": sum,
    "inf": math.inf,
    "nan": math.nan,
}
