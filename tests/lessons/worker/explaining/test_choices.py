"""Numbers that an operation chose from several: which ones it looked at, and where an infinity among them came from."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.render import explanation_text
from tests.lessons.recorded_code import Traced


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("x[:, :4].median(1).indices", "The place of the lower of the two in the middle of 4 numbers in order."),
        ("x[:, :3].median(1).indices", "The place of the one in the middle of 3 numbers in order."),
        ("x.nanmedian(1).indices", "The place of the lower of the two in the middle of 4 numbers in order."),
        ("x.median(1).indices", "The place of a NaN, which is the median where there is one."),
    ],
)
def test_an_even_count_has_two_in_the_middle(code: str, note: str) -> None:
    traced = Traced(f"x = torch.tensor([[3.0, 1.0, 2.0, 4.0, torch.nan]])\ny = {code}")
    assert traced.explain("y", 0).notes[0] == note


@pytest.mark.parametrize("code", ["x.nanmedian()", "x[None].nanmedian(1).values[0]"])
def test_a_median_without_nans_leaves_them_out(code: str) -> None:
    told = Traced(f"x = torch.tensor([3.0, torch.nan, 2.0, 1.0, 4.0])\ny = {code}").explain("y")
    assert explanation_text.symbols(told) == "median_low(x[0], x[2], x[3], x[4])"
    assert told.notes == ("1 NaN is left out.",)


@pytest.mark.parametrize(
    ("code", "cell"),
    [
        ("x.max()", "x[2]"),
        ("x.min()", "x[0]"),
        ("torch.where(x > 5, y, x)[2]", "y[2]"),
        ("torch.where(x > 5, x, y)[0]", "y[0]"),
    ],
)
def test_an_infinity_came_from_the_number_that_was_chosen(code: str, cell: str) -> None:
    """Others may be infinite as well, in the other direction or where they were not taken."""
    start = "x = torch.tensor([-torch.inf, 3.0, torch.inf])\ny = torch.tensor([-torch.inf, 3.0, torch.inf])\n"
    told = Traced(f"{start}r = {code} * 1").explain("r")
    assert f" was put in {cell} on line " in told.notes[-1]


def test_a_rank_that_was_computed_from_numbers_of_python_says_so() -> None:
    """A quantile multiplies what it was given by a count, and both are no tensors of the program."""
    traced = Traced("y = torch.rand(6)\ny[1] = torch.nan\nr = y.quantile(0.5)")
    pending, found = [traced.explain("r")], []
    while pending:
        told = pending.pop()
        found += [told.notes] if told.op == "multiply" and told.leaf else []
        pending += map(traced.follow, told.operands)
    assert found
    assert all(notes == ("Computed from numbers that Python gave to PyTorch.",) for notes in found)
