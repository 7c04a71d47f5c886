"""The dialogue about a program of one's own, and about a file of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.programs.engine import tensor_file
from attn_tutor.lessons.programs.engine.session import ProgramSession
from attn_tutor.lessons.programs.engine.tensor_file import TensorFileSession
from attn_tutor.lessons.programs.render import tensor_file_text
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.tui.plain import waiting_session
from attn_tutor.tui.plain.command_table import COMMANDS
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.dialogue import Dialogue
from attn_tutor.tui.programs.dialogue import PagesDialogue
from attn_tutor.tui.programs.pages import ProgramSource, TensorFileSource
from tests.tui.plain.conversation import Conversation

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
    pages = TensorFileSource(session, name) if isinstance(session, TensorFileSession) else ProgramSource(session)

    def make(console: Console) -> Dialogue:
        return Dialogue(pages, pages.read(), console, lambda state: PagesDialogue(state, pages))

    with closing(Conversation(make=make)) as learner:
        yield learner


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no sentence about waiting come between the lines, however busy the machine is."""
    monkeypatch.setattr(waiting_session, "PATIENCE", 600.0)


def opened(worker: Session, folder: Path, source: str) -> WarmProgram:
    """Return a program that has run."""
    file = folder / "mine.py"
    file.write_text(source)
    session = WarmProgram(OwnProgram.here(file, source), worker.launcher)
    session.open(session.program)
    return session


@pytest.fixture
def program(worker: Session, tmp_path: Path) -> WarmProgram:
    """Return a program that has run."""
    return opened(worker, tmp_path, SOURCE)


def test_of_another_file_only_the_function_is_printed(worker: Session, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("UNUSED = 1\n\ndef f(x):\n    h = x + 1\n    h = h * 2\n    return h\n")
    source = "import torch\nfrom beside import f\ny = f(torch.ones(2))\ny = f(y)\n"
    with talk(opened(worker, tmp_path, source)) as learner:
        learner.begin()
        page = learner.type("go h")
        assert "    h = h * 2\n" in page
        assert "UNUSED" not in page
        # The number of pages is what it was.
        assert learner.type("call 1").startswith("Page 2 of 2: f, call 1 of 2: ")
        assert "    h = h * 2\n" in learner.type("again")


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
        assert again.startswith("The first tensor that differs is main.y, line 5.\n\nPage 2 of 2")
        path.write_text("x = (")
        assert learner.say("run").startswith("mine.py, line 1: This is not Python")
        assert learner.type("show y").endswith("1  12.0000  16.0000")
        path.unlink()
        assert learner.say("run") == "mine.py cannot be read."
        assert learner.say("quit") == ""


CALLS = """\
import torch

def scale(x, factor):
    y = x * factor
    return y

for factor in range(1, 4):
    z = scale(torch.ones(2), factor)
"""


def test_an_earlier_call_of_a_function_is_shown(worker: Session, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(CALLS)
    session = WarmProgram(OwnProgram.here(file, CALLS), worker.launcher)
    session.open(session.program)
    with talk(session) as learner:
        learner.begin()
        assert learner.say("call 1") == "This page is not about a function whose calls are known."
        learner.type("go 2")
        second = learner.type("call before")
        assert "Page 2 of 2: scale, call 2 of 3: x, y" in second
        assert "2.0000  2.0000" in second
        assert learner.type("explain y[0]").startswith("scale.y[0] = 2   line 4: x * factor")
        assert "scale.y[1] was 2, is 10." in learner.type("set x[1] = 5")
        # What is changed stays while the pages are about the same functions.
        assert "call 1 of 3" in learner.type("call first")
        assert learner.say("call first") != ""
        assert learner.say("call 9") == "Of the 3 calls of scale, 1 to 3 can be looked at."
        assert learner.say("call two") == "Say which call: call 3, or call before, after, first or last."
        assert "Page 2 of 2: scale: x, y" in learner.type("call last")


def test_only_what_applies_to_a_program_is_offered(program: WarmProgram) -> None:
    with talk(program) as learner:
        learner.begin()
        offered = set(learner.dialogue.handlers)
        assert offered <= set(COMMANDS)
        of_course = {"steps", "progress", "review", "challenge", "glossary", "term", "side", "return", "export"}
        assert not offered & (of_course | {"courses", "course"})
        assert {"next", "back", "map", "go", "run", "explain", "flow", "set", "knob", "python"} <= offered
        said = learner.type("help")
        for word in ("step", "lesson", "course", "saved"):
            assert word not in said, word
        for word in ("train", "hint", "retract", "side"):
            assert learner.say(word) == f"{word} is for the lessons of the course. Type help to see what you can do."
        learner.say("set z[0,0] = 9")
        again = learner.type("again")
        assert again.endswith("Changed: z[0,0] = 9.")
        learner.say("reset")


def test_a_file_of_tensors_is_read(worker: Session, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save({"a.weight": torch.arange(6.0).view(2, 3), "a.bias": torch.tensor([torch.nan, 1]), "epoch": 3}, path)
    with tensor_file.opened_tensors(worker, path) as file:
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


PAGES = """\
import torch

class Attention(torch.nn.Module):
    def forward(self, x):
        q = x * 2
        k = x * 3
        v = x * 4
        e = x * 5
        att = q * k
        out = att * v + e
        return out

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        q = self.attention(x)
        return q + x

z = Block()(torch.tensor([1.0, 2.0]))
"""


def test_a_tensor_of_another_page_is_found_by_any_end_that_only_it_has(worker: Session, tmp_path: Path) -> None:
    with talk(opened(worker, tmp_path, PAGES)) as learner:
        learner.begin()
        said = learner.say("explain att[1]")
        assert said.startswith("Attention.forward.att is on page 4, which is open now. Attention.forward.att[1] = 24 ")
        assert learner.dialogue.course.step.id == "page-4"
        # What it has itself, and then what its function has, goes before the others.
        assert learner.say("explain q[1] 2").startswith("Attention.forward.q is on page 3, which is open now.")
        learner.type("go z")
        assert learner.say("show q[0]") == (
            "q may be each of these: Block.forward.q, Attention.forward.q. Type more of it."
        )
        assert learner.say("go q").startswith("q may be each of these: Block.forward.q, Attention.forward.q.")
        said = learner.say("set att[0] = 1")
        assert said.startswith(
            "Attention.forward.att is on page 4, which is open now. Changed: Attention.forward.att[0]"
        )
        assert "Attention.forward.out[0] was 29, is 9." in said
        assert learner.say("go ou") == "There is no tensor ou. Names like that: Attention.forward.out."
        assert learner.say("show nothing").startswith("Nothing here is called nothing.")
        found = learner.type("map forward Q").splitlines()
        assert [line.partition(":")[0] for line in found[:-1]] == ["Block.forward.q", "Attention.forward.q"]
        assert found[-1] == "2 of 9 tensors have forward Q in their names."
        assert learner.say("map nothing") == "No name has nothing. Type map to list all tensors."


KNOBS = """\
import argparse
import torch

parser = argparse.ArgumentParser(description="Train it.")
parser.add_argument("--lr", type=float, default=0.5, help="how fast")
options = parser.parse_args()
ONES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
steps = 3
rate = float(options.lr); rate /= 2

def scale(x):
    y = x * 7
    return y

z = scale(torch.tensor([1.0])) * options.lr * steps
"""


def test_of_many_knobs_the_nearest_come_first_and_words_find_the_rest(worker: Session, tmp_path: Path) -> None:
    with talk(opened(worker, tmp_path, KNOBS)) as learner:
        learner.begin()
        learner.type("go y")
        few = learner.type("knob").splitlines()
        # First that of the function; no help text is among the first ones.
        assert few[0] == "line-12-12: y, line 12, now 7. It takes: a number."
        assert not [line for line in few if "how fast" in line or "Train it." in line]
        assert " ".join(few[20:]) == (
            "8 more: knob all lists all, and knob WORD those with that word in their name or their line of code."
        )
        every = learner.type("knob all").splitlines()
        assert len(every) == 28
        assert every[0] == few[0]
        assert [line.partition(":")[0] for line in every[-3:]] == ["line-4-45", "line-5-20", "line-5-58"]
        # Words of the name, or of the line of code.
        assert learner.type("knob STEPS").splitlines() == [
            "line-8-8: steps, line 8, now 3. It takes: a number.",
            "    steps = 3",
            "line-15-24: torch.tensor(), line 15, now 1.0. It takes: a number.",
            "    z = scale(torch.tensor([1.0])) * options.lr * steps",
        ]
        assert [line.partition(":")[0] for line in learner.type("knob lr default").splitlines()[::2]] == [
            "line-5-48",
            "line-5-20",
            "line-5-58",
        ]
        # What the code calls it is a name if nothing else is called so; others are listed.
        assert "Changed: steps, line 8: 4." in learner.say("knob steps 4")
        # In steps /= 2, 2 is not what steps is.
        assert learner.type("knob rate 4").startswith("Type the name of one of these, ")
        assert "Changed: --lr, line 5: 0.25; steps, line 8: 4." in learner.say("knob --lr = 0.25")
        listed = learner.type("knob ones 999").splitlines()
        assert listed[0] == "Type the name of one of these, and then the value:"
        assert listed[1] == "line-7-8: ONES 1, line 7, now 1. It takes: a number."
        assert learner.type("knob ones 4").startswith("line-7-17: ONES 4, line 7, now 4.")
        assert learner.say("knob stepp 4") == "There is no knob stepp. Do you mean steps?"
        assert learner.say("knob nothing") == (
            "No knob has nothing in its name or its line of code. Type knob to list them."
        )


def test_a_knob_of_another_file_is_turned(worker: Session, tmp_path: Path) -> None:
    (tmp_path / "factor_of_knobs.py").write_text("def factor(x):\n    y = x * 2\n    return y\n")
    source = "import torch\nfrom factor_of_knobs import factor\nz = factor(torch.tensor([1.0]))\n"
    with talk(opened(worker, tmp_path, source)) as learner:
        learner.begin()
        learner.type("go y")
        name = learner.type("knob").partition(":")[0]
        assert name == "factor_of_knobs.py line-2-12"
        assert "factor.y[0] was 2, is 5." in learner.say(f"knob {name} 5")


LARGE = """\
import torch

def scale(x):
    y = x * 2
    return y

z = scale(torch.ones(3, 64, 64))
small = torch.tensor([0.123456])
"""


def test_of_a_large_tensor_a_change_says_what_can_be_said(worker: Session, tmp_path: Path) -> None:
    with talk(opened(worker, tmp_path, LARGE)) as learner:
        learner.begin()
        # A cell that is not among those that are shown; the least number of all tells.
        said = learner.type("set z[2,63,63] = -5").splitlines()
        assert said[0] == "Changed: z[2,63,63] = -5."
        assert " ".join(said[1:3]) == (
            "z has 12,288 numbers. Of the 1024 shown here, 0 changed. All of them lay from 2 to 2, and "
            "lie from -5 to 2."
        )
        assert said[3:] == ["small: nothing changed."]
        learner.say("reset")
        said = learner.type("knob line-4-12 3").splitlines()
        assert " ".join(said[1:3]) == (
            "z has 12,288 numbers. Of the 1024 shown here, 1024 changed. All of them lay from 2 to 2, and "
            "lie from 3 to 3."
        )
        assert said[3] == "z[0,0,0] was 2, is 3."
        assert said[13].startswith("Those are the first 10. Rows with changes: 0,0, 0,1, 0,2")
        learner.say("reset")
        same = learner.say("set z[0,0,1] = 2")
        assert "Of the 1024 shown here, 0 changed. The least and the greatest of all are as before." in same
        # Two numbers that look the same in four digits are told apart.
        learner.say("reset")
        assert "small[0] was 0.123456001, is 0.123457." in learner.say("set small[0] = 0.123457")
