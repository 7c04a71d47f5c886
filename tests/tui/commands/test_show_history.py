"""The verb `history`: diffs, entries, times."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.records import ArchivedCode, Attempt
from attn_tutor.lessons.results.clean_text import is_harmless
from attn_tutor.tui.commands.verbs.show_history import (
    HEAD,
    SIGNS,
    HistoryEntry,
    NoEntry,
    diff_lines,
    exercise_history,
    table,
)
from attn_tutor.tui.tty.clean_output import Colored
from tests.course import COURSE
from tests.tui.commands.command_line import COMMAND, ROOT, Command, document, on_terminal

NOON = "2024-01-01T12:00:00.000000+00:00"


def entry(before: str, code: str) -> HistoryEntry:
    return HistoryEntry("2", Attempt(code, "failed", NOON), before, "1")


@pytest.fixture
def progress() -> Iterator[Progress]:
    progress = Progress.open()
    yield progress
    progress.close()


@pytest.fixture
def in_kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


# Diffs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "code", "lines"),
    [
        ("", "", []),
        ("a\n", "a\n", []),
        # The end of the last line and the kind of line ends do not count as changes.
        ("a\n", "a", []),
        ("a\r\nb\r\n", "a\nb\n", []),
        ("", "a\n", ["@@ -0,0 +1 @@", "+a"]),
        ("a\n", "", ["@@ -1 +0,0 @@", "-a"]),
        ("a\n\n", "a\n", ["@@ -1,2 +1 @@", " a", "-"]),
        # Only the line ends of Python count as line ends.
        ("a\x0cb\n", "a\x0cc\n", ["@@ -1 +1 @@", "-a\ufffdb", "+a\ufffdc"]),
    ],
)
def test_diff(before: str, code: str, lines: list[str]) -> None:
    head = ["--- attempt 1", "+++ attempt 2"] if lines else []
    assert entry(before, code).diff() == head + lines


@given(st.text(), st.text(), st.booleans())
def test_no_diff_moves_a_cursor(before: str, code: str, colored: bool) -> None:
    for line in diff_lines(entry(before, code), colored=colored):
        text = line.text if isinstance(line, Colored) else line
        assert all(is_harmless(character) or character == "\t" for character in text)


def test_colors() -> None:
    assert list(diff_lines(entry("a\nb\n", "a\n-- c\n"), colored=True)) == [
        Colored(HEAD, "--- attempt 1"),
        Colored(HEAD, "+++ attempt 2"),
        Colored(SIGNS["@"], "@@ -1,2 +1,2 @@"),
        " a",
        Colored(SIGNS["-"], "-b"),
        Colored(SIGNS["+"], "+-- c"),
    ]
    assert list(diff_lines(entry("a", "a"), colored=True)) == ["This is the same code as in attempt 1."]


# Entries -------------------------------------------------------------------------------------------------------------


def test_attempts_and_archived_code_are_sorted_by_time(progress: Progress) -> None:
    progress.archive("two-wide", "k = 1", "watch")
    progress.add_attempt("two-wide", "a = 1", "failed")
    progress.archive("two-wide", "k = 2", "gave-up")
    progress.archive("two-wide", "k = 3", "something new")
    progress.add_attempt("two-wide", "a = 2", "passed")
    past = exercise_history(COURSE, progress, "3.2")
    assert [(each.label, each.before_label) for each in past.entries] == [
        ("k1", "starter"), ("1", "starter"), ("k2", "attempt 1"), ("k3", "attempt 1"), ("2", "attempt 1")
    ]  # fmt: skip
    assert past.find("k2").what.code == "k = 2"
    with pytest.raises(NoEntry, match=r"no attempt '3' at 'two-wide'\. The attempts are: k1, 1, k2, k3, 2"):
        past.find("3")
    heads = [line[2:].strip() for line in map(str, past.lines()) if line.startswith(("k1 ", "k2 ", "k3 "))]
    assert [head[18:] for head in heads] == [
        "your code before you watched a file", "your code when you gave up", "something new"
    ]  # fmt: skip


def test_unknown_exercise(progress: Progress) -> None:
    with pytest.raises(NoEntry, match=r"There is no exercise '9\.9'\. Run 'attn-tutor list'"):
        exercise_history(COURSE, progress, "9.9")


def test_code_archived_for_another_session_can_be_shown(progress: Progress) -> None:
    progress.save_draft("two-wide", "x = 1")
    other = Progress.open()
    other.save_draft("two-wide", "x = 2")
    other.close()
    past = exercise_history(COURSE, progress, "two-wide")
    assert past.find("k1").what.code == "x = 1"
    assert any(line.endswith("your code from another session") for line in map(str, past.lines()))


def test_archived_code_without_attempts_can_be_shown(progress: Progress) -> None:
    progress.archive("of-old", "x = 1", "reset")
    past = exercise_history(COURSE, progress, "of-old")
    assert past.exercise is None
    assert past.entries[0].what == ArchivedCode("x = 1", progress.archived("of-old")[0].time, "reset")


@pytest.mark.usefixtures("in_kolkata")
def test_times_are_local() -> None:
    assert list(table([("a", Attempt("", "passed", NOON))])) == ["2024-01-01 17:30  a  passed"]


@pytest.mark.parametrize("moment", ["", "yesterday", "0001-01-01T00:00:00+14:00", None])
def test_a_damaged_time(moment: str) -> None:
    assert list(table([("a", Attempt("", "crash", moment))])) == ["unknown time      a  crash"]


def test_table_is_aligned() -> None:
    attempts = [("a", Attempt("", "memory", NOON, "x,y")), ("long_name", Attempt("", "failed", NOON, "z"))]
    assert [line[18:] for line in table(attempts)] == [
        "long_name  not passed  z",
        "a          too large   x, y",
    ]


# The command ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded_attempts() -> None:
    """Record two attempts at an exercise, archived code, and an attempt at a different exercise."""
    progress = Progress.open()
    progress.add_attempt("two-wide", "a = 1\nb = 2\n", "failed", "no-scale,softmax-rows", "Not so.")
    progress.archive("two-wide", "a = 3\n", "reset")
    progress.add_attempt("two-wide", "a = 1\nb = 3\n", "passed", "", "All checks pass.")
    progress.add_attempt("of-old", "\x1b[2J", "timeout", "", "Stopped after 5 seconds.")
    progress.close()


@pytest.mark.usefixtures("recorded_attempts")
def test_history_of_all(command: Command) -> None:
    status, out, err = command("history")
    assert (status, err) == (0, "")
    assert [line[16:] for line in out.splitlines()] == [
        "  of-old    too long",
        "  two-wide  passed",
        "  two-wide  not passed  no-scale, softmax-rows",
    ]
    data = document(command("history", "--json"))
    assert [(item["exercise"], item["number"], item["verdict"], item["mistakes"]) for item in data["attempts"]] == [
        ("of-old", 1, "timeout", []),
        ("two-wide", 2, "passed", []),
        ("two-wide", 1, "failed", ["no-scale", "softmax-rows"]),
    ]


def test_history_without_attempts(command: Command) -> None:
    assert command("history") == (0, "You have not checked any answers yet.\n", "")
    assert document(command("history", "--json")) == {"attempts": []}
    status, out, err = command("history", "3.2")
    assert (status, err) == (0, "")
    assert out == "two-wide: Two heads, two numbers\nYou have not checked this exercise yet.\n"


@pytest.mark.usefixtures("recorded_attempts")
def test_history_of_one(command: Command) -> None:
    for name in ("3.2", "two-wide"):
        status, out, err = command("history", name)
        assert (status, err) == (0, "")
        assert out.startswith("two-wide: Two heads, two numbers\n\n1  ")
        assert "  not passed  no-scale, softmax-rows\nNot so.\n--- starter\n+++ attempt 1\n@@ " in out
        assert "\n\nk1  " in out
        assert (
            "  your code before you reset it\n--- attempt 1\n+++ kept k1\n@@ -1,2 +1 @@\n-a = 1\n-b = 2\n+a = 3\n"
            in out
        )
        assert "--- attempt 1\n+++ attempt 2\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n" in out
        assert "\x1b" not in out
    data = document(command("history", "3.2", "--json"))
    assert set(data) == {"exercise", "attempts", "kept", "hints", "gave_up", "review"}
    assert [item["code"] for item in data["attempts"]] == ["a = 1\nb = 2\n", "a = 1\nb = 3\n"]
    assert data["attempts"][1]["diff"].endswith(" a = 1\n-b = 2\n+b = 3\n")
    assert [(item["number"], item["why"], item["code"]) for item in data["kept"]] == [("k1", "reset", "a = 3\n")]
    assert (data["hints"], data["gave_up"]) == (0, False)
    assert datetime.fromisoformat(data["review"]) > datetime.now(UTC)


@pytest.mark.usefixtures("recorded_attempts")
def test_history_of_an_exercise_that_was_removed(command: Command) -> None:
    status, out, err = command("history", "of-old")
    assert (status, err) == (0, "")
    assert out.startswith("of-old: no longer in the course\n\n1  ")
    assert "--- nothing\n+++ attempt 1\n" in out
    assert "+\ufffd[2J\n" in out


@pytest.mark.usefixtures("recorded_attempts")
def test_one_diff_and_one_code(command: Command) -> None:
    assert command("history", "3.2", "--diff", "2") == (
        0, "--- attempt 1\n+++ attempt 2\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n", ""
    )  # fmt: skip
    assert command("history", "3.2", "--show", "1") == (0, "a = 1\nb = 2\n", "")
    assert command("history", "3.2", "--show", "k1") == (0, "a = 3\n", "")


def test_code_goes_to_a_file_as_it_is_but_for_what_commands_a_terminal(tmp_path: Path) -> None:
    code = "a = 1\r\nb = 'Ж\x1b[2J'  # no end of line"
    progress = Progress.open()
    progress.add_attempt("two-wide", code, "failed")
    progress.close()
    with (tmp_path / "code.py").open("wb") as file:
        done = subprocess.run(
            [*COMMAND, "history", "3.2", "--show", "1"], cwd=ROOT, stdout=file, timeout=60, check=False,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )  # fmt: skip
    assert done.returncode == 0
    assert (tmp_path / "code.py").read_bytes() == code.replace("\x1b", "\\x1b").encode()


@pytest.mark.usefixtures("recorded_attempts")
@pytest.mark.parametrize(
    ("environ", "colored"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"ATTN_TUTOR_COLOR": "none"}, False)],
)
def test_diff_is_colored_where_it_may_be(environ: dict[str, str], colored: bool) -> None:
    sent = on_terminal("history", "3.2", "--diff", "2", environ=environ)
    assert ("\x1b[31m-b = 2\x1b[0m\r\n\x1b[32m+b = 3\x1b[0m\r\n" in sent) == colored
    assert ("\x1b" in sent) == colored


def test_code_on_a_terminal_moves_no_cursor() -> None:
    progress = Progress.open()
    progress.add_attempt("two-wide", "\x1b[2J", "failed")
    progress.close()
    assert on_terminal("history", "3.2", "--show", "1") == "\\x1b[2J\r\n"


def test_an_id_that_was_imported_stays_one_word_of_its_line() -> None:
    forged = "x  passed\n2026-11-01 10:00  two-wide"
    lines = list(table([("two-wide", Attempt("a", "failed", NOON)), (forged, Attempt("b", "failed", NOON))]))
    assert len(lines) == 2
    assert r"x  passed\n2026-11-01 10:00  two-wide" in lines[0]
    assert len(lines[1]) < 120
