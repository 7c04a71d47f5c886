"""A program of one's own as pages: its tensors in groups, with changes, and compared with an earlier version."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.launching.launchers import output
from attn_tutor.lessons.engine.prompt import Prompt
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import RunStep
from attn_tutor.lessons.programs.engine.first_difference import lead_to_first
from attn_tutor.lessons.programs.engine.session import ProgramRun, ProgramSession, first_page
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion, FollowQuestion
from attn_tutor.lessons.what_if import cells
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from attn_tutor.tui.programs import pages, program_tensors
from attn_tutor.tui.state import what_if_rows
from tests.lessons.processes import wait_until

SOURCE = """\
import torch

def double(x):
    y = x * 2
    return y + 1

def main():
    a = torch.tensor([1.0, 2.0])
    b = double(a)
    return b

result = main()
"""


@contextmanager
def opened(worker: Session, folder: Path, source: str = SOURCE) -> Iterator[tuple[ProgramSession, ProgramRun]]:
    """Open a program in the worker that all tests share."""
    program = OwnProgram.here(folder / "mine.py", source)
    with released(ProgramSession(program, launcher=worker.launcher)) as session:
        yield session, session.open(program)


@contextmanager
def released(session: ProgramSession) -> Iterator[ProgramSession]:
    """Release the runs of a session also if a test fails: what it holds would be missed in a later one."""
    try:
        yield session
    finally:
        session.release_all()


def page_with(run: ProgramRun, label: str) -> RunStep:
    """Return the page that shows a tensor."""
    pages = [step for step in run.lesson.steps if isinstance(step, RunStep)]
    return next(step for step in pages if label in [shown.name for shown in step.show])


def values(result: StepResult | None) -> dict[str, tuple[float, ...] | None]:
    """Return the numbers that a page shows, by label."""
    assert result is not None
    return {tensor.name: tensor.values for tensor in result.tensors}


def test_names_on_disk_may_be_any_bytes(worker: Session, tmp_path: Path) -> None:
    """They would command the terminal that they are printed on, or could not be encoded at all."""
    program = OwnProgram.here(tmp_path / os.fsdecode(b"mi\x1b[31mne\xff.py"), "x = 1", ["\x1b]0;", "\udcff"])
    with released(ProgramSession(program, launcher=worker.launcher)) as session:
        run = session.open(program)
        assert run.lesson.title == "mi\ufffd[31mne\ufffd.py"
        step = run.lesson.steps[0]
        assert isinstance(step, RunStep)
        assert f"`'{run.lesson.title}' '\ufffd]0;' '\ufffd'` ran in " in step.prose


def test_pages_show_variables_then_those_of_functions_callers_first(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path) as (session, run):
        assert [step.title for step in run.lesson.steps] == ["result", "main: a, b", "double: y"]
        page = page_with(run, "main.b")
        assert values(session.run(run.lesson, page.id).result(page.id)) == {"main.a": (1.0, 2.0), "main.b": (3.0, 5.0)}
        explanation = run.ask(ExplainQuestion("main.b", (1,), CodeUnit.step(page.id)))
        assert isinstance(explanation, Explanation)
        # What the page shows itself needs no name.
        assert (explanation.file, explanation.line, explanation.lesson_line) == (page.id, 5, 12)
        run.whole = replace(run.whole, stopped="it is long")
        run.steps = [run.whole]
        (note,) = run.show(page).notes
        assert note == "The record ended before the program did. What was computed after that is not explained."


def test_a_literal_and_a_cell_of_a_function_can_be_changed(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path) as (session, run):
        knob = next(knob for knob in run.lesson.knobs if knob.label.endswith("line 4"))
        page = page_with(run, "main.b")
        with closing(session.run(run.lesson, page.id, UNCHANGED.with_knob(run.lesson, knob.name, "10"))) as changed:
            assert values(changed.result(page.id))["main.b"] == (11.0, 21.0)
        inner = page_with(run, "double.y")
        cell = cells.parse(run.lesson, f"{inner.id}:double.y[0] = 7")
        with closing(session.run(run.lesson, page.id, Changes().with_cell(run.lesson, cell))) as changed:
            assert values(changed.result(page.id))["main.b"] == (8.0, 5.0)


def test_the_first_tensor_that_another_version_changes_is_found(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path) as (session, before):
        session.open(session.program)
        assert lead_to_first(session, before) == ""
        other = OwnProgram.here(tmp_path / "mine.py", SOURCE.replace("x * 2", "x * 3"))
        # Whoever has run something else since has closed it, as the screen does.
        before.close()
        session.open(other)
        assert lead_to_first(session, before) == "double.y"
        before.release()
        assert not before.alive


LAYERS = """\
import torch

class Attention(torch.nn.Module):
    def forward(self, x):
        scores = x @ x.T
        return scores.softmax(-1) @ x

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = Attention()

    def forward(self, x):
        x = x + self.attn(x)
        return x

torch.manual_seed(0)
blocks = torch.nn.Sequential(*(Block() for _ in range(3)))
x = torch.randn(4, 3)
out = blocks(x)
"""


def test_the_first_difference_is_looked_for_in_all_calls(worker: Session, tmp_path: Path) -> None:
    def save(source: str) -> str:
        before = session.opened
        assert before is not None
        session.open(OwnProgram.here(tmp_path / "mine.py", source))
        return lead_to_first(session, before)

    def call_of(label: str) -> int:
        assert session.opened is not None
        return next(item.call for item in session.opened.whole.named if item.label == label)

    with opened(worker, tmp_path, LAYERS) as (session, _):
        scaled = LAYERS.replace("x @ x.T", "x @ x.T / 2")
        assert save(scaled) == "Attention.forward.scores"
        assert (call_of("Attention.forward.scores"), call_of("Block.forward.x")) == (1, 3)
        assert session.opened is not None
        said = pages.difference_words(session.opened, "Attention.forward.scores")
        assert said == "The first tensor that differs is Attention.forward.scores, line 5, in call 1 of 3."
        # Nobody has chosen this call: the next version may show another one.
        assert save(scaled.replace("x + self.attn(x)", "x - self.attn(x)")) == "Block.forward.x"
        assert (call_of("Attention.forward.scores"), call_of("Block.forward.x")) == (3, 1)
        # The learner has chosen that one.
        assert session.opened is not None
        page = page_with(session.opened, "Attention.forward.scores")
        assert session.choose_call(page.id, 2)
        assert save(LAYERS) == "Attention.forward.scores"
        assert (call_of("Attention.forward.scores"), call_of("Block.forward.x")) == (2, 3)


def test_a_program_that_fails_opens_at_its_error(worker: Session, tmp_path: Path) -> None:
    source = SOURCE + "".join(f"v{number} = torch.ones({number + 1})\n" for number in range(6)) + "v1 @ v2\nv9 = 1\n"
    with opened(worker, tmp_path, source) as (_, run):
        page = run.lesson.steps[first_page(run)]
        assert isinstance(page, RunStep)
        result = run.show(page)
        assert result.error is not None
        assert (result.error.line, "size" in result.error.message) == (19, True)
        assert "v5" in page.title


def test_a_run_knows_the_files_beside_it_that_it_imported(worker: Session, tmp_path: Path) -> None:
    (tmp_path / "scale_of_mine.py").write_text("FACTOR = 2.0\n")
    source = "import json, torch\nfrom scale_of_mine import FACTOR\na = torch.ones(2) * FACTOR\n"
    with opened(worker, tmp_path, source) as (_, run):
        assert run.whole.imported == (str(tmp_path / "scale_of_mine.py"),)


def test_the_prompt_has_the_variables_of_the_function_that_a_page_is_about(worker: Session, tmp_path: Path) -> None:
    with (
        opened(worker, tmp_path) as (session, run),
        closing(Prompt(session, run.lesson, page_with(run, "main.b").id)) as prompt,
    ):
        assert ("b", "(2)") in prompt.start()
        result = prompt.enter("c = b * 2")
        (shown,) = result.tensors
        assert (result.error, shown.values) == (None, (6.0, 10.0))
        # An input that ends its process is forgotten, and what the page shows is there again.
        assert prompt.enter("import os; os._exit(1)").error is not None
        assert prompt.enter("a").tensors[0].values == (1.0, 2.0)
        assert prompt.run is not None
        explained = prompt.run.ask(ExplainQuestion("c", (1,), CodeUnit.input(1)))
        assert isinstance(explained, Explanation)
        # It leads back into the program.
        assert [(each.name, each.leaf) for each in explained.operands] == [("b", False)]
    assert session.opened is run


def test_a_program_that_fails_in_another_file_opens_there_and_says_so_on_one_page(
    worker: Session, tmp_path: Path
) -> None:
    (tmp_path / "net.py").write_text("import torch\n\ndef net(x):\n    h = x + 1\n    return h @ torch.ones(9)\n")
    source = (
        "import torch\nfrom net import net\n\nprint('begins')\ndef main():\n    x = torch.ones(2)\n    net(x)\nmain()\n"
    )
    with opened(worker, tmp_path, source) as (session, run):
        pages = [step for step in run.lesson.steps if isinstance(step, RunStep)]
        assert [page.title for page in pages] == ["main: x", "net: h"]
        assert first_page(run) == 1
        error = run.show(pages[1]).error
        assert error is not None
        assert (error.line, error.message.partition(": ")[0]) == (5, "In net.py, line 5")
        assert (run.show(pages[0]).error, run.show(pages[0]).stdout) == (None, "begins\n")
        # A change may be made on any page, and its error is seen there.
        knob = next(knob for knob in run.lesson.knobs if knob.label.endswith("line 6"))
        with closing(session.run(run.lesson, pages[0].id, UNCHANGED.with_knob(run.lesson, knob.name, "3"))) as changed:
            result = changed.result(pages[0].id)
            assert result is not None
            assert result.error is not None


def test_tracebacks_name_the_file_and_leave_out_the_recorder(worker: Session, tmp_path: Path) -> None:
    source = "import sys, traceback, torch\ntry:\n    torch.ones(2) @ torch.ones(3)\nexcept RuntimeError:\n"
    source += "    traceback.print_exc(file=sys.stdout)\nprint('goes on')\n"
    with opened(worker, tmp_path, source) as (_, run):
        lines = run.whole.stdout.splitlines()
        assert lines[:3] == [
            "Traceback (most recent call last):",
            '  File "mine.py", line 3, in <module>',
            "    torch.ones(2) @ torch.ones(3)",
        ]
        assert [line for line in lines if "recorder" in line or "torch_dispatch" in line] == []
        assert lines[-2].startswith("RuntimeError: ")
        assert lines[-1] == "goes on"


NET = """\
import torch

SCALE = 2.0

class Net(torch.nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.parts = 4

    def forward(self, x):
        h, rest = x.split([1, 2])
        both = [h * SCALE, rest]
        return both[0] + both[1].sum()

def unused(y):
    return y * 9
"""


def test_cells_and_literals_of_another_file_can_be_changed(worker: Session, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    source = "import torch\nfrom net import Net\n\nx = torch.ones(3)\ny = Net()(x)\n"
    with opened(worker, tmp_path, source) as (session, run):
        page = page_with(run, "Net.forward.h")
        assert values(session.run(run.lesson, page.id).result(page.id))["Net.forward.h"] == (1.0,)
        rows = what_if_rows.rows(run.lesson, page.id, UNCHANGED, None)
        labels = [row.label for row in rows if row.knob is not None]
        # First the file of the page: its class, what stands outside of functions, then the program itself.
        assert labels[:3] == ["SCALE, line 3", "width, line 6", "self.parts, line 8"]
        assert labels[-1].startswith("mine.py: ")
        assert not [label for label in labels if "line 15" in label]
        # Pages of the program do not list what only the other file says.
        own = what_if_rows.rows(run.lesson, page_with(run, "y").id, UNCHANGED, None)
        assert [row.label for row in own if row.knob is not None] == ["torch.ones(), line 4"]

        knob = next(knob for knob in run.lesson.knobs if knob.label.startswith("SCALE"))
        top = page_with(run, "y")
        with closing(session.run(run.lesson, top.id, UNCHANGED.with_knob(run.lesson, knob.name, "10"))) as changed:
            assert values(changed.result(top.id))["y"] == (12.0,)
        for name, expected in (
            ("Net.forward.h[0]", 16.0),
            ("Net.forward.rest[1]", 10.0),
            ("Net.forward.both[0][0]", 9.0),
        ):
            cell = cells.parse(run.lesson, f"{page.id}:{name} = 7")
            with closing(session.run(run.lesson, top.id, UNCHANGED.with_cell(run.lesson, cell))) as changed:
                assert values(changed.result(top.id))["y"] == (expected,), name
                assert changed.result(top.id).notes == ()  # type: ignore[union-attr]
    assert (tmp_path / "net.py").read_text() == NET


def test_an_argument_and_what_a_backward_pass_needs_can_be_changed(worker: Session, tmp_path: Path) -> None:
    source = """\
import torch

def head(x):
    \"\"\"Has a docstring.\"\"\"
    p = torch.softmax(x, dim=-1)
    return p

w = torch.zeros(3, requires_grad=True)
head(torch.ones(2, 5))
out = head(w.expand(2, 3) * 1.0)
out[0, 0].backward()
g = w.grad
"""
    with opened(worker, tmp_path, source) as (session, run):
        page = page_with(run, "head.p")
        # The first call has other columns, which is no reason to say that the cell could not be written.
        for name, expected in (("head.x[1,0]", 0.0), ("head.p[1,2]", 1.0)):
            cell = cells.parse(run.lesson, f"{page.id}:{name} = {expected}")
            with closing(session.run(run.lesson, page.id, UNCHANGED.with_cell(run.lesson, cell))) as changed:
                result = changed.result(page.id)
                assert result is not None
                assert (result.error, result.notes) == (None, ())
                shown = values(result)[name.partition("[")[0]]
                assert shown is not None
                assert expected in shown


def test_shapes_stand_beside_the_lines_of_functions(worker: Session, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\n\ndef net(x):\n    h = x + 1\n    h = (\n        h.sum(0)\n    )\n    q, k = h.split(2)\n"
    )
    with opened(worker, tmp_path, "import torch\nfrom net import net\nnet(torch.ones(3, 4))\n") as (_, run):
        result = run.show(page_with(run, "net.h"))
        made = {line.line: [(shape.name, shape.sizes) for shape in line.made] for line in result.shapes}
        assert made == {3: [("x", (3, 4))], 4: [("h", (3, 4))], 5: [("h", (4,))], 8: [("q", (2,)), ("k", (2,))]}


@pytest.mark.parametrize("caught", [True, False])
def test_what_an_interrupted_program_has_done_can_be_looked_at(worker: Session, tmp_path: Path, caught: bool) -> None:
    # It prints where the interrupt may come: a line printed before `try` can be seen before `try` is reached.
    loop = "print('begins', flush=True)\nwhile True:\n    x = x + 1\n"
    if caught:
        loop = f"try:\n{textwrap.indent(loop, '    ')}except KeyboardInterrupt:\n    y = x * 0 + 3\n"
    program = OwnProgram.here(tmp_path / "mine.py", "import torch\nx = torch.zeros(2)\n" + loop)
    with released(ProgramSession(program, launcher=worker.launcher)) as session:
        assert not session.interrupt()
        with ThreadPoolExecutor(1) as pool:
            opening = pool.submit(session.open, program)
            wait_until(lambda: session._running is not None and output(session._running.out).startswith("begins"))
            assert session.interrupt()
            run = opening.result()
        error = run.whole.error
        if caught:
            assert error is None
            assert values(run.show(page_with(run, "y")))["y"] == (3.0, 3.0)
        else:
            assert error is not None
            assert error.line in (3, 4, 5)
            assert error.message == "Stopped with Ctrl+C."
            assert values(run.show(page_with(run, "x")))["x"] is not None


TWO_MODES = """\
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        x = x * 2
        x = nn.functional.dropout(x, 0.5, self.training)
        if self.training:
            x = x + 1
        y = x.sum()
        return y

def other(x):
    y = x + 1
    return y

net = Net()
net(torch.ones(3))
net.eval()
net(torch.ones(5))
other(torch.ones(2))
"""


def test_the_shapes_and_lines_of_a_page_are_those_of_one_call_of_its_function(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path, TWO_MODES) as (session, run):
        page = page_with(run, "Net.forward.y")
        result = session.run(run.lesson, page.id).result(page.id)
        assert result is not None
        # Outside of training, dropout makes no tensor, and the branch is not taken.
        assert {each.line: each.made[0].sizes for each in result.shapes} == {6: (5,), 10: (), 13: (2,), 14: (2,)}
        assert (result.named_at["Net.forward.y"], result.begins_at) == (10, 5)


BRANCHES = """\
import torch

def loss_of(x, training):
    if training:
        loss = x.sum()
    else:
        loss = None
    return loss

loss_of(torch.ones(2), False)
total = loss_of(torch.ones(3), True) * 2
"""


def test_a_cell_changes_where_its_tensor_was_named_not_in_a_branch_that_was_not_taken(
    worker: Session, tmp_path: Path
) -> None:
    with opened(worker, tmp_path, BRANCHES) as (session, run):
        page = page_with(run, "loss_of.loss")
        cell = cells.parse(run.lesson, f"{page.id}:loss_of.loss = 5")
        with closing(session.run(run.lesson, page.id, UNCHANGED.with_cell(run.lesson, cell))) as changed:
            assert values(changed.result(page.id))["loss_of.loss"] == (5.0,)
            assert isinstance(changed, ProgramRun)
            assert [tensor.values for tensor in changed.tensors(["total"])] == [(10.0,)]


def test_the_list_says_the_file_of_what_another_one_names_and_no_count_that_is_not_known(
    worker: Session, tmp_path: Path
) -> None:
    (tmp_path / "net.py").write_text("def net(x):\n    h = x + 1\n    return h\n")
    source = "import torch\nfrom net import net\nfor step in range(3):\n    y = net(torch.ones(2)) * step\n"
    with opened(worker, tmp_path, source) as (_, run):
        rows = {row.label: row for row in program_tensors.rows_of(run)}
        assert (rows["y"].columns[-1], rows["net.h"].columns[-1]) == ("line 4", "net.py line 2")
        # The loop is one statement, after which its variables are looked at: it bound y three times.
        assert "once" not in rows["y"].about
        assert "3 times" in rows["net.h"].about


def test_the_list_says_how_many_numbers_are_not_finite(worker: Session, tmp_path: Path) -> None:
    source = """\
import torch
x = torch.tensor([1, 0, -1.0])
y = x.log()
z = torch.complex(y, y).conj()
n = x.long()
def f(x):
    y = x / 0
    return y
a = f(x)
a[:] = 0
"""
    with opened(worker, tmp_path, source) as (_, run):
        rows = {row.label: row for row in program_tensors.rows_of(run)}
        assert [row.columns[1] for row in rows.values()] == [
            *("", "1 NaN, 1 inf", "2 NaN, 2 inf", "", ""),
            # As it was when the function returned.
            "1 NaN, 2 inf",
        ]
        assert rows["y"].about.endswith("Not all of its numbers are finite: 1 NaN, 1 inf.")


def test_the_first_page_says_which_tensors_have_no_page(worker: Session, tmp_path: Path) -> None:
    source = """\
import torch
def f(a):
    b = a @ torch.ones(3, 1)
    return b
s = torch.eye(3).to_sparse()
n = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
y = f(s)
"""
    with opened(worker, tmp_path, source) as (_, run):
        first, second = run.lesson.steps
        assert isinstance(first, RunStep)
        assert "no plain tables of numbers: s (sparse), n (nested), f.a (sparse). Limits" in first.prose
        assert isinstance(second, RunStep)
        assert "sparse" not in second.prose


def test_functions_of_one_name_in_two_files_are_told_apart_and_can_be_changed(worker: Session, tmp_path: Path) -> None:
    for name, factor in (("one", 2), ("two", 3)):
        (tmp_path / f"{name}.py").write_text(f"def net(x):\n    h = x * {factor}\n    return h\n")
    source = "import torch, one, two\na = one.net(torch.ones(2))\nb = two.net(torch.ones(2))\n"
    with opened(worker, tmp_path, source) as (session, run):
        assert [step.title for step in run.lesson.steps] == ["a, b", "net: x, h", "net: x, h"]
        page = page_with(run, "two.net.h")
        assert run.show(page).shapes[-1].made[0].name == "h"
        cell = cells.parse(run.lesson, f"{page.id}:two.net.h[1] = 7")
        with closing(session.run(run.lesson, page.id, Changes().with_cell(run.lesson, cell))) as changed:
            assert isinstance(changed, ProgramRun)
            assert [tensor.values for tensor in changed.tensors(["a", "b"])] == [(2.0, 2.0), (3.0, 7.0)]


def test_tensors_in_lists_of_the_program_itself_are_named_and_can_be_changed(worker: Session, tmp_path: Path) -> None:
    source = (
        "import torch\na = torch.ones(2)\npair = (a, a * 2)\nd = {'k': a + 1}\nfor x in pair:\n    rows = [x + 3]\n"
    )
    source += "total = pair[1] + 1\nfound = torch.where(a > 0)\nbest = total.max(0)\n"
    with opened(worker, tmp_path, source) as (session, run):
        labels = {item.label: item.line for item in run.whole.named}
        # What has a name already is not listed twice.
        items = {"pair[1]": 3, "d['k']": 4, "rows[0]": 6, "found[0]": 8, "best[0]": 9, "best[1]": 9}
        assert labels == {"a": 2, "total": 7, **items}
        page = page_with(run, "pair[1]")
        cell = cells.parse(run.lesson, f"{page.id}:pair[1][0] = 9")
        with closing(session.run(run.lesson, page.id, Changes().with_cell(run.lesson, cell))) as changed:
            assert isinstance(changed, ProgramRun)
            assert [tensor.values for tensor in changed.tensors(["total"])] == [(10.0, 3.0)]


def test_variables_of_loops_are_named_and_a_cell_of_one_changes_in_each_round(worker: Session, tmp_path: Path) -> None:
    source = """\
import torch

def added(rows):
    total = torch.zeros(2)
    for row in rows:
        total = total + row
    return total

t = added(torch.ones(2, 2))
for pair in ([torch.ones(2) * i, i] for i in range(3)):
    t = t + pair[0]
"""
    with opened(worker, tmp_path, source) as (session, run):
        for name, total in (("added.row", (17.0, 5.0)), ("pair[0]", (23.0, 5.0))):
            cell = cells.parse(run.lesson, f"{page_with(run, name).id}:{name}[0] = 7")
            with closing(session.run(run.lesson, "page-1", UNCHANGED.with_cell(run.lesson, cell))) as changed:
                assert values(changed.result("page-1"))["t"] == total


@pytest.fixture
def short_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have workers make their folders in one with a short name: the name of a socket below it has at most 107 bytes.

    A process of a data loader sends tensors through such sockets. Where it cannot, the program waits for ever.
    """
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield


@pytest.mark.usefixtures("short_folder")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, the processes of a loader start anew")
def test_a_number_says_that_it_came_from_a_process_of_a_data_loader(tmp_path: Path) -> None:
    source = """\
import torch
from torch.utils.data import DataLoader
kept = []
for batch in DataLoader(torch.arange(8.0).reshape(4, 2), batch_size=2, num_workers=1):
    kept.append(batch * 2)
"""
    with closing(Session()) as own, opened(own, tmp_path, source) as (_, run):
        assert (run.whole.error, run.whole.stopped) == (None, "")
        page = page_with(run, "kept[0]")
        run.show(page)
        labels = []
        for name in ("kept[0]", "kept[1]"):
            explained = run.ask(ExplainQuestion(name, (1, 0), CodeUnit.step(page.id)))
            assert isinstance(explained, Explanation)
            (operand,) = explained.operands
            labels.append(operand.label)
            origin = run.ask(FollowQuestion(operand.ref, CodeUnit.step(page.id)))
            assert isinstance(origin, Explanation)
            assert origin.notes == ("It came from a process of a data loader. What is computed there is not recorded.",)
        assert labels == ["(a batch of a data loader)[1,0]", "batch[1,0]"]


def test_a_package_that_is_not_installed_is_not_said_to_be_forbidden(worker: Session, tmp_path: Path) -> None:
    with opened(worker, tmp_path, "import torch\nx = torch.ones(2)\nimport no_such_package\n") as (_, run):
        error = run.whole.error
        assert error is not None
        assert error.message.startswith(
            "ModuleNotFoundError: No module named 'no_such_package'. The tutor runs programs"
        )
        assert sys.executable in error.message
        version = importlib.metadata.version("torch")
        assert f"-m pip install no_such_package torch=={version}" in error.message.replace("'", "")


@pytest.mark.skipif(importlib.util.find_spec("numpy") is not None, reason="numpy is there")
@pytest.mark.parametrize("line", ["import numpy", "from numpy.linalg import norm", "torch.ones(2).numpy()"])
def test_what_installs_a_missing_package_is_said(worker: Session, tmp_path: Path, line: str) -> None:
    with opened(worker, tmp_path, f"import torch\n{line}\n") as (_, run):
        assert run.whole.error is not None
        assert "To add it to the tutor's environment: " in run.whole.error.message
        assert " install numpy torch==" in run.whole.error.message.replace("'", "")


def test_a_program_that_looks_for_the_layers_of_the_course_hears_where_they_are(
    worker: Session, tmp_path: Path
) -> None:
    with opened(worker, tmp_path, "from attention.causal import CausalAttention\n") as (_, run):
        assert run.whole.error is not None
        assert "the layers of the course are in `attn_tutor.attention`" in run.whole.error.message
        assert "To add it" not in run.whole.error.message
    with opened(worker, tmp_path, "from attn_tutor.attention import CausalAttention\n") as (_, run):
        assert run.whole.error is None


def test_a_missing_part_of_a_package_that_is_there_is_not_to_be_installed(worker: Session, tmp_path: Path) -> None:
    for line in ("import torch.no_such_part", "from lessons.trace import record"):
        (tmp_path / "lessons").mkdir(exist_ok=True)
        (tmp_path / "lessons/__init__.py").touch()
        with opened(worker, tmp_path, f"import torch\n{line}\n") as (_, run):
            assert run.whole.error is not None
            assert "No module named" in run.whole.error.message
            assert "install" not in run.whole.error.message.replace("installed", "")
