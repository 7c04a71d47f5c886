"""Names of the results of calls that functions of the program have part in: what such a call gives when it ends."""

from __future__ import annotations

import pytest

from tests.lessons.recorded_code import Traced
from tests.lessons.worker.recording.behind import behind

START = """
nn = torch.nn
class Half(nn.Module):
    def forward(self, x):
        return x / 2
model = nn.Sequential(nn.Linear(2, 2), Half(), nn.Linear(2, 2), Half(), nn.Tanh())
x = torch.tensor([[1.0, 2.0]])
hooked = nn.Linear(2, 2)
hooked.register_forward_hook(lambda module, given, made: made * 3)
"""


@pytest.mark.parametrize("code", ["model", "hooked"])
@pytest.mark.parametrize("is_function", [False, True])
def test_a_name_means_what_a_call_gives_and_not_what_it_computes_before(code: str, is_function: bool) -> None:
    call = f"def f(u):\n    y = {code}(u)\n    return y\ny = f(x)" if is_function else f"y = {code}(x)"
    traced = Traced(f"{START}{call}\nz = y * 2")
    told = list(behind(traced, traced.explain("z", 0, 1)))
    values = {item.value for item in told if item.name.partition("#")[0] == "y"}
    assert values == {float(traced.namespace["y"].detach()[0, 1])}


def test_a_call_that_goes_on_later_is_named_then() -> None:
    """Explanations may be asked for while a call lasts, as at a breakpoint."""
    traced = Traced(START)
    half = traced.namespace["Half"]
    forward = half.forward

    def asking(self: object, x: object) -> object:
        traced.explainer.names.update()
        return forward(self, x)

    half.forward = asking
    traced.run("y = model(x)\nz = y * 2", "more")
    told = list(behind(traced, traced.explain("z", 0, 1)))
    values = {item.value for item in told if item.name.partition("#")[0] == "y"}
    assert values == {float(traced.namespace["y"].detach()[0, 1])}
