"""The drawing of a matrix as a grid of digits: `layout` decides what fits, `draw` returns one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, isnan

from rich.cells import cell_len
from rich.style import Style

from lessons.results.explanation import label
from lessons.results.result import Tensor, Window
from tui.actions.hints import GAP, hint
from tui.drawings.marks import CHANGED, OPERAND, SET, UNMARKED, Marked, sign
from tui.drawings.styled_line import Runs, StyledLine, over
from tui.render.numbers import NumberFormat, exact, number_format, short, truncated, visible
from tui.render.palette import Look, Palette, Scale

TILE = 64
"""Rows and columns of a window that is requested from the worker."""

LABEL_WIDTH = 14
"""The maximum width of a label."""

NOTE_WIDTH = 12
"""The width reserved for the note, so that the legend does not move when the note gets shorter."""

OVERVIEW = GAP + hint("matrix.overview")
"""The hint on how to see all of a matrix that is only partly visible."""

NO_WINDOWS: Mapping[object, Window] = {}


@dataclass(frozen=True, slots=True)
class Face:
    """Everything about a drawing that depends on neither cursor nor size, computed once per tensor.

    Attributes:
        tensor: what is drawn.
        numbers, scale: how its values are written and colored.
        row_labels, col_labels: for every row and column; `..._width` is that of the widest, as far as it is drawn.
        shape: what the header says that the shape is.
        shades: cells are two columns of shade, without digits.
    """

    tensor: Tensor
    numbers: NumberFormat
    scale: Scale
    row_labels: tuple[str, ...]
    col_labels: tuple[str, ...]
    row_label_width: int
    col_label_width: int
    shape: tuple[int, ...]
    shades: bool = False

    @property
    def least_period(self) -> int:
        """The minimum cells per column: a space, the digits, a glyph."""
        return 2 if self.shades else self.numbers.width + 2

    @property
    def wanted_period(self) -> int:
        """The preferred cells per column."""
        return 2 if self.shades else max(self.numbers.width + 3, self.col_label_width + 1)

    @classmethod
    def of(cls, tensor: Tensor, colors: Palette) -> Face:
        """Return the face of a tensor."""
        space = "␣" if colors.unicode else "_"
        rows, cols = tensor.matrix_shape
        dimensions = len(tensor.shape)
        row_labels = _labels(tensor, dimensions - 2, rows, space) if dimensions > 1 else ()
        col_labels = _labels(tensor, dimensions - 1, cols, space) if dimensions else ()
        return cls(
            tensor,
            number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values),
            colors.scale(tensor.kind, tensor.low, tensor.high),
            row_labels,
            col_labels,
            min(LABEL_WIDTH, max(map(cell_len, row_labels), default=0)),
            min(LABEL_WIDTH, max(map(cell_len, col_labels), default=0)),
            tensor.shape,
        )


@dataclass(frozen=True, slots=True)
class GridLayout:
    """Where each part of a tensor is drawn. The y of a line that is not drawn is -1.

    Attributes:
        width, height: of the widget.
        header, lead, labels, first, hint: the y of the header, of the line of the leading axes, of the column labels,
            of the first row and of the line that says how much more there is.
        gutter: cells left of the first column: a space, the row label, a space.
        period: cells that a column takes.
        top, left: the first row and column that are drawn.
        rows, cols: how many are drawn.
    """

    width: int
    height: int
    header: int
    lead: int
    labels: int
    first: int
    hint: int
    gutter: int
    period: int
    top: int
    left: int
    rows: int
    cols: int

    def row_y(self, row: int) -> int:
        """Return the y of a row, -1 if it is not drawn."""
        return self.first + row - self.top if self.top <= row < self.top + self.rows else -1

    def cell_at(self, x: int, y: int) -> tuple[int, int] | None:
        """Return row and column of the cell at x and y, None if there is none."""
        row, col = y - self.first, (x - self.gutter) // self.period
        if 0 <= row < self.rows and 0 <= col < self.cols and y < self.height:
            return self.top + row, self.left + col
        return None


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that a drawing depends on.

    If something other than the tensor's values is drawn, `caption` says what. `keys` are hints to the keys that change
    the drawing.
    """

    face: Face
    layout: GridLayout
    palette: Palette
    lead: tuple[int, ...]
    row: int
    col: int
    note: str = ""
    focused: bool = True
    windows: Mapping[object, Window] = field(default_factory=lambda: NO_WINDOWS)
    caption: str = ""
    marked: Marked = UNMARKED
    keys: tuple[str, ...] = ()


UNIT = "cell"


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
        top=scrolled(top, shown_rows, rows, row),
        left=scrolled(left, shown_cols, cols, col),
        rows=shown_rows,
        cols=shown_cols,
    )


def natural_size(face: Face) -> tuple[int, int]:
    """Return the columns and lines that show everything, not counting the axes in the header."""
    rows, cols = face.tensor.matrix_shape
    grid = face.row_label_width + 2 + cols * face.wanted_period + 1
    parts = [title(face), *([text] if (text := _legend_text(face)) else [])]
    header = 2 + sum(map(cell_len, parts)) + 3 * (len(parts) - 1)
    lines = 1 + bool(face.tensor.lead_shape) + bool(face.tensor.shape) + rows
    return max(grid, header), lines


def lines(scene: Scene) -> int:
    """Return the number of lines of numbers, visible or not."""
    return scene.face.tensor.matrix_shape[0]


def step(tensor: Tensor, row: int, col: int, down: int, right: int) -> tuple[int, int]:
    """Return the cell that arrow keys lead to; it may lie outside of the matrix."""
    return row + down, col + right


def cell_at(scene: Scene, x: int, y: int) -> tuple[int, int] | None:
    """Return row and column of the cell at x and y, None if there is none."""
    return scene.layout.cell_at(x, y)


def cursor_at(scene: Scene) -> tuple[int, int]:
    """Return x and y of the first digit under the cursor."""
    layout = scene.layout
    # One cell is for the mark before the digits; the rest of the column is in front of it.
    x = layout.gutter + (scene.col - layout.left + 1) * layout.period - scene.face.numbers.width - 1
    return x, layout.row_y(scene.row)


def draw(scene: Scene, y: int) -> Runs:
    """Return one line of the drawing, exactly as wide as the layout."""
    layout = scene.layout
    line = StyledLine()
    if y == layout.header:
        face = scene.face
        draw_header(scene, line, [*_axes_text(face.tensor), *_axes_short(face)], _legend(face))
    elif y == layout.lead:
        draw_lead(scene, line)
    elif y == layout.labels:
        _draw_labels(scene, line)
    elif y == layout.hint:
        _draw_hint(scene, line)
    elif layout.first <= y < layout.first + layout.rows:
        _draw_row(scene, line, layout.top + y - layout.first)
    return line.runs(layout.width)


def values_of(scene: Scene, row: int) -> Sequence[float | None]:
    """Return the visible values of a row, None for those that have not arrived."""
    layout = scene.layout
    left, right = layout.left, layout.left + layout.cols
    if (known := scene.face.tensor.row(scene.lead, row, left, right)) is not None:
        return known
    values: list[float | None] = [None] * layout.cols
    first = [scene.face.tensor.window] if scene.face.tensor.window else []
    for window in (*first, *scene.windows.values()):
        if window.lead == scene.lead and 0 <= row - window.top < len(window.rows):
            part = window.rows[row - window.top]
            start, end = max(left, window.left), min(right, window.left + len(part))
            if start < end:
                values[start - left : end - left] = part[start - window.left : end - window.left]
    return values


def tiles_missing(scene: Scene) -> list[tuple[int, int, int, int]]:
    """Return the tiles (top, left, height, width) that contain visible values which have not arrived."""
    rows, cols = scene.face.tensor.matrix_shape
    layout = scene.layout
    if scene.face.tensor.values is not None:
        return []
    tiles: dict[tuple[int, int, int, int], None] = {}
    for row in range(layout.top, layout.top + layout.rows):
        top = row - row % TILE
        for offset, value in enumerate(values_of(scene, row)):
            if value is None:
                left = (layout.left + offset) // TILE * TILE
                tiles[top, left, min(TILE, rows - top), min(TILE, cols - left)] = None
    return list(tiles)


def value_at(scene: Scene) -> float | None:
    """Return the value under the cursor, None if it has not arrived."""
    return values_of(scene, scene.row)[scene.col - scene.layout.left]


def index_of(tensor: Tensor, lead: tuple[int, ...], row: int, col: int) -> tuple[int, ...]:
    """Return the full index of a cell, one number per dimension of the tensor."""
    return (*lead, row, col)[-len(tensor.shape) :] if tensor.shape else ()


def describe(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """Describe a cell, with its exact value."""
    tensor = face.tensor
    parts = [equation(face, lead, row, col, value)]
    if len(tensor.shape) > 1:
        parts.append("row: " + index_name(tensor, len(lead), face.row_labels[row], row))
    if tensor.shape:
        parts.append("column: " + index_name(tensor, len(tensor.shape) - 1, face.col_labels[col], col))
    return "   ".join(parts)


def equation(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """Return a cell as Python would write it, with its exact value."""
    tensor = face.tensor
    shown = exact(value, tensor.dtype) if value is not None else ("…" if face.scale.palette.unicode else "...")
    return f"{label(visible(tensor.name), index_of(tensor, lead, row, col))} = {shown}"


def draw_header(
    scene: Scene, line: StyledLine, axes: Sequence[str], legend: Sequence[tuple[str, Style | None]] = ()
) -> None:
    """Draw the header: name, shape, the longest description of the axes that fits, legend, and note."""
    face, layout, colors = scene.face, scene.layout, scene.palette
    name, shape = visible(face.tensor.name), _shape(face)
    more = [scene.caption] if scene.caption else []
    if scene.lead and layout.lead < 0:
        more.append(_lead_text(face.tensor, scene.lead))
    note = scene.note
    room = layout.width - 1

    def width(left: str, with_legend: bool, with_note: bool) -> int:
        parts = [left]
        if with_legend and legend:
            parts.append("".join(text for text, _ in legend))
        if with_note and note:
            parts.append(note.ljust(NOTE_WIDTH))
        return cell_len(name) + sum(map(cell_len, parts)) + 3 * (len(parts) - 1)

    choices = (
        *(("  ".join(["", shape, *more, text]), True, True) for text in axes),
        ("  ".join(["", shape, *more]), True, True),
        ("  ".join(["", shape, *more]), False, True),
        ("  ".join(["", *more]), False, True),
        ("  ".join(["", shape, *more]), False, False),
        ("  ".join(["", *more]), False, False),
    )
    left, with_legend, with_note = next((choice for choice in choices if width(*choice) <= room), choices[-1])
    line.add(" ")
    line.add(truncated(name, max(1, room - cell_len(left)), ellipsis(colors)), colors.name)
    line.add(left)
    right = StyledLine()
    if with_legend:
        for text, style in legend:
            right.add(text, style)
    if with_note and note:
        right.add(("   " if right.width else "") + note.ljust(NOTE_WIDTH))
    line.pad_to(layout.width - right.width)
    for text, style in right.runs(right.width):
        line.add(text, style)


def draw_lead(scene: Scene, line: StyledLine) -> None:
    """Draw the line of the leading indices, with the keys that change them."""
    tensor, colors = scene.face.tensor, scene.palette
    line.add(" " + _lead_text(tensor, scene.lead), colors.name)
    keys = []
    if tensor.lead_shape[-1] > 1:
        keys.append(hint("matrix.head", axis_name(tensor, len(scene.lead) - 1) or "axis"))
    if len(scene.lead) > 1 and tensor.lead_shape[0] > 1:
        keys.append(hint("matrix.batch", axis_name(tensor, 0) or "axis"))
    keys += scene.keys
    while keys and line.width + 3 + cell_len("  ".join(keys)) >= scene.layout.width:
        keys.pop()
    if keys:
        line.add("   " + "  ".join(keys), colors.muted)


def _draw_labels(scene: Scene, line: StyledLine) -> None:
    face, layout, colors = scene.face, scene.layout, scene.palette
    if face.shades:
        _draw_ticks(scene, line)
        return
    cols = face.tensor.matrix_shape[1]
    before, after = ("‹", "›") if colors.unicode else ("<", ">")
    line.pad_to(layout.gutter - 1)
    line.add(before if layout.left else " ")
    for col in range(layout.left, layout.left + layout.cols):
        label = truncated(face.col_labels[col], layout.period - 1, ellipsis(colors))
        line.add(" " * (layout.period - 1 - cell_len(label)))
        line.add(label, colors.current if col == scene.col else None)
        line.add(" ")
    if layout.left + layout.cols < cols:
        line.add_last(after, layout.width)


def _draw_row(scene: Scene, line: StyledLine, row: int) -> None:
    face, layout, colors = scene.face, scene.layout, scene.palette
    current = row == scene.row
    label = truncated(face.row_labels[row], layout.gutter - 2, ellipsis(colors)) if face.row_labels else ""
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


def _draw_shades(
    scene: Scene, line: StyledLine, row: int, values: Sequence[float | None], marks: Sequence[int]
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


def _draw_ticks(scene: Scene, line: StyledLine) -> None:
    """Draw labels above columns of shade, which are narrower than their labels: the cursor's label and some others."""
    face, layout, colors = scene.face, scene.layout, scene.palette
    every = -(-(face.col_label_width + 1) // layout.period)
    columns = range(layout.left, layout.left + layout.cols)
    labels = {col: truncated(face.col_labels[col], LABEL_WIDTH, ellipsis(colors)) for col in columns}
    start, end = _span(layout, scene.col, labels[scene.col])
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


def _draw_hint(scene: Scene, line: StyledLine) -> None:
    layout = scene.layout
    rows, cols = scene.face.tensor.matrix_shape
    hidden = (
        (layout.top, "above", "↑", "^"),
        (rows - layout.top - layout.rows, "below", "↓", "v"),
        (layout.left, "left", "←", "<"),
        (cols - layout.left - layout.cols, "right", "→", ">"),
    )
    text = "  ".join(f"+{count} {where}" for count, where, _, _ in hidden if count)
    start = min(layout.gutter + layout.period - 1 - scene.face.numbers.width, layout.width - cell_len(text))
    if start < 1:
        sign = 2 if scene.palette.unicode else 3
        text = " ".join(f"{side[sign]}{side[0]}" for side in hidden if side[0])
        start = 1
    elif start + cell_len(text + OVERVIEW) < layout.width:
        text += OVERVIEW
    line.pad_to(start)
    line.add(text, scene.palette.muted)


def marked_style(look: Look, senses: int, colors: Palette) -> Style | None:
    """Return the style of a marked cell, which is that of the cell itself if it has no marks."""
    style = look.style
    for sense, mark in ((OPERAND, colors.operand), (CHANGED, colors.changed), (SET, colors.set)):
        if senses & sense:
            style = over(style, mark)
    return style


def mark_style(look: Look, colors: Palette) -> Style | None:
    """Return the style of the marks beside the digits: the cursor's color on the background of the cell."""
    if not colors.colored:
        return None
    return _on(colors.cursor, look.style)


@lru_cache(maxsize=64)
def background(style: Style | None) -> Style | None:
    """Reduce a style to its background, which is all that spaces need: half as many bytes."""
    return Style(bgcolor=style.bgcolor) if style and style.bgcolor else None


@lru_cache(maxsize=64)
def _on(cursor: Style, cell: Style | None) -> Style:
    return Style(color=cursor.bgcolor, bgcolor=cell.bgcolor if cell else None)


def _column_widths(face: Face, width: int, cols: int) -> tuple[int, int]:
    """Return the cells that a column takes, and the cells to the left of the first column."""
    least, wanted = face.least_period, face.wanted_period
    label = face.row_label_width
    if label:
        label = min(label, max(3, width // 4))
        if 4 <= width - 2 - cols * least < label:
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


def _labels(tensor: Tensor, axis: int, size: int, space: str) -> tuple[str, ...]:
    given = tensor.labels[axis] if axis < len(tensor.labels) else ()
    return tuple(visible(given[index], space) if index < len(given) else str(index) for index in range(size))


def axis_name(tensor: Tensor, axis: int) -> str:
    """Return the name of an axis, "" if it has none."""
    return visible(tensor.axes[axis]) if 0 <= axis < len(tensor.axes) else ""


def index_name(tensor: Tensor, axis: int, label: str, index: int) -> str:
    """Describe an index along an axis."""
    where = f"{axis_name(tensor, axis)} {index}".strip()
    return where if label == str(index) else f"{label} ({where})"


def _axes_text(tensor: Tensor) -> list[str]:
    dimensions = len(tensor.shape)
    names = [("rows", axis_name(tensor, dimensions - 2))] if dimensions > 1 else []
    if dimensions:
        names.append(("columns", axis_name(tensor, dimensions - 1)))
    text = "  ".join(f"{side}: {name}" for side, name in names if name)
    return [" " + text] if text else []


def _axes_short(face: Face) -> list[str]:
    names = [axis_name(face.tensor, axis) for axis in range(len(face.tensor.shape))][-2:]
    return [times(face.scale.palette).join(names)] if all(names) else []


def _lead_text(tensor: Tensor, lead: tuple[int, ...]) -> str:
    sizes = zip(lead, tensor.lead_shape, strict=True)
    return "  ".join(f"{axis_name(tensor, axis) or 'axis'} {at} of {size}" for axis, (at, size) in enumerate(sizes))


def _shape(face: Face) -> str:
    return times(face.scale.palette).join(map(str, face.shape)) or "scalar"


def title(face: Face) -> str:
    """Return name and shape."""
    return f"{visible(face.tensor.name)}  {_shape(face)}"


def _legend(face: Face) -> list[tuple[str, Style | None]]:
    """Return the lower bound, the looks between the bounds, and the upper bound."""
    scale, tensor = face.scale, face.tensor
    if tensor.low is None or tensor.high is None:
        return []
    looks = scale.swatches()
    if scale.kind == "mask":
        bounds = dict.fromkeys((tensor.low, tensor.high))
        runs: list[tuple[str, Style | None]] = []
        for bound, look in zip(bounds, looks, strict=True):
            runs += [("  " if runs else "", None), (f" {short(bound, tensor.dtype)}{look.glyph}", look.style)]
        return runs
    swatches = [(look.glyph, look.style) for look in looks]
    if tensor.low == tensor.high:
        return [(short(tensor.low, tensor.dtype) + " ", None), *swatches]
    high = " " + short(tensor.high, tensor.dtype) + (" log" if scale.least is not None else "")
    return [(short(tensor.low, tensor.dtype) + " ", None), *swatches, (high, None)]


def _legend_text(face: Face) -> str:
    return "".join(text for text, _ in _legend(face))


def ellipsis(colors: Palette) -> str:
    """Return the character for omitted text."""
    return "…" if colors.unicode else "~"


def times(colors: Palette) -> str:
    """Return the sign between sizes."""
    return "×" if colors.unicode else "x"


def dot(colors: Palette) -> str:
    """Return the placeholder for a number that has not arrived."""
    return "·" if colors.unicode else "."
