"""The layout of a step on a screen of a given size: prose, code, output, matrices.

Everything is shown at once if it fits. Otherwise the prose stays, and below it one pane at a time, chosen with Tab.
Code stays above the matrix as long as both fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

WIDE = 110
"""From this many columns on, prose and code are on the left and matrices on the right."""

NARROWEST_TEXT = 52
WIDEST_TEXT = 100
"""Columns of text that has nothing beside it."""

PANEL = 9
"""Lines of an explanation or of the what-if panel, where there is room."""

TALLEST = 5
"""Lines that a row of a matrix may have where there is room."""

LEAST_FLOW = 6
"""Lines below which a flow is not shown beside the matrices."""

CODE = -1
"""The number of the pane of code and output; matrices are panes 0, 1, ..."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The size that each part of a step would like.

    Attributes:
        prose, code, output: lines, at the width that `text_width` gives them.
        matrices: columns and lines of each.
        code_width: columns of the widest line of code.
        widest: columns of the widest line, including what may stand beside the code.
        panel: whether an explanation or the what-if panel is open.
        narrowest: columns that the text needs beside matrices.
        flow: columns and lines of the flow; none if it is not known.
        explained: lines of the explanation that is open, at the width beside the text.
        rows: of each matrix, as far as a row may be several lines high.
    """

    prose: int
    code: int
    output: int
    matrices: tuple[tuple[int, int], ...] = ()
    code_width: int = 0
    widest: int = 0
    panel: bool = False
    narrowest: int = NARROWEST_TEXT
    flow: tuple[int, int] = (0, 0)
    explained: int = 0
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The height of each part in lines; 0 for parts that are not shown."""

    wide: bool
    text_width: int
    prose: int
    code: int
    output: int
    matrices: tuple[int, ...]
    panel: int = 0
    flow: int = 0
    tall: int = 1


def with_gap(lines: int) -> int:
    """Add an empty line below `lines` lines; 0 lines need none."""
    return lines + 1 if lines else 0


def panes(needs: Needs) -> tuple[int, ...]:
    """Return the panes that Tab cycles through: the code, then every matrix."""
    code = (CODE,) if needs.code + needs.output else ()
    return (*code, *range(len(needs.matrices)))


def text_width(width: int, needs: Needs) -> int:
    """Return the columns for prose and code beside matrices, on a screen of `width` columns.

    The text gets no more than it can use, at most half, and beyond its code only what the matrices leave.
    """
    if width < WIDE or not needs.matrices:
        return width if not needs.flow[1] or width < WIDE else min(width, WIDEST_TEXT)
    figures = max(columns for columns, _ in needs.matrices)
    least = max(needs.code_width, needs.narrowest)
    return min(max(least, min(needs.widest, width - figures)), width // 2)


def arrange(width: int, height: int, needs: Needs, active: int = 0) -> Arrangement:
    """Give `height` lines to the parts of a step. `active` is the pane that the learner has chosen."""
    if active not in panes(needs):
        active = 0 if needs.matrices else CODE
    if not needs.panel:
        lay = _wide if width >= WIDE and (needs.matrices or needs.flow[1]) else _narrow
        return lay(width, height, needs, active)
    if width >= WIDE and needs.matrices:
        if needs.explained:
            # The explanation stands below its matrix, beside the text.
            lines = min(max(needs.explained, PANEL), height // 2)
            tall, heights = _tall_matrices(height - lines, needs, active)
            found = _wide(width, height, needs, active)
            return replace(found, matrices=heights, tall=tall, panel=height - sum(heights))
        # The panel goes below everything else, at full width.
        lines = min(PANEL, height // 3)
        return replace(_wide(width, height - lines, needs, active), panel=lines)
    # The panel replaces the prose; all matrices but one, and the code, give way to it.
    lines = needs.matrices[active][1] if active >= 0 else 0
    free = height - needs.code - needs.output - lines
    panel = min(max(needs.prose, min(max(PANEL - 2, free), PANEL + 2)), max(height // 3, height - min(lines, 10)))
    return replace(_below(width, height, panel, needs, active), prose=0, panel=panel)


def _wide(width: int, height: int, needs: Needs, active: int) -> Arrangement:
    prose, code, output = _text(height, needs)
    left = height - prose - code - output
    flow = left if needs.flow[1] and left >= LEAST_FLOW else 0
    columns = text_width(width, needs)
    tall, heights = _tall_matrices(height, needs, active)
    return Arrangement(True, columns, prose, code, output, heights, flow=flow, tall=tall)


def _tall_matrices(height: int, needs: Needs, active: int) -> tuple[int, tuple[int, ...]]:
    """Return the lines of a row, as many as let all matrices fit, and the heights of the matrices."""
    for tall in range(TALLEST, 1, -1):
        sizes = zip(needs.matrices, needs.rows, strict=False)
        stretched = [lines + (tall - 1) * rows for (_, lines), rows in sizes]
        if any(needs.rows) and sum(stretched) + len(stretched) - 1 <= height:
            return tall, stacked(height, stretched, active)
    return 1, _matrices(height, needs, active)


def _narrow(width: int, height: int, needs: Needs, active: int) -> Arrangement:
    wanted = sum(lines for _, lines in needs.matrices)
    if not needs.matrices:
        prose, code, output = _text(height, needs)
        return Arrangement(False, width, prose, code, output, ())
    text = needs.code + needs.output
    if needs.prose + text + wanted <= height:
        heights = _matrices(height - needs.prose - text, needs, active)
        return Arrangement(False, width, needs.prose, needs.code, needs.output, heights)
    prose = min(needs.prose, max(height // 3, height - text - wanted))
    return _below(width, height, prose, needs, active)


def _below(width: int, height: int, prose: int, needs: Needs, active: int) -> Arrangement:
    """Lay out `prose` lines of text and, below them, the chosen pane with whatever fits beside it."""
    below = height - prose
    if active == CODE:
        _, code, output = _text(below, Needs(0, needs.code, needs.output))
        return Arrangement(False, width, prose, code, output, (0,) * len(needs.matrices))
    lines = needs.matrices[active][1]
    code = needs.code if needs.code + min(lines, 10) <= below else 0
    output = needs.output if code and code + needs.output + lines <= below else 0
    return Arrangement(False, width, prose, code, output, _matrices(below - code - output, needs, active))


def _text(height: int, needs: Needs) -> tuple[int, int, int]:
    """Lay out prose, code and output in one column; whatever is too long scrolls, the code first."""
    prose = min(
        needs.prose, height if not needs.code + needs.output else max(height // 3, height - needs.code - needs.output)
    )
    output = min(needs.output, max(height - prose - needs.code, (height - prose) // 3))
    return prose, min(needs.code, height - prose - output), output


def _matrices(height: int, needs: Needs, active: int) -> tuple[int, ...]:
    return stacked(height, [lines for _, lines in needs.matrices], active)


def stacked(height: int, wanted: Sequence[int], active: int) -> tuple[int, ...]:
    """Return the heights of matrices stacked vertically: all if they fit, else the active one and what else fits."""
    if sum(wanted) <= height:
        # Separate them by an empty line if there is room.
        gap = int(sum(wanted) + len(wanted) - 1 <= height)
        return tuple(lines + (gap if index + 1 < len(wanted) else 0) for index, lines in enumerate(wanted))
    active = max(active, 0)
    heights = [0] * len(wanted)
    heights[active] = min(wanted[active], height)
    left = height - heights[active]
    for index, lines in enumerate(wanted):
        if index != active and lines <= left:
            heights[index] = lines
            left -= lines
    return tuple(heights)
