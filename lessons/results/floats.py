"""The shortest exact form of floating-point numbers, for JSON documents, recordings and the screen alike.

JSON has no infinity and no NaN, so they stand there as the strings `"inf"`, `"-inf"` and `"nan"`.
"""

from __future__ import annotations

import math
import struct
from typing import Any

_SMALLEST = {"bfloat16": 2.0**-126, "float16": 2.0**-14, "float32": 2.0**-126}
"""For each type that is narrower than Python's own float, the number below which it keeps fewer and fewer digits."""

_ALL_DIGITS = 17
"""Significant decimal digits that identify any number of that."""

_STRUCT_CODES = {"float16": "e", "float32": "f"}


LARGEST_WHOLE = 1 << 53
"""The whole number up to which a float holds every other one too."""


def exact_number(value: float) -> float:
    """Return a number as a float, and as an `int` if it is a whole number that no float can be trusted to hold."""
    return value if type(value) is int and abs(value) > LARGEST_WHOLE else float(value)


DECIMALS = 4
"""Decimals to which the form of a number is right."""


def shortest(value: float, dtype: str) -> float:
    """Return the float with the fewest digits that is the same number as `value` in this dtype, right to `DECIMALS`.

    As a float32, 1.4754000902175903 gives 1.4754001. As a bfloat16, 1.0078125 gives 1.0078: 1.01 identifies it too, but
    who computes with that gets something else. A number beyond the largest of the dtype gives infinity. What is not
    finite and what is of any other dtype comes back unchanged.
    """
    if dtype not in _SMALLEST or not math.isfinite(value):
        return value
    value = rounded(value, dtype)
    if abs(value) < _SMALLEST[dtype]:
        tolerance = math.inf
    else:
        # Of numbers that nobody writes out, so many digits are right.
        is_written_out = 10**-DECIMALS <= abs(value) <= LARGEST_WHOLE
        tolerance = 0.5 * 10**-DECIMALS * (1 if is_written_out else 10 * abs(value))
    candidates = (float(f"{value:.{digits}g}") for digits in range(1, _ALL_DIGITS))
    is_right = (one for one in candidates if abs(one - value) <= tolerance and rounded(one, dtype) == value)
    return next(is_right, value)


def rounded(value: float, dtype: str) -> float:
    """Return the number of this dtype nearest to a value, of two the even one; infinity beyond its largest."""
    if dtype == "bfloat16":
        return _rounded_to_bfloat16(value)
    code = _STRUCT_CODES.get(dtype, "f")
    try:
        (found,) = struct.unpack("<" + code, struct.pack("<" + code, value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(found)


def _rounded_to_bfloat16(value: float) -> float:
    """Round to eight binary digits at once: a float32 in between would move what is next to a middle into it."""
    if not math.isfinite(value) or value == 0:
        return value
    step = 2.0 ** (max(math.frexp(value)[1], -125) - 8)
    found = math.copysign(round(abs(value) / step) * step, value)
    return found if abs(found) < 2.0**128 else math.copysign(math.inf, value)


def json_number(value: float) -> float | str:
    """Return a number as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def json_lists(values: tuple[float, ...], shape: tuple[int, ...], dtype: str) -> Any:
    """Return the flat values of a tensor of this shape as lists in lists, each with as few digits as are exact."""
    if not shape:
        value = values[0]
        return bool(value) if dtype == "bool" else json_number(shortest(value, dtype))
    size = math.prod(shape[1:])
    return [json_lists(values[start * size : (start + 1) * size], shape[1:], dtype) for start in range(shape[0])]
