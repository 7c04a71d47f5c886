"""The progress file: what it stores, and what it survives."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.learner import progress as progress_module
from attn_tutor.lessons.learner import progress_file, tables
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.records import RANK, Attempt, State
from attn_tutor.lessons.learner.tables import VERSION

ROOT = Path(__file__).parents[3]

Open = Callable[..., Progress]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "progress.db"


@pytest.fixture
def session(path: Path) -> Iterator[Open]:
    """Return a function that opens a session on the file; close all sessions after the test."""
    opened = []

    def start(where: Path = path) -> Progress:
        opened.append(Progress.open(where))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sessions wait for a lock only a moment."""
    monkeypatch.setattr(progress_file, "PATIENCE", 0.01)
    monkeypatch.setattr(progress_file, "RETRY_PATIENCE", 0.01)


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Lock the file as another program might that holds it without reading or writing."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def open_read_only(real: Callable[..., sqlite3.Connection], path: Path, how: str, wait: float) -> sqlite3.Connection:
    """Open a database as if its disk were read-only."""
    return real(path, how.replace("rwc", "ro"), wait)


def start_program(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", dedent(code), *map(str, args)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def integrity(path: Path) -> str:
    with closing(sqlite3.connect(path)) as file:
        answer: str = file.execute("PRAGMA integrity_check").fetchone()[0]
    return answer


def fill(progress: Progress, size: int = 0) -> None:
    progress.set_position("one", "step")
    progress.set_state("one", "step", "done")
    progress.save_draft("task", "x = 1" + "#" * size, progress.open_draft("task").version)
    progress.add_attempt("task", "x = 2", "failed", "softmax-rows,no-scale", "The rows do not sum to 1.")
    progress.use_hint("task", 2)
    progress.give_up("task")
    progress.archive("task", "x = 0", "gave-up")


def assert_filled(progress: Progress) -> None:
    assert progress.position() == ("one", "step")
    assert progress.states() == {("one", "step"): "done"}
    assert (progress.draft("task") or "").startswith("x = 1")
    assert {(attempt.code, attempt.mistakes, attempt.message) for attempt in progress.attempts("task")} == {
        ("x = 2", ("softmax-rows", "no-scale"), "The rows do not sum to 1.")
    }
    assert (progress.hints_used("task"), progress.gave_up("task")) == (2, True)
    assert {(kept.code, kept.why) for kept in progress.archived("task")} == {("x = 0", "gave-up")}


# What the file stores


def test_new_learner_has_nothing(session: Open) -> None:
    progress = session()
    assert progress.problem is None
    assert progress.saved
    assert progress.position() is None
    assert progress.state("one", "step") == "new"
    assert progress.states() == {}
    assert progress.draft("task") is None
    assert progress.attempts("task") == []
    assert not progress.passed("task")
    assert (progress.history(), progress.last_passed(), progress.help()) == ([], {}, {})
    assert (progress.hints_used("task"), progress.gave_up("task"), progress.solution_used("task")) == (0, False, False)
    assert progress.archived("task") == []


def test_progress_that_is_not_to_be_kept_is_no_problem() -> None:
    progress = Progress.unkept()
    progress.visit("one", "step")
    assert (progress.position(), progress.saved, progress.problem) == (("one", "step"), True, None)
    progress.close()
    assert progress.saved
    # Without a home, it would be one.
    with closing(Progress(None)) as homeless:
        assert not homeless.saved
        assert homeless.problem


def test_everything_is_there_after_a_restart(session: Open) -> None:
    fill(session())
    assert_filled(session())


def test_position_and_draft_are_the_last_ones(session: Open) -> None:
    progress = session()
    for number in "123":
        progress.set_position("one", number)
        progress.save_draft("task", number)
        progress.save_draft("other", "mine")
    assert session().position() == ("one", "3")
    assert session().draft("task") == "3"
    assert session().draft("other") == "mine"


def test_done_never_goes_back_to_seen(session: Open) -> None:
    progress = session()
    seen: list[str] = []
    for state in ("new", "seen", "new", "done", "seen", "new"):
        progress.set_state("one", "step", state)
        seen.append(session().state("one", "step"))
    assert seen == ["new", "seen", "seen", "done", "done", "done"]


def test_skipped_stays_until_it_is_done(session: Open) -> None:
    progress = session()
    seen: list[str] = []
    for state in ("seen", "skipped", "seen", "new", "skipped", "done", "skipped"):
        progress.set_state("one", "step", state)
        seen.append(session().state("one", "step"))
    assert seen == ["seen", "skipped", "skipped", "skipped", "skipped", "done", "done"]
    progress.set_state("one", "never seen", "skipped")
    assert session().states() == {("one", "step"): "done", ("one", "never seen"): "skipped"}


def test_history_contains_all_exercises(session: Open) -> None:
    progress = session()
    progress.add_attempt("a", "1", "failed")
    progress.add_attempt("b", "2", "passed", message="All checks pass.")
    progress.add_attempt("a", "3", "passed")
    progress.add_attempt("a", "4", "passed")
    progress.add_attempt("a", "5", "timeout")
    history = session().history()
    assert "".join(exercise + attempt.code for exercise, attempt in history) == "a1b2a3a4a5"
    assert history[1][1].message == "All checks pass."
    assert session().last_passed() == {"a": "4", "b": "2"}


def test_hints_only_rise(session: Open) -> None:
    progress = session()
    for number in (1, 2, 1, 3, 3, 12, 0):
        progress.use_hint("task", number)
    progress.use_solution("task")
    progress.use_solution("task")
    again = session()
    assert (again.hints_used("task"), again.hints_used("other")) == (12, 0)
    assert (again.solution_used("task"), again.solution_used("other")) == (True, False)
    assert not again.gave_up("task")
    # Nothing is recorded twice.
    assert len(again.export()["help"]) == 5  # type: ignore[arg-type]


def test_giving_up_can_be_taken_back(session: Open) -> None:
    progress = session()
    progress.take_back_give_up("task")
    assert session().export()["help"] == []
    seen = []
    for event in (progress.give_up, progress.take_back_give_up, progress.give_up, progress.give_up):
        event("task")
        seen.append((session().gave_up("task"), len(session().give_ups("task"))))
    assert seen == [(True, 1), (False, 0), (True, 1), (True, 2)]
    progress.take_back_give_up("task")
    first = session().give_ups("task")[0]
    assert (session().gave_up("task"), len(session().give_ups("task"))) == (False, 1)
    assert datetime.fromisoformat(first).utcoffset() == timedelta(0)
    # The log keeps everything.
    kinds = [row["kind"] for row in session().export()["help"]]  # type: ignore[attr-defined]
    assert kinds == ["gave-up", "took-back", "gave-up", "gave-up", "took-back"]


def test_taking_back_counts_after_the_clock_was_set_back(session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session().give_up("task")
    monkeypatch.setattr(progress_module, "datetime", Yesterday)
    progress = session()
    progress.take_back_give_up("task")
    assert not session().gave_up("task")
    progress.add_attempt("task", "code", "failed")
    # Only the log of help has a time in the future.
    assert datetime.fromisoformat(session().attempts("task")[0].time) < datetime.now(UTC) - timedelta(hours=23)


def test_replaced_code_is_archived(session: Open) -> None:
    progress = session()
    progress.archive("task", "one", "reset")
    progress.archive("task", "one", "reset")
    progress.archive("other", "x", "reset")
    progress.archive("task", "two", "gave-up")
    kept = session().archived("task")
    assert [(one.code, one.why) for one in kept] == [("one", "reset"), ("one", "reset"), ("two", "gave-up")]
    assert [one.time for one in kept] == sorted({one.time for one in kept})


def test_attempts_are_in_order_with_their_time_in_utc(session: Open) -> None:
    progress = session()
    before = datetime.now(UTC)
    progress.add_attempt("task", "same", "failed")
    progress.add_attempt("task", "same", "failed")
    assert not progress.passed("task")
    progress.add_attempt("task", "right", "passed")
    progress.add_attempt("task", "later", "timeout")
    attempts = session().attempts("task")
    assert [(attempt.code, attempt.verdict) for attempt in attempts] == [
        ("same", "failed"),
        ("same", "failed"),
        ("right", "passed"),
        ("later", "timeout"),
    ]
    times = [datetime.fromisoformat(attempt.time) for attempt in attempts]
    assert times == sorted(set(times))
    assert before <= times[0]
    assert times[-1] <= datetime.now(UTC)
    assert {time.utcoffset() for time in times} == {timedelta(0)}
    assert session().passed("task")
    assert not session().passed("other")


@pytest.mark.parametrize("code", ["", "a\0b", "a\r\nb\n", "тест 注意力 🧠", "'); DROP TABLE drafts; --", "x" * 300_000])
def test_code_is_stored_unchanged(session: Open, code: str) -> None:
    progress = session()
    progress.save_draft(code, code)
    progress.add_attempt(code, code, "passed")
    assert session().draft(code) == code
    assert session().attempts(code)[0].code == code


def test_half_a_surrogate_pair_does_no_harm(session: Open) -> None:
    progress = session()
    progress.save_draft("task", "a\ud83eb")
    assert progress.saved
    assert session().draft("task") == "a?b"


class Yesterday(datetime):
    """A clock that was set back by a day."""

    @classmethod
    def now(cls, tz: object = None) -> Yesterday:
        return cls.fromtimestamp(datetime.now(UTC).timestamp() - 86_400, UTC)


def test_clock_that_was_set_back_loses_nothing(session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session().save_draft("task", "old")
    session().set_position("one", "old")
    monkeypatch.setattr(progress_module, "datetime", Yesterday)
    for number in "12":
        progress = session()
        progress.save_draft("task", number)
        progress.set_position("one", number)
        assert session().draft("task") == number
        assert session().position() == ("one", number)


@pytest.mark.usefixtures("short_patience")
def test_clock_that_was_set_back_loses_nothing_in_memory(
    path: Path, session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session().save_draft("task", "old")
    monkeypatch.setattr(progress_module, "datetime", Yesterday)
    progress = session()
    with lock_file(path):
        progress.save_draft("task", "new")
        assert progress.draft("task") == "new"
    progress.close()
    assert session().draft("task") == "new"


# Where the file is


def test_file_is_in_the_state_directory_and_private(home: Path, session: Open) -> None:
    before = os.umask(0)
    try:
        with closing(Progress.open()) as progress:
            fill(progress)
    finally:
        os.umask(before)
    (home / "xdg_state_home" / "attn-tutor").chmod(0o755)
    Progress.open().close()
    file = home / "xdg_state_home" / "attn-tutor" / "progress.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in file.parent.iterdir()] == ["progress.db"]
    assert_filled(session(file))


@pytest.mark.parametrize("value", [None, "", "relative"])
def test_file_is_in_the_home_directory_without_xdg(
    home: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv("XDG_STATE_HOME")
    else:
        monkeypatch.setenv("XDG_STATE_HOME", value)
    assert progress_file.default_path().is_relative_to(home)


def test_permissions_that_are_too_wide_are_narrowed(path: Path, session: Open) -> None:
    session().close()
    path.chmod(0o644)
    session()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_folders_may_have_strange_names(tmp_path: Path, session: Open) -> None:
    strange = tmp_path / "a b?mode=memory#c%20" / os.fsdecode(b"\xff") / "progress.db"
    fill(session(strange))
    assert strange.is_file()
    assert_filled(session(strange))


def test_file_syncs_every_event_and_needs_no_shared_memory(path: Path, session: Open) -> None:
    progress = session()
    fill(progress)
    assert progress._file._connection is not None
    assert progress._file._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert progress._file._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert {entry.name for entry in path.parent.iterdir() if not entry.name.startswith("unsaved-")} == {"progress.db"}


def test_event_after_close_is_saved(session: Open) -> None:
    progress = session()
    progress.close()
    progress.close()
    fill(progress)
    assert_filled(session())


# Two sessions, many threads, a sudden end


def test_two_sessions_see_each_other(session: Open) -> None:
    one, two = session(), session()
    one.set_state("one", "step", "done")
    two.set_state("one", "step", "seen")
    two.save_draft("task", "from two")
    two.set_position("two", "step")
    one.add_attempt("task", "a", "failed")
    two.add_attempt("task", "b", "passed")
    for progress in (one, two):
        assert progress.state("one", "step") == "done"
        assert progress.draft("task") == "from two"
        assert progress.position() == ("two", "step")
        assert [attempt.code for attempt in progress.attempts("task")] == ["a", "b"]
        assert progress.passed("task")


WRITER = """
    import sys
    from pathlib import Path
    from attn_tutor.lessons.learner.progress import Progress

    path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    progress = Progress.open(path)
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(count):
        progress.set_state(name, str(number), "done")
        assert progress.saved, progress.problem
        print(number, flush=True)
    progress.close()
"""


def test_two_processes_at_once_lose_nothing(path: Path, session: Open) -> None:
    writers = [start_program(WRITER, path, name, 150) for name in ("one", "two")]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    expected = {(name, str(number)): "done" for name in ("one", "two") for number in range(150)}
    assert session().states() == expected


def test_several_sessions_may_be_the_first_at_once(tmp_path: Path, session: Open) -> None:
    together = threading.Barrier(3)
    problems = []

    def work(name: str) -> None:
        for number in range(20):
            together.wait()
            with closing(Progress.open(tmp_path / str(number) / "progress.db")) as progress:
                progress.set_state("one", name, "seen")
                problems.append(progress.problem)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [None] * 60
    assert all(len(session(tmp_path / str(number) / "progress.db").states()) == 3 for number in range(20))


@pytest.mark.parametrize("acknowledged", [0, 1, 6, 40, 97])
def test_kill_at_any_time_loses_no_acknowledged_event(path: Path, session: Open, acknowledged: int) -> None:
    writer = start_program(WRITER, path, "one", 100_000)
    assert writer.stdout is not None
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == "open\n"
    for number in range(acknowledged):
        assert writer.stdout.readline() == f"{number}\n"
    writer.kill()
    rest = writer.communicate()[0].split()
    progress = session()
    assert progress.problem is None
    assert integrity(path) == "ok"
    assert {("one", str(number)) for number in range(acknowledged + len(rest))} <= progress.states().keys()


def test_threads_may_share_a_session(session: Open) -> None:
    progress = session()

    def work(name: str) -> None:
        for number in range(20):
            progress.add_attempt("task", f"{name}{number}", "failed")
            progress.set_position(name, str(number))
            progress.attempts("task")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert progress.problem is None
    assert len(session().attempts("task")) == 80


# A file that cannot be written


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("file/progress.db", "is a file where the folder"),
        ("file/deep/progress.db", "is a file where the folder"),
        ("folder", "is a folder"),
        ("/proc/nowhere/progress.db", "nothing can be written in the folder"),
        ("/proc/self/progress.db", "nothing can be written in the folder"),
        ("a\0b/progress.db", "cannot be used"),
        ("a" * 300 + "/progress.db", "nothing can be written in the folder"),
    ],
    ids=["file as folder", "file further up", "folder as file", "no folder", "no files", "NUL", "long"],
)
def test_unusable_path_leaves_a_working_session(tmp_path: Path, session: Open, name: str, what: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder").mkdir()
    place = tmp_path / name
    progress = session(place)
    for _ in range(2):
        assert not progress.saved
        assert progress.problem is not None
        assert what in progress.problem
        assert progress.problem.startswith("Your progress is not saved")
        assert progress.problem.endswith(".")
        assert progress.problem.isprintable()
        fill(progress)
    assert progress.states() == {("one", "step"): "done"}
    assert progress.draft("task") == "x = 1"


def test_no_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_such_user(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", no_such_user)
    with closing(Progress.open()) as progress:
        assert progress.problem is not None
        assert "no home directory" in progress.problem
        assert not progress.saved
        fill(progress)
        assert_filled(progress)


def test_read_only_file_is_read(path: Path, session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(session())
    before = path.read_bytes()
    real = progress_file.open_database
    monkeypatch.setattr(progress_file, "open_database", partial(open_read_only, real))
    progress = session()
    assert not progress.saved
    assert progress.problem is not None
    assert "is read-only" in progress.problem
    assert_filled(progress)
    progress.save_draft("task", "new")
    assert progress.draft("task") == "new"
    assert path.read_bytes() == before
    monkeypatch.setattr(progress_file, "open_database", real)
    progress.set_state("two", "step", "seen")
    assert progress.problem is None
    assert session().draft("task") == "new"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_read_only_folder_is_read(path: Path, session: Open, mode: int) -> None:
    fill(session())
    path.parent.chmod(mode)
    try:
        progress = session()
        assert not progress.saved
        assert progress.problem is not None
        if mode:
            assert_filled(progress)
    finally:
        path.parent.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_file_that_is_read_only_on_purpose_stays_so(path: Path, session: Open) -> None:
    fill(session())
    path.chmod(0o400)
    progress = session()
    progress.set_state("two", "step", "seen")
    assert not progress.saved
    assert progress.states() == {("one", "step"): "done", ("two", "step"): "seen"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


@pytest.mark.parametrize("mode", [0o500, 0o700, 0o750])
def test_only_others_lose_rights_to_the_folder(home: Path, mode: int) -> None:
    folder = home / "xdg_state_home" / "attn-tutor"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    Progress.open().close()
    left = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(0o700)
    assert left == mode & 0o700


@pytest.mark.parametrize("suffix", ["", *progress_file.BESIDE])
def test_a_pipe_in_place_of_the_file_is_not_read(path: Path, session: Open, suffix: str) -> None:
    """Nor one in place of a file that SQLite keeps beside it."""
    path.parent.mkdir()
    pipe = path.with_name(path.name + suffix)
    os.mkfifo(pipe)
    progress = session()
    assert not progress.saved
    assert progress.problem == (
        f"Your progress is not saved, because {pipe} is a pipe or a device. Rename it, or set XDG_STATE_HOME to a "
        "folder where you may write, and start again."
    )
    fill(progress)
    pipe.unlink()
    progress.set_state("two", "step", "seen")
    assert progress.saved


def test_names_that_are_no_text_in_a_damaged_file(path: Path, session: Open) -> None:
    """SQLite's message about such a file cannot be decoded."""
    first = session()
    fill(first)
    first.close()
    whole = path.read_bytes()
    at = whole.index(b"CREATE TABLE drafts") + 13
    path.write_bytes(whole[:at] + b"\x9a" * 6 + whole[at + 6 :])
    progress = session()
    assert progress.saved
    assert progress.problem is not None
    assert "damaged-1" in progress.problem


def test_folder_without_room_for_a_journal_is_read(path: Path, session: Open) -> None:
    fill(session())
    journal = path.with_name("progress.db-journal")
    journal.mkdir()
    progress = session()
    assert not progress.saved
    assert_filled(progress)
    progress.save_draft("task", "new")
    journal.rmdir()
    progress.set_state("two", "step", "seen")
    assert progress.problem is None
    assert session().draft("task") == "new"


FULL = """
    import json, resource, sys
    from pathlib import Path
    from attn_tutor.lessons.learner.progress import Progress

    path = Path(sys.argv[1])
    progress = Progress.open(path)
    progress.set_state("one", "before", "done")
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, hard))
    progress.save_draft("task", "x" * 50_000)
    progress.add_attempt("task", "y" * 50_000, "passed")
    progress.set_position("one", "during")
    reports = [[progress.saved, progress.problem, len(progress.draft("task")), progress.passed("task")]]
    other = Progress.open(path)
    reports.append([other.saved, other.problem, 0, other.state("one", "before") == "done"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    progress.set_state("one", "after", "seen")
    reports.append([progress.saved, progress.problem, len(progress.draft("task")), progress.passed("task")])
    print(json.dumps(reports))
"""


def test_full_disk_loses_nothing(path: Path, session: Open) -> None:
    writer = start_program(FULL, path)
    output = writer.communicate()[0]
    assert writer.returncode == 0
    during, opened, after = json.loads(output)
    assert during[0] is False
    assert "Make room" in during[1]
    assert "what you do is lost when attn-tutor ends" in during[1]
    assert during[2:] == [50_000, True]
    assert opened[3] is True
    assert after == [True, None, 50_000, True]
    progress = session()
    assert progress.states() == {("one", "before"): "done", ("one", "after"): "seen"}
    assert progress.position() == ("one", "during")
    assert len(progress.draft("task") or "") == 50_000
    assert progress.passed("task")
    assert integrity(path) == "ok"


def test_first_start_on_a_full_disk(path: Path, session: Open) -> None:
    code = """
        import resource, sys
        from pathlib import Path
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        sys.dont_write_bytecode = True
        from attn_tutor.lessons.learner.progress import Progress
        progress = Progress.open(Path(sys.argv[1]))
        progress.set_state("one", "step", "done")
        assert not progress.saved and "Make room" in progress.problem, progress.problem
        assert progress.state("one", "step") == "done"
    """
    writer = start_program(code, path)
    writer.communicate()
    assert writer.returncode == 0
    assert session().problem is None


def test_disk_that_reports_to_be_full(path: Path, session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = session()
    real = progress_file.open_database

    def fail_as_full(*args: object) -> sqlite3.Connection:
        file = real(*args)  # type: ignore[arg-type]
        file.execute("PRAGMA max_page_count = 8")
        return file

    monkeypatch.setattr(progress_file, "open_database", fail_as_full)
    progress.close()
    progress.save_draft("task", "x" * 100_000)
    assert progress.problem is not None
    assert f"the disk with {path} is full" in progress.problem
    assert "\n" not in progress.problem
    monkeypatch.setattr(progress_file, "open_database", real)
    progress.close()
    assert progress.problem is None
    assert len(session().draft("task") or "") == 100_000


@pytest.mark.usefixtures("short_patience")
def test_locked_file_receives_everything_later(path: Path, session: Open) -> None:
    progress = session()
    progress.save_draft("task", "old")
    with lock_file(path):
        fill(progress)
        assert not progress.saved
        assert progress.problem is not None
        assert "locked" in progress.problem
        assert_filled(progress)
        assert progress.export()["drafts"]
    progress.set_state("two", "step", "seen")
    assert progress.saved
    assert progress.problem is None
    assert session().states() == {("one", "step"): "done", ("two", "step"): "seen"}
    assert session().draft("task") == "x = 1"
    assert len(session().attempts("task")) == 1


@pytest.mark.usefixtures("short_patience")
def test_reading_a_locked_file_answers_from_memory(path: Path, session: Open) -> None:
    progress = session()
    fill(progress)
    with lock_file(path):
        assert_filled(progress)
        assert not progress.saved
    progress.close()
    assert progress.problem is None


@pytest.mark.usefixtures("short_patience")
def test_file_locked_at_the_start_is_read_later(path: Path, session: Open) -> None:
    fill(session())
    with lock_file(path):
        progress = session()
        assert progress.problem is not None
        progress.set_state("one", "step", "seen")
        progress.set_state("two", "step", "seen")
    progress.save_draft("other", "y")
    assert progress.saved
    assert progress.states() == {("one", "step"): "done", ("two", "step"): "seen"}
    assert progress.draft("task") == "x = 1"


@pytest.mark.usefixtures("short_patience")
def test_late_events_do_not_undo_newer_ones_of_another_session(path: Path, session: Open) -> None:
    late, other = session(), session()
    with lock_file(path):
        late.save_draft("task", "early")
        late.set_position("one", "early")
        late.set_state("one", "step", "seen")
    other.save_draft("task", "newer")
    other.set_position("one", "newer")
    other.set_state("one", "step", "done")
    late.add_attempt("task", "z", "failed")
    assert late.saved
    for progress in (late, other, session()):
        assert progress.draft("task") == "newer"
        assert progress.position() == ("one", "newer")
        assert progress.state("one", "step") == "done"


# A damaged file


def damage_header(path: Path) -> None:
    path.write_bytes(b"This was a database once." * 100)


def damage_pages(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-4096] + b"\xff" * 4096)


def damage_length(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def damage_schema(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as file:
        file.executescript("CREATE TABLE drafts (colour TEXT); PRAGMA user_version = 1;")


def damage_format(path: Path) -> None:
    """Name a format of the file that SQLite would only read."""
    flip(path, 18)


def damage_version(path: Path) -> None:
    """Turn the version of the tables into one that no release will have."""
    flip(path, 60)


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 0xFF]))


DAMAGES = [damage_header, damage_pages, damage_length, damage_schema, damage_format, damage_version]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_file_is_moved_aside(path: Path, session: Open, damage: Callable[[Path], None]) -> None:
    first = session()
    fill(first, size=20_000)
    first.close()
    for number in (1, 2):
        damage(path)
        bad = path.read_bytes()
        progress = session()
        aside = path.with_name(f"progress.db.damaged-{number}")
        assert progress.saved
        assert progress.problem is not None
        assert str(aside) in progress.problem
        assert aside.read_bytes() == bad
        fill(progress, size=20_000)
        assert progress.problem is not None
        progress.close()
        again = session()
        assert again.problem is None
        assert_filled(again)
        again.close()
        assert integrity(path) == "ok"


def test_readable_rows_of_a_damaged_file_are_kept(path: Path, session: Open) -> None:
    progress = session()
    for number in range(50):
        progress.set_state("one", str(number), "done")
    fill(progress, size=20_000)
    progress.close()
    damage_pages(path)
    saved = session()
    assert saved.saved
    assert len(saved.states()) == 51
    assert saved.position() == ("one", "step")
    assert len(session().states()) == 51


def test_invalid_values_are_ignored(path: Path, session: Open) -> None:
    fill(session())
    with closing(sqlite3.connect(path)) as file:
        file.execute("INSERT INTO states VALUES ('one', 'odd', 'half', '')")
        file.execute("INSERT INTO attempts (exercise, time, verdict, code) VALUES ('task', x'ff', 'passed', 1.5)")
        file.execute("INSERT INTO help VALUES ('task', 'hint-many', '')")
        file.execute("INSERT INTO help VALUES ('task', x'ff', x'ff')")
        file.commit()
    data = json.dumps(session().export())
    assert "half" not in data
    assert "hint-many" not in data
    assert session().hints_used("task") == 2
    # The times have points too.
    assert '"1.5"' not in data
    assert ": 1.5" not in data


def test_damaged_file_that_cannot_be_moved_stays(path: Path, session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> Path:
        raise PermissionError(1, "no", str(path))

    fill(session())
    damage_header(path)
    bad = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(progress_file, "move_aside", refuse)
        progress = session()
        fill(progress)
        assert not progress.saved
        assert progress.problem is not None
        assert "is damaged and cannot be moved" in progress.problem
        assert_filled(progress)
        assert path.read_bytes() == bad
    progress.set_state("two", "step", "seen")
    assert progress.saved
    assert session().draft("task") == "x = 1"


def test_journal_of_a_damaged_file_goes_with_it(path: Path, session: Open) -> None:
    fill(session())
    damage_header(path)
    path.with_name("progress.db-journal").write_bytes(b"old")
    kept = progress_file.move_aside(path)
    assert kept.with_name(kept.name + "-journal").read_bytes() == b"old"
    assert session().states() == {}


def test_new_file_of_another_session_is_not_moved_aside(
    path: Path, session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = progress_file.salvage

    def slowly(path: Path) -> dict[str, list[dict[str, str]]]:
        rows = real(path)
        monkeypatch.setattr(progress_file, "salvage", real)
        session().save_draft("other", "of the faster session")
        return rows

    session().close()
    damage_header(path)
    monkeypatch.setattr(progress_file, "salvage", slowly)
    progress = session()
    assert progress.saved
    assert progress.draft("other") == "of the faster session"
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["progress.db", "progress.db.damaged-1"]


def test_damage_in_the_middle_of_a_session_loses_nothing(path: Path, session: Open) -> None:
    progress = session()
    fill(progress)
    damage_header(path)
    progress.set_state("two", "step", "seen")
    assert progress.saved
    assert progress.problem is not None
    assert "damaged-1" in progress.problem
    fresh = session()
    assert fresh.states() == {("one", "step"): "done", ("two", "step"): "seen"}
    assert fresh.draft("task") == "x = 1"


def test_damage_found_while_reading_is_repaired(path: Path, session: Open) -> None:
    progress = session()
    fill(progress)
    damage_header(path)
    assert_filled(progress)
    assert progress.saved
    assert_filled(session())


@pytest.mark.parametrize("how", ["moved", "deleted", "folder deleted"])
def test_file_that_vanishes_is_written_again(path: Path, session: Open, how: str) -> None:
    one, two = session(), session()
    fill(one)
    two.save_draft("other", "two")
    if how == "moved":
        path.rename(path.with_name("elsewhere"))
    else:
        path.unlink()
        if how == "folder deleted":
            path.parent.rmdir()
    one.set_state("two", "one", "seen")
    two.set_state("two", "two", "seen")
    for progress in (one, two, session()):
        assert progress.saved
        assert progress.problem is None
        assert progress.states() == {("one", "step"): "done", ("two", "one"): "seen", ("two", "two"): "seen"}
        assert progress.draft("task") == "x = 1"
        assert progress.draft("other") == "two"


def test_file_of_a_newer_version_is_not_touched(path: Path, session: Open) -> None:
    first = session()
    fill(first)
    first.close()
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"PRAGMA user_version = {VERSION + 1}")
    path.chmod(0o640)
    before, status = path.read_bytes(), path.stat()
    progress = session()
    for _ in range(2):
        assert not progress.saved
        assert progress.problem is not None
        assert "newer version" in progress.problem
        assert progress.states() == {("one", "step"): "done"}
        progress.save_draft("task", "new")
    assert progress.draft("task") == "new"
    progress.close()
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert path.stat().st_mode == status.st_mode
    assert {entry.name for entry in path.parent.iterdir() if not entry.name.startswith("unsaved-")} == {"progress.db"}


# A file of an earlier version

VERSION_1 = """
    CREATE TABLE position (
        slot TEXT PRIMARY KEY DEFAULT 'last', lesson TEXT NOT NULL, step TEXT NOT NULL, time TEXT NOT NULL);
    CREATE TABLE states (
        lesson TEXT NOT NULL, step TEXT NOT NULL, state TEXT NOT NULL, time TEXT NOT NULL,
        PRIMARY KEY (lesson, step)) WITHOUT ROWID;
    CREATE TABLE drafts (exercise TEXT PRIMARY KEY, code TEXT NOT NULL, time TEXT NOT NULL);
    CREATE TABLE attempts (
        exercise TEXT NOT NULL, time TEXT NOT NULL, verdict TEXT NOT NULL, code TEXT NOT NULL);
    CREATE INDEX attempts_of_exercise ON attempts (exercise, time);
    INSERT INTO position VALUES ('last', 'one', 'step', '2024-01-01T00:00:00.000000+00:00');
    INSERT INTO states VALUES ('one', 'step', 'done', '2024-01-01T00:00:00.000000+00:00');
    INSERT INTO states VALUES ('one', 'next', 'seen', '2024-01-01T00:00:00.000000+00:00');
    INSERT INTO drafts VALUES ('task', 'x = 1', '2024-01-01T00:00:00.000000+00:00');
    INSERT INTO attempts VALUES ('task', '2024-01-01T00:00:00.000000+00:00', 'failed', 'x = 2');
    INSERT INTO attempts VALUES ('task', '2024-01-02T00:00:00.000000+00:00', 'passed', 'x = 3');
    PRAGMA user_version = 1;
"""
"""The tables and rows of a file that version 1 wrote."""


def make_version_1(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as file:
        file.executescript(VERSION_1)


def assert_version_1(progress: Progress) -> None:
    assert progress.position() == ("one", "step")
    assert progress.states() == {("one", "step"): "done", ("one", "next"): "seen"}
    assert progress.draft("task") == "x = 1"
    attempts = [
        (attempt.code, attempt.verdict, attempt.mistake, attempt.message) for attempt in progress.attempts("task")
    ]
    assert attempts == [("x = 2", "failed", "", ""), ("x = 3", "passed", "", "")]


def test_file_of_version_1_is_upgraded_where_it_is(path: Path, session: Open) -> None:
    make_version_1(path)
    for _ in range(2):
        progress = session()
        assert (progress.saved, progress.problem) == (True, None)
        assert_version_1(progress)
        progress.close()
    assert [entry.name for entry in path.parent.iterdir()] == ["progress.db"]
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert integrity(path) == "ok"
    progress = session()
    progress.set_state("one", "next", "skipped")
    progress.add_attempt("task", "x = 4", "failed", "no-scale", "Not so.")
    progress.use_hint("task", 1)
    again = session()
    assert again.state("one", "next") == "skipped"
    assert again.attempts("task")[-1].mistake == "no-scale"
    assert again.hints_used("task") == 1


def test_interrupted_upgrade_changes_nothing(path: Path, session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    make_version_1(path)
    before = path.read_bytes()

    real = tables.merge

    def fail_on_disk(database: sqlite3.Connection, rows: tables.Rows, **how: bool) -> None:
        if database.execute("PRAGMA database_list").fetchone()[2]:
            raise sqlite3.OperationalError("disk I/O error")
        real(database, rows, **how)

    with monkeypatch.context() as patch:
        patch.setattr(tables, "merge", fail_on_disk)
        progress = session()
        assert not progress.saved
        assert_version_1(progress)
    assert path.read_bytes() == before
    assert_version_1(session())


def test_read_only_file_of_version_1_is_read(path: Path, session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    make_version_1(path)
    before = path.read_bytes()
    real = progress_file.open_database
    monkeypatch.setattr(progress_file, "open_database", partial(open_read_only, real))
    progress = session()
    assert not progress.saved
    assert_version_1(progress)
    assert path.read_bytes() == before


def test_readable_rows_of_a_damaged_file_of_version_1_are_kept(path: Path, session: Open) -> None:
    make_version_1(path)
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE more AS SELECT printf('%9000c', 'x')")
        file.commit()
    damage_pages(path)
    progress = session()
    assert progress.saved
    assert progress.problem is not None
    assert_version_1(progress)


def test_two_sessions_may_upgrade_at_once(path: Path, session: Open) -> None:
    make_version_1(path)
    together, problems = threading.Barrier(3), []

    def work() -> None:
        together.wait()
        with closing(Progress.open(path)) as progress:
            problems.append(progress.problem)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [None] * 3
    assert_version_1(session())


def test_session_of_version_1_goes_on_after_the_upgrade(path: Path, session: Open) -> None:
    """An older program that has the file open keeps working."""
    make_version_1(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as older:
        assert older.execute("SELECT count(*) FROM attempts").fetchone() == (2,)
        session()
        older.execute(
            "INSERT INTO attempts (exercise, time, verdict, code) VALUES ('task', '2024-01-03T00:00:00', 'error', 'y')"
        )
    assert [attempt.message for attempt in session().attempts("task")] == ["", "", ""]


def test_export_of_version_1_is_restored(session: Open) -> None:
    progress = session()
    time = "2024-01-01T00:00:00.000000+00:00"
    attempt = {"exercise": "task", "time": time, "verdict": "failed", "code": "x = 2"}
    progress.restore({"format": "attn-tutor progress", "version": 1, "states": [STEP], "attempts": [attempt]})
    assert session().state("one", "step") == "done"
    assert session().attempts("task") == [Attempt("x = 2", "failed", time, "", "")]


# Export and import


def test_export_is_json_and_restores_everything(session: Open, tmp_path: Path) -> None:
    one = session()
    fill(one)
    data = json.loads(json.dumps(one.export()))
    two = session(tmp_path / "other" / "progress.db")
    two.restore(data)
    assert_filled(two)
    assert two.export() == one.export()
    two.restore(data)
    assert two.export() == one.export()
    assert_filled(session(tmp_path / "other" / "progress.db"))


def test_restore_never_loses_what_is_newer(session: Open, tmp_path: Path) -> None:
    old, here = session(tmp_path / "old.db"), session()
    old.save_draft("task", "old")
    old.save_draft("only there", "kept")
    old.set_position("one", "old")
    old.set_state("one", "a", "seen")
    old.set_state("one", "b", "done")
    old.add_attempt("task", "there", "failed")
    here.save_draft("task", "new")
    here.set_position("one", "new")
    here.set_state("one", "a", "done")
    here.set_state("one", "b", "seen")
    here.add_attempt("task", "here", "passed")
    here.restore(old.export())
    for progress in (here, session()):
        assert progress.draft("task") == "new"
        assert progress.draft("only there") == "kept"
        assert progress.position() == ("one", "new")
        assert progress.states() == {("one", "a"): "done", ("one", "b"): "done"}
        assert [attempt.code for attempt in progress.attempts("task")] == ["there", "here"]
    old.restore(here.export())
    assert old.export() == here.export()


@pytest.mark.usefixtures("short_patience")
def test_restore_into_a_locked_file_is_kept_for_later(path: Path, session: Open, tmp_path: Path) -> None:
    source, progress = session(tmp_path / "source.db"), session()
    fill(source)
    with lock_file(path):
        progress.restore(source.export())
        assert_filled(progress)
        assert not progress.saved
    progress.close()
    assert_filled(session())


def test_times_of_different_zones_are_compared_correctly(session: Open) -> None:
    progress = session()
    entry = {"exercise": "task", "code": "old", "time": "2020-01-01T12:00:00+05:00"}
    head = {"format": "attn-tutor progress", "version": 1}
    progress.restore({**head, "drafts": [entry]})
    progress.restore({**head, "drafts": [{**entry, "code": "new", "time": "2020-01-01T08:00:00"}]})
    progress.restore({**head, "drafts": [entry]})
    assert progress.draft("task") == "new"


def test_restored_code_may_hold_half_a_surrogate_pair(session: Open) -> None:
    progress = session()
    entry = {"exercise": "task", "code": "a\ud83eb", "time": "2020-01-01T12:00:00"}
    progress.restore({**HEAD, "drafts": [entry]})
    assert progress.saved
    assert progress.draft("task") == "a?b"


HEAD = {"format": "attn-tutor progress", "version": 2}
STEP = {"lesson": "one", "step": "step", "state": "done", "time": "2020-01-01T00:00:00+00:00"}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"format": "something else"},
        {**HEAD, "version": VERSION + 1},
        {**HEAD, "version": "1"},
        {**HEAD, "states": {}},
        {**HEAD, "states": [STEP, None]},
        {**HEAD, "states": [STEP, {}]},
        {**HEAD, "states": [STEP, {**STEP, "state": "half"}]},
        {**HEAD, "states": [STEP, {**STEP, "time": "yesterday"}]},
        {**HEAD, "states": [STEP, {**STEP, "time": "0001-01-01T00:00:00+14:00"}]},
        {**HEAD, "states": [STEP, {**STEP, "lesson": 1}]},
        {**HEAD, "states": [STEP], "attempts": [{"exercise": "a", "code": "b", "verdict": "brilliant", "time": ""}]},
        {**HEAD, "states": [STEP], "help": [{"exercise": "a", "kind": "hint-0", "time": "2020-01-01T00:00:00"}]},
        {**HEAD, "states": [STEP], "kept": [{"exercise": "a", "code": "b", "time": "2020-01-01T00:00:00"}]},
    ],
)
def test_data_that_is_not_an_export_changes_nothing(session: Open, data: object) -> None:
    progress = session()
    with pytest.raises(ValueError, match=r"\.$"):
        progress.restore(data)
    assert progress.states() == {}


# Any order of events and failures

NAMES = st.sampled_from("ab")
EVENTS = st.one_of(
    st.tuples(st.just("state"), NAMES, st.sampled_from(["seen", "skipped", "done"])),
    st.tuples(st.just("hint"), NAMES, st.sampled_from("123")),
    st.tuples(st.just("give up"), NAMES, st.sampled_from(["yes", "no"])),
    st.tuples(st.just("keep"), NAMES, st.text(max_size=5)),
    st.tuples(st.just("draft"), NAMES, st.text(max_size=5)),
    st.tuples(st.just("attempt"), NAMES, st.sampled_from(["passed", "failed"])),
    st.tuples(st.just("position"), NAMES, NAMES),
    st.tuples(st.sampled_from(["lock", "delete", "damage", "restart"]), NAMES, NAMES),
)


@given(st.lists(EVENTS, max_size=12))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("short_patience")
def test_no_order_of_events_and_failures_loses_anything(events: list[tuple[str, str, str]]) -> None:
    states: dict[tuple[str, str], str] = {}
    drafts: dict[str, str] = {}
    attempts: dict[str, list[str]] = {"a": [], "b": []}
    hints, given_up, kept = {"a": 0, "b": 0}, {"a": False, "b": False}, {"a": list[str](), "b": list[str]()}
    position = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "progress.db"
        progress = Progress.open(path)
        lock = None
        for kind, name, value in events:
            if kind == "state":
                progress.set_state("one", name, cast(State, value))
                states["one", name] = max(states.get(("one", name), "new"), value, key=RANK.__getitem__)
            elif kind == "hint":
                progress.use_hint(name, int(value))
                hints[name] = max(hints[name], int(value))
            elif kind == "give up":
                given_up[name] = value == "yes"
                progress.give_up(name) if given_up[name] else progress.take_back_give_up(name)
            elif kind == "keep":
                progress.archive(name, value, "reset")
                kept[name].append(value)
            elif kind == "draft":
                progress.save_draft(name, value, progress.open_draft(name).version)
                drafts[name] = value
            elif kind == "attempt":
                progress.add_attempt(name, "code", "passed" if value == "passed" else "failed")
                attempts[name].append(value)
            elif kind == "position":
                progress.set_position(name, value)
                position = (name, value)
            elif lock is not None:
                lock.close()
                lock = None
            elif kind == "lock" and progress.saved:
                lock = sqlite3.connect(path, isolation_level=None)
                lock.execute("BEGIN EXCLUSIVE")
            elif kind == "delete":
                path.unlink(missing_ok=True)
            elif kind == "damage" and path.exists():
                path.write_bytes(b"?" * 5000)
            elif kind == "restart" and path.exists() and path.read_bytes()[:1] == b"S":
                progress.close()
                progress = Progress.open(path)
            assert progress.states() == states
        if lock is not None:
            lock.close()
        progress.set_state("end", "end", "seen")
        progress.close()
        with closing(Progress.open(path)) as again:
            assert again.states() == {**states, ("end", "end"): "seen"}
            assert {name: again.draft(name) for name in drafts} == drafts
            assert {name: [one.verdict for one in again.attempts(name)] for name in attempts} == attempts
            assert again.position() == position
            assert {name: again.hints_used(name) for name in hints} == hints
            assert {name: again.gave_up(name) for name in given_up} == given_up
            assert {name: [one.code for one in again.archived(name)] for name in kept} == kept
