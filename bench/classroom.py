"""The load of a class: thirty learners on one host check an answer, or open a step, at the same moment."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.reading.loader import load_course
from bench import screen

LEARNERS = 30
EXERCISE = "scaled-attention"
STEP = "all-queries", "product"
MERGING, LOOK, STILL_MERGING = 1800.0, 15.0, 0.005
"""Seconds to wait at most for a system that merges pages, seconds between two looks, and the part of the merged pages
by which they grow from look to look while it is at it."""


def times(learners: int = LEARNERS) -> Iterator[tuple[str, str, list[float]]]:
    """Yield name, unit and values of each measurement. Raises `AssertionError` if an answer is not judged as passed."""
    _, exercise = load_course().exercise(EXERCISE)
    assert isinstance(exercise, ExerciseStep)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.py")
        answer.write_text(exercise.solution, encoding="utf-8")
        began = time.monotonic()
        running = [_start(answer, Path(folder, str(number))) for number in range(learners)]
        memory: list[float] = []
        waits: list[float] = []
        verdicts: list[float] = []
        while any(process.poll() is None for process in running):
            alive = [process.pid for process in running if process.poll() is None]
            # Most pages are not mapped yet while the processes load, so the maximum of all samples counts.
            memory.append(sum(map(_memory, alive)) / learners / 2**20)
            time.sleep(1)
        for process in running:
            out, _ = process.communicate()
            verdict = json.loads(out)
            assert verdict["passed"], verdict
            verdicts.append(verdict["seconds"])
        waits.append(time.monotonic() - began)
    yield f"{learners} at once: until all have their verdict", "s", waits
    yield f"{learners} at once: an answer judged", "s", verdicts
    yield f"{learners} at once: memory each (PSS)", "MB", [max(memory)]


def screens(learners: int = LEARNERS) -> Iterator[tuple[str, str, list[float]]]:
    """Yield name, unit and values of each measurement of tutors that all stay open at a step with live numbers."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        available = _available()
        began = time.monotonic()
        tutors = [
            stack.enter_context(screen.at(*STEP, {"XDG_STATE_HOME": str(Path(folder, str(number)))}))
            for number in range(learners)
        ]
        seconds = []
        for tutor in tutors:
            tutor.send(b"", partial(screen.is_loaded, tutor), seconds=600, silent=True)
            tutor.send(screen.ENTER, "   live", seconds=600, silent=True)
            seconds.append(time.monotonic() - began)
        # What was started ahead of the next request is there now too.
        for tutor in tutors:
            tutor.quiet(0.1)
        _wait_until_merged()
        whole = sum(_memory(tutor.pid) for tutor in tutors) / learners / 2**20
        alone = sum(_memory(tutor.pid, descendants=False) for tutor in tutors) / learners / 2**20
        taken = (available - _available()) / learners / 2**20
    yield f"{learners} tutors: until all are at a live step", "s", [max(seconds)]
    yield f"{learners} tutors: memory each (PSS)", "MB", [whole]
    yield f"{learners} tutors: of it the screen", "MB", [alone]
    yield f"{learners} tutors: memory that the system has less, each", "MB", [taken]


def _start(answer: Path, state: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "attn_tutor", "check", EXERCISE, str(answer), "--json"]
    home = {"XDG_STATE_HOME": str(state), "PATH": "/usr/bin:/bin"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=home)


def _available() -> int:
    """Return the bytes of memory that the system has left, which counts what a process is not charged for too."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def _wait_until_merged() -> None:
    """Wait until a system that merges equal pages (KSM) finds hardly any more."""
    folder = Path("/sys/kernel/mm/ksm")
    if not (folder / "run").exists() or int((folder / "run").read_text()) != 1:
        return
    merged, until = -1, time.monotonic() + MERGING
    while time.monotonic() < until:
        before, merged = merged, int((folder / "pages_sharing").read_text())
        if merged - before <= merged * STILL_MERGING:
            return
        time.sleep(LOOK)


def _memory(pid: int, descendants: bool = True) -> int:
    """Return the bytes of a process, and of its descendants (PSS: shared pages in parts)."""
    total = 0
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
        for task in Path(f"/proc/{pid}/task").iterdir() if descendants else ():
            total += sum(_memory(int(child)) for child in (task / "children").read_text().split())
    except OSError:
        pass
    return total
