"""What of a step stands where on a screen of a given size: prose, code, output, matrices. Pure arithmetic.

Everything is shown at once if it fits. If not, prose stays and below it one pane at a time is shown, chosen with Tab;
code keeps its place above the matrix as long as both fit.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDE = 110
"""Columns from which prose and code stand left, matrices right."""

LEAST_MATRIX = 5
CODE = -1
"""The pane of code and output; matrices are panes 0, 1, ..."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Lines that each part would like: prose, code, output, and every matrix (columns and lines)."""

    prose: int
    code: int
    output: int
    matrices: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Heights of what is shown, 0 for what is not; `panes` are those among which Tab moves."""

    wide: bool
    text_width: int
    prose: int
    code: int
    output: int
    matrices: tuple[int, ...]
    panes: tuple[int, ...]

    @property
    def switched(self) -> bool:
        """Whether some pane is not on the screen."""
        shown = sum(height > 0 for height in self.matrices) + (self.code > 0)
        return shown < len(self.panes)


def text_width(width: int) -> int:
    """Columns for prose and code on a screen of `width` columns."""
    return min(76, width * 9 // 20) if width >= WIDE else width


def arrange(width: int, height: int, needs: Needs, active: int = 0) -> Arrangement:
    """Give `height` lines to the parts of a step. `active` is the pane that the learner has chosen."""
    panes = tuple(range(len(needs.matrices)))
    text = needs.code + needs.output
    if text:
        panes = (CODE, *panes)
    if active not in panes:
        active = 0 if needs.matrices else CODE
    if width >= WIDE and needs.matrices:
        return _wide(width, height, needs, panes, active)
    return _narrow(width, height, needs, panes, active)


def _wide(width: int, height: int, needs: Needs, panes: tuple[int, ...], active: int) -> Arrangement:
    prose, code, output = _text(height, needs)
    return Arrangement(True, text_width(width), prose, code, output, _matrices(height, needs, active), panes)


def _narrow(width: int, height: int, needs: Needs, panes: tuple[int, ...], active: int) -> Arrangement:
    wanted = sum(lines for _, lines in needs.matrices)
    if not needs.matrices:
        prose, code, output = _text(height, needs)
        return Arrangement(False, width, prose, code, output, (), panes)
    text = needs.code + needs.output
    if needs.prose + text + wanted <= height:
        heights = _matrices(height - needs.prose - text, needs, active)
        return Arrangement(False, width, needs.prose, needs.code, needs.output, heights, panes)
    prose = min(needs.prose, max(height // 3, height - text - wanted))
    below = height - prose
    if active == CODE:
        _, code, output = _text(below, Needs(0, needs.code, needs.output))
        return Arrangement(False, width, prose, code, output, (0,) * len(needs.matrices), panes)
    lines = needs.matrices[active][1]
    code = needs.code if needs.code + min(lines, 10) <= below else 0
    output = needs.output if code and code + needs.output + lines <= below else 0
    return Arrangement(False, width, prose, code, output, _matrices(below - code - output, needs, active), panes)


def _text(height: int, needs: Needs) -> tuple[int, int, int]:
    """Prose, code and output in one column: what is too long scrolls, code first."""
    prose = min(
        needs.prose, height if not needs.code + needs.output else max(height // 3, height - needs.code - needs.output)
    )
    output = min(needs.output, max(height - prose - needs.code, (height - prose) // 3))
    return prose, min(needs.code, height - prose - output), output


def _matrices(height: int, needs: Needs, active: int) -> tuple[int, ...]:
    """Heights of the matrices below each other: all if they fit, else the active one and what fits beside it."""
    wanted = [lines for _, lines in needs.matrices]
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
