"""What a progress file does not take outlives the session all the same, and the next one takes it over."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from attn_tutor.lessons.files import write_whole
from attn_tutor.lessons.learner import progress_file, rows_aside
from attn_tutor.lessons.learner.progress import Progress
from tests.tui.fake_session import PATIENCE

Open = Callable[..., Progress]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "progress.db"


@pytest.fixture
def session(path: Path) -> Iterator[Open]:
    """Return a function that opens a session on the file; close all sessions after the test."""
    opened = []

    def start(*, background: bool = False) -> Progress:
        opened.append(Progress.open(path, background=background))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sessions wait for a lock only a moment."""
    monkeypatch.setattr(progress_file, "PATIENCE", 0.01)
    monkeypatch.setattr(progress_file, "RETRY_PATIENCE", 0.01)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the file as another program might that holds it without reading or writing."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def asides(folder: Path) -> list[Path]:
    """Return the files below a folder in which rows are kept aside."""
    return sorted(file for file in folder.rglob("*.json") if "unsaved-" in str(file.relative_to(folder)))


KILLED = """
import os, signal, sys, threading
from pathlib import Path
from attn_tutor.lessons.files import write_whole
from attn_tutor.lessons.learner import progress_file
from attn_tutor.lessons.learner.progress import Progress

progress_file.PATIENCE = progress_file.RETRY_PATIENCE = 0.01
progress = Progress.open(Path(sys.argv[1]), background=sys.argv[2] == "True")
told = threading.Event()
progress.on_saved = told.set
progress.set_position("one", "step")
progress.add_attempt("task", "y", "failed")
progress.save_draft("task", "x", progress.open_draft("task").version)
assert told.wait(60)
if progress._thread is not None:
    # What was submitted to the thread before is done by then.
    progress._thread.submit(lambda: None).result()
print(progress.saved, progress.is_kept, progress.problem, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(path: Path, *, background: bool = False) -> str:
    """Have a session do something and be killed; return what it said before."""
    program = [sys.executable, "-c", KILLED, str(path), str(background)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout


@pytest.mark.parametrize("background", [False, True])
def test_a_session_that_is_killed_while_the_file_is_locked(
    path: Path, session: Open, tmp_path: Path, background: bool
) -> None:
    session().save_draft("other", "before")
    with locked(path):
        said = killed(path, background=background)
        [aside] = asides(tmp_path)
        assert aside.parent == path.parent
        assert said.startswith("False True Your progress is not saved, because another program keeps ")
        assert f"Until then, what you do is kept in {aside}, from where attn-tutor takes it by itself." in said
        assert aside.stat().st_mode & 0o777 == 0o600
        # Even before the file can be used, the next session knows it.
        assert session().draft("task") == "x"
    for _ in range(2):
        progress = session()
        assert progress.problem is None
        assert (progress.draft("task"), progress.draft("other")) == ("x", "before")
        assert progress.position() == ("one", "step")
        assert [attempt.code for attempt in progress.attempts("task")] == ["y"]
        assert progress.archived("task") == []
        assert asides(tmp_path) == []


def test_a_disk_without_room_for_that(
    path: Path, session: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be kept beside the file is kept in a folder for temporary files, for the learner alone."""
    real = write_whole

    def write(file: Path, content: bytes) -> None:
        if file.parent == path.parent:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file, content)

    progress = session()
    monkeypatch.setattr(rows_aside, "write_whole", write)
    with locked(path):
        progress.save_draft("task", "x")
        [aside] = asides(tmp_path)
        assert aside.parent.parent == tmp_path
        assert aside.parent.stat().st_mode & 0o777 == 0o700
        assert progress.problem is not None
        assert f"kept in {aside}, from where attn-tutor takes it by itself. That is a folder for" in progress.problem
        progress.save_draft("task", "xy")
        assert asides(tmp_path) == [aside]
        left = aside.read_bytes()
    progress.close()
    assert progress.problem is None
    assert asides(tmp_path) == []
    # As if that session had been killed.
    path.unlink()
    aside.write_bytes(left)
    aside.chmod(0o600)
    assert session().draft("task") == "xy"
    assert asides(tmp_path) == []


@pytest.mark.parametrize("how", ["link", "writable", "file"])
def test_a_shared_folder_that_somebody_else_may_have_made(
    path: Path, session: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    shared = tmp_path / f"unsaved-attn-tutor-{os.geteuid()}"
    (tmp_path / "theirs").mkdir()
    if how == "link":
        shared.symlink_to("theirs")
    elif how == "file":
        shared.write_bytes(b"")
    else:
        shared.mkdir()
        shared.chmod(0o777)
    aside = rows_aside.RowsAside(path, "")
    # Neither the folder of the progress file, which is missing, nor this one.
    monkeypatch.setattr(rows_aside.RowsAside, "_places", lambda _: [(path.parent, "unsaved-"), (shared, "x-")])
    assert not aside.write({"drafts": []})
    assert aside.of_others() == []
    assert asides(tmp_path) == []


def test_what_is_not_an_ordinary_file_of_ours_is_not_read(path: Path, session: Open, tmp_path: Path) -> None:
    with locked_for_the_first_time(path, session):
        session().save_draft("task", "x")
        [aside] = asides(tmp_path)
        content = aside.read_bytes()
    os.mkfifo(path.parent / "unsaved-pipe.json")
    (path.parent / "unsaved-link.json").symlink_to(tmp_path / "elsewhere.json")
    (tmp_path / "elsewhere.json").write_bytes(content)
    writable = path.parent / "unsaved-writable.json"
    writable.write_bytes(content)
    writable.chmod(0o666)
    (path.parent / "unsaved-damaged.json").write_bytes(content[:-20])
    other_course = {**json.loads(content), "course": "other"}
    (path.parent / "unsaved-other.json").write_text(json.dumps(other_course))
    aside.unlink(missing_ok=True)
    path.unlink()
    progress = session()
    assert progress.saved
    assert progress.draft("task") is None
    assert len(os.listdir(path.parent)) == 6


@contextmanager
def locked_for_the_first_time(path: Path, session: Open) -> Iterator[None]:
    session().set_position("one", "step")
    with locked(path):
        yield


def test_of_two_drafts_the_newer_one_stays_and_the_other_one_is_offered(path: Path, session: Open) -> None:
    session().save_draft("task", "at first")
    with locked(path):
        killed(path)
    other = sqlite3.connect(path, isolation_level=None)
    # A session that does not know what is kept aside, as one on another machine.
    other.execute("UPDATE drafts SET code = 'newer', time = '2999-01-01T00:00:00.000000+00:00', version = 'other/1'")
    other.close()
    progress = session()
    assert progress.draft("task") == "newer"
    assert [(each.code, each.why) for each in progress.archived("task")] == [("x", "session")]


def test_a_session_goes_on_after_another_one_has_taken_over_its_rows(path: Path, session: Open, tmp_path: Path) -> None:
    with locked_for_the_first_time(path, session):
        writing = session()
        writing.save_draft("task", "x")
        assert len(asides(tmp_path)) == 1
    assert session().draft("task") == "x"
    assert asides(tmp_path) == []
    with locked(path):
        version = writing.save_draft("task", "xy", writing.open_draft("task").version)
        assert len(asides(tmp_path)) == 1
    writing.save_draft("task", "xyz", version)
    assert asides(tmp_path) == []
    progress = session()
    assert progress.draft("task") == "xyz"
    assert progress.archived("task") == []


def test_the_screen_hears_of_a_lock_that_stays_and_of_its_end(path: Path, session: Open) -> None:
    progress = session(background=True)
    heard, told = threading.Event(), []

    def hear() -> None:
        told.append(progress.problem)
        heard.set()

    progress.on_saved = hear
    with locked(path):
        progress.save_draft("task", "x")
        assert heard.wait(PATIENCE)
        heard.clear()
    # Nobody does anything.
    assert heard.wait(PATIENCE)
    assert [said is None for said in told] == [False, True]
    assert progress.saved


@pytest.mark.parametrize("seed", range(8))
def test_no_order_of_sessions_locks_and_kills_loses_anything(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A session that is dropped without being closed has written whatever it would have written before a kill."""
    chosen, opened, wrote = random.Random(seed), [Progress.open(path)], []
    other = sqlite3.connect(path, isolation_level=None)
    real = write_whole

    def write(file: Path, content: bytes) -> None:
        if chosen.random() < 0.5 and file.parent == path.parent:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file, content)

    monkeypatch.setattr(rows_aside, "write_whole", write)
    for number in range(60):
        match chosen.choice(("open", "kill", "close", "lock", "attempt", "attempt", "draft", "draft")):
            case "open":
                opened.append(Progress.open(path))
            case "kill" if len(opened) > 1:
                opened.pop(chosen.randrange(len(opened)))
            case "close" if len(opened) > 1:
                opened.pop(chosen.randrange(len(opened))).close()
            case "lock":
                other.execute("ROLLBACK" if other.in_transaction else "BEGIN EXCLUSIVE")
            case "attempt":
                chosen.choice(opened).add_attempt("task", str(number), "failed")
                wrote.append(str(number))
            case "draft":
                progress = chosen.choice(opened)
                progress.save_draft("task", f"draft {number}", progress.open_draft("task").version)
    last = chosen.choice(opened)
    last.save_draft("task", "last", last.open_draft("task").version)
    if other.in_transaction:
        other.execute("ROLLBACK")
    other.close()
    with closing(Progress.open(path)) as progress:
        assert sorted(each.code for each in progress.attempts("task")) == sorted(wrote)
        found = {progress.draft("task"), *(each.code for each in progress.archived("task"))}
        assert "last" in found
        assert asides(tmp_path) == []
