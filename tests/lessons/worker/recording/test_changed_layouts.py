"""Names of tensors whose layout was changed in place: an index is one of the layout that the tensor had then."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.results import explanation as x
from tests.lessons.recorded_code import Traced

CHANGES = {
    "t_()": (3, 2),
    "transpose_(0, 1)": (3, 2),
    "swapaxes_(0, 1)": (3, 2),
    "unsqueeze_(0)": (1, 2, 3),
    "unsqueeze_(0).squeeze_(0).t_()": (3, 2),
    "resize_(2, 2)": (2, 2),
    "as_strided_((2, 2), (1, 2))": (2, 2),
    "set_(torch.ones(4))": (4,),
}

FUNCTION = """
def f():
    u = torch.arange(6.0).reshape(2, 3) * 1.5
    before = u * 2
    u.{change}
    return before, u + 1
before, after = f()
"""

PARAMETER = """
def f(u):
    before = u * 2
    u.{change}
    return before, u + 1
x = torch.arange(6.0).reshape(2, 3) * 1.5
before, after = f(x)
later = x * 2
"""


@pytest.mark.parametrize("source", [FUNCTION, PARAMETER], ids=["variable", "parameter"])
@pytest.mark.parametrize("change", CHANGES)
def test_an_index_is_of_the_layout_at_that_time(source: str, change: str) -> None:
    """Each tensor is computed element by element from the one that the operand is a cell of."""
    traced = Traced(source.format(change=change))
    shapes = {"before": (2, 3), "after": CHANGES[change], "later": CHANGES[change]}
    for name in ("before", "after", *(["later"] if "later" in traced.namespace else [])):
        index = tuple(size - 1 for size in shapes[name])
        (operand,) = traced.explain(name, *index).operands
        assert operand.index == index
        assert operand.name.split("#")[0] in {"u", "x"}
        traced.check_all(name)


def test_a_change_within_a_statement_counts_at_once() -> None:
    traced = Traced("x = torch.arange(6.0).reshape(2, 3) * 1.5\ny = x.t_() * 2")
    assert x.python(traced.explain("y", 2, 0)) == "x[2,0] * 2.0"


def test_another_tensor_of_the_same_elements_keeps_its_layout() -> None:
    traced = Traced("x = torch.arange(6.0).reshape(2, 3) * 1.5\nv = x.detach()\nx.t_()\ny = v * 2")
    assert x.python(traced.explain("y", 1, 2)) == "v[1,2] * 2.0"
