"""Drawings of tensors that are not matrices, and the course that has some."""

from __future__ import annotations

from pathlib import Path

from attn_tutor.lessons.results.result import Tensor
from attn_tutor.tui.drawings.drawing import drawing_of
from attn_tutor.tui.drawings.drawing_scene import DrawingScene, Face
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Terminal

COURSE = Path(__file__).parents[2] / "data" / "drawings" / "course"
PLAIN = Terminal(depth="none")


def scene(
    example: Tensor,
    width: int = 60,
    height: int | None = None,
    row: int = 0,
    col: int = 0,
    *,
    lead: tuple[int, ...] | None = None,
    top: int = 0,
    terminal: Terminal = PLAIN,
    note: str = "",
) -> DrawingScene:
    """Build the scene for a drawing, by default at its natural height."""
    drawing, colors = drawing_of(example), palette(terminal)
    face = Face.of(example, colors)
    lead = (0,) * len(example.lead_shape) if lead is None else lead
    height = drawing.natural_size(face)[1] if height is None else height
    grid_layout = drawing.layout(face, width, height, row, col, top, 0, lead)
    return DrawingScene(face, grid_layout, colors, lead, row, col, note)


def text(drawing: DrawingScene) -> str:
    """Return a drawing as text."""
    draw = drawing_of(drawing.face.tensor).draw
    lines = ("".join(part for part, _ in draw(drawing, y)) for y in range(drawing.layout.height))
    return "\n".join(line.rstrip() for line in lines)


def cursor_text(drawing: DrawingScene) -> str:
    """Return the text from the cursor to the end of its line."""
    x, y = drawing_of(drawing.face.tensor).cursor_at(drawing)
    return text(drawing).splitlines()[y][x:]
