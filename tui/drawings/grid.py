"""The picture of a matrix, made by pure functions: `layout` decides what fits, `draw` gives one line of it."""

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
"""Rows and columns of a window that is asked for."""

LABEL_WIDTH = 14
"""A label is not drawn wider than this."""

NOTE_WIDTH = 12
"""Room that is kept for the note, so that the legend stays where it is when the note gets shorter."""

OVERVIEW = GAP + hint("matrix.overview")
"""What to do about a matrix of which not all is in view."""

NO_WINDOWS: Mapping[object, Window] = {}


@dataclass(frozen=True, slots=True)
class Face:
    """What of a tensor's picture does not depend on cursor and size: made once for each tensor that is shown.

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
        """Cells that a column takes at least: a space, the digits, a glyph."""
        return 2 if self.shades else self.numbers.width + 2

    @property
    def wanted_period(self) -> int:
        """Cells that a column takes where there is room."""
        return 2 if self.shades else max(self.numbers.width + 3, self.col_label_width + 1)

    @classmethod
    def of(cls, tensor: Tensor, colors: Palette) -> Face:
        """The face of a tensor."""
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
    """What of a tensor is drawn where. A line that is not drawn has y = -1.

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
        """The y of a row, -1 if it is not drawn."""
        return self.first + row - self.top if self.top <= row < self.top + self.rows else -1

    def cell_at(self, x: int, y: int) -> tuple[int, int] | None:
        """Row and column of the cell there."""
        row, col = y - self.first, (x - self.gutter) // self.period
        if 0 <= row < self.rows and 0 <= col < self.cols and y < self.height:
            return self.top + row, self.left + col
        return None


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a picture depends on.

    The caption says what is drawn of the tensor if it is not its values, `keys` which keys lead to other pictures.
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
    """What is drawn in this many cells with the cursor there, `top` and `left` being what was drawn first before.

    The leading indices `at` make no difference to a matrix, but they do to other drawings.
    What does not fit gives way in this order: row labels get shorter, columns get narrower, then rows and columns are
    left out; of a few lines, those go that help least.
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
    """Columns and lines that show everything, without counting the axes in the header."""
    rows, cols = face.tensor.matrix_shape
    grid = face.row_label_width + 2 + cols * face.wanted_period + 1
    parts = [title(face), *([text] if (text := _legend_text(face)) else [])]
    header = 2 + sum(map(cell_len, parts)) + 3 * (len(parts) - 1)
    lines = 1 + bool(face.tensor.lead_shape) + bool(face.tensor.shape) + rows
    return max(grid, header), lines


def lines(scene: Scene) -> int:
    """Lines of numbers, drawn or not."""
    return scene.face.tensor.matrix_shape[0]


def step(tensor: Tensor, row: int, col: int, down: int, right: int) -> tuple[int, int]:
    """The cell that lies so many steps of the arrow keys away, in the matrix or not."""
    return row + down, col + right


def cell_at(scene: Scene, x: int, y: int) -> tuple[int, int] | None:
    """Row and column of the cell that is drawn there."""
    return scene.layout.cell_at(x, y)


def cursor_at(scene: Scene) -> tuple[int, int]:
    """Where the first digit under the cursor may stand."""
    place = scene.layout
    # One cell for the mark left of the digits, what is left over in front of that.
    x = place.gutter + (scene.col - place.left + 1) * place.period - scene.face.numbers.width - 1
    return x, place.row_y(scene.row)


def draw(scene: Scene, y: int) -> Runs:
    """One line of the picture, exactly as wide as the layout."""
    place = scene.layout
    line = StyledLine()
    if y == place.header:
        face = scene.face
        draw_header(scene, line, [*_axes_text(face.tensor), *_axes_short(face)], _legend(face))
    elif y == place.lead:
        draw_lead(scene, line)
    elif y == place.labels:
        _draw_labels(scene, line)
    elif y == place.hint:
        _draw_hint(scene, line)
    elif place.first <= y < place.first + place.rows:
        _draw_row(scene, line, place.top + y - place.first)
    return line.runs(place.width)


def values_of(scene: Scene, row: int) -> Sequence[float | None]:
    """The values of a row's visible columns; None for those that are not here yet."""
    place = scene.layout
    left, right = place.left, place.left + place.cols
    if (known := scene.face.tensor.row(scene.lead, row, left, right)) is not None:
        return known
    values: list[float | None] = [None] * place.cols
    first = [scene.face.tensor.window] if scene.face.tensor.window else []
    for window in (*first, *scene.windows.values()):
        if window.lead == scene.lead and 0 <= row - window.top < len(window.rows):
            part = window.rows[row - window.top]
            start, end = max(left, window.left), min(right, window.left + len(part))
            if start < end:
                values[start - left : end - left] = part[start - window.left : end - window.left]
    return values


def tiles_missing(scene: Scene) -> list[tuple[int, int, int, int]]:
    """Top, left, height and width of the tiles that hold visible values which are not here yet."""
    rows, cols = scene.face.tensor.matrix_shape
    place = scene.layout
    if scene.face.tensor.values is not None:
        return []
    tiles: dict[tuple[int, int, int, int], None] = {}
    for row in range(place.top, place.top + place.rows):
        top = row - row % TILE
        for offset, value in enumerate(values_of(scene, row)):
            if value is None:
                left = (place.left + offset) // TILE * TILE
                tiles[top, left, min(TILE, rows - top), min(TILE, cols - left)] = None
    return list(tiles)


def value_at(scene: Scene) -> float | None:
    """The value under the cursor, if it is here."""
    return values_of(scene, scene.row)[scene.col - scene.layout.left]


def index_of(tensor: Tensor, lead: tuple[int, ...], row: int, col: int) -> tuple[int, ...]:
    """The full index of a cell, as Python would write it."""
    return (*lead, row, col)[-len(tensor.shape) :] if tensor.shape else ()


def describe(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """The cell in words, with its exact value."""
    tensor = face.tensor
    parts = [equation(face, lead, row, col, value)]
    if len(tensor.shape) > 1:
        parts.append("row: " + place_name(tensor, len(lead), face.row_labels[row], row))
    if tensor.shape:
        parts.append("column: " + place_name(tensor, len(tensor.shape) - 1, face.col_labels[col], col))
    return "   ".join(parts)


def equation(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """The cell as Python would write it, and its exact value."""
    tensor = face.tensor
    shown = exact(value, tensor.dtype) if value is not None else ("…" if face.scale.palette.unicode else "...")
    return f"{label(visible(tensor.name), index_of(tensor, lead, row, col))} = {shown}"


def draw_header(
    scene: Scene, line: StyledLine, axes: Sequence[str], legend: Sequence[tuple[str, Style | None]] = ()
) -> None:
    """Name and shape, what the axes are in the longest words that fit, legend and note."""
    face, place, colors = scene.face, scene.layout, scene.palette
    name, shape = visible(face.tensor.name), _shape(face)
    more = [scene.caption] if scene.caption else []
    if scene.lead and place.lead < 0:
        more.append(_lead_text(face.tensor, scene.lead))
    note = scene.note
    room = place.width - 1

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
    line.pad_to(place.width - right.width)
    for text, style in right.runs(right.width):
        line.add(text, style)


def draw_lead(scene: Scene, line: StyledLine) -> None:
    """Which of the leading indices is drawn, and the keys to others."""
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
    face, place, colors = scene.face, scene.layout, scene.palette
    if face.shades:
        _draw_ticks(scene, line)
        return
    cols = face.tensor.matrix_shape[1]
    before, after = ("‹", "›") if colors.unicode else ("<", ">")
    line.pad_to(place.gutter - 1)
    line.add(before if place.left else " ")
    for col in range(place.left, place.left + place.cols):
        label = truncated(face.col_labels[col], place.period - 1, ellipsis(colors))
        line.add(" " * (place.period - 1 - cell_len(label)))
        line.add(label, colors.current if col == scene.col else None)
        line.add(" ")
    if place.left + place.cols < cols:
        line.add_last(after, place.width)


def _draw_row(scene: Scene, line: StyledLine, row: int) -> None:
    face, place, colors = scene.face, scene.layout, scene.palette
    current = row == scene.row
    label = truncated(face.row_labels[row], place.gutter - 2, ellipsis(colors)) if face.row_labels else ""
    line.add(" " * (place.gutter - 1 - cell_len(label)))
    line.add(label, colors.current if current else None)
    line.add(" ")
    values = values_of(scene, row)
    marks = scene.marked.row(scene.lead, row, place.left, len(values)) or [0] * len(values)
    if face.shades:
        _draw_shades(scene, line, row, values, marks)
        return
    before, after = ("▐", "▌") if colors.unicode else ("[", "]")
    margin = " " * (place.period - face.numbers.width - 1)
    for offset, (value, senses) in enumerate(zip(values, marks, strict=True)):
        look = face.scale.look(value)
        digits = face.numbers.text(value) if value is not None else dot(colors).rjust(face.numbers.width)
        if not (current and place.left + offset == scene.col):
            if not senses:
                line.add(margin + digits + look.glyph, look.style)
                continue
            # The sign takes the place of the last space, so that nothing moves.
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
    """The cells of a row as two columns each: shade, or sign and shade."""
    place, colors = scene.layout, scene.palette
    for offset, (value, senses) in enumerate(zip(values, marks, strict=True)):
        look = scene.face.scale.look(value)
        style = marked_style(look, senses, colors)
        if row == scene.row and place.left + offset == scene.col:
            line.add(sign(senses, colors.unicode) if senses else "[", colors.cursor if scene.focused else style)
            line.add("]", colors.cursor if scene.focused else style)
        elif senses:
            line.add(sign(senses, colors.unicode) + look.glyph, style)
        elif value is None:
            line.add(dot(colors) + " ", style)
        elif isnan(value) or value == inf:
            line.add("!!", style)
        else:
            # The sign shall not be told by color alone.
            below = value < 0 and scene.face.scale.kind == "vector" and (colors.colored or look.glyph != " ")
            text = ("-" if below else look.glyph) + look.glyph
            line.add(text, background(style) if text == "  " else style)


def _draw_ticks(scene: Scene, line: StyledLine) -> None:
    """Labels above columns of shade, which are narrower than their labels: that of the cursor, and some others."""
    face, place, colors = scene.face, scene.layout, scene.palette
    every = -(-(face.col_label_width + 1) // place.period)
    columns = range(place.left, place.left + place.cols)
    labels = {col: truncated(face.col_labels[col], LABEL_WIDTH, ellipsis(colors)) for col in columns}
    start, end = _span(place, scene.col, labels[scene.col])
    for col in columns:
        x, past = _span(place, col, labels[col])
        current = col == scene.col
        if current or (col % every == 0 and line.width < x and past <= place.width and (past < start or x > end)):
            line.pad_to(x)
            line.add(labels[col], colors.current if current else None)


def _span(place: GridLayout, col: int, label: str) -> tuple[int, int]:
    """Where the label of a column of shade begins and ends: above it, or further left at the right edge."""
    width = cell_len(label)
    x = max(0, min(place.gutter + (col - place.left) * place.period, place.width - width))
    return x, x + width


def _draw_hint(scene: Scene, line: StyledLine) -> None:
    place = scene.layout
    rows, cols = scene.face.tensor.matrix_shape
    hidden = (
        (place.top, "above", "↑", "^"),
        (rows - place.top - place.rows, "below", "↓", "v"),
        (place.left, "left", "←", "<"),
        (cols - place.left - place.cols, "right", "→", ">"),
    )
    text = "  ".join(f"+{count} {where}" for count, where, _, _ in hidden if count)
    start = min(place.gutter + place.period - 1 - scene.face.numbers.width, place.width - cell_len(text))
    if start < 1:
        sign = 2 if scene.palette.unicode else 3
        text = " ".join(f"{side[sign]}{side[0]}" for side in hidden if side[0])
        start = 1
    elif start + cell_len(text + OVERVIEW) < place.width:
        text += OVERVIEW
    line.pad_to(start)
    line.add(text, scene.palette.muted)


def marked_style(look: Look, senses: int, colors: Palette) -> Style | None:
    """The style of a marked cell; that of the cell if it is not marked."""
    style = look.style
    for sense, mark in ((OPERAND, colors.operand), (CHANGED, colors.changed), (SET, colors.set)):
        if senses & sense:
            style = over(style, mark)
    return style


def mark_style(look: Look, colors: Palette) -> Style | None:
    """The marks beside the digits: of the cursor's color, on the background of the cell."""
    if not colors.colored:
        return None
    return _on(colors.cursor, look.style)


@lru_cache(maxsize=64)
def background(style: Style | None) -> Style | None:
    """What is left of a style where there is nothing but space: half as many bytes."""
    return Style(bgcolor=style.bgcolor) if style and style.bgcolor else None


@lru_cache(maxsize=64)
def _on(cursor: Style, cell: Style | None) -> Style:
    return Style(color=cursor.bgcolor, bgcolor=cell.bgcolor if cell else None)


def _column_widths(face: Face, width: int, cols: int) -> tuple[int, int]:
    """Cells that a column takes, and cells left of the first one."""
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
        # They do not all fit: then labels of the columns that do should be readable.
        period = max(least, min(face.col_label_width, 5) + 1)
    return max(1, min(period, max(least, width - gutter))), gutter


def scrolled(start: int, shown: int, size: int, cursor: int) -> int:
    """The first of `shown` rows that are drawn: as before if the cursor is among them, else by half a page.

    A view that followed the cursor row by row would be sent as a whole for every key.
    """
    if not start <= cursor < start + shown:
        start = cursor - shown // 2
    return max(0, min(size - shown, start))


def _labels(tensor: Tensor, axis: int, size: int, space: str) -> tuple[str, ...]:
    given = tensor.labels[axis] if axis < len(tensor.labels) else ()
    return tuple(visible(given[place], space) if place < len(given) else str(place) for place in range(size))


def axis_name(tensor: Tensor, axis: int) -> str:
    """What an axis is called, if it has a name."""
    return visible(tensor.axes[axis]) if 0 <= axis < len(tensor.axes) else ""


def place_name(tensor: Tensor, axis: int, label: str, place: int) -> str:
    """A place on an axis in words."""
    where = f"{axis_name(tensor, axis)} {place}".strip()
    return where if label == str(place) else f"{label} ({where})"


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
    """Name and shape."""
    return f"{visible(face.tensor.name)}  {_shape(face)}"


def _legend(face: Face) -> list[tuple[str, Style | None]]:
    """The bounds and the looks between them."""
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
    """What stands for text that was left out."""
    return "…" if colors.unicode else "~"


def times(colors: Palette) -> str:
    """The sign between sizes."""
    return "×" if colors.unicode else "x"


def dot(colors: Palette) -> str:
    """What stands for a number that is not here."""
    return "·" if colors.unicode else "."
