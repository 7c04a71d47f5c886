"""Spaced review: which exercises are due, and when."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.learner.records import Attempt
from attn_tutor.lessons.learner.review import INTERVALS, due_at, is_due_at
from attn_tutor.lessons.results.verdict import Verdict

START = datetime(2024, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def attempt(days: float, verdict: Verdict = "passed", message: str = "") -> Attempt:
    return Attempt("code", verdict, (START + days * DAY).isoformat(timespec="microseconds"), message=message)


def at(days: float) -> datetime:
    return START + days * DAY


NOW = at(100)


def test_an_exercise_that_was_never_missed_is_never_due() -> None:
    assert due_at([], [], NOW) is None
    assert due_at([attempt(0), attempt(1), attempt(50)], [], NOW) is None
    assert not is_due_at([attempt(0)], [], NOW)


@pytest.mark.parametrize("verdict", [verdict for verdict in get_args(Verdict) if verdict != "passed"])
def test_a_miss_is_due_after_a_day_until_it_is_passed(verdict: Verdict) -> None:
    missed = [attempt(-5), attempt(0, verdict)]
    assert due_at(missed, [], NOW) == at(1)
    assert not is_due_at(missed, [], at(0.9))
    assert is_due_at(missed, [], at(50))
    assert due_at([*missed, attempt(40)], [], NOW) == at(41)
    assert due_at([*missed, attempt(0.1)], [], at(0.1)) == at(1.1)
    assert not is_due_at([*missed, attempt(0.1)], [], at(1.09))
    assert is_due_at([*missed, attempt(0.1)], [], at(1.1))


@pytest.mark.parametrize("verdict", [verdict for verdict in get_args(Verdict) if verdict != "passed"])
def test_what_was_never_passed_is_not_due(verdict: Verdict) -> None:
    assert due_at([attempt(0, verdict), attempt(3, verdict)], [], NOW) is None
    assert due_at([attempt(0, verdict), attempt(3)], [], NOW) == at(4)


def test_intervals_grow_with_each_pass_that_was_due() -> None:
    attempts, passed = [attempt(-1, "failed")], 0.0
    for days in (1, 3, 7, 21):
        attempts.append(attempt(passed))
        assert due_at(attempts, [], NOW) == at(passed + days)
        passed += days
    assert due_at([*attempts, attempt(passed)], [], NOW) is None
    # The reviews are over; a new miss starts them again with the first interval.
    again = [*attempts, attempt(passed), attempt(50, "failed"), attempt(51)]
    assert due_at(again, [], NOW) == at(52)


def test_a_pass_before_the_due_date_changes_nothing() -> None:
    attempts = [attempt(-1, "failed"), attempt(0), attempt(0.5), attempt(0.9)]
    assert due_at(attempts, [], NOW) == at(1)
    # A late pass counts as much as one in time.
    assert due_at([*attempts, attempt(9)], [], NOW) == at(12)


def test_a_miss_goes_back_to_the_first_interval() -> None:
    attempts = [attempt(-1, "failed"), attempt(0), attempt(1), attempt(4), attempt(5, "error")]
    assert due_at(attempts, [], NOW) == at(6)
    assert due_at([*attempts, attempt(6)], [], NOW) == at(7)


def test_giving_up_is_a_miss() -> None:
    assert due_at([], [at(2).isoformat()], NOW) == at(3)
    assert due_at([attempt(1)], [at(2).isoformat()], NOW) == at(3)
    # Who tries again after giving up, and fails, has a day as well.
    assert due_at([attempt(5, "failed")], [at(2).isoformat()], NOW) == at(6)
    assert due_at([attempt(3)], [at(2).isoformat()], NOW) == at(4)


def test_times_may_have_any_zone_or_none() -> None:
    zone = timezone(timedelta(hours=5))
    missed = replace(attempt(0, "failed"), time=at(0).astimezone(zone).isoformat())
    naive = replace(attempt(0, "failed"), time=at(0).replace(tzinfo=None).isoformat())
    for one in (missed, naive):
        assert due_at([one, attempt(-1)], [], NOW.astimezone(zone)) == at(1)


def test_a_miss_in_the_future_can_be_passed() -> None:
    ahead = [attempt(1000, "failed")]
    assert due_at(ahead, [], NOW) is None
    assert due_at([*ahead, attempt(99)], [], NOW) == at(100)
    # A pass in the future does not say when it happened.
    assert due_at([*ahead, attempt(1001)], [], NOW) is None
    assert due_at([], [at(1000).isoformat()], NOW) == NOW


@pytest.mark.parametrize("time", ["", "yesterday", "0001-01-01T00:00:00+14:00", None])
def test_an_invalid_time_is_ignored(time: str) -> None:
    assert due_at([Attempt("code", "failed", time)], [], NOW) is None
    assert due_at([], [time], NOW) == NOW
    assert due_at([Attempt("code", "passed", time)], [], NOW) is None
    assert due_at([attempt(0)], [time], NOW) == at(1)


DAYS = st.floats(-300, 300, allow_nan=False)
ATTEMPTS = st.lists(st.builds(attempt, DAYS, st.sampled_from(get_args(Verdict))))
GIVE_UPS = st.lists(DAYS.map(lambda days: at(days).isoformat()), max_size=3)


@given(ATTEMPTS, GIVE_UPS, DAYS, st.randoms())
def test_the_order_of_the_attempts_does_not_matter(
    attempts: list[Attempt], gave_up: list[str], days: float, chance: object
) -> None:
    before = due_at(attempts, gave_up, at(days))
    chance.shuffle(attempts)  # type: ignore[attr-defined]
    chance.shuffle(gave_up)  # type: ignore[attr-defined]
    assert due_at(attempts, gave_up, at(days)) == before


@given(ATTEMPTS, GIVE_UPS, DAYS)
def test_the_due_date_is_at_most_an_interval_away(attempts: list[Attempt], gave_up: list[str], days: float) -> None:
    now = at(days)
    when = due_at(attempts, gave_up, now)
    assert is_due_at(attempts, gave_up, now) == (when is not None and when <= now)
    if when is not None:
        assert when.tzinfo is not None
        assert when <= now + INTERVALS[-1]


@given(ATTEMPTS, GIVE_UPS, DAYS)
def test_only_missed_exercises_are_due(attempts: list[Attempt], gave_up: list[str], days: float) -> None:
    if not gave_up and all(one.verdict == "passed" or one.message for one in attempts):
        assert due_at(attempts, gave_up, at(days)) is None


@given(ATTEMPTS, GIVE_UPS, DAYS)
def test_a_new_miss_is_not_due_before_a_day(attempts: list[Attempt], gave_up: list[str], days: float) -> None:
    """Whatever happened before, and however often clocks were set back."""
    when = due_at([*attempts, attempt(days, "failed")], gave_up, at(days))
    assert when in (None, at(days) + INTERVALS[0])


@given(ATTEMPTS, GIVE_UPS, DAYS)
def test_passing_each_review_ends_the_reviews(attempts: list[Attempt], gave_up: list[str], days: float) -> None:
    now, passes = at(days), 0
    past = [one for one in attempts if datetime.fromisoformat(one.time) <= now]
    given_up = [time for time in gave_up if datetime.fromisoformat(time) <= now]
    while (when := due_at(past, given_up, now)) is not None:
        now = max(now, when) + timedelta(minutes=1)
        past.append(Attempt("code", "passed", now.isoformat()))
        passes += 1
        assert passes <= len(INTERVALS) + 1
