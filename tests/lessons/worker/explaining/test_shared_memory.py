"""Tensors that PyTorch does not know to have the same memory: what is written through one is not told of the other."""

from __future__ import annotations

import pytest

from tests.lessons.recorded_code import Traced

BUFFER = """
import warnings
buffer = bytearray(16)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    a = torch.frombuffer(buffer, dtype=torch.float32)
    b = torch.frombuffer(buffer, dtype=torch.float32{offset})
a.fill_(3)
c = b + 1
"""

SHARED = "The tensor {} has the same memory, and what is written through it is not followed."


@pytest.mark.parametrize("offset", ["", ", offset=4"])
def test_a_number_that_was_written_through_another_tensor_is_not_from_outside(offset: str) -> None:
    traced = Traced(BUFFER.format(offset=offset))
    assert traced.explain("b", 1).notes == (SHARED.format("a"),)
    traced.check_all("c")


def test_a_number_that_was_written_through_another_tensor_was_recorded() -> None:
    """It was changed by an operation of the record, and not by something else."""
    code = "a = torch.rand(3) * 2\nb = torch.utils.dlpack.from_dlpack(a)\nc = a * 1\nb.add_(1)"
    traced = Traced(code)
    assert traced.explain("a", 1).notes == (SHARED.format("b"),)
    (told,) = traced.explain("c", 1).notes
    assert told.startswith("A number that it was computed from is in memory that the tensor b has too")


def test_memory_of_its_own_is_not_shared() -> None:
    code = (
        "import array\na = torch.frombuffer(array.array('f', [1.0, 2.0]), dtype=torch.float32)\nb = a + torch.rand(2)"
    )
    assert Traced(code).explain("a", 1).notes == ("A number from outside: no recorded operation made it.",)
