"""The shortest exact form of a number of each dtype."""

from __future__ import annotations

import math
import struct

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.results.floats import rounded, shortest


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1.4754000902175903, "float64", 1.4754000902175903),
        (1.4754000902175903, "float32", 1.4754001),
        (1.474609375, "float16", 1.4746),
        (1.0078125, "bfloat16", 1.0078),
        (-0.26953125, "bfloat16", -0.2695),
        (32768.0, "float16", 32768.0),
        (123456792.0, "float32", 123456792.0),
        (3.3895313892515355e38, "bfloat16", 3.39e38),
        (5.960464477539063e-08, "float16", 6e-08),
        (1e39, "float32", math.inf),
        (-1e39, "bfloat16", -math.inf),
        (3.0, "int64", 3.0),
        (-math.inf, "float16", -math.inf),
    ],
)
def test_shortest_form(value: float, dtype: str, expected: float) -> None:
    assert shortest(value, dtype) == expected


def test_a_bfloat16_is_rounded_once() -> None:
    """This number lies above the middle of two, and its nearest float32 in the middle."""
    middle = 0.0362548828125
    assert rounded(middle, "bfloat16") == 0.0361328125
    assert rounded(middle + 1e-12, "bfloat16") == 0.036376953125
    assert rounded(3.4e38, "bfloat16") == math.inf
    assert rounded(-1e-40, "bfloat16") == float(torch.tensor(-1e-40).bfloat16())


def test_nan_and_the_sign_of_zero_stay() -> None:
    assert math.isnan(shortest(math.nan, "bfloat16"))
    assert math.copysign(1, shortest(-0.0, "float16")) == -1


@given(st.integers(0, 0xFFFF))
def test_shortest_form_is_the_same_bfloat16(bits: int) -> None:
    (value,) = struct.unpack("<f", struct.pack("<I", bits << 16))
    if math.isfinite(value):
        (found,) = struct.unpack("<I", struct.pack("<f", shortest(value, "bfloat16")))
        # The nearest bfloat16 is the upper half of the bits, rounded.
        assert (found + 0x7FFF + (found >> 16 & 1)) >> 16 == bits


@given(st.floats(width=16, allow_nan=False))
def test_shortest_form_is_the_same_float16(value: float) -> None:
    assert struct.unpack("e", struct.pack("e", shortest(value, "float16"))) == (value,)


@given(st.floats(width=32, allow_nan=False))
def test_shortest_form_is_the_same_float32(value: float) -> None:
    assert struct.unpack("f", struct.pack("f", shortest(value, "float32"))) == (value,)
