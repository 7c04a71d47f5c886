"""Numbers over the course of a training, each drawn as a curve of its own with labelled axes. Pure functions.

A curve is drawn in dots finer than a character: braille patterns, or in ASCII three heights a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from rich.cells import cell_len
from rich.style import Style

from tui.drawings.styled_line import Runs, StyledLine
from tui.render.numbers import short, truncated, visible

NARROWEST, LOWEST = 18, 4
"""Columns and lines of a curve with its axes, at least."""

NUMBER = 10
"""Columns for the number that is looked at, beside the name of the curve."""

WANTED = 6
"""Lines of a curve with its axes where there is room: a title, the axis of steps, four of dots."""

_NAME, _MUTED = Style(bold=True), Style(dim=True)
COLORS = (Style(color="cyan"), Style(color="yellow"), Style(color="green"), Style(color="magenta"))
"""Only to please: every curve stands below its own name."""

_BRAILLE = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""The bits of a braille pattern: its left and right column from the bottom up."""

_ASCII = {0b001: ".", 0b010: "-", 0b100: "'"}
"""One dot of three in a character; of more than one `|`."""

_GREATEST = 1e300
"""Numbers further away are drawn as if they were this: differences between them must be finite."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A curve.

    Attributes:
        label: what its numbers are.
        points: a step and a number each, in the order of the steps. What is not finite is not drawn, but marked `!`.
        total: the steps in all.
        here: the place among the points of the one that is looked at.
    """

    label: str
    points: tuple[tuple[int, float], ...] = ()
    total: int = 1
    here: int | None = None


@dataclass(frozen=True, slots=True)
class CurveSlot:
    """Where a curve stands."""

    x: int
    y: int
    width: int
    height: int


def arrange(count: int, width: int, height: int) -> tuple[CurveSlot, ...]:
    """Where to put so many curves: beside or below each other, as many of them as there is room for."""
    for shown in range(count, 0, -1):
        best: tuple[int, int] | None = None
        for across in range(1, shown + 1):
            each = width // across, height // -(-shown // across)
            # A curve is best when it is about six times as many columns wide as it is lines high.
            worth = min(each[0], 6 * each[1])
            if each[0] >= NARROWEST and each[1] >= LOWEST and (best is None or worth > best[0]):
                best = worth, across
        if best is not None:
            across = best[1]
            wide, high = width // across, height // -(-shown // across)
            return tuple(CurveSlot(at % across * wide, at // across * high, wide, high) for at in range(shown))
    return ()


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis that holds these numbers: round ones, which seldom change while numbers are added."""
    finite = [max(-_GREATEST, min(value, _GREATEST)) for value in values if isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    if low > 0 and high - low > high / 10:
        # So that a height can be compared with another, and the axis stays when the least number falls.
        low = 0.0
    # What differs by rounding alone is drawn as a flat line.
    size = high - low if high - low > 1e-9 * max(abs(low), abs(high)) else abs(high) or 1.0
    step = _round_step(size / 4)
    bottom, top = floor(low / step) * step, ceil(high / step) * step
    if bottom >= top:
        # A constant that is no less than 0 is not drawn above negative numbers.
        bottom, top = bottom - step if low < 0 or bottom > 0 else bottom, top + step
    return bottom, top


def _round_step(size: float) -> float:
    """The least of 1, 2, 5, 10, ... (or a tenth, ...) that is no less than this."""
    power = 10.0 ** floor(log10(size))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= size * (1 - 1e-9))


def draw(plot: Plot, width: int, height: int, unicode: bool = True, style: Style | None = None) -> tuple[Runs, ...]:
    """The lines of a curve: its name and the number that is looked at, the dots, and the axis of the steps."""
    rows = height - 2
    low, high = bounds([value for _, value in plot.points])
    labels = {0: _tick(high), rows - 1: _tick(low)} if plot.points else {}
    gutter = max([6, *map(len, labels.values())])
    columns = max(1, width - gutter - 3)
    title = StyledLine()
    # The name goes to the left before it gives way to the number.
    label = visible(plot.label)
    start = max(0, min(gutter + 2, width - NUMBER - cell_len(label)))
    title.pad_to(start)
    title.add(truncated(label, max(1, width - NUMBER - start), "…" if unicode else "~"), _NAME)
    if plot.here is not None:
        title.add(f"  {number(plot.points[plot.here][1])}")
    lines = [title.runs(width)]
    for row, cells in enumerate(_rows(plot, columns, rows, low, high, unicode)):
        line = StyledLine()
        side = "┤" if unicode else "+"
        line.add(labels.get(row, "").rjust(gutter) + (side if row in labels else "│" if unicode else "|"), _MUTED)
        line.add(cells.rstrip(), style)
        lines.append(line.runs(width))
    lines.append(_steps(plot, gutter, columns, unicode).runs(width))
    return tuple(lines)


def number(value: float) -> str:
    """A number of a curve as text."""
    return f"{value:.4f}" if isfinite(value) and 1e-3 <= abs(value) < 1e5 else short(value)


def _tick(value: float) -> str:
    return short(value if abs(value) > 1e-300 else 0.0)


def _column(step: int, total: int, columns: int) -> int:
    """Which of so many columns belongs to a step."""
    return round(max(0, min(step, total)) / max(total, 1) * (columns - 1))


def _rows(plot: Plot, columns: int, rows: int, low: float, high: float, unicode: bool) -> Iterator[str]:
    """The dots as text, from the top."""
    fine_x, fine_y = (2, 4) if unicode else (1, 3)
    filled: list[list[int]] = [[0] * columns for _ in range(rows)]
    alarms = set()
    before: tuple[int, int] | None = None
    for step, value in plot.points:
        x = _column(step, plot.total, columns * fine_x)
        if not isfinite(value):
            alarms.add(x // fine_x)
            before = None
            continue
        share = (max(low, min(value, high)) - low) / (high - low)
        y = round(share * (rows * fine_y - 1))
        for dot_x, dot_y in _line(before or (x, y), (x, y)):
            row, cell = rows - 1 - dot_y // fine_y, dot_x // fine_x
            filled[row][cell] |= _BRAILLE[dot_x % 2][dot_y % 4] if unicode else 1 << dot_y % 3
        before = x, y
    for row, line in enumerate(filled):
        cells = [(chr(0x2800 + bits) if unicode else _ASCII.get(bits, "|")) if bits else " " for bits in line]
        if row == rows - 1:
            cells = ["!" if at in alarms else cell for at, cell in enumerate(cells)]
        yield "".join(cells)


def _line(start: tuple[int, int], end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The dots from one to the other, without a gap."""
    (left, bottom), (right, top) = start, end
    steps = max(abs(right - left), abs(top - bottom), 1)
    for place in range(steps + 1):
        share = place / steps
        yield round(left + (right - left) * share), round(bottom + (top - bottom) * share)


def _steps(plot: Plot, gutter: int, columns: int, unicode: bool) -> StyledLine:
    """The axis of the steps: 0, the step that is looked at below its dot, and the last step."""
    corner, flat, mark = ("└", "─", "▲") if unicode else ("+", "-", "^")
    axis = [flat] * columns
    # The last column is that of the mark when the training is done. How many steps there are, the first picture tells.
    last = str(plot.total) if plot.points else ""
    free = columns - 1 - len(last)
    here = None
    if plot.here is not None:
        step = plot.points[plot.here][0]
        here = _column(step, plot.total, columns)
        right, left = here + 1, here - len(str(step))
        if free <= here and step < plot.total:
            # The mark would stand in the number of all steps, and be read as a part of it.
            last = ""
        # The mark keeps its place, and the number stands where there is room for it.
        if 0 < step < plot.total and right + len(str(step)) < free:
            _put(axis, right, str(step))
        elif 0 < step < plot.total and left > 1 and (here < free or not last):
            _put(axis, left, str(step))
    if plot.points:
        _put(axis, 0, "0")
    _put(axis, free, last)
    if here is not None:
        axis[here] = mark
    line = StyledLine()
    line.add(" " * gutter + corner, _MUTED)
    text = "".join(axis)
    if here is None:
        line.add(text, _MUTED)
    else:
        line.add(text[:here], _MUTED)
        line.add(text[here], _NAME)
        line.add(text[here + 1 :], _MUTED)
    return line


def _put(axis: list[str], at: int, text: str) -> None:
    if at >= 0 and at + len(text) <= len(axis):
        axis[at : at + len(text)] = text
