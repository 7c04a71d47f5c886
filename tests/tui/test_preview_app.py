"""A preview on the screen: it follows the file, keeps the cursor, and says what is wrong above the last version."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from attn_tutor.lessons.authoring.previewed_course import PreviewedCourse
from attn_tutor.lessons.engine.session import Session
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.sources import draft_source
from attn_tutor.tui.sources.draft_source import DraftSource
from tests import small_course
from tests.tui.commands.command_line import WarmSession
from tests.tui.learner import SSH, Learner

pytestmark = pytest.mark.slow


@asynccontextmanager
async def opened(worker: Session, path: Path) -> AsyncIterator[Learner]:
    previewed = PreviewedCourse.at(path)
    source = DraftSource(previewed, previewed.read(), 0, cast(Session, WarmSession(worker)))
    app = TutorApp(SSH, source)
    try:
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            yield Learner(app, pilot)
    finally:
        app.close()


async def test_a_save_is_followed_and_a_mistake_is_shown_in_place(
    worker: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = small_course.write_course(tmp_path / "rows")
    file = course / "01-first-row" / "lesson.yaml"
    async with opened(worker, file) as learner:
        await learner.sees(" A table", "preview   lesson 1   step 1 of 3", "add up to 10.", "live")
        await learner.press("right", "down")
        await learner.sees("table[1,1] = 4.0")
        file.write_text(small_course.LESSON.replace("4.0]", "6.5]").replace("Look at", "See"))
        await learner.sees("See the table.", "table[1,1] = 6.5", "preview")
        file.write_text(small_course.LESSON.replace("title: A table", "titel: A table"))
        await learner.sees("older version", "lesson.yaml:7:5", "'titel' is not known here. Did you mean 'title'?")
        # The version before can still be used.
        await learner.sees("Below is the last version", "See the table.")
        await learner.press("up")
        await learner.sees("table[0,1] = 2.0")
        file.write_text(small_course.LESSON.replace("Look at", "See 7 and"))
        await learner.sees("See 7 and the table.", "table[0,1] = 2.0", "The number 7 is typed.", "preview")
        file.write_text(small_course.LESSON.replace("kind: vector}", "kind: vector, axes: [row]}"))
        await learner.sees("'table' has the shape (2, 2), but", "preview")
        # A glossary that names a step which is not there yet.
        terms = small_course.GLOSSARY.replace("first-row/table", "first-row/tables")
        (course / "glossary.yaml").write_text(terms)
        await learner.press("f2")
        await learner.sees("The course has no step", "'first-row/tables', which should")
        await learner.press("f2", "n")
        await learner.sees(" Twice as much", "Write double(x)")
        await learner.sees(lambda: not learner.app.query_one("#findings").display, "step 2 of 3")
        await learner.press("f7", "m")
        await learner.sees("Reading rows", "The first row")
        file.write_text(small_course.LESSON.replace("The first row", "Another row"))
        await learner.sees("Another row")


async def test_code_that_takes_long_is_seen_at_work(
    worker: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft_source, "PATIENCE", 0.1)
    course = small_course.write_course(tmp_path / "rows")
    async with opened(worker, course) as learner:
        await learner.sees("add up to 10.", "live")
        endless = 'code: "while True: pass"'
        code = "code: table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])"
        (course / "01-first-row" / "lesson.yaml").write_text(small_course.LESSON.replace(code, endless))
        await learner.sees("while True: pass", "preview")


async def test_a_file_that_cannot_be_read_yet_is_waited_for(
    worker: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = small_course.write_course(tmp_path / "rows", lesson="title: {\n")
    async with opened(worker, course) as learner:
        await learner.sees("Nothing to show yet", "lesson.yaml:1:1", "older version")
        (course / "01-first-row" / "lesson.yaml").write_text(small_course.LESSON)
        await learner.sees(" A table", "add up to 10.", "preview   lesson 1   step 1 of 3")
