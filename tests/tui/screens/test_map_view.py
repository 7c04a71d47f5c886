"""The map of the course."""

from __future__ import annotations

from lessons.results.result import Tensor
from tui.screens.map_view import draw_thumbnail
from tui.tty.terminal import Terminal

BESIDE_LESSONS = 37
"""Columns beside the list of lessons on a screen of 80."""


def test_a_thumbnail_fits_beside_the_lessons() -> None:
    words = tuple(f"a-long-token-{number}" for number in range(12))
    tensor = Tensor(
        "weights_of_all", "weight", "float32", (2, 12, 12), (), ((), words, words), 0.0, 1.0, (0.5,) * 2 * 12 * 12
    )
    for terminal in (Terminal(depth="256"), Terminal(depth="none")):
        lines = draw_thumbnail(tensor, terminal).split("\n")
        assert lines[0].plain.startswith("weights_of_all  2")
        assert len(lines) == 9
        assert max(line.cell_len for line in lines) <= BESIDE_LESSONS
