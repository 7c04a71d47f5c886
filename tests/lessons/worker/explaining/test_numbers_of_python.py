"""Numbers that Python gave to an operation: their code, and their digits in any type."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.render import explanation_text, formula_digits
from tests.lessons.recorded_code import Traced


@pytest.mark.parametrize(
    ("code", "symbols"),
    [
        ("torch.rand(2) * v.item()", "torch.rand(2)[0]·v.item()"),
        ("torch.rand(2)[:] - w.tolist()[0]", "torch.rand(2)[0] - w.tolist()[0]"),
        ("x * w[1].item()", "x[0]·w[1].item()"),
        ("w[1].item() * x", "x[0]·w[1].item()"),
        ("x - x.max().item()", "x[0] - x.max().item()"),
    ],
)
def test_the_code_of_a_number_is_the_side_that_is_no_tensor(code: str, symbols: str) -> None:
    """Both sides may name tensors; the number is on the side that the tensor did not come from."""
    start = "v, w = torch.tensor(3.0), torch.tensor([1.0, 4.0])\nx = torch.tensor([2.0, 5.0])\n"
    assert explanation_text.symbols(Traced(f"{start}y = {code}").explain("y", 0)) == symbols


@pytest.mark.parametrize(
    ("code", "digits"),
    [("x > 1e300", "1 > 1e+300"), ("x % v.item()", "1 % 1e+300"), ("x.half() > 1e5", "1 > 100000")],
)
def test_a_number_beyond_the_type_is_not_told_as_infinite(code: str, digits: str) -> None:
    """It is infinite only for the kernel, which rounds it to the type of the tensor."""
    traced = Traced(f"v = torch.tensor(1e300, dtype=torch.float64)\nx = torch.tensor([1.0])\ny = {code}")
    told = traced.explain("y", 0)
    assert formula_digits.digits(told).text == digits
    assert "inf" not in explanation_text.symbols(told)


def test_what_only_infinity_explains_is_told_with_it() -> None:
    """An infinity is not greater than what the kernel has rounded to one."""
    told = Traced("x = torch.tensor([torch.inf])\ny = x > 1e300").explain("y", 0)
    assert (told.value, formula_digits.digits(told).text) == (0.0, "inf > inf")


def test_small_numbers_of_double_precision_are_not_told_as_0() -> None:
    """Single precision does not hold them."""
    told = Traced("x = torch.tensor([2.0], dtype=torch.float64)\ny = x * 1e-300").explain("y", 0)
    assert explanation_text.symbols(told) == "x[0]·1e-300"
