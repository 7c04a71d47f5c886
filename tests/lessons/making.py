"""Small lessons and exercises, and a look at the processes of a worker."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import Any, cast

from lessons.launch import ZygoteLauncher
from lessons.model import ExerciseStep, Lesson
from lessons.session import Session

Fields = dict[str, Any]

DOUBLED = "def double(x):\n    return 2 * x\n"
"""The right answer to `doubling()`."""


def lesson_of(*steps: Fields, **fields: Any) -> Lesson:
    """A lesson with these steps."""
    usual = {"id": "made", "number": 1, "folder": "", "title": "Made", "goal": "To be tested."}
    return Lesson.model_validate(usual | fields | {"steps": steps})


def code_step(step_id: str, code: str, *show: str | Fields, prose: str = "Look.", **fields: Any) -> Fields:
    """A step that runs code and shows the tensors of these names."""
    shown = [{"name": item, "kind": "vector"} if isinstance(item, str) else item for item in show]
    return {"kind": "run", "id": step_id, "title": "A step", "prose": prose, "code": code, "show": shown} | fields


def text_step(step_id: str, prose: str) -> Fields:
    """A step to read."""
    return {"kind": "read", "id": step_id, "title": "A text", "prose": prose}


def doubling(**limits: float) -> ExerciseStep:
    """The smallest exercise: double a tensor. `limits` are those of the learner's program."""
    return ExerciseStep.model_validate(
        {
            "kind": "exercise",
            "id": "doubling",
            "exercise": "doubling",
            "title": "Twice as much",
            "prose": "Write `double(x)`.",
            "defines": ["double"],
            "starter": "def double(x):\n    return x\n",
            "solution": DOUBLED,
            "hints": ["Multiply.", "By two."],
            "context": "context = {'x': torch.randn(*pick(2, 2, 6))}",
            "probe": "got = {'out': double(context.x)}",
            "checks": [
                {
                    "name": "twice",
                    "test": "close(got.out, want.out)",
                    "fail": "The sum is {got.out.sum():.2f}, not {want.out.sum():.2f}.",
                }
            ],
            "limits": {"memory": 256} | limits,
        }
    )


def server_of(session: Session) -> int:
    """The process id of a session's fork server."""
    process = cast(ZygoteLauncher, session._launcher)._process
    assert process is not None
    return process.pid


def below(pid: int) -> list[int]:
    """All processes below one."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split()):
                found += [child, *below(child)]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def await_end(pid: int, seconds: float = 10) -> None:
    """Wait until a process, which need not be a child, has ended. A zombie has ended too."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ended, _, _ = select.select([fd], [], [], seconds)
    finally:
        os.close(fd)
    assert ended, f"process {pid} still runs"


def await_true(what: Any, seconds: float = 10) -> None:
    """Look until a condition that sends no event holds."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)
