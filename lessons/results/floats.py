"""The shortest exact form of floating-point numbers, for JSON documents and for the screen alike."""

from __future__ import annotations

import math
import struct

_MOST_DIGITS = {"bfloat16": 4, "float16": 5, "float32": 9}
"""Significant decimal digits that identify any number of a dtype that is narrower than Python's own float."""

_STRUCT_CODES = {"float16": "e", "float32": "f"}


LARGEST_WHOLE = 1 << 53
"""The whole number up to which a float holds every other one too."""


def exact_number(value: float) -> float:
    """Return a number as a float, and as an `int` if it is a whole number that no float can be trusted to hold."""
    return value if type(value) is int and abs(value) > LARGEST_WHOLE else float(value)


def shortest(value: float, dtype: str) -> float:
    """Return the float with the fewest decimal digits that is the same number as `value` in this dtype.

    As a float32, 1.4754000902175903 gives 1.4754001, and as a bfloat16, 1.0078125 gives 1.01. A number beyond the
    largest of the dtype gives infinity. What is not finite and what is of any other dtype comes back unchanged, and so
    does a whole number: as a float16, 32768 would be 32770, which nobody takes for a shorter form of it.
    """
    if dtype not in _MOST_DIGITS or not math.isfinite(value):
        return value
    value = rounded(value, dtype)
    if value.is_integer() and abs(value) <= LARGEST_WHOLE:
        return value
    candidates = (float(f"{value:.{digits}g}") for digits in range(1, _MOST_DIGITS[dtype] + 1))
    return next(candidate for candidate in candidates if rounded(candidate, dtype) == value)


def rounded(value: float, dtype: str) -> float:
    """Return the number of this dtype nearest to a value; infinity beyond its largest."""
    code = _STRUCT_CODES.get(dtype, "f")
    try:
        if dtype == "bfloat16":
            (bits,) = struct.unpack("<I", struct.pack("<f", value))
            # Round the lower half of a float32 away, ties to even.
            bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
            (rounded,) = struct.unpack("<f", struct.pack("<I", bits))
        else:
            (rounded,) = struct.unpack("<" + code, struct.pack("<" + code, value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(rounded)
