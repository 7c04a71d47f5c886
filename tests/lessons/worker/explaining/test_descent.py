"""Explanations of the steps of optimizers, in the words of the method."""

from __future__ import annotations

import re

import pytest

from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.results import formula as f
from tests.lessons.recorded_code import Traced

PROGRAM = """
torch.manual_seed(4)
x = torch.rand(3, 4)
layer = torch.nn.Linear(4, 2)
def train():
    optimizer = torch.optim.{}
    for _ in range(3):
        loss = (layer(x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return optimizer
optimizer = train()
weight = layer.weight
"""
FORMS = ["", ", foreach=True", ", fused=True"]
LETTERS = {"m": "exp_avg", "v": "exp_avg_sq", "momentum": "momentum_buffer", "step count": "step"}


def traced_operands(optimizer: str) -> tuple[Traced, dict[str, x.Operand]]:
    """Run three steps of an optimizer, and return the operands of a weight and of these by their labels."""
    traced = Traced(PROGRAM.format(optimizer))
    found: dict[str, x.Operand] = {}
    pending = [traced.explain("weight", 1, 2)]
    for _ in range(40):
        for operand in pending.pop(0).operands if pending else ():
            if operand.label not in found:
                found[operand.label] = operand
                pending.append(traced.follow(operand))
    return traced, found


def assert_kept(traced: Traced, operands: dict[str, x.Operand], *letters: str) -> None:
    """Assert that the labels of the last averages mean what the optimizer has in its state."""
    seen = set()
    state = traced.namespace["optimizer"].state[traced.namespace["weight"]]
    for label, operand in operands.items():
        found = re.fullmatch(r"\((.*) of layer\.weight\)(\[1,2\])?", label)
        if found is not None and found[1] in letters:
            seen.add(found[1])
            assert operand.value == float(state[LETTERS[found[1]]][operand.index])
    assert seen == set(letters)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["Adam(layer.parameters(), lr=0.1", "AdamW(layer.parameters(), lr=0.1"])
def test_a_step_of_adam(name: str, form: str) -> None:
    """A weight is explained by m, v and the settings in one formula, however PyTorch computes it."""
    traced, operands = traced_operands(f"{name}{form})")
    explanation = traced.explain("weight", 1, 2)
    formula = x.python(explanation)
    m, v = "(m of layer.weight)[1,2]", "(v of layer.weight)[1,2]"
    assert m in formula
    assert v in formula
    assert {"lr", "beta1", "beta2", "eps"} <= {number.code for number in numbers(explanation.formula)}
    assert ("weight_decay" in str(explanation.formula)) == name.startswith("AdamW")
    assert_kept(traced, operands, "m", "v", "step count")
    for label, beta in ((m, "beta1"), (v, "beta2")):
        followed = traced.follow(operands[label])
        assert {number.code for number in numbers(followed.formula)} - {""} == {beta}
        assert any("gradient of layer.weight" in operand.label for operand in followed.operands)
    traced.check_all("weight")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("more", ["", ", dampening=0.1", ", nesterov=True", ", weight_decay=0.01"])
def test_a_step_with_momentum(form: str, more: str) -> None:
    """A step of gradient descent speaks of the momentum."""
    traced, operands = traced_operands(f"SGD(layer.parameters(), lr=0.1, momentum=0.9{more}{form})")
    assert_kept(traced, operands, "momentum")
    explanation = traced.explain("weight", 1, 2)
    assert "lr" in {number.code for number in numbers(explanation.formula)}
    traced.check_all("weight")


def test_a_setting_that_changes_counts_from_then_on() -> None:
    """The settings are those of the step, not those at the end: a schedule changes the learning rate."""
    traced = Traced(
        "p = torch.ones(2, requires_grad=True)\noptimizer = torch.optim.Adam([p], lr=0.5)\n"
        "(p * p).sum().backward()\noptimizer.step()\noptimizer.param_groups[0]['lr'] = 0.1\n"
    )
    values = {number.code: number.value for number in numbers(traced.explain("p", 0).formula)}
    assert values["lr"] == 0.5
    traced.check_all("p")


def test_an_optimizer_of_ones_own_is_explained_by_its_operations() -> None:
    """Nothing is said about m and v where a class of one's own may mean something else by them."""
    traced = Traced(
        "class Mine(torch.optim.Adam):\n    pass\n"
        "p = torch.ones(2, requires_grad=True)\noptimizer = Mine([p], lr=0.5, foreach=False)\n"
        "(p * p).sum().backward()\noptimizer.step()\n"
    )
    assert "beta1" not in str(traced.explain("p", 0).formula)
    traced.check_all("p")


def test_watching_ends_with_the_recording() -> None:
    """A step outside of the recorder leaves no trace."""
    traced = Traced("p = torch.ones(2, requires_grad=True)\noptimizer = torch.optim.Adam([p])\np.sum().backward()")
    traced.namespace["optimizer"].step()
    assert not traced.recorder.optimizers.states
    with traced.recorder:
        traced.namespace["optimizer"].step()
    assert traced.recorder.optimizers.states


def numbers(formula: f.Formula) -> list[f.Number]:
    """Return all numbers of a formula."""
    if isinstance(formula, f.Op):
        return [number for part in formula.parts for number in numbers(part)]
    return [formula] if isinstance(formula, f.Number) else []
