"""The drawing of a flow: boxes with names, shapes and thumbnails, joined by arrows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len
from rich.style import Style

from attn_tutor.lessons.render.flow_text import shape_text
from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.results.flow import Flow, FlowBox, nearest
from attn_tutor.tui.drawings.cell_styles import ellipsis
from attn_tutor.tui.drawings.flow_layout import Edge, FlowLayout, Rectangle, arrange, least_size
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine, over
from attn_tutor.tui.render.palette import Palette

Detail = Literal["large", "full", "thumbnail", "line"]
"""How much a box shows: a frame with name, shape and a thumbnail, which may be large, with a line for each row; name,
shape and thumbnail without a frame; name and shape on one line."""

DETAILS: tuple[Detail, ...] = ("large", "full", "thumbnail", "line")

NEAREST = (99, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1)
"""How many boxes are drawn, where not all of them fit."""

FEW = 3
"""Boxes up to which thumbnails say less than more boxes without."""

LARGE_CELL = 2
"""Columns of a number in a large thumbnail."""

WIDEST_NAME, SHORT_NAME = 24, 13
"""Columns of a name; fewer where that lets the thumbnails fit."""

HALF = {True: "▀", False: "#"}
"""Two cells of a thumbnail, one above the other: a line is about as high as two columns are wide."""

UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8

_JOINTS = {
    True: {
        UP: "│", DOWN: "│", UP | DOWN: "│", LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
        DOWN | RIGHT: "╭", DOWN | LEFT: "╮", UP | RIGHT: "╰", UP | LEFT: "╯",
        UP | DOWN | RIGHT: "├", UP | DOWN | LEFT: "┤", DOWN | LEFT | RIGHT: "┬", UP | LEFT | RIGHT: "┴",
        UP | DOWN | LEFT | RIGHT: "┼",
    },
    False: {UP: "|", DOWN: "|", UP | DOWN: "|", LEFT: "-", RIGHT: "-", LEFT | RIGHT: "-"},
}  # fmt: skip
_HEAVY = str.maketrans("│─╭╮╰╯├┤┬┴┼", "┃━┏┓┗┛┣┫┳┻╋")
"""Arrows on the path of an explanation, which must be seen without colors too."""


@dataclass(frozen=True, slots=True)
class FlowMarks:
    """What is emphasized in a flow.

    Attributes:
        current: the boxes that the step shows.
        path: the boxes that an explanation leads through.
    """

    current: frozenset[str] = frozenset()
    path: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Net:
    """The cells that arrows of one box run through, with the directions in which they leave each cell."""

    cells: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, x: int, y: int, directions: int) -> None:
        self.cells[x, y] = self.cells.get((x, y), 0) | directions


@dataclass(frozen=True)
class FlowDrawing:
    """A flow that has been laid out and drawn on a canvas of its own size; a view shows a part of it."""

    flow: Flow
    layout: FlowLayout
    detail: Detail
    palette: Palette
    marks: FlowMarks
    arrows: Mapping[tuple[int, int], tuple[str, Style | None]]
    rows: Mapping[int, tuple[str, ...]]
    """The ids of the boxes on each line, from left to right."""
    signs: Mapping[str, str]
    """What stands behind the shape of each box."""
    names: int
    """The most columns of a name."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines of the whole drawing."""
        return self.layout.width, self.layout.height

    def line(self, y: int, left: int, width: int, chosen: str = "", *, focused: bool = True) -> Runs:
        """Return the part of a line from column `left` on, `width` columns wide; `chosen` is the box at the cursor."""
        cells: list[tuple[str, Style | None]] = [
            self.arrows.get((x, y), (" ", None)) for x in range(left, left + width)
        ]
        for id in self.rows.get(y, ()):
            area = self.layout.rectangles[id]
            x = area.x - left
            for text, style in self._box_line(id, y - area.y, area, chosen == id, focused):
                for character in text:
                    size = cell_len(character)
                    if x >= 0 and x + size <= width:
                        cells[x : x + size] = [(character, style), *[("", style)] * (size - 1)]
                    x += size
        line = StyledLine()
        for character, style in cells:
            line.add(character, style)
        return line.runs(width)

    def _box_line(
        self, id: str, line: int, area: Rectangle, chosen: bool, focused: bool
    ) -> Iterable[tuple[str, Style | None]]:
        box, colors = self.flow.box(id), self.palette
        assert box is not None
        style = self._emphasis(id)
        if chosen:
            style = colors.cursor if focused else colors.current
        title = _title(box, colors, self.names)
        if self.detail == "line":
            shape = f" {facts}" if (facts := shape_text(box.shape, colors.unicode)) else ""
            yield "[" if not chosen else ">", style
            yield title, style or colors.name
            yield f"{shape}{self.signs[id]}".ljust(area.width - 2 - cell_len(title)), style
            yield "]" if not chosen else "<", style
            return
        shape = shape_text(box.shape, colors.unicode)
        if self.detail == "thumbnail":
            drawn = 0
            for text, look in self._thumbnail(box, line):
                yield text, look
                drawn += len(text)
            columns = _thumbnail_width(box)
            yield " " * (columns - drawn + bool(columns)), None
            if line == 0:
                yield title, style or colors.name
            elif line == 1:
                yield f"{shape}{self.signs[id]}".strip(), style or colors.muted
            return
        across, corners = ("─", "╭╮╰╯│") if colors.unicode else ("-", "++++|")
        # An underlined frame looks like one that is crossed out.
        edge = style + Style(underline=False) if style is not None else None
        if line == 0:
            facts = f"{f' {shape}' if shape else ''}{self.signs[id]}"
            fill = area.width - 4 - cell_len(title) - cell_len(facts)
            yield f"{corners[0]} ", edge
            yield title, style or colors.name
            yield f"{facts} {across * fill}{corners[1]}", edge
        elif line == area.height - 1:
            yield f"{corners[2]}{across * (area.width - 2)}{corners[3]}", edge
        else:
            yield f"{corners[4]} ", edge
            drawn = 0
            for text, look in self._thumbnail(box, line - 1):
                yield text, look
                drawn += len(text)
            yield " " * (area.width - 3 - drawn), None
            yield corners[4], edge

    def _emphasis(self, id: str) -> Style | None:
        if id in self.marks.path:
            return (
                over(self.palette.operand, self.palette.current) if id in self.marks.current else self.palette.operand
            )
        return self.palette.current if id in self.marks.current else None

    def _thumbnail(self, box: FlowBox, line: int) -> Iterable[tuple[str, Style | None]]:
        """Return a line of the thumbnail of a tensor, which shows two of its rows, or one if it is large."""
        scale = self.palette.scale(box.kind, box.low, box.high)
        if self.detail == "large":
            for value in box.thumbnail[line] if line < len(box.thumbnail) else ():
                look = scale.look(value)
                yield look.glyph * LARGE_CELL, look.style
            return
        rows = box.thumbnail[2 * line : 2 * line + 2]
        if not rows:
            return
        for column, upper in enumerate(rows[0]):
            lower = rows[1][column] if len(rows) > 1 else None
            if not self.palette.colored:
                look = scale.look(upper if lower is None else max(upper, lower))
                yield look.glyph, look.style
                continue
            ground = (scale.look(lower).style if lower is not None else None) or Style()
            top = scale.look(upper).style
            yield HALF[self.palette.unicode], Style(color=top.bgcolor if top else None, bgcolor=ground.bgcolor)


def draw(
    flow: Flow,
    detail: Detail,
    colors: Palette,
    marks: FlowMarks = FlowMarks(),
    height: int = 0,
    names: int = WIDEST_NAME,
) -> FlowDrawing:
    """Lay a flow out and draw its arrows, a little longer where there are `height` lines for it."""
    signs = _all_signs(flow, colors)
    layout = arrange(flow, _sizes(flow, detail, colors, signs, names), height)
    rows: dict[int, list[str]] = {}
    for id, area in layout.rectangles.items():
        for y in range(area.y, area.y + area.height):
            rows.setdefault(y, []).append(id)
    areas = {y: tuple(ids) for y, ids in rows.items()}
    return FlowDrawing(flow, layout, detail, colors, marks, _arrows(layout, colors, marks), areas, signs, names)


def fitting(
    flow: Flow,
    width: int,
    height: int,
    colors: Palette,
    marks: FlowMarks = FlowMarks(),
    names: int = WIDEST_NAME,
) -> FlowDrawing:
    """Draw a flow with as much detail as fits; what does not fit at all is drawn with the least."""
    return _fitting(flow, width, height, colors, marks, names) or draw(flow, DETAILS[-1], colors, marks, height, names)


def _fitting(flow: Flow, width: int, height: int, colors: Palette, marks: FlowMarks, names: int) -> FlowDrawing | None:
    """Draw a flow with as much detail as fits; return None if it does not fit at all."""
    signs = _all_signs(flow, colors)
    for detail in DETAILS:
        columns, lines = least_size(flow, _sizes(flow, detail, colors, signs, names))
        if columns <= width and lines <= height:
            drawing = draw(flow, detail, colors, marks, height, names)
            if drawing.size[0] <= width and drawing.size[1] <= height:
                return drawing
    return None


def nearest_fitting(
    flow: Flow, width: int, height: int, colors: Palette, marks: FlowMarks = FlowMarks()
) -> FlowDrawing:
    """Draw a flow with thumbnails where they fit, if need be without the boxes that are far from what is shown."""
    counts = sorted({min(count, len(flow.boxes)) for count in NEAREST}, reverse=True)
    lines: FlowDrawing | None = None
    for count in counts:
        part = flow if count == len(flow.boxes) else nearest(flow, count)
        long = any(cell_len(visible(box.name)) > SHORT_NAME for box in part.boxes)
        for names in (WIDEST_NAME, SHORT_NAME) if long else (WIDEST_NAME,):
            drawing = _fitting(part, width, height, colors, marks, names)
            if drawing is None:
                continue
            if drawing.detail != DETAILS[-1]:
                few = lines is not None and len(drawing.flow.boxes) < FEW < len(lines.flow.boxes)
                return lines if lines is not None and few else drawing
            lines = lines or drawing
    # What does not fit is not torn: it is left out.
    return lines or draw(nearest(flow, 0), DETAILS[-1], colors)


def _all_signs(flow: Flow, colors: Palette) -> dict[str, str]:
    return {box.id: _signs(flow, box, colors) for box in flow.boxes}


def _sizes(
    flow: Flow, detail: Detail, colors: Palette, signs: Mapping[str, str], names: int
) -> dict[str, tuple[int, int]]:
    return {box.id: size_of(box, detail, colors, signs[box.id], names) for box in flow.boxes}


def size_of(box: FlowBox, detail: Detail, colors: Palette, signs: str, names: int = WIDEST_NAME) -> tuple[int, int]:
    """Return the columns and lines of a box with these signs behind its shape and so many columns for its name."""
    shape, title = shape_text(box.shape, colors.unicode), cell_len(_title(box, colors, names))
    lines, columns = -(-len(box.thumbnail) // 2), _thumbnail_width(box)
    if detail == "large":
        lines, columns = len(box.thumbnail), LARGE_CELL * columns
    if detail == "thumbnail":
        facts = cell_len(f"{shape}{signs}".strip())
        return columns + bool(columns) + max(title, facts), max(1 + bool(facts), lines)
    text = title + (1 + len(shape) if shape else 0) + cell_len(signs)
    if detail == "line":
        return text + 2, 1
    return max(text, columns) + 4, 2 + lines


def _thumbnail_width(box: FlowBox) -> int:
    return max(map(len, box.thumbnail), default=0)


def _title(box: FlowBox, colors: Palette, names: int) -> str:
    return truncated(visible(box.name), names, ellipsis(colors))


def _signs(flow: Flow, box: FlowBox, colors: Palette) -> str:
    """Return signs behind the shape: how often the code ran, what it goes on from in a loop, that it can be opened.

    And how many boxes it was computed from that are left out.

    It may go on from itself, or from boxes after it, which are named, since no arrow leads back.
    """
    times = f" {'×' if colors.unicode else 'x'}{box.times}" if (box.times or 0) > 1 else ""
    later = ", ".join(visible(source.name) for id in flow.sources_again(box.id) if (source := flow.box(id)) is not None)
    later = f" {truncated(later, WIDEST_NAME // 2, ellipsis(colors))}" if later else ""
    loops = f" {'↺' if colors.unicode else '@'}{later}" if box.loops or later else ""
    unseen = f" {'←' if colors.unicode else '<'}{box.unseen}" if box.unseen else ""
    return f"{times}{loops}{unseen}{' +' if box.opens else ''}"


def _arrows(layout: FlowLayout, colors: Palette, marks: FlowMarks) -> dict[tuple[int, int], tuple[str, Style | None]]:
    """Return the cells of all arrows; those between boxes of the path come on top."""
    nets: dict[tuple[str, bool], _Net] = {}
    for edge, parts in layout.arrows.items():
        net = nets.setdefault((edge[0], _is_on_path(edge, marks.path)), _Net())
        for part in parts:
            if part.x0 == part.x1:
                for y in range(part.y0, part.y1 + 1):
                    net.add(part.x0, y, (UP if y > part.y0 else 0) | (DOWN if y < part.y1 else 0))
            else:
                for x in range(part.x0, part.x1 + 1):
                    net.add(x, part.y0, (LEFT if x > part.x0 else 0) | (RIGHT if x < part.x1 else 0))
        # The line begins at the bottom of its box.
        net.add(parts[0].x0, parts[0].y0, UP)
    cells: dict[tuple[int, int], tuple[str, Style | None]] = {}
    lit = Style(color=colors.current.color, bold=True)
    for (_, on_path), net in sorted(nets.items(), key=lambda item: item[0][1]):
        for at, directions in net.cells.items():
            character = _JOINTS[colors.unicode].get(directions, "+")
            if at in cells and directions == LEFT | RIGHT:
                # Lines that only cross do not join: the vertical one goes through.
                continue
            cells[at] = (character.translate(_HEAVY), lit) if on_path else (character, colors.muted)
    for edge, at in layout.heads.items():
        cells[at] = "▼" if colors.unicode else "v", lit if _is_on_path(edge, marks.path) else colors.muted
    return cells


def _is_on_path(edge: Edge, path: Collection[str]) -> bool:
    return edge[0] in path and edge[1] in path
