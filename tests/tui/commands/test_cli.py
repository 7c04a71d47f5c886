"""The command: what scripts depend on, its documents and its exit statuses."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from lessons.engine.run import Run
from lessons.engine.session import Session
from lessons.format.lesson import Course, ExerciseStep, Lesson
from lessons.learner.progress import Progress
from lessons.reading.loader import load_course
from lessons.results.result import Judgement, WorkerError
from lessons.what_if.changes import UNCHANGED, Changes
from tests.course import COURSE
from tui import cli

ROOT = Path(__file__).parents[3]
LESSONS = ", ".join(lesson.id for lesson in COURSE.lessons)
EXERCISES = ", ".join(exercise.exercise for lesson in COURSE.lessons for exercise in lesson.exercises)
COMMAND = (sys.executable, "-m", "tui")

Done = tuple[int, str, str]
"""Exit status, what came on standard output, what on standard error."""

Command = Callable[..., Done]


class Kept:
    """A session that stays open for the next command: to load PyTorch takes longer than all the rest."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.runs: list[Run] = []

    def wait_ready(self) -> None:
        self.session.wait_ready()

    def run(self, lesson: Lesson, upto: str | None = None, changes: Changes = UNCHANGED) -> Run:
        self.runs.append(self.session.run(lesson, upto, changes))
        return self.runs[-1]

    def check(self, exercise: ExerciseStep, source: str, seed: int | None = None) -> Judgement:
        return self.session.check(exercise, source, seed)

    def start(self) -> None:
        pass

    @property
    def ready(self) -> bool:
        return self.session.ready

    def cancel(self) -> None:
        self.session.cancel()

    def close(self) -> None:
        """It stays; what was run does not."""
        for run in self.runs:
            run.close()


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    session = Session()
    session.start()
    yield session
    session.close()


@pytest.fixture
def command(session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command in this process, with text for its standard input."""

    def run(*arguments: str | Path, given: bytes = b"") -> Done:
        monkeypatch.setattr("lessons.engine.session.Session", lambda: Kept(session))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capsys.readouterr()
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(cast(int, end.code))
        out, err = capsys.readouterr()
        return status, out, err

    return run


def task(name: str) -> ExerciseStep:
    """An exercise of the course whose answer is code."""
    _, exercise = COURSE.exercise(name)
    assert isinstance(exercise, ExerciseStep)
    return exercise


def document(done: Done, status: int = 0) -> Any:
    """The JSON document that a command printed, and nothing else."""
    assert done[0] == status, done
    assert done[2] == ""
    assert done[1].count("\n") == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(done[1], parse_constant=refuse)


def process(
    *arguments: str, environ: dict[str, str] | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, without a terminal."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env={**os.environ, **(environ or {})}, input=given, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip


@pytest.fixture
def one_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a course of one lesson with one step of this code in place of the real one."""

    def install(code: str) -> None:
        fields = {
            "id": "made",
            "number": 1,
            "folder": "",
            "title": "Made",
            "goal": "To be tested.",
            "setup": "import torch",
            "steps": [
                {
                    "kind": "run", "id": "only", "title": "Only", "prose": "Look.", "code": code,
                    "show": [{"name": "x", "kind": "vector"}],
                }
            ],
        }  # fmt: skip
        course = Course(lessons=(Lesson.model_validate(fields),))
        monkeypatch.setattr("lessons.reading.loader.load_course", lambda folder=None: course)

    return install


# list ----------------------------------------------------------------------------------------------------------------


def test_list_as_json(command: Command) -> None:
    data = document(command("list", "--json"))
    assert set(data) == {"lessons", "exercises", "position"}
    assert [lesson["id"] for lesson in data["lessons"]] == [lesson.id for lesson in COURSE.lessons]
    for listed, lesson in zip(data["lessons"], COURSE.lessons, strict=True):
        assert set(listed) == {"id", "number", "title", "goal", "steps"}
        assert (listed["number"], listed["title"], listed["goal"]) == (lesson.number, lesson.title, lesson.goal)
        assert listed["steps"] == [
            {"id": step.id, "kind": step.kind, "title": step.title, "state": "new"} for step in lesson.steps
        ]
    assert listed_exercise(data, "two-wide") == {
        "id": "two-wide",
        "number": "3.2",
        "title": "Two heads, two numbers",
        "lesson": "stacked-heads",
        "step": "two-wide",
        "state": "new",
        "passed": False,
        "due": False,
        "review": None,
    }
    exercises = [exercise.exercise for lesson in COURSE.lessons for exercise in lesson.exercises]
    assert [exercise["id"] for exercise in data["exercises"]] == exercises
    assert data["position"] is None


def listed_lesson(data: Any, name: str) -> Any:
    """A lesson of `list --json`."""
    [found] = [lesson for lesson in data["lessons"] if lesson["id"] == name]
    return found


def listed_exercise(data: Any, name: str) -> Any:
    """An exercise of `list --json`."""
    [found] = [exercise for exercise in data["exercises"] if exercise["id"] == name]
    return found


def test_list_tells_progress(command: Command) -> None:
    progress = Progress.open()
    progress.set_state("one-query", "why", "done")
    progress.set_state("one-query", "inputs", "seen")
    progress.set_state("one-query", "third-row", "skipped")
    progress.set_position("one-query", "inputs")
    progress.add_attempt("two-wide", "code", "passed")
    progress.close()
    data = document(command("list", "--json"))
    states = {step["id"]: step["state"] for step in listed_lesson(data, "one-query")["steps"]}
    assert [states[step] for step in ("why", "inputs", "third-row", "remember")] == ["done", "seen", "skipped", "new"]
    assert data["position"] == {"lesson": "one-query", "step": "inputs"}
    assert [exercise["id"] for exercise in data["exercises"] if exercise["passed"]] == ["two-wide"]
    status, out, err = command("list")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    first = COURSE.lessons[0]
    assert lines[0] == f"{first.number}. {first.title}  [{first.id}]"
    start = lines.index("1. Attention for one word  [one-query]") + 1
    told = {line.split()[0]: line.split()[-1] for line in lines[start : start + len(COURSE.lesson("one-query").steps)]}
    assert [told[step] for step in ("why", "inputs", "third-row")] == ["done", "started", "skipped"]
    assert [line for line in lines if "two-wide" in line][-1].endswith(" two numbers               passed")


def test_list_tells_what_is_due_for_review(command: Command) -> None:
    progress = Progress.open()
    progress.add_attempt("two-wide", "code", "failed")
    progress.give_up("same-numbers")
    progress.set_state("attention-classes", "same-numbers", "skipped")
    progress.close()

    def told(name: str) -> str:
        return [line for line in command("list")[1].splitlines() if line.startswith(f"     {name} ")][-1]

    data = document(command("list", "--json"))
    for name in ("two-wide", "same-numbers"):
        exercise = listed_exercise(data, name)
        assert (exercise["due"], exercise["passed"]) == (True, False)
        assert datetime.fromisoformat(exercise["review"]) <= datetime.now(UTC)
    assert told("two-wide").endswith(" two numbers               due for review")
    assert told("same-numbers").endswith("  skipped, due for review")

    progress = Progress.open()
    progress.add_attempt("two-wide", "code", "passed")
    progress.close()
    exercise = listed_exercise(document(command("list", "--json")), "two-wide")
    assert (exercise["due"], exercise["passed"]) == (False, True)
    assert datetime.fromisoformat(exercise["review"]) > datetime.now(UTC)
    assert told("two-wide").endswith(" passed")


# run -----------------------------------------------------------------------------------------------------------------


def test_run_as_json(command: Command) -> None:
    data = document(command("run", "one-query", "--json"))
    lesson = COURSE.lesson("one-query")
    assert data["lesson"] == "one-query"
    assert [step["id"] for step in data["steps"]] == [step.id for step in lesson.steps]
    for step in data["steps"]:
        assert {"id", "kind", "stdout", "error", "tensors"} <= set(step)
        assert step["kind"] in ("read", "run", "exercise", "choice", "predict", "point")
        assert type(step["stdout"]) is str
        assert step["error"] is None
        for tensor in step["tensors"].values():
            assert {"shape", "dtype", "values", "rows", "cols"} <= set(tensor)
    context = next(step["tensors"]["parts"] for step in data["steps"] if "parts" in step["tensors"])
    assert (context["shape"], context["dtype"]) == ([6, 3], "float32")
    assert context["rows"] == ["Your", "journey", "starts", "with", "one", "step"]
    assert context["cols"] == ["d0", "d1", "d2"]
    assert [sum(column) for column in zip(*context["values"], strict=True)] == pytest.approx(
        [0.4419, 0.6515, 0.5683], abs=1e-4
    )


@pytest.mark.parametrize("name", [lesson.id for lesson in COURSE.lessons])
def test_run_of_every_lesson(command: Command, name: str) -> None:
    status, out, err = command("run", name)
    assert (status, err) == (0, "")
    lesson = COURSE.lesson(name)
    assert out.startswith(f"Lesson {lesson.number}: {lesson.title}\n")
    for number, step in enumerate(lesson.steps, 1):
        assert f"\nStep {number} of {len(lesson.steps)}: {step.title}  [{step.id}]\n" in out
    assert "…`" not in out
    assert all(character.isprintable() or character == "\n" for character in out)


def test_run_by_number_and_one_step(command: Command) -> None:
    data = document(command("run", "1", "--step", "scores", "--json"))
    assert [step["id"] for step in data["steps"]] == ["scores"]
    assert data["steps"][0]["tensors"]["scores"]["values"] == pytest.approx(
        [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865], abs=1e-4
    )
    status, out, _ = command("run", "1", "--step", "scores")
    assert status == 0
    assert out.count("\nStep ") == 1
    assert "    0.9544" in out or "0.9544" in out


def test_run_of_an_exercise_step_shows_the_task(command: Command) -> None:
    status, out, _ = command("run", "stacked-heads", "--step", "two-wide")
    assert status == 0
    assert "Check your file with: attn-tutor check two-wide FILE" in out
    data = document(command("run", "stacked-heads", "--step", "two-wide", "--json"))
    assert [(step["kind"], step["tensors"], step["error"]) for step in data["steps"]] == [("exercise", {}, None)]


def test_values_of_a_large_tensor_are_left_out(command: Command, one_step: Callable[[str], None]) -> None:
    for size, whole in ((4096, True), (4097, False)):
        one_step(f"x = torch.zeros({size})")
        (step,) = document(command("run", "1", "--json"))["steps"]
        tensor = step["tensors"]["x"]
        assert tensor["shape"] == [size]
        assert (tensor["values"] is not None) == whole


def test_numbers_that_json_does_not_have(command: Command, one_step: Callable[[str], None]) -> None:
    one_step("x = torch.tensor([torch.nan, torch.inf, -torch.inf, 1.0])")
    (step,) = document(command("run", "1", "--json"))["steps"]
    assert step["tensors"]["x"]["values"] == ["nan", "inf", "-inf", 1.0]


def test_output_of_a_program_stays_text(command: Command, one_step: Callable[[str], None]) -> None:
    one_step("x = 1\nprint('\\x1b[2J\\x07[bold]x[/nope] \\u202e \\udcff')")
    status, out, _ = command("run", "1")
    assert status == 0
    assert all(character.isprintable() or character == "\n" for character in out)
    assert "[bold]x[/nope]" in out
    (step,) = document(command("run", "1", "--json"))["steps"]
    assert step["stdout"].startswith("\x1b[2J")


def test_output_that_has_ascii_only(
    command: Command, one_step: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    one_step("x = torch.zeros(2, 2)\nprint('Ω 漢')")
    for arguments in (("run", "1"), ("run", "1", "--json"), ("list",)):
        out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            assert command(*arguments)[0] == 0
        out.seek(0)
        sent = out.read()
        assert sent.isascii()
        if arguments[0] == "run":
            assert "\\u03a9 \\u6f22" in sent


def test_run_that_fails(command: Command, one_step: Callable[[str], None]) -> None:
    one_step("print('before')\n\nx = 1 / 0")
    status, out, err = command("run", "1")
    assert (status, err) == (1, "")
    assert "This step did not come to its end (line 3): ZeroDivisionError: division by zero" in out
    (step,) = document(command("run", "1", "--json"), status=1)["steps"]
    assert step["error"] == {"kind": "error", "message": "ZeroDivisionError: division by zero", "line": 3}
    assert (step["stdout"], step["tensors"]) == ("before\n", {})


# What if -------------------------------------------------------------------------------------------------------------


def test_list_of_knobs(command: Command) -> None:
    for lesson in COURSE.lessons:
        status, out, err = command("list", "--knobs", lesson.id)
        assert (status, err) == (0, "")
        assert [line.split()[0] for line in out.splitlines()] == [knob.name for knob in lesson.knobs]
        data = document(command("list", "--knobs", str(lesson.number), "--json"))
        assert data["lesson"] == lesson.id
        for entry, knob in zip(data["knobs"], lesson.knobs, strict=True):
            assert (entry["name"], entry["kind"], entry["label"]) == (knob.name, knob.kind, knob.label)
            assert entry["places"]
            assert ("values" in entry) != ("least" in entry)
    assert "words          Your own words: 3 to 12 words  (is: Your journey starts with one step)" in "".join(
        command("list", "--knobs", "1")[1]
    )


def test_run_with_changes(command: Command) -> None:
    arguments = (
        "run", "causal-mask", "--step", "open-weights", "--set", "scaling=off", "--set", "temperature=2",
        "--words", "The cat sat, 猫", "--cell", "inputs[1,0]=0.9", "--cell", "open-weights:keys[0,0]=inf",
    )  # fmt: skip
    data = document(command(*arguments, "--json"))
    assert data["changes"]["knobs"] == {"scaling": "off", "temperature": 2, "words": "The cat sat , 猫"}
    assert data["changes"]["cells"] == [
        {"step": "setup", "name": "inputs", "index": [1, 0], "value": 0.9},
        {"step": "open-weights", "name": "keys", "index": [0, 0], "value": "inf"},
    ]
    (step,) = data["steps"]
    assert step["code"].endswith("weights = torch.softmax(scores / 2, dim=-1)\n")
    assert step["tensors"]["weights"]["rows"] == ["The", "cat", "sat", ",", "猫"]
    assert step["notes"] == []
    status, out, err = command(*arguments)
    assert (status, err) == (0, "")
    assert out.startswith(
        "With these changes:\n    Scaling of the scores: off\n    Temperature: 2\n"
        "    Your own words: The cat sat , 猫\n    inputs[1,0] = 0.9\n    keys[0,0] = inf\nThe code is what was run."
    )
    assert "weights = torch.softmax(scores / 2, dim=-1)" in out
    assert "weights  5×5" in out


def test_run_without_changes_says_nothing_of_them(command: Command) -> None:
    data = document(command("run", "1", "--step", "inputs", "--json"))
    assert data["changes"] == {"knobs": {}, "cells": []}
    assert "change" not in command("run", "1", "--step", "inputs")[1]


def test_change_that_could_not_be_made_is_told(command: Command) -> None:
    arguments = ("run", "causal-mask", "--step", "keep", "--cell", "keep[9,9]=1")
    (step,) = document(command(*arguments, "--json"), status=1)["steps"]
    sentence = "Your change keep[9,9] = 1 was not made: there is no such cell, since keep is 6 by 6."
    assert (step["error"], step["notes"]) == (None, [sentence])
    status, out, err = command(*arguments)
    assert (status, err) == (1, "")
    assert sentence in " ".join(out.split())


def test_refusal_of_the_module_is_told(command: Command) -> None:
    data = document(command("run", "multi-head-class", "--step", "run", "--set", "module-heads=3", "--json"), status=1)
    assert "cannot be split into num_heads=3 equal heads" in data["steps"][0]["error"]["message"]


# check ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["3.1", "3.2", "3.3"])
def test_check(command: Command, tmp_path: Path, number: str) -> None:
    exercise = task(number)
    file = tmp_path / "answer.py"
    for source, status, verdict in ((exercise.solution, 0, "passed"), (exercise.starter, 1, "failed")):
        file.write_text(source)
        for name in (number, exercise.exercise):
            data = document(command("check", name, file, "--json"), status)
            assert {
                "exercise", "passed", "verdict", "message", "line", "mistake", "checks", "seconds"
            } <= set(data)  # fmt: skip
            assert (data["exercise"], data["verdict"]) == (exercise.exercise, verdict)
            assert data["passed"] is (status == 0)
            assert type(data["message"]) is str
            if status == 0:
                assert (data["line"], data["mistake"]) == (None, None)
            assert type(data["seconds"]) is float
            assert [check["name"] for check in data["checks"]] == [check.name for check in exercise.checks]
            for check in data["checks"]:
                assert set(check) == {"name", "passed", "message"}
                assert (type(check["passed"]), type(check["message"])) == (bool, str)
        done = command("check", number, file)
        assert (done[0], done[2]) == (status, "")
        assert done[1].startswith(f"{'PASSED' if status == 0 else 'NOT PASSED'}  {exercise.exercise}\n")


@pytest.mark.parametrize(
    ("source", "verdict", "line"),
    [
        (b"", "failed", None),
        (b"# nothing\n", "failed", None),
        (b"import sys\nsys.exit(0)\n", "error", 2),
        (b"import os\nos._exit(0)\n", "crash", None),
        (b"def build(d_in, context_length)\n    return 1\n", "error", 1),
        (b"x = 1\ny = '\xff'\n", "error", 2),
        (b"x = 1\n\x00\n", "error", 2),
        (b"\xef\xbb\xbfraise ValueError\n", "error", 1),
        (b"import torch\ntorch.ones(10**10)\n", "memory", 2),
        (b"#" * (1024 * 1024 + 1), "error", None),
        (b"print('\\x1b[2J[/nope]')\nraise ValueError('\\x1b[2J[/nope]')\n", "error", 2),
    ],
)
def test_check_of_what_is_no_answer(command: Command, source: bytes, verdict: str, line: int | None) -> None:
    data = document(command("check", "3.2", "-", "--json", given=source), status=1)
    assert (data["verdict"], data["line"], data["passed"]) == (verdict, line, False)
    assert data["message"]
    assert not any(check["passed"] for check in data["checks"])
    status, out, err = command("check", "3.2", "-", given=source)
    assert (status, err) == (1, "")
    assert all(character.isprintable() or character == "\n" for character in out)


def test_check_from_standard_input(command: Command) -> None:
    exercise = task("3.2")
    assert command("check", "3.2", "-", given=exercise.solution.encode())[0] == 0


def test_check_is_kept_in_progress(command: Command) -> None:
    exercise = task("3.2")
    for source in (exercise.starter, exercise.solution, "x = '\udcff'"):
        command("check", "two-wide", "-", given=source.encode("utf-8", "surrogateescape"))
    progress = Progress.open()
    attempts = progress.attempts("two-wide")
    assert sorted(attempt.verdict for attempt in attempts) == ["error", "failed", "passed"]
    assert {exercise.starter, exercise.solution} < {attempt.code for attempt in attempts}
    assert progress.passed("two-wide")
    assert progress.state("stacked-heads", "two-wide") == "done"
    progress.close()
    # A wrong answer afterwards takes nothing away.
    command("check", "two-wide", "-", given=exercise.starter.encode())
    listed = listed_exercise(document(command("list", "--json")), "two-wide")
    assert (listed["state"], listed["passed"]) == ("done", True)


def test_mistakes_that_were_named_and_the_sentence_are_kept(command: Command) -> None:
    exercise = task("two-wide")
    data = document(command("check", "two-wide", "-", "--json", given=exercise.starter.encode()), 1)
    progress = Progress.open()
    [attempt] = progress.attempts("two-wide")
    progress.close()
    assert attempt.message == data["message"] != ""
    assert attempt.mistakes == tuple(item["id"] for item in data["mistakes"]) != ()


def test_check_with_a_seed_can_be_made_again(command: Command) -> None:
    given = b"def build(d_in, context_length):\n    return None\n"
    seeds = [
        document(command("check", "two-wide", "-", "--json", *seed, given=given), 1)["seed"]
        for seed in (("--seed", "7"), ("--seed", "7"), ())
    ]
    assert seeds[:2] == [7, 7]
    assert seeds[2] != 7
    status, out, err = command("check", "two-wide", "-", "--seed", "x", given=given)
    assert (status, out) == (2, "")
    assert "invalid int value: 'x'" in err


def test_check_without_a_seed_asks_for_none(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def check(self: Kept, exercise: ExerciseStep, source: str, seed: int | None = None) -> Judgement:
        asked.append(seed)
        return Judgement(exercise.exercise, "passed", "All checks pass.")

    monkeypatch.setattr(Kept, "check", check)
    assert command("check", "two-wide", "-", given=b"x = 1")[0] == 0
    assert command("check", "two-wide", "-", "--seed", "0", given=b"x = 1")[0] == 0
    assert asked == [None, 0]


def test_check_that_was_stopped_is_no_attempt(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = Judgement("two-wide", "error", "Stopped by you.", stopped=True)
    monkeypatch.setattr(Kept, "check", lambda *_: stopped)
    assert command("check", "two-wide", "-", given=b"x = 1")[0] == 1
    progress = Progress.open()
    assert progress.attempts("two-wide") == []
    progress.close()


def test_challenge_that_is_passed_in_the_shell_tests_out_of_the_lesson(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = next(each for each in COURSE.lessons if each.challenge)
    assert lesson.challenge is not None
    name, left = lesson.challenge.exercise, len(lesson.steps) - 1
    monkeypatch.setattr(Kept, "check", lambda *_: Judgement(name, "passed", "All checks pass."))
    status, out, _ = command("check", name, "-", given=b"x = 1")
    assert status == 0
    assert out.endswith(f"\nYou have tested out of this lesson: its other {left} steps are marked skipped.\n")
    progress = Progress.open()
    assert progress.state(lesson.id, lesson.challenge.id) == "done"
    assert {progress.state(lesson.id, step.id) for step in lesson.steps} == {"done", "skipped"}
    progress.close()
    # Once more, nothing else follows.
    assert "tested out" not in command("check", name, "-", given=b"x = 1")[1]


# check-all -----------------------------------------------------------------------------------------------------------


def test_check_all(command: Command) -> None:
    assert command("check-all") == (0, "You have not passed any exercise yet.\n", "")
    assert document(command("check-all", "--json")) == {"exercises": [], "gone": []}
    progress = Progress.open()
    wide = task("two-wide")
    same = task("same-numbers")
    progress.add_attempt("two-wide", "old", "passed")
    progress.add_attempt("two-wide", wide.solution, "passed")
    progress.add_attempt("two-wide", "later", "failed")
    progress.add_attempt("same-numbers", same.solution, "passed")
    progress.add_attempt("of-old", "x = 1", "passed")
    progress.add_attempt("never-passed", "x = 1", "failed")
    before = progress.export()
    progress.close()

    status, out, err = command("check-all")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert [(line.split()[0], line.split()[2:4]) for line in lines[:2]] == [
        ("passed", ["s", "same-numbers"]),
        ("passed", ["s", "two-wide"]),
    ]
    assert lines[2:] == [
        "gone                  of-old                   This exercise is not in the course any more.",
        "2 of 2 still pass.",
    ]
    data = document(command("check-all", "--json"))
    assert [(item["exercise"], item["verdict"]) for item in data["exercises"]] == [
        ("same-numbers", "passed"),
        ("two-wide", "passed"),
    ]
    assert data["gone"] == ["of-old"]

    progress = Progress.open()
    # It writes no attempts.
    assert progress.export() == before
    progress.add_attempt("same-numbers", "x = 1", "passed")
    progress.close()
    status, out, err = command("check-all")
    assert (status, err) == (1, "")
    assert out.startswith("not passed ")
    assert " " * 22 + "Your code does not define" in out
    assert out.endswith("\n1 of 2 still pass.\n")
    assert [item["passed"] for item in document(command("check-all", "--json"), 1)["exercises"]] == [False, True]


def test_check_all_without_what_is_still_in_the_course(command: Command) -> None:
    progress = Progress.open()
    progress.add_attempt("of-old", "x = 1", "passed")
    progress.close()
    status, out, err = command("check-all")
    assert (status, err) == (0, "")
    assert out.count("\n") == 1
    assert out.startswith("gone ")


def test_check_all_says_each_verdict_as_it_comes(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress.open()
    for name in ("same-numbers", "two-wide"):
        progress.add_attempt(name, "x", "passed")
    progress.close()
    seen: list[str] = []
    monkeypatch.setattr("tui.commands.output.print_now", lambda lines: seen.extend(lines))

    def check(self: Kept, exercise: ExerciseStep, source: str) -> Judgement:
        seen.append(f"check {exercise.exercise}")
        return Judgement(exercise.exercise, "passed", "All checks pass.", seconds=0.5)

    monkeypatch.setattr(Kept, "check", check)
    assert command("check-all")[0] == 0
    assert [line.split()[0] for line in seen] == ["check", "passed", "check", "passed"]


# history -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tried() -> None:
    """Two attempts at an exercise, code that was kept, and an attempt at another."""
    progress = Progress.open()
    progress.add_attempt("two-wide", "a = 1\nb = 2\n", "failed", "no-scale,softmax-rows", "Not so.")
    progress.archive("two-wide", "a = 3\n", "reset")
    progress.add_attempt("two-wide", "a = 1\nb = 3\n", "passed", "", "All checks pass.")
    progress.add_attempt("of-old", "\x1b[2J", "timeout", "", "Stopped after 5 seconds.")
    progress.close()


@pytest.mark.usefixtures("tried")
def test_history_of_all(command: Command) -> None:
    status, out, err = command("history")
    assert (status, err) == (0, "")
    assert [line[16:] for line in out.splitlines()] == [
        "  of-old    too long",
        "  two-wide  passed",
        "  two-wide  not passed  no-scale, softmax-rows",
    ]
    data = document(command("history", "--json"))
    assert [(item["exercise"], item["number"], item["verdict"], item["mistakes"]) for item in data["attempts"]] == [
        ("of-old", 1, "timeout", []),
        ("two-wide", 2, "passed", []),
        ("two-wide", 1, "failed", ["no-scale", "softmax-rows"]),
    ]


def test_history_of_nothing(command: Command) -> None:
    assert command("history") == (0, "Nothing has been checked yet.\n", "")
    assert document(command("history", "--json")) == {"attempts": []}
    status, out, err = command("history", "3.2")
    assert (status, err) == (0, "")
    assert out == "two-wide: Two heads, two numbers\nNothing has been checked yet.\n"


@pytest.mark.usefixtures("tried")
def test_history_of_one(command: Command) -> None:
    for name in ("3.2", "two-wide"):
        status, out, err = command("history", name)
        assert (status, err) == (0, "")
        assert out.startswith("two-wide: Two heads, two numbers\n\n1  ")
        assert "  not passed  no-scale, softmax-rows\nNot so.\n--- starter\n+++ attempt 1\n@@ " in out
        assert "\n\nk1  " in out
        assert "  kept on a reset\n--- attempt 1\n+++ kept k1\n@@ -1,2 +1 @@\n-a = 1\n-b = 2\n+a = 3\n" in out
        assert "--- attempt 1\n+++ attempt 2\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n" in out
        assert "\x1b" not in out
    data = document(command("history", "3.2", "--json"))
    assert set(data) == {"exercise", "attempts", "kept", "hints", "gave_up", "review"}
    assert [item["code"] for item in data["attempts"]] == ["a = 1\nb = 2\n", "a = 1\nb = 3\n"]
    assert data["attempts"][1]["diff"].endswith(" a = 1\n-b = 2\n+b = 3\n")
    assert [(item["number"], item["why"], item["code"]) for item in data["kept"]] == [("k1", "reset", "a = 3\n")]
    assert (data["hints"], data["gave_up"]) == (0, False)
    assert datetime.fromisoformat(data["review"]) > datetime.now(UTC)


@pytest.mark.usefixtures("tried")
def test_history_of_an_exercise_that_is_gone(command: Command) -> None:
    status, out, err = command("history", "of-old")
    assert (status, err) == (0, "")
    assert out.startswith("of-old: not in the course any more\n\n1  ")
    assert "--- nothing\n+++ attempt 1\n" in out
    assert "+\ufffd[2J\n" in out


@pytest.mark.usefixtures("tried")
def test_one_diff_and_one_code(command: Command) -> None:
    assert command("history", "3.2", "--diff", "2") == (
        0, "--- attempt 1\n+++ attempt 2\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n", ""
    )  # fmt: skip
    assert command("history", "3.2", "--show", "1") == (0, "a = 1\nb = 2\n", "")
    assert command("history", "3.2", "--show", "k1") == (0, "a = 3\n", "")


def test_code_is_shown_byte_for_byte(tmp_path: Path) -> None:
    code = "a = 1\r\nb = 'Ж\x1b[2J'  # no end of line"
    progress = Progress.open()
    progress.add_attempt("two-wide", code, "failed")
    progress.close()
    with (tmp_path / "code.py").open("wb") as file:
        done = subprocess.run(
            [*COMMAND, "history", "3.2", "--show", "1"], cwd=ROOT, stdout=file, timeout=60, check=False,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )  # fmt: skip
    assert done.returncode == 0
    assert (tmp_path / "code.py").read_bytes() == code.encode()


@pytest.mark.usefixtures("tried")
@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"ATTN_TUTOR_COLOR": "none"}, False)],
)
def test_diff_is_coloured_where_it_may_be(environ: dict[str, str], coloured: bool) -> None:
    master, slave = pty.openpty()
    command = [*COMMAND, "history", "3.2", "--diff", "2"]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environ}, stdout=slave) as running:
        os.close(slave)
        sent = read_all(master)
        assert running.wait(60) == 0
    os.close(master)
    assert ("\x1b[31m-b = 2\x1b[0m\r\n\x1b[32m+b = 3\x1b[0m\r\n" in sent) == coloured
    assert ("\x1b" in sent) == coloured


def test_code_on_a_terminal_moves_no_cursor() -> None:
    progress = Progress.open()
    progress.add_attempt("two-wide", "\x1b[2J", "failed")
    progress.close()
    master, slave = pty.openpty()
    with subprocess.Popen([*COMMAND, "history", "3.2", "--show", "1"], cwd=ROOT, stdout=slave) as running:
        os.close(slave)
        sent = read_all(master)
        assert running.wait(60) == 0
    os.close(master)
    assert sent == "\ufffd[2J\r\n"


# Wrong usage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "nothing"), f"there is no lesson 'nothing'. The lessons: {LESSONS}"),
        (("run", "99"), "there is no lesson '99'"),
        (("run", "1", "--step", "x"), "lesson 'one-query' has no step 'x'. Its steps: why, inputs, "),
        (("list", "--knobs", "nothing"), f"there is no lesson 'nothing'. The lessons: {LESSONS}"),
        (("run", "5", "--set", "heads=1"), "Lesson 'causal-mask' has no knob 'heads'. Its knobs: words, seed, d-out, "),
        (("run", "5", "--set", "seed"), "'seed' sets nothing: write NAME=VALUE. The knobs of 'causal-mask': words, "),
        (("run", "5", "--set", "diagonal=7"), "'diagonal' cannot be 7; it can be 0, 1 or 2."),
        (("run", "5", "--set", "mask=x"), "'x' is none of the choices of 'mask': on or off."),
        (("run", "5", "--words", "one"), "At least 3 words are needed here, and this has 1."),
        (("run", "9", "--words", "one two"), "Lesson 'weight-split' does not take other words."),
        (("run", "5", "--cell", "inputs"), "'inputs' is no change of a cell: write it like 'inputs[1,0]=0.9'"),
        (("run", "5", "--cell", "foo[0]=1"), "There is no variable 'foo'. There are: inputs, "),
        (("run", "5", "--cell", "x:inputs[0]=1"), "Lesson 'causal-mask' has no step 'x'. Its steps: setup, why, "),
        (("check", "9.9", "-"), f"there is no exercise '9.9'. The exercises: {EXERCISES}"),
        (("check", "", "-"), "there is no exercise ''"),
        (("check", "3.2", "nowhere.py"), "cannot read nowhere.py: No such file or directory"),
        (("check", "3.2", "/"), "cannot read /: Is a directory"),
        (("check-all", "3.2"), "unrecognized arguments: 3.2"),
        (("history", "9.9"), f"there is no exercise '9.9'. The exercises: {EXERCISES}"),
        (("history", "3.2", "--show", "1"), "there is no attempt '1' at 'two-wide'. The attempts: none"),
        (("history", "3.2", "--diff", ""), "there is no attempt '' at 'two-wide'"),
        (("history", "--show", "1"), "--diff and --show need an EXERCISE"),
        (("history", "3.2", "--show", "1", "--json"), "not allowed with argument"),
        (("watch",), "the following arguments are required: EXERCISE"),
        (("watch", "9.9"), f"there is no exercise '9.9'. The exercises: {EXERCISES}"),
        (("watch", "3.2", "/"), "cannot make /: It is no ordinary file"),
        (("watch", "3.2", "/nowhere/file.py"), "cannot make /nowhere/file.py: No such file or directory"),
        (("export", "/nowhere/file"), "cannot write /nowhere/file: No such file or directory"),
        (("import", "nowhere.json"), "cannot read nowhere.json: No such file or directory"),
        (("run",), "the following arguments are required: LESSON"),
        (("check", "3.2"), "the following arguments are required: FILE"),
        (("fly",), "invalid choice: 'fly'"),
        (("--fly",), "unrecognized arguments: --fly"),
        (("list", "--json", "more"), "unrecognized arguments: more"),
    ],
)
def test_wrong_usage(command: Command, arguments: Sequence[str], sentence: str) -> None:
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_version_and_help(command: Command) -> None:
    assert command("--version") == (0, f"attn-tutor {cli.VERSION}\n", "")
    status, out, _ = command("--help")
    assert status == 0
    for name in ("list", "run", "explain", "check", "lint", "export", "import"):
        assert f"  {name}" in out


# explain -------------------------------------------------------------------------------------------------------------

SCORE = ("explain", "all-queries", "product", "scores", "1,2")


def test_explain_as_text(command: Command) -> None:
    status, out, err = command(*SCORE)
    assert (status, err) == (0, "")
    assert out.splitlines()[:5] == [
        "scores[1,2] = 1.4754   line 1 of 'product': inputs @ inputs.T",
        "  = inputs[1,:]·inputs[2,:]",
        "  = 0.55·0.57 + 0.87·0.85 + 0.66·0.64 = 1.4754",
        "    inputs[1,0] = 0.55   line 4 of the setup: 0.55",
        "      Written in the code.",
    ]
    # As deep as that without being asked, and a number each once.
    assert out.count("      Written in the code.") == 6
    assert max(map(len, out.splitlines())) <= 80
    assert command(*SCORE, "--depth", "1")[1].splitlines() == out.splitlines()[:3]
    assert command("explain", "all-queries", "product", "scores", "[1, 2]")[1] == out
    deep = command("explain", "all-queries", "context", "context", "1,0", "--depth", "4")[1]
    assert "            inputs[1,0] = 0.55" in deep


def test_explain_as_json(command: Command) -> None:
    data = document(command(*SCORE, "--json"))
    assert {"tensor", "index", "value", "op", "formula", "line", "operands"} <= set(data)
    assert (data["tensor"], data["index"], data["op"], data["line"]) == ("scores", [1, 2], "matmul", 1)
    assert data["value"] == pytest.approx(1.4754)
    assert data["formula"] == " + ".join(f"inputs[1,{place}] * inputs[2,{place}]" for place in range(3))
    assert [(item["tensor"], item["index"], item["operands"], item["more"]) for item in data["operands"]] == [
        ("inputs", [row, place], [], False) for place in range(3) for row in (1, 2)
    ]
    # All of it without --depth, as much as that with it.
    flat = document(command(*SCORE, "--json", "--depth", "1"))["operands"]
    assert [item["value"] for item in flat] == [item["value"] for item in data["operands"]]
    deep = document(command("explain", "all-queries", "context", "context", "1,0", "--json"))
    names = []
    while deep["operands"]:
        names.append(deep["tensor"])
        deep = deep["operands"][0]
    assert [*names, deep["tensor"]] == ["context", "weights", "scores", "inputs"]


def test_explain_numbers_that_json_does_not_have(command: Command) -> None:
    data = document(command("explain", "causal-mask", "minus-inf", "masked", "0,1", "--json", "--depth", "1"))
    assert (data["value"], data["op"]) == ("-inf", "masked_fill")


def test_explain_any_expression(command: Command) -> None:
    data = document(command("explain", "all-queries", "product", "scores[1].sum()", "--json", "--depth", "1"))
    assert (data["tensor"], data["index"]) == ("scores[1].sum()", [])
    assert data["value"] == pytest.approx(6.5617, abs=1e-4)


def test_explain_a_file_of_ones_own(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import torch\na = torch.tensor([1.0, 2.0])\nb = a.exp()\n")
    status, out, err = command("explain", file, "-", "b", "1")
    assert (status, err) == (0, "")
    assert out.splitlines()[:3] == [
        "b[1] = 7.3891   line 3 of 'program': a.exp()",
        "  = exp(a[1])",
        "  = exp(2) ≈ 7.3891",
    ]
    file.write_text("import torch\nx = torch.zeros(1)\nraise ValueError('mine')\n")
    status, out, err = command("explain", file, "-", "x", "0")
    assert (status, out) == (1, "")
    assert "ValueError: mine" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("9999", "product", "scores", "0"), "there is no lesson '9999'"),
        (
            ("all-queries", "nowhere", "scores", "0"),
            "lesson 'all-queries' runs nothing in a step 'nowhere'. Its steps: loops",
        ),
        (("all-queries", "remember", "scores", "0"), "runs nothing in a step 'remember'"),
        (("all-queries", "product", "scores", "one"), "'one' is not an index such as 1,0"),
        (("all-queries", "product", "scores", "9,9"), "scores has the shape (6, 6): there is no cell [9, 9]"),
        (("all-queries", "product", "scores"), "scores has the shape (6, 6): there is no cell []"),
        (("all-queries", "product", "scores", "[-1,0]"), "there is no cell [-1, 0]"),
        (("all-queries", "product", "x = 1", "0"), "this is not Python"),
        (("all-queries", "product", "scores", "0,0", "--depth", "0"), "--depth must be 1 or more"),
        (("all-queries", "product", "scores", "0,0", "--depth", "x"), "invalid int value: 'x'"),
        (("all-queries", "product"), "the following arguments are required: TENSOR"),
        (("nowhere.py", "-", "x", "0"), "cannot read nowhere.py: No such file or directory"),
    ],
)
def test_explain_what_is_not_there(command: Command, arguments: Sequence[str], sentence: str) -> None:
    status, out, err = command("explain", *arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_explain_a_name_that_there_is_not(command: Command) -> None:
    """Only the code that runs knows its names, so it is no wrong usage."""
    status, out, err = command("explain", "all-queries", "product", "nothing", "0")
    assert (status, out) == (1, "")
    assert "name 'nothing' is not defined" in err


def test_explain_without_a_worker_to_the_end(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "follow", lambda *_: None)
    status, out, err = command(*SCORE)
    assert (status, out, err) == (3, "", "attn-tutor: the worker ended before it had explained everything\n")


# Our own failures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("run", "1"), ("run", "1", "--json"), ("check", "3.2", "-")])
def test_worker_that_cannot_start(command: Command, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]) -> None:
    def fail(*_: object, **__: object) -> None:
        raise WorkerError("PyTorch could not be loaded: ImportError: libgomp.so.1.")

    monkeypatch.setattr(Kept, "run", fail)
    monkeypatch.setattr(Kept, "check", fail)
    status, out, err = command(*arguments, given=b"x = 1")
    assert (status, out) == (3, "")
    assert err == "attn-tutor: PyTorch could not be loaded: ImportError: libgomp.so.1.\n"


def test_mistake_of_ours_is_not_called_a_wrong_answer(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(Kept, "check", fail)
    status, out, err = command("check", "3.2", "-", given=b"x = 1")
    assert (status, out) == (3, "")
    assert "RuntimeError: ours" in err


def test_course_that_cannot_be_loaded(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "01-bad").mkdir()
    monkeypatch.setattr("lessons.reading.loader.load_course", lambda: load_course(tmp_path))
    status, out, err = command("list")
    assert (status, out) == (3, "")
    assert err == f"{tmp_path}/01-bad/lesson.yaml:1:1: this file is missing. Every lesson folder needs a lesson.yaml.\n"


def test_interrupt(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Kept, "run", interrupt)
    assert command("run", "1")[0] == 130


# lint ----------------------------------------------------------------------------------------------------------------


def test_lint_of_the_course(command: Command) -> None:
    status, out, err = command("lint", "--quick")
    steps = sum(len(lesson.steps) for lesson in COURSE.lessons)
    assert (status, err) == (0, "")
    assert out.startswith(f"{len(COURSE.lessons)} lessons, {steps} steps, ")
    assert out.endswith(" words: no findings\n")


def test_lint_of_a_folder(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "01-first"
    folder.mkdir()
    (folder / "lesson.yaml").write_text("title: T\ngaol: G\nsteps: []\n")
    status, out, err = command("lint", tmp_path, "--quick")
    assert (status, err) == (1, "3 findings\n")
    assert [line.split(": ")[0] for line in out.splitlines()] == [
        f"{folder}/lesson.yaml:{place}" for place in ("1:1", "2:1", "3:8")
    ]
    (folder / "lesson.yaml").unlink()
    assert command("lint", tmp_path, "--quick")[::2] == (1, "1 finding\n")
    assert command("lint", tmp_path / "nowhere", "--quick")[0] == 1


# export and import ---------------------------------------------------------------------------------------------------


def test_progress_goes_out_and_comes_in(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress.open()
    progress.set_state("one-query", "why", "done")
    progress.save_draft("two-wide", "def build():\n    pass  # Ω\n")
    progress.close()
    status, out, err = command("export", "-")
    assert (status, err) == (0, "")
    file = tmp_path / "progress.json"
    assert command("export", file) == (0, "", "")
    assert file.read_text(encoding="utf-8") == out

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert listed_lesson(document(command("list", "--json")), "one-query")["steps"][0]["state"] == "new"
    assert command("import", file) == (0, "", "")
    assert listed_lesson(document(command("list", "--json")), "one-query")["steps"][0]["state"] == "done"
    assert command("import", "-", given=out.encode()) == (0, "", "")
    progress = Progress.open()
    assert progress.draft("two-wide") == "def build():\n    pass  # Ω\n"
    progress.close()


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"{}", b'{"format": "other"}', b"\xff\xfe\xff", b"[" * 100_000]
)
def test_import_of_something_else(command: Command, data: bytes) -> None:
    status, out, err = command("import", "-", given=data)
    assert (status, out) == (2, "")
    assert err.startswith("attn-tutor: - is not an export of attn-tutor (")
    assert "Traceback" not in err


def test_progress_that_cannot_be_saved_is_told(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    exercise = task("3.2")
    status, out, err = command("check", "3.2", "-", "--json", given=exercise.solution.encode())
    assert status == 0
    assert json.loads(out)["passed"] is True
    assert err.startswith("attn-tutor: ")


# As a process --------------------------------------------------------------------------------------------------------


def test_without_a_terminal_the_course_is_printed() -> None:
    done = process()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "attn-tutor: understand attention by touching every number."
    assert lines[2] == "(This is the linear form: there is no terminal to draw on.)"
    for lesson in COURSE.lessons:
        assert any(lesson.id in line and lesson.title in line for line in lines[: 4 + len(COURSE.lessons)])
    assert f"Lesson {COURSE.lessons[0].number}: {COURSE.lessons[0].title}" in lines
    assert "\x1b" not in done.stdout


def test_dumb_terminal_gets_the_linear_form() -> None:
    master, slave = pty.openpty()
    environ = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(COMMAND, cwd=ROOT, env=environ, stdin=slave, stdout=slave, stderr=slave) as running:
        os.close(slave)
        sent = read_all(master)
        assert running.wait(60) == 0
    os.close(master)
    assert f"Lesson {COURSE.lessons[0].number}: {COURSE.lessons[0].title}" in sent
    assert "\x1b" not in sent


def read_all(fd: int, seconds: float = 60) -> str:
    """Everything that comes through a terminal until it is closed."""
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


def test_learner_in_the_middle_gets_their_lesson(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    progress = Progress.open()
    progress.set_position("dropout", "ones")
    progress.close()
    status, out, _ = command()
    assert status == 0
    assert "Lesson 6: Dropout on the weights" in out
    assert all(f"Lesson {lesson.number}: " not in out for lesson in COURSE.lessons if lesson.id != "dropout")


def test_reader_that_leaves_early() -> None:
    with subprocess.Popen(
        [*COMMAND, "run", "one-query"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("list",), ("list", "--json"), ("lint", "--quick"), ("export", "-")])
def test_full_disk_is_our_failure(arguments: Sequence[str], unbuffered: str) -> None:
    """Whether it is told of a line or, of what is in a buffer, at the end."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}, stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "attn-tutor: No space left on device\n")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("check 3.2 - <&-", "standard input is closed"),
        ("import - <&-", "standard input is closed"),
        ("list >&-", "standard output is closed"),
    ],
)
def test_stream_that_is_closed(line: str, sentence: str) -> None:
    shell = f'exec "{sys.executable}" -m tui {line}'
    done = subprocess.run(["/bin/sh", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"attn-tutor: {sentence}\n")


def test_torch_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no such thing')")
    done = process("run", "1", environ={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 3
    assert done.stderr == "attn-tutor: PyTorch could not be loaded: ImportError: no such thing\n"


def test_check_as_a_process() -> None:
    exercise = task("3.2")
    done = process("check", "3.2", "-", "--json", given=exercise.solution)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["verdict"] == "passed"
