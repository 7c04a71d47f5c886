"""The layout of a training on a screen of a given size, and its curves as plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lessons.format.steps import Curve
from tui.drawings.curve import LOWEST, WANTED, Plot
from tui.render.step_layout import CODE, PANEL, WIDE, Needs, arrange, stacked, text_width
from tui.state.training_replay import TrainingReplay

LEAST = 7
"""The minimum height of a matrix beside prose and curves, in lines."""

HIGHEST = 9
"""The maximum height of curves with their axes, in lines."""

CODE_LEAST = 4
"""The minimum height of code and output below prose, in lines."""


@dataclass(frozen=True, slots=True)
class TrainingLayout:
    """The height of each part in lines, 0 for parts that are not shown; the status line is not counted."""

    wide: bool
    text_width: int
    prose: int
    word: int
    curves: int
    code: int
    output: int
    matrices: tuple[int, ...]
    panel: int = 0


def lay_out(
    width: int, height: int, needs: Needs, curves: int, word: int, active: int, *, folded: bool
) -> TrainingLayout:
    """Divide `height` lines among the parts of a training.

    Args:
        width: Columns.
        height: Lines.
        needs: What prose, code, output and matrices would like.
        curves: The number of curves.
        word: Lines of the message about the training.
        active: The pane that the learner has chosen.
        folded: Whether prose that does not fit gives way to the drawings.
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
        wishes = [lines for _, lines in needs.matrices]
        if sum(wishes) + len(wishes) <= height - panel:
            # A matrix that is too wide for its half uses one more line to say how much is not visible.
            wishes = [lines + 1 for lines in wishes]
        heights = shared(height - panel, wishes, active)
        return TrainingLayout(True, text_width(width, needs), prose, word, drawn, code, output, heights, panel=panel)
    # A panel replaces the prose.
    prose = 0 if panel else needs.prose
    drawn = next((lines for lines in (WANTED, LOWEST) if left >= lines + LEAST), 0) if curves else 0
    left -= drawn
    if active == CODE or not needs.matrices:
        prose, code, output = _text(left, prose, needs)
        none = (0,) * len(needs.matrices)
        return TrainingLayout(False, width, prose, word, drawn, code, output, none, panel=panel)
    figures = [lines for _, lines in needs.matrices]
    if drawn == WANTED and (lines := left + drawn - prose - figures[active]) < drawn and not folded:
        # Make the curves a little lower if everything is visible then.
        left, drawn = (left + drawn - lines, lines) if lines >= LOWEST else (left, drawn)
    if prose + figures[active] > left:
        prose = 0 if folded else min(prose, max(0, left - LEAST))
    if drawn and folded and not prose:
        # Give the curves the lines that the matrix does not need.
        more = max(0, min(HIGHEST - drawn, left - figures[active]))
        left, drawn = left - more, drawn + more
    return TrainingLayout(False, width, prose, word, drawn, 0, 0, shared(left - prose, figures, active), panel=panel)


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
        taken = [(at, snapshot) for at, snapshot in enumerate(replay.snapshots) if curve.name in snapshot.numbers]
        here = next((index for index, (at, _) in enumerate(taken) if at == replay.position), None)
        points = tuple((snapshot.done, snapshot.numbers[curve.name]) for _, snapshot in taken)
        found.append(Plot(curve.label, points, max(replay.total, 1), here))
    return tuple(found)
