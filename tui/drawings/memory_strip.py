"""A tensor as its storage: all numbers in the order of memory, and where the row of the cursor lies among them.

The cursor walks the indices, as in a matrix, so that one sees how far a step along each axis leads. Pure functions.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from lessons.results.result import MemoryLayout as Stored
from lessons.results.result import Tensor
from tui.drawings.grid import (
    Face,
    GridLayout,
    Scene,
    dot,
    draw_header,
    draw_lead,
    equation,
    index_of,
    mark_style,
    marked_style,
    scrolled,
    step,
    title,
)
from tui.drawings.marks import sign
from tui.drawings.styled_line import Runs, StyledLine
from tui.render import memory_text

__all__ = ["UNIT", "cell_at", "cursor_at", "describe", "draw", "layout", "lines", "natural_size", "step"]

UNIT = "index"

GUTTER = len(" offset ")
WIDEST = 16
"""Cells of a line, at most."""

WANTED = 80
"""Columns that a line of storage would like."""


@dataclass(frozen=True, slots=True)
class StripLayout(GridLayout):
    """Lines are those of the storage; `facts` is the y of what is said of it, `across` the cells of a line."""

    facts: int
    across: int


def lines(scene: Scene) -> int:
    """Lines of storage."""
    return _lines(scene.face, _place(scene).across)


def layout(
    face: Face, width: int, height: int, row: int, col: int, top: int = 0, left: int = 0, at: tuple[int, ...] = ()
) -> StripLayout:
    """What is drawn where. The element under the cursor is kept in view."""
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
    """Columns and lines that show everything."""
    grid = GUTTER + _across(face, WANTED) * _period(face)
    facts = len("   ".join(memory_text.facts(face.tensor))) + 2
    return max(grid, facts, cell_len(title(face)) + 2), 3 + bool(face.tensor.lead_shape) + _lines(
        face, _across(face, WANTED)
    )


def cell_at(scene: Scene, x: int, y: int) -> tuple[int, int] | None:
    """The element that lies there, if its leading indices are those that the cursor has."""
    place = _place(scene)
    line, at = y - place.first, (x - place.gutter) // place.period
    if not (0 <= line < place.rows and 0 <= at < place.across):
        return None
    found = memory_text.elements(scene.face.tensor).get((place.top + line) * place.across + at)
    if found is None or found[:-2] != scene.lead:
        return None
    row, col = (0, 0, *found)[-2:]
    return row, col


def cursor_at(scene: Scene) -> tuple[int, int]:
    """Where the first digit under the cursor may stand."""
    place = _place(scene)
    line, at = divmod(_cursor(scene), place.across)
    return place.gutter + at * place.period + 1, place.first + max(0, min(place.rows - 1, line - place.top))


def describe(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """The element in words, and how its place is reckoned."""
    index = index_of(face.tensor, lead, row, col)
    return f"{equation(face, lead, row, col, value)}   {memory_text.sum_text(_stored(face), index)}"


def draw(scene: Scene, y: int) -> Runs:
    """One line of the picture, exactly as wide as the layout."""
    place = _place(scene)
    line = StyledLine()
    if y == place.header:
        draw_header(scene, line, ["in memory"])
    elif y == place.lead:
        draw_lead(scene, line)
    elif y == place.facts:
        _draw_facts(scene, line)
    elif y == place.labels:
        _draw_labels(scene, line)
    elif y == place.hint:
        below = lines(scene) - place.top - place.rows
        hidden = [f"+{count} {where}" for count, where in ((place.top, "above"), (below, "below")) if count]
        line.pad_to(place.gutter)
        line.add("  ".join(hidden), scene.palette.muted)
    elif place.first <= y < place.first + place.rows:
        _draw_cells(scene, place, line, place.top + y - place.first)
    return line.runs(place.width)


def _draw_facts(scene: Scene, line: StyledLine) -> None:
    facts = list(memory_text.facts(scene.face.tensor))
    while len(facts) > 1 and len("   ".join(facts)) + 2 > scene.layout.width:
        facts.pop()
    line.add(" " + "   ".join(facts))


def _draw_labels(scene: Scene, line: StyledLine) -> None:
    place = _place(scene)
    single = _stored(scene.face).size <= place.across
    at = _cursor(scene) % place.across
    line.add(" offset ", scene.palette.muted)
    for column in range(place.across):
        label = str(column) if single else f"+{column}"
        line.add(" " * (place.period - 1 - len(label)))
        line.add(label, scene.palette.current if column == at else scene.palette.muted)
        line.add(" ")


def _draw_cells(scene: Scene, place: StripLayout, line: StyledLine, number: int) -> None:
    """A line of storage: the cursor's cell, the others of its row in brackets, what is not of the tensor as dots."""
    face, colors = scene.face, scene.palette
    tensor, stored = face.tensor, _stored(face)
    found = memory_text.elements(tensor)
    cursor, row = _cursor(scene), _row(scene)
    start = number * place.across
    label = str(start) if stored.size > place.across else ""
    line.pad_to(place.gutter - 1 - len(label))
    line.add(label, colors.current if start <= cursor < start + place.across else None)
    line.add(" ")
    before, after = ("▐", "▌") if colors.unicode else ("[", "]")
    digits_wide = place.period - 2
    for position in range(start, min(start + place.across, stored.size)):
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


def _place(scene: Scene) -> StripLayout:
    assert isinstance(scene.layout, StripLayout)
    return scene.layout


def _stored(face: Face) -> Stored:
    assert face.tensor.layout is not None
    return face.tensor.layout


def _cursor(scene: Scene) -> int:
    """The place of the element under the cursor."""
    index = index_of(scene.face.tensor, scene.lead, scene.row, scene.col)
    return memory_text.position(_stored(scene.face), index)


def _row(scene: Scene) -> set[int]:
    """The places of all elements in the cursor's row, along the last axis."""
    tensor: Tensor = scene.face.tensor
    columns = range(tensor.matrix_shape[1]) if tensor.shape else ()
    return {
        memory_text.position(_stored(scene.face), index_of(tensor, scene.lead, scene.row, column)) for column in columns
    }


def _lines(face: Face, across: int) -> int:
    return -(-_stored(face).size // across)


def _period(face: Face) -> int:
    """Cells that a number takes: the digits between two marks, as wide as the label above them."""
    return max(face.numbers.width, len(str(_stored(face).size))) + 2


def _across(face: Face, width: int) -> int:
    """Cells of a line: as many rows of the tensor as fit, else so many that all lines are about full."""
    stored = _stored(face)
    most = max(1, min(WIDEST, (width - GUTTER) // _period(face)))
    rows = [stride for stride in stored.strides if 1 < stride <= most and stored.size % stride == 0]
    if rows and stored.size > most:
        return most // max(rows) * max(rows)
    return -(-stored.size // -(-stored.size // most))
