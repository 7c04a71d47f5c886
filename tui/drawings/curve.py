"""A number over the course of a training, drawn as a curve with labeled axes.

The dots of a curve are finer than a character: braille patterns, or in ASCII three heights per line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor, isfinite, log10

from rich.cells import cell_len
from rich.style import Style

from attn_tutor.lessons.render.numbers import short, truncated, visible
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine

NARROWEST, LOWEST = 18, 4
"""The minimum columns and lines of a curve with its axes."""

NUMBER = 10
"""Columns for the current number, beside the name of the curve."""

WANTED = 6
"""The preferred height of a curve with its axes: a title, the axis of steps, and four lines of dots."""

_NAME, _MUTED = Style(bold=True), Style(dim=True)
COLORS = (Style(color="cyan"), Style(color="yellow"), Style(color="green"), Style(color="magenta"))
"""The colors of the curves. They carry no meaning: every curve has its own name above it."""

_BRAILLE = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""The bits of a braille pattern: its left and right column from the bottom up."""

_ASCII = {0b001: ".", 0b010: "-", 0b100: "'"}
"""The character for one dot of three; several dots become `|`."""

_GREATEST = 1e300
"""Numbers are clamped to this magnitude, so that differences between them are finite."""


@dataclass(frozen=True, slots=True)
class Plot:
    """The data of a curve.

    Attributes:
        label: what its numbers are.
        points: a step and a number each, in the order of the steps. Numbers that are not finite are only marked `!`.
        total: the steps in all.
        here: the position of the current point among the points, None if there is none.
        level: a number to compare with, drawn as a dotted line; None if there is none.
        level_label: what that number is.
    """

    label: str
    points: tuple[tuple[int, float], ...] = ()
    total: int = 1
    here: int | None = None
    level: float | None = None
    level_label: str = ""


@dataclass(frozen=True, slots=True)
class CurveSlot:
    """The position and size of a curve."""

    x: int
    y: int
    width: int
    height: int


def arrange(count: int, width: int, height: int) -> tuple[CurveSlot, ...]:
    """Return slots for `count` curves, side by side or stacked; fewer if not all fit."""
    for shown in range(count, 0, -1):
        best: tuple[int, int] | None = None
        for across in range(1, shown + 1):
            each = width // across, height // -(-shown // across)
            # A curve looks best when it is about six times as many columns wide as it is lines high.
            worth = min(each[0], 6 * each[1])
            if each[0] >= NARROWEST and each[1] >= LOWEST and (best is None or worth > best[0]):
                best = worth, across
        if best is not None:
            across = best[1]
            wide, high = width // across, height // -(-shown // across)
            return tuple(CurveSlot(at % across * wide, at // across * high, wide, high) for at in range(shown))
    return ()


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that contains these values: round numbers, which seldom change as values are added."""
    finite = [max(-_GREATEST, min(value, _GREATEST)) for value in values if isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    if low > 0 and high - low > high / 10:
        # Starting at zero makes heights comparable and keeps the axis still while the least number falls.
        low = 0.0
    # Draw numbers that differ only by rounding as a flat line.
    size = high - low if high - low > 1e-9 * max(abs(low), abs(high)) else abs(high) or 1.0
    # Below the least normal number there are no round ones.
    step = _round_step(max(size / 4, sys.float_info.min))
    bottom, top = floor(low / step) * step, ceil(high / step) * step
    if bottom >= top:
        # For a constant that is not negative, do not extend the axis below zero.
        bottom, top = bottom - step if low < 0 or bottom > 0 else bottom, top + step
    return bottom, top


def _round_step(size: float) -> float:
    """Return the least step of the form 1, 2 or 5 times a power of ten that is at least `size`."""
    power = 10.0 ** floor(log10(size))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= size * (1 - 1e-9))


def draw(plot: Plot, width: int, height: int, unicode: bool = True, style: Style | None = None) -> tuple[Runs, ...]:
    """Return the lines of a curve: its name and current number, the dots, and the axis of steps."""
    rows = height - 2
    level = plot.level if plot.points and plot.level is not None and isfinite(plot.level) else None
    # A level is far from zero or near it: the axis shows which.
    low, high = bounds([value for _, value in plot.points] + ([] if level is None else [0.0, level]))
    labels = {0: _tick(high), rows - 1: _tick(low)} if plot.points else {}
    gutter = max([6, *map(len, labels.values())])
    columns = max(1, width - gutter - 3)
    title = StyledLine()
    # Shift the name to the left before cutting it.
    label = visible(plot.label)
    start = max(0, min(gutter + 2, width - NUMBER - cell_len(label)))
    title.pad_to(start)
    title.add(truncated(label, max(1, width - NUMBER - start), "…" if unicode else "~"), _NAME)
    if plot.here is not None:
        title.add(f"  {number(plot.points[plot.here][1])}")
    dotted, dot = -1, ""
    if level is not None:
        fine = _fine(unicode)[1]
        up = _height(level, low, high, rows * fine)
        dotted, dot = rows - 1 - up // fine, chr(0x2800 + _BRAILLE[0][up % 4]) if unicode else _ASCII[1 << up % 3]
        said = f"   {dot * 2} {visible(plot.level_label)} {short(level)}"
        if title.width + cell_len(said) <= width:
            title.add(said, _MUTED)
    lines = [title.runs(width)]
    for row, cells in enumerate(_rows(plot, columns, rows, low, high, unicode)):
        line = StyledLine()
        side = "┤" if unicode else "+"
        line.add(labels.get(row, "").rjust(gutter) + (side if row in labels else "│" if unicode else "|"), _MUTED)
        if row == dotted:
            for blank, part in groupby(cells, key=lambda cell: cell == " "):
                text = "".join(part)
                line.add(dot * len(text) if blank else text, _MUTED if blank else style)
        else:
            line.add(cells.rstrip(), style)
        lines.append(line.runs(width))
    lines.append(_steps(plot, gutter, columns, unicode).runs(width))
    return tuple(lines)


def _fine(unicode: bool) -> tuple[int, int]:
    """Return how many dots a cell is wide and high."""
    return (2, 4) if unicode else (1, 3)


def _height(value: float, low: float, high: float, dots: int) -> int:
    """Return which of `dots` dots, counted from the bottom, a number belongs to."""
    share = (max(low, min(value, high)) - low) / (high - low)
    return round(share * (dots - 1))


def number(value: float) -> str:
    """Format a number of a curve."""
    return f"{value:.4f}" if isfinite(value) and 1e-3 <= abs(value) < 1e5 else short(value)


def _tick(value: float) -> str:
    return short(value if abs(value) > 1e-300 else 0.0)


def _column(step: int, total: int, columns: int) -> int:
    """Return which of `columns` columns a step belongs to."""
    return round(max(0, min(step, total)) / max(total, 1) * (columns - 1))


def _rows(plot: Plot, columns: int, rows: int, low: float, high: float, unicode: bool) -> Iterator[str]:
    """Yield the dots as text, from the top."""
    fine_x, fine_y = _fine(unicode)
    filled: list[list[int]] = [[0] * columns for _ in range(rows)]
    alarms = set()
    before: tuple[int, int] | None = None
    for step, value in plot.points:
        x = _column(step, plot.total, columns * fine_x)
        if not isfinite(value):
            alarms.add(x // fine_x)
            before = None
            continue
        y = _height(value, low, high, rows * fine_y)
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
    """Yield the dots from one point to another, without gaps."""
    (left, bottom), (right, top) = start, end
    steps = max(abs(right - left), abs(top - bottom), 1)
    for step in range(steps + 1):
        share = step / steps
        yield round(left + (right - left) * share), round(bottom + (top - bottom) * share)


def _steps(plot: Plot, gutter: int, columns: int, unicode: bool) -> StyledLine:
    """Return the axis of steps: 0, the current step below its dot, and the last step."""
    corner, flat, mark = ("└", "─", "▲") if unicode else ("+", "-", "^")
    axis = [flat] * columns
    # The mark ends in the last column when the training is done. The total is unknown before the first snapshot.
    last = str(plot.total) if plot.points else ""
    free = columns - 1 - len(last)
    here = None
    if plot.here is not None:
        step = plot.points[plot.here][0]
        here = _column(step, plot.total, columns)
        right, left = here + 1, here - len(str(step))
        if free <= here and step < plot.total:
            # The mark would be inside of the total, and be read as part of it.
            last = ""
        # The mark does not move; the number goes to the side that has room for it.
        if 0 < step < plot.total and right + len(str(step)) < free:
            _write(axis, right, str(step))
        elif 0 < step < plot.total and left > 1 and (here < free or not last):
            _write(axis, left, str(step))
    if plot.points:
        _write(axis, 0, "0")
    _write(axis, free, last)
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


def _write(axis: list[str], at: int, text: str) -> None:
    if at >= 0 and at + len(text) <= len(axis):
        axis[at : at + len(text)] = text
