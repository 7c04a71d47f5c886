"""Bars made of characters: how long each bar is, and on which side of zero it lies."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isnan

_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_FULL, _LEFT_HALF, _LEFT_LEAST = "█", "▐", "▕"


@dataclass(frozen=True, slots=True)
class Ruler:
    """The scale of a set of bars.

    Attributes:
        left, right: cells left and right of zero; 0 if no number lies on that side.
        unit: the amount that one cell stands for; 0 if all numbers are zero.
        unicode: whether a bar may end with a partial block character.
    """

    left: int
    right: int
    unit: float
    unicode: bool = True

    @classmethod
    def of(cls, low: float | None, high: float | None, width: int, unicode: bool = True) -> Ruler:
        """Return the ruler for numbers between `low` and `high`, with bars `width` cells wide.

        The zero line takes one cell.
        """
        below, above = max(0.0, -(low or 0.0)), max(0.0, high or 0.0)
        if not below:
            return cls(0, width, above / max(1, width), unicode)
        room = max(2, width - 1)
        left = room if not above else min(room - 1, max(1, round(room * (below / (below + above)))))
        right = room - left
        return cls(left, right, max(below / left, above / right if right else 0.0), unicode)

    def bar(self, value: float | None) -> tuple[str, str]:
        """Return the parts of a bar left of zero (exactly `left` cells) and right of zero (as long as the bar is)."""
        if value is None or isnan(value) or value == 0:
            return " " * self.left, ""
        if value > 0:
            return " " * self.left, self._rightward(value)
        return self._leftward(-value).rjust(self.left), ""

    def _rightward(self, value: float) -> str:
        if not self.right:
            return ""
        if not isfinite(value):
            return self._full * (self.right - 1) + ">"
        if not self.unicode:
            return self._whole(value, self.right) or "."
        whole, part = divmod(min(8 * self.right, max(1, self._parts(value, 8))), 8)
        return _FULL * whole + _EIGHTHS[part]

    def _leftward(self, value: float) -> str:
        if not self.left:
            return ""
        if value == inf:
            return "<" + self._full * (self.left - 1)
        if not self.unicode:
            return self._whole(value, self.left) or "."
        # Unicode has only two blocks that start at the right edge of a cell: the half block and the thinnest one.
        whole, part = divmod(min(2 * self.left, self._parts(value, 2)), 2)
        return _LEFT_HALF * part + _FULL * whole or _LEFT_LEAST

    @property
    def _full(self) -> str:
        return _FULL if self.unicode else "#"

    def _whole(self, value: float, most: int) -> str:
        return "#" * min(most, self._parts(value, 1))

    def _parts(self, value: float, parts: int) -> int:
        return round(value / self.unit * parts) if self.unit else 0
