"""Drafts of several sessions: no session loses code by replacing a draft that it has not seen."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.learner import progress_file, tables
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.records import Conflict

ROOT = Path(__file__).parents[3]
TIME = "2024-01-01T00:00:00.000000+00:00"

Open = Callable[..., Progress]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "progress.db"


@pytest.fixture
def session(path: Path) -> Iterator[Open]:
    """Return a function that opens a session on the file; close all sessions after the test."""
    opened = []

    def start(where: Path = path, *, background: bool = False) -> Progress:
        opened.append(Progress.open(where, background=background))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def archived_code(progress: Progress, exercise: str = "task") -> list[tuple[str, str]]:
    return [(each.code, each.why) for each in progress.archived(exercise)]


class Editor:
    """A learner who has opened an exercise in a session and types."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.conflicts: list[Conflict] = []
        progress.on_exchange = self.conflicts.extend
        self.open()

    def open(self) -> None:
        self.draft = self.progress.open_draft("task")
        self.seen = self.draft.version

    def type(self, code: str) -> None:
        self.seen = self.progress.save_draft("task", code, self.seen)


def test_code_that_was_not_seen_is_archived_and_reported(session: Open) -> None:
    one, two = Editor(session()), Editor(session())
    one.type("twenty-two characters!")
    two.type("x")
    for progress in (one.progress, two.progress, session()):
        assert progress.draft("task") == "x"
        assert archived_code(progress) == [("twenty-two characters!", "session")]
    assert (one.conflicts, two.conflicts) == ([], [Conflict("task", "twenty-two characters!")])


def test_each_session_that_replaces_unseen_code_is_told(session: Open) -> None:
    one, two = Editor(session()), Editor(session())
    for number in range(3):
        one.type(f"one {number}")
    for number in range(3):
        two.type(f"two {number}")
    one.type("one again")
    assert archived_code(one.progress) == [("one 2", "session"), ("two 2", "session")]
    assert (one.conflicts, two.conflicts) == ([Conflict("task", "two 2")], [Conflict("task", "one 2")])
    assert session().draft("task") == "one again"


def test_code_that_was_seen_is_replaced(session: Open) -> None:
    one, two = Editor(session()), Editor(session())
    one.type("a")
    one.type("ab")
    two.open()
    two.type("abc")
    one.open()
    one.type("abcd")
    assert (archived_code(session()), one.conflicts, two.conflicts) == ([], [], [])
    assert session().draft("task") == "abcd"


def test_the_same_code_is_no_conflict(session: Open) -> None:
    one, two = Editor(session()), Editor(session())
    one.type("same")
    two.type("same")
    assert (archived_code(session()), two.conflicts) == ([], [])


def test_the_background_thread_reports_conflicts(session: Open) -> None:
    one, two = session(background=True), session(background=True)
    conflicts: list[Conflict] = []
    two.on_exchange = conflicts.extend
    one.save_draft("task", "of one")
    one.close()
    version = ""
    for code in ("o", "of", "of two"):
        version = two.save_draft("task", code, version)
    two.close()
    assert conflicts == [Conflict("task", "of one")]
    assert archived_code(session()) == [("of one", "session")]
    assert session().draft("task") == "of two"


@pytest.mark.parametrize("late_first", [True, False])
def test_draft_that_was_written_late_is_not_lost(
    path: Path, session: Open, monkeypatch: pytest.MonkeyPatch, late_first: bool
) -> None:
    monkeypatch.setattr(progress_file, "PATIENCE", 0.01)
    monkeypatch.setattr(progress_file, "RETRY_PATIENCE", 0.01)
    other, late = Editor(session()), Editor(session())
    if not late_first:
        other.type("of the other")
    with closing(sqlite3.connect(path, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        late.type("la")
        late.type("late")
        assert not late.progress.saved
        lock.execute("ROLLBACK")
    if late_first:
        other.type("of the other")
    late.progress.set_state("any", "event", "seen")
    assert late.progress.saved
    newest, archived_one = ("of the other", "late") if late_first else ("late", "of the other")
    for progress in (late.progress, other.progress, session()):
        assert progress.draft("task") == newest
        assert archived_code(progress) == [(archived_one, "session")]
    assert late.conflicts == [Conflict("task", "of the other")]


def test_draft_that_was_written_late_replaces_its_base(
    path: Path, session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_file, "PATIENCE", 0.01)
    monkeypatch.setattr(progress_file, "RETRY_PATIENCE", 0.01)
    Editor(session()).type("first")
    late = Editor(session())
    with closing(sqlite3.connect(path, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        for code in ("first, s", "first, se", "first, second"):
            late.type(code)
        lock.execute("ROLLBACK")
    late.type("first, second, third")
    assert (archived_code(session()), late.conflicts) == ([], [])
    assert session().draft("task") == "first, second, third"


TYPIST = """
    import sys
    from pathlib import Path
    from attn_tutor.lessons.learner.progress import Progress

    progress = Progress.open(Path(sys.argv[1]))
    conflicts = []
    progress.on_exchange = conflicts.extend
    version = progress.open_draft("task").version
    print("open", flush=True)
    for line in sys.stdin:
        version = progress.save_draft("task", line.rstrip(), version)
        print(len(conflicts), flush=True)
"""


def test_two_processes_lose_nothing(path: Path, session: Open) -> None:
    typists = [
        subprocess.Popen(
            [sys.executable, "-c", dedent(TYPIST), path],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]

    def say(typist: subprocess.Popen[str], code: str) -> int:
        assert typist.stdin is not None
        assert typist.stdout is not None
        typist.stdin.write(f"{code}\n")
        typist.stdin.flush()
        return int(typist.stdout.readline())

    for typist in typists:
        assert typist.stdout is not None
        assert typist.stdout.readline() == "open\n"
    assert [say(typists[0], code) for code in ("a", "ab", "abc")] == [0, 0, 0]
    assert [say(typists[1], code) for code in ("x", "xy")] == [1, 1]
    for typist in typists:
        typist.communicate()
        assert typist.returncode == 0
    assert session().draft("task") == "xy"
    assert archived_code(session()) == [("abc", "session")]


def test_import_keeps_the_other_draft(session: Open, tmp_path: Path) -> None:
    there, here = session(tmp_path / "there.db"), session()
    Editor(there).type("there")
    Editor(here).type("here")
    for _ in range(2):
        here.restore(there.export())
        assert here.draft("task") == "here"
        assert archived_code(here) == [("there", "session")]
    there.restore(here.export())
    assert there.export() == here.export()


def test_import_of_a_later_draft_replaces_its_base(session: Open, tmp_path: Path) -> None:
    there, here = session(tmp_path / "there.db"), session()
    Editor(here).type("begun here")
    there.restore(here.export())
    Editor(there).type("begun here, ended there")
    here.restore(there.export())
    assert (here.draft("task"), archived_code(here)) == ("begun here, ended there", [])
    # An older state of the draft changes nothing.
    begun = session(tmp_path / "third.db")
    begun.restore(here.export())
    assert (begun.draft("task"), archived_code(begun)) == ("begun here, ended there", [])


# Files and exports of version 2 --------------------------------------------------------------------------------------

VERSION_2 = f"""
    CREATE TABLE drafts (exercise TEXT PRIMARY KEY, code TEXT NOT NULL, time TEXT NOT NULL);
    CREATE TABLE kept (exercise TEXT NOT NULL, code TEXT NOT NULL, time TEXT NOT NULL, why TEXT NOT NULL);
    INSERT INTO drafts VALUES ('task', 'x = 1', '{TIME}');
    INSERT INTO kept VALUES ('task', 'x = 0', '{TIME}', 'reset');
    PRAGMA user_version = 2;
"""


def test_file_of_version_2_is_upgraded(path: Path, session: Open) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.executescript(VERSION_2)
    one, two = Editor(session()), Editor(session())
    assert one.progress.saved
    assert one.draft.code == "x = 1"
    assert one.seen != ""
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (tables.VERSION,)
    one.type("x = 1  # one")
    assert archived_code(one.progress) == [("x = 0", "reset")]
    two.type("x = 1  # two")
    assert set(archived_code(two.progress)) == {("x = 0", "reset"), ("x = 1  # one", "session")}


def test_export_of_version_2_equals_the_draft_of_the_upgraded_file(path: Path, session: Open) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.executescript(VERSION_2)
    entry = {"exercise": "task", "code": "x = 1", "time": TIME}
    progress = session()
    progress.restore({"format": "attn-tutor progress", "version": 2, "drafts": [entry]})
    assert (progress.draft("task"), archived_code(progress)) == ("x = 1", [("x = 0", "reset")])
    one = Editor(progress)
    one.type("x = 2")
    # the base of the new draft
    progress.restore({"format": "attn-tutor progress", "version": 2, "drafts": [entry]})
    assert (progress.draft("task"), archived_code(progress)) == ("x = 2", [("x = 0", "reset")])


# Any order -----------------------------------------------------------------------------------------------------------

EVENTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["open", "type", "type", "other event"])), max_size=15
)


@given(EVENTS, st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_order_of_events_loses_code_that_was_not_seen(events: list[tuple[str, str]], background: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "progress.db"
        editors = {name: Editor(Progress.open(path, background=background)) for name in "abc"}
        # The code that each editor was shown or has written last, and code that nobody else has seen yet.
        shows: dict[str, str | None] = dict.fromkeys("abc")
        unseen: set[str] = set()
        for number, (name, kind) in enumerate(events):
            editor = editors[name]
            if kind == "open":
                editor.open()
                shows[name] = editor.draft.code
            elif kind == "type":
                unseen.discard(shows[name] or "")
                shows[name] = f"{name}{number}"
                editor.type(f"{name}{number}")
                unseen.add(f"{name}{number}")
            else:
                editor.progress.set_position("any", str(number))
        for editor in editors.values():
            editor.progress.close()
        with closing(Progress.open(path)) as last:
            there = {last.draft("task"), *(each.code for each in last.archived("task"))}
            assert unseen <= there


# Drafts that the disk has changed ------------------------------------------------------------------------------------


def flip(path: Path, code: str, changed: bytes) -> None:
    """Change the code of the draft in the file, as a disk may, without SQLite."""
    data = path.read_bytes()
    assert data.count(code.encode()) == 1
    path.write_bytes(data.replace(code.encode(), changed))


@pytest.mark.parametrize("changed", [b"half = y // 2", b"half = \xff / 2 ", b"half = \0 / 2 "])
def test_a_changed_byte_in_a_draft_is_noticed(path: Path, session: Open, changed: bytes) -> None:
    code = "half = x // 2" if changed.endswith(b"// 2") else "half = x / 2 "
    progress = session()
    progress.add_attempt("task", "half = x", "failed")
    progress.save_draft("task", code)
    progress.save_draft("other", "untouched")
    progress.close()
    flip(path, code, changed)
    progress = session()
    assert progress.saved
    assert progress.problem is not None
    assert progress.problem.startswith("The disk has changed a part of your code for task: ")
    # Nothing is thrown away: the draft is as it is, and the last whole code is archived.
    assert progress.draft("task") == changed.decode(errors="replace")
    assert archived_code(progress) == [("half = x", "damaged")]
    assert (progress.draft("other"), archived_code(progress, "other")) == ("untouched", [])
    progress.close()
    # It is said once.
    assert session().problem is None


def test_a_changed_draft_without_earlier_code_is_archived_itself(path: Path, session: Open) -> None:
    progress = session()
    progress.save_draft("task", "half = x / 2")
    progress.close()
    flip(path, "half = x / 2", b"half = y / 2")
    assert archived_code(session()) == [("half = y / 2", "damaged")]


def test_a_changed_draft_in_a_damaged_file_is_noticed(path: Path, session: Open) -> None:
    progress = session()
    progress.add_attempt("task", "half = x", "failed")
    progress.save_draft("task", "half = x / 2")
    progress.close()
    flip(path, "half = x / 2", b"half = y / 2")
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 4711")
    progress = session()
    assert progress.problem is not None
    assert "was damaged" in progress.problem
    assert archived_code(progress) == [("half = x", "damaged")]


def test_what_an_older_program_writes_is_not_taken_for_damage(path: Path, session: Open) -> None:
    """A session of it that was open when the file was upgraded goes on."""
    progress = session()
    progress.save_draft("task", "a")
    progress.close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE drafts SET code = 'b', version = 'older/1'")
    progress = session()
    assert (progress.problem, progress.draft("task")) == (None, "b")


def test_a_file_without_checksums_is_upgraded(path: Path, session: Open) -> None:
    """Version 3 had none."""
    with closing(sqlite3.connect(path)) as file, file:
        tables.make_tables(file)
        file.execute("ALTER TABLE drafts DROP COLUMN checksum")
        file.execute("INSERT INTO drafts VALUES ('task', 'a', ?, 'some/1', '')", (TIME,))
        file.execute("PRAGMA user_version = 3")
    progress = session()
    assert (progress.problem, progress.draft("task")) == (None, "a")
    progress.save_draft("task", "half = x / 2", "some/1")
    progress.close()
    flip(path, "half = x / 2", b"half = y / 2")
    assert session().problem is not None
