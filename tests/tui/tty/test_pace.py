"""How long a paint waits."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tui.tty.pace import CREDIT, RATE, REST, Pace


def sizes_and_times(size: int, until: float, key_every: float = 1 / 30) -> list[float]:
    """Return when frames of this size are painted while a key is held, and after it."""
    pace, now, painted, next_key = Pace(), 0.0, [], 0.0
    while now <= until + 2 * REST:
        if next_key <= min(now, until):
            pace.heard(now)
            next_key += key_every
        if pace.delay(now) == 0:
            pace.sent(size, now)
            painted.append(now)
        now += 0.005
    return painted


@pytest.mark.parametrize("size", [200, 1000, 4000])
def test_held_keys_send_no_more_than_a_slow_line_carries(size: int) -> None:
    held = [at for at in sizes_and_times(size, 10.0) if at <= 10.0]
    assert 10 * RATE - size <= len(held) * size <= 10 * RATE + CREDIT + size
    assert max(later - earlier for earlier, later in pairwise(held)) <= size / RATE + 0.02


def test_what_keys_lead_to_is_painted_as_soon_as_they_rest() -> None:
    painted = sizes_and_times(4000, 1.5)
    assert any(1.5 < at < 1.5 + REST + 0.02 for at in painted)


def test_one_key_never_waits() -> None:
    pace = Pace()
    for now in (1.0, 4.0, 8.0):
        pace.heard(now)
        assert pace.delay(now) == 0
        pace.sent(12_000, now)
