"""Bars made of characters: how long each is, and on which side of zero. Pure text."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isnan

_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_FULL, _LEFT_HALF, _LEFT_LEAST = "█", "▐", "▕"


@dataclass(frozen=True, slots=True)
class Ruler:
    """Room for bars.

    Attributes:
        left, right: cells left and right of zero; none where no number is.
        unit: how much one cell stands for; 0 if no number is other than zero.
        unicode: whether the end of a bar may be a part of a cell.
    """

    left: int
    right: int
    unit: float
    unicode: bool = True

    @classmethod
    def of(cls, low: float | None, high: float | None, width: int, unicode: bool = True) -> Ruler:
        """The ruler for numbers between these bounds, all bars on it being this wide. The sign of zero takes a cell."""
        below, above = max(0.0, -(low or 0.0)), max(0.0, high or 0.0)
        if not below:
            return cls(0, width, above / max(1, width), unicode)
        room = max(2, width - 1)
        left = room if not above else min(room - 1, max(1, round(room * (below / (below + above)))))
        right = room - left
        return cls(left, right, max(below / left, above / right if right else 0.0), unicode)

    def bar(self, value: float | None) -> tuple[str, str]:
        """What stands left of zero, `left` cells wide, and what stands right of it, as wide as the bar is."""
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
        # Of blocks that begin at the right edge of a cell there are but the half and the thinnest.
        whole, part = divmod(min(2 * self.left, self._parts(value, 2)), 2)
        return _LEFT_HALF * part + _FULL * whole or _LEFT_LEAST

    @property
    def _full(self) -> str:
        return _FULL if self.unicode else "#"

    def _whole(self, value: float, most: int) -> str:
        return "#" * min(most, self._parts(value, 1))

    def _parts(self, value: float, parts: int) -> int:
        return round(value / self.unit * parts) if self.unit else 0
