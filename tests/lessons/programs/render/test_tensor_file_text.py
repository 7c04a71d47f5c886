"""Files of tensors as text."""

from __future__ import annotations

from attn_tutor.lessons.programs.render import tensor_file_text
from attn_tutor.lessons.programs.results.tensor_file import TensorStatistics

WHOLE = TensorStatistics(6, 6, -1.5, 2.0, 0.25, 1.0, 0, 0, 0)


def test_the_statistics_of_a_page_as_a_table() -> None:
    assert list(tensor_file_text.table([("w", WHOLE), ("bias", WHOLE)])) == [
        "      least  greatest  mean  std",
        "w      -1.5         2  0.25    1",
        "bias   -1.5         2  0.25    1",
        "No number is zero. All are finite.",
    ]


def test_what_is_special_has_columns_and_what_was_not_looked_at_is_said() -> None:
    empty = TensorStatistics(2, 2, None, None, None, None, 0, 1, 1)
    part = TensorStatistics(1000, 10, 0.0, 1.0, 0.5, 0.5, 3, 0, 0)
    long = "a" * 30 + "_weight"
    assert list(tensor_file_text.table([(long, part), ("nan", empty)])) == [
        "                          least  greatest  mean  std  zeros  NaN  infinite",
        f"...{'a' * 14}_weight      0         1   0.5  0.5      3    0         0",
        "nan                           -         -     -    -      0    1         1",
        f"Of {long}, 1.00% of the numbers were looked at, spread over all of it.",
    ]
