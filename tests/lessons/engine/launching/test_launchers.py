"""Starting and ending processes of the worker: both launchers, and their end when the tutor is killed."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from attn_tutor.lessons.engine.launching import host_limits, launchers
from attn_tutor.lessons.engine.launching.launchers import (
    ForkServerLauncher,
    ForkUnsafe,
    SpareChild,
    SpareLauncher,
    make_launcher,
)
from attn_tutor.lessons.engine.launching.worker_process import environment
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, Limits
from attn_tutor.lessons.results.result import Failure, StepResult, WorkerError
from attn_tutor.lessons.worker import wire
from attn_tutor.lessons.worker.messages import Exited
from tests.lessons import run_questions
from tests.lessons.lesson_builders import DOUBLED, code_exercise, code_step, doubling_exercise, lesson_of
from tests.lessons.processes import PATIENCE, descendants, wait_for_end, wait_until, with_enough_time

ROOT = Path(__file__).parents[4]
KINDS = ("fork_server", "spare_process")
WITHOUT_END = 3600.0
"""Seconds for which no test waits: whatever waits for so long hangs."""

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def spare() -> Iterator[Session]:
    """Return a session that starts a process for each program, as on systems where a fork is not safe."""
    session = Session(kind="spare_process")
    session.start()
    yield session
    session.close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_system_refuses_is_the_error_of_a_worker(kind: str, tmp_path: Path) -> None:
    """The screen waited for PyTorch without an end when there was no folder for temporary files, or no room there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
        with pytest.raises(WorkerError, match=r"cannot be started \(.*none.*: No such file.*: attn-tutor doctor"):
            Session(kind=kind).wait_ready()


def test_a_folder_that_somebody_has_removed_is_made_again() -> None:
    """A host removes old files from the folder for temporary ones, also while a tutor is open for days."""
    with closing(Session(kind="fork_server")) as session:
        for _ in range(2):
            session.run(lesson_of(code_step("one", DOUBLED))).close()
            shutil.rmtree(cast(ForkServerLauncher, session.launcher)._base)


def test_a_child_that_the_system_refuses(worker: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: str) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device", folder)

    with monkeypatch.context() as patch:
        patch.setattr(launchers, "_output_files", full)
        with pytest.raises(WorkerError, match="No space left on device"):
            worker.run(lesson_of(code_step("one", DOUBLED)))
    worker.run(lesson_of(code_step("one", DOUBLED))).close()


# Spare processes give the same ---------------------------------------------------------------------------------------


def test_kind_of_launcher_can_be_chosen() -> None:
    assert isinstance(make_launcher("fork_server"), ForkServerLauncher)
    assert isinstance(make_launcher("spare_process"), SpareLauncher)


@pytest.mark.parametrize(
    ("system", "expected"), [("linux", ForkServerLauncher), ("darwin", SpareLauncher), ("win32", SpareLauncher)]
)
def test_launcher_of_a_system(monkeypatch: pytest.MonkeyPatch, system: str, expected: type) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(Path, "is_dir", lambda path: True)
    assert isinstance(make_launcher(), expected)


@pytest.mark.slow
def test_spare_runs_a_lesson_as_the_fork_server_does(worker: Session, spare: Session, course: Course) -> None:
    lesson = course.lesson("gpt2-size")
    results = []
    for session in (worker, spare):
        run = session.run(lesson, "weights")
        window = run_questions.window(run, "weights", "weights", (0, 11), 1020, 1020, 8, 8)
        run.close()
        assert window is not None
        results.append(([(step.tensors, step.text, step.stdout, step.error) for step in run.steps], window))
    assert results[0] == results[1]


@pytest.mark.slow
def test_spare_judges_as_the_fork_server_does(worker: Session, spare: Session, course: Course) -> None:
    _, exercise = code_exercise(course, "3.2")
    forked, alone = (session.check(exercise, exercise.starter) for session in (worker, spare))
    assert (alone.verdict, alone.message) == (forked.verdict, forked.message)
    assert alone.verdict == "failed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "kind", "message", "line"),
    [
        (
            "import ctypes\nprint('here'); ctypes.string_at(0)",
            "crash",
            "The Python interpreter itself crashed at line 2 (SIGSEGV).",
            2,
        ),
        (
            "import time\nprint('here'); time.sleep(1000)",
            "timeout",
            "Stopped after {wall:g} seconds. It was at line 2.",
            2,
        ),
    ],
)
def test_spare_reports_a_failure(spare: Session, code: str, kind: Any, message: str, line: int | None) -> None:
    def result(wall: float) -> StepResult:
        limits = Limits(wall=wall) if kind == "timeout" else Limits()
        run = spare.run(lesson_of(code_step("one", code), limits=limits))
        run.close()
        return run.steps[0]

    outcome, wall = with_enough_time(result, lambda outcome: outcome.stdout, 0.5)
    assert outcome.error == Failure(kind, message.format(wall=wall), line, names_line=True)
    assert outcome.stdout == "here\n"


@pytest.mark.slow
def test_spare_can_be_cancelled(spare: Session, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"open({str(pipe)!r}).close()\nwhile True: pass"
    errors: list[Failure | None] = []
    thread = threading.Thread(target=lambda: errors.append(spare.run(lesson_of(code_step("one", code))).steps[0].error))
    thread.start()
    with pipe.open("w"):
        spare.cancel()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert errors[0] is not None
    assert errors[0].kind == "stopped"


@pytest.mark.slow
@needs_linux
def test_next_spare_starts_as_soon_as_one_is_taken(spare: Session) -> None:
    launcher = cast(SpareLauncher, spare.launcher)
    spare.wait_ready()
    before = launcher._warm
    run = spare.run(lesson_of(code_step("one", "x = 1", "x")))
    assert launcher._warm is not None
    assert launcher._warm is not before
    assert before is not None
    pid, scratch = before._process.pid, Path(before._scratch)
    assert scratch.is_dir()
    run.close()
    wait_for_end(pid, seconds=0)
    assert not scratch.exists()


@pytest.mark.slow
@needs_linux
def test_folders_that_lie_deep_are_removed_after_a_spare_process(spare: Session) -> None:
    """Where it was killed and could not do so itself."""
    spare.wait_ready()
    child = spare.launcher.launch(Limits())
    assert isinstance(child, SpareChild)
    deepest = Path(child._scratch)
    for _ in range(1100):
        deepest /= "d"
        deepest.mkdir()
    os.kill(child._process.pid, signal.SIGKILL)
    wait_for_end(child._process.pid)
    child.close()
    assert not Path(child._scratch).exists()


@pytest.mark.slow
@needs_linux
def test_session_falls_back_where_a_fork_is_not_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's Python may start threads at import; a forked child would inherit their locks and hang."""
    (tmp_path / "sitecustomize.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    session = Session(kind="fork_server")
    try:
        with pytest.raises(ForkUnsafe, match="The fork server has 2 threads"):
            session.wait_ready()
        run = session.run(lesson_of(code_step("one", "print('well')")))
        run.close()
        assert run.steps[0].stdout == "well\n"
        assert isinstance(session.launcher, SpareLauncher)
    finally:
        session.close()


# The environment -----------------------------------------------------------------------------------------------------


def test_environment_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    found = environment()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        assert found[name] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "64"


def test_environment_keeps_settings_of_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert environment()["GLIBC_TUNABLES"] == "glibc.malloc.hugetlb=1"
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")
    assert environment()["GLIBC_TUNABLES"] == "glibc.malloc.tcache_count=0:glibc.malloc.hugetlb=1"


def test_spare_computes_in_one_thread(spare: Session) -> None:
    run = spare.run(lesson_of(code_step("one", "import torch\nprint(torch.get_num_threads())")))
    run.close()
    assert run.steps[0].stdout == "1\n"


@pytest.mark.slow
def test_modules_in_the_current_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "attention", "lessons", "json", "socket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    session = Session()
    try:
        run = session.run(lesson_of(code_step("one", "import torch\nprint(torch.ones(2).sum())")))
        run.close()
        assert run.steps[0].stdout == "tensor(2.)\n"
    finally:
        session.close()


@pytest.fixture
def fake_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that puts a package called torch before the real one on the path."""

    def install(code: str) -> None:
        (tmp_path / "torch.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return install


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            "raise ImportError('libgomp.so.1: cannot open shared object file')",
            "PyTorch could not be loaded: ImportError: libgomp.so.1: cannot open shared object file",
        ),
        ("import os, sys\nsys.stderr.write('Illegal instruction\\n')\nos._exit(1)", ".*PyTorch.* Illegal instruction"),
    ],
    ids=["import error", "crash"],
)
def test_failure_to_load_torch_is_explained(
    fake_torch: Callable[[str], None], kind: str, code: str, sentence: str
) -> None:
    fake_torch(code)
    session = Session(kind=kind)
    try:
        # A second request fails in the same way.
        for _ in range(2):
            with pytest.raises(WorkerError, match=sentence):
                session.wait_ready()
        with pytest.raises(WorkerError, match=sentence):
            session.run(lesson_of(code_step("one", "x = 1")))
        with pytest.raises(WorkerError, match=sentence):
            session.check(doubling_exercise(), DOUBLED)
        assert not session.ready
    finally:
        session.close()


@pytest.mark.parametrize("kind", KINDS)
def test_loading_torch_has_a_time_limit(
    fake_torch: Callable[[str], None], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launchers, "END_LIMIT", WITHOUT_END)
    fake_torch("import time\ntime.sleep(1000)")
    launcher = make_launcher(kind)
    with pytest.raises(WorkerError, match="PyTorch did not load within 0 seconds"):
        launcher.wait_ready(timeout=0.1)
    launcher.close()


@pytest.mark.parametrize("kind", KINDS)
def test_close_does_not_wait_until_torch_is_loaded(
    fake_torch: Callable[[str], None], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A learner who quits at once does not wait."""
    monkeypatch.setattr(launchers, "END_LIMIT", WITHOUT_END)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    fake_torch(f"open({str(pipe)!r}).close()\nimport time\ntime.sleep(1000)")
    session = Session(kind=kind)
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            session.wait_ready()
        except WorkerError as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    with pipe.open("w"):
        session.close()
        thread.join(PATIENCE)
    assert not thread.is_alive()
    assert failed


def test_log_stays_open_while_it_is_read(fake_torch: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread that closes the launcher has to wait: once it closed the log under the reader."""
    fake_torch("import os, sys\nsys.stderr.write('Illegal instruction\\n')\nos._exit(1)")
    launcher = ForkServerLauncher()
    read = launchers.output
    closing_thread = threading.Thread(target=launcher.close)

    def output(file: Any, *span: int) -> str:
        closing_thread.start()
        # Long enough for a thread that does not wait.
        closing_thread.join(0.3)
        return read(file, *span)

    monkeypatch.setattr(launchers, "output", output)
    with pytest.raises(WorkerError, match="Illegal instruction"):
        launcher.wait_ready()
    closing_thread.join(PATIENCE)
    launcher.close()


@pytest.mark.parametrize("kind", KINDS)
def test_session_that_did_nothing_can_be_closed(kind: str) -> None:
    session = Session(kind=kind)
    assert not session.ready
    session.cancel()
    session.close()
    session.close()


@pytest.mark.parametrize("kind", KINDS)
def test_closed_session_stays_closed(kind: str) -> None:
    """A request that was still waiting does not restart the worker."""
    session = Session(kind=kind)
    session.close()
    with pytest.raises(WorkerError, match="closed"):
        session.run(lesson_of(code_step("one", "x = 1")))
    with pytest.raises(WorkerError, match="closed"):
        session.check(doubling_exercise(), DOUBLED)
    with pytest.raises(WorkerError, match="closed"):
        session.wait_ready()
    assert not session.ready


@pytest.mark.parametrize("kind", KINDS)
def test_session_that_is_closed_as_a_thread_begins_to_wait_loads_nothing(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(kind=kind)
    start = session.launcher.start

    def start_late() -> None:
        session.close()
        start()

    monkeypatch.setattr(session.launcher, "start", start_late)
    monkeypatch.setattr(session.launcher, "wait_ready", lambda: pytest.fail("it loads PyTorch"))
    with pytest.raises(WorkerError, match="closed"):
        session.wait_ready()
    assert getattr(session.launcher, "_process", None) is getattr(session.launcher, "_warm", None) is None


# The fork server alone -----------------------------------------------------------------------------------------------


@needs_linux
def test_server_reports_its_number_of_threads(worker: Session) -> None:
    launcher = cast(ForkServerLauncher, worker.launcher)
    worker.wait_ready()
    assert worker.ready
    launcher.wait_ready(timeout=0)
    assert launcher.pid is not None
    assert os.waitid(os.P_PID, launcher.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def test_child_can_be_ended_twice_and_from_two_threads(worker: Session) -> None:
    job = worker.launcher.launch(Limits())
    ends: list[Exited] = []
    threads = [threading.Thread(target=lambda: ends.append(job.end(ask_line=True))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(ends) == 4
    assert len({id(end) for end in ends}) == 1
    assert (ends[0].code, ends[0].reason) in ((-signal.SIGKILL, ""), (-signal.SIGUSR1, ""))
    assert 0 <= ends[0].cpu < 10
    assert launchers.output(job.out) == ""
    job.close()
    job.close()


def test_child_without_a_job_ends_with_its_connection(worker: Session) -> None:
    job = worker.launcher.launch(Limits())
    job.talk.shutdown(2)
    with pytest.raises(wire.Closed):
        wire.receive(job.talk)
    job.close()


@needs_linux
def test_child_starts_where_few_files_may_be_open(worker: Session) -> None:
    launcher = cast(ForkServerLauncher, worker.launcher)
    launcher.wait_ready()
    assert launcher.pid is not None
    before = resource.prlimit(launcher.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(launcher.pid, resource.RLIMIT_NOFILE, (host_limits.FEWEST_FILES, before[1]))
    try:
        assert worker.check(doubling_exercise(), DOUBLED, 1, 1).passed
    finally:
        resource.prlimit(launcher.pid, resource.RLIMIT_NOFILE, before)


def test_too_few_open_files_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (host_limits.FEWEST_FILES - 1, 4096))
    with pytest.raises(WorkerError, match=f"Only {host_limits.FEWEST_FILES - 1} files .* 'ulimit -n 256'"):
        ForkServerLauncher().start()


@needs_linux
def test_too_little_address_space_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch does not load with less, and looks as if it were damaged."""
    limits = {resource.RLIMIT_AS: (host_limits.LEAST_MEMORY - 1, resource.RLIM_INFINITY)}
    allowed = resource.getrlimit
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits.get(kind) or allowed(kind))
    with pytest.raises(WorkerError, match=r"Only 599 MiB of address space .* needs 600.* 'ulimit -v 4194304'"):
        Session(kind="fork_server").start()


# When the tutor is gone ----------------------------------------------------------------------------------------------

PARENT = """
import sys
from attn_tutor.lessons.engine.session import Session
from tests.lessons.lesson_builders import code_step, lesson_of

session = Session(kind=sys.argv[1])
code = '''
import os, subprocess, sys
inner = subprocess.Popen(["sleep", "1000"], start_new_session=True)
sys.stdout = None
open("processes", "w").write(f"{os.getpid()} {inner.pid}")
while True: pass
'''
session.run(lesson_of(code_step("one", code), limits={"cpu": 60, "wall": 120}))
"""


@pytest.mark.slow
@needs_linux
@pytest.mark.parametrize(
    ("kind", "how", "stopped"),
    [
        ("fork_server", signal.SIGKILL, False),
        ("fork_server", signal.SIGTERM, False),
        ("fork_server", signal.SIGKILL, True),
        ("spare_process", signal.SIGKILL, False),
        ("spare_process", signal.SIGKILL, True),
    ],
)
def test_no_process_survives_the_tutor(kind: str, how: signal.Signals, stopped: bool, tmp_path: Path) -> None:
    """Nor one that somebody has stopped before; and no folder stays."""
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, kind], cwd=ROOT, env=environ, stderr=subprocess.PIPE
    ) as parent:
        try:
            program, inner = _wait_for_processes(parent)
            processes = descendants(parent.pid)
            assert {program, inner} <= set(processes)
            folders = _folders(processes)
            # The one above the program is the fork server or the keeper. Another keeper may just be starting.
            for pid in (_parent(program), program, inner) if stopped else ():
                os.kill(pid, signal.SIGSTOP)
            parent.send_signal(how)
            parent.wait(PATIENCE)
            for pid in processes:
                wait_for_end(pid)
            wait_until(lambda: not any(folder.exists() for folder in folders))
        finally:
            parent.kill()


def _wait_for_processes(parent: subprocess.Popen[bytes], seconds: float = 60) -> tuple[int, int]:
    """Wait until the program of a tutor has written its two process ids to its scratch folder; return them."""
    found: list[int] = []

    def look() -> bool:
        assert parent.poll() is None, parent.stderr and parent.stderr.read()
        for pid in descendants(parent.pid):
            try:
                text = Path(f"/proc/{pid}/cwd/processes").read_text()
            except OSError:
                continue
            if len(text.split()) == 2:
                found[:] = map(int, text.split())
                return True
        return False

    wait_until(look, seconds)
    program, inner = found
    return program, inner


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _folders(pids: list[int]) -> list[Path]:
    """Return the temporary folders that are the current folder of a process."""
    found = []
    for pid in pids:
        folder = Path(os.readlink(f"/proc/{pid}/cwd"))
        if "attn-tutor-" in str(folder):
            found.append(folder)
    return found


@pytest.mark.slow
@needs_linux
def test_children_die_with_the_fork_server(tmp_path: Path) -> None:
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, "fork_server"], cwd=ROOT, env=environ, stderr=subprocess.PIPE
    ) as parent:
        try:
            program, inner = _wait_for_processes(parent)
            (server,) = set(descendants(parent.pid)) - set(all_descendants(descendants(parent.pid)))
            os.kill(server, signal.SIGKILL)
            wait_for_end(server)
            wait_for_end(program)
            # The tutor goes on: its run fails, and it ends normally.
            assert parent.wait(PATIENCE) == 0
        finally:
            parent.kill()
            # Nobody else ends the process that the program itself started.
            _kill(inner)


def all_descendants(pids: list[int]) -> list[int]:
    """Return all descendants of these processes."""
    return [found for pid in pids for found in descendants(pid)]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def test_ending_a_child_wakes_who_waits_for_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launchers, "END_LIMIT", 0.05)
    talk, its_end = socket.socketpair()
    status, server = socket.socketpair()
    with its_end, server, (tmp_path / "out").open("w+b") as out, (tmp_path / "err").open("w+b") as err:
        # The server says nothing, as if it were stopped, so the child lives on.
        child = launchers.ForkedChild(talk, status, out, err)
        waiting = threading.Thread(target=talk.recv, args=(1,), daemon=True)
        waiting.start()
        assert child.end(ask_line=True).reason == "lost"
        waiting.join(PATIENCE)
        assert not waiting.is_alive()
