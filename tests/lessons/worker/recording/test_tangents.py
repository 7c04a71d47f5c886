"""Names inside of functions whose derivatives are carried along: they mean the numbers, and never their tangents."""

from __future__ import annotations

import pytest
import torch

from tests.lessons.recorded_code import Traced
from tests.lessons.worker.recording.behind import behind

# PyTorch loads the formulas of these derivatives in a way of its own that it calls deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")

START = """
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jvp
x = torch.tensor([1.5, 2.0, 2.5])
def f(u):
    w = u.sin()
    return w * u
def loss(u):
    return f(u).sum()
"""

DUAL = """
with forward_ad.dual_level():
    c = forward_ad.unpack_dual(f(forward_ad.make_dual(x, torch.tensor([3.0, 4.0, 5.0])))).tangent
"""


@pytest.mark.parametrize(
    "code",
    [
        *("c = jacfwd(f)(x)[1]", "c = jvp(f, (x,), (x * 2,))[1]", "c = jvp(f, (x,), (x,))[1]", DUAL),
        *("c = hessian(loss)(x)[1]", "c = jvp(jacfwd(f), (x,), (x * 3,))[1][1]", "c = jvp(grad(loss), (x,), (x,))[1]"),
    ],
)
def test_a_name_means_a_number_and_not_its_tangent(code: str) -> None:
    traced = Traced(START + code)
    told = {item.name: item.value for item in behind(traced, traced.explain("c", 1)) if item.index == (1,)}
    values = {name: value for name, value in told.items() if name.partition("#")[0] in ("w", "u")}
    allowed = {float(traced.namespace["x"][1]), float(torch.sin(traced.namespace["x"])[1])}
    assert set(values.values()) <= allowed


def test_the_tangent_of_a_gradient_is_not_called_a_gradient() -> None:
    traced = Traced(START + "c = hessian(loss)(x)[1]")
    told = [item for item in behind(traced, traced.explain("c", 1)) if item.name.startswith("(gradient of w")]
    x = traced.namespace["x"]
    assert all(item.value == float(x[item.index]) for item in told)


def test_results_have_names_again_when_derivatives_are_done() -> None:
    traced = Traced(START + "v = x * 2\nc = jvp(f, (x,), (v,))[1]\nd = c * v\ne = d + v")
    told = traced.explain("e", 1)
    assert {item.name for item in told.operands} == {"d", "v"}
