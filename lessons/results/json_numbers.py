"""Numbers as JSON documents and recordings hold them.

JSON has no infinity and no NaN, so they stand as the strings `"inf"`, `"-inf"` and `"nan"`.
"""

from __future__ import annotations

import math
from typing import Any

from attn_tutor.lessons.results.floats import shortest


def number(value: float) -> float | str:
    """Return a number as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def nested(values: tuple[float, ...], shape: tuple[int, ...], dtype: str) -> Any:
    """Return the flat values of a tensor of this shape as lists in lists, each with as few digits as are exact."""
    if not shape:
        value = values[0]
        return bool(value) if dtype == "bool" else number(shortest(value, dtype))
    size = math.prod(shape[1:])
    return [nested(values[start * size : (start + 1) * size], shape[1:], dtype) for start in range(shape[0])]
