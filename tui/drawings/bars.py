"""A tensor as bars, one line per number: label, number, bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, prod

from rich.cells import cell_len
from rich.style import Style

from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.lessons.render.ruler import Ruler
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.drawings.drawing_scene import DrawingScene, Face, GridLayout, values_of
from attn_tutor.tui.drawings.grid import scrolled
from attn_tutor.tui.drawings.marks import dot, ellipsis, mark_style, marked_style, sign
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine
from attn_tutor.tui.drawings.tensor_words import (
    axis_name,
    draw_header,
    draw_lead,
    equation,
    hidden_lines,
    index_name,
    title,
)
from attn_tutor.tui.render.palette import Palette

say = Wording("matrix/bars")

WANTED_LABEL = 32
"""The maximum width of a label."""

WANTED_BAR, LONGEST_BAR = 32, 60
SHORT_BAR = 16
"""The preferred and the maximum length of a bar, in cells."""


@dataclass(frozen=True, slots=True)
class BarsLayout(GridLayout):
    """The layout of bars: lines are counted across all groups; `group`, `label` and `bar` are widths in cells."""

    group: int
    label: int
    bar: int


NO_NAMES = ("", "index")
"""Names of axes that say nothing."""


def unit() -> str:
    """Return what the cursor stands on."""
    return say("unit", "bar")


def lines(scene: DrawingScene) -> int:
    """Return the number of lines: one for each number of the groups that are drawn together."""
    return prod(scene.face.tensor.matrix_shape)


def step(tensor: Tensor, row: int, col: int, down: int, right: int) -> tuple[int, int]:
    """Return the cell that arrow keys lead to: up or down to the next bar, left or right to the next group, if any."""
    rows, cols = tensor.matrix_shape
    if rows == 1:
        return row, col + down + right
    line = max(0, min(rows * cols - 1, row * cols + col + down))
    return line // cols + right, line % cols


def layout(
    face: Face, width: int, height: int, row: int, col: int, top: int = 0, left: int = 0, at: tuple[int, ...] = ()
) -> BarsLayout:
    """Lay out the bars; labels get shorter before bars do."""
    cols = face.tensor.matrix_shape[1]
    group, label = _labels(face)
    spare = max(0, width - face.numbers.width - 12)
    label = min(label, max(3, spare - group))
    group = min(group, max(0, spare - label))
    gutter = 1 + (group + 2 if group else 0) + (label + 1 if label else 0)
    y = 0
    header = lead = hint = -1
    if height >= 2:
        header, y = y, y + 1
    if face.tensor.lead_shape and height >= 5:
        lead, y = y, y + 1
    total = prod(face.tensor.matrix_shape)
    shown = max(1, min(total, height - y))
    if shown < total and height >= 7:
        shown = height - y - 1
        hint = y + shown
    return BarsLayout(
        width=width,
        height=height,
        header=header,
        lead=lead,
        labels=-1,
        first=y,
        hint=hint,
        gutter=gutter,
        period=face.numbers.width + 2,
        top=scrolled(top, shown, total, row * cols + col),
        left=0,
        rows=shown,
        cols=cols,
        group=group,
        label=label,
        bar=max(1, min(LONGEST_BAR, width - gutter - face.numbers.width - 4)),
    )


def natural_size(face: Face) -> tuple[int, int]:
    """Return the columns and lines that show everything."""
    group, label = _labels(face)
    grid = group + label + 4 + face.numbers.width + 3 + WANTED_BAR
    return max(grid, cell_len(title(face)) + 2), 1 + bool(face.tensor.lead_shape) + prod(face.tensor.matrix_shape)


def least_width(face: Face) -> int:
    """Return the columns in which labels, numbers and short bars fit, where the drawing stands beside another."""
    return max(natural_size(face)[0] - WANTED_BAR + SHORT_BAR, cell_len(title(face)) + 2)


def cell_at(scene: DrawingScene, x: int, y: int) -> tuple[int, int] | None:
    """Return row and column of the number on line y, None if there is none."""
    layout = scene.layout
    if not 0 <= y - layout.first < layout.rows:
        return None
    return divmod(layout.top + y - layout.first, layout.cols)


def cursor_at(scene: DrawingScene) -> tuple[int, int]:
    """Return x and y of the first digit under the cursor."""
    layout = scene.layout
    return layout.gutter + 1, layout.first + scene.row * layout.cols + scene.col - layout.top


def describe(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """Describe the number, with its exact value."""
    tensor = face.tensor
    parts = [equation(face, lead, row, col, value)]
    if len(tensor.shape) > 1:
        parts.append(say("group", "group: {name}", name=index_name(tensor, len(lead), face.row_labels[row], row)))
    if tensor.shape:
        name = index_name(tensor, len(tensor.shape) - 1, face.col_labels[col], col)
        parts.append(say("bar", "bar: {name}", name=name))
    return "   ".join(parts)


def draw(scene: DrawingScene, y: int) -> Runs:
    """Return one line of the drawing, exactly as wide as the layout."""
    layout = scene.layout
    assert isinstance(layout, BarsLayout)
    line = StyledLine()
    if y == layout.header:
        draw_header(scene, line, _axes(scene.face.tensor))
    elif y == layout.lead:
        draw_lead(scene, line)
    elif y == layout.hint:
        _draw_hint(scene, line)
    elif layout.first <= y < layout.first + layout.rows:
        _draw_bar(scene, layout, line, layout.top + y - layout.first)
    return line.runs(layout.width)


def _draw_bar(scene: DrawingScene, layout: BarsLayout, line: StyledLine, number: int) -> None:
    """Draw label, number and bar.

    The digits have a fixed position, and moving the cursor changes nothing to the right of them.
    """
    face, colors = scene.face, scene.palette
    row, col = divmod(number, layout.cols)
    current = (row, col) == (scene.row, scene.col)
    line.add(" ")
    if layout.group:
        # Write the label once per group, and again on the first visible line.
        label = face.row_labels[row] if col == 0 or number == layout.top else ""
        label = truncated(label, layout.group, ellipsis(colors))
        line.add(label, colors.current if row == scene.row else None)
        line.pad_to(3 + layout.group)
    if layout.label:
        label = truncated(face.col_labels[col], layout.label, ellipsis(colors))
        line.pad_to(layout.gutter - 1 - cell_len(label))
        line.add(label, colors.current if current else None)
        line.add(" ")
    value = values_of(scene, row)[col]
    senses = (scene.marked.row(scene.lead, row, col, 1) or (0,))[0]
    look = face.scale.look(value)
    style = None if value is None or isfinite(value) else look.style
    digits = face.numbers.text(value) if value is not None else dot(colors).rjust(face.numbers.width)
    before, after = ("▐", "▌") if colors.unicode else ("[", "]")
    mark = mark_style(look, colors) if current else None
    if senses:
        line.add(sign(senses, colors.unicode), marked_style(look, senses, colors))
    else:
        line.add(before if current else " ", mark)
    line.add(digits, colors.cursor if current and scene.focused else style)
    line.add(after if current else " ", mark)
    ruler = Ruler.of(face.tensor.low, face.tensor.high, layout.bar, colors.unicode)
    below, above = ruler.bar(value)
    line.add(" ")
    line.add(below, _bar_style(colors, below=True) if below.strip() else None)
    if ruler.left:
        line.add("│" if colors.unicode else "|", colors.muted)
    line.add(above, _bar_style(colors, below=False))


def _bar_style(colors: Palette, *, below: bool) -> Style | None:
    """Return the color of positive or negative numbers, the same as for vectors."""
    ramp = colors.ramps["vector"]
    if not colors.colored:
        return ramp[0].style if below else None
    style = ramp[2 if below else -3].style
    return Style(color=style.bgcolor) if style else None


def _draw_hint(scene: DrawingScene, line: StyledLine) -> None:
    layout = scene.layout
    below = lines(scene) - layout.top - layout.rows
    line.pad_to(layout.gutter)
    line.add(hidden_lines(layout.top, below), scene.palette.muted)


def _labels(face: Face) -> tuple[int, int]:
    """Return the widths of the widest group label and the widest bar label, in cells."""
    group = max(map(cell_len, face.row_labels), default=0)
    label = max(map(cell_len, face.col_labels), default=0)
    return min(WANTED_LABEL // 2, group), min(WANTED_LABEL, label)


def _axes(tensor: Tensor) -> Sequence[str]:
    """Return a text on what groups and bars stand for, if their axes have informative names."""
    bars, groups = axis_name(tensor, len(tensor.shape) - 1), axis_name(tensor, len(tensor.shape) - 2)
    parts = []
    if groups not in NO_NAMES:
        parts.append(say("groups", "groups: {name}", name=groups))
    if bars not in NO_NAMES:
        parts.append(say("bars", "bars: {name}", name=bars))
    return [" " + "  ".join(parts)] if parts else []
