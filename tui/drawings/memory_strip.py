"""A tensor as its storage: all numbers in memory order, with the cursor's row highlighted.

The cursor walks the indices, as in a matrix, which shows how far apart in memory neighbors along each axis are.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from attn_tutor.lessons.render import memory_text
from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.lessons.results.result import MemoryLayout as Stored
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.drawings.drawing_scene import DrawingScene, Face, GridLayout, index_of
from attn_tutor.tui.drawings.grid import scrolled, step
from attn_tutor.tui.drawings.marks import dot, ellipsis, mark_style, marked_style, sign
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine
from attn_tutor.tui.drawings.tensor_words import draw_header, draw_lead, equation, hidden_lines, title

__all__ = ["cell_at", "cursor_at", "describe", "draw", "layout", "lines", "natural_size", "step", "unit"]

say = Wording("matrix/strip")

GUTTER = 8
"""The columns before the first cell, for the word above the offsets."""

WIDEST = 16
"""The maximum number of cells per line."""

WANTED = 80
"""The width in columns that a strip would like."""


@dataclass(frozen=True, slots=True)
class StripLayout(GridLayout):
    """The layout of a strip: `facts` is the y of the line about the storage, `across` the number of cells per line."""

    facts: int
    across: int


def unit() -> str:
    """Return what the cursor stands on."""
    return say("unit", "index")


def lines(scene: DrawingScene) -> int:
    """Return the number of lines of the storage."""
    return _lines(scene.face, _layout(scene).across)


def layout(
    face: Face, width: int, height: int, row: int, col: int, top: int = 0, left: int = 0, at: tuple[int, ...] = ()
) -> StripLayout:
    """Lay out the strip so that the element under the cursor is visible."""
    stored, across = _stored(face), _across(face, width)
    y = 0
    header = lead = facts = labels = hint = -1
    if height >= 2:
        header, y = y, y + 1
    if face.tensor.lead_shape and height >= 6:
        lead, y = y, y + 1
    if height >= 3:
        facts, y = y, y + 1
    if height >= 4:
        labels, y = y, y + 1
    total = _lines(face, across)
    shown = max(1, min(total, height - y))
    if shown < total and height >= 7:
        shown = height - y - 1
        hint = y + shown
    index = index_of(face.tensor, at, row, col)
    return StripLayout(
        width=width,
        height=height,
        header=header,
        lead=lead,
        labels=labels,
        first=y,
        hint=hint,
        gutter=GUTTER,
        period=_period(face),
        top=scrolled(top, shown, total, memory_text.position(stored, index) // across),
        left=0,
        rows=shown,
        cols=face.tensor.matrix_shape[1],
        facts=facts,
        across=across,
    )


def natural_size(face: Face) -> tuple[int, int]:
    """Return the columns and lines that show everything."""
    grid = GUTTER + _across(face, WANTED) * _period(face)
    facts = len("   ".join(memory_text.facts(face.tensor))) + 2
    return max(grid, facts, cell_len(title(face)) + 2), 3 + bool(face.tensor.lead_shape) + _lines(
        face, _across(face, WANTED)
    )


def cell_at(scene: DrawingScene, x: int, y: int) -> tuple[int, int] | None:
    """Return row and column of the element at x and y, None if there is none or its leading indices differ."""
    layout = _layout(scene)
    line, at = y - layout.first, (x - layout.gutter) // layout.period
    if not (0 <= line < layout.rows and 0 <= at < layout.across):
        return None
    found = memory_text.elements(scene.face.tensor).get((layout.top + line) * layout.across + at)
    if found is None or found[:-2] != scene.lead:
        return None
    row, col = (0, 0, *found)[-2:]
    return row, col


def cursor_at(scene: DrawingScene) -> tuple[int, int]:
    """Return x and y of the first digit under the cursor."""
    layout = _layout(scene)
    line, at = divmod(_cursor(scene), layout.across)
    return layout.gutter + at * layout.period + 1, layout.first + max(0, min(layout.rows - 1, line - layout.top))


def describe(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """Describe the element, and how its position in the storage is computed."""
    index = index_of(face.tensor, lead, row, col)
    return f"{equation(face, lead, row, col, value)}   {memory_text.sum_text(_stored(face), index)}"


def draw(scene: DrawingScene, y: int) -> Runs:
    """Return one line of the drawing, exactly as wide as the layout."""
    layout = _layout(scene)
    line = StyledLine()
    if y == layout.header:
        draw_header(scene, line, [say("in-memory", "in memory")])
    elif y == layout.lead:
        draw_lead(scene, line)
    elif y == layout.facts:
        _draw_facts(scene, line)
    elif y == layout.labels:
        _draw_labels(scene, line)
    elif y == layout.hint:
        below = lines(scene) - layout.top - layout.rows
        line.pad_to(layout.gutter)
        line.add(hidden_lines(layout.top, below), scene.palette.muted)
    elif layout.first <= y < layout.first + layout.rows:
        _draw_cells(scene, layout, line, layout.top + y - layout.first)
    return line.runs(layout.width)


def _draw_facts(scene: DrawingScene, line: StyledLine) -> None:
    facts = list(memory_text.facts(scene.face.tensor))
    while len(facts) > 1 and len("   ".join(facts)) + 2 > scene.layout.width:
        facts.pop()
    line.add(" " + "   ".join(facts))


def _draw_labels(scene: DrawingScene, line: StyledLine) -> None:
    layout = _layout(scene)
    single = _stored(scene.face).size <= layout.across
    at = _cursor(scene) % layout.across
    line.add(f" {truncated(say('offset', 'offset'), GUTTER - 2, ellipsis(scene.palette))}", scene.palette.muted)
    line.pad_to(GUTTER)
    for column in range(layout.across):
        label = str(column) if single else f"+{column}"
        line.add(" " * (layout.period - 1 - len(label)))
        line.add(label, scene.palette.current if column == at else scene.palette.muted)
        line.add(" ")


def _draw_cells(scene: DrawingScene, layout: StripLayout, line: StyledLine, number: int) -> None:
    """Draw a line of storage: cells of the cursor's row in parentheses, storage outside of the tensor as dots."""
    face, colors = scene.face, scene.palette
    tensor, stored = face.tensor, _stored(face)
    found = memory_text.elements(tensor)
    cursor, row = _cursor(scene), _row(scene)
    start = number * layout.across
    label = str(start) if stored.size > layout.across else ""
    line.pad_to(layout.gutter - 1 - len(label))
    line.add(label, colors.current if start <= cursor < start + layout.across else None)
    line.add(" ")
    before, after = ("▐", "▌") if colors.unicode else ("[", "]")
    digits_wide = layout.period - 2
    for position in range(start, min(start + layout.across, stored.size)):
        index = found.get(position)
        if index is None:
            line.add(f" {dot(colors).rjust(digits_wide)} ", colors.muted)
            continue
        value = memory_text.value(tensor, index)
        look = face.scale.look(value)
        digits = (face.numbers.text(value) if value is not None else dot(colors)).rjust(digits_wide)
        lead, row_at, col_at = index[:-2], *(0, 0, *index)[-2:]
        senses = (scene.marked.row(lead, row_at, col_at, 1) or (0,))[0]
        style = marked_style(look, senses, colors)
        signed = sign(senses, colors.unicode) if senses else ""
        if position == cursor:
            mark = mark_style(look, colors)
            line.add(signed or before, style if senses else mark)
            line.add(digits, colors.cursor if scene.focused else look.style)
            line.add(after, mark)
        elif position in row:
            line.add(f"{signed or '('}{digits})", style)
        else:
            line.add(f"{signed or ' '}{digits} ", style)


def _layout(scene: DrawingScene) -> StripLayout:
    assert isinstance(scene.layout, StripLayout)
    return scene.layout


def _stored(face: Face) -> Stored:
    assert face.tensor.layout is not None
    return face.tensor.layout


def _cursor(scene: DrawingScene) -> int:
    """Return the storage position of the element under the cursor."""
    index = index_of(scene.face.tensor, scene.lead, scene.row, scene.col)
    return memory_text.position(_stored(scene.face), index)


def _row(scene: DrawingScene) -> set[int]:
    """Return the storage positions of all elements in the cursor's row, along the last axis."""
    tensor: Tensor = scene.face.tensor
    columns = range(tensor.matrix_shape[1]) if tensor.shape else ()
    return {
        memory_text.position(_stored(scene.face), index_of(tensor, scene.lead, scene.row, column)) for column in columns
    }


def _lines(face: Face, across: int) -> int:
    return -(-_stored(face).size // across)


def _period(face: Face) -> int:
    """Return the cells that a number takes: the digits between two marks, at least as wide as the label above them."""
    return max(face.numbers.width, len(str(_stored(face).size))) + 2


def _across(face: Face, width: int) -> int:
    """Return the cells per line: whole rows of the tensor if they fit, else a number that fills the lines evenly."""
    stored = _stored(face)
    most = max(1, min(WIDEST, (width - GUTTER) // _period(face)))
    rows = [stride for stride in stored.strides if 1 < stride <= most and stored.size % stride == 0]
    if rows and stored.size > most:
        return most // max(rows) * max(rows)
    return -(-stored.size // -(-stored.size // most))
