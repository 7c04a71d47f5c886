"""The verb `watch`: real files and a session without a worker, and the command as a process."""

from __future__ import annotations

import errno
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.judging import Diagnosis
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.results.result import Judgement, NamedMistake, WorkerError
from attn_tutor.tui.commands.verbs import watch_file as module
from attn_tutor.tui.commands.verbs.watch_file import Ending, Watch, signals
from tests.course import COURSE
from tests.lessons.processes import wait_for_end

ROOT = Path(__file__).parents[3]
LESSON, _exercise = COURSE.exercise("two-wide")
assert isinstance(_exercise, ExerciseStep)
EXERCISE = _exercise
PATIENCE = 60.0
"""Seconds after which a test that waits for something gives up."""


class FakeSession(Session):
    """A session that passes `right` and fails anything else; while `held` is clear, a check waits to be stopped."""

    def __init__(self) -> None:
        self.began: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.held, self.stopped = threading.Event(), threading.Event()
        self.held.set()
        self.problem = ""
        self.loaded = True
        self.deaf = 0
        """So many times nothing happens when it is told to stop."""
        self.closed = 0

    @property
    def ready(self) -> bool:
        return self.loaded

    def wait_ready(self) -> None:
        if self.problem:
            raise WorkerError(self.problem)

    def cancel(self) -> None:
        if self.deaf:
            self.deaf -= 1
        else:
            self.stopped.set()

    def close(self) -> None:
        self.closed += 1
        self.stopped.set()

    def check(
        self,
        exercise: ExerciseStep,
        source: str,
        seed: int | None = None,
        rounds: int = 0,
        *,
        diagnosis: Diagnosis = "line",
    ) -> Judgement:
        self.stopped.clear()
        self.began.put(source)
        while not self.held.is_set():
            if self.stopped.wait(0.01):
                return Judgement(exercise.exercise, "error", "Stopped by you.", stopped=True)
        if source == "right":
            return Judgement(exercise.exercise, "passed", "All checks pass.")
        named = (NamedMistake("no-scale", "no scaling", "Scale it."), NamedMistake("both", "both", "Two."))
        return Judgement(exercise.exercise, "failed", f"Not so: {source}", mistakes=named)


class Running:
    """A watch in a thread of its own, and the lines that it prints."""

    def __init__(
        self, path: Path, once: bool = False, lesson: Lesson = LESSON, exercise: ExerciseStep = EXERCISE
    ) -> None:
        self.path, self.session, self.progress = path, FakeSession(), Progress.open()
        self.said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.watch = Watch(
            path, lesson, exercise, self.session, self.progress, self.say, once=once, every=0.01
        )  # fmt: skip
        self.endings: list[Ending] = []
        self._thread = threading.Thread(target=lambda: self.endings.append(self.watch.run()))

    def say(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.said.put(line)

    def start(self) -> None:
        self.watch.make()
        self._thread.start()

    def hear(self, text: str) -> list[str]:
        """Wait for a line with this text, and return all lines up to it."""
        heard = [self.said.get(timeout=PATIENCE)]
        while text not in heard[-1]:
            heard.append(self.said.get(timeout=PATIENCE))
        return heard

    def save(self, text: str) -> None:
        """Save code as an editor does: a new file replaces the old one, so that no look finds half of it."""
        new = self.path.with_name("new")
        new.write_text(text)
        new.replace(self.path)

    def wait(self) -> Ending:
        """Wait until the watch has ended by itself."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        assert self.session.closed
        return self.endings[0]

    def end(self) -> Ending:
        """End the watch as Ctrl+C does."""
        self.watch.events.put(signal.SIGINT)
        return self.wait()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "two-wide.py"


@pytest.fixture
def start(path: Path) -> Iterator[Callable[..., Running]]:
    """Return a function that starts a watch; end all watches afterwards."""
    running: list[Running] = []

    def begin(prepare: Callable[[Running], object] = lambda _: None, once: bool = False) -> Running:
        one = Running(path, once)
        prepare(one)
        running.append(one)
        one.start()
        return one

    yield begin
    for one in running:
        if not one.endings:
            one.end()
        one.progress.close()


Start = Callable[..., Running]


# Watching ------------------------------------------------------------------------------------------------------------


def test_each_save_is_checked_and_recorded(start: Start) -> None:
    one = start()
    assert one.hear("Ctrl+C") == [f"{one.path} was created with the starter code.",
                                  f"{one.path} is checked each time you save it. Press Ctrl+C to stop."]  # fmt: skip
    assert one.path.read_text() == EXERCISE.starter
    one.save("wrong")
    head = one.hear("NOT PASSED")
    assert head[0] == ""
    assert head[1].startswith("== ")
    assert head[1].endswith(f"  {one.path}")
    one.hear("Not so: wrong")
    one.hear("no scaling")
    assert one.progress.state(LESSON.id, EXERCISE.id) == "new"
    one.save("right")
    one.hear("PASSED  two-wide")
    assert one.end() is signal.SIGINT
    attempts = [(each.code, each.verdict, each.mistake, each.message) for each in one.progress.attempts("two-wide")]
    assert attempts == [
        ("wrong", "failed", "no-scale,both", "Not so: wrong"),
        ("right", "passed", "", "All checks pass."),
    ]
    assert one.progress.draft("two-wide") == "right"
    assert one.progress.state(LESSON.id, EXERCISE.id) == "done"
    # The starter and code saved during a watch are not drafts that could be lost.
    assert one.progress.archived("two-wide") == []


def test_challenge_that_is_passed_in_a_file_skips_nothing(path: Path) -> None:
    lesson = next(each for each in COURSE.lessons if each.challenge)
    assert isinstance(lesson.challenge, ExerciseStep)
    one = Running(path, True, lesson, lesson.challenge)
    one.path.write_text("right")
    one.start()
    one.hear("PASSED")
    one.wait()
    assert one.progress.states() == {(lesson.id, lesson.challenge.id): "done"}
    one.progress.close()


def test_a_file_is_made_with_the_draft(start: Start) -> None:
    one = start(lambda one: one.progress.save_draft("two-wide", "my draft"))
    one.hear("was created with your draft.")
    assert one.path.read_text() == "my draft"
    # Nobody has saved the file.
    one.save("right")
    one.hear("PASSED")
    assert one.session.began.get(timeout=PATIENCE) == "right"
    # The file continues the draft.
    assert one.progress.archived("two-wide") == []


def test_an_existing_file_is_checked_at_once(path: Path, start: Start) -> None:
    path.write_text("mine")

    def other_draft(one: Running) -> None:
        one.progress.save_draft("two-wide", "on the screen")

    one = start(other_draft)
    one.hear("Not so: mine")
    assert path.read_text() == "mine"
    assert one.progress.draft("two-wide") == "mine"
    assert [(archived.code, archived.why) for archived in one.progress.archived("two-wide")] == [
        ("on the screen", "watch")
    ]


def test_a_draft_saved_on_the_screen_meanwhile_is_archived(start: Start) -> None:
    one = start()
    one.save("one")
    one.hear("Not so: one")
    one.progress.save_draft("two-wide", "on the screen")
    one.save("two")
    one.hear("Not so: two")
    assert [archived.code for archived in one.progress.archived("two-wide")] == ["on the screen"]


def test_a_file_that_an_editor_has_emptied_is_no_draft(start: Start) -> None:
    """Many editors empty a file before they write it, and a full disk leaves it so."""
    one = start()
    one.save("one")
    one.hear("Not so: one")
    one.save(" \n")
    one.hear(f"{one.path} is empty. Your draft in the tutor stays as it was.")
    one.hear("Not so")
    assert one.progress.draft("two-wide") == "one"
    assert not one.watch.is_draft
    one.save("two")
    one.hear("Not so: two")
    assert one.progress.draft("two-wide") == "two"
    assert one.watch.is_draft


@pytest.mark.parametrize("cut", [b"x = 'a\xd0", b"x = 'a\n"])
def test_code_that_is_cut_short_is_archived(start: Start, cut: bytes) -> None:
    """As by an editor that has found the disk full: what it wrote is in the file, perhaps with half a character."""
    one, code = start(), "x = 'aЖ'\n"
    one.save(code)
    one.hear("Not so: x = 'aЖ'")
    new = one.path.with_name("new")
    new.write_bytes(cut)
    new.replace(one.path)
    one.hear("Not so: x = 'a")
    assert [archived.code for archived in one.progress.archived("two-wide")] == [code]


def test_a_disk_without_room_for_the_file_leaves_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty file would become the draft the next time."""

    def fail_as_full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail_as_full)
    one = Running(path)
    with pytest.raises(OSError, match="space"):
        one.watch.make()
    one.progress.close()
    assert not path.exists()


def test_the_starter_is_not_an_answer(path: Path, start: Start) -> None:
    path.write_text(EXERCISE.starter)
    one = start()
    one.hear("This is still the starter code, so it was not checked.")
    one.save("right")
    one.hear("PASSED")
    assert [each.code for each in one.progress.attempts("two-wide")] == ["right"]


def test_saving_the_same_again_checks_it_again(start: Start) -> None:
    one = start()
    for _ in range(2):
        one.save("wrong")
        one.hear("Not so: wrong")
    assert len(one.progress.attempts("two-wide")) == 2


def test_a_change_stops_the_check_that_runs(start: Start) -> None:
    one = start(lambda one: one.session.held.clear())
    one.save("slow")
    assert one.session.began.get(timeout=PATIENCE) == "slow"
    # The check may be asked to stop before it has started, which has no effect yet.
    one.session.deaf = 3
    one.save("right")
    one.hear("has changed in the meantime")
    assert one.session.began.get(timeout=PATIENCE) == "right"
    one.session.held.set()
    one.hear("PASSED")
    assert [each.code for each in one.progress.attempts("two-wide")] == ["right"]
    assert one.progress.draft("two-wide") == "right"


def test_only_the_last_of_many_changes_counts(start: Start) -> None:
    one = start(lambda one: one.session.held.clear())
    one.save("slow")
    assert one.session.began.get(timeout=PATIENCE) == "slow"
    one.session.deaf = 10**9
    for number in range(3):
        one.save(f"version {number}")
        wait_for(lambda number=number: one.progress.draft("two-wide") == f"version {number}")  # type: ignore[misc]
    one.session.deaf = 0
    one.hear("has changed in the meantime")
    assert one.session.began.get(timeout=PATIENCE) == "version 2"
    assert one.session.began.empty()


def test_a_check_that_ended_before_it_could_be_stopped_counts(start: Start) -> None:
    one = start(lambda one: one.session.held.clear())
    one.save("first")
    assert one.session.began.get(timeout=PATIENCE) == "first"
    one.session.deaf = 10**9
    one.save("right")
    wait_for(lambda: one.progress.draft("two-wide") == "right")
    one.session.held.set()
    one.hear("Not so: first")
    one.hear("PASSED")
    assert [each.code for each in one.progress.attempts("two-wide")] == ["first", "right"]


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait for a condition that no event announces."""
    for _ in range(int(PATIENCE / 0.005)):
        if holds():
            return
        threading.Event().wait(0.005)
    raise AssertionError("it did not come")


def test_a_file_that_disappears_is_waited_for(start: Start) -> None:
    one = start()
    one.hear("Ctrl+C")
    one.path.unlink()
    one.hear("is gone. It will be checked again when it is back.")
    one.save("right")
    heard = one.hear("PASSED")
    assert not any("is gone;" in line for line in heard)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_reported_once(path: Path, start: Start) -> None:
    path.write_text("x")
    path.chmod(0)
    one = start()
    one.hear("cannot be read: Permission denied")
    path.chmod(0o600)
    heard = one.hear("Not so: x")
    assert not any("cannot be read" in line for line in heard)


def test_an_error_while_reading_is_reported_once(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    one = start()
    one.hear("Ctrl+C")
    failed: queue.SimpleQueue[None] = queue.SimpleQueue()

    def fail(*_: object) -> str | None:
        failed.put(None)
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(module, "read", fail)
        one.save("right")
        for _ in range(3):
            failed.get(timeout=PATIENCE)
    heard = one.hear("PASSED")
    assert sum("cannot be read: Input/output error" in line for line in heard) == 1


def test_a_worker_that_fails_does_not_end_the_watch(start: Start) -> None:
    def broken(one: Running) -> None:
        one.session.problem = "PyTorch could not be loaded: no such thing."

    one = start(broken)
    one.save("right")
    one.hear("Your code could not be checked: PyTorch could not be loaded: no such thing.")
    one.session.problem = ""
    one.save("right")
    one.hear("PASSED")
    assert len(one.progress.attempts("two-wide")) == 1


def test_loading_is_announced(start: Start) -> None:
    one = start(lambda one: setattr(one.session, "loaded", False))
    one.save("right")
    one.hear("PyTorch is still loading. Your code will be checked after that.")
    one.hear("PASSED")


def test_an_internal_error_ends_the_watch(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Judgement:
        raise RuntimeError("ours")

    monkeypatch.setattr(FakeSession, "check", fail)
    path.write_text("right")
    one = Running(path)
    one.watch.make()
    with pytest.raises(RuntimeError, match="ours"):
        one.watch.run()
    assert one.session.closed
    one.progress.close()


def test_control_characters_in_a_name_are_removed(tmp_path: Path, start: Start) -> None:
    one = Running(tmp_path / "a\x1b[2J\nb.py")
    one.start()
    assert one.hear("Ctrl+C")[-1].startswith(f"{tmp_path}/a\ufffd[2J\ufffdb.py is checked")
    one.end()
    one.progress.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_watch_and_its_check(start: Start, number: signal.Signals) -> None:
    one = start(lambda one: one.session.held.clear())
    one.save("slow")
    assert one.session.began.get(timeout=PATIENCE) == "slow"
    one.watch.events.put(number)
    assert one.wait() is number
    assert one.progress.attempts("two-wide") == []
    assert one.progress.draft("two-wide") == "slow"


@pytest.mark.parametrize(("code", "passed"), [("right", True), ("wrong", False), (EXERCISE.starter, False)])
def test_once(path: Path, start: Start, code: str, passed: bool) -> None:
    path.write_text(code)
    one = start(once=True)
    ending = one.wait()
    assert isinstance(ending, Judgement)
    assert ending.passed is passed
    assert len(one.progress.attempts("two-wide")) == 1


def test_once_waits_until_the_file_is_edited(start: Start) -> None:
    one = start(once=True)
    one.hear("It will be checked when you save it.")
    one.save("right")
    assert isinstance(one.wait(), Judgement)


def test_once_with_a_worker_that_fails(path: Path, start: Start) -> None:
    path.write_text("right")
    one = start(lambda one: setattr(one.session, "problem", "No."), once=True)
    assert isinstance(one.wait(), WorkerError)


# Signals -------------------------------------------------------------------------------------------------------------


def test_only_the_first_signal_becomes_an_event() -> None:
    events: queue.SimpleQueue[module.Event] = queue.SimpleQueue()
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with signals(events):
        os.kill(os.getpid(), signal.SIGINT)
        assert events.get(timeout=PATIENCE) is signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert events.get(timeout=PATIENCE) is signal.SIGTERM
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_an_ignored_hangup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals(queue.SimpleQueue()):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


# As a process --------------------------------------------------------------------------------------------------------


class Process:
    """The command as a process in a folder of its own, and the lines that it prints."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.file = folder / "two-wide.py"
        self.running = subprocess.Popen(
            [sys.executable, "-m", "attn_tutor", "watch", "3.2", *arguments], cwd=folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    def save(self, text: str) -> None:
        """Save code as an editor does, so that no look finds half of it."""
        new = self.file.with_name("new")
        new.write_text(text)
        new.replace(self.file)

    def hear(self, text: str) -> str:
        """Wait for a line with this text, and return all lines up to it."""
        assert self.running.stdout is not None
        heard = ""
        for line in self.running.stdout:
            heard += line
            if text in line:
                return heard
        raise AssertionError(f"{text} did not come: {heard}")

    def end(self) -> tuple[int, str]:
        rest = self.running.communicate(timeout=PATIENCE)[0]
        return self.running.returncode, rest


def children(pid: int) -> set[int]:
    """Return all descendants of a process."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {pid}
    while new := {child for child, parent in parents.items() if parent in found} - found:
        found |= new
    return found - {pid}


SLOW = "import time\nprint('begun', flush=True)\ntime.sleep(60)\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("number", "status", "names_file"),
    [(signal.SIGINT, 0, True), (signal.SIGTERM, 143, True), (signal.SIGHUP, 129, False)],
)
def test_a_watch_as_a_process(tmp_path: Path, number: signal.Signals, status: int, names_file: bool) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    process = Process(folder)
    try:
        process.hear("is checked each time you save it")
        assert process.file.read_text() == EXERCISE.starter
        process.save(EXERCISE.solution)
        process.hear("PASSED  two-wide")
        process.save(SLOW)
        process.hear("== ")
        process.save(EXERCISE.solution + "# again\n")
        process.hear("PASSED  two-wide")
        process.save(SLOW)
        process.hear("== ")
        pids = children(process.running.pid)
        assert pids
        process.running.send_signal(number)
        code, rest = process.end()
    finally:
        process.running.kill()
        process.running.wait()
    assert code == status
    assert (f"Your code is in {process.file}, and it is also your draft in the tutor.\n" in rest) == names_file
    assert "Traceback" not in rest
    for pid in pids:
        wait_for_end(pid)
    progress = Progress.open()
    assert [each.code for each in progress.attempts("two-wide")] == [EXERCISE.solution, f"{EXERCISE.solution}# again\n"]
    assert progress.draft("two-wide") == SLOW
    assert progress.state(LESSON.id, EXERCISE.id) == "done"
    progress.close()


@pytest.mark.parametrize(("source", "status"), [(EXERCISE.solution, 0), (EXERCISE.starter, 1)])
def test_a_watch_as_a_process_with_once(tmp_path: Path, source: str, status: int) -> None:
    file = tmp_path / "mine.py"
    file.write_text(source)
    process = Process(tmp_path, "mine.py", "--once")
    try:
        code, output = process.end()
    finally:
        process.running.kill()
        process.running.wait()
    assert code == status
    assert ("PASSED  two-wide" in output.splitlines()) == (status == 0)
    assert file.read_text() == source
