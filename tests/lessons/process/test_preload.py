"""What is there before the first child starts."""

from __future__ import annotations

from attn_tutor.lessons.authoring import interface_texts
from attn_tutor.lessons.process import preload
from tests.course import ROOT


def test_all_texts_of_the_worker_are_read_before_a_program_runs() -> None:
    """A child is fenced in, and its program may change the environment."""
    names = ("worker", "process", "programs/worker", "results", "programs/results")
    rooms = [ROOT / "lessons" / name for name in names]
    modules = [path for room in rooms for path in room.rglob("*.py")] + [ROOT / "lessons/what_if/refused_cells.py"]
    said = (text for path in modules for text in interface_texts.texts_in(path.read_text(encoding="utf-8")))
    assert {text.id.partition("/")[0] for text in said} == set(preload.SAID)
