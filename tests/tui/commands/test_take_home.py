"""The verb `export` with what a learner takes home."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

from attn_tutor.lessons.learner.progress import Progress
from tests.course import COURSE
from tests.lessons.takehome.learners import solutions
from tests.tui.commands.command_line import Command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run the command in an empty folder."""
    found = tmp_path / "here"
    found.mkdir()
    monkeypatch.chdir(found)
    return found


def pass_exercises(*exercises: str) -> None:
    """Record that the learner has passed exercises with the model answers."""
    progress = Progress.open()
    for exercise, code in solutions(*exercises).items():
        progress.add_attempt(exercise, "wrong", "failed")
        progress.add_attempt(exercise, code, "passed")
    progress.close()


def test_a_module_is_written_and_never_over_another_file(command: Command, folder: Path) -> None:
    pass_exercises("one-query", "all-queries")
    status, out, err = command("export", "module")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "2 answers of yours are in it, and each passes its exercise as it stands there.",
        "Its own check compares 2 with the course's code: all numbers are the same.",
        "Written: my_attention.py",
    ]
    text = (folder / "my_attention.py").read_text(encoding="utf-8")
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == ["attend", "attend_all_queries", "_check"]

    status, out, err = command("export", "module")
    assert (status, out) == (2, "")
    assert err == "attn-tutor: my_attention.py is there already. With --force it is replaced.\n"
    status, out, _ = command("export", "module", "my_attention.py", "--force", "--lesson", "2")
    assert (status, out.splitlines()[0]) == (
        0,
        "1 answer of yours is in it, and passes its exercise as it stands there.",
    )
    status, out, err = command("export", "module", "-", "--lesson", "all-queries")
    assert (status, out) == (0, (folder / "my_attention.py").read_text(encoding="utf-8"))
    assert "Written" not in err


def test_without_answers_nothing_is_written(command: Command, folder: Path) -> None:
    status, out, err = command("export", "module")
    assert (status, out) == (3, "")
    assert err == "attn-tutor: You have not passed an exercise in code yet, so there is nothing to write.\n"
    assert list(folder.iterdir()) == []


def test_progress_is_exported_as_before_by_the_name_of_a_file(command: Command, folder: Path) -> None:
    for arguments in (["mine.json"], ["progress", "named.json"], ["./module"], ["progress"]):
        assert command("export", *arguments) == (0, "", "")
        assert json.loads((folder / arguments[-1]).read_text(encoding="utf-8"))["format"] == "attn-tutor progress"
    assert command("export", "mine.json") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pdf", "x.pdf"], "'pdf' cannot be exported. These can: progress, "),
        (["progress", "a", "b"], "cannot be exported"),
        (["module", "a", "b"], "Name one file for it. 'b' is one too many."),
        (["module", "--lesson", "99"], "There is no lesson '99'."),
        (["mine.json", "--lesson", "1"], "Progress is exported as a whole, without --lesson."),
        (["mine.json", "--all"], "Progress is what you did, and always exported as a whole, without --all."),
        (["module", "--all"], "--all is not for it."),
        (["html", "--step", "why"], "--step and --tensor are for: attn-tutor export matrix"),
        (["module", "no/such/file"], "no/such/file cannot be written: there is no such folder."),
        (["module", "."], ". is a folder. Name a file in it."),
        ([], "the following arguments are required: FILE"),
    ],
)
def test_wrong_usage_of_export(command: Command, folder: Path, arguments: list[str], sentence: str) -> None:
    pass_exercises("all-scores")
    status, out, err = command("export", *arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert os.listdir(folder) == []


def test_a_document_of_what_was_read_is_written(command: Command, folder: Path) -> None:
    status, out, err = command("export", "markdown")
    assert (status, out) == (3, "")
    assert err == "attn-tutor: You have not read any of it yet. With --all, the whole course is written.\n"
    progress = Progress.open()
    progress.visit("all-queries", "why")
    progress.visit("all-queries", "product")
    progress.close()
    status, out, err = command("export", "markdown")
    assert (status, err) == (0, "")
    assert out.splitlines() == ["Lessons in it: 1. Steps: 2.", "Written: my_attention.md"]
    text = (folder / "my_attention.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("###")] == [
        "### Step 1: One row of the table is filled",
        "### Step 5: One product instead of two loops",
    ]
    status, out, _ = command("export", "markdown", "-", "--all", "--lesson", "2")
    assert status == 0
    assert out.count("\n### ") == len(COURSE.lesson("2").steps)


WHICH = ("--lesson", "2", "--step", "weights", "--tensor")


def test_a_matrix_is_written_as_its_file_ends(command: Command, folder: Path) -> None:
    for name in ("w.csv", "w.txt", "w.SVG"):
        assert command("export", "matrix", name, *WHICH, "weights") == (0, f"Written: {name}\n", "")
    table = (folder / "w.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == "query,Your,journey,starts,with,one,step"
    assert len(table) == 7
    assert (folder / "w.txt").read_text(encoding="utf-8").startswith("weights  6×6")
    assert (folder / "w.SVG").read_text(encoding="utf-8").startswith("<svg ")
    status, out, err = command("export", "matrix", "-", *WHICH, "weights[0].sum()")
    assert (status, err) == (0, "")
    assert "1.0000" in out
    for arguments, status, sentence in (
        (("w.csv", *WHICH, "weights"), 2, "w.csv is there already."),
        (("w.png", *WHICH, "weights"), 2, "w.png needs one of these endings: .txt, .csv, .svg"),
        (("x.csv", "--lesson", "2"), 2, "Say which matrix:"),
        (("x.csv", *WHICH, "nothing"), 3, "nothing"),
        (("x.csv", "--lesson", "2", "--step", "no", "--tensor", "x"), 2, "has no step 'no' that runs code"),
        (("x.csv", *WHICH, "torch.zeros(99, 99)"), 3, "at most 4096 are written"),
        (("x.csv", *WHICH, "x ="), 2, "x ="),
    ):
        found, out, err = command("export", "matrix", *arguments)
        assert (found, out) == (status, ""), err
        assert sentence in err
    assert sorted(os.listdir(folder)) == ["w.SVG", "w.csv", "w.txt"]


def test_progress_replaces_its_own_files_and_no_others(command: Command, folder: Path) -> None:
    essay, empty = folder / "essay.json", folder / "empty.json"
    essay.write_text("my work", encoding="utf-8")
    empty.touch()
    status, out, err = command("export", "essay.json")
    assert (status, out) == (2, "")
    assert err == "attn-tutor: essay.json is there already. With --force it is replaced.\n"
    assert essay.read_text(encoding="utf-8") == "my work"
    for arguments in (["empty.json"], ["empty.json"], ["essay.json", "--force"], ["essay.json"]):
        assert command("export", *arguments) == (0, "", "")
    assert json.loads(essay.read_text(encoding="utf-8"))["format"] == "attn-tutor progress"
    status, _, err = command("export", "no\x1b[31m/such")
    assert status == 2
    assert err.removesuffix("\n").isprintable()
