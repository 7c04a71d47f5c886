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
WIDEST_TEXT = 88
"""Columns of prose that has nothing beside it."""

PANEL = 9
"""Lines of an explanation or of the what-if panel, where there is room."""

AROUND_ROWS = 2
"""Lines of the what-if panel beside its rows: its title, and what came of the changes."""

WITH_DIGITS = (0, 1)
"""The forms of matrices that have all digits: with the legend of their colors, and without."""

LARGE = 30
"""Lines from which on matrices stand beside each other where all digits fit, and rows grow."""

TALLEST = 5
"""Lines that a row of a matrix may have where there is room."""

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
        explained: lines of the explanation that is open, at the width beside the text or below it; 0 if none is.
        changeable: rows of the what-if panel that is open; 0 if none is.
        rows: of each matrix, as far as a row may be several lines high.
        forms: columns of each matrix in each of its forms, from all digits to shades; empty if each stands alone.
        digits: whether matrices that do not fit are cut, rather than drawn as shades.
    """

    prose: int
    code: int
    output: int
    matrices: tuple[tuple[int, int], ...] = ()
    code_width: int = 0
    widest: int = 0
    panel: bool = False
    narrowest: int = NARROWEST_TEXT
    explained: int = 0
    changeable: int = 0
    rows: tuple[int, ...] = ()
    forms: tuple[tuple[int, ...], ...] = ()
    digits: bool = False


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
    tall: int = 1
    beside: int = 1
    widths: tuple[int, ...] = ()

    @property
    def figure_lines(self) -> int:
        """The lines of all matrices."""
        starts = range(0, len(self.matrices), self.beside)
        return sum(max(self.matrices[start : start + self.beside]) for start in starts)

    def places(self, ranks: Sequence[int] = ()) -> tuple[tuple[int, int], ...]:
        """Return x and y of each matrix, counted from the first. In a row, those with lower ranks stand to the left."""
        found, y = [(0, 0)] * len(self.matrices), 0
        for start in range(0, len(self.matrices), self.beside):
            row = range(start, min(start + self.beside, len(self.matrices)))
            x = 0
            for index in sorted(row, key=lambda index: ranks[index] if ranks else 0):
                found[index] = x, y
                x += self.widths[index]
            y += max(self.matrices[start : start + self.beside])
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of `beside` matrices: the lines that each row needs, the columns of each matrix, and the form of all.

    The last form has shades in place of digits.
    """

    beside: int
    lines: tuple[int, ...]
    widths: tuple[int, ...] = ()
    form: int = 0
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
    if not needs.matrices:
        return min(width, max(WIDEST_TEXT, needs.code_width))
    if width < WIDE:
        return width
    figures = max(columns for columns, _ in needs.matrices)
    least = max(needs.code_width, needs.narrowest)
    return min(max(least, min(needs.widest, width - figures)), width // 2)


def arrange(width: int, height: int, needs: Needs, active: int = 0) -> Arrangement:
    """Give `height` lines to the parts of a step. `active` is the pane that the learner has chosen."""
    if active not in panes(needs):
        active = 0 if needs.matrices else CODE
    if not needs.panel:
        lay = _wide if width >= WIDE and needs.matrices else _narrow
        return lay(width, height, needs, active)
    if width >= WIDE and needs.matrices:
        if needs.explained:
            # The explanation stands below its matrix, beside the text.
            lines = min(max(needs.explained, PANEL), height // 2)
            found = _wide(width, height, needs, active)
            figures = _figures(width - found.text_width, height - lines, needs, active)
            panel = height - figures.figure_lines
            return replace(
                found,
                matrices=figures.matrices,
                tall=figures.tall,
                beside=figures.beside,
                widths=figures.widths,
                panel=panel,
            )
        # The panel goes below everything else, at full width.
        lines = max(min(PANEL, height // 3), _for_changes(height, needs))
        return replace(_wide(width, height - lines, needs, active), panel=lines)
    lines = needs.matrices[active][1] if active >= 0 else 0
    explained = max(needs.explained, PANEL) if needs.explained else height
    if height >= LARGE and needs.prose + needs.code + needs.output + explained + lines <= height:
        # All of it fits, so the text that asked for the explanation stays.
        return replace(_narrow(width, height - explained, needs, active), panel=explained)
    # The panel replaces the prose; all matrices but one, and the code, give way to it.
    free = height - needs.code - needs.output - lines
    panel = min(max(needs.prose, min(max(PANEL - 2, free), PANEL + 2)), max(height // 3, height - min(lines, 10)))
    panel = max(panel, _for_changes(height, needs))
    return replace(_narrow(width, height, needs, active, panel), prose=0, panel=panel)


def _for_changes(height: int, needs: Needs) -> int:
    """Return the lines of a what-if panel with many rows: no more than 2/5 of a large screen; 0 on a small one."""
    return min(needs.changeable + AROUND_ROWS, height * 2 // 5) if height >= LARGE else 0


def fewest_lines(width: int, needs: Needs) -> int:
    """Return the lines of all matrices where they have digits and as many as possible stand beside each other."""
    return min(sum(rows.lines) for rows in _choices(width, needs) if not rows.shades)


def _wide(width: int, height: int, needs: Needs, active: int) -> Arrangement:
    prose, code, output = _text(height, needs)
    columns = text_width(width, needs)
    figures = _figures(width - columns, height, needs, active)
    return replace(figures, wide=True, text_width=columns, prose=prose, code=code, output=output)


def _figures(width: int, height: int, needs: Needs, active: int) -> Arrangement:
    """Lay out matrices that have `height` lines for themselves: beside each other if all digits fit, and tall."""
    rows = next((rows for rows in _with_all_digits(width, needs) if sum(rows.lines) <= height), None)
    if rows is None:
        return Arrangement(False, width, 0, 0, 0, _matrices(height, needs, active))
    gaps = len(rows.lines) - 1
    tall, rows, needs = _grown(rows, needs, height - sum(rows.lines) - gaps)
    laid = _placed(width, 0, 0, 0, needs, rows, min(gaps, height - sum(rows.lines)), active)
    return replace(laid, tall=tall)


def _with_all_digits(width: int, needs: Needs) -> Iterator[_Rows]:
    """Yield the ways to stand matrices with all of their digits: most beside each other first, then below."""
    choices = [rows for rows in _choices(width, needs) if rows.form in WITH_DIGITS]
    yield from reversed(choices)


def _grown(rows: _Rows, needs: Needs, spare: int) -> tuple[int, _Rows, Needs]:
    """Give each row of the matrices as many of the `spare` lines as there are for all.

    Returns the lines of a row, and the needs of the matrices with such rows.
    """
    starts = range(0, len(needs.matrices), rows.beside)
    highest = [max(needs.rows[start : start + rows.beside], default=0) for start in starts]
    tall = min(TALLEST, 1 + spare // sum(highest)) if sum(highest) and spare > 0 else 1
    more = [(tall - 1) * count for count in needs.rows]
    sizes = tuple((cells, lines + extra) for (cells, lines), extra in zip(needs.matrices, more, strict=False))
    if len(sizes) < len(needs.matrices):
        return 1, rows, needs
    lines = tuple(max(lines for _, lines in sizes[start : start + rows.beside]) for start in starts)
    return tall, replace(rows, lines=lines), replace(needs, matrices=sizes)


def _narrow(width: int, height: int, needs: Needs, active: int, panel: int = 0) -> Arrangement:
    """Lay out text above matrices; a `panel` of so many lines takes the place of the prose."""
    wanted = panel or needs.prose
    text = needs.code + needs.output
    if not needs.matrices:
        prose, code, output = _text(height - panel, replace(needs, prose=0) if panel else needs)
        return Arrangement(False, text_width(width, needs), prose, code, output, ())
    large, gaps = height >= LARGE, int(needs.prose > 0 and not panel) + int(text > 0)
    rows, fits = _rows_for(width, height - wanted - text, needs, gaps, large=large)
    if fits:
        tall = 1
        spare = height - wanted - text - sum(rows.lines)
        if large:
            tall, rows, needs = _grown(rows, needs, spare - len(rows.lines) + 1)
            spare = height - wanted - text - sum(rows.lines)
        # Without room for the empty lines below the text, the lines themselves come first.
        code = needs.code - int(spare < 0 and not needs.output and needs.code > 0)
        output = needs.output - int(spare < 0 and needs.output > 0)
        prose = min(wanted, height - code - output - sum(rows.lines))
        return replace(_placed(width, prose, code, output, needs, rows, max(0, spare), active), tall=tall)
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


def _rows_for(width: int, height: int, needs: Needs, gaps: int, *, large: bool = False) -> tuple[_Rows, bool]:
    """Return the rows of matrices that fit into `height` lines, if need be into `gaps` more, and whether they do.

    Matrices stand below each other if they fit, but beside each other on a `large` screen where all digits fit; digits
    are kept if they fit anyhow. If nothing fits, the rows are the lowest with digits.
    """
    choices = [*(_with_all_digits(width, needs) if large else ()), *_choices(width, needs)]
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
            if shades and (needs.digits or width < SHADES):
                continue
            if all(sum(group) <= width for group in groups):
                heights = tuple(max(lines[start : start + beside]) for start in starts)
                widths = tuple(columns for group in groups for columns in _spread(group, width))
                yield _Rows(beside, heights, widths, form, shades)
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
