"""What of a step stands where on a screen of a given size: prose, code, output, matrices. Pure arithmetic.

Everything is shown at once if it fits. If not, prose stays and below it one pane at a time is shown, chosen with Tab;
code keeps its place above the matrix as long as both fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

WIDE = 110
"""Columns from which prose and code stand left, matrices right."""

NARROWEST_TEXT = 52
PANEL = 9
"""Lines of an explanation, or of "what if", where there is room for so many."""

CODE = -1
"""The pane of code and output; matrices are panes 0, 1, ..."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What each part would like.

    Attributes:
        prose, code, output: lines, at the width that `text_width` gives them.
        matrices: columns and lines of each.
        code_width: columns of the widest line of code.
        widest: the same with what may stand beside it.
        panel: a number explains itself, or "what if" is open.
        narrowest: columns that the text needs beside matrices.
    """

    prose: int
    code: int
    output: int
    matrices: tuple[tuple[int, int], ...] = ()
    code_width: int = 0
    widest: int = 0
    panel: bool = False
    narrowest: int = NARROWEST_TEXT


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Heights of what is shown, 0 for what is not."""

    wide: bool
    text_width: int
    prose: int
    code: int
    output: int
    matrices: tuple[int, ...]
    panel: int = 0


def with_gap(lines: int) -> int:
    """Return so many lines and an empty one below, nothing for nothing."""
    return lines + 1 if lines else 0


def panes(needs: Needs) -> tuple[int, ...]:
    """The panes among which Tab moves: the code, then every matrix."""
    code = (CODE,) if needs.code + needs.output else ()
    return (*code, *range(len(needs.matrices)))


def text_width(width: int, needs: Needs) -> int:
    """Columns for prose and code beside matrices, on a screen of `width` columns.

    The text gets no more than it can use, at most half, and beyond its code only what the matrices leave.
    """
    if width < WIDE or not needs.matrices:
        return width
    figures = max(columns for columns, _ in needs.matrices)
    least = max(needs.code_width, needs.narrowest)
    return min(max(least, min(needs.widest, width - figures)), width // 2)


def arrange(width: int, height: int, needs: Needs, active: int = 0) -> Arrangement:
    """Give `height` lines to the parts of a step. `active` is the pane that the learner has chosen."""
    if active not in panes(needs):
        active = 0 if needs.matrices else CODE
    if not needs.panel:
        lay = _wide if width >= WIDE and needs.matrices else _narrow
        return lay(width, height, needs, active)
    if width >= WIDE and needs.matrices:
        # Below everything, over the whole width.
        lines = min(PANEL, height // 3)
        return replace(_wide(width, height - lines, needs, active), panel=lines)
    # In the place of the prose; more than one matrix and the code give way to it.
    lines = needs.matrices[active][1] if active >= 0 else 0
    free = height - needs.code - needs.output - lines
    panel = min(max(needs.prose, min(max(PANEL - 2, free), PANEL + 2)), max(height // 3, height - min(lines, 10)))
    return replace(_below(width, height, panel, needs, active), prose=0, panel=panel)


def _wide(width: int, height: int, needs: Needs, active: int) -> Arrangement:
    prose, code, output = _text(height, needs)
    return Arrangement(True, text_width(width, needs), prose, code, output, _matrices(height, needs, active))


def _narrow(width: int, height: int, needs: Needs, active: int) -> Arrangement:
    wanted = sum(lines for _, lines in needs.matrices)
    if not needs.matrices:
        prose, code, output = _text(height, needs)
        return Arrangement(False, width, prose, code, output, ())
    text = needs.code + needs.output
    if needs.prose + text + wanted <= height:
        heights = _matrices(height - needs.prose - text, needs, active)
        return Arrangement(False, width, needs.prose, needs.code, needs.output, heights)
    prose = min(needs.prose, max(height // 3, height - text - wanted))
    return _below(width, height, prose, needs, active)


def _below(width: int, height: int, prose: int, needs: Needs, active: int) -> Arrangement:
    """The chosen pane below `prose` lines of text, and what fits beside it."""
    below = height - prose
    if active == CODE:
        _, code, output = _text(below, Needs(0, needs.code, needs.output))
        return Arrangement(False, width, prose, code, output, (0,) * len(needs.matrices))
    lines = needs.matrices[active][1]
    code = needs.code if needs.code + min(lines, 10) <= below else 0
    output = needs.output if code and code + needs.output + lines <= below else 0
    return Arrangement(False, width, prose, code, output, _matrices(below - code - output, needs, active))


def _text(height: int, needs: Needs) -> tuple[int, int, int]:
    """Prose, code and output in one column: what is too long scrolls, code first."""
    prose = min(
        needs.prose, height if not needs.code + needs.output else max(height // 3, height - needs.code - needs.output)
    )
    output = min(needs.output, max(height - prose - needs.code, (height - prose) // 3))
    return prose, min(needs.code, height - prose - output), output


def _matrices(height: int, needs: Needs, active: int) -> tuple[int, ...]:
    return stacked(height, [lines for _, lines in needs.matrices], active)


def stacked(height: int, wanted: Sequence[int], active: int) -> tuple[int, ...]:
    """Heights of matrices below each other: all if they fit, else the active one and what fits beside it."""
    if sum(wanted) <= height:
        # An empty line between them, where there is room for it.
        gap = int(sum(wanted) + len(wanted) - 1 <= height)
        return tuple(lines + (gap if place + 1 < len(wanted) else 0) for place, lines in enumerate(wanted))
    active = max(active, 0)
    heights = [0] * len(wanted)
    heights[active] = min(wanted[active], height)
    left = height - heights[active]
    for place, lines in enumerate(wanted):
        if place != active and lines <= left:
            heights[place] = lines
            left -= lines
    return tuple(heights)
