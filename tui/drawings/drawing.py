"""The ways to draw a tensor: each is a module of pure functions over the same face and scene."""

from __future__ import annotations

from typing import Protocol

from lessons.results.result import Tensor
from tui.drawings import bars, grid, memory_strip
from tui.drawings.grid import Face, GridLayout, Scene
from tui.drawings.styled_line import Runs
from tui.render import memory_text


class Drawing(Protocol):
    """What a matrix view asks of the way in which it draws its tensor."""

    UNIT: str
    """What the arrow keys do, for a line of keys."""

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
        """What is drawn in this many cells with the cursor there, `top` and `left` being what was first before."""

    def lines(self, scene: Scene) -> int:
        """Lines of numbers, drawn or not."""

    def natural_size(self, face: Face) -> tuple[int, int]:
        """Columns and lines that show everything."""

    def draw(self, scene: Scene, y: int) -> Runs:
        """One line, exactly as wide as the layout."""

    def describe(self, face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
        """The cell in words, with its exact value."""

    def step(self, tensor: Tensor, row: int, col: int, down: int, right: int) -> tuple[int, int]:
        """The cell that lies so many steps of the arrow keys away, in the tensor or not."""

    def cell_at(self, scene: Scene, x: int, y: int) -> tuple[int, int] | None:
        """Row and column of the cell that is drawn there."""

    def cursor_at(self, scene: Scene) -> tuple[int, int]:
        """Where the first digit under the cursor may stand."""


MATRIX: Drawing = grid
BARS: Drawing = bars
MEMORY: Drawing = memory_strip


def drawing_of(tensor: Tensor) -> Drawing:
    """The way to draw a tensor: as its lesson wants it, or as a matrix if it is too large for that."""
    if tensor.values is not None and tensor.size and tensor.draw == "bars":
        return BARS
    return MEMORY if tensor.values is not None and tensor.draw == "memory" and memory_text.drawable(tensor) else MATRIX
