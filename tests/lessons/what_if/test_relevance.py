"""Which knobs matter to a step, as far as that can be told from its code."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.what_if import knobs
from tests.lessons.lesson_builders import Fields, code_step, lesson_of

WIDTH: Fields = {
    "kind": "number",
    "name": "width",
    "label": "Width",
    "find": "width = 2",
    "replace": "width = {value}",
    "default": 2,
    "values": [2, 3],
}
SEED: Fields = {"kind": "seed", "name": "seed", "label": "Seed"}
WORDS: Fields = {"kind": "words", "name": "words", "label": "Words"}
SETUP = "import torch\ninputs = torch.tensor([[1.0], [2.0]])\nwidth = 2\n"

CASES = {
    "y = inputs * 2": ["words"],
    "y = torch.zeros(width)": ["width"],
    "y = torch.rand(3)": ["seed"],
    "y = torch.rand(width)": ["width", "seed"],
    "x = torch.rand(width)\ny = torch.rand(3)": ["width", "seed"],
    "y = torch.zeros(3)": [],
    # Whether a function draws is not looked into.
    "def f(): return inputs\ny = f()": ["words", "seed"],
    "y = torch.zeros(3)\ny += width": ["width"],
    "y = torch.zeros(3)\nfor i in range(3): y[i] = width": ["width"],
    "y = torch.zeros(width)\ny = torch.zeros(3)": [],
}


@pytest.mark.parametrize("code", CASES)
@pytest.mark.parametrize("apart", [False, True])
def test_knobs_that_matter_are_those_that_reach_what_is_shown(code: str, apart: bool) -> None:
    shown = {"name": "z", "kind": "vector", "axes": ["dim"]}
    steps = [code_step("first", code), code_step("last", "z = y + 1", shown)] if apart else [code_step("last", code)]
    lesson = lesson_of(*steps, setup=SETUP, tokens=["a", "b"], knobs=[WIDTH, WORDS, SEED])
    found = {knob.name for knob in knobs.relevant_to_step(lesson, "last")}
    # The code that a step itself runs counts as a whole.
    own = {"y = torch.zeros(width)\ny = torch.zeros(3)": {"width"}} if not apart else {}
    assert found == set(CASES[code]) | own.get(code, set())


def test_words_matter_where_they_are_labels() -> None:
    shown = {"name": "z", "kind": "vector", "axes": ["token"], "labels": {"token": ["a", "b"]}}
    lesson = lesson_of(code_step("last", "z = torch.zeros(2)", shown), setup=SETUP, tokens=["a", "b"], knobs=[WORDS])
    assert [knob.name for knob in knobs.relevant_to_step(lesson, "last")] == ["words"]


def test_steps_that_do_not_exist_are_refused() -> None:
    with pytest.raises(KeyError):
        knobs.relevant_to_step(lesson_of(code_step("last", "x = 1")), "first")
