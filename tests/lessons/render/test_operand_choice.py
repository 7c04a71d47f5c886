"""The choice of operands: the largest terms are followed, and a sentence sums up the others."""

from __future__ import annotations

import math
import random
import re

import pytest

from attn_tutor.lessons.render import explanation_text
from attn_tutor.lessons.render.explanation_lines import MOST_OPERANDS, choose_operands
from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation
from tests.tui.explanations import explanation, operand


def explained(formula: f.Formula, values: list[float], op: str = "sum") -> Explanation:
    """Return the explanation of a number that a formula computed from the row `x`."""
    operands = [operand("x", (at,), value, ref=at) for at, value in enumerate(values)]
    return explanation("y", (), f.evaluate(formula, values), formula, operands, op=op)


def refs(values: list[float]) -> list[f.Formula]:
    return [f.OperandRef(at) for at in range(len(values))]


def test_a_short_sum_is_followed_in_its_order() -> None:
    values = [0.5, -3.0, 2.0]
    assert choose_operands(explained(f.add(*refs(values)), values)).positions == (0, 1, 2)


def test_of_a_long_sum_the_largest_terms_come_first() -> None:
    """Also outside of the sum, where a bias stands alone."""
    random.seed(3)
    values = [random.uniform(-1, 1) for _ in range(41)]
    formula = f.Op("-", (f.add(*refs(values)[:40]), f.OperandRef(40)))
    choice = choose_operands(explained(formula, values))
    assert choice.positions[0] == 40
    sizes = [abs(values[at]) for at in choice.positions[1:]]
    assert len(sizes) == MOST_OPERANDS
    assert sizes == sorted(map(abs, values[:40]), reverse=True)[:MOST_OPERANDS]
    left_out = [values[at] for at in range(40) if at not in choice.positions]
    assert choice.rest == f"32 more terms, together {readable(sum(left_out))}"


def test_zeros_are_folded_into_one_sentence() -> None:
    """One of them stays, to say why it is 0."""
    values = [0.25, 0.0, 0.75, 0.0, 0.0, 0.0]
    choice = choose_operands(explained(f.add(*refs(values)), values))
    assert (choice.positions, choice.rest) == ((2, 0, 1), "3 more terms, all 0")


def test_masked_scores_of_a_softmax_are_folded() -> None:
    """The score itself and the largest one stay, however small the former is."""
    values = [1.0, -4.0, *[-math.inf] * 20]
    exps = [f.call("exp", f.Op("-", (cell, f.OperandRef(0)))) for cell in refs(values)]
    choice = choose_operands(explained(f.Op("/", (exps[1], f.add(*exps))), values, "softmax"))
    assert choice.positions[:2] == (1, 0)
    assert len(choice.positions) == 3
    assert choice.rest == "19 more terms, all 0"


@pytest.mark.parametrize(("name", "near"), [("max", range(29, 21, -1)), ("median_low", range(10, 18))])
def test_of_numbers_to_choose_from_those_near_the_chosen_one_are_followed(name: str, near: range) -> None:
    """The others add up to nothing that matters."""
    values = [float(at + 1) for at in range(30)]
    choice = choose_operands(explained(f.call(name, *refs(values)), values))
    assert (set(choice.positions), choice.rest) == (set(near), "22 more terms")


def test_an_operation_without_a_formula_is_limited_too() -> None:
    values = [float(at) for at in range(30)]
    choice = choose_operands(explained(f.Number(3.0), values, "lgamma"))
    assert choice.positions == tuple(range(29, 29 - MOST_OPERANDS, -1))
    assert choice.rest == "22 more terms, 1 of them 0"


def test_what_is_written_comes_out() -> None:
    """The terms in digits and the total of the others give the result to its last shown digit."""
    random.seed(5)
    for count in (9, 20, 300):
        values = [random.uniform(-2, 2) for _ in range(count)]
        told = explained(f.add(*refs(values)), values)
        line = explanation_text.report(told)[-1]
        terms, _, result = line.strip().removeprefix("= ").replace("≈", "=").rpartition(" = ")
        written = re.sub(r"\(\d+ more: (\S+)\)", r"(\1)", terms)
        assert f"{eval(written):.4f}" == result, line
