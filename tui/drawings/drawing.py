"""The ways to draw a tensor: each is a module of pure functions that share one interface."""

from __future__ import annotations

from typing import Protocol

from attn_tutor.lessons.render import memory_text
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.tui.drawings import bars, grid, memory_strip
from attn_tutor.tui.drawings.drawing_scene import DrawingScene, Face, GridLayout
from attn_tutor.tui.drawings.styled_line import Runs


class Drawing(Protocol):
    """The interface between a matrix widget and the module that draws its tensor."""

    def unit(self) -> str:
        """Return what the arrow keys move by, for the line of keys."""
        ...

    def layout(
        self,
        face: Face,
        width: int,
        height: int,
        row: int,
        col: int,
        top: int = 0,
        left: int = 0,
        at: tuple[int, ...] = (),
    ) -> GridLayout:
        """Lay the tensor out in `width` by `height` cells; `top` and `left` came first in the previous layout."""

    def lines(self, scene: DrawingScene) -> int:
        """Return the number of lines of numbers, visible or not."""

    def natural_size(self, face: Face) -> tuple[int, int]:
        """Return the columns and lines that show everything."""

    def draw(self, scene: DrawingScene, y: int) -> Runs:
        """Return one line, exactly as wide as the layout."""

    def describe(self, face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
        """Describe a cell, with its exact value."""

    def step(self, tensor: Tensor, row: int, col: int, down: int, right: int) -> tuple[int, int]:
        """Return the cell that arrow keys lead to; it may lie outside of the tensor."""

    def cell_at(self, scene: DrawingScene, x: int, y: int) -> tuple[int, int] | None:
        """Return row and column of the cell at x and y, None if there is none."""

    def cursor_at(self, scene: DrawingScene) -> tuple[int, int]:
        """Return x and y of the first digit under the cursor."""


MATRIX: Drawing = grid
BARS: Drawing = bars
MEMORY: Drawing = memory_strip


def drawing_of(tensor: Tensor) -> Drawing:
    """Return the drawing that the lesson asks for, or a matrix if the tensor is too large for it."""
    if tensor.values is not None and tensor.size and tensor.draw == "bars":
        return BARS
    return MEMORY if tensor.values is not None and tensor.draw == "memory" and memory_text.drawable(tensor) else MATRIX
