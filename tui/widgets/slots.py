"""The slots of matrices, which are laid out from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence

from attn_tutor.tui.widgets.line_widget import set_height
from attn_tutor.tui.widgets.matrix import MatrixView


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


def fill_slots(
    views: Sequence[MatrixView],
    lines: Sequence[int],
    tall: int,
    places: Sequence[tuple[int, int]] = (),
    widths: Sequence[int] = (),
    beside: tuple[int, int] = (0, 0),
) -> int:
    """Give matrices their slots, and return the lines down to the last of them.

    Args:
        views: the matrices, from top to bottom.
        lines: their heights; those without one are hidden.
        tall: lines of a row.
        places: x and y of the matrices that stand beside each other, counted from the first; none for a column.
        widths: the columns of these.
        beside: columns and lines of what comes before the matrices and stands to their left.
    """
    left, before = beside
    for index, view in enumerate(views):
        view.make_tall(tall)
        height = lines[index] if index < len(lines) else 0
        placed = index < len(places)
        x, y = places[index] if placed else (0, before - beside[1])
        fill_slot(view, height, widths[index] if placed else None, (left + x, y - before))
        before += height
    return before
