"""The layout of a step on a screen of a given size: prose, code, output, matrices.

Everything is shown at once if it fits: matrices below each other, or else beside each other, with fewer digits. What
does not fit is shown in part and scrolls; the pane that was chosen with Tab gets the most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

TALL = 16
"""From this many lines on, some code is shown above the matrices."""

CODE_LINES = 5
"""Lines of code that are shown there at least, with the one that says how many more there are."""

FEWEST = 3
"""Lines of a matrix that is worth showing in part: its heading, the names of its columns, one row."""

SHADES = 60
"""From this many columns on, matrices without digits are worth standing beside each other."""

ROWS = 6
"""Lines that a matrix gets at least if it is shown in part below all of the text."""


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
        forms: columns of each matrix in each of its forms, from all digits to shades; empty if each stands alone.
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
    forms: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The height of each part in lines; 0 for parts that are not shown.

    `beside` matrices stand beside each other; then `widths` are their columns.
    """

    wide: bool
    text_width: int
    prose: int
    code: int
    output: int
    matrices: tuple[int, ...]
    panel: int = 0
    flow: int = 0
    tall: int = 1
    beside: int = 1
    widths: tuple[int, ...] = ()

    def places(self) -> tuple[tuple[int, int], ...]:
        """Return x and y of each matrix, counted from the first."""
        found, y = [], 0
        for start in range(0, len(self.matrices), self.beside):
            row = slice(start, start + self.beside)
            found += [(sum(self.widths[start:index]), y) for index, _ in enumerate(self.matrices[row], start)]
            y += max(self.matrices[row])
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of `beside` matrices: the lines that each row needs, and the columns of each matrix."""

    beside: int
    lines: tuple[int, ...]
    widths: tuple[int, ...] = ()
    shades: bool = False


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
    return replace(_narrow(width, height, needs, active, panel), prose=0, panel=panel)


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


def _narrow(width: int, height: int, needs: Needs, active: int, panel: int = 0) -> Arrangement:
    """Lay out text above matrices; a `panel` of so many lines takes the place of the prose."""
    wanted = panel or needs.prose
    text = needs.code + needs.output
    if not needs.matrices:
        prose, code, output = _text(height - panel, replace(needs, prose=0) if panel else needs)
        return Arrangement(False, width, prose, code, output, ())
    rows, fits = _rows_for(width, height - wanted - text, needs, int(needs.prose > 0 and not panel) + int(text > 0))
    if fits:
        spare = height - wanted - text - sum(rows.lines)
        # Without room for the empty lines below the text, the lines themselves come first.
        code = needs.code - int(spare < 0 and not needs.output and needs.code > 0)
        output = needs.output - int(spare < 0 and needs.output > 0)
        prose = min(wanted, height - code - output - sum(rows.lines))
        return _placed(width, prose, code, output, needs, rows, max(0, spare), active)
    least_prose = panel or min(needs.prose, max(height // 3, 1))
    if active == CODE:
        figures = height - least_prose - min(text, height - least_prose)
    else:
        least_text = min(text, CODE_LINES) if height >= TALL and not panel else 0
        most = max(min(ROWS, height - least_prose), height - least_prose - least_text)
        rows, fits = _rows_for(width, most, needs, 0)
        figures = sum(rows.lines) if fits else min(most, max(height // 3, ROWS, height - wanted - text))
        if not least_text and not fits:
            figures = most
    figures = figures if figures >= FEWEST or active != CODE else 0
    below = min(text, height - least_prose - figures)
    if active != CODE and below < min(text, 2):
        below = 0
    prose = panel or min(wanted, height - figures - below)
    below = min(text, height - prose - figures)
    if active != CODE and below < min(text, 2):
        below = 0
    _, code, output = _text(below, Needs(0, needs.code, needs.output))
    left = height - prose - code - output
    rows, _ = _rows_for(width, left, needs, 0)
    return _placed(width, prose, code, output, needs, rows, left - sum(rows.lines), active)


def _placed(
    width: int, prose: int, code: int, output: int, needs: Needs, rows: _Rows, spare: int, active: int
) -> Arrangement:
    """Return the arrangement of text and of `rows`, which have `spare` lines more than they need, or fewer."""
    chosen = max(active, 0) // rows.beside
    per_row = stacked(sum(rows.lines) + spare, rows.lines, chosen, in_part=True)
    heights = []
    for index, (_, lines) in enumerate(needs.matrices):
        row = per_row[index // rows.beside]
        last = index // rows.beside + 1 == len(per_row)
        # The empty line below a row is part of its highest matrix.
        heights.append(min(row, lines + (0 if last else max(0, row - rows.lines[index // rows.beside]))))
    return Arrangement(False, width, prose, code, output, tuple(heights), beside=rows.beside, widths=rows.widths)


def _rows_for(width: int, height: int, needs: Needs, gaps: int) -> tuple[_Rows, bool]:
    """Return the rows of matrices that fit into `height` lines, if need be into `gaps` more, and whether they do.

    Matrices stand below each other if they fit; digits are kept if they fit anyhow. If nothing fits, the rows are the
    lowest with digits.
    """
    choices = list(_choices(width, needs))
    for shades in (False, True):
        for extra in (0, gaps):
            for rows in choices:
                if rows.shades == shades and sum(rows.lines) <= height + extra:
                    return rows, True
    return min((rows for rows in choices if not rows.shades), key=lambda rows: sum(rows.lines)), False


def _choices(width: int, needs: Needs) -> Iterator[_Rows]:
    """Yield the ways to stand matrices below and beside each other."""
    lines = [lines for _, lines in needs.matrices]
    yield _Rows(1, tuple(lines))
    if not needs.forms:
        return
    for beside in range(2, len(lines) + 1):
        for form in range(len(needs.forms[0])):
            starts = range(0, len(lines), beside)
            groups = [[forms[form] for forms in needs.forms[start : start + beside]] for start in starts]
            shades = form + 1 == len(needs.forms[0])
            if all(sum(group) <= width for group in groups) and (width >= SHADES or not shades):
                heights = tuple(max(lines[start : start + beside]) for start in starts)
                widths = tuple(columns for group in groups for columns in _spread(group, width))
                yield _Rows(beside, heights, widths, shades)
                break


def _spread(columns: Sequence[int], width: int) -> list[int]:
    """Widen columns evenly to `width`; the last gets the rest."""
    more, rest = divmod(width - sum(columns), len(columns))
    return [*(each + more for each in columns[:-1]), columns[-1] + more + rest]


def _text(height: int, needs: Needs) -> tuple[int, int, int]:
    """Lay out prose, code and output in one column; whatever is too long scrolls, the code first."""
    prose = min(
        needs.prose, height if not needs.code + needs.output else max(height // 3, height - needs.code - needs.output)
    )
    output = min(needs.output, max(height - prose - needs.code, (height - prose) // 3))
    return prose, min(needs.code, height - prose - output), output


def _matrices(height: int, needs: Needs, active: int) -> tuple[int, ...]:
    return stacked(height, [lines for _, lines in needs.matrices], active)


def stacked(height: int, wanted: Sequence[int], active: int, *, in_part: bool = False) -> tuple[int, ...]:
    """Return the heights of matrices stacked vertically: all if they fit, else the active one and what else fits.

    With `in_part`, what does not fit is cut rather than left out, if a row of it can be seen.
    """
    if sum(wanted) <= height:
        # Separate them by an empty line if there is room.
        gap = int(sum(wanted) + len(wanted) - 1 <= height)
        return tuple(lines + (gap if index + 1 < len(wanted) else 0) for index, lines in enumerate(wanted))
    active = max(active, 0)
    heights = [0] * len(wanted)
    heights[active] = min(wanted[active], height)
    left = height - heights[active]
    for index, lines in enumerate(wanted):
        if index != active and (min(lines, FEWEST) if in_part else lines) <= left:
            heights[index] = min(lines, left)
            left -= heights[index]
    return tuple(heights)
