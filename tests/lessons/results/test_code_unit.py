"""Code units: their form for people, which can be parsed, and the line of a traceback that is the learner's."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.results.code_unit import ANSWER, SETUP, CodeUnit

STEP, INPUT = CodeUnit.step("softmax"), CodeUnit.input(12)


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (SETUP, "setup"),
        (STEP, "softmax"),
        (INPUT, "input 12"),
        (ANSWER, "your code"),
        (CodeUnit.internal("prose"), "prose"),
        (STEP.expression("scores: x\ny"), "softmax: scores: x\ny"),
        (INPUT.expression("a"), "input 12: a"),
    ],
)
def test_form_for_people_is_parsed_back(unit: CodeUnit, text: str) -> None:
    assert str(unit) == text
    assert CodeUnit.parse(text) == unit
    assert code_unit.of_filename(unit.filename) == unit


@pytest.mark.parametrize("text", ["", "attention/causal.py", "play x", "Softmax", "a b", "x y: z"])
def test_other_text_names_no_code(text: str) -> None:
    assert code_unit.find(text) is None
    assert code_unit.of_filename(f"<{text}>") is None
    with pytest.raises(ValueError, match="no code is called"):
        CodeUnit.parse(text)


def test_module_on_disk_is_no_unit() -> None:
    assert code_unit.of_filename("softmax") is None


def test_learner_line_skips_frames_of_the_tutor() -> None:
    trace = (
        'File "<prose>", line 1\n  File "/lib/torch.py", line 2\n  File "<input 3>", line 5\n  File "<softmax>", line 7'
    )
    assert code_unit.learner_line(trace) == 5
    assert code_unit.learner_line('File "<setup>", line 1') is None
