"""The statistics of a row as text."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from attn_tutor.lessons.results.summaries import row_stats
from attn_tutor.tui.drawings.tensor_words import row_text
from tests.tui.widgets.test_matrix import SCORES, large, of_words, scores, tensor

WEIGHTS = (0.41, 0.2, 0.1, 0.1, 0.09, 0.1)


@pytest.mark.parametrize(
    ("room", "words"),
    [
        (
            160,
            "row step: Your 0.41, journey 0.20, starts 0.10, with 0.10, step 0.10   "
            "entropy 2.30 of 2.58 bits, like sharing evenly among 4.9",
        ),
        (78, "row step: Your 0.41, journey 0.20, starts 0.10   entropy 2.30 of 2.58 bits"),
        (60, "row step: Your 0.41, journ… 0.20   entropy 2.30 of 2.58 bits"),
        (40, "row step: Your 0.41   entropy 2.30 bits"),
        (20, "row step: Your 0.41"),
        (8, "row step"),
        (5, "row…"),
    ],
)
def test_weights(room: int, words: str) -> None:
    example = of_words("weights", [WEIGHTS] * 6, "weight")
    assert row_text(example, row_stats((), 5, WEIGHTS, 5), room) == words


def test_scores() -> None:
    stats = row_stats((), 5, SCORES[5], 5)
    assert (
        row_text(scores(), stats, 78) == "row step: journey 1.32, starts 1.29, step 1.10   sum 5.76   from 0.39 to 1.32"
    )
    assert row_text(scores(), stats, 100).endswith("   sum 5.76   from 0.39 to 1.32")


def test_column_numbers_cannot_be_mistaken_for_values() -> None:
    stats = row_stats((0,), 1000, [1 / 1001] * 1001 + [0.0] * 23, 5)
    text = row_text(large(), stats, 78)
    assert text == "row 1000: [0] 0.000999, [1] 0.000999, [2] 0.000999   entropy 9.97 of 9.97 bits"


def test_odd_rows() -> None:
    vector = tensor("v", [nan, inf, 3.0, -inf], (4,))
    assert (
        row_text(vector, row_stats((), 0, vector.values or (), 5), 80)
        == "row: [1] inf, [2] 3.00   sum nan   from 3.00 to 3.00"
    )
    mask = tensor("mask", [1.0, 0.0, 1.0], (1, 3), kind="mask", dtype="bool")
    assert (
        row_text(mask, row_stats((), 0, (1.0, 0.0, 1.0), 5), 80) == "row 0: [0] 1, [2] 1, [1] 0   sum 2   from 0 to 1"
    )
    masked = tensor("m", [-inf, -inf], (1, 2))
    assert row_text(masked, row_stats((), 0, (-inf, -inf), 5), 80) == "row 0: sum -inf"


@given(st.lists(st.floats(), min_size=1, max_size=6), st.integers(0, 90), st.text(max_size=8))
def test_a_row_always_fits(values: list[float], room: int, label: str) -> None:
    example = tensor("x", values, (1, len(values)), (), ((label,), (label,) * len(values)))
    assert cell_len(row_text(example, row_stats((), 0, values, 5), room)) <= room
