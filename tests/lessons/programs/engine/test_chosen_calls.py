"""Earlier calls of a program's functions on its pages: values, explanations, shapes, changes, and a new version."""

from __future__ import annotations

import runpy
import sys
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.programs.engine.session import ProgramRun, ProgramSession
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.lessons.results.tensor_questions import BoxQuestion, ExplainQuestion, FlowQuestion, Refusal
from attn_tutor.lessons.what_if import cells
from attn_tutor.lessons.what_if.changes import UNCHANGED
from attn_tutor.tui.programs import program_tensors
from tests.lessons.programs.engine.test_program_session import opened, page_with, values

SOURCE = """\
import torch

class Scale(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x, extra=None):
        y = x * self.factor
        if extra is not None:
            z = y + extra
            return z
        return y

class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Scale(factor) for factor in (2, 3))

    def forward(self, x):
        for number, block in enumerate(self.blocks):
            x = block(x, None if number else 10)
        return x

ROUNDS = 3
stack = Stack()
for size in range(1, ROUNDS):
    total = stack(torch.arange(1.0, size + 1)).sum()
"""

FUNCTION = "Scale.forward"


def choose(session: ProgramSession, page: str, call: int) -> StepResult:
    """Show a call of the function of a page; return what the page shows."""
    index = session.choose_call(page, call)
    assert isinstance(index, int), index
    assert session.opened is not None
    lesson = session.opened.lesson
    result = session.run(lesson, lesson.steps[index].id).result(lesson.steps[index].id)
    assert result is not None
    return result


def page_of(run: ProgramRun) -> str:
    """Return the page of the function."""
    return next(step.id for step, group in zip(run.lesson.steps, run.groups, strict=True) if group.scope == FUNCTION)


def plain_calls(file: Path, source: str) -> list[dict[str, tuple[float, ...]]]:
    """Run a program in plain Python; return what the variables of each call of the function held."""
    found: list[dict[str, tuple[float, ...]]] = []

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if event == "return" and frame.f_code.co_qualname == FUNCTION:
            held = frame.f_locals.items()
            found.append({name: tuple(value.tolist()) for name, value in held if isinstance(value, torch.Tensor)})

    file.write_text(source)
    sys.setprofile(profile)
    try:
        runpy.run_path(str(file))
    finally:
        sys.setprofile(None)
    return found


def own(result: StepResult | None) -> dict[str, tuple[float, ...] | None]:
    """Return the numbers of the page's tensors by their names in the function."""
    return {label.removeprefix(f"{FUNCTION}."): numbers for label, numbers in values(result).items()}


def test_a_page_shows_each_call_as_plain_python_had_it(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path, SOURCE) as (session, run):
        page, expected = page_of(run), plain_calls(tmp_path / "mine.py", SOURCE)
        assert run.lesson.step(page).title == "Scale.forward: x, y"
        for call in (1, 3, 2, 4):
            assert own(choose(session, page, call)) == expected[call - 1], call
        # The last call is what was there before a choice.
        assert run.lesson.step(page).title == "Scale.forward: x, y"


def test_a_page_says_which_call_it_shows_and_of_which_module(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path, SOURCE) as (session, run):
        page = page_of(run)
        result = choose(session, page, 3)
        assert run.lesson.step(page).title == "Scale.forward, call 3 of 4, stack.blocks.0: x, y, z"
        prose = page_with(run, f"{FUNCTION}.z").prose
        assert "has run 4 times" in prose
        assert "when call 3 returned, that of `stack.blocks.0`" in prose
        # Shapes and lines are those of the call too.
        made = {line.line: [(shape.name, shape.sizes) for shape in line.made] for line in result.shapes}
        assert (made[9], made[11]) == ([("y", (2,))], [("z", (2,))])
        row = next(row for row in program_tensors.rows_of(run) if row.label == f"{FUNCTION}.z")
        assert "as it was when call 3 of 4 returned. It was named in mine.py, line 11" in row.about


def test_explanations_and_the_flow_are_those_of_the_call(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path, SOURCE) as (session, run):
        page = page_of(run)
        for call, number in ((1, 2.0), (3, 4.0)):
            result = choose(session, page, call)
            index = (call // 2,)
            found = run.ask(ExplainQuestion(f"{FUNCTION}.z", index, CodeUnit.step(result.id)))
            assert isinstance(found, Explanation)
            assert (found.value, found.line) == (number + 10, 11)
            assert [operand.value for operand in found.operands] == [number]
            flow = run.ask(FlowQuestion((), (), CodeUnit.step(result.id)))
            assert isinstance(flow, Flow)
            box = next(box for box in flow.boxes if box.name == "x")
            last = run.ask(BoxQuestion(box.id, tuple(box.id for box in flow.opened), CodeUnit.step(result.id)))
            assert isinstance(last, Tensor)
            assert last.values == own(result)["z"]


def test_a_changed_run_shows_the_same_call_or_says_that_it_has_none(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path, SOURCE) as (session, run):
        choose(session, page_of(run), 3)
        page = page_with(run, f"{FUNCTION}.z")
        cell = cells.parse(run.lesson, f"{page.id}:{FUNCTION}.y[0] = 7")
        changes = UNCHANGED.with_cell(run.lesson, cell)
        with closing(session.run(run.lesson, page.id, changes)) as changed:
            # Each call writes it after the line.
            line = "        y = x * self.factor\n"
            edited = plain_calls(tmp_path / "mine.py", SOURCE.replace(line, f"{line}        y[0] = 7\n"))
            assert own(changed.result(page.id)) == edited[2]
        knob = next(knob for knob in run.lesson.knobs if knob.label.startswith("ROUNDS"))
        with closing(session.run(run.lesson, page.id, UNCHANGED.with_knob(run.lesson, knob.name, "2"))) as changed:
            result = changed.result(page.id)
            assert result is not None
            assert (result.tensors, result.notes) == ((), ("This run has no call 3 of Scale.forward.",))


def test_a_call_that_is_not_there_is_refused_and_the_page_stays(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path, SOURCE) as (session, run):
        page = page_of(run)
        choose(session, page, 2)
        refused = session.choose_call(page, 5)
        assert refused == Refusal("Of the 4 calls of Scale.forward, 1 to 4 can be looked at.")
        assert isinstance(session.choose_call("page-1", 1), Refusal)
        assert run.lesson.step(page).title.startswith("Scale.forward, call 2 of 4")


@pytest.mark.parametrize(("rounds", "title"), [("4", ", call 3 of 6, stack.blocks.0: x, y, z"), ("2", ": x, y")])
def test_a_new_version_shows_the_call_that_was_chosen_if_it_has_it(
    worker: Session, tmp_path: Path, rounds: str, title: str
) -> None:
    with opened(worker, tmp_path, SOURCE) as (session, before):
        choose(session, page_of(before), 3)
        source = SOURCE.replace("ROUNDS = 3", f"ROUNDS = {rounds}")
        session.open_again(OwnProgram.here(tmp_path / "mine.py", source), before)
        after = session.opened
        assert after is not None
        assert after.lesson.step(page_of(after)).title == f"Scale.forward{title}"
        # Both show the same call, so that they can be compared.
        assert after.tensors([f"{FUNCTION}.y"])[0].values == ((2.0, 4.0) if rounds == "4" else (36.0,))
        assert before.tensors([f"{FUNCTION}.y"])[0].values == ((2.0, 4.0) if rounds == "4" else (36.0, 42.0))
        before.release()


def test_a_call_has_a_page_even_if_it_was_only_given_what_is_elsewhere(worker: Session, tmp_path: Path) -> None:
    source = "import torch\n\ndef total(x):\n    return x.sum().item()\n\na = torch.ones(2)\nb = torch.ones(3)\n"
    source += "def twice(wanted):\n    if wanted:\n        y = torch.ones(1)\n"
    source += "    else:\n        _ = torch.ones(1)\n\ntotal(a)\ntotal(b + 1)\ntwice(False)\ntwice(True)\n"
    with opened(worker, tmp_path, source) as (session, run):
        page = page_with(run, "total.x").id
        assert values(choose(session, page, 1)) == {"total.x": (1.0, 1.0)}
        page = page_with(run, "twice.y").id
        assert session.choose_call(page, 1) == Refusal("Call 1 of twice names no tensor.")
        assert values(session.run(run.lesson, page).result(page)) == {"twice.y": (1.0,)}
