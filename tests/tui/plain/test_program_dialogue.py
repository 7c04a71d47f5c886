"""The dialogue about a program of one's own, and about a file of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
import torch

from lessons.engine import stored_tensors
from lessons.engine.program_session import ProgramSession
from lessons.engine.running_program import OwnProgram
from lessons.engine.session import Session
from lessons.engine.tensor_file_session import TensorFileSession
from lessons.render import tensor_file_text
from tests.tui.plain.conversation import Conversation
from tui.plain import waiting_session
from tui.plain.command_table import COMMANDS
from tui.plain.program_dialogue import OF_COURSE, ProgramDialogue

SOURCE = """\
import torch

def main():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x * 3
    return y + 1

z = main()
"""


class WarmProgram(ProgramSession):
    """A session for a program in the worker that all tests share, which stays."""

    def close(self) -> None:
        self.release_all()


class WarmFile(TensorFileSession):
    """A session for a file in the worker that all tests share, which stays."""

    def close(self) -> None:
        self.release_all()


@contextmanager
def talk(session: ProgramSession, name: str = "") -> Iterator[Conversation]:
    """Talk about a program or a file."""
    with closing(Conversation(make=lambda console: ProgramDialogue(session, console, name))) as learner:
        yield learner


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no sentence about waiting come between the lines, however busy the machine is."""
    monkeypatch.setattr(waiting_session, "PATIENCE", 600.0)


@pytest.fixture
def program(worker: Session, tmp_path: Path) -> WarmProgram:
    """Return a program that has run."""
    file = tmp_path / "mine.py"
    file.write_text(SOURCE)
    session = WarmProgram(OwnProgram.here(file, SOURCE), worker.launcher)
    session.open(session.program)
    return session


def test_a_program_is_read_changed_and_run_again(program: WarmProgram) -> None:
    with talk(program) as learner:
        begin = learner.begin()
        assert begin.startswith("mine.py: 2 pages.\n\nPage 1 of 2: z\n")
        assert "    y = x * 3\n" in begin
        second = learner.type("next")
        assert second.startswith("Page 2 of 2: main: x, y")
        # Its code stood on the page before, and is printed on request.
        assert "Code:" not in second
        assert "    y = x * 3\n" in learner.type("again")
        assert learner.say("next") == "This is the last page."
        # Of a name, the end is enough.
        assert learner.type("explain y[1,0]").startswith("main.y[1,0] = 9   line 5: x * 3")
        assert "main.y[0,1] was 6, is 15." in learner.type("set x[0,1] = 5")
        assert "Nothing is changed now." in learner.say("reset")
        assert "main.y[0,1] was 6, is 14." in learner.type("knob line-5-12 7")
        learner.say("reset")
        # The flow is that of the function, and its boxes can be looked at.
        assert "inside z = main():" in learner.type("flow")
        assert learner.type("box x").endswith("1  3.0000  4.0000")
        assert "y + 1" in learner.type("python", "y + 1", ".")
        assert learner.say("map").startswith("z: 2×2, float32, line 8, page 1 main.x: 2×2, float32, line 4, page 2 <-")
        assert learner.type("go z").startswith("Page 1 of 2: z")
        assert learner.type("go 2").startswith("Page 2 of 2")
        assert learner.say("go 3") == "There are the pages 1 to 2."
        assert learner.say("go w") == "There is no tensor w. Type map to list them."
        # A new version, then one that does not run, then the file is gone.
        path = Path(program.program.path)
        path.write_text(SOURCE.replace("x * 3", "x * 4"))
        again = learner.type("run")
        assert again.startswith("The first tensor that differs is main.y, line 5.\n\nmine.py: 2 pages.\n\nPage 2 of 2")
        path.write_text("x = (")
        assert learner.say("run").startswith("mine.py, line 1: This is not Python")
        assert learner.type("show y").endswith("1  12.0000  16.0000")
        path.unlink()
        assert learner.say("run") == "mine.py cannot be read."
        assert learner.say("quit") == ""


def test_only_what_applies_to_a_program_is_offered(program: WarmProgram) -> None:
    with talk(program) as learner:
        learner.begin()
        offered = set(learner.dialogue.handlers)
        assert offered <= set(COMMANDS)
        assert not offered & set(OF_COURSE)
        assert {"next", "back", "map", "go", "run", "explain", "flow", "set", "knob", "python"} <= offered
        said = learner.type("help")
        for word in ("step", "lesson", "course", "saved"):
            assert word not in said, word


def test_a_file_of_tensors_is_read(worker: Session, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save({"a.weight": torch.arange(6.0).view(2, 3), "a.bias": torch.tensor([torch.nan, 1]), "epoch": 3}, path)
    with stored_tensors.opened(worker, path) as file:
        make = partial(WarmFile, path, file.found, tensor_file_text.table, launcher=worker.launcher)
    with talk(make()) as learner:
        begin = learner.begin().splitlines()
        assert begin[0] == "model.pt: 1 page."
        assert begin[2:] == [
            "a.weight: 2×3, float32, 24 bytes, page 1 <- you are here",
            "a.bias: 2, float32, 8 bytes, page 1 <- you are here",
            "epoch: This is no tensor: 3",
        ]
        page = learner.type("go weight")
        assert page.startswith("Page 1 of 1: a: weight, bias\n")
        assert "weight      0         5   2.5  1.7078      1    0         0\n" in page
        assert "byte offset" in learner.say("explain weight[1,2]")
        assert "a: weight, bias" in learner.say("run")
    with talk(make(), "a.bias") as learner:
        assert "Page 1 of 1: a: weight, bias" in learner.begin()
