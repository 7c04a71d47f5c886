"""Operations that have no rule: which numbers they took is told, and no more than is known of which of them count."""

from __future__ import annotations

import pytest

from tests.lessons.recorded_code import Traced


@pytest.mark.parametrize(
    "code",
    [
        "torch.linalg.qr(x)[0]",
        "torch.linalg.svd(x)[0]",
        "torch.linalg.inv(x)",
        "torch.linalg.eigh(x)[1]",
        "torch.linalg.solve(x, x.T)",
        "torch.linalg.cholesky_ex(x)[0]",
        "torch.fft.fft(x).real",
        "torch.sparse.mm(x.to_sparse(), x)",
    ],
)
def test_all_numbers_may_count_in_a_result_of_the_same_shape(code: str) -> None:
    """A result that has the shape of an operand need not be made from the numbers at the same places."""
    traced = Traced(f"x = torch.rand(3, 3) + 3 * torch.eye(3)\ny = {code}")
    told = traced.explain("y", 1, 2)
    assert {operand.index for operand in told.operands} == {(row, column) for row in range(3) for column in range(3)}
    assert "which of them count in this one is not known" in told.notes[-1]


def test_only_the_same_place_counts_where_pytorch_says_so() -> None:
    """PyTorch marks operations that treat each element alone; numbers of smaller tensors are broadcast."""
    traced = Traced("x, y = torch.rand(2, 3) + 1, torch.rand(3) + 1\nz = torch.special.zeta(x + 1, y)")
    assert [operand.index for operand in traced.explain("z", 1, 2).operands] == [(1, 2), (2,)]


def test_the_first_of_many_are_listed() -> None:
    """A reader is told how many there are."""
    told = Traced("x = torch.rand(20, 20)\ny = torch.linalg.qr(x)[0]").explain("y", 19, 0)
    assert len(told.operands) == 64
    assert "It took 400 numbers, and the first of them are below" in told.notes[-1]


def test_nothing_is_below_where_nothing_was_taken() -> None:
    """An operation that makes numbers from nothing has none below."""
    told = Traced("y = torch.kaiser_window(4)").explain("y", 1)
    assert told.notes[0] == "The operation kaiser_window has no rule here."
