"""Other courses on the map: a line below the lessons that says what they are, and opens them."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.controllers import startup
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.state.course_entries import CourseEntry
from tests.course import COURSE
from tests.small_course import write_course
from tests.tui.fake_session import FakeSession
from tests.tui.learner import SSH, Learner, tutor


async def test_another_course_is_described_and_opened_from_the_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = CourseFolder("rows", write_course(tmp_path / "rows"), "courses/rows")
    broken = CourseFolder("broken", tmp_path, "courses/broken")
    entries = (
        CourseEntry(broken, "broken", problem="Its course.yaml is gone."),
        CourseEntry(rows, "Reading rows", "What a row of a table says.", steps=3, done=2),
    )
    monkeypatch.setattr(startup, "other_courses", lambda _: entries)
    async with tutor() as learner:
        await learner.sees("◆ Course: broken", "cannot be read", "◆ Course: Reading rows", "2/3")
        await learner.press("end", "up")
        await learner.sees("It cannot be opened.", "Its course.yaml is gone.")
        await learner.press("enter", "c", "down")
        await learner.sees("What a row of a table says.", "2 of 3 steps are done.")
        await learner.press("enter")
        await learner.sees(lambda: not learner.app.is_running)
        assert learner.app.next_course == rows
    # The tutor opens again, with it.
    first = CourseEntry(CourseFolder("attention", tmp_path), "Attention", steps=1)
    monkeypatch.setattr(startup, "other_courses", lambda _: (first,))
    app = TutorApp(SSH, CourseSource(rows, FakeSession()))
    async with app.run_test(size=(80, 24)) as pilot:
        learner = Learner(app, pilot)
        await learner.sees("Reading rows", "Start: 1. A table", "1. The first row", "◆ Course: Attention")
        assert COURSE.lessons[0].title not in learner.text
    assert app.next_course is None
    app.close()
