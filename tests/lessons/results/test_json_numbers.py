"""Numbers in JSON documents: the ones that JSON lacks are strings."""

from __future__ import annotations

import math

import pytest

from attn_tutor.lessons.results.floats import json_number


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (0.5, 0.5),
        (-0.0, -0.0),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (2**62, 2**62),
    ],
)
def test_number(value: float, expected: float | str) -> None:
    assert json_number(value) == expected
    assert type(json_number(value)) is type(expected)
