"""How often the screen is painted: seldom enough for a slow line while keys are held, at once when the keys rest.

Nothing tells how fast a line is. A terminal at the other end of one takes all that it is sent, and shows it later: keys
that are held would be answered long after they are released.
"""

from __future__ import annotations

RATE = 4000
"""Bytes a second that even a slow line carries. While keys arrive, no more is sent on average."""

CREDIT = 1000
"""Bytes that may be sent beyond the rate after a pause."""

REST = 0.2
"""Seconds without input before or after a key that is not held. Then the screen is painted whatever it costs."""

ONE_KEY = 12
"""Characters of the longest usual key. More than that in one read are keys that a line has delivered together."""


class Pace:
    """Says how long the next paint has to wait. All times are seconds of one clock."""

    def __init__(self) -> None:
        self._input_at = float("-inf")
        self._is_held = False
        self._credit = float(CREDIT)
        self._counted_at = 0.0

    def heard(self, text: str, now: float) -> None:
        """Note the input that has arrived in one read."""
        self._is_held = now - self._input_at < REST or len(text) > ONE_KEY
        self._input_at = now

    def sent(self, size: int, now: float) -> None:
        """Note that bytes have been sent."""
        self._count(now)
        self._credit -= size

    def delay(self, now: float) -> float:
        """Return the seconds to wait before the screen is painted; 0 if it may be painted at once."""
        self._count(now)
        return max(0.0, min(-self._credit / RATE, self._input_at + REST - now)) if self._is_held else 0.0

    def _count(self, now: float) -> None:
        self._credit = min(CREDIT, self._credit + RATE * max(0.0, now - self._counted_at))
        self._counted_at = now
