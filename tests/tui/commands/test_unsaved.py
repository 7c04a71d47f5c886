"""What a command says when progress cannot be saved or read: no more than is so."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from attn_tutor.lessons.learner import exports, progress_file, rows_aside
from attn_tutor.lessons.learner.progress import Progress
from tests.tui.commands.command_line import Command, task


def fail_as_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    """A file with a right answer."""
    file = tmp_path / "answer.py"
    file.write_text(task("3.2").solution)
    return file


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The disk with the progress file is full; what is undone makes room again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress_file, "open_database", fail_as_full)
        yield patch


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another program holds the progress file, in which is something."""
    with closing(Progress.open()) as progress:
        progress.add_attempt("two-wide", "x", "passed")
    monkeypatch.setattr(progress_file, "PATIENCE", 0.01)
    with closing(sqlite3.connect(progress_file.default_path(), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def test_an_attempt_on_a_full_disk_is_there_at_the_next_start(
    command: Command, answer: Path, full: pytest.MonkeyPatch
) -> None:
    status, out, err = command("check", "3.2", answer)
    assert status == 0
    assert out.startswith("PASSED")
    [aside] = progress_file.default_path().parent.glob("unsaved-*.json")
    assert err.startswith("attn-tutor: Your progress is not saved, because the disk with ")
    assert err.endswith(f"Until then, what you do is kept in {aside}, from where attn-tutor takes it by itself.\n")
    full.undo()
    status, out, err = command("history", "--json")
    assert (status, err) == (0, "")
    assert [each["verdict"] for each in json.loads(out)["attempts"]] == ["passed"]
    assert not aside.exists()


def test_a_check_says_that_the_file_was_damaged(command: Command, answer: Path) -> None:
    path = progress_file.default_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * 10_000)
    status, _, err = command("check", "3.2", answer)
    assert status == 0
    assert err.startswith("attn-tutor: Your progress file was damaged.")


@pytest.mark.parametrize("verb", ["check", "watch"])
def test_an_attempt_that_can_be_kept_nowhere_is_a_failure(
    command: Command, answer: Path, full: pytest.MonkeyPatch, verb: str
) -> None:
    full.setattr(rows_aside, "write_whole", fail_as_full)
    full.setattr(exports, "write_whole", fail_as_full)
    status, out, err = command(verb, "3.2", answer, *(["--once"] if verb == "watch" else []))
    assert status == 3
    assert "PASSED" in out
    assert "It could not be kept anywhere else either, and is lost: No space left on device." in err


def test_an_attempt_without_a_home_directory_is_exported(
    command: Command, answer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Path:
        raise RuntimeError

    monkeypatch.setattr("attn_tutor.lessons.learner.progress.default_path", fail)
    status, _, err = command("check", "3.2", answer)
    [exported] = tmp_path.glob("attn-tutor-progress-*.json")
    assert status == 0
    assert f"run: attn-tutor import {exported}" in err
    assert json.loads(exported.read_text())["attempts"]


@pytest.mark.usefixtures("locked")
def test_what_is_not_imported_is_a_failure(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(exports.document({})))
    status, _, err = command("import", file)
    assert status == 3
    assert "keeps" in err
    assert err.endswith(" Nothing was imported.\n")


@pytest.mark.usefixtures("locked")
@pytest.mark.parametrize(
    "words", [("export", "-"), ("export", "html"), ("export", "module"), ("report",), ("history",), ("check-all",)]
)
def test_progress_that_cannot_be_read_is_not_said_to_be_empty(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))
    status, out, err = command(*words)
    assert (status, out) == (3, "")
    assert err.endswith(
        "Close your other sessions of attn-tutor. What is in it cannot be read either.\n"
    )  # fmt: skip
    assert sorted(os.listdir(tmp_path)) == before
