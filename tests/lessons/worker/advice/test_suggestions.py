"""What a piece of advice suggests can be tried, and left out."""

from __future__ import annotations

import pytest

from lessons.worker.advice.suggestions import without_offer
from lessons.worker.jobs.execute import YOUR_CODE, execute

START = """\
import torch
from torch import nn
inputs, weights, mask = torch.rand(5, 8), torch.rand(5, 5), torch.ones(5, 5)
"""


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        (
            "`a.b` is 6x3: the sizes, 3 and 2, must agree. Did you mean `a @ b.T`?",
            "`a.b` is 6x3: the sizes, 3 and 2, must agree.",
        ),
        (
            "`m` holds numbers, but a mask holds True and False: write `m.bool()`.",
            "`m` holds numbers, but a mask holds True and False.",
        ),
        ("`*` multiplies place by place; the matrix product is `a @ b`.", "`*` multiplies place by place."),
        ("`W` is a layer. Try `W(x)`, which calls it. `x` is 6x3.", "`W` is a layer. `x` is 6x3."),
        ("It is in a different place: `nn.Linear`.", ""),
        ("`m` is 6x6. Slice the mask to the number of tokens: `m[:2, :2]`.", "`m` is 6x6."),
        ("`W` is a matrix: its name is `x. y`. That is all.", "`W` is a matrix: its name is `x. y`. That is all."),
    ],
)
def test_a_suggestion_can_be_left_out(sentence: str, left: str) -> None:
    assert without_offer(sentence, sentence) == left


@pytest.mark.parametrize(
    ("sentence", "told", "left"),
    [
        ("It is 6x3. Did you mean `k.T`?", "Es ist 6x3. Meinten Sie `k.T`?", "Es ist 6x3."),
        ("It is 6x3: write `k.T`.", "他是 6x3：请写 `k.T`。", "他是 6x3."),
        ("It is 6x3. Did you mean `k.T`?", "这是 6x3。是 `k.T` 吗？", "这是 6x3。"),
        ("It is 6x3: write `k.T`.", "Es ist 6x3.", "Es ist 6x3."),
        ("It is `k`.", "Es ist `k`.", "Es ist `k`."),
    ],
)
def test_a_suggestion_is_left_out_in_any_language(sentence: str, told: str, left: str) -> None:
    assert without_offer(sentence, told) == left


@pytest.mark.parametrize(
    ("line", "tried"),
    [
        ("x = inputs @ weights", ["x = inputs.T @ weights", "x = weights @ inputs"]),
        ("x = mask.masked_fill(mask, 0.0)", ["x = mask.masked_fill(mask.bool(), 0.0)"]),
        ("x = nn.linear(2, 3)", ["x = nn.Linear(2, 3)"]),
        ("é = 1; x = inptus + 1", ["é = 1; x = inputs + 1"]),
    ],
)
def test_a_suggestion_is_an_edit_of_the_program(line: str, tried: list[str]) -> None:
    failure = execute(START + line, YOUR_CODE, {})
    assert failure is not None
    found = [item.apply_to((START + line).encode()) for item in failure.suggestions]
    lines = [(code or b"").decode().splitlines()[-1] for code in found]
    assert set(tried) <= set(lines)
    assert failure.message.startswith(failure.untried.rstrip("."))
    assert all(f"`{item.code}`" in item.text for item in failure.suggestions)


def test_advice_without_a_suggestion_has_nothing_to_try() -> None:
    failure = execute(START + "inputs[9]", YOUR_CODE, {})
    assert failure is not None
    assert (failure.untried, failure.suggestions) == (failure.message, ())
