"""The verb `run`: a lesson as text and as JSON, with and without changes."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from attn_tutor.lessons.engine.run import Run
from attn_tutor.tui.commands.verbs import run_lesson
from tests.course import COURSE
from tests.lessons.course_runs import CourseRuns
from tests.tui.commands.command_line import Command, WarmSession, document


def test_run_as_json(command: Command) -> None:
    data = document(command("run", "one-query", "--json"))
    lesson = COURSE.lesson("one-query")
    assert data["lesson"] == "one-query"
    assert [step["id"] for step in data["steps"]] == [step.id for step in lesson.steps]
    for step in data["steps"]:
        assert {"id", "kind", "stdout", "error", "tensors"} <= set(step)
        assert step["kind"] in ("read", "run", "exercise", "choice", "predict", "point", "find", "experiment")
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
def test_run_of_every_lesson(command: Command, results: CourseRuns, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(WarmSession, "run", lambda *_: Run(list(results[name].values()), None))
    status, out, err = command("run", name)
    assert (status, err) == (0, "")
    lesson = COURSE.lesson(name)
    assert out.startswith(f"Lesson {lesson.number}: {lesson.title}\n")
    for number, step in enumerate(lesson.main_steps, 1):
        assert f"\nStep {number} of {len(lesson.main_steps)}: {step.title}  [{step.id}]\n" in out
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


def test_output_of_a_program_is_escaped(command: Command, one_step: Callable[[str], None]) -> None:
    one_step("x = 1\nprint('\\x1b[2J\\x07[bold]x[/nope] \\u202e \\udcff')")
    status, out, _ = command("run", "1")
    assert status == 0
    assert all(character.isprintable() or character == "\n" for character in out)
    assert "[bold]x[/nope]" in out
    (step,) = document(command("run", "1", "--json"))["steps"]
    assert step["stdout"].startswith("\x1b[2J")


def test_output_to_an_ascii_terminal(
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
    assert "This step stopped at line 3: ZeroDivisionError: division by zero" in out
    (step,) = document(command("run", "1", "--json"), status=1)["steps"]
    assert step["error"] == {"kind": "error", "message": "ZeroDivisionError: division by zero", "line": 3}
    assert (step["stdout"], step["tensors"]) == ("before\n", {})


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
        "    Your own words: The cat sat , 猫\n    inputs[1,0] = 0.9\n    keys[0,0] = inf\nThe code is shown as it ran,"
    )
    assert "weights = torch.softmax(scores / 2, dim=-1)" in out
    assert "weights  5×5" in out


def test_run_without_changes_does_not_mention_them(command: Command) -> None:
    data = document(command("run", "1", "--step", "inputs", "--json"))
    assert data["changes"] == {"knobs": {}, "cells": []}
    assert "change" not in command("run", "1", "--step", "inputs")[1]


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("keep[9,9]=1", "keep[9,9] = 1 was not made: keep has the shape (6, 6), so it has no such cell."),
        ("keep[0]=1", "keep[0] = 1 was not made: keep has the shape (6, 6), so it has no such cell."),
        ("inputs[0,0]=1e999", "'1e999' is too large for a number. Write inf if you mean infinity."),
        ("inputs[0,0]=-1e999", "'-1e999' is too large for a number. Write inf if you mean infinity."),
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_cell_that_cannot_be_changed_is_wrong_usage(
    command: Command, cell: str, sentence: str, form: list[str]
) -> None:
    """It is said before anything is printed, whatever step is asked for."""
    for step in (["--step", "keep"], []):
        status, out, err = command("run", "causal-mask", *step, "--cell", cell, *form)
        assert (status, out) == (2, "")
        assert sentence in err


def test_a_cell_that_does_not_exist_is_known_before_anything_runs(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lesson, "open_session", lambda: pytest.fail("a session was opened"))
    for cell in ("keep[9,9]=1", "zeroed:keep[0]=1"):
        status, out, err = command("run", "causal-mask", "--cell", cell)
        assert (status, out) == (2, "")
        assert "keep has the shape (6, 6), so it has no such cell." in err


def test_a_cell_too_large_for_its_tensor_is_refused(command: Command) -> None:
    status, out, err = command("run", "causal-mask", "--step", "keep", "--cell", "inputs[0,0]=1e39")
    assert (status, out) == (2, "")
    assert "inputs holds numbers up to 3.4e+38: write inf if you mean infinity" in err


def test_cell_that_is_no_number(command: Command) -> None:
    """It is meant, which the description says."""
    status, out, _ = command("run", "causal-mask", "--step", "keep", "--cell", "inputs[0,0]=nan")
    assert (status, out.splitlines()[1]) == (0, "    inputs[0,0] = nan (not a number)")


def test_a_refusal_by_the_module_is_reported(command: Command) -> None:
    data = document(command("run", "multi-head-class", "--step", "run", "--set", "module-heads=3", "--json"), status=1)
    assert "cannot be split into num_heads=3 equal heads" in data["steps"][0]["error"]["message"]
