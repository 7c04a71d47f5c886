"""The drawing of a matrix as a grid of digits: `layout` decides what fits, `draw` returns one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isinf, isnan

from rich.cells import cell_len

from attn_tutor.lessons.render.numbers import fewer_digits, truncated
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import GAP, hint
from attn_tutor.tui.drawings.drawing_scene import LABEL_WIDTH, DrawingScene, Face, GridLayout, values_of
from attn_tutor.tui.drawings.marks import background, dot, ellipsis, mark_style, marked_style, sign
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine
from attn_tutor.tui.drawings.tensor_words import (
    axes_short,
    axes_text,
    describe,
    draw_header,
    draw_lead,
    hidden_lines,
    legend_runs,
    legend_text,
    title,
)

__all__ = ["cell_at", "cursor_at", "describe", "draw", "layout", "lines", "natural_size", "step", "unit"]

say = Wording("matrix/grid")

SHADES = " ░▒▓█.:*#@·■"
"""Glyphs that can fill a cell. An alarm stands once, beside its digits."""


def layout(
    face: Face, width: int, height: int, row: int, col: int, top: int = 0, left: int = 0, at: tuple[int, ...] = ()
) -> GridLayout:
    """Lay the matrix out in `width` by `height` cells so that the cursor is visible.

    `top` and `left` are the first row and column of the previous layout. The leading indices `at` matter to other
    drawings only. What does not fit gives way in this order: row labels get shorter, columns get narrower, then rows
    and columns are left out. If there are only a few lines, the least helpful ones are dropped.
    """
    rows, cols = face.tensor.matrix_shape
    period, gutter = _column_widths(face, width, cols)
    shown_cols = max(1, min(cols, (width - gutter) // period))

    y = 0
    header = lead = labels = hint = -1
    if height >= 2:
        header, y = y, y + 1
    if face.tensor.lead_shape and height >= 5:
        lead, y = y, y + 1
    if face.tensor.shape and height >= 3:
        labels, y = y, y + 1
    shown_rows = max(1, min(rows, height - y))
    if (shown_rows < rows or shown_cols < cols) and height >= 7:
        shown_rows = min(rows, height - y - 1)
        hint = y + shown_rows
    everything = shown_rows == rows and shown_cols == cols and not face.shades
    top, left = scrolled(top, shown_rows, rows, row), scrolled(left, shown_cols, cols, col)
    return GridLayout(
        width=width,
        height=height,
        header=header,
        lead=lead,
        labels=labels,
        first=y,
        hint=hint,
        gutter=gutter,
        period=period,
        top=top,
        left=left,
        rows=shown_rows,
        cols=shown_cols,
        tall=face.tall if everything and y + rows * face.tall <= height else 1,
        rows_named=_differ_when_cut(face.row_labels[top : top + shown_rows], gutter - 2),
        cols_named=_differ_when_cut(face.col_labels[left : left + shown_cols], period - 1),
    )


def _differ_when_cut(labels: Sequence[str], width: int) -> bool:
    """Return whether labels that differ still do so when they are cut to this width."""
    return len({truncated(label, width) for label in labels}) == len(set(labels))


def natural_size(face: Face) -> tuple[int, int]:
    """Return the columns and lines that show everything, not counting the axes in the header."""
    rows, cols = face.tensor.matrix_shape
    grid = face.row_label_width + 2 + cols * face.wanted_period + 1
    parts = [title(face), *([text] if (text := legend_text(face)) else [])]
    header = 2 + sum(map(cell_len, parts)) + 3 * (len(parts) - 1)
    lines = 1 + bool(face.tensor.lead_shape) + bool(face.tensor.shape) + rows
    return max(grid, header), lines


def forms(face: Face) -> tuple[tuple[Face, int], ...]:
    """Return a face in forms that need less and less room, each with the columns that show all of the matrix.

    The last form has shades in place of digits, the others have fewer digits.
    """
    numbers, tensor = face.numbers, face.tensor
    infinite = any(map(isinf, tensor.values or ()))
    two, tight = fewer_digits(numbers, tensor.low, tensor.high, infinite=infinite)
    faces = (
        face,
        replace(face, numbers=two),
        replace(face, numbers=tight),
        replace(face, numbers=tight, least_label=2),
        replace(face, shades=True, numbers=replace(numbers, width=1)),
    )
    cols = tensor.matrix_shape[1]

    def columns(form: Face) -> int:
        label = min(face.row_label_width, form.least_label if not form.shades else 8)
        return (label + 2 if label else 1) + cols * form.least_period

    return tuple((form, columns(form)) for form in faces)


def form_at(face: Face, width: int, shades: bool) -> Face:
    """Return the form that shows all of the matrix in `width` columns with the most digits.

    If none does, or only one in shades where these are not wanted, the face stays as it is, and scrolls.
    """
    if cols_fit(face, width):
        return face
    return next((form for form, columns in forms(face) if columns <= width and (shades or not form.shades)), face)


def cols_fit(face: Face, width: int) -> bool:
    """Return whether all columns of a matrix fit into `width` cells."""
    cols = face.tensor.matrix_shape[1]
    period, gutter = _column_widths(face, width, cols)
    return gutter + cols * period <= width


def unit() -> str:
    """Return what the cursor stands on."""
    return say("unit", "cell")


def lines(scene: DrawingScene) -> int:
    """Return the number of lines of numbers, visible or not."""
    return scene.face.tensor.matrix_shape[0]


def step(tensor: Tensor, row: int, col: int, down: int, right: int) -> tuple[int, int]:
    """Return the cell that arrow keys lead to; it may lie outside of the matrix."""
    return row + down, col + right


def cell_at(scene: DrawingScene, x: int, y: int) -> tuple[int, int] | None:
    """Return row and column of the cell at x and y, None if there is none."""
    return scene.layout.cell_at(x, y)


def cursor_at(scene: DrawingScene) -> tuple[int, int]:
    """Return x and y of the first digit under the cursor."""
    layout = scene.layout
    # One cell is for the mark before the digits; the rest of the column is in front of it.
    x = layout.gutter + (scene.col - layout.left + 1) * layout.period - scene.face.numbers.width - 1
    return x, layout.row_y(scene.row)


def draw(scene: DrawingScene, y: int) -> Runs:
    """Return one line of the drawing, exactly as wide as the layout."""
    layout = scene.layout
    line = StyledLine()
    if y == layout.header:
        face = scene.face
        draw_header(scene, line, [*axes_text(face.tensor), *axes_short(face)], legend_runs(face))
    elif y == layout.lead:
        draw_lead(scene, line)
    elif y == layout.labels:
        _draw_labels(scene, line)
    elif y == layout.hint:
        _draw_hint(scene, line)
    elif layout.first <= y < layout.first + layout.rows * layout.tall:
        row = layout.top + (y - layout.first) // layout.tall
        (_draw_row if y == layout.row_y(row) else _draw_filling)(scene, line, row)
    return line.runs(layout.width)


def _draw_labels(scene: DrawingScene, line: StyledLine) -> None:
    face, layout, colors = scene.face, scene.layout, scene.palette
    if face.shades:
        _draw_ticks(scene, line)
        return
    cols = face.tensor.matrix_shape[1]
    before, after = ("‹", "›") if colors.unicode else ("<", ">")
    line.pad_to(layout.gutter - 1)
    line.add(before if layout.left else " ")
    for col in range(layout.left, layout.left + layout.cols):
        label = truncated(face.col_labels[col] if layout.cols_named else str(col), layout.period - 1, ellipsis(colors))
        line.add(" " * (layout.period - 1 - cell_len(label)))
        line.add(label, colors.current if col == scene.col else None)
        line.add(" ")
    if layout.left + layout.cols < cols:
        line.add_last(after, layout.width)


def _draw_row(scene: DrawingScene, line: StyledLine, row: int) -> None:
    face, layout, colors = scene.face, scene.layout, scene.palette
    current = row == scene.row
    name = (face.row_labels[row] if layout.rows_named else str(row)) if face.row_labels else ""
    label = truncated(name, layout.gutter - 2, ellipsis(colors))
    line.add(" " * (layout.gutter - 1 - cell_len(label)))
    line.add(label, colors.current if current else None)
    line.add(" ")
    values = values_of(scene, row)
    marks = scene.marked.row(scene.lead, row, layout.left, len(values)) or [0] * len(values)
    if face.shades:
        _draw_shades(scene, line, row, values, marks)
        return
    before, after = ("▐", "▌") if colors.unicode else ("[", "]")
    margin = " " * (layout.period - face.numbers.width - 1)
    for offset, (value, senses) in enumerate(zip(values, marks, strict=True)):
        look = face.scale.look(value)
        digits = face.numbers.text(value) if value is not None else dot(colors).rjust(face.numbers.width)
        if not (current and layout.left + offset == scene.col):
            if not senses:
                line.add(margin + digits + look.glyph, look.style)
                continue
            # The sign replaces the last space, so that nothing moves.
            before_digits = sign(senses, colors.unicode) if margin else ""
            line.add(margin[:-1], look.style)
            line.add(before_digits + digits, marked_style(look, senses, colors))
            line.add(look.glyph, look.style)
            continue
        mark = mark_style(look, colors)
        line.add(margin[:-1], look.style)
        if senses:
            line.add(sign(senses, colors.unicode), marked_style(look, senses, colors))
        else:
            line.add(before, mark)
        line.add(digits, colors.cursor if scene.focused else look.style)
        line.add(after, mark)


def _draw_filling(scene: DrawingScene, line: StyledLine, row: int) -> None:
    """Draw a line of a tall row that has no digits: each cell in its color or shade."""
    layout = scene.layout
    line.pad_to(layout.gutter)
    for value in values_of(scene, row):
        look = scene.face.scale.look(value)
        glyph = look.glyph if look.glyph in SHADES else " "
        if scene.palette.colored:
            line.add(" " * layout.period, background(look.style))
        else:
            line.add(" " + glyph * (layout.period - 1), look.style)


def _draw_shades(
    scene: DrawingScene, line: StyledLine, row: int, values: Sequence[float | None], marks: Sequence[int]
) -> None:
    """Draw the cells of a row as two columns each: shade, or sign and shade."""
    layout, colors = scene.layout, scene.palette
    for offset, (value, senses) in enumerate(zip(values, marks, strict=True)):
        look = scene.face.scale.look(value)
        style = marked_style(look, senses, colors)
        if row == scene.row and layout.left + offset == scene.col:
            line.add(sign(senses, colors.unicode) if senses else "[", colors.cursor if scene.focused else style)
            line.add("]", colors.cursor if scene.focused else style)
        elif senses:
            line.add(sign(senses, colors.unicode) + look.glyph, style)
        elif value is None:
            line.add(dot(colors) + " ", style)
        elif isnan(value) or value == inf:
            line.add("!!", style)
        else:
            # Do not rely on color alone for the sign.
            below = value < 0 and scene.face.scale.kind == "vector" and (colors.colored or look.glyph != " ")
            text = ("-" if below else look.glyph) + look.glyph
            line.add(text, background(style) if text == "  " else style)


def _draw_ticks(scene: DrawingScene, line: StyledLine) -> None:
    """Draw labels above columns of shade, which are narrower than their labels: the cursor's label and some others."""
    face, layout, colors = scene.face, scene.layout, scene.palette
    every = -(-(face.col_label_width + 1) // layout.period)
    columns = range(layout.left, layout.left + layout.cols)
    labels = {col: truncated(face.col_labels[col], LABEL_WIDTH, ellipsis(colors)) for col in columns}
    # Without a cursor, no label takes precedence.
    start, end = _span(layout, scene.col, labels[scene.col]) if scene.col in labels else (0, 0)
    for col in columns:
        x, past = _span(layout, col, labels[col])
        current = col == scene.col
        if current or (col % every == 0 and line.width < x and past <= layout.width and (past < start or x > end)):
            line.pad_to(x)
            line.add(labels[col], colors.current if current else None)


def _span(layout: GridLayout, col: int, label: str) -> tuple[int, int]:
    """Return where the label of a column begins and ends: above the column, or further left at the right edge."""
    width = cell_len(label)
    x = max(0, min(layout.gutter + (col - layout.left) * layout.period, layout.width - width))
    return x, x + width


def _draw_hint(scene: DrawingScene, line: StyledLine) -> None:
    layout = scene.layout
    rows, cols = scene.face.tensor.matrix_shape
    above, below = layout.top, rows - layout.top - layout.rows
    left, right = layout.left, cols - layout.left - layout.cols
    parts = [hidden_lines(above, below)]
    if left:
        parts.append(say("left", "+{count} left", count=left))
    if right:
        parts.append(say("right", "+{count} right", count=right))
    text = "  ".join(filter(None, parts))
    start = min(layout.gutter + layout.period - 1 - scene.face.numbers.width, layout.width - cell_len(text))
    if start < 1:
        arrows = "↑↓←→" if scene.palette.unicode else "^v<>"
        hidden = zip(arrows, (above, below, left, right), strict=True)
        text = " ".join(f"{arrow}{count}" for arrow, count in hidden if count)
        start = 1
    elif start + cell_len(text + (overview := GAP + hint("matrix.overview"))) < layout.width:
        text += overview
    line.pad_to(start)
    line.add(text, scene.palette.muted)


def _column_widths(face: Face, width: int, cols: int) -> tuple[int, int]:
    """Return the cells that a column takes, and the cells to the left of the first column."""
    least, wanted = face.least_period, face.wanted_period
    label = face.row_label_width
    if label:
        label = min(label, max(3, width // 4))
        if face.least_label <= width - 2 - cols * least < label:
            label = width - 2 - cols * least
        label = max(0, min(label, width - 2 - least))
    gutter = label + 2 if label else 1
    period = min(wanted, (width - gutter) // cols)
    if period < least:
        # If not all columns fit, the labels of those that do should be readable.
        period = max(least, min(face.col_label_width, 5) + 1)
    return max(1, min(period, max(least, width - gutter))), gutter


def scrolled(start: int, shown: int, size: int, cursor: int) -> int:
    """Return the first of `shown` visible rows: unchanged if the cursor is visible, otherwise half a page further.

    Scrolling row by row would send the whole drawing again for every key.
    """
    if not start <= cursor < start + shown:
        start = cursor - shown // 2
    return max(0, min(size - shown, start))
