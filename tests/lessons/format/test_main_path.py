"""The main path and the side steps: which belongs to which, what comes next, and what steps are called."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from attn_tutor.lessons.format import main_path


class Step(NamedTuple):
    id: str
    side: bool = False
    noun: str = "step"


STEPS = (
    Step("why"), Step("sums"), Step("floats", True), Step("rounding", True), Step("weights"), Step("zero", True),
    Step("remember"),
)  # fmt: skip


def ids(steps: tuple[Step, ...]) -> str:
    return " ".join(step.id for step in steps)


def test_side_steps_belong_to_the_main_step_before_them() -> None:
    assert ids(main_path.main_steps(STEPS)) == "why sums weights remember"
    owners = "why sums sums sums weights weights remember"
    assert ids(tuple(main_path.main_step_of(STEPS, step.id) for step in STEPS)) == owners
    assert ids(main_path.side_steps_of(STEPS, "sums")) == "floats rounding"
    assert ids(main_path.side_steps_of(STEPS, "rounding")) == "floats rounding"
    assert main_path.side_steps_of(STEPS, "why") == ()
    with pytest.raises(KeyError):
        main_path.side_steps_of(STEPS, "nothing")


def test_the_main_path_passes_side_steps_and_they_lead_back_to_it() -> None:
    after = {step.id: main_path.step_after(STEPS, step.id) for step in STEPS}
    assert {name: step and step.id for name, step in after.items()} == {
        "why": "sums", "sums": "weights", "floats": "rounding", "rounding": "weights", "weights": "remember",
        "zero": "remember", "remember": None,
    }  # fmt: skip
    before = {step.id: main_path.step_before(STEPS, step.id) for step in STEPS}
    assert {name: step and step.id for name, step in before.items()} == {
        "why": None, "sums": "why", "floats": "sums", "rounding": "floats", "weights": "sums", "zero": "weights",
        "remember": "weights",
    }  # fmt: skip


def test_other_side_steps_are_not_behind_a_learner() -> None:
    assert ids(main_path.steps_behind(STEPS, "remember")) == "why sums weights"
    assert ids(main_path.steps_behind(STEPS, "rounding")) == "why sums floats"
    assert ids(main_path.steps_behind(STEPS, "zero")) == "why sums weights"
    assert main_path.steps_behind(STEPS, "why") == ()


def test_steps_are_counted_on_the_main_path() -> None:
    names = [main_path.name_of(STEPS, step.id) for step in STEPS]
    assert names == ["step 1", "step 2", "side step 2a", "side step 2b", "step 3", "side step 3a", "step 4"]
    assert main_path.position_of(STEPS, "weights") == "step 3 of 4"
    assert main_path.position_of(STEPS, "rounding") == "side step 2b"


def test_the_pages_of_a_program_are_no_steps() -> None:
    pages = (Step("one", noun="page"), Step("two", noun="page"))
    assert main_path.name_of(pages, "two") == "page 2"
    assert main_path.position_of(pages, "two") == "page 2 of 2"
