"""The verb `report`: a learner's own progress, one file, several files, and files that are none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from attn_tutor.lessons.learner.progress import Progress
from tests.course import COURSE, use_course
from tests.tui.commands.command_line import Command, document


@pytest.fixture(autouse=True)
def course(monkeypatch: pytest.MonkeyPatch) -> None:
    use_course(monkeypatch, COURSE)


def save(file: Path, verdict: str = "failed") -> Path:
    progress = Progress(None)
    progress.visit("one-query", "why")
    progress.add_attempt("two-wide", "SECRET = 1", "failed", "", "SECRET is wrong")
    progress.add_attempt("two-wide", "SECRET = 2", verdict)  # type: ignore[arg-type]
    file.write_text(json.dumps(progress.export()), encoding="utf-8")
    return file


def test_a_class_as_json(command: Command, tmp_path: Path) -> None:
    files = [save(tmp_path / "ada.json"), save(tmp_path / "bob.json", "passed")]
    done = command("report", *files, files[0], "--json")
    data = document(done)
    assert [learner["name"] for learner in data["learners"]] == ["ada", "bob"]
    assert [(each["exercise"], each["stopped"], each["tries_to_pass"]) for each in data["exercises"]] == [
        ("two-wide", 1, 2)
    ]
    bob = data["learners"][1]
    assert (bob["lesson"], bob["step"], bob["passed"], data["refused"]) == ("one-query", "why", 1, [])
    assert bob["exercises"][0]["tries_to_pass"] == 2
    assert bob["questions"] == {"answered": 0, "right_at_first": 0}
    # Neither code nor what was said about it goes to the teacher.
    assert "SECRET" not in done[1]
    assert "SECRET" not in command("report", *files)[1]


def test_a_learner_reads_their_own_report(command: Command) -> None:
    progress = Progress.open()
    progress.add_attempt("two-wide", "code", "passed")
    progress.close()
    status, out, err = command("report")
    assert (status, err) == (0, "")
    assert "Two heads, two numbers  passed at once" in out
    assert document(command("report", "--json"))["learners"][0]["name"] == ""


def test_files_that_are_no_progress_are_told_and_the_others_reported(command: Command, tmp_path: Path) -> None:
    pipe, text = tmp_path / "pipe", tmp_path / "bad\x1b[2J.json"
    os.mkfifo(pipe)
    text.write_text("{}", encoding="utf-8")
    nowhere, ada = tmp_path / "nowhere", save(tmp_path / "ada.json")
    status, out, err = command("report", pipe, text, nowhere, ada)
    assert status == 2
    assert out.startswith("ada: from ")
    assert err.splitlines() == [
        f"attn-tutor: {pipe} is no ordinary file.",
        f"attn-tutor: {tmp_path}/bad\ufffd[2J.json is left out. This is not progress that attn-tutor exported.",
        f"attn-tutor: {nowhere} cannot be read: No such file or directory.",
    ]
    assert command("report", "-", given=ada.read_bytes())[0] == 0
    assert command("report", nowhere)[:2] == (2, "")
