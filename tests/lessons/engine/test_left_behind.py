"""Processes and threads that programs leave behind: they end with their run, and have no more than it may have."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.prompt import Prompt
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Limits
from attn_tutor.lessons.process import fork_server
from attn_tutor.lessons.worker.fence import limits
from tests.lessons.lesson_builders import code_step, lesson_of
from tests.lessons.processes import at_work, wait_for_end, wait_until

DAEMON = """
import os, signal, time
def daemon(program):
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(write, str(os.getpid()).encode())
        try:
            program()
        finally:
            os._exit(0)
    os.wait()
    return int(os.read(read, 10))
"""
FILES = fork_server.SCRATCH_CAP * limits.MIB // limits.OUTPUT_CAP + 1
"""How many files of the largest size are more than a run may have."""


@pytest.fixture
def busy(worker: Session) -> Iterator[None]:
    """Have another child of the fork server at work."""
    child = worker.launcher.launch(Limits())
    yield
    child.close()


def ran(worker: Session, program: str, **fields: object) -> Run:
    """Run a program as a step of a lesson, which it does without an error; the run is not closed."""
    run = worker.run(lesson_of(code_step("one", program), **fields))
    assert run.steps[0].error is None, run.steps[0].error
    return run


def state(pid: int) -> str:
    """Return what a process does: R, S (it waits), T (it is stopped) and others."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


# Their end -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("patched", [False, True], ids=["plain", "that leaves the subreaper"])
def test_what_a_run_left_ends_with_it_while_another_child_is_busy(worker: Session, busy: None, patched: bool) -> None:
    leave = "import ctypes\nctypes.CDLL(None).prctl(36, 0, 0, 0, 0)\n" if patched else ""
    run = ran(worker, f"{leave}{DAEMON}\nprint(daemon(lambda: time.sleep(1000)))")
    pid = int(run.steps[0].stdout)
    run.close()
    wait_for_end(pid, seconds=0 if not patched else 60)
    assert not Path(f"/proc/{pid}").exists()


def test_what_leaves_a_run_ends_at_once(worker: Session) -> None:
    program = f"""{DAEMON}
import ctypes
ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)
pid = daemon(lambda: time.sleep(1000))
while os.path.exists(f"/proc/{{pid}}"):
    time.sleep(0.001)
print("gone")
"""
    run = ran(worker, program)
    run.close()
    assert run.steps[0].stdout == "gone\n"


@pytest.mark.skipif(os.getuid() == 0, reason="root may look into every process")
def test_a_process_that_keeps_secret_what_it_uses_is_ended(worker: Session) -> None:
    program = "import ctypes, time\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\ntime.sleep(1000)"
    run = worker.run(lesson_of(code_step("one", program), limits={"wall": 120}))
    run.close()
    assert run.steps[0].error is not None
    assert "hides what it uses" in run.steps[0].error.message


def test_the_folder_is_removed_after_that(worker: Session, busy: None) -> None:
    run = ran(worker, f"{DAEMON}\nos.makedirs('a/b')\nprint(os.getcwd(), daemon(lambda: time.sleep(1000)))")
    folder, pid = run.steps[0].stdout.split()
    run.close()
    wait_for_end(int(pid), seconds=0)
    wait_until(lambda: not Path(folder).exists())


ATTACK = f"""{DAEMON}
folder = os.getcwd()
for _ in range(40):
    os.makedirs('in')
    os.makedirs('precious')
    os.chdir('in')
for name in range(100):
    open(str(name), 'w').close()
os.chdir(folder)
deep = '/'.join(['in'] * 37)
def move():
    while True:
        for old, new in ((deep, 'up'), ('up', deep)):
            try:
                os.rename(old, new)
            except OSError:
                pass
daemon(move)
"""


@pytest.mark.slow
def test_nothing_of_others_is_removed_with_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack by which the whole home could be deleted, again and again, with another child at work."""
    decoy = tmp_path / "precious" / "deep" / "file"
    decoy.parent.mkdir(parents=True)
    decoy.write_text("here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    session = Session(kind="fork_server")
    try:
        session.wait_ready()
        other = session.launcher.launch(Limits())
        for _ in range(12):
            ran(session, ATTACK).close()
            assert decoy.read_text() == "here"
        other.close()
    finally:
        session.close()
    assert decoy.read_text() == "here"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "precious"]


# While the run waits for questions -----------------------------------------------------------------------------------


def test_processes_stand_still_until_the_run_goes_on(worker: Session) -> None:
    program = f"{DAEMON}\npid = daemon(lambda: time.sleep(1000))"
    prompt = Prompt(worker, lesson_of(code_step("one", program)), "one")
    try:
        prompt.start()
        pid = int(prompt.enter("print(pid)").stdout)
        wait_until(lambda: state(pid) == "T")
        goes_on = "while ') T' in open(f'/proc/{pid}/stat').read():\n    time.sleep(0.001)\nprint('it goes on')"
        assert prompt.enter(goes_on).stdout == "it goes on\n"
        wait_until(lambda: state(pid) == "T")
    finally:
        prompt.close()
    wait_for_end(pid, seconds=0)


def test_a_thread_that_writes_on_is_ended(worker: Session, tmp_path: Path) -> None:
    program = f"""
import os, threading
def write():
    open({str(tmp_path / "pipe")!r}).close()
    for number in range({FILES}):
        os.posix_fallocate(os.open(str(number), os.O_CREAT | os.O_RDWR), 0, {limits.OUTPUT_CAP})
    threading.Event().wait()
threading.Thread(target=write).start()
"""
    os.mkfifo(tmp_path / "pipe")
    run = ran(worker, program)
    try:
        assert run.alive
        (tmp_path / "pipe").write_text("")
        wait_until(lambda: at_work(worker) == [])
    finally:
        run.close()


# What it may have ----------------------------------------------------------------------------------------------------

TOO_MANY_FILES = {
    "in a folder whose path is too long for the kernel": f"""
import os, time
for _ in range(300):
    os.mkdir('d' * 200)
    os.chdir('d' * 200)
for number in range({FILES}):
    fd = os.open(str(number), os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(fd, 0, {limits.OUTPUT_CAP})
    os.close(fd)
time.sleep(1000)
""",
    "in memory, under a name that breaks a line": f"""
import mmap, os, time
kept = []
for number in range({FILES}):
    fd = os.memfd_create("a\\x0cb")
    os.ftruncate(fd, {limits.OUTPUT_CAP})
    kept.append(mmap.mmap(fd, mmap.PAGESIZE))
    for each in range(4, 60):
        try:
            os.close(each)
        except OSError:
            pass
time.sleep(1000)
""",
    "that are mapped, and in no folder": f"""
import mmap, os, time
kept = []
for number in range({FILES}):
    fd = os.open(str(number), os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(fd, 0, {limits.OUTPUT_CAP})
    kept.append(mmap.mmap(fd, mmap.PAGESIZE))
    os.unlink(str(number))
    for each in range(4, 60):
        try:
            os.close(each)
        except OSError:
            pass
time.sleep(1000)
""",
    "that are moved to where they have been counted": f"""
import os, time
for side in 'ab':
    os.mkdir(side)
names = [str(number) for number in range({FILES})]
for name in names:
    fd = os.open(f'a/{{name}}', os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(fd, 0, {limits.OUTPUT_CAP})
    os.close(fd)
while True:
    for old, new in ('ab', 'ba'):
        for name in names:
            os.rename(f'{{old}}/{{name}}', f'{{new}}/{{name}}')
""",
}


@pytest.mark.parametrize("program", TOO_MANY_FILES.values(), ids=TOO_MANY_FILES)
def test_too_many_files_are_found(worker: Session, program: str) -> None:
    run = worker.run(lesson_of(code_step("one", program), limits={"cpu": 60, "wall": 120}))
    run.close()
    assert run.steps[0].error is not None
    assert run.steps[0].error.message == "The code wrote too many files, or too large ones; it was ended."


def test_a_program_that_maps_more_than_can_be_looked_through_is_ended(worker: Session) -> None:
    """A look would take seconds, in which nobody hears that the tutor has ended."""
    program = """
import ctypes, os, time
for _ in range(15):
    os.mkdir('d' * 200)
    os.chdir('d' * 200)
fd = os.open('x' * 200, os.O_CREAT | os.O_RDWR)
os.ftruncate(fd, 4096)
libc = ctypes.CDLL(None)
for number in range(5000):
    libc.mmap(None, ctypes.c_size_t(4096), 1 + 2 * (number % 2), 1, fd, ctypes.c_long(0))
time.sleep(1000)
"""
    run = worker.run(lesson_of(code_step("one", program), limits={"wall": 120, "cpu": 60}))
    run.close()
    assert run.steps[0].error is not None
    assert "hides what it uses" in run.steps[0].error.message


def test_what_wakes_itself_while_the_run_waits_is_counted(worker: Session, tmp_path: Path) -> None:
    """A timer sends the signal by which a process that was stopped goes on."""
    program = f"""{DAEMON}
import ctypes
def write():
    libc = ctypes.CDLL(None)
    class Event(ctypes.Structure):
        _fields_ = [("value", ctypes.c_void_p), ("number", ctypes.c_int), ("rest", ctypes.c_int * 13)]
    for _ in range(20):
        timer = ctypes.c_void_p()
        libc.timer_create(1, ctypes.byref(Event(None, signal.SIGCONT)), ctypes.byref(timer))
        libc.timer_settime(timer, 0, ctypes.byref((ctypes.c_long * 4)(0, 50_000_000, 0, 50_000_000)), None)
    while not os.path.exists({str(tmp_path / "go")!r}):
        time.sleep(0.01)
    for number in range({FILES}):
        os.posix_fallocate(os.open(str(number), os.O_CREAT | os.O_RDWR), 0, {limits.OUTPUT_CAP})
        if number % 50 == 49:
            os.closerange(4, 60)
    while True:
        pass
daemon(write)
"""
    run = ran(worker, program)
    try:
        (tmp_path / "go").touch()
        wait_until(lambda: at_work(worker) == [], seconds=150)
    finally:
        run.close()


TOO_MUCH_MEMORY = {
    "on its way through sockets": """
import os, socket, time
for _ in range(20):
    if os.fork() == 0:
        kept = []
        for _ in range(25):
            kept += socket.socketpair()
        time.sleep(1000)
time.sleep(1000)
""",
    "of processes whose first thread has ended": """
import ctypes, os, threading, time
def hold():
    held = bytearray(b"x") * 40_000_000
    time.sleep(1000)
for _ in range(6):
    if os.fork() == 0:
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
time.sleep(1000)
""",
    "sent over connections that nobody accepts": """
import socket, time
socket.socket(socket.AF_UNIX).bind("a\\nb")
for number in range(9):
    kept = socket.socket(socket.AF_UNIX)
    kept.bind(str(number))
    kept.listen()
    globals()[f"kept{number}"] = kept
time.sleep(1000)
""",
    "shared, and unmapped but for a page": """
import ctypes, mmap, time
kept = []
for _ in range(13):
    kept.append(mmap.mmap(-1, 16 << 20))
    kept[-1].write(bytes(16 << 20))
    address = ctypes.addressof(ctypes.c_char.from_buffer(kept[-1]))
    ctypes.CDLL(None).munmap(ctypes.c_void_p(address + 4096), ctypes.c_size_t((16 << 20) - 4096))
time.sleep(1000)
""",
}


@pytest.mark.parametrize("program", TOO_MUCH_MEMORY.values(), ids=TOO_MUCH_MEMORY)
def test_memory_that_no_process_has_counts(worker: Session, program: str) -> None:
    run = worker.run(lesson_of(code_step("one", program), limits={"memory": 200, "wall": 120}))
    run.close()
    assert run.steps[0].error is not None
    assert run.steps[0].error.message == "The code and the processes that it started used too much memory together."
