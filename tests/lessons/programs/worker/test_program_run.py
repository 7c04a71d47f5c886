"""A program of one's own in the worker: it runs as Python runs it, and what it did can be asked about."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.programs.engine.running import run_program
from attn_tutor.lessons.programs.results.program_result import OwnProgram, ProgramResult
from attn_tutor.lessons.programs.worker import run
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Failure, Tensor
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion, FlowQuestion, Refusal, ShowQuestion
from tests.lessons.processes import with_enough_time

NEIGHBOR = """\
import torch

class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        low, high = x.split(1)
        return high * self.factor
"""

PROGRAM_CODE = """\
import os, sys, torch
from neighbors.scale import Scale

def main():
    model = Scale()
    y = model(torch.tensor([1.0, 2.0]))
    return y

if __name__ == "__main__":
    print(sys.argv, os.getcwd(), os.environ["OWN"], __file__)
    result = main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a package beside the program."""
    package = tmp_path / "neighbors"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "scale.py").write_text(NEIGHBOR)
    return tmp_path


@contextmanager
def ran(worker: Session, folder: Path, code: str, *arguments: str) -> Iterator[tuple[Run, ProgramResult]]:
    """Run a program in a folder."""
    path = folder / "mine.py"
    program = replace(OwnProgram.here(path, code, arguments), folder=str(folder))
    run = run_program(worker, replace(program, environment=(*program.environment, ("OWN", "mine"))))
    with closing(run):
        (result,) = run.steps
        assert isinstance(result, ProgramResult)
        yield run, result


def tensor_of(run: Run, name: str) -> Tensor:
    """Ask for a tensor."""
    tensor = run.ask(ShowQuestion(name, PROGRAM))
    assert isinstance(tensor, Tensor), tensor
    return tensor


def test_it_finds_arguments_folder_environment_and_neighbors(worker: Session, folder: Path) -> None:
    with ran(worker, folder, PROGRAM_CODE, "--steps", "3") as (run, result):
        assert result.error is None
        path = str(folder / "mine.py")
        assert result.stdout == f"{[path, '--steps', '3']} {folder} mine {path}\n"
        assert [item.label for item in result.named] == [
            "result",
            "main.y",
            "Scale.forward.x",
            "Scale.forward.low",
            "Scale.forward.high",
            "model.factor",
        ]
        assert [(item.file, item.line) for item in result.named][3] == ("neighbors/scale.py", 9)
        assert tensor_of(run, "Scale.forward.high").values == (2.0,)
        explanation = run.ask(ExplainQuestion("main.y", (0,), PROGRAM)) if tensor_of(run, "main.y") else None
        assert isinstance(explanation, Explanation)
        assert [operand.label for operand in explanation.operands] == ["high[0]", "model.factor"]
        assert (explanation.file, explanation.line, explanation.lesson_line) == ("neighbors/scale.py", 10, 11)
        flow = run.ask(FlowQuestion((), (), PROGRAM))
        assert not isinstance(flow, Refusal | None)
        assert [box.name for box in flow.boxes][-1] == "result"
        # Any expression over its variables.
        assert tensor_of(run, "result * 2").values == (12.0,)


def test_a_program_that_fails_can_be_asked_about_what_it_did_before(worker: Session, folder: Path) -> None:
    code = "import torch\nfrom neighbors.scale import Scale\nx = torch.ones(3)\nScale()(x)\nnever = 1\n"
    with ran(worker, folder, code) as (run, result):
        assert result.error is not None
        assert result.error.line == 4
        assert result.error.message.startswith("In neighbors/scale.py, line 9: ValueError: too many values to unpack")
        assert [item.label for item in result.named if item.kind != "parameter"] == ["x"]
        assert tensor_of(run, "x").values == (1.0, 1.0, 1.0)


def test_a_program_that_fails_where_code_has_no_line_is_reported(worker: Session, folder: Path) -> None:
    bare = "table = lambda code: bytes(0xf8 | min(7, len(code) // 2 - at - 1) for at in range(0, len(code) // 2, 8))\n"
    code = f"def f():\n    raise ValueError('lost')\n{bare}code = f.__code__\n"
    code += "f.__code__ = code.replace(co_linetable=table(code.co_code))\nf()\n"
    with ran(worker, folder, code) as (_, result):
        assert result.error is not None
        assert (result.error.message, result.error.line) == ("ValueError: lost", 1)


def test_a_program_that_is_not_python_says_so(worker: Session, folder: Path) -> None:
    with ran(worker, folder, "x = 1\ny = (\n") as (_, result):
        assert result.error is not None
        assert (result.error.line, "not Python" in result.error.message) == (2, True)


def test_a_program_may_end_itself(worker: Session, folder: Path) -> None:
    with ran(worker, folder, "import sys, torch\nx = torch.ones(1)\nsys.exit()\n") as (_, result):
        assert result.error is None
        assert [item.label for item in result.named] == ["x"]


@pytest.mark.parametrize(
    "line",
    ['os.open("made.txt", os.O_CREAT | os.O_WRONLY)', "os.kill(os.getppid(), 0)", 'open("/dev/full", "w")'],
)
def test_what_a_limit_refuses_names_the_option_that_lifts_it(worker: Session, folder: Path, line: str) -> None:
    with ran(worker, folder, f"import os, torch\nx = torch.ones(2)\n{line}\n") as (run, result):
        assert result.error is not None
        assert "--no-limits" in result.error.message
        assert tensor_of(run, "x").shape == (2,)
    assert not (folder / "made.txt").exists()


def test_a_program_is_not_stopped_after_its_end() -> None:
    with run._stopped_after(0.001):
        signal.pause()


def test_a_program_without_end_is_stopped_and_can_be_looked_at(worker: Session, folder: Path) -> None:
    code = "import torch\nx = torch.zeros(2)\nprint('there')\nwhile True:\n    x = x + 1\n"
    program = replace(OwnProgram.here(folder / "mine.py", code), folder=str(folder))

    def stopped(wall: float) -> Failure | None:
        with closing(run_program(worker, replace(program, wall=wall))) as run:
            (result,) = run.steps
            # On a busy machine it may not have begun.
            if result.stdout:
                assert tensor_of(run, "x").values is not None
            return result.error if result.stdout else None

    error, wall = with_enough_time(stopped, lambda error: error, 0.3)
    assert error is not None
    assert f"{wall:g} seconds" in error.message
    assert "--no-limits" in error.message


@pytest.mark.parametrize(("end", "status"), [("pass", 0), ("raise ValueError", 1)])
def test_a_program_that_forks_is_reported_not_its_copy(worker: Session, folder: Path, end: str, status: int) -> None:
    code = f"""\
import os, torch
x = torch.ones(2)
pid = os.fork()
y = x + (1 if pid else 2)
if pid:
    status = torch.tensor([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])])
else:
    {end}
"""
    with ran(worker, folder, code) as (run, result):
        assert result.error is None
        assert [tensor_of(run, name).values for name in ("y", "status")] == [(2.0, 2.0), (status,)]


def test_names_too_long_for_a_report_are_left_out_with_a_note(worker: Session, folder: Path) -> None:
    code = """\
import torch
from torch import nn
net = nn.Module()
for i in range(600):
    setattr(net, "name" * 500 + str(i), nn.Parameter(torch.ones(1)))
total = sum(net.parameters()).sum()
"""
    with ran(worker, folder, code) as (run, result):
        assert result.error is None
        assert result.notes == (f"601 tensors have names; the first {len(result.named)} are listed.",)
        # Each goes by a label and a name.
        assert 50 < len(result.named) < 600
        assert tensor_of(run, "total").values == (600.0,)


def test_without_limits_a_program_may_write(folder: Path) -> None:
    session = Session(limited=False)
    try:
        code = 'import torch\nx = torch.ones(2)\ntorch.save(x, "made.pt")\n'
        program = replace(OwnProgram.here(folder / "mine.py", code, limited=False), folder=str(folder))
        with closing(run_program(session, program)) as run:
            assert run.steps[0].error is None
            assert tensor_of(run, "x").values == (1.0, 1.0)
        assert (folder / "made.pt").stat().st_size
    finally:
        session.close()


def test_what_has_no_storage_is_passed_over(worker: Session, folder: Path) -> None:
    code = """\
import torch

def f(row):
    double = row * 2
    return double

x = torch.vmap(f)(torch.ones(3, 2))
nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
masked = torch.masked.masked_tensor(torch.ones(3), torch.tensor([True, False, True]))
quantized = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
y = torch.ones(2) + 1
"""
    with ran(worker, folder, code) as (run, result):
        assert (result.error, result.stopped) == (None, "")
        assert [item.label for item in result.named] == ["x", "y"]
        assert tensor_of(run, "x").values == (2.0,) * 6


def test_random_numbers_are_the_same_in_each_run(worker: Session, folder: Path) -> None:
    code = "import random, torch\nx = torch.rand(2) + random.random()\n"
    with ran(worker, folder, code) as (run, _):
        first = tensor_of(run, "x").values
    torch.manual_seed(0)
    random.seed(0)
    assert first == tuple((torch.rand(2) + random.random()).tolist())


def test_the_worker_itself_is_not_moved(worker: Session, folder: Path) -> None:
    with ran(worker, folder, "import os\nos.environ['OWN'] = 'changed'\n"):
        assert "OWN" not in os.environ


def test_what_a_program_writes_lies_in_its_temporary_folder(worker: Session, folder: Path) -> None:
    (folder / "kept.pt").write_bytes(b"what an earlier training has left")
    code = """\
import os, torch
os.makedirs("out/logs")
with open("out/logs/log.txt", "a") as log:
    log.write("begins")
weight = torch.ones(4 << 20)
torch.save(weight, "kept.pt")
again = torch.load("kept.pt")[:2]
"""
    with ran(worker, folder, code) as (run, result):
        assert result.error is None
        assert result.written == ("out/logs/log.txt", "kept.pt")
        assert tensor_of(run, "again").values == (1.0, 1.0)
    assert (folder / "kept.pt").read_bytes() == b"what an earlier training has left"
    assert not (folder / "out").exists()
