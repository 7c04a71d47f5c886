"""How long a paint waits."""

from __future__ import annotations

from itertools import pairwise

import pytest

from attn_tutor.tui.tty.terminal_writer import CREDIT, RATE, REST, Pace

KEY = "\x1b[6~"


def paint_times(size: int, until: float, key_every: float = 1 / 30) -> list[float]:
    """Return when frames of this size are painted while a key is held, and after it."""
    pace, now, painted, next_key, changed = Pace(), 0.0, [], 0.0, False
    while now <= until + 2 * REST:
        if next_key <= min(now, until):
            pace.heard(KEY, now)
            next_key += key_every
            changed = True
        if changed and pace.delay(now) == 0:
            pace.sent(size, now)
            painted.append(now)
            changed = False
        now += 0.005
    return painted


@pytest.mark.parametrize("size", [200, 1000, 4000])
def test_held_keys_send_no_more_than_a_slow_line_carries(size: int) -> None:
    held = [at for at in paint_times(size, 10.0) if at <= 10.0]
    assert len(held) * size <= 10 * RATE + CREDIT + size
    assert max(later - earlier for earlier, later in pairwise(held)) <= size / RATE + 0.04


def test_what_keys_lead_to_is_painted_as_soon_as_they_rest() -> None:
    painted = paint_times(4000, 1.5)
    assert any(1.5 < at < 1.5 + REST + 0.02 for at in painted)


def test_a_key_that_is_not_held_never_waits() -> None:
    pace = Pace()
    for now in (1.0, 1.3, 1.6):
        pace.heard(KEY, now)
        assert pace.delay(now) == 0
        pace.sent(12_000, now)


def test_keys_that_a_line_delivers_together_are_held() -> None:
    pace = Pace()
    pace.sent(2 * CREDIT, 0.0)
    pace.heard(KEY * 5, 1.0)
    pace.sent(12_000, 1.0)
    assert pace.delay(1.0) == pytest.approx(REST)
