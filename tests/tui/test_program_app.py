"""A program of one's own in the tutor: pages, what-if, a save, and nothing of it in the learner's progress."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons.engine.program_session import ProgramSession
from lessons.engine.running_program import OwnProgram
from tests.tui.learner import SSH, Learner
from tui.program_app import ProgramApp

pytestmark = pytest.mark.slow

SOURCE = """\
import torch

def scale(x):
    y = x * 2
    return y + 1

a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
b = scale(a)
"""


async def test_a_program_is_looked_at_changed_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file = tmp_path / "mine.py"
    file.write_text(SOURCE)
    session = ProgramSession(OwnProgram.here(file, SOURCE))
    session.open(session.program)
    app = ProgramApp(SSH, session, watch=True)
    try:
        async with app.run_test(size=(100, 40), notifications=True) as pilot:
            learner = Learner(app, pilot)
            await learner.sees(" a, b  ", "mine.py   page 1 of 2", "5.0000", "live")
            await pilot.press("tab", "enter")
            await learner.sees("b[0,0] = y[0,0] + 1")
            await pilot.press("escape", "n")
            await learner.sees("scale: y", "mine.py   page 2 of 2", "8.0000")
            # What is on disk runs again; the first tensor that differs is in the function.
            file.write_text(SOURCE.replace("x * 2", "x * 10"))
            await learner.sees("The first tensor that", "40.0000")
            await pilot.press("m")
            await learner.sees("tensors", "a, b", "scale: y")
            await pilot.press("question_mark")
            await learner.sees(lambda: app.help_pane.display)
    finally:
        app.close()
    assert not (tmp_path / "data").exists()
