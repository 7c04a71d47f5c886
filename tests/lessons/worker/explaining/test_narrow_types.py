"""Numbers that were computed in a type with fewer digits than they are kept in."""

from __future__ import annotations

import pytest
import torch

from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.worker.explaining import accounting
from tests.lessons.recorded_code import Traced, indices

SETUP = """
torch.manual_seed(3)
F, nn = torch.nn.functional, torch.nn
a, b = torch.randn(3, 8), torch.randn(3, 8)
low, other = a.{dtype}(), b.{dtype}()
v = torch.rand(8).{dtype}()
"""

EXPRESSIONS = [
    "(low @ other.T).float()",
    "low.softmax(1).float()",
    "low.log_softmax(1).float()",
    "low.sum().float()",
    "(low * other).sum(1).float()",
    "(low * other).float().sum(1)",
    "(low / other).float().mean()",
    "F.layer_norm(low, (8,), v, v).float()",
    "low.std(1).float()",
    "F.gelu(low).float()",
    "F.linear(low, other, v[:3]).double()",
    "torch.cat([low @ other.T, low], 1).float() * 2",
    "torch.cat([(low @ other.T).float(), a], 1)",
    "torch.stack([low.exp(), other.exp()]).double()",
    "(low @ other.T).float().T.contiguous()",
    "(low * other).float().clone()",
    "low.cumsum(1).float()",
    "torch.add(low, other, out=torch.empty(3, 8))",
    "torch.mul(a, b, out=torch.empty(3, 8).double())",
    "torch.empty(3, 8).copy_(low * other)",
    "(low * 0.1).int() + (low * 3).round().long()",
    "low.norm(dim=1).float()",
    "low.prod(1).double()",
    "F.scaled_dot_product_attention(low[None], low[None], other[None])[0].float()",
    "torch.nn.functional.cross_entropy(low, torch.tensor([0, 1, 2])).float()",
]


@pytest.mark.parametrize("code", EXPRESSIONS)
@pytest.mark.parametrize("dtype", ["bfloat16", "half"])
def test_the_rounding_in_between_is_a_step(code: str, dtype: str) -> None:
    """Each number has a formula that gives it in its own type; nothing is said to have been changed."""
    traced = Traced(f"{SETUP.format(dtype=dtype)}r = {code}")
    _check_exactly(traced, "r")


@pytest.mark.parametrize("code", ["(a * b).sum(1).double()", "(a @ b.T).double()", "(a * b).double().sum(1)"])
def test_double_precision_is_told_to_its_last_digit(code: str) -> None:
    _check_exactly(Traced(f"{SETUP.format(dtype='half')}r = {code}"), "r")


def test_gradients_under_autocast() -> None:
    """That of the first weight is computed in bfloat16, and kept in single precision."""
    traced = Traced(
        """
        nn = torch.nn
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.LayerNorm(3), nn.Linear(3, 2))
        x = torch.randn(5, 4)
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(x).float().square().mean()
        loss.backward()
        first, last, bias = model[0].weight.grad, model[3].weight.grad, model[0].bias.grad
        """
    )
    for name in ("first", "last", "bias", "loss"):
        _check_exactly(traced, name)


def test_a_formula_that_rounds_is_one_step() -> None:
    """Where nothing but the result was rounded, the formula has the rounding."""
    source = "p, q = torch.tensor([1.0, 3.0]).bfloat16(), torch.tensor([0.3, 0.7]).bfloat16()\nr = (p * q).float()"
    told = Traced(source).explain("r", 1)
    assert x.python(told) == "bfloat16(p[1] * q[1])"
    assert "Rounded to bfloat16." in told.notes


def test_a_kernel_that_rounds_on_the_way_leads_to_its_own_result() -> None:
    """No formula gives the number then; it is a copy of one that can be asked about."""
    traced = Traced(f"{SETUP.format(dtype='half')}r = low.log_softmax(1).float()")
    copies = 0
    for index in indices((3, 8)):
        told = traced.explain("r", *index)
        if told.formula == f.OperandRef(0):
            copies += 1
            assert (told.op, told.operands[0].dtype, told.operands[0].value) == ("convert", "float16", told.value)
            assert traced.follow(told.operands[0]).op == "log_softmax"
    assert copies


WHOLE = [
    "torch.zeros(3, dtype=torch.long).scatter_(0, torch.tensor([1]), 1.5)",
    "torch.zeros(3, dtype=torch.uint8).scatter_(0, torch.tensor([1]), 7.9)",
    "torch.arange(3).index_fill(0, torch.tensor([1]), -1.5)",
    "torch.arange(3).masked_fill(torch.tensor([False, True, True]), 2.7)",
    "F.pad(torch.arange(2), (1, 0), value=1.5)",
    "torch.addcmul(torch.arange(3), torch.arange(3), torch.arange(3), value=0.5)",
    "torch.addcmul(torch.arange(3), torch.arange(3), torch.arange(3), value=2.5)",
    "torch.arange(3).fill_(1.5)",
    "torch.arange(3).fill_(torch.tensor(1.5))",
    "torch.arange(3).copy_(torch.tensor([1.5, -2.5, 0.0]))",
    "torch.full((3,), 1.5, dtype=torch.int)",
    "torch.zeros(3, dtype=torch.bool).scatter_(0, torch.tensor([1]), 0.5)",
    "torch.zeros(3, dtype=torch.bool).fill_(torch.tensor(0.5))",
    "torch.scatter(torch.arange(3), 0, torch.tensor([1]), 1.5, reduce='multiply')",
]


@pytest.mark.parametrize("code", WHOLE)
def test_whole_numbers_that_were_written_with_a_fraction(code: str) -> None:
    """They are cut off, and nothing is said to have been changed."""
    _check_exactly(Traced(f"F = torch.nn.functional\nr = {code}"), "r")


def _check_exactly(traced: Traced, name: str) -> None:
    """Check that numbers of wide types come out of their formulas, and that none is said to have been changed."""
    tensor = traced.namespace[name].detach()
    for index in indices(tuple(tensor.shape)):
        told = traced.explain(name, *index)
        assert told.value == float(tensor[index])
        for one in (told, *map(traced.follow, told.operands[:4])):
            assert one.op != "unrecorded", one.notes
            assert not any("left out" in note for note in one.notes), one.notes
        if told.operands and told.dtype == "float64":
            assert f.evaluate(told.formula, told.values) == told.value, x.python(told)
        assert accounting.agrees(told.formula, (), told.values, told.value, getattr(torch, told.dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_number_that_is_set_is_rounded_to_the_type_of_its_tensor(dtype: str) -> None:
    source = f"i = torch.tensor([[1]])\nr = torch.zeros(2, 2, dtype=torch.{dtype}).scatter_(1, i, 2.7)"
    told = Traced(source).explain("r", 0, 1)
    assert f.evaluate(told.formula, []) == told.value
    assert told.notes == (f"Set to {told.value:.6g} here.", f"Rounded to {dtype}.")
