"""The steps of a `GradScaler`: how gradients are divided by its factor, and how that changes."""

from __future__ import annotations

import pytest

from tests.lessons.recorded_code import Traced

STEP = """
torch.manual_seed(0)
w = torch.rand(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval={interval})
scaler.scale((w * {factor}).pow(2).sum()).backward()
scaler.unscale_(optimizer)
gradient = w.grad
scaler.step(optimizer)
scaler.update()
factor = scaler._scale
"""


@pytest.mark.parametrize(
    ("interval", "factor", "word", "now"),
    [(5, "1", "copy", 8.0), (1, "1", "made larger", 16.0), (5, "float('inf')", "made smaller", 4.0)],
)
def test_gradients_are_divided_and_the_factor_moves(interval: int, factor: str, word: str, now: float) -> None:
    traced = Traced(STEP.format(interval=interval, factor=factor))
    found = traced.explain("factor")
    assert found.value == now
    assert word in " ".join((found.op, *found.notes))
    if factor == "1":
        traced.check_all("gradient")
        assert "1 over the factor" in " ".join(traced.explain("gradient", 0).notes)
