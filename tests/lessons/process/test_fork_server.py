"""The fork server, in this process, with a child that is only a program that sleeps."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from attn_tutor.lessons.process import fork_server
from attn_tutor.lessons.process.fork_server import ForkServer, _Child
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.fence import processes
from attn_tutor.lessons.worker.messages import Exited, Launch

DYING = 0.05
"""Seconds from the signal that kills a child to its end. A real child, whose memory is large, takes some too."""


@pytest.fixture
def sleeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Let a fork start a sleeping program, which takes its time to die; yields the ids of all that were killed."""
    killed: list[int] = []
    kill, threads = os.kill, []

    def kill_slowly(pid: int, number: int) -> None:
        killed.append(pid)
        threads.append(threading.Timer(DYING, kill, (pid, number)))
        threads[-1].start()

    def no_group(pid: int, number: int) -> None:
        raise ProcessLookupError

    process = subprocess.Popen(["sleep", "60"])
    monkeypatch.setattr(os, "fork", lambda: process.pid)
    monkeypatch.setattr(os, "kill", kill_slowly)
    monkeypatch.setattr(os, "killpg", no_group)
    monkeypatch.setattr(fork_server, "threads", lambda: 1)
    # The other processes of the tests are no orphans of a child.
    monkeypatch.setattr(processes, "offspring", lambda pid: [])
    monkeypatch.setattr(ForkServer, "_fork_ahead", lambda server: None)
    yield killed
    for thread in threads:
        thread.join()
    # The server has waited for it already.
    process.returncode = -signal.SIGKILL


def test_a_child_is_killed_once(sleeper: list[int], tmp_path: Path) -> None:
    """The end of the stream, which can be read again and again, does not keep the server busy until it is gone."""
    handler = signal.getsignal(signal.SIGCHLD)
    control, theirs = socket.socketpair()
    status, their_status = socket.socketpair()
    reports: list[object] = []

    def end_and_listen() -> None:
        status.shutdown(socket.SHUT_WR)
        reports.append(channel.receive(status, Exited))
        control.shutdown(socket.SHUT_RDWR)

    listener = threading.Thread(target=end_and_listen)
    with control, theirs, status:
        files = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
        with their_status:
            channel.send(control, Launch(1, 100, 0, 8), [files[0], their_status.fileno(), *files[1:]])
        for file in files:
            os.close(file)
        listener.start()
        try:
            ForkServer(theirs, str(tmp_path)).serve()
        finally:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, handler)
            listener.join()
    assert [report.code for report in reports if isinstance(report, Exited)] == [-signal.SIGKILL]
    assert len(sleeper) == 1


def test_a_child_that_is_asked_for_its_line_may_write_all_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is written piece by piece, and on a busy machine a child may have to wait between two of them."""
    monkeypatch.setattr(fork_server, "LINE_GRACE", 60)
    says = "say() { printf 'File mine.py' >&2; sleep 0.1; echo ', line 2' >&2; trap - USR1; kill -USR1 $$; }"
    handler = signal.getsignal(signal.SIGCHLD)
    control, theirs = socket.socketpair()
    status, their_status = socket.socketpair()
    with control, theirs, status, their_status, (tmp_path / "err").open("w+b") as err:
        command = ["sh", "-c", f"{says}; trap say USR1; echo ready; while :; do sleep 0.01; done"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, start_new_session=True) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == b"ready\n"
                child = _Child(process.pid, their_status, str(tmp_path), 0, 0, err.fileno(), frozenset())
                ForkServer(theirs, str(tmp_path))._kill(child, ask_line=True)
            finally:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, handler)
                process.kill()
        err.seek(0)
        assert err.read() == b"File mine.py, line 2\n"
    assert process.returncode == -signal.SIGUSR1


def test_a_child_that_takes_its_time_to_end_keeps_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the next look it may use nothing any more, and the tutor would not know why it was ended."""
    excesses = iter(["files", ""])
    monkeypatch.setattr(ForkServer, "_excess", lambda server, child: next(excesses))
    monkeypatch.setattr(ForkServer, "_kill", lambda server, child: None)
    monkeypatch.setattr(processes, "end_left_over", lambda own, patience: True)
    handler = signal.getsignal(signal.SIGCHLD)
    control, theirs = socket.socketpair()
    with control, theirs:
        try:
            server = ForkServer(theirs, str(tmp_path))
            child = server.children[1] = _Child(1, control, str(tmp_path), 0, 0, 0, frozenset())
            for _ in range(2):
                server.look_due = 0.0
                server._look()
        finally:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, handler)
    assert child.reason == "files"
