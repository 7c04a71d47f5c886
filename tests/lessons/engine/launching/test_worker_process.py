"""A process of the worker has its memory where every other learner's worker has it, so that its pages are equal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from attn_tutor.lessons.engine.launching import worker_process
from attn_tutor.lessons.engine.launching.launchers import ForkServerLauncher
from attn_tutor.lessons.engine.session import Session
from tests.lessons.lesson_builders import code_step, lesson_of

SELF = Path("/proc/self/personality")
NO_RANDOM_ADDRESSES = 0x0040000

needs_personality = pytest.mark.skipif(not SELF.exists(), reason="the system has no such setting")


def personality() -> int:
    """Return the setting of this process."""
    return int(SELF.read_text(), 16)


@needs_personality
def test_memory_of_each_process_is_at_the_same_addresses() -> None:
    if personality() & NO_RANDOM_ADDRESSES:
        pytest.skip("these tests run with fixed addresses themselves")
    command = [sys.executable, "-c", "print(id(object), id(object()), list({'query', 'key', 'value', 'head'}))"]

    def printed() -> str:
        return subprocess.run(command, env=worker_process.environment(), capture_output=True, text=True).stdout

    with worker_process.same_layout():
        found = {printed() for _ in range(3)}
    assert len(found) == 1
    # The processes that the tutor starts otherwise have random addresses still.
    assert not personality() & NO_RANDOM_ADDRESSES
    assert len({printed() for _ in range(3)}) == 3


@needs_personality
def test_programs_that_learners_start_have_random_addresses(worker: Session) -> None:
    run = worker.run(lesson_of(code_step("one", f"print(open({str(SELF)!r}).read())")))
    run.close()
    assert not int(run.steps[0].stdout, 16) & NO_RANDOM_ADDRESSES


@needs_personality
def test_worker_lets_the_kernel_merge_its_pages(worker: Session) -> None:
    pid = cast(ForkServerLauncher, worker.launcher).pid
    stat = Path(f"/proc/{pid}/ksm_stat")
    if not stat.exists() or "ksm_merge_any" not in stat.read_text():
        pytest.skip("the kernel does not merge memory, or does not say for which processes")
    worker.wait_ready()
    assert "ksm_merge_any: yes" in stat.read_text()


def test_what_a_worker_loads_with_is_the_same_for_all_accounts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name in ("ada", "charles"):
        for variable in ("HOME", "USER", "XDG_STATE_HOME", "SSH_CONNECTION"):
            monkeypatch.setenv(variable, f"/home/{name}")
        found.append(worker_process.loading_environment())
    assert found[0] == found[1]
    monkeypatch.setenv("PYTHONPATH", "/opt/courses")
    assert worker_process.loading_environment()["PYTHONPATH"] == "/opt/courses"


@pytest.mark.slow
def test_programs_find_the_environment_of_the_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAME_OF_THE_LEARNER", "Ada \udc80")
    session = Session()
    try:
        run = session.run(lesson_of(code_step("one", "import os\nprint(ascii(os.environ['NAME_OF_THE_LEARNER']))")))
        run.close()
    finally:
        session.close()
    assert run.steps[0].stdout == "'Ada \\udc80'\n"
