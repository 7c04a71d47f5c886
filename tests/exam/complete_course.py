"""Complete the whole course by a script that types into `attn-tutor --plain`, as a learner without a screen would.

`python -m tests.exam.complete_course [--lesson N ...] [--log FILE] [--train] [--state FOLDER]` goes through every step,
side steps too: it answers questions, solves finds and experiments, and hands in the model answers. At the end
`attn-tutor list` has to say that everything is done. It exits with 1 if anything was wrong. The progress is kept in
FOLDER, for exports of a finished course: `XDG_STATE_HOME=FOLDER attn-tutor export notebook`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol

from attn_tutor.lessons.engine.questions import answer_forms, question_words
from attn_tutor.lessons.format.lesson import ChoiceStep, ExerciseStep, ExperimentStep, Lesson, Question, Step, TrainStep
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.results.result import StepResult
from tests.course import COURSE

ROOT = Path(__file__).parents[2]

END = "the end of the code"

PROMPT = b"> "


class Talker(Protocol):
    """Somebody who takes a line and says something to it."""

    def type(self, *lines: str) -> str:
        """Type lines, and return what is said to them."""


class PlainTutor:
    """`attn-tutor --plain` as a process of its own, at the other ends of two pipes."""

    def __init__(self, environ: dict[str, str], log: Path | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attn_tutor", "--plain"],
            cwd=ROOT,
            env={**os.environ, **environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._log = log.open("wb") if log is not None else None
        self.opening = self._read()

    def __enter__(self) -> PlainTutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        if self._log is not None:
            self._log.close()

    def _read(self) -> str:
        """Read up to the next prompt, or to the end."""
        assert self._process.stdout is not None
        said = b""
        while not (said == PROMPT or said.endswith(b"\n" + PROMPT)):
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:
                break
            said += part
            if said.endswith((b"\n| ", b"\n>>> ")):
                break
        if self._log is not None:
            self._log.write(said)
        return said.decode()

    def type(self, *lines: str) -> str:
        """Type lines, each after what was said to the one before, and return all of it."""
        assert self._process.stdin is not None
        said = ""
        for line in lines:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
            said += self._read()
        return said

    def quit(self) -> int:
        """End the input, and return the exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._read()
        return self._process.wait(30)


def solve(tutor: Talker, lesson: Lesson, step: Step, recorded: StepResult, *, train: bool = False) -> str:
    """Do what a step asks for; return what is wrong with what the tutor says to that, "" if nothing is."""
    match step:
        case ExerciseStep():
            said = tutor.type(f"code {END}", *step.solution.splitlines(), END, "check")
            return "" if "PASSED" in said else said
        case ExperimentStep():
            said = ""
            for way in (way for way in step.ways if way.right):
                for change in way.proof[0].split(";"):
                    name, _, value = (part.strip() for part in change.partition("="))
                    is_knob = name in {knob.name for knob in lesson.knobs}
                    said = tutor.type(f"knob {name} {value}" if is_knob else f"set {change.strip()}")
                return "" if "Done." in said else said
        case ChoiceStep():
            # Which is right may depend on the machine.
            right = answer_forms.right_answer(step, recorded)
            for letter in dict.fromkeys([right, *question_words.LETTERS[: len(step.options)]]):
                said = tutor.type(f"answer {letter}")
                if "Right." in said:
                    return ""
            return said
        case step if isinstance(step, Question):
            said = tutor.type(f"answer {answer_forms.right_answer(step, recorded)}")
            return "" if "Right." in said else said
        case TrainStep() if train:
            said = tutor.type("train")
            return "" if "Trained in" in said else said
    return ""


def complete(
    tutor: Talker, lesson: Lesson, result_of: Callable[[str], StepResult], *, train: bool = False
) -> Iterator[str]:
    """Complete all steps of a lesson, side steps too; yield what is wrong.

    `result_of` returns the result of a step by its id, which has the right answers.
    """
    said = tutor.type(f"go {lesson.number} 1")
    for number, step in enumerate(lesson.steps):
        if number:
            is_aside = step.side and not lesson.steps[number - 1].side
            said = tutor.type("side" if is_aside else "next")
        if step.title not in " ".join(said.split()):
            yield f"{lesson.id}/{step.id}: is not opened: {said}"
        if problem := solve(tutor, lesson, step, result_of(step.id), train=train):
            yield f"{lesson.id}/{step.id}: {problem}"
    tutor.type("next")


def _recorded(results: Mapping[str, StepResult], step: str) -> StepResult:
    """Return the recorded result of a step, which may have none."""
    return results.get(step) or StepResult(step)


def not_done(environ: dict[str, str], lessons: Sequence[Lesson]) -> list[str]:
    """Return the steps of lessons that `attn-tutor list` does not call done."""
    listed = subprocess.run(
        [sys.executable, "-m", "attn_tutor", "list", "--json"],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        check=True,
    )
    ids = {lesson.id for lesson in lessons}
    return [
        f"{lesson['id']}/{step['id']}: {step['state']}"
        for lesson in json.loads(listed.stdout)["lessons"]
        for step in lesson["steps"]
        if lesson["id"] in ids and step["state"] != "done"
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Complete the course and print what was wrong. Returns an exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.exam.complete_course", description=__doc__)
    parser.add_argument("--lesson", action="append", help="only this one, by id or number; repeatable")
    parser.add_argument("--log", type=Path, help="a file for all that the tutor says")
    parser.add_argument("--train", action="store_true", help="also run the trainings")
    parser.add_argument("--state", type=Path, help="a folder in which the progress is kept afterwards")
    options = parser.parse_args(arguments)
    lessons = [COURSE.lesson(name) for name in options.lesson or ()] or list(COURSE.lessons)
    began, wrong = time.monotonic(), list[str]()
    with tempfile.TemporaryDirectory(prefix="attn-tutor-") as home:
        state = str(options.state.resolve()) if options.state else home
        environ = {"HOME": home, "XDG_STATE_HOME": state, "COLUMNS": "80", "PYTHONUTF8": "1", "LANG": "C.UTF-8"}
        with PlainTutor(environ, options.log) as tutor:
            for lesson in lessons:
                recorded = recorded_outputs.load(lesson)
                found = list(complete(tutor, lesson, partial(_recorded, recorded), train=options.train))
                print(f"{lesson.number:2} {lesson.id:20} {len(lesson.steps)} steps, {len(found)} wrong", flush=True)
                wrong += found
            status = tutor.quit()
        wrong += [f"the exit code is {status}"] if status else []
        wrong += not_done(environ, lessons)
    print(*wrong, sep="\n")
    steps = sum(len(lesson.steps) for lesson in lessons)
    print(f"{steps} steps in {time.monotonic() - began:.0f} s: {len(wrong) or 'nothing'} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
