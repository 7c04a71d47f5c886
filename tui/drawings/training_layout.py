"""Where the parts of a training stand on a screen of a given size, and its curves. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lessons.format.steps import Curve
from tui.drawings.curve import LOWEST, WANTED, Plot
from tui.render.step_layout import CODE, PANEL, WIDE, Needs, arrange, stacked, text_width
from tui.state.training_replay import TrainingReplay

LEAST = 7
"""Lines that a matrix gets beside prose and curves, at least."""

HIGHEST = 9
"""Lines of curves with their axes where there is room to spare."""

CODE_LEAST = 4
"""Lines that code and output get below prose, at least."""


@dataclass(frozen=True, slots=True)
class TrainingLayout:
    """Lines of what is shown, 0 for what is not; besides there is the line of the standing."""

    wide: bool
    text_width: int
    prose: int
    word: int
    curves: int
    code: int
    output: int
    matrices: tuple[int, ...]
    panel: int = 0


def plan(width: int, height: int, needs: Needs, curves: int, word: int, active: int, *, folded: bool) -> TrainingLayout:
    """Give `height` lines to the parts of a training.

    Args:
        width: Columns.
        height: Lines.
        needs: What prose, code, output and matrices would like.
        curves: How many there are.
        word: Lines of what there is to say about the training.
        active: The pane that the learner has chosen.
        folded: The learner looks at the pictures: prose that does not fit gives way to them.
    """
    panel = min(PANEL, height // 3) if needs.panel else 0
    word = min(word, max(1, height // 4))
    left = height - panel - word - 1
    if width >= WIDE and needs.matrices:
        # Below each other if they can be, lower ones too.
        below = max(WANTED, LOWEST * curves)
        wanted = next(
            (lines for lines in (WANTED * curves, below) if needs.prose + lines + min(needs.code, 4) <= left), WANTED
        )
        drawn = wanted if left >= wanted else 0
        prose, code, output = _text(left - drawn, needs.prose, needs)
        wishes = [lines for _, lines in needs.matrices]
        if sum(wishes) + len(wishes) <= height - panel:
            # One that is too wide for its half tells in a line more what of it is not in view.
            wishes = [lines + 1 for lines in wishes]
        heights = shared(height - panel, wishes, active)
        return TrainingLayout(True, text_width(width, needs), prose, word, drawn, code, output, heights, panel=panel)
    # A panel takes the place of the prose.
    prose = 0 if panel else needs.prose
    drawn = next((lines for lines in (WANTED, LOWEST) if left >= lines + LEAST), 0) if curves else 0
    left -= drawn
    if active == CODE or not needs.matrices:
        prose, code, output = _text(left, prose, needs)
        none = (0,) * len(needs.matrices)
        return TrainingLayout(False, width, prose, word, drawn, code, output, none, panel=panel)
    figures = [lines for _, lines in needs.matrices]
    if drawn == WANTED and (lines := left + drawn - prose - figures[active]) < drawn and not folded:
        # Curves somewhat lower, if all is in view then.
        left, drawn = (left + drawn - lines, lines) if lines >= LOWEST else (left, drawn)
    if prose + figures[active] > left:
        prose = 0 if folded else min(prose, max(0, left - LEAST))
    if drawn and folded and not prose:
        # What the matrix can spare.
        more = max(0, min(HIGHEST - drawn, left - figures[active]))
        left, drawn = left - more, drawn + more
    return TrainingLayout(False, width, prose, word, drawn, 0, 0, shared(left - prose, figures, active), panel=panel)


def _text(height: int, prose: int, needs: Needs) -> tuple[int, int, int]:
    """Lines of prose, code and output below each other: the code, which can be scrolled, gives way first."""
    prose = min(prose, max(0, height - min(needs.code + needs.output, CODE_LEAST)))
    # An empty line stands above the code.
    rest = arrange(WIDE, height - prose - bool(needs.code), Needs(0, needs.code, needs.output), CODE)
    return prose, max(0, rest.code), max(0, rest.output)


def shared(height: int, wanted: Sequence[int], active: int) -> tuple[int, ...]:
    """Lines of matrices below each other; an overview can make use of what is left over."""
    heights = [*stacked(height, wanted, active)]
    if sum(wanted) > height:
        heights[max(active, 0)] += height - sum(heights)
    return tuple(heights)


def plots(replay: TrainingReplay, curves: Sequence[Curve]) -> tuple[Plot, ...]:
    """The curves of the numbers, with the picture in view."""
    plots = []
    for curve in curves:
        taken = [(at, picture) for at, picture in enumerate(replay.pictures) if curve.name in picture.numbers]
        here = next((place for place, (at, _) in enumerate(taken) if at == replay.place), None)
        points = tuple((picture.done, picture.numbers[curve.name]) for _, picture in taken)
        plots.append(Plot(curve.label, points, max(replay.total, 1), here))
    return tuple(plots)
