"""Walk through a whole course as a learner in tmux would: every step has to draw what it shows, and none may fail.

`python -m tests.walk [--course ID] [--size 80x24] [--lesson N ...]` prints a line for each lesson and exits with 1 if
anything was wrong. It needs tmux, and nothing else that a learner has not.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson, PredictStep, Question, RunningStep, Step, TrainStep
from attn_tutor.lessons.reading.folders import BUILT_IN, FIRST
from tests.course import COURSES

PATIENCE = 60.0
"""Seconds to wait for a screen: a slow machine may need some to load PyTorch."""

FAILURES = re.compile(
    r"This step stopped at|This step did not finish|did not come to its end|cannot be shown|Traceback|cannot run code"
    r"|…}|\{[a-z_]+[\[.:]"
)
"""Text that no step of the course may show."""

WAITING = re.compile(r" {2}(?:recorded|not run yet)$", re.MULTILINE)
"""The note to the right of a matrix whose live numbers have not arrived."""


class Walker:
    """The tutor in its own tmux session, with an empty home directory."""

    def __init__(self, course: str, columns: int, lines: int, environ: dict[str, str] | None = None) -> None:
        self._home = tempfile.mkdtemp(prefix="attn-tutor-walk-")
        self._socket = f"attn-tutor-walk-{os.getpid()}"
        given = {"HOME": self._home, "XDG_STATE_HOME": self._home, **(environ or {})}
        command = [sys.executable, "-P", "-m", "attn_tutor", "--course", course]
        pairs = [f"{name}={value}" for name, value in given.items()]
        size = ("-x", str(columns), "-y", str(lines))
        self._run("new-session", "-d", *size, "env", *pairs, f"PYTHONPATH={os.getcwd()}", *command)
        # One client for all that is asked later: a process for each question would take longer than most answers.
        client = ["tmux", "-L", self._socket, "-C", "attach-session", "-f", "ignore-size,no-output"]
        self._client = subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._reply()

    def __enter__(self) -> Walker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._client:
            subprocess.run(["tmux", "-L", self._socket, "kill-server"], capture_output=True, check=False)
            self._client.kill()
        shutil.rmtree(self._home, ignore_errors=True)

    def _run(self, *arguments: str) -> None:
        subprocess.run(["tmux", "-L", self._socket, "-f", os.devnull, *arguments], capture_output=True, check=True)

    def _tmux(self, *arguments: str) -> list[str]:
        """Have tmux execute a command, and return the lines that it prints."""
        assert self._client.stdin is not None
        self._client.stdin.write(f"{shlex.join(arguments)}\n")
        self._client.stdin.flush()
        return self._reply()

    def _reply(self) -> list[str]:
        """Read what the client prints for one command: what is between two lines with the same number."""
        assert self._client.stdout is not None
        found: list[str] = []
        end = ""
        for line in self._client.stdout:
            mark, _, number = line.partition(" ")
            if end and mark in ("%end", "%error") and number == end:
                assert mark == "%end", found
                return found
            if end:
                found.append(line.removesuffix("\n"))
            elif mark == "%begin":
                end = number
        raise AssertionError("tmux has ended")

    @property
    def lines(self) -> list[str]:
        """The lines that the terminal shows."""
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        """Send keys, by tmux's names."""
        self._tmux("send-keys", *keys)

    def wait(self, done: Callable[[list[str]], bool]) -> list[str] | None:
        """Wait until the screen satisfies a condition and is still; return its lines, or None if that never happens."""
        end = time.monotonic() + PATIENCE
        before: list[str] = []
        while time.monotonic() < end:
            lines = self.lines
            # Twice the same: a screen that is being painted is not looked at.
            if done(lines) and lines == before:
                return lines
            before = lines
            time.sleep(0.03)
        return None


def problems(step: Step, lines: Sequence[str]) -> Iterator[str]:
    """Find what is wrong with the screen of a step."""
    text = "\n".join(lines)
    # Code may hold braces of its own.
    told = "\n".join(line for line in lines if not re.match(r" *\d+  ", line))
    if found := FAILURES.search(told):
        yield f"shows '{found[0]}'"
    drawn = [line for line in lines[2:-1] if line.strip()]
    if len(drawn) < 3:
        yield "shows nearly nothing"
    if isinstance(step, RunningStep) and step.show:
        names = [shown.name for shown in step.show]
        if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names):
            yield f"shows none of {', '.join(names)}"
        if not re.search(r"\d", "".join(lines[3:])) and not isinstance(step, Question):
            yield "shows no number"
    if isinstance(step, ExerciseStep) and not any(line.strip() in text for line in step.starter.splitlines() if line):
        yield "shows no line of the starter"


def arrived(lesson: Lesson, position: int) -> Callable[[list[str]], bool]:
    """Return a condition on the screen: its title names the step, and the numbers are live."""
    step = lesson.steps[position]
    place = f"lesson {lesson.number}   {main_path.position_of(lesson.steps, step.id)}"
    # A training is there as it was recorded, until somebody starts it.
    waits = isinstance(step, RunningStep) and not isinstance(step, TrainStep)

    def there(lines: list[str]) -> bool:
        text = "\n".join(lines)
        return place in text and not (waits and (WAITING.search(text) or "loading" in lines[0]))

    return there


def walk(
    lessons: Sequence[Lesson],
    columns: int = 80,
    lines: int = 24,
    environ: dict[str, str] | None = None,
    course: str = FIRST.id,
) -> list[str]:
    """Visit every step of the lessons of a course in order; return what was wrong."""
    wrong: list[str] = []
    with Walker(course, columns, lines, environ) as walker:
        if walker.wait(lambda shown: any("course map" in line for line in shown) and "loading" not in shown[0]) is None:
            return ["the map does not come"]
        for lesson in lessons:
            # From the map to the first step of the lesson, wherever its line is.
            walker.press("Home", *["Down"] * (1 + COURSES[course].lessons.index(lesson)), "Enter")
            for position, step in enumerate(lesson.steps):
                shown = walker.wait(arrived(lesson, position))
                name = f"{lesson.number} {lesson.id}/{step.id}"
                if shown is None:
                    wrong.append(f"{name}: does not come to rest; the terminal shows\n" + "\n".join(walker.lines))
                    return wrong
                wrong += [f"{name}: {problem}" for problem in problems(step, shown)]
                if position + 1 < len(lesson.steps):
                    turns_aside = lesson.steps[position + 1].side and not step.side
                    if turns_aside and isinstance(step, PredictStep):
                        # Out of the line to type in first; together, the two keys would be Alt+I.
                        walker.press("Escape")
                        walker.wait(lambda lines: "esc leave the line" not in lines[-1])
                    walker.press("i" if turns_aside else "F8")
            print(f"{lesson.number:2} {lesson.id:20} {len(lesson.steps)} steps", flush=True)
            # Out of an exercise's editor first; a lesson ends with a text, where escape leads to the map.
            walker.press("Escape")
            if walker.wait(lambda shown: "course map" in shown[0]) is None:
                return [*wrong, f"{lesson.id}: escape does not lead to the map"]
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the walk and print its result. Returns an exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.walk", description=__doc__)
    parser.add_argument("--size", default="80x24", help="columns x lines (default: 80x24)")
    parser.add_argument("--lesson", action="append", help="only this one, by id or number; repeatable")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for the tutor; repeatable")
    parser.add_argument("--course", choices=[course.id for course in BUILT_IN], default=FIRST.id)
    options = parser.parse_args(arguments)
    course = COURSES[options.course]
    lessons = [course.lesson(name) for name in options.lesson or ()] or list(course.lessons)
    columns, lines = map(int, options.size.split("x"))
    began = time.monotonic()
    wrong = walk(lessons, columns, lines, dict(pair.split("=", 1) for pair in options.env), options.course)
    steps = sum(len(lesson.steps) for lesson in lessons)
    print(*wrong, sep="\n")
    print(f"{steps} steps in {time.monotonic() - began:.0f} s: {len(wrong) or 'nothing'} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
