"""Which exercises come back, and when: those that were missed, after longer and longer times.

An exercise is missed when an answer to it does not pass, and when the learner gives up. From then on it is due until it
is passed. After that it is due again when the first of `INTERVALS` is over, and with each pass that comes when it is
due, after the next one; with the last it leaves. A new miss begins all this anew.

Clocks are set back. What lies later than now did happen, but nobody knows when: a miss counts, as the oldest of all,
and a pass does not, so that an exercise comes too often rather than never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from lessons.learner.records import Attempt

INTERVALS = tuple(timedelta(days=days) for days in (1, 3, 7, 21))
"""From a pass to the next review."""

_EARLIEST = datetime.min.replace(tzinfo=UTC)


def due(attempts: Iterable[Attempt], gave_up: Iterable[str], now: datetime) -> datetime | None:
    """When an exercise is to be done again, None if it does not come back.

    Args:
        attempts: the answers to it, in any order.
        gave_up: when the learner gave up on it, as `Progress.give_ups` tells.
        now: the time now, with its zone.
    """
    now = now.astimezone(UTC)
    when: datetime | None = None
    passes = 0
    for time, missed in sorted(_events(attempts, gave_up, now)):
        if missed:
            when, passes = time, 0
        elif when is not None and time >= when:
            when = time + INTERVALS[passes] if passes < len(INTERVALS) else None
            passes += 1
    return now if when == _EARLIEST else when


def is_due(attempts: Iterable[Attempt], gave_up: Iterable[str], now: datetime) -> bool:
    """Whether an exercise is to be done again now; see `due`."""
    when = due(attempts, gave_up, now)
    return when is not None and when <= now


def _events(attempts: Iterable[Attempt], gave_up: Iterable[str], now: datetime) -> Iterator[tuple[datetime, bool]]:
    """The times of misses (True) and passes (False). Of two at one time the miss counts, as it sorts last."""
    for attempt in attempts:
        time = _known(attempt.time, now)
        if attempt.verdict == "passed":
            if time is not None:
                yield time, False
        else:
            yield time or _EARLIEST, True
    for text in gave_up:
        yield _known(text, now) or _EARLIEST, True


def _known(text: str, now: datetime) -> datetime | None:
    """A time that has been, None if it cannot be: it is yet to come, or a damaged file holds no time there."""
    try:
        time = datetime.fromisoformat(text)
        time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None
    return time if time <= now else None
