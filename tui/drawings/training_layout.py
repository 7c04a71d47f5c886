"""The layout of a training on a screen of a given size, and its curves as plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attn_tutor.lessons.format.steps import Curve
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.tui.drawings.curve import LOWEST, WANTED, Plot
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
