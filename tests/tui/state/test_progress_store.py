"""Progress as the screen sees it."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from lessons.learner.progress import Progress
from tests.tui.fake_session import PATIENCE
from tui.state.progress_store import ProgressStore


class FakeProgress(Progress):
    """Notes what is written. While `held` is clear, a write has begun and does not end."""

    def __init__(self) -> None:
        super().__init__(None)
        self.calls: list[tuple[str, ...]] = []
        self.held, self.began = threading.Event(), threading.Event()
        self.held.set()

    def _note(self, *call: str) -> None:
        self.calls.append(call)
        self.began.set()
        assert self.held.wait(PATIENCE)

    def set_position(self, lesson: str, step: str) -> None:
        self._note("position", lesson, step)

    def set_state(self, lesson: str, step: str, state: str) -> None:
        self._note("state", lesson, step, state)

    def save_draft(self, exercise: str, code: str) -> None:
        self._note("draft", exercise, code)

    def add_attempt(self, exercise: str, code: str, verdict: str, mistake: str = "", message: str = "") -> None:
        self._note("attempt", exercise, code, verdict, mistake, message)

    def use_hint(self, exercise: str, n: int) -> None:
        self._note("hint", exercise, str(n))

    def give_up(self, exercise: str) -> None:
        self._note("give up", exercise)

    def take_back_give_up(self, exercise: str) -> None:
        self._note("take back", exercise)

    def use_solution(self, exercise: str) -> None:
        self._note("solution", exercise)

    def keep(self, exercise: str, code: str, why: str) -> None:
        self._note("keep", exercise, code, why)

    def close(self) -> None:
        self.calls.append(("close",))


def test_what_a_learner_does_is_there_the_next_time() -> None:
    store = ProgressStore(Progress.open())
    assert (store.position, store.saved, store.problem) == (None, True, None)
    store.visit("one-query", "why")
    store.mark("one-query", "why", "done")
    store.visit("one-query", "inputs")
    store.save_draft("two-wide", "x = 1\n")
    store.save_draft("two-wide", "x = 2\n")
    store.add_attempt("two-wide", "x = 2\n", "failed")
    store.close()

    again = ProgressStore(Progress.open())
    assert again.position == ("one-query", "inputs")
    assert again.state("one-query", "why") == "done"
    assert again.state("one-query", "inputs") == "seen"
    assert again.state("one-query", "scores") == "new"
    assert again.draft("two-wide") == "x = 2\n"
    assert again.draft("same-numbers") is None
    assert not again.passed("two-wide")
    again.add_attempt("two-wide", "x = 3\n", "passed")
    again.close()

    last = ProgressStore(Progress.open())
    assert last.passed("two-wide")
    last.close()


def test_it_answers_before_it_is_written() -> None:
    progress = FakeProgress()
    progress.held.clear()
    store = ProgressStore(progress)
    store.visit("one-query", "why")
    store.save_draft("two-wide", "x = 1\n")
    assert store.position == ("one-query", "why")
    assert store.state("one-query", "why") == "seen"
    assert store.draft("two-wide") == "x = 1\n"
    store.add_attempt("two-wide", "x = 1\n", "passed")
    assert store.passed("two-wide")
    progress.held.set()
    store.close()
    assert progress.calls[-1] == ("close",)


def test_done_stays_done() -> None:
    progress = FakeProgress()
    store = ProgressStore(progress)
    store.mark("one-query", "why", "done")
    store.visit("one-query", "why")
    store.mark("one-query", "why", "done")
    store.mark("one-query", "inputs", "seen")
    store.mark("one-query", "inputs", "seen")
    assert store.state("one-query", "why") == "done"
    store.close()
    assert [call for call in progress.calls if call[0] == "state"] == [
        ("state", "one-query", "why", "done"),
        ("state", "one-query", "inputs", "seen"),
    ]


def test_skipped_stays_until_it_is_done() -> None:
    progress = FakeProgress()
    store = ProgressStore(progress)
    store.visit("one-query", "why")
    store.mark("one-query", "why", "skipped")
    store.visit("one-query", "why")
    assert store.state("one-query", "why") == "skipped"
    store.mark("one-query", "why", "done")
    store.mark("one-query", "why", "skipped")
    assert store.state("one-query", "why") == "done"
    store.mark("one-query", "inputs", "skipped")
    store.mark("one-query", "inputs", "new")
    assert store.state("one-query", "inputs") == "skipped"
    store.close()
    assert [call[2:] for call in progress.calls if call[0] == "state"] == [
        ("why", "seen"),
        ("why", "skipped"),
        ("why", "done"),
        ("inputs", "skipped"),
    ]


def test_help_answers_before_it_is_written() -> None:
    progress = FakeProgress()
    progress.held.clear()
    store = ProgressStore(progress)
    assert (store.hints_used("two-wide"), store.gave_up("two-wide"), store.solution_used("two-wide")) == (
        0,
        False,
        False,
    )
    assert not store.is_due("two-wide")
    for number in (1, 2, 1):
        store.use_hint("two-wide", number)
    store.take_back_give_up("two-wide")
    store.give_up("two-wide")
    assert store.is_due("two-wide")
    store.use_solution("two-wide")
    store.use_solution("two-wide")
    assert (store.hints_used("two-wide"), store.gave_up("two-wide"), store.solution_used("two-wide")) == (2, True, True)
    store.take_back_give_up("two-wide")
    assert not store.gave_up("two-wide")
    assert not store.is_due("two-wide")
    store.keep("two-wide", "x = 1", "reset")
    assert (store.last_kept("two-wide"), store.last_kept("other")) == ("x = 1", None)
    progress.held.set()
    store.close()
    assert progress.calls == [
        ("hint", "two-wide", "1"),
        ("hint", "two-wide", "2"),
        ("give up", "two-wide"),
        ("solution", "two-wide"),
        ("take back", "two-wide"),
        ("keep", "two-wide", "x = 1", "reset"),
        ("close",),
    ]


def test_help_and_what_was_kept_are_there_the_next_time() -> None:
    store = ProgressStore(Progress.open())
    store.use_hint("two-wide", 2)
    store.give_up("two-wide")
    store.give_up("same-numbers")
    store.take_back_give_up("same-numbers")
    store.keep("two-wide", "x = 1", "reset")
    store.keep("two-wide", "x = 2", "gave-up")
    store.close()
    again = ProgressStore(Progress.open())
    assert (again.hints_used("two-wide"), again.gave_up("two-wide"), again.gave_up("same-numbers")) == (2, True, False)
    assert again.last_kept("two-wide") == "x = 2"
    assert again.is_due("two-wide")
    again.close()


def test_a_missed_exercise_is_due_until_it_is_passed() -> None:
    store = ProgressStore(Progress.open())
    assert not store.is_due("two-wide")
    store.add_attempt("two-wide", "x", "failed", "no-scale", "Not so.")
    assert store.is_due("two-wide")
    store.close()
    again = ProgressStore(Progress.open())
    assert again.is_due("two-wide")
    again.add_attempt("two-wide", "y", "passed")
    assert not again.is_due("two-wide")
    again.close()
    progress = Progress.open()
    assert [(attempt.mistake, attempt.message) for attempt in progress.attempts("two-wide")] == [
        ("no-scale", "Not so."), ("", "")
    ]  # fmt: skip
    progress.close()


def test_only_the_newest_draft_waits() -> None:
    """However fast somebody types on a slow disk."""
    progress = FakeProgress()
    progress.held.clear()
    store = ProgressStore(progress)
    store.save_draft("two-wide", "first")
    assert progress.began.wait(PATIENCE)
    for number in range(100):
        store.save_draft("two-wide", f"version {number}")
        store.save_draft("same-numbers", f"other {number}")
    progress.held.set()
    store.close()
    assert progress.calls == [
        ("draft", "two-wide", "first"),
        ("draft", "two-wide", "version 99"),
        ("draft", "same-numbers", "other 99"),
        ("close",),
    ]


def test_closing_writes_what_waits() -> None:
    progress = FakeProgress()
    progress.held.clear()
    store = ProgressStore(progress)
    store.visit("one-query", "why")
    store.save_draft("two-wide", "x")
    store.add_attempt("two-wide", "x", "error")
    closing = threading.Thread(target=store.close)
    closing.start()
    progress.held.set()
    closing.join(PATIENCE)
    assert progress.calls == [
        ("position", "one-query", "why"),
        ("state", "one-query", "why", "seen"),
        ("draft", "two-wide", "x"),
        ("attempt", "two-wide", "x", "error", "", ""),
        ("close",),
    ]


def test_without_a_file_everything_works_and_can_be_exported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = ProgressStore(Progress.open(tmp_path / "file" / "progress.db"))
    assert not store.saved
    assert store.problem is not None
    assert store.problem.startswith("Your progress is not saved, because ")
    store.visit("one-query", "why")
    store.save_draft("two-wide", "x = 'Ж'\n")
    store.add_attempt("two-wide", "x = 'Ж'\n", "passed")
    # What waits for the thread belongs to it.
    where = store.export()
    store.close()
    data = json.loads(where.read_text(encoding="utf-8"))
    where.unlink()
    after = store.export()
    assert json.loads(after.read_text(encoding="utf-8")) == data
    after.unlink()

    restored = Progress.open()
    restored.restore(data)
    assert restored.position() == ("one-query", "why")
    assert restored.draft("two-wide") == "x = 'Ж'\n"
    assert restored.passed("two-wide")
    restored.close()


def test_an_export_can_be_read_by_its_owner_only() -> None:
    store = ProgressStore(Progress.open())
    where = store.export()
    store.close()
    assert where.stat().st_mode & 0o077 == 0
    where.unlink()
