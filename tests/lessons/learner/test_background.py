"""Progress as the screen uses it: every question is answered from memory, and a thread writes."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from attn_tutor.lessons.learner import exports, review
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.progress_file import Exchange, ProgressFile, default_path
from attn_tutor.lessons.learner.tables import Rows
from tests.tui.fake_session import PATIENCE


class Disk:
    """A recorder of what is written to progress files. While `held` is clear, a write begins and does not end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.written: list[dict[str, list[tuple[str, ...]]]] = []
        self.held, self.began = threading.Event(), threading.Event()
        self.held.set()
        real = ProgressFile.write

        def write(file: ProgressFile, rows: Rows, *, live: bool = True) -> Exchange:
            told = {
                table: [
                    tuple(value for name, value in row.items() if name not in ("time", "version", "base"))
                    for row in each
                ]
                for table, each in rows.items()
            }
            if told:
                self.written.append(told)
                self.began.set()
                assert self.held.wait(PATIENCE)
            return real(file, rows, live=live)

        monkeypatch.setattr(ProgressFile, "write", write)

    def rows(self, table: str) -> list[tuple[str, ...]]:
        """Return all rows of a table that were written, in order."""
        return [row for rows in self.written for row in rows.get(table, ())]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    disk = Disk(monkeypatch)
    yield disk
    disk.held.set()


def open_in_background() -> Progress:
    return Progress.open(background=True)


def next_review(progress: Progress, exercise: str) -> datetime | None:
    return review.due_at(progress.attempts(exercise), progress.give_ups(exercise), datetime.now(UTC))


def test_everything_is_there_the_next_time() -> None:
    progress = open_in_background()
    assert (progress.position(), progress.saved, progress.problem) == (None, True, None)
    progress.visit("one-query", "why")
    progress.set_state("one-query", "why", "done")
    progress.visit("one-query", "inputs")
    progress.save_draft("two-wide", "x = 1\n")
    progress.save_draft("two-wide", "x = 2\n")
    progress.add_attempt("two-wide", "x = 2\n", "failed")
    progress.use_hint("two-wide", 2)
    progress.archive("two-wide", "x = 0", "reset")
    progress.close()

    again = open_in_background()
    assert again.position() == ("one-query", "inputs")
    assert again.state("one-query", "why") == "done"
    assert again.state("one-query", "inputs") == "seen"
    assert again.state("one-query", "scores") == "new"
    assert again.draft("two-wide") == "x = 2\n"
    assert again.draft("same-numbers") is None
    assert not again.passed("two-wide")
    assert again.hints_used("two-wide") == 2
    assert [each.code for each in again.archived("two-wide")] == ["x = 0"]
    again.add_attempt("two-wide", "x = 3\n", "passed")
    again.close()
    with closing(open_in_background()) as last:
        assert last.passed("two-wide")


def test_questions_are_answered_while_the_disk_hangs(disk: Disk) -> None:
    progress = open_in_background()
    disk.held.clear()
    progress.visit("one-query", "why")
    assert disk.began.wait(PATIENCE)
    progress.save_draft("two-wide", "x = 1\n")
    assert progress.position() == ("one-query", "why")
    assert progress.state("one-query", "why") == "seen"
    assert progress.draft("two-wide") == "x = 1\n"
    progress.add_attempt("two-wide", "x = 1\n", "failed")
    assert not progress.passed("two-wide")
    assert next_review(progress, "two-wide") is None
    progress.add_attempt("two-wide", "x = 1\n", "passed")
    assert progress.passed("two-wide")
    progress.use_hint("two-wide", 1)
    progress.give_up("two-wide")
    progress.use_solution("two-wide")
    assert (progress.hints_used("two-wide"), progress.gave_up("two-wide")) == (1, True)
    assert progress.solution_used("two-wide")
    given_up = next_review(progress, "two-wide")
    progress.take_back_give_up("two-wide")
    taken_back = next_review(progress, "two-wide")
    assert given_up is not None
    assert taken_back is not None
    assert taken_back < given_up
    progress.archive("two-wide", "x = 0", "reset")
    assert [each.code for each in progress.archived("two-wide")] == ["x = 0"]
    assert len(progress.history()) == 2
    drafts = progress.export()["drafts"]
    assert isinstance(drafts, list)
    assert len(drafts) == 1
    disk.held.set()
    progress.close()
    assert disk.rows("help") == [
        ("two-wide", "hint-1"), ("two-wide", "gave-up"), ("two-wide", "solution"), ("two-wide", "took-back")
    ]  # fmt: skip


def test_questions_are_answered_while_another_program_locks_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock is real, and the thread waits for it longer than this test takes."""
    monkeypatch.setattr("attn_tutor.lessons.learner.progress_file.PATIENCE", PATIENCE)
    progress = open_in_background()
    with closing(sqlite3.connect(default_path(), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        progress.save_draft("two-wide", "x = 1")
        progress.save_draft("two-wide", "x = 2")
        progress.visit("one-query", "why")
        assert progress.draft("two-wide") == "x = 2"
        assert progress.position() == ("one-query", "why")
        # The thread has not written anything.
        assert other.execute("SELECT count(*) FROM drafts").fetchone() == (0,)
        other.execute("ROLLBACK")
    progress.close()
    with closing(open_in_background()) as again:
        assert again.draft("two-wide") == "x = 2"


def test_a_state_that_does_not_rise_is_not_written(disk: Disk) -> None:
    progress = open_in_background()
    for state in ("skipped", "seen", "done", "skipped", "done"):
        progress.set_state("one-query", "why", state)
    progress.visit("one-query", "why")
    progress.close()
    assert disk.rows("states") == [("one-query", "why", "skipped"), ("one-query", "why", "done")]
    with closing(open_in_background()) as again:
        assert again.state("one-query", "why") == "done"


def test_only_the_newest_draft_is_queued(disk: Disk) -> None:
    """However fast a learner types and however slow the disk is."""
    progress = open_in_background()
    disk.held.clear()
    progress.save_draft("two-wide", "first")
    assert disk.began.wait(PATIENCE)
    for number in range(100):
        progress.save_draft("two-wide", f"version {number}")
        progress.save_draft("same-numbers", f"other {number}")
    disk.held.set()
    progress.close()
    assert disk.rows("drafts") == [("two-wide", "first"), ("two-wide", "version 99"), ("same-numbers", "other 99")]


def test_closing_writes_queued_rows(disk: Disk) -> None:
    progress = open_in_background()
    disk.held.clear()
    progress.visit("one-query", "why")
    progress.save_draft("two-wide", "x")
    progress.add_attempt("two-wide", "x", "error")
    closing_thread = threading.Thread(target=progress.close)
    closing_thread.start()
    disk.held.set()
    closing_thread.join(PATIENCE)
    assert not closing_thread.is_alive()
    assert disk.rows("position") == [("one-query", "why")]
    assert disk.rows("drafts") == [("two-wide", "x")]
    assert disk.rows("attempts") == [("two-wide", "x", "error", "", "")]


def test_an_event_after_closing_is_saved() -> None:
    progress = open_in_background()
    progress.close()
    progress.save_draft("two-wide", "late")
    progress.close()
    with closing(open_in_background()) as again:
        assert again.draft("two-wide") == "late"


def test_events_of_another_session_arrive_with_the_next_write() -> None:
    one, two = open_in_background(), open_in_background()
    told, arrived = [], threading.Event()

    def listen(conflicts: object) -> None:
        told.append(conflicts)
        arrived.set()

    two.on_exchange = listen
    one.visit("one-query", "why")
    one.save_draft("two-wide", "x = 1")
    one.close()
    two.visit("stacked-heads", "two-wide")
    assert arrived.wait(PATIENCE)
    assert told == [()]
    assert two.draft("two-wide") == "x = 1"
    assert two.state("one-query", "why") == "seen"
    # The position of the other session does not matter.
    assert two.position() == ("stacked-heads", "two-wide")
    two.close()


def test_without_a_file_everything_works_and_can_be_exported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    progress = Progress.open(tmp_path / "file" / "progress.db", background=True)
    assert not progress.saved
    assert progress.problem is not None
    assert progress.problem.startswith("Your progress is not saved, because ")
    progress.visit("one-query", "why")
    progress.save_draft("two-wide", "x = 'Ж'\n")
    progress.add_attempt("two-wide", "x = 'Ж'\n", "passed")
    where = exports.export_to_temporary_file(progress)
    progress.close()
    data = json.loads(where.read_text(encoding="utf-8"))
    where.unlink()
    after = exports.export_to_temporary_file(progress)
    assert json.loads(after.read_text(encoding="utf-8")) == data
    after.unlink()

    restored = Progress.open()
    restored.restore(data)
    assert restored.position() == ("one-query", "why")
    assert restored.draft("two-wide") == "x = 'Ж'\n"
    assert restored.passed("two-wide")
    restored.close()


def test_only_the_owner_can_read_an_export() -> None:
    with closing(open_in_background()) as progress:
        where = exports.export_to_temporary_file(progress)
    assert where.stat().st_mode & 0o077 == 0
    where.unlink()


def test_a_second_export_of_a_session_replaces_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with closing(open_in_background()) as progress:
        where = exports.export_to_temporary_file(progress)
        progress.visit("one-query", "why")
        assert exports.export_to_temporary_file(progress, where) == where
    assert list(tmp_path.glob("*.json")) == [where]
    assert json.loads(where.read_text(encoding="utf-8"))["position"]
