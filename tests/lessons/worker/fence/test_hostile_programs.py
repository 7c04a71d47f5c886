"""What learner code cannot do to others, program by program, in a child of the worker."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import resource
import socket
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.process import fork_server
from attn_tutor.lessons.worker.fence import limits, scratch_folders
from attn_tutor.lessons.worker.fence.layers import SHARED_MEMORY_LIMIT
from tests.lessons.lesson_builders import code_step, doubling_exercise, lesson_of
from tests.lessons.worker.fence.hostile_programs import ALLOWED, ATTEMPTS, FILTER, Attempt, all_in_one

ROOT = Path(__file__).parents[4]
EXERCISE = doubling_exercise()
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def layers() -> dict[str, int]:
    """Return which layers work on this host. A process of its own finds out, since it must have one thread."""
    program = "import dataclasses; from attn_tutor.lessons.worker.fence import layers as at; "
    program += "print(dataclasses.asdict(at.found()))"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, int] = ast.literal_eval(run.stdout)
    return found


class Bystander:
    """What belongs to others: a folder with a file, a program, a terminal, and an abstract socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "precious"
        self.folder.mkdir()
        self.file = self.folder / "file"
        self.file.write_text("here")
        self.program = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        self.master, self.slave = pty.openpty()
        self.abstract, self.listener = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self.abstract.bind(f"\0attn-tutor-test-{os.getpid()}")
        self.listener.bind(str(folder / "listener"))
        self.abstract.listen()
        self.listener.listen()

    def fields(self) -> dict[str, object]:
        """Return what the programs of the table name."""
        return {
            "file": str(self.file),
            "folder": str(self.folder),
            "pid": self.program.pid,
            "terminal": os.ttyname(self.slave),
            "socket": self.abstract.getsockname().decode(),
            "listener": self.listener.getsockname(),
        }

    def state(self) -> tuple[object, ...]:
        """Return everything that a program of the table would change."""
        pid = self.program.pid
        return (
            [(path.name, path.lstat().st_mode, path.lstat().st_mtime_ns) for path in sorted(self.folder.rglob("*"))],
            (self.folder.stat().st_mode, self.file.read_text(), os.listxattr(self.file)),
            (self.program.poll(), os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler(pid)),
            (os.sched_getaffinity(pid), resource.prlimit(pid, resource.RLIMIT_CPU)),
            (termios.tcgetattr(self.slave), termios.tcgetwinsize(self.slave)),
        )

    def close(self) -> None:
        """End it all."""
        self.program.kill()
        self.program.wait()
        os.close(self.master)
        os.close(self.slave)
        self.abstract.close()
        self.listener.close()


@pytest.fixture
def bystander(tmp_path: Path) -> Iterator[Bystander]:
    """Yield what belongs to others."""
    made = Bystander(tmp_path)
    yield made
    made.close()


def refused(attempt: Attempt, layers: dict[str, int]) -> bool:
    """Return whether a layer of this host refuses an attempt of this user."""
    if attempt.root_may and os.getuid() == 0:
        return False
    return bool(layers["system_calls"]) if attempt.landlock == FILTER else layers["landlock"] >= attempt.landlock


def output(worker: Session, program: str) -> str:
    """Run a program as a step of a lesson and return what it printed."""
    run = worker.run(lesson_of(code_step("one", program)))
    run.close()
    assert run.steps[0].error is None, run.steps[0].error
    return run.steps[0].stdout


def test_programs_do_no_harm_to_others(worker: Session, layers: dict[str, int], bystander: Bystander) -> None:
    attempts = [attempt for attempt in ATTEMPTS if refused(attempt, layers)]
    if not attempts:
        pytest.skip("this host has no layers")
    before = bystander.state()
    programs = [attempt.program.format(**bystander.fields()) for attempt in attempts]
    outcomes = json.loads(output(worker, all_in_one(programs)))
    harmful = [(a.program, outcome) for a, outcome in zip(attempts, outcomes, strict=True) if outcome not in a.errors]
    assert harmful == []
    assert bystander.state() == before


def test_what_programs_can_do_is_admitted(worker: Session, bystander: Bystander) -> None:
    programs = [program.format(**bystander.fields()) for program in ALLOWED]
    assert json.loads(output(worker, all_in_one(programs))) == ["done"] * len(ALLOWED)


def test_the_rows_of_the_security_policy_are_these() -> None:
    section = SECURITY.partition("## What it cannot do")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z].*?) \|", section, re.MULTILINE)
    assert sorted(rows) == sorted({attempt.row for attempt in ATTEMPTS})


@pytest.mark.parametrize(
    "stated",
    [
        f"{limits.OUTPUT_CAP // limits.MIB} MB",
        f"{fork_server.SCRATCH_CAP} MB",
        f"{scratch_folders.MOST_FILES:,} files",
        f"{fork_server.MOST_PROCESSES} processes",
        f"and {limits.TASKS} more",
        f"{limits.OPEN_FILES} files at a time",
        f"{SHARED_MEMORY_LIMIT} MB of shared memory",
    ],
)
def test_the_limits_in_the_security_policy_are_these(stated: str) -> None:
    assert stated in " ".join(SECURITY.split())


def test_ordinary_programs_are_not_refused(worker: Session, layers: dict[str, int]) -> None:
    """What a learner's code may want to do, in its own folder and to itself."""
    shared = "import multiprocessing\nmultiprocessing.Lock()\ntorch.ones(3).share_memory_()\n"
    program = (
        "import mmap, os, pathlib, resource, shutil, socket, subprocess, tempfile, threading, torch\n"
        "tempfile.TemporaryFile().close()\nopen('/dev/null', 'w').close()\n"
        "torch.save(torch.ones(3), 'weights.pt')\ntorch.load('weights.pt')\n"
        "shutil.copyfile('weights.pt', 'copy.pt')\nos.rename('copy.pt', 'moved.pt')\npathlib.Path('moved.pt').touch()\n"
        "os.makedirs('a/b')\nshutil.rmtree('a')\n"
        "subprocess.run(['true'], check=True)\nthreading.Thread(target=int).start()\none, other = socket.socketpair()\n"
        "one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)\nmmap.mmap(-1, 16 << 20)\n"
        "mmap.mmap(-1, 1 << 26, flags=mmap.MAP_PRIVATE)\n"
        "server = socket.socket(socket.AF_UNIX)\nserver.bind('door')\nserver.listen()\n"
        "os.nice(1)\nos.sched_setaffinity(0, os.sched_getaffinity(0))\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        + (shared if layers["shared_memory"] else "")
        + "print('well')"
    )
    assert output(worker, program) == "well\n"


# What is told --------------------------------------------------------------------------------------------------------

TOLD = {
    "mode": (
        "import os\nos.chmod('/', 0)",
        FILTER,
        "Code in the tutor may not change the mode, owner or times of files, use the network, or act on other "
        "programs.",
    ),
    "file": (
        "\nopen('/new', 'w')",
        1,
        "Code in the tutor may write only to a folder of its own, in which it starts.",
    ),
    "host": (
        "import socket\nsocket.create_connection(('example.org', 80))",
        FILTER,
        "Code in the tutor has no network.",
    ),
}


@pytest.mark.parametrize(("source", "landlock", "sentence"), TOLD.values(), ids=TOLD)
def test_refusal_is_explained(
    worker: Session, layers: dict[str, int], source: str, landlock: int, sentence: str
) -> None:
    if not refused(Attempt("", source, landlock), layers):
        pytest.skip("this host does not refuse it")
    judgement = worker.check(EXERCISE, source)
    assert (judgement.verdict, judgement.line) == ("error", 2)
    assert judgement.message.endswith(f". {sentence}"), judgement.message


# What is left behind -------------------------------------------------------------------------------------------------


def test_shared_memory_is_the_workers_own_and_has_an_end(worker: Session, layers: dict[str, int]) -> None:
    if not layers["shared_memory"]:
        pytest.skip("this host allows no shared memory of its own")
    name = f"attn-tutor-test-{os.getpid()}"
    theirs = Path("/dev/shm") / f"{name}-theirs"
    run = worker.run(lesson_of(code_step("one", f"open('/dev/shm/{name}', 'w').close()")))
    assert not (Path("/dev/shm") / name).exists()
    theirs.touch()
    try:
        run.close()
        assert theirs.exists(), "a file of another program is not swept away"
        fill = f"""
import os
print(os.listdir('/dev/shm'))
try:
    for number in range({SHARED_MEMORY_LIMIT // 8 + 1}):
        os.posix_fallocate(os.open(f'/dev/shm/{{number}}', os.O_CREAT | os.O_RDWR), 0, {limits.OUTPUT_CAP})
except OSError as error:
    print(error.errno, number)
"""
        assert output(worker, fill) == f"[]\n28 {SHARED_MEMORY_LIMIT // 8}\n"
        assert output(worker, "import os\nprint(os.listdir('/dev/shm'))") == "[]\n"
    finally:
        theirs.unlink(missing_ok=True)


def test_program_that_fills_the_disk_is_ended(worker: Session) -> None:
    source = f"""
import os, time
for number in range({fork_server.SCRATCH_CAP // 8 + 1}):
    os.posix_fallocate(os.open(str(number), os.O_CREAT | os.O_RDWR), 0, {limits.OUTPUT_CAP})
time.sleep(1000)
"""
    judgement = worker.check(EXERCISE, source)
    assert judgement.verdict == "error"
    assert judgement.message == "The code wrote too many files, or too large ones; it was ended."
