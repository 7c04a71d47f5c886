"""The command as tests run it: in this process with a warm session, or as a separate process."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.results.result import Judgement
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from tests.course import COURSE

ROOT = Path(__file__).parents[3]
LESSONS = ", ".join(lesson.id for lesson in COURSE.lessons)
COMMAND = (sys.executable, "-m", "attn_tutor")

Done = tuple[int, str, str]
"""The exit status, standard output, and standard error of a command."""

Command = Callable[..., Done]


class WarmSession:
    """A session that stays open for the next command, since loading PyTorch takes longer than all the rest."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.runs: list[Run] = []

    def wait_ready(self) -> None:
        self.session.wait_ready()

    def run(self, lesson: Lesson, upto: str | None = None, changes: Changes = UNCHANGED) -> Run:
        self.runs.append(self.session.run(lesson, upto, changes))
        return self.runs[-1]

    def check(self, exercise: ExerciseStep, source: str, seed: int | None = None, **how: Any) -> Judgement:
        return self.session.check(exercise, source, seed, **how)

    def start(self) -> None:
        pass

    @property
    def ready(self) -> bool:
        return self.session.ready

    def cancel(self) -> None:
        self.session.cancel()

    def __getattr__(self, name: str) -> Any:
        """Return what else the session can do."""
        return getattr(self.session, name)

    def close(self) -> None:
        """Close the runs, but not the session."""
        for run in self.runs:
            run.close()


def task(name: str) -> ExerciseStep:
    """Return an exercise of the course whose answer is code."""
    _, exercise = COURSE.exercise(name)
    assert isinstance(exercise, ExerciseStep)
    return exercise


def document(done: Done, status: int = 0) -> Any:
    """Return the JSON document that a command printed; assert that it printed nothing else."""
    assert done[0] == status, done
    assert done[2] == ""
    assert done[1].count("\n") == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(done[1], parse_constant=refuse)


def listed_lesson(data: Any, name: str) -> Any:
    """Find a lesson in the output of `list --json`."""
    [found] = [lesson for lesson in data["lessons"] if lesson["id"] == name]
    return found


def listed_exercise(data: Any, name: str) -> Any:
    """Find an exercise in the output of `list --json`."""
    [found] = [exercise for exercise in data["exercises"] if exercise["id"] == name]
    return found


def process(
    *arguments: str, environ: dict[str, str] | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command as a separate process without a terminal."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env={**os.environ, **(environ or {})}, input=given, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip


def on_terminal(*arguments: str, environ: dict[str, str] | None = None) -> str:
    """Run the command as a process on a terminal, and return what the terminal is sent."""
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [*COMMAND, *arguments], cwd=ROOT, env={**os.environ, **(environ or {})}, stdin=theirs, stdout=theirs,
            stderr=theirs,
        ) as running:  # fmt: skip
            os.close(theirs)
            try:
                sent = read_all(ours)
                assert running.wait(60) == 0
            finally:
                running.kill()
    finally:
        os.close(ours)
    return sent


def read_all(fd: int, seconds: float = 60) -> str:
    """Read everything that comes through a terminal until it is closed."""
    sent = b""
    while select.select([fd], [], [], seconds)[0]:
        try:
            part = os.read(fd, 65536)
        except OSError:  # Linux says so when the last program has left
            break
        if not part:
            break
        sent += part
    return sent.decode()
