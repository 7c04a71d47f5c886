"""Spaced review: which exercises come back, and when.

An exercise is missed when an answer to it does not pass, and when the learner gives up. From then on it is due until
it is passed. After that pass it is due again when the first of `INTERVALS` has elapsed, and after each further pass
while it is due, when the next one has; after the last interval it does not come back. A new miss starts over.

Clocks can be set back. An event later than now did happen, but nobody knows when: a miss counts as the oldest of
all, and a pass does not count, so that an exercise comes back too often rather than never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from lessons.learner.records import Attempt

INTERVALS = tuple(timedelta(days=days) for days in (1, 3, 7, 21))
"""The times from a pass to the next review."""

_EARLIEST = datetime.min.replace(tzinfo=UTC)


def due(attempts: Iterable[Attempt], gave_up: Iterable[str], now: datetime) -> datetime | None:
    """Return when an exercise is to be repeated, or None if it does not come back.

    Args:
        attempts: the answers to the exercise, in any order.
        gave_up: the times when the learner gave up on it, as `Progress.give_ups` returns them.
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
    """Return whether an exercise is to be repeated now; see `due`."""
    when = due(attempts, gave_up, now)
    return when is not None and when <= now


def _events(attempts: Iterable[Attempt], gave_up: Iterable[str], now: datetime) -> Iterator[tuple[datetime, bool]]:
    """Yield the times of misses (True) and passes (False); sorted, a miss follows a pass of the same time."""
    for attempt in attempts:
        time = _past_time(attempt.time, now)
        if attempt.verdict == "passed":
            if time is not None:
                yield time, False
        else:
            yield time or _EARLIEST, True
    for text in gave_up:
        yield _past_time(text, now) or _EARLIEST, True


def _past_time(text: str, now: datetime) -> datetime | None:
    """Parse a time; None if it is in the future, or if a damaged file has no time there."""
    try:
        time = datetime.fromisoformat(text)
        time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None
    return time if time <= now else None
