"""The load of a class: thirty learners on one host check an answer at the same moment, each with a worker."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lessons.format.lesson import ExerciseStep
from lessons.reading.loader import load_course

LEARNERS = 30
EXERCISE = "scaled-attention"


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


def _start(answer: Path, state: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tui", "check", EXERCISE, str(answer), "--json"]
    home = {"XDG_STATE_HOME": str(state), "PATH": "/usr/bin:/bin"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=home)


def _memory(pid: int) -> int:
    """Return the bytes of a process and its descendants (PSS: shared pages in parts)."""
    total = 0
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(_memory(int(child)) for child in (task / "children").read_text().split())
    except OSError:
        pass
    return total
