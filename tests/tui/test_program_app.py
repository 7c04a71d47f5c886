"""A program of one's own in the tutor: pages, what-if, a save, and nothing of it in the learner's progress."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.programs.engine.session import ProgramSession
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.programs.pages import ProgramSource
from attn_tutor.tui.programs.program_map import ProgramMap
from tests.tui.learner import SSH, Learner

pytestmark = pytest.mark.slow

SOURCE = """\
import torch

def scale(x):
    y = x * 2
    return y + 1

a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
b = scale(a)
"""


class WarmProgram(ProgramSession):
    """A session for a program in the worker that all tests share, which stays."""

    def close(self) -> None:
        self.release_all()


@asynccontextmanager
async def opened(
    worker: Session, file: Path, source: str, *, watch: bool = False, size: tuple[int, int] = (100, 40)
) -> AsyncIterator[Learner]:
    """Open a program that was saved in a file."""
    file.write_text(source)
    session = WarmProgram(OwnProgram.here(file, source), worker.launcher)
    session.open(session.program)
    app = TutorApp(SSH, ProgramSource(session, watched=watch), ProgramMap)
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            yield Learner(app, pilot)
    finally:
        app.close()


async def test_a_program_is_looked_at_changed_and_saved(
    worker: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file = tmp_path / "mine.py"
    async with opened(worker, file, SOURCE, watch=True) as learner:
        await learner.sees(" a, b  ", "mine.py   page 1 of 2", "5.0000", "live")
        await learner.press("tab", "enter")
        await learner.sees("b[0,0] = y[0,0] + 1")
        await learner.press("escape", "n")
        await learner.sees("scale: y", "mine.py   page 2 of 2", "8.0000")
        # What is on disk runs again; the first tensor that differs is in the function.
        file.write_text(SOURCE.replace("x * 2", "x * 10"))
        await learner.sees("The first tensor that", "•40.0000", "d difference")
        await learner.press("d")
        await learner.sees("scale.y  2×2  difference", "•32.0000")
        await learner.press("m")
        await learner.sees("tensors", "▶ scale.y", "b    ")
        await learner.press("question_mark")
        await learner.sees(lambda: learner.app.help_pane.display, "The tensors of your program")
    assert not (tmp_path / "data").exists()


async def test_what_a_save_changes_is_marked_on_every_page(worker: Session, tmp_path: Path) -> None:
    helper, file = tmp_path / "factor_of_mine.py", tmp_path / "mine.py"
    helper.write_text("FACTOR = 2.0\n")
    source = SOURCE.replace("import torch", "import torch\nfrom factor_of_mine import FACTOR").replace(
        "x * 2", "x * FACTOR"
    )
    async with opened(worker, file, source, watch=True) as learner:
        await learner.sees(" a, b  ", "5.0000", "live", learner.app.assembled.is_set)
        # An imported file that names no tensor, by an editor that puts a new file in the place of the old one. What-if
        # has run the program in between.
        await learner.press("w", "5", "enter")
        await learner.sees("• a[0,0]", "11.0000")
        await learner.press("escape")
        replacement = tmp_path / "factor.tmp"
        replacement.write_text("FACTOR = 3.0\n")
        replacement.replace(helper)
        await learner.sees("The first tensor that differs is scale.y", "• 3.0000", "•12.0000")
        await learner.press("b")
        await learner.sees("a  2×2  unchanged", "b  2×2  after", "• 4.0000", "•13.0000")
        # A version that does not even begin leaves everything as it is, and says why.
        file.write_text(f"{source}x = (\n")
        await learner.sees("mine.py, line 10: This is not", "older version   mine.py", "•13.0000")
        await learner.press("n")
        await learner.sees("scale: y", "older version   mine.py", "•12.0000")
        file.write_text(source.replace("+ 1", "+ 2"))
        await learner.sees(
            "The first tensor that differs is b", "•14.0000", lambda: "older version" not in learner.text
        )
        file.unlink()
        await learner.sees("mine.py is gone. What you see stays as it is.", "•14.0000")


MAIN = """\
import torch

def main():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x * 3
    z = y + 1
    return z.sum()

main()
"""


CALLS = """\
import torch

def scale(x, factor):
    y = x * factor
    return y

for factor in range(1, 4):
    z = scale(torch.ones(1, 2), factor)
"""


async def test_the_calls_of_a_function_are_looked_at_and_changed(worker: Session, tmp_path: Path) -> None:
    async with opened(worker, tmp_path / "mine.py", CALLS) as learner:
        await learner.sees(" z ", "page 1 of 2", "3.0000", "live")
        await learner.press("comma")
        await learner.sees("This page is not about a function")
        await learner.press("n")
        await learner.sees("scale: x, y", "3.0000", "live")
        await learner.press("comma")
        await learner.sees("scale, call 2 of 3: x, y", "page 2 of 2", "2.0000", "live", ", . call")
        await learner.press("w", "5", "enter")
        await learner.sees("what if", "10.0000")
        # The change holds, and the page shows it in the call before.
        await learner.press("escape")
        await learner.sees(lambda: "10.0000" not in learner.text)
        await learner.press("less_than_sign")
        await learner.sees("scale, call 1 of 3: x, y", lambda: "2.0000" not in learner.text)
        await learner.is_answered()
        await learner.press("tab", "enter")
        await learner.sees("line 4")
        await learner.press("escape", "greater_than_sign")
        await learner.sees("scale: x, y", "3.0000", "live")


async def test_what_can_be_changed_is_searched(worker: Session, tmp_path: Path) -> None:
    literals = "\n".join(f"v{number} = a * {number}.5" for number in range(30))
    async with opened(worker, tmp_path / "mine.py", SOURCE + literals + "\n") as learner:
        await learner.sees("mine.py   page 1 of", "live")
        await learner.press("w")
        # Rows from the first to the one that says how many more there are.
        await learner.sees("more: down   / search", "> ")
        first = next(number for number, line in enumerate(learner.lines) if line.startswith(" What if"))
        last = next(number for number, line in enumerate(learner.lines) if "more: down" in line)
        assert last - first >= 6
        await learner.press("pagedown")
        await learner.sees(lambda: learner.lesson_view._whatif._rows.chosen == 10)
        await learner.press("slash", *"v7")
        await learner.sees("Search > v7", " 1 of ", "7.5", "letters search")
        await learner.press("enter")
        await learner.sees("left, right, or enter a number", "esc list all")
        await learner.press("right")
        # With the result, nothing that is under way updates the line of keys.
        await learner.sees("• ", "unchanged")
        await learner.press("escape")
        await learner.sees("v6, line 15", "• v7, line 16", "esc restore", lambda: "Search" not in learner.text)
        await learner.press("slash", *"nothing", "enter", "down", "right")
        await learner.sees("0 of ", "esc list all")
        await learner.press("escape", "pageup", "pageup", "pageup", "pageup")
        await learner.sees("a[0,0]", "more: down", lambda: "Search" not in learner.text)


async def test_what_if_flow_and_prompt_in_a_function(worker: Session, tmp_path: Path) -> None:
    async with opened(worker, tmp_path / "mine.py", MAIN) as learner:
        await learner.sees("main: x, y, z", "mine.py   page 1 of 1", "13.0000", "live")
        # A cell of a function's variable, then a literal of the file.
        await learner.press("w", "5", "enter")
        await learner.sees("• main.x[0,0]", "what if   mine.py", "16.0000")
        await learner.press("escape")
        await learner.sees(lambda: "16.0000" not in learner.text and "13.0000" in learner.text)
        await learner.press("w", *["down"] * 5)
        await learner.sees("> y, line 5")
        await learner.press("7", "enter")
        await learner.sees("29.0000")
        await learner.press("escape")
        await learner.sees("13.0000", lambda: "29.0000" not in learner.text)
        # The flow is that of the function, which is all of the program.
        await learner.press("f", "home")
        await learner.sees("╭ x 2×2 ╮", "╭ z 2×2 ╮")
        await learner.press("o")
        await learner.sees("This box stays open")
        await learner.press("home", "enter")
        await learner.sees("x[0,0] = 1.0")
        await learner.press("escape", "escape", "p")
        await learner.sees(" page 1 of mine.py", "y   ")
        await learner.press(*"y@z", "enter")
        await learner.sees("219.000█")
        await learner.press("escape")
        await learner.sees("main: x, y, z", "enter explain")
