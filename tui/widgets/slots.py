"""The slot of a matrix among others, which are laid out from top to bottom."""

from __future__ import annotations

from tui.widgets.line_widget import set_height
from tui.widgets.matrix import MatrixView


def fill_slot(view: MatrixView, lines: int, columns: int | None = None, offset: tuple[int, int] = (0, 0)) -> None:
    """Give a matrix its height and, if it stands beside others, its columns and its offset from where it would be.

    Args:
        view: the matrix.
        lines: its height; 0 hides it.
        columns: its width; None for all there are, with nothing beside it.
        offset: columns to the right and lines down, from where it stands without an offset.
    """
    view.styles.width = "1fr" if columns is None else columns
    view.styles.offset = offset
    set_height(view, lines)
