"""Spaced review: which exercises come back, and when.

An exercise is missed when an answer to it does not pass, and when the learner gives up. One that was neither passed nor
given up is still being learned and does not come back. Otherwise a miss has it come back when the first of `INTERVALS`
has elapsed since the miss, or since the pass that follows it by then. After each further pass while it is due it comes
back when the next interval has elapsed; after the last one it does not. A new miss starts over.

Clocks can be set back. An event later than now did happen, but nobody knows when: a miss counts as the oldest of
all, and a pass does not count, so that an exercise comes back too often rather than never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from attn_tutor.lessons.learner.records import Attempt

INTERVALS = tuple(timedelta(days=days) for days in (1, 3, 7, 21))
"""The times from a pass to the next review."""

_EARLIEST = datetime.min.replace(tzinfo=UTC)


def due_at(attempts: Iterable[Attempt], gave_up: Iterable[str], now: datetime) -> datetime | None:
    """Return when an exercise is to be repeated, or None if it does not come back.

    Args:
        attempts: the answers to the exercise, in any order.
        gave_up: the times when the learner gave up on it, as `Progress.give_ups` returns them.
        now: the time now, with its zone.
    """
    now = now.astimezone(UTC)
    when: datetime | None = None
    passes, learned = 0, False
    # Whether an answer has failed, or the learner has given up, since the last pass.
    missed = False
    for time, event in sorted(_events(attempts, gave_up, now)):
        if event is _Event.PASSED:
            if missed:
                passes = 0
            if missed or (when is not None and time >= when):
                when = time + INTERVALS[passes] if passes < len(INTERVALS) else None
                passes += 1
            missed, learned = False, True
        else:
            missed, learned = True, learned or event is _Event.GAVE_UP
            when = time + INTERVALS[0] if learned else None
    return now if when is not None and when <= _EARLIEST + INTERVALS[0] else when


def is_due_at(attempts: Iterable[Attempt], gave_up: Iterable[str], now: datetime) -> bool:
    """Return whether an exercise is to be repeated now; see `due`."""
    when = due_at(attempts, gave_up, now)
    return when is not None and when <= now


class _Event(IntEnum):
    """What has happened to an exercise; of events at the same time, a miss follows a pass."""

    PASSED, FAILED, GAVE_UP = range(3)


def _events(attempts: Iterable[Attempt], gave_up: Iterable[str], now: datetime) -> Iterator[tuple[datetime, _Event]]:
    """Yield what has happened to an exercise, with the times."""
    for attempt in attempts:
        time = _past_time(attempt.time, now)
        if attempt.verdict == "passed":
            if time is not None:
                yield time, _Event.PASSED
        else:
            yield time or _EARLIEST, _Event.FAILED
    for text in gave_up:
        yield _past_time(text, now) or _EARLIEST, _Event.GAVE_UP


def _past_time(text: str, now: datetime) -> datetime | None:
    """Parse a time; None if it is in the future, or if a damaged file has no time there."""
    try:
        time = datetime.fromisoformat(text)
        time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None
    return time if time <= now else None
