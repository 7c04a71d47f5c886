"""A training drawn: its curves with labeled axes, its state in words, and their layout on a screen.

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

from attn_tutor.lessons.format.steps import Curve
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.render.numbers import short, truncated, visible
from attn_tutor.lessons.results.result import TrainingSnapshot
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import mention
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine
from attn_tutor.tui.render.step_layout import (
    CODE,
    PANEL,
    TALLEST,
    WIDE,
    Arrangement,
    Needs,
    arrange,
    stacked,
    text_width,
)

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


def arrange_plot(count: int, width: int, height: int) -> tuple[CurveSlot, ...]:
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


def plot_bounds(values: Sequence[float]) -> tuple[float, float]:
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


def draw_curves(
    plot: Plot, width: int, height: int, unicode: bool = True, style: Style | None = None
) -> tuple[Runs, ...]:
    """Return the lines of a curve: its name and current number, the dots, and the axis of steps."""
    rows = height - 2
    level = plot.level if plot.points and plot.level is not None and isfinite(plot.level) else None
    # A level is far from zero or near it: the axis shows which.
    low, high = plot_bounds([value for _, value in plot.points] + ([] if level is None else [0.0, level]))
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
        title.add(f"  {number_drawn(plot.points[plot.here][1])}")
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
    lines.append(_axis_steps(plot, gutter, columns, unicode).runs(width))
    return tuple(lines)


def _fine(unicode: bool) -> tuple[int, int]:
    """Return how many dots a cell is wide and high."""
    return (2, 4) if unicode else (1, 3)


def _height(value: float, low: float, high: float, dots: int) -> int:
    """Return which of `dots` dots, counted from the bottom, a number belongs to."""
    share = (max(low, min(value, high)) - low) / (high - low)
    return round(share * (dots - 1))


def number_drawn(value: float) -> str:
    """Format a number of a curve."""
    return f"{value:.4f}" if isfinite(value) and 1e-3 <= abs(value) < 1e5 else short(value)


def _tick(value: float) -> str:
    return short(value if abs(value) > 1e-300 else 0.0)


def _column_of_step(step: int, total: int, columns: int) -> int:
    """Return which of `columns` columns a step belongs to."""
    return round(max(0, min(step, total)) / max(total, 1) * (columns - 1))


def _rows(plot: Plot, columns: int, rows: int, low: float, high: float, unicode: bool) -> Iterator[str]:
    """Yield the dots as text, from the top."""
    fine_x, fine_y = _fine(unicode)
    filled: list[list[int]] = [[0] * columns for _ in range(rows)]
    alarms = set()
    before: tuple[int, int] | None = None
    for step, value in plot.points:
        x = _column_of_step(step, plot.total, columns * fine_x)
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


def _axis_steps(plot: Plot, gutter: int, columns: int, unicode: bool) -> StyledLine:
    """Return the axis of steps: 0, the current step below its dot, and the last step."""
    corner, flat, mark = ("└", "─", "▲") if unicode else ("+", "-", "^")
    axis = [flat] * columns
    # The mark ends in the last column when the training is done. The total is unknown before the first snapshot.
    last = str(plot.total) if plot.points else ""
    free = columns - 1 - len(last)
    here = None
    if plot.here is not None:
        step = plot.points[plot.here][0]
        here = _column_of_step(step, plot.total, columns)
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


say = Wording("training/status")

GAP = "   "


@dataclass(frozen=True, slots=True)
class TrainingStatus:
    """The status line: the fraction of the bar that is full (None: no bar), a message, and the current snapshot.

    `short` replaces the message where there is no room for it.
    """

    share: float | None
    message: str
    current: str
    short: str = ""


def training_status(replay: TrainingReplay, about: float | None = None) -> TrainingStatus:
    """Describe the status of a training.

    Args:
        replay: The training.
        about: Seconds that such a training took before, None if unknown.
    """
    steps, current = _steps(replay.done, replay.total), _current(replay)
    share = replay.done / replay.total if replay.total else 0.0
    passed = seconds(replay.seconds)
    match replay.state:
        case "recorded":
            recorded = say("recorded", "recorded")
            took = say("recorded-in", "recorded in {time}", time=passed) if replay.seconds else recorded
            train = mention("training.go", say("train-here", "train it here"))
            again = train
            if lasts := about or (replay.seconds if replay.untouched else None):
                again = mention("training.go", say("train-about", "train it here, about {time}", time=seconds(lasts)))
            if not replay.snapshots or replay.untouched:
                untrained = say("not-trained", "not trained yet")
                # Where room is short, the name of the snapshot says that nothing has been trained yet.
                return TrainingStatus(None, untrained + GAP + again, current, train)
            return TrainingStatus(None, took + GAP + again, current, recorded + GAP + train)
        case "starting":
            return TrainingStatus(0.0, say("starting", "starting: the steps before it run first"), "")
        case "running":
            return TrainingStatus(share, steps + GAP + _time(passed, replay.left), current, steps + GAP + passed)
        case "paused":
            paused = say("paused", "paused")
            if not replay.total:
                return TrainingStatus(share, paused, current)
            after = say("paused-after", "paused after {time}", time=passed)
            return TrainingStatus(share, steps + GAP + after, current, steps + GAP + paused)
        case "stopping":
            stopping = say("stopping", "stopping")
            return TrainingStatus(share, steps + GAP + stopping if replay.total else stopping, current)
        case "trained":
            return TrainingStatus(None, say("trained", "trained here in {time}", time=passed), current)
        case "stopped":
            stopped = say("stopped", "stopped after {steps} steps, {time}: not kept", steps=steps, time=passed)
            return TrainingStatus(None, stopped, current)
        case "failed":
            failed = say("failed", "failed after {steps} steps, {time}: not kept", steps=steps, time=passed)
            return TrainingStatus(None, failed, current)


def _steps(done: int | str, total: int) -> str:
    return say("steps", "{done} of {total}", done=done, total=total)


def _time(passed: str, left: float | None) -> str:
    """Return how long a training has run, and how long it still takes if that is known."""
    if left is None:
        return passed
    return say("time-left", "{time}, about {left} left", time=passed, left=seconds(left))


def _current(replay: TrainingReplay) -> str:
    """Describe the current snapshot."""
    if replay.current is None:
        return ""
    where = say("step", "step {number}", number=replay.current.done)
    if replay.untouched:
        return say("before-training", "{step}, before training", step=where)
    if replay.busy:
        return where if replay.following else f"{where}   >: {say('newest', 'newest')}"
    number, total = replay.position + 1, len(replay.snapshots)
    return where + GAP + say("snapshot", "snapshot {number} of {total}", number=number, total=total)


def seconds(value: float) -> str:
    """Format a duration for people."""
    whole = round(value)
    if whole < 60:
        return say("seconds", "{seconds} s", seconds=whole)
    if whole < 3600:
        return say("minutes", "{minutes} min {seconds:02} s", minutes=whole // 60, seconds=whole % 60)
    return say("hours", "{hours} h {minutes:02} min", hours=whole // 3600, minutes=whole % 3600 // 60)


def progress_bar(share: float, width: int, unicode: bool = True) -> tuple[str, str]:
    """Return the full and the empty part of a bar `width` cells wide."""
    full, rest = ("━", "─") if unicode else ("#", ".")
    done = round(max(0.0, min(share, 1.0)) * width)
    # The bar is full only at the end, and never empty once the training has begun.
    done = min(done, width - 1) if share < 1 else width
    return full * max(done, int(share > 0)), rest * (width - max(done, int(share > 0)))


def failure_note(replay: TrainingReplay) -> str:
    """Return the note on the current snapshot for the header of a matrix."""
    if replay.current is None:
        return ""
    if replay.untouched:
        return say("untrained", "before training")
    number = replay.current.done
    if replay.state == "recorded":
        return say("recorded-step", "step {number}, recorded", number=number)
    return say("step", "step {number}", number=number)


def about_number(replay: TrainingReplay) -> str:
    """Return the reply to a learner who asks how a number of a snapshot was computed."""
    step = replay.current.done if replay.current is not None else 0
    return say(
        "no-explanation",
        "This number is from step {step} of the training. How it was computed is not recorded while a model trains, "
        "but the next steps explain the numbers of the trained model.",
        step=step,
    )


def snapshot_line(replay: TrainingReplay, snapshot: TrainingSnapshot, curves: Sequence[Curve]) -> str:
    """Describe a snapshot in one line: steps done, the numbers of the curves, the time."""
    width = len(str(snapshot.total))
    known = [curve for curve in curves if curve.name in snapshot.numbers]
    numbers = (f"{curve.label} {number_drawn(snapshot.numbers[curve.name])}" for curve in known)
    time = _time(seconds(replay.seconds), replay.left or None if snapshot.done < snapshot.total else None)
    return GAP.join([_steps(f"{snapshot.done:{width}}", snapshot.total), *numbers, time])


LEAST = 7
"""The minimum height of a matrix below prose and curves, in lines."""

HIGHEST = 9
"""The maximum height of curves with their axes, in lines."""

CODE_LEAST = 4
"""The minimum height of code and output below prose, in lines."""

BESIDE = 24
"""The minimum number of columns of curves that stand beside matrices."""


@dataclass(frozen=True, slots=True)
class TrainingLayout:
    """The height of each part in lines, 0 for parts that are not shown; the status line is not counted.

    The matrices of `figures` stand beside each other, with their `widths`, or below each other. `beside` are the
    columns of the curves if these stand beside the matrices on a narrow screen, 0 if they stand above them.
    """

    wide: bool
    text_width: int
    prose: int
    word: int
    curves: int
    code: int
    output: int
    figures: Arrangement
    panel: int = 0
    beside: int = 0

    @property
    def matrices(self) -> tuple[int, ...]:
        """The height of each matrix."""
        return self.figures.matrices


def lay_out(width: int, height: int, needs: Needs, curves: int, word: int, active: int) -> TrainingLayout:
    """Divide `height` lines among the parts of a training.

    Args:
        width: Columns.
        height: Lines.
        needs: What prose, code, output and matrices would like.
        curves: The number of curves.
        word: Lines of the message about the training.
        active: The pane that the learner has chosen.
    """
    panel = min(PANEL, height // 3) if needs.panel else 0
    word = min(word, max(1, height // 4))
    left = height - panel - word - 1
    if width >= WIDE and needs.matrices:
        # Stack the curves, even at their minimum height, if there is room.
        below = max(WANTED, LOWEST * curves)
        wanted = next(
            (lines for lines in (WANTED * curves, below) if needs.prose + lines + min(needs.code, 4) <= left), WANTED
        )
        drawn = wanted if left >= wanted else 0
        prose, code, output = _text(left - drawn, needs.prose, needs)
        figures = _stacked(height - panel, needs, active)
        return TrainingLayout(True, text_width(width, needs), prose, word, drawn, code, output, figures, panel=panel)
    # A panel replaces the prose.
    prose = 0 if panel else needs.prose
    if active == CODE or not needs.matrices:
        drawn = next((lines for lines in (WANTED, LOWEST) if left >= lines + LEAST), 0) if curves else 0
        prose, code, output = _text(left - drawn, prose, needs)
        none = _figures((0,) * len(needs.matrices))
        return TrainingLayout(False, width, prose, word, drawn, code, output, none, panel=panel)
    return _row(width, left, prose, word, panel, needs, curves) or _column(
        width, left, prose, word, panel, needs, curves, active
    )


def _figures(matrices: tuple[int, ...], tall: int = 1, widths: tuple[int, ...] = ()) -> Arrangement:
    return Arrangement(False, 0, 0, 0, 0, matrices, tall=tall, beside=len(matrices) if widths else 1, widths=widths)


def _stacked(height: int, needs: Needs, active: int) -> Arrangement:
    """Lay out matrices below each other; where there is room, their rows are several lines high."""
    wishes = [lines for _, lines in needs.matrices]
    spare = height - sum(wishes) - len(wishes)
    if spare < 0:
        return _figures(shared(height, wishes, active))
    tall = min(TALLEST, 1 + spare // max(1, sum(needs.rows)))
    # A matrix that is too wide for its half uses one more line to say how much is not visible.
    return _figures(
        shared(height, [lines + 1 + (tall - 1) * rows for lines, rows in zip(wishes, needs.rows, strict=True)], active),
        tall,
    )


def _row(width: int, left: int, prose: int, word: int, panel: int, needs: Needs, curves: int) -> TrainingLayout | None:
    """Lay out curves and all matrices beside each other, below the prose; None if there is no room for that."""
    lines = max(lines for _, lines in needs.matrices)
    widths = next((columns for columns in zip(*needs.forms, strict=True) if sum(columns) + BESIDE <= width), None)
    if not curves or widths is None or lines + min(prose, LEAST) > left:
        return None
    block = max(lines, left - prose) if prose + lines <= left else lines
    # Neither curves nor matrices gain by more lines than these.
    block = min(block, max(lines, HIGHEST * curves))
    prose = min(prose, left - block)
    figures = _figures((lines,) * len(widths), widths=widths)
    return TrainingLayout(False, width, prose, word, block, 0, 0, figures, panel=panel, beside=width - sum(widths))


def _column(
    width: int, left: int, prose: int, word: int, panel: int, needs: Needs, curves: int, active: int
) -> TrainingLayout:
    """Lay out prose, curves and matrices below each other."""
    drawn = next((lines for lines in (WANTED, LOWEST) if left >= lines + LEAST), 0) if curves else 0
    figures = [lines for _, lines in needs.matrices]
    lines = left - prose - figures[active]
    if drawn == WANTED and LOWEST <= lines < drawn:
        # Make the curves a little lower if everything is visible then.
        drawn = lines
    left -= drawn
    if prose + figures[active] > left:
        prose = min(prose, max(0, left - LEAST))
    return TrainingLayout(
        False, width, prose, word, drawn, 0, 0, _figures(shared(left - prose, figures, active)), panel=panel
    )


def _text(height: int, prose: int, needs: Needs) -> tuple[int, int, int]:
    """Return the lines of prose, code and output in one column; the code, which can scroll, gives way first."""
    prose = min(prose, max(0, height - min(needs.code + needs.output, CODE_LEAST)))
    # There is an empty line above the code.
    rest = arrange(WIDE, height - prose - bool(needs.code), Needs(0, needs.code, needs.output), CODE)
    return prose, max(0, rest.code), max(0, rest.output)


def shared(height: int, wanted: Sequence[int], active: int) -> tuple[int, ...]:
    """Return the heights of matrices stacked vertically; leftover lines go to the active one, for its overview."""
    heights = [*stacked(height, wanted, active)]
    if sum(wanted) > height:
        heights[max(active, 0)] += height - sum(heights)
    return tuple(heights)


def plots(replay: TrainingReplay, curves: Sequence[Curve]) -> tuple[Plot, ...]:
    """Return the plots of the curves, each with the current snapshot marked."""
    found = []
    for curve in curves:
        seen = enumerate(replay.unrolled)
        taken = [(at, snapshot) for at, snapshot in seen if curve.name in snapshot.numbers]
        here = next((index for index, (at, _) in enumerate(taken) if at == replay.position), None)
        points = tuple((snapshot.done, snapshot.numbers[curve.name]) for _, snapshot in taken)
        level = taken[-1][1].numbers.get(curve.level_name) if taken else None
        label = curve.level.label if curve.level is not None else ""
        found.append(Plot(curve.label, points, max(replay.total, 1), here, level, label))
    return tuple(found)
