"""Results are compared by value; an answer goes wrong at the first of its results that leads to none of ours."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.worker.jobs.divergence import Comparison, Divergence, find_line, line_of_edit
from attn_tutor.lessons.worker.jobs.intermediates import (
    AnswerTrace,
    IntermediateResult,
    Tracer,
    hide_the_same,
    kinship,
    match_results,
)

A, B, C, D = (torch.randn(3, 4, generator=torch.Generator().manual_seed(seed)) for seed in range(4))


def results_with(*values: torch.Tensor, chain: bool = True) -> list[IntermediateResult]:
    """Build results with these values; with `chain`, each is computed from the one before it."""
    return [
        IntermediateResult(
            f"r{position}", True, position + 1, value, frozenset([position - 1] if chain and position else [])
        )
        for position, value in enumerate(values)
    ]


def diverge(theirs: list[IntermediateResult], ours: list[IntermediateResult]) -> Divergence | None:
    return Comparison(AnswerTrace((), tuple(theirs)), AnswerTrace((), tuple(ours))).diverge()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (A, A.clone(), "same"),
        (A, A.T, "arranged"),
        (A, A.reshape(2, 1, 6), "arranged"),
        (A.view(3, 2, 2), A.view(3, 2, 2).transpose(0, 1).reshape(2, 6), "arranged"),
        (A, A.flip(0), "permuted"),
        (A, A.flip(0).T, "permuted"),
        (A, B, ""),
        (A, A[:2], ""),
        (torch.tensor([torch.nan, 1.0]), torch.tensor([torch.nan, 1.0]), "same"),
    ],
)
def test_kinship(one: torch.Tensor, other: torch.Tensor, expected: str) -> None:
    assert kinship(one, other) == expected


def test_masks_have_many_forms() -> None:
    hidden = torch.ones(4, 4).triu(1)
    assert hide_the_same(hidden, hidden.bool())
    assert hide_the_same(hidden, torch.ones(4, 4).tril())
    assert hide_the_same(hidden, torch.zeros(4, 4).masked_fill(hidden.bool(), -torch.inf))
    assert not hide_the_same(hidden, torch.ones(4, 4).triu(0))


def test_numbers_in_another_order_stand_in_place_of_ours() -> None:
    """They cut where the axes should have been exchanged: the numbers are ours, each at the place of another one."""
    ours = results_with(A, A.T.reshape(2, 6))
    theirs = results_with(A, A.reshape(2, 6))
    assert match_results(theirs, ours) == [0, None]
    found = diverge(theirs, ours)
    assert found is not None
    assert (found.ours, found.theirs, found.line) == (1, 1, 2)


def test_results_that_mean_different_things_are_not_set_side_by_side() -> None:
    def alike(theirs: IntermediateResult, ours: IntermediateResult) -> bool:
        comparison = Comparison(AnswerTrace((), (theirs,)), AnswerTrace((), (ours,)))
        return comparison.beside(Divergence(0, 0)) is not None

    one = IntermediateResult("scores", True, 1, A, frozenset(), op="mm")
    assert alike(one, IntermediateResult("scores", True, 2, B[:2], frozenset(), op="bmm"))
    assert alike(one, IntermediateResult("s", True, 2, B, frozenset(), op="mm"))
    assert not alike(one, IntermediateResult("weights", True, 2, B, frozenset(), op="softmax"))
    assert not alike(one, IntermediateResult("mask", True, 2, B[:2], frozenset(), op="mm"))


def test_a_variable_that_both_have_is_compared_with_itself() -> None:
    """And not with what the model answer computes next, which may have the same shape and come from the same."""

    def named(name: str, value: torch.Tensor, *parents: int) -> IntermediateResult:
        return IntermediateResult(name, True, 1, value, frozenset(parents), op="mm")

    ours = AnswerTrace((), (named("keys", A), named("context", B, 0)))
    theirs = AnswerTrace((), (replace(named("inputs @ W", A), named=False), named("keys", C, 0)))
    assert Comparison(theirs, ours).beside(Divergence(1, 1)) == 0
    # The second value of a variable is not compared with a first and only one.
    twice = AnswerTrace((), (named("keys", A), named("keys", C, 0)))
    assert Comparison(twice, ours).beside(Divergence(1, 1)) is None
    # Nor is something unknown compared with what they have too.
    other = AnswerTrace((), (named("x", C), named("context", B, 0)))
    assert Comparison(other, ours).beside(Divergence(1, 0)) is None


def test_a_result_at_another_stage_is_not_set_beside_ours() -> None:
    """They scale first and hide afterward: their scaled scores are right, and ours have been hidden before."""

    def scores(value: torch.Tensor, op: str, *parents: int) -> IntermediateResult:
        return IntermediateResult("w", True, 1, value, frozenset(parents), op=op)

    hidden = AnswerTrace((), (scores(A, "mm"), scores(C, "masked_fill", 0), scores(C / 2, "div", 1)))
    scaled_first = AnswerTrace((), (scores(A, "mm"), scores(A / 2, "div", 0), scores(B, "sub", 1)))
    assert Comparison(scaled_first, hidden).beside(Divergence(2, 1)) is None
    hidden_first = AnswerTrace((), (scores(C, "masked_fill"), scores(C / 2, "div", 0), scores(B, "mul", 1)))
    scaled_first = AnswerTrace((), (scores(A, "mm"), scores(A / 2, "div", 0), scores(B, "mul", 1)))
    assert Comparison(scaled_first, hidden_first).beside(Divergence(1, 1)) is None
    scaled_wrongly = AnswerTrace((), (scores(A, "mm"), scores(C, "masked_fill", 0), scores(D, "mul", 1)))
    assert Comparison(scaled_wrongly, hidden).beside(Divergence(2, 2)) == 2


def test_an_end_that_has_gone_further_is_set_beside_ours() -> None:
    def step(name: str, value: torch.Tensor, op: str, *parents: int) -> IntermediateResult:
        return IntermediateResult(name, True, 1, value, frozenset(parents), op=op)

    ours = AnswerTrace((), (step("weights", A, "softmax"), step("context", B, "mm", 0)))
    theirs = AnswerTrace(
        (),
        (step("weights", A, "softmax"), replace(step("", B, "mm", 0), named=False), step("context", B * 2, "mul", 1)),
    )
    assert Comparison(theirs, ours).beside(Divergence(1, 2)) == 1


def test_equal_results_have_no_divergence() -> None:
    assert diverge(results_with(A, B, C), results_with(A, B, C)) is None


def test_divergence_is_at_the_first_difference() -> None:
    found = diverge(results_with(A, D, D + 1), results_with(A, B, C))
    assert found is not None
    assert (found.ours, found.theirs, found.agreed) == (1, 1, (0,))


def test_a_bypassed_result_is_no_difference() -> None:
    assert diverge(results_with(A, D, C), results_with(A, B, C)) is None


def test_divergence_may_come_after_all_of_our_results() -> None:
    found = diverge(results_with(A, B, D), results_with(A, B))
    assert found is not None
    assert (found.ours, found.theirs) == (1, 2)


@given(st.lists(st.integers(0, 5), max_size=6), st.lists(st.integers(0, 5), max_size=6))
def test_indices_of_a_divergence_are_valid(one: list[int], other: list[int]) -> None:
    values = [torch.full((2, 2), float(number)) + torch.eye(2) * number for number in range(6)]
    theirs, ours = (
        results_with(*(values[position] for position in one)),
        results_with(*(values[position] for position in other)),
    )
    found = diverge(theirs, ours)
    if found is not None:
        assert 0 <= found.ours < len(ours)
        assert 0 <= found.theirs < len(theirs)
        assert all(position <= found.ours for position in found.agreed)


def test_constants_and_draws_are_not_blamed() -> None:
    theirs = [results_with(A)[0], IntermediateResult("mask", True, 2, B, fixed=True), *results_with(D, chain=False)]
    found = diverge(theirs, results_with(A, C))
    assert found is not None
    assert found.theirs == 2


# The line ------------------------------------------------------------------------------------------------------------

MODEL = """\
def attention(x, q, k, v):
    queries = x @ q
    keys = x @ k
    values = x @ v
    scores = queries @ keys.T
    weights = torch.softmax(scores / 2, dim=-1)
    context = weights @ values
    return weights, context
"""


def trace(code: str) -> AnswerTrace:
    tracer = Tracer("<program>", code)
    names: dict[str, object] = {"torch": torch}
    exec(compile(code, "<program>", "exec"), names)
    inputs = [
        torch.randn(size, generator=torch.Generator().manual_seed(9)) for size in ((5, 4), (4, 4), (4, 4), (4, 4))
    ]
    inputs = [item + index for index, item in enumerate(inputs)]
    with tracer.running():
        names["attention"](*inputs)  # type: ignore[operator]
    return tracer.trace()


def blamed(code: str) -> tuple[int | None, int | None]:
    """Return the line that the results blame alone, and the one to blame by the statements too."""
    comparison = Comparison(trace(code), trace(MODEL))
    found = comparison.diverge()
    line = found.line if found else None
    return line, find_line(comparison, line)


RENAMED = MODEL.replace("queries", "qs").replace("keys", "ks").replace("values", "vs").replace("weights", "w")


@pytest.mark.parametrize("model", [MODEL, RENAMED])
@pytest.mark.parametrize(
    ("find", "replacement", "line"),
    [
        ("= x @ k", "= x @ q", 3),
        ("= x @ v", "= x", 4),
        ("torch.softmax(scores / 2, dim=-1)", "scores / 2", 6),
        ("dim=-1", "dim=0", 6),
        ("scores / 2", "scores / 3", 6),
        ("context = w", "context = w.T", 7),
        ("scores = qs", "qs = qs * 2\n    scores = qs", 5),
    ],
)
def test_the_edited_line_is_blamed(model: str, find: str, replacement: str, line: int) -> None:
    if model is MODEL:
        find, replacement = (text.replace("qs", "queries").replace("= w", "= weights") for text in (find, replacement))
    changed = model.replace(find, replacement)
    assert changed != model
    assert blamed(changed)[1] == line


def test_a_result_computed_twice_is_blamed_where_another_one_belongs() -> None:
    assert blamed(MODEL.replace("= x @ k", "= x @ q"))[0] == 3


def test_a_name_for_something_uncomputed_is_blamed() -> None:
    assert blamed(MODEL.replace("= x @ v", "= x"))[0] == 4


def test_where_a_statement_is_missing_the_next_one_is_blamed() -> None:
    model = MODEL.replace("    context", "    weights = weights * 3\n    context")
    comparison = Comparison(trace(MODEL), trace(model))
    found = comparison.diverge()
    assert found is not None
    assert find_line(comparison, found.line) == 7


def test_the_line_of_a_known_mistake_is_that_of_its_edit() -> None:
    mistake = MODEL.replace("= x @ k", "= x @ q")
    for code, line in (
        (mistake, 3),
        (RENAMED.replace("= x @ k", "= torch.matmul(x, q)"), 3),
        (MODEL.replace("keys.T", "queries.T"), 5),
    ):
        assert line_of_edit(trace(code), trace(mistake), trace(MODEL)) in (line, None)
    assert line_of_edit(trace(mistake), trace(mistake), trace(MODEL)) == 3


def test_the_line_of_a_mistake_is_found_where_its_statement_is_taken_in_several() -> None:
    mistake = MODEL.replace("scores / 2", "scores / 3")
    answer = RENAMED.replace("w = torch.softmax(scores / 2, dim=-1)", "s = scores * 3**-1\n    w = s.softmax(-1)")
    assert line_of_edit(trace(answer), trace(mistake), trace(MODEL)) == 6
    mistake = MODEL.replace("torch.softmax(scores / 2, dim=-1)", "torch.softmax(scores / 2, dim=-1) * 3")
    answer = RENAMED.replace(
        "w = torch.softmax(scores / 2, dim=-1)", "s = scores / 2\n    w = s.softmax(-1)\n    w = w * 3"
    )
    assert line_of_edit(trace(answer), trace(mistake), trace(MODEL)) == 8


def test_what_computes_one_number_is_no_other_name_for_something() -> None:
    model = "def attention(x, q, k, v):\n    e = torch.exp(x - x.max())\n    return e / e.sum()\n"
    answer = "def attention(x, q, k, v):\n    m = x.max()\n    e = torch.exp(x) - m\n    return e / e.sum()\n"
    found = Comparison(trace(answer), trace(model)).diverge()
    assert found is not None
    assert found.line == 3


def test_a_mistake_that_only_takes_a_statement_away_is_on_no_line() -> None:
    model = MODEL.replace("    context", "    weights = weights * 3\n    context")
    assert line_of_edit(trace(RENAMED), trace(MODEL), trace(model)) is None


def test_a_mistake_is_on_no_line_of_another_function_that_both_have() -> None:
    weigh = "\n\ndef weigh(s):\n    return torch.softmax(s / 2, dim=-1)\n"
    model = MODEL.replace("torch.softmax(scores / 2, dim=-1)", "weigh(scores)") + weigh
    mistake = model.replace("s / 2", "s / 3")
    answer = mistake.replace("queries @ keys.T", "queries @ keys.T / 3").replace("s / 3, dim", "s, dim")
    assert line_of_edit(trace(answer), trace(mistake), trace(model)) is None
    assert line_of_edit(trace(mistake), trace(mistake), trace(model)) == 12
