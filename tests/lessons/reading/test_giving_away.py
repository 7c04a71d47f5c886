"""A suggestion that an exercise asks for is recognized, whatever the names."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.reading.repairs import gives_away, is_a_name

MODEL = "def f(inputs):\n    scores = inputs @ inputs.T\n    return torch.softmax(scores, dim=-1)\n"


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("inputs @ inputs.T", True),
        ("inputs.T", True),
        ("inputs.T @ inputs", False),
        ("torch.softmax", False),
        ("inputs @", False),
    ],
)
def test_a_piece_of_a_right_answer_is_given_away(code: str, given: bool) -> None:
    assert gives_away(code, MODEL.replace("inputs.T", "inputs"), [MODEL]) == given


def test_names_of_the_learner_count_as_those_of_the_model() -> None:
    source = MODEL.replace("inputs.T", "inputs").replace("inputs", "x")
    assert gives_away("x @ x.T", source, [MODEL])
    assert gives_away("x @ x.T", source, ["def f(:", MODEL])
    assert not gives_away("y @ y.T", source, [MODEL])


@pytest.mark.parametrize(
    ("code", "named"), [("torch.softmax", True), ("W_q", True), ("keys.T", False), ("f(x)", False), ("a @", False)]
)
def test_a_name_may_be_corrected(code: str, named: bool) -> None:
    assert is_a_name(code) == named
