"""Numbers and labels as text of a known width."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from math import isfinite, isnan
from typing import Literal

from rich.cells import cell_len, set_cell_size

from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.floats import DECIMALS, shortest
from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/numbers")

LARGEST_FIXED, SMALLEST_FIXED = 1e6, 1e-4
LARGEST_WHOLE = 2.0**64
SMALLEST_SINGLE, LARGEST_SINGLE = 2.0**-126, 2.0**128 * (1 - 2.0**-24)

_WIDTH_INTEGER = 9
_VARIATION_SELECTORS = dict.fromkeys(range(0xFE00, 0xFE10))


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How the numbers of one tensor are written: all of them `width` cells wide, so that their digits align.

    `tight` numbers have no zero before the point, and only as many of the decimals as fit: `.25`, `1.0`, `-.5`.
    """

    style: Literal["integer", "fixed", "scientific"]
    decimals: int
    width: int
    tight: bool = False

    def text(self, value: float) -> str:
        """Format a number, right-justified. A number that does not fit becomes `#`s, since a cut one would be wrong."""
        text = self._tight(value) if self.tight else self._bare(value)
        return text.rjust(self.width) if len(text) <= self.width else "#" * self.width

    def _tight(self, value: float) -> str:
        texts = (replace(self, decimals=decimals)._bare(value) for decimals in range(self.decimals, -1, -1))
        shorter = (re.sub(r"^(-?)0\.", r"\1.", text) for text in texts)
        return next((text for text in shorter if len(text) <= self.width), "#" * self.width)

    def _bare(self, value: float) -> str:
        if not isfinite(value):
            return nonfinite(value)
        if self.style == "integer":
            return str(int(value))
        text = f"{value:.{self.decimals}{'e' if self.style == 'scientific' else 'f'}}"
        # Drop the sign of a negative number that rounds to zero: it would need a column of its own.
        return text[1:] if text.startswith("-") and float(text) == 0 else text


def number_format(
    dtype: str, kind: str, low: float | None, high: float | None, values: Iterable[float] | None = None
) -> NumberFormat:
    """Choose the format for a tensor whose finite values lie between `low` and `high`.

    All `values`, if given, decide whether a floating-point mask contains only whole numbers.
    """
    if dtype == "bool":
        return NumberFormat("integer", 0, 1)
    low, high = (0.0, 0.0) if low is None or high is None else (low, high)
    largest = max(abs(low), abs(high))
    whole = not _is_float(dtype)
    special = 0 if whole else len("-inf")
    exponent = len("-1.00e-300" if dtype == "float64" else "-1.00e-30") - (low >= 0)
    if not whole and kind == "mask" and values is not None:
        seen = tuple(values)
        whole = all(not isfinite(value) or value == int(value) for value in seen)
        special = max((len(nonfinite(value)) for value in seen if not isfinite(value)), default=0)
    if whole:
        width = max(len(str(int(low))), len(str(int(high))))
        if width <= _WIDTH_INTEGER:
            return NumberFormat("integer", 0, max(width, special))
        return NumberFormat("scientific", 2, exponent)
    if largest >= 1e5 or 0 < largest < 1e-4:
        return NumberFormat("scientific", 2, exponent)
    # Use enough digits to distinguish neighbors, at about the same width for all magnitudes.
    decimals = DECIMALS
    for limit, more in ((1e-3, 6), (1e-2, 5)):
        if 0 < largest < limit:
            decimals = more
            break
    for limit, fewer in ((1e4, 1), (1e3, 2), (1e2, 3)):
        if largest >= limit:
            decimals = fewer
            break
    form = NumberFormat("fixed", decimals, 0)
    return replace(form, width=max(len(form._bare(low)), len(form._bare(high)), special))


def fewer_digits(
    form: NumberFormat, low: float | None, high: float | None, *, infinite: bool = False
) -> tuple[NumberFormat, ...]:
    """Return shorter forms of the numbers between `low` and `high`: two decimals, then about two digits.

    The digits of whole numbers, and of those with an exponent, are all needed. If some numbers are `infinite`, each
    form has room for minus infinity.
    """
    if form.style != "fixed" or low is None or high is None or form.decimals > DECIMALS:
        return (form, form)
    two = replace(form, decimals=min(2, form.decimals))
    special = infinite or form.width > max(len(form._bare(low)), len(form._bare(high)))
    two = replace(two, width=max(len(two._bare(low)), len(two._bare(high)), 4 if special else 0))
    whole = max(len(f"{low:.0f}"), len(f"{high:.0f}"))
    return two, replace(two, width=min(two.width, max(4 if special or low < 0 else 3, whole)), tight=True)


def unknown() -> str:
    """Return what stands for a number that nobody knows any more."""
    return say("unknown", "unknown")


def nonfinite(value: float | None) -> str:
    """Return `nan`, `inf` or `-inf`; of a number that is not known, that."""
    if value is None:
        return unknown()
    if isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def short(value: float, dtype: str = "float32") -> str:
    """Format a number to three significant digits for a legend; integers in full."""
    if not isfinite(value):
        return nonfinite(value)
    if not _is_float(dtype):
        return str(int(value))
    return f"{value:.3g}"


def exact(value: float, dtype: str) -> str:
    """Return the shortest text that identifies this number in its dtype."""
    value = shortest(value, dtype)
    if not isfinite(value):
        return nonfinite(value)
    if dtype == "bool":
        return "True" if value else "False"
    if not _is_float(dtype):
        return str(int(value))
    number = Decimal(repr(value))
    if number and not -5 <= number.adjusted() < 16:
        return f"{number.normalize():e}"
    plain = f"{number:f}"
    return plain if "." in plain else plain + ".0"


def readable(value: float | None, dtype: str = "", decimals: int = DECIMALS) -> str:
    """Format a number for people: exactly if `decimals` decimals suffice, otherwise rounded; None as unknown.

    Without a type it is written as one of single precision, or of double precision where that is beyond its range.
    """
    if value is None:
        return unknown()
    if type(value) is int:
        return str(value)
    if not isfinite(value):
        return nonfinite(value)
    dtype = dtype or ("float32" if not value or SMALLEST_SINGLE <= abs(value) <= LARGEST_SINGLE else "float64")
    if dtype == "bool" or not dtype.startswith(("float", "bfloat")):
        return str(int(value))
    value += 0.0  # a zero without a sign
    text = exact(value, dtype)
    mantissa, e, _ = text.partition("e")
    if len(mantissa.partition(".")[2]) <= decimals - len(e):
        return text.removesuffix(".0")
    if value and not SMALLEST_FIXED <= abs(value) < LARGEST_FIXED:
        return f"{value:.{decimals - 1}e}"
    return f"{value:.{decimals}f}"


def written_out(value: float) -> str:
    """Write a number of the code in symbols: a whole one with all its digits, which single precision may not hold."""
    is_whole = type(value) is not int and isfinite(value) and value.is_integer() and abs(value) < LARGEST_WHOLE
    return str(int(value)) if is_whole else readable(value)


def _is_float(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))


def visible(text: str, space: str = "␣") -> str:
    """Return a label in which every character is visible and none moves the cursor or changes the text direction.

    Control, format and bidirectional characters become escapes. Outer spaces become `space`, since tokens often begin
    with one. A combining mark without a base character gets a circle. Variation selectors are removed: terminals
    disagree on how wide they make a character.
    """
    stripped = text.strip(" ")
    if stripped != text:
        start = len(text) - len(text.lstrip(" "))
        text = space * start + stripped + space * (len(text) - start - len(stripped))
    shown = clean(text.translate(_VARIATION_SELECTORS), keep="", escape=True)
    return "◌" + shown if shown and cell_len(shown[0]) == 0 else shown


def truncated(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut a text to at most `width` cells, ending in an ellipsis if anything was cut."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    # Cutting a wide character in half leaves a space; remove it before the ellipsis.
    return set_cell_size(text, width - 1).rstrip(" ") + ellipsis if width > 1 else ellipsis
