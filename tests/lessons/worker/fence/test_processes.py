"""The processes of a run: what they are counted with, and that all of them end."""

from __future__ import annotations

import mmap
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attn_tutor.lessons.worker.fence import processes, system_calls
from tests.lessons.processes import wait_for_end, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

ROOT = Path(__file__).parents[4]
KEEPER = """
import os, subprocess, sys
from attn_tutor.lessons.worker.fence import processes
from attn_tutor.lessons.worker.fence.linux import PR_SET_CHILD_SUBREAPER, prctl

prctl(PR_SET_CHILD_SUBREAPER, 1)
own = subprocess.Popen(["sleep", "1000"])
"""
"""A subreaper with one child of its own, as a process that the tests do not share."""


def keep(program: str) -> str:
    """Run a program behind `KEEPER`; it ends its own child. Returns what it printed."""
    source = f"{KEEPER}{program}\nown.kill()\nown.wait()"
    run = subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True)
    assert run.stderr == ""
    return run.stdout


@pytest.fixture
def sleeper() -> Iterator[int]:
    """Yield the pid of a program that sleeps."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process.pid
        process.kill()


BOMB = """
import ctypes, os, signal
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
print('ready', flush=True)
while True:
    try:
        if os.fork():
            os._exit(0)
        os.setsid()
    except OSError:
        pass
"""
"""A process that is never the same for long: each one starts the next, and ends."""


def test_all_that_is_left_ends_but_for_what_was_started_here() -> None:
    program = f"""
left = [subprocess.Popen([sys.executable, "-c", {BOMB!r}], stdout=subprocess.PIPE) for _ in range(3)]
for each in left:
    each.stdout.readline()
assert processes.end_left_over([own.pid], 60)
print(processes.offspring(os.getpid()) == [own.pid], own.poll())
"""
    assert keep(program) == "True None\n"


def test_one_that_does_not_end_is_not_waited_for_without_end() -> None:
    program = """
processes.send = lambda pids, number: None
left = subprocess.Popen(["sleep", "1000"])
print(processes.end_left_over([own.pid], 0.05))
left.kill()
left.wait()
"""
    assert keep(program) == "False\n"


def test_children_are_found_without_the_kernels_lists(monkeypatch: pytest.MonkeyPatch, sleeper: int) -> None:
    listed = processes.offspring(os.getpid())
    assert sleeper in listed
    true = Path.read_text

    def without_lists(path: Path, *arguments: str | None, **named: str | None) -> str:
        if path.name == "children":
            raise FileNotFoundError
        return true(path, *arguments, **named)

    monkeypatch.setattr(Path, "read_text", without_lists)
    monkeypatch.setattr(processes, "_has_lists", lambda: False)
    assert sorted(processes.offspring(os.getpid())) == sorted(listed)


def test_the_dead_are_no_descendants(sleeper: int) -> None:
    assert sleeper in processes.descendants(os.getpid())
    os.kill(sleeper, signal.SIGKILL)
    wait_for_end(sleeper)
    assert sleeper in processes.offspring(os.getpid())
    assert sleeper not in processes.descendants(os.getpid())


def test_processes_that_are_stopped_go_on(sleeper: int) -> None:
    assert processes.stop(lambda: [sleeper]) == {sleeper}
    assert processes._state(sleeper) == "T"
    processes.send([sleeper], signal.SIGCONT)
    wait_until(lambda: processes._state(sleeper) == "S")


def test_time_of_a_processor_is_counted() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        before = processes.ticks(process.pid)
        wait_until(lambda: processes.ticks(process.pid) > before)
        process.kill()
    assert processes.ticks(process.pid) == 0


def test_a_socket_counts_once_with_all_that_it_may_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_socket_size", lambda: 10)
    before = processes.unseen_memory([os.getpid()], [])
    one, other = socket.socketpair()
    with one, other:
        assert processes.unseen_memory([os.getpid()], []) == before + 20
        assert processes.unseen_memory([os.getpid(), os.getpid()], []) == before + 20


def test_a_socket_that_listens_counts_with_all_that_may_wait(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(processes, "_socket_size", lambda: 10)
    monkeypatch.setattr(processes, "FEW", 0)
    before = processes.unseen_memory([os.getpid()], [])
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "door"))
        server.listen(1)
        assert processes.unseen_memory([os.getpid()], []) == before + 10 * (1 + system_calls.LONGEST_QUEUE)


def test_shared_memory_counts_with_the_most_that_it_can_be() -> None:
    before = processes.mapped([processes.maps(os.getpid())])
    with mmap.mmap(-1, mmap.PAGESIZE):
        (new,) = processes.mapped([processes.maps(os.getpid())]) - before
        assert new.name == processes.ZERO
        assert processes.unseen_memory([], [new]) == system_calls.LARGEST_SHARED


@pytest.mark.parametrize("pages", [0, 5])
def test_a_process_that_keeps_its_files_secret_is_found(monkeypatch: pytest.MonkeyPatch, pages: int) -> None:
    """One that is about to end refuses too, but has no memory any more; root may look into all."""

    def refuse(path: str) -> list[str]:
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refuse)
    monkeypatch.setattr(processes, "_resident", lambda pid: pages)
    assert processes.hidden(1) is (pages > 0)


def test_a_process_that_keeps_its_pages_secret_counts_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    resident = processes._resident(os.getpid())
    assert 0 < processes._pages(os.getpid()) <= 2 * resident

    def refuse(path: Path) -> bytes:
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert processes._pages(os.getpid()) >= resident // 2
