"""Two runs compared by value: what agrees whatever it is called, and the first thing that differs."""

from __future__ import annotations

import pytest
import torch

from lessons.results.run_comparison import RunComparison
from lessons.worker.jobs import values
from lessons.worker.programs import program_comparison
from tests.lessons.recorded_code import Traced

START = """
torch.manual_seed(0)
x = torch.randn(4, 6)
w = torch.randn(6, 6)
"""

REFERENCE = f"""{START}
scores = x @ w @ x.T / 6**0.5
scores = scores.masked_fill(torch.ones(4, 4).triu(1).bool(), float("-inf"))
weights = scores.softmax(dim=-1)
context = weights @ x
loss = context.pow(2).mean()
"""

REFACTORED = f"""{START}
def attend(tokens, matrix):
    queries = tokens @ matrix
    products = torch.einsum("qd,kd->qk", queries, tokens) * 6**-0.5
    products = products + torch.full((4, 4), float("-inf")).triu(1)
    return torch.einsum("kd,qk->dq", tokens, torch.softmax(products, 1))

result = attend(x, w)
error = (result * result).sum() / 24
"""


def _compare(one: str, other: str, rtol: float | None = None, atol: float | None = None) -> RunComparison:
    traces = []
    for source in (one, other):
        trace = program_comparison.trace(Traced(source).explainer)
        # As between two processes.
        encoded = [values.encode(program_comparison.plain(part)) for part in program_comparison.parts(trace)]
        traces.append(program_comparison.joined(values.decode(*part) for part in encoded))
    return program_comparison.compare(traces[0], traces[1], rtol, atol)


def test_a_refactoring_agrees_whatever_its_names_and_views() -> None:
    comparison = _compare(REFERENCE, REFACTORED)
    assert comparison.difference is None
    agreed = {(item.one.name, item.other.name): item.how for item in comparison.agreed}
    assert agreed["loss", "error"] == "same"
    assert agreed["scores", "products"] == "same"
    assert ("context", "result") in agreed or any(one == "context" for one, _ in agreed)


@pytest.mark.parametrize(
    ("good", "bad", "name"),
    [
        ("softmax(dim=-1)", "softmax(dim=0)", "weights"),
        ("/ 6**0.5", "/ 6", "scores"),
        ("pow(2).mean()", "pow(2).sum()", "loss"),
        ("manual_seed(0)", "manual_seed(1)", "x"),
    ],
)
def test_the_first_difference_is_named_with_both_lines(good: str, bad: str, name: str) -> None:
    comparison = _compare(REFERENCE, REFERENCE.replace(good, bad))
    difference = comparison.difference
    assert difference is not None
    assert difference.one is not None
    assert difference.other is not None
    assert (difference.one.name, difference.other.name) == (name, name)
    assert difference.one.line == difference.other.line
    assert difference.cells
    first = difference.cells[0]
    assert abs(first.one - first.other) > 1e-5


def test_the_same_numbers_in_another_order_are_said_to_be() -> None:
    comparison = _compare(f"{START}\ny = x @ w", f"{START}\ny = x.flip(0) @ w")
    assert comparison.difference is not None
    assert comparison.difference.permuted


def test_what_only_one_program_goes_on_to_compute_stands_beside_nothing() -> None:
    comparison = _compare(f"{START}\ny = x @ w", f"{START}\ny = x @ w\nz = y.tanh()")
    difference = comparison.difference
    assert difference is not None
    assert difference.one is None
    assert difference.other is not None
    assert difference.other.name == "z"


def test_the_tolerance_is_that_of_the_type_unless_it_is_given() -> None:
    one, other = f"{START}\ny = x * 2", f"{START}\ny = x * 2.0001"
    assert _compare(one, other).difference is not None
    assert _compare(one, other, rtol=1e-3).difference is None
    halves = [f"x = torch.linspace(1, 2, 7, dtype=torch.float16)\ny = x * {factor}" for factor in (1, 1.0003)]
    assert _compare(halves[0], halves[1]).difference is None


def test_of_a_large_result_a_sample_is_compared() -> None:
    source = "torch.manual_seed(0)\nx = torch.randn(300, 400)\ny = x * {factor}\n"
    assert _compare(source.format(factor=2), source.format(factor=2)).difference is None
    difference = _compare(source.format(factor=2), source.format(factor=3)).difference
    assert difference is not None
    assert difference.sampled
    torch.manual_seed(0)
    x = torch.randn(300, 400)
    cell = difference.cells[1]
    assert cell.one == pytest.approx(2 * float(x[cell.index]))


def test_nonsense_in_place_of_a_trace_is_refused() -> None:
    with pytest.raises(ValueError, match="size"):
        program_comparison.of_plain([["x", True, 1, torch.ones(2), "add", "", "", "", "3", "float32", 0]], 0)


def test_a_draw_in_the_shape_of_a_result_does_not_depend_on_its_numbers() -> None:
    code = f"{START}\nh = {{}}(x @ w)\nnoise = torch.randn_like(h)\ny = h + noise"
    difference = _compare(code.format("torch.relu"), code.format("torch.tanh")).difference
    assert difference is not None
    assert difference.one is not None
    assert difference.one.name == "h"


def test_a_result_is_not_excused_by_a_later_one_that_hardly_depends_on_it() -> None:
    code = f"{START}\nh = {{}}(x @ w)\nbig = 1e6 + 1e-9 * h.sum()\ny = h * 2"
    difference = _compare(code.format("torch.relu"), code.format("torch.tanh")).difference
    assert difference is not None
    assert difference.one is not None
    assert difference.one.name == "h"
