"""The list of the tensors of a program or a file: a line for each, with its shape and what else is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.tui.state.tensor_rows import TensorRow
from attn_tutor.tui.widgets.lesson_list import LessonEntry, LessonList

GAP = "  "


class TensorList(LessonList):
    """Tensors in aligned columns, of which the last ones go where their names need the room."""

    def __init__(self, *, ellipsis: str = "…", id: str | None = None) -> None:
        super().__init__(ellipsis=ellipsis, id=id)
        self._columns: list[tuple[str, ...]] = []
        self._label_width = 0

    def show_rows(self, rows: Sequence[TensorRow], marks: Iterable[str]) -> None:
        """Show these tensors, each with a sign before its name."""
        widths = _widths(row.columns for row in rows)
        self._columns = [
            tuple(text + " " * (width - cell_len(text)) for text, width in zip(row.columns, widths, strict=False))
            for row in rows
        ]
        self._label_width = max((cell_len(visible(row.label)) for row in rows), default=0)
        self.show(tuple(LessonEntry(mark, visible(row.label)) for row, mark in zip(rows, marks, strict=True)))
        self.refresh()

    @property
    def page(self) -> int:
        """The lines that the keys for pages move the cursor by: as many as are to be seen, less one."""
        return max(1, self.size.height - 1)

    def _fitted(self, index: int, width: int) -> tuple[str, str]:
        """Return name and columns; names are cut at their beginning, if half of the line is not enough for them."""
        entry, columns = self._entries[index], self._columns[index]
        start = f" {entry.glyph} "
        label = max(min(self._label_width, width // 2), 1)
        while len(columns) > 1 and cell_len(start) + label + cell_len(_joined(columns)) > width:
            columns = columns[:-1]
        right = _joined(columns)
        room = max(1, width - cell_len(start) - cell_len(right))
        text = entry.text if cell_len(entry.text) <= room else _end_of(entry.text, room, self._ellipsis)
        left = truncated(start + text, max(0, width - cell_len(right)), self._ellipsis)
        # The columns follow the names, however wide the screen is.
        used = max(cell_len(left), cell_len(start) + min(self._label_width, room))
        return left + " " * (used - cell_len(left)), right + " " * (width - used - cell_len(right))


def _widths(rows: Iterable[tuple[str, ...]]) -> list[int]:
    """Return the width of each column."""
    widths: list[int] = []
    for columns in rows:
        widths += [0] * (len(columns) - len(widths))
        for index, text in enumerate(columns):
            widths[index] = max(widths[index], cell_len(text))
    return widths


def _joined(columns: Sequence[str]) -> str:
    return GAP + GAP.join(columns) + " " if columns else ""


def _end_of(text: str, width: int, ellipsis: str) -> str:
    """Return the end of a text, after an ellipsis, in at most `width` columns."""
    start = 1
    while start < len(text) and cell_len(text[start:]) + cell_len(ellipsis) > width:
        start += 1
    return ellipsis + text[start:]
