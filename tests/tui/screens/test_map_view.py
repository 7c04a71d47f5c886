"""The map of the course."""

from __future__ import annotations

from attn_tutor.lessons.reading.course_outline import SIDE, Corner
from attn_tutor.tui.screens.map_view import draw_thumbnail
from attn_tutor.tui.tty.terminal import Terminal

BESIDE_LESSONS = 37
"""Columns beside the list of lessons on a screen of 80."""


def test_a_thumbnail_fits_beside_the_lessons() -> None:
    words = tuple(f"a-long-token-{number}" for number in range(SIDE))
    corner = Corner("weights_of_all", "weight", (2, 12, 12), 0.0, 1.0, words, ((0.5,) * SIDE,) * SIDE)
    for terminal in (Terminal(depth="256"), Terminal(depth="none")):
        lines = draw_thumbnail(corner, terminal).split("\n")
        assert lines[0].plain.startswith("weights_of_all  2")
        assert len(lines) == 9
        assert max(line.cell_len for line in lines) <= BESIDE_LESSONS
