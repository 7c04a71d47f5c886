"""The verb `check`: its output and exit codes, and what it records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.results.result import Judgement
from tests.course import COURSE
from tests.tui.commands.command_line import Command, WarmSession, document, listed_exercise, task


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
def test_check_of_a_file_that_is_not_an_answer(command: Command, source: bytes, verdict: str, line: int | None) -> None:
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


def test_a_check_is_recorded_in_the_progress(command: Command) -> None:
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
    # A wrong answer afterwards does not undo that.
    command("check", "two-wide", "-", given=exercise.starter.encode())
    listed = listed_exercise(document(command("list", "--json")), "two-wide")
    assert (listed["state"], listed["passed"]) == ("done", True)


def test_named_mistakes_and_the_message_are_recorded(command: Command) -> None:
    exercise = task("two-wide")
    data = document(command("check", "two-wide", "-", "--json", given=exercise.starter.encode()), 1)
    progress = Progress.open()
    [attempt] = progress.attempts("two-wide")
    progress.close()
    assert attempt.message == data["message"] != ""
    assert attempt.mistakes == tuple(item["id"] for item in data["mistakes"]) != ()


def test_a_check_with_a_seed_is_repeatable(command: Command) -> None:
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


def test_a_check_without_a_seed_passes_none_on(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def check(self: WarmSession, exercise: ExerciseStep, source: str, seed: int | None = None) -> Judgement:
        asked.append(seed)
        return Judgement(exercise.exercise, "passed", "All checks pass.")

    monkeypatch.setattr(WarmSession, "check", check)
    assert command("check", "two-wide", "-", given=b"x = 1")[0] == 0
    assert command("check", "two-wide", "-", "--seed", "0", given=b"x = 1")[0] == 0
    assert asked == [None, 0]


def test_a_check_that_was_stopped_is_not_an_attempt(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = Judgement("two-wide", "error", "Stopped by you.", stopped=True)
    monkeypatch.setattr(WarmSession, "check", lambda *_: stopped)
    assert command("check", "two-wide", "-", given=b"x = 1")[0] == 1
    progress = Progress.open()
    assert progress.attempts("two-wide") == []
    progress.close()


def test_challenge_that_is_passed_in_the_shell_skips_nothing(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = next(each for each in COURSE.lessons if each.challenge)
    assert lesson.challenge is not None
    name = lesson.challenge.exercise
    monkeypatch.setattr(WarmSession, "check", lambda *_: Judgement(name, "passed", "All checks pass."))
    status, out, _ = command("check", name, "-", given=b"x = 1")
    assert status == 0
    assert "tested out" not in out
    progress = Progress.open()
    assert progress.states() == {(lesson.id, lesson.challenge.id): "done"}
    progress.close()


def test_progress_that_cannot_be_saved_is_reported(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    exercise = task("3.2")
    status, out, err = command("check", "3.2", "-", "--json", given=exercise.solution.encode())
    assert status == 0
    assert json.loads(out)["passed"] is True
    assert err.startswith("attn-tutor: ")
