"""An account that may start no further thread or process is told so, wherever the system refuses one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, cast

import pytest

from attn_tutor.lessons.engine.children import exit_failure
from attn_tutor.lessons.engine.launching import host_limits, launchers
from attn_tutor.lessons.engine.launching.host_limits import JobThread, TooFewTasks
from attn_tutor.lessons.engine.launching.launchers import ChildProcess, ForkServerLauncher
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Limits
from attn_tutor.lessons.process import fork_server
from attn_tutor.lessons.process.fork_server import ForkServer
from attn_tutor.lessons.worker import channel, messages, wire
from attn_tutor.lessons.worker.messages import Exited, Launch


@pytest.fixture
def no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the system refuse threads."""

    def refuse(thread: threading.Thread) -> NoReturn:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


@pytest.mark.usefixtures("no_thread")
def test_thread_that_cannot_be_started_is_named() -> None:
    with pytest.raises(TooFewTasks, match=r"may not start another thread or process.* 'ulimit -u 100'"):
        JobThread("jobs").submit(print)
    with pytest.raises(TooFewTasks):
        host_limits.try_threads(2)


def test_threads_that_were_tried_are_gone() -> None:
    before = threading.active_count()
    host_limits.try_threads(3)
    assert threading.active_count() == before


def test_thread_that_has_ended_is_not_blamed_on_the_account() -> None:
    thread = JobThread("jobs")
    thread.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        thread.submit(print)


def test_process_that_cannot_be_started_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folders = tmp_path / "folders"
    folders.mkdir()

    def refuse(*_: Any, **__: Any) -> NoReturn:
        assert list(folders.iterdir())
        raise BlockingIOError

    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(TooFewTasks):
        Session(kind="fork_server").wait_ready()
    assert not list(folders.iterdir())


def test_worker_that_could_not_start_a_process_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    end = [sys.executable, "-c", f"raise SystemExit({messages.EXIT_NO_PROCESS})"]
    monkeypatch.setattr(launchers, "spawn", lambda *_: subprocess.Popen(end))
    with pytest.raises(TooFewTasks):
        ForkServerLauncher().wait_ready()


@pytest.mark.parametrize(
    ("module", "name", "error", "reason"),
    [(os, "fork", BlockingIOError, "no process"), (tempfile, "mkdtemp", OSError, "no folder")],
)
def test_job_for_which_no_child_can_be_forked_does_not_end_the_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: ModuleType, name: str, error: type[OSError], reason: str
) -> None:
    def refuse(**_: Any) -> NoReturn:
        raise error

    monkeypatch.setattr(module, name, refuse)
    monkeypatch.setattr(fork_server, "threads", lambda: 1)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    handler = signal.getsignal(signal.SIGCHLD)
    control, theirs = socket.socketpair()
    status, their_status = socket.socketpair()
    files = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
    try:
        with control, theirs, status:
            server = ForkServer(theirs, str(scratch))
            talk, out, err = files
            server._fork(Launch(1, 1, 0, 8), (talk, their_status.detach(), out, err))
            assert channel.receive(status, Exited).reason == reason
            assert not server.children
            server._fork_ahead()
            assert server.ahead is None
            assert not list(scratch.iterdir())
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, handler)


class _Refused:
    """A child that could not be forked, as the parent sees it."""

    def __init__(self, file: Any, reason: str) -> None:
        self.err = file
        self.reason = reason

    def end(self) -> Exited:
        return Exited(-signal.SIGKILL, self.reason, 0.0)


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("no process", str(TooFewTasks())),
        (
            "no folder",
            "There is no room for the files that a program needs. To see what is wrong here: attn-tutor doctor",
        ),
    ],
)
def test_failure_of_such_a_job_names_the_limit(tmp_path: Path, reason: str, message: str) -> None:
    with (tmp_path / "err").open("w+b") as file:
        job = cast(ChildProcess, _Refused(file, reason))
        failure = exit_failure(job, wire.Closed("end"), Limits(), cancelled=False)
    assert failure.message == message
