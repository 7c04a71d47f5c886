"""What a piece of advice offers can be tried, and left out."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.worker.jobs.execute import YOUR_CODE, execute

START = """\
import torch
from torch import nn
inputs, weights, mask = torch.rand(5, 8), torch.rand(5, 5), torch.ones(5, 5)
"""

TRIED = {
    "x = inputs @ weights": ["x = inputs.T @ weights", "x = weights @ inputs"],
    "x = mask.masked_fill(mask, 0.0)": ["x = mask.masked_fill(mask.bool(), 0.0)"],
    "x = nn.linear(2, 3)": ["x = nn.Linear(2, 3)", "x = nn.functional.linear(2, 3)"],
    "é = 1; x = inptus + 1": ["é = 1; x = inputs + 1"],
    "x = inputs.softmax(1) + inputs.T.contiguous().view(5 / 1, 8)": [
        "x = inputs.softmax(1) + inputs.T.contiguous().view(5 // 1, 8)"
    ],
    # Only the name is wrong, not what is given by it or imported as it.
    "def f(width): return width\nx = f(widht=1 + 2)": ["x = f(width=1 + 2)"],
    "import mth as m": ["import math as m"],
    "x = torch.cat([inputs, weights], dim=0)": ["x = torch.cat([inputs, weights], dim=1)"],
    "x = torch.cat([inputs, weights], 0)": ["x = torch.cat([inputs, weights], dim=1)"],
}


def failure_of(line: str) -> Failure:
    failure = execute(START + line, YOUR_CODE, {})
    assert failure is not None
    return failure


@pytest.mark.parametrize("line", TRIED)
def test_an_offer_is_an_edit_of_the_program_where_it_is_wrong(line: str) -> None:
    failure = failure_of(line)
    found = [item.apply_to((START + line).encode()) for item in failure.suggestions]
    assert [(code or b"").decode().splitlines()[-1] for code in found] == TRIED[line]
    assert all(f"`{item.code}`" in item.text for item in failure.suggestions)


def test_an_advice_is_left_without_what_it_offers() -> None:
    untried = failure_of("mask.masked_fill(mask, 0.0)")
    assert untried.message == f"{untried.untried} Write `mask.bool()`."
    assert untried.untried.endswith("but a mask has to contain True and False.")
    # A sentence after the offer stays.
    sizes = failure_of("inputs.size[0]")
    assert sizes.untried == sizes.message.replace(" Write `inputs.size()` to call it first.", "")
    assert failure_of("nn.linear(2, 3)").untried == "AttributeError: module 'torch.nn' has no attribute 'linear'"


@pytest.mark.parametrize("line", ["inputs[9]", f"torch.sum([{'1, ' * 40}])"])
def test_advice_without_an_offer_that_can_be_tried_stays_whole(line: str) -> None:
    failure = failure_of(line)
    assert (failure.untried, failure.suggestions) == (failure.message, ())
