"""Intermediate results are compared by value; two programs diverge where one lacks a result that it needs."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons.worker.jobs import intermediates
from lessons.worker.jobs.intermediates import IntermediateResult, Tracer

A, B, C, D = (torch.randn(3, 4, generator=torch.Generator().manual_seed(seed)) for seed in range(4))


def results_with(*values: torch.Tensor, chain: bool = True) -> list[IntermediateResult]:
    """Build results with these values; with `chain`, each is computed from the one before it."""
    return [
        IntermediateResult(
            f"r{position}", True, position + 1, value, frozenset([position - 1] if chain and position else [])
        )
        for position, value in enumerate(values)
    ]


def run(source: str) -> list[IntermediateResult]:
    tracer = Tracer("<program>", source)
    with tracer.running():
        exec(compile(source, "<program>", "exec"), {"torch": torch, "a": A, "b": B})
    return tracer.results()


def test_equal_ignores_the_arrangement() -> None:
    assert intermediates.equal(A, A.T)
    assert intermediates.equal(A, A.reshape(2, 6))
    assert not intermediates.equal(A, A.flip(0))
    assert not intermediates.equal(A, B)
    assert intermediates.equal(torch.tensor([torch.nan, 1.0]), torch.tensor([torch.nan, 1.0]))


def test_equal_results_have_no_divergence() -> None:
    assert intermediates.find_divergence(results_with(A, B, C), results_with(A, B, C)) is None


def test_divergence_is_at_the_first_difference() -> None:
    found = intermediates.find_divergence(results_with(A, D, D + 1), results_with(A, B, C))
    assert found is not None
    assert (found.ours, found.theirs, found.agreed) == (1, 1, (0,))


def test_a_bypassed_result_is_no_difference() -> None:
    assert intermediates.find_divergence(results_with(A, D, C), results_with(A, B, C)) is None


def test_divergence_may_come_after_all_of_our_results() -> None:
    found = intermediates.find_divergence(results_with(A, B, D), results_with(A, B))
    assert found is not None
    assert (found.ours, found.theirs) == (1, 2)


def test_a_result_of_the_right_shape_is_preferred() -> None:
    found = intermediates.find_divergence(results_with(A, torch.randn(2, 2), D), results_with(A, B))
    assert found is not None
    assert found.theirs == 2


@given(st.lists(st.integers(0, 5), max_size=6), st.lists(st.integers(0, 5), max_size=6))
def test_indices_of_a_divergence_are_valid(one: list[int], other: list[int]) -> None:
    values = [torch.full((2, 2), float(number)) + torch.eye(2) * number for number in range(6)]
    theirs, ours = (
        results_with(*(values[position] for position in one)),
        results_with(*(values[position] for position in other)),
    )
    found = intermediates.find_divergence(theirs, ours)
    if found is not None:
        assert 0 <= found.ours < len(ours)
        assert found.theirs is None or 0 <= found.theirs < len(theirs)
        assert all(position <= found.ours for position in found.agreed)


# Tracing -------------------------------------------------------------------------------------------------------------


def test_every_line_has_a_result() -> None:
    found = run("c = a + b\nd = c * 2\n")
    assert [(item.name, item.line, item.parents) for item in found] == [("c", 1, frozenset()), ("d", 2, frozenset({0}))]
    assert torch.equal(found[1].value, (A + B) * 2)


def test_values_are_those_at_the_time_of_the_line() -> None:
    found = run("c = a + b\nd = c.clone()\nc.mul_(0)\n")
    assert torch.equal(found[0].value, A + B)


def test_a_tensor_that_a_loop_fills_is_whole_at_the_end() -> None:
    found = run("c = torch.empty(3, 4)\nfor row in range(3):\n    c[row] = a[row] * 2\n")
    assert found[-1].name == "c"
    assert found[-1].line == 3
    assert torch.equal(found[-1].value, A * 2)


def test_a_module_is_one_result() -> None:
    found = run("layer = torch.nn.Linear(4, 2)\nd = layer(a)\n")
    assert [(item.name, item.line) for item in found][-1] == ("d", 2)


def test_plain_form_round_trip() -> None:
    found = run("c = a + b\nd = c * 2\n")
    again = intermediates.of_plain(intermediates.plain(found))
    assert [(item.name, item.named, item.line, item.parents) for item in again] == [
        (item.name, item.named, item.line, item.parents) for item in found
    ]


def test_a_result_computed_from_agreed_ones_is_preferred() -> None:
    theirs = [*results_with(A, B, chain=False), IntermediateResult("after", True, 3, D, frozenset({0}))]
    found = intermediates.find_divergence(theirs, results_with(A, C))
    assert found is not None
    assert found.theirs == 2


def test_memory_that_nothing_has_written_is_no_result() -> None:
    """It holds whatever was there before, perhaps the right numbers of an earlier run."""
    found = run(
        "x = torch.empty(3, 4)\ny = torch.empty_like(a)\nz = a.new_empty(3, 4)\nfor i in range(3):\n    x[i] = a[i]"
    )
    assert {item.line for item in found} == {5}
    assert torch.equal(found[-1].value, A)


def test_who_reads_the_same_parameter_does_not_depend_on_the_one_before() -> None:
    linear = "torch.nn.functional.linear"
    for made, parameter in (("", set()), ("b = b.clone()\n", {"b"})):
        found = run(f"{made}first = {linear}(a, b)\nother = a + 1\nsecond = {linear}(other, b)\nthird = second.T * 2")
        names = [item.name for item in found]
        parents = {item.name: {names[parent] for parent in item.parents} - parameter for item in found}
        assert {name: parents[name] for name in ("first", "other", "second")} == {
            "first": set(),
            "other": set(),
            "second": {"other"},
        }
        assert parents["third"] == {"second.T"}
        assert parents["second.T"] == {"second"}
