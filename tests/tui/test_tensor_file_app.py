"""A file of tensors in the tutor: the list of all, and pages with statistics."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.programs.engine import tensor_file
from attn_tutor.lessons.programs.engine.tensor_file import TensorFileSession
from attn_tutor.lessons.programs.render import tensor_file_text
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.programs.pages import TensorFileSource
from attn_tutor.tui.programs.program_map import ProgramMap
from tests.tui.learner import SSH, Learner

pytestmark = pytest.mark.slow


class WarmFile(TensorFileSession):
    """A session for a file in the worker that all tests share, which stays."""

    def close(self) -> None:
        self.release_all()


async def test_a_file_is_listed_and_its_pages_are_opened(worker: Session, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    layers = {f"layers.{number}.{name}": torch.full((2, 3), number + 0.5) for number in (0, 1) for name in "qk"}
    torch.save({**layers, "norm": torch.tensor([torch.nan, 0, 2]), "lr": 0.25}, path)
    with tensor_file.opened_tensors(worker, path) as file:
        session = WarmFile(path, file.found, tensor_file_text.table, launcher=worker.launcher)
    app = TutorApp(SSH, TensorFileSource(session), ProgramMap)
    try:
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            learner = Learner(app, pilot)
            await learner.sees("model.pt  ", "5 tensors", "layers.0.q  2×3  float32  24 bytes", app.assembled.is_set)
            # What is no tensor has no page.
            await learner.press("end", "enter")
            await learner.sees("This is no tensor: 0.25")
            await learner.press("up", "enter")
            await learner.sees(" norm  ", "model.pt   page 2 of 2", "live", "infinite")
            assert any(line.split() == ["norm", "0", "2", "1", "1", "1", "1", "0"] for line in learner.lines), (
                learner.text
            )
            # The tensor that was chosen has the cursor.
            await learner.press("m")
            await learner.sees("5 tensors")
            await learner.press("up", "enter")
            await learner.sees("layers: 0.q, 0.k, 1.q, 1.k", "layers_1_k[0,0] = 1.5", "live")
            await learner.press("enter")
            await learner.sees("model.pt, byte offset ")
            await learner.press("escape", "f")
            await learner.sees("Flow: layers: 0.q", "Nothing was computed here.")
            await learner.press("f", "p")
            await learner.sees(" page 1 of model.pt", "TensorFile")
            await learner.press("escape", "r")
            await learner.sees("The list of the file was read again.")
            assert "restore" not in learner.keys
    finally:
        app.close()
