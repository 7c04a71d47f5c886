"""A line to be drawn, as plain data: pieces of text with their styles."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.style import Style

Runs = tuple[tuple[str, Style | None], ...]
"""One line: texts with their styles; None is the style of the widget."""


class StyledLine:
    """A line under construction."""

    def __init__(self) -> None:
        self._runs: list[tuple[str, Style | None]] = []
        self.width = 0

    def add(self, text: str, style: Style | None = None) -> None:
        """Append text; adjacent text of the same style is merged."""
        if not text:
            return
        self.width += cell_len(text)
        if self._runs and self._runs[-1][1] == style:
            self._runs[-1] = (self._runs[-1][0] + text, style)
        else:
            self._runs.append((text, style))

    def pad_to(self, width: int) -> None:
        """Append spaces up to this column."""
        self.add(" " * (width - self.width))

    def add_last(self, character: str, width: int) -> None:
        """Append a character; at the right edge it replaces a trailing space."""
        if self.width >= width and self._runs and self._runs[-1][0].endswith(" "):
            text, style = self._runs.pop()
            self.width -= cell_len(text)
            self.add(text[:-1], style)
        self.add(character)

    def runs(self, width: int) -> Runs:
        """Return the line, cut or padded to a width."""
        self.pad_to(width)
        if self.width == width:
            return tuple(self._runs)
        cut: list[tuple[str, Style | None]] = []
        left = width
        for text, style in self._runs:
            if left <= 0:
                break
            part = text if cell_len(text) <= left else set_cell_size(text, left)
            cut.append((part, style))
            left -= cell_len(part)
        return tuple(cut)


def differing_width(old: Runs, new: Runs) -> int:
    """Return the number of cells from the left edge through the last one in which two lines differ."""
    old_cells, new_cells = _cells(old), _cells(new)
    width = min(len(old_cells), len(new_cells))
    if len(old_cells) != len(new_cells):
        return max(len(old_cells), len(new_cells))
    while width and old_cells[width - 1] == new_cells[width - 1]:
        width -= 1
    return width


def _cells(runs: Runs) -> list[tuple[str, Style | None]]:
    """Split a line into cells.

    Zero-width characters belong to the cell before them; the second half of a wide character is empty.
    """
    cells: list[tuple[str, Style | None]] = []
    for text, style in runs:
        for character in text:
            size = cell_len(character)
            if size == 0 and cells:
                # Find the cell that the mark stands on: behind a wide character comes its empty half.
                last = len(cells) - 1 if cells[-1][0] else len(cells) - 2
                cells[last] = (cells[last][0] + character, cells[last][1])
            else:
                cells.append((character, style))
                cells.extend([("", style)] * (size - 1))
    return cells


def over(ground: Style | None, style: Style | None) -> Style | None:
    """Combine the style of a piece of text with that of the cells below it; None stands for no style."""
    return style if ground is None else ground + style if style else ground
