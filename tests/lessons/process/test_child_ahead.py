"""A child waits for its job ahead of time, and differs in nothing from one that is forked when the job comes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.launching.launchers import ForkServerLauncher
from attn_tutor.lessons.engine.session import Session
from tests.lessons.lesson_builders import code_step, lesson_of

ABOUT_ITSELF = """
import os, random, resource, signal, sys, torch
print(os.getpid())
print(sorted(map(int, os.listdir("/proc/self/fd"))), os.getcwd() == os.environ["HOME"], torch.initial_seed())
print(signal.getsignal(signal.SIGCHLD), os.getpgid(0) == os.getsid(0) == os.getpid(), torch.rand(1).item())
print([name for name in globals() if not name.startswith("__")])
"""


def offspring(worker: Session) -> set[int]:
    """Return the ids of the children of the fork server."""
    launcher = worker.launcher
    if not isinstance(launcher, ForkServerLauncher):
        pytest.skip("no fork server on this system")
    return set(map(int, Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()))


def wait_for(worker: Session, number: int) -> set[int]:
    """Wait until the fork server has this number of children; return their ids."""
    until = time.monotonic() + 60
    while len(found := offspring(worker)) != number:
        assert time.monotonic() < until, found
        os.sched_yield()
    return found


def ahead(worker: Session) -> int:
    """Wait until the only child is one that was forked ahead; return its id."""
    return wait_for(worker, 1).pop()


def printed(worker: Session) -> tuple[int, list[str]]:
    """Return the id of a child, and what else it prints about itself."""
    run = worker.run(lesson_of(code_step("one", ABOUT_ITSELF)))
    run.close()
    assert run.steps[0].error is None
    pid, *rest = run.steps[0].stdout.splitlines()
    return int(pid), rest


def test_job_finds_a_child_that_is_as_if_it_had_been_forked_for_it(worker: Session) -> None:
    worker.run(lesson_of(code_step("one", "x = 1"))).close()
    waiting = ahead(worker)
    used, about_itself = printed(worker)
    assert used == waiting
    at_once, the_same = printed(worker)
    assert at_once != used
    assert about_itself == the_same


def test_job_whose_child_has_died_is_done_by_another(worker: Session) -> None:
    worker.run(lesson_of(code_step("one", "x = 1"))).close()
    killed = ahead(worker)
    os.kill(killed, signal.SIGKILL)
    wait_for(worker, 0)
    pid, _ = printed(worker)
    assert pid != killed
    assert ahead(worker) not in (pid, killed)
