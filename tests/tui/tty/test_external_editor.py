"""The learner's own editor: no code is lost, whatever the editor does."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from attn_tutor.tui.tty import external_editor

CODE = "def f():\n    return 1\n"


def run(act: Callable[[Path], int | None]) -> external_editor.Run:
    """Return an editor that does `act` to the file."""

    def ran(words: Sequence[str]) -> int:
        return act(Path(words[-1])) or 0

    return ran


def files_left(tmp_path: Path) -> list[Path]:
    return [path for path in tmp_path.rglob("*") if path.is_file() or path.is_fifo()]


def script(tmp_path: Path, body: str) -> list[str]:
    """Write a program that serves as an editor, and return its command line."""
    path = tmp_path / "editor with spaces.py"
    path.write_text(f"import os, sys, signal\npath = sys.argv[-1]\n{body}\n")
    return [sys.executable, str(path)]


def test_which_editor(tmp_path: Path) -> None:
    path = {"PATH": os.environ["PATH"]}
    assert external_editor.command({"VISUAL": "sh -c 'a b'", "EDITOR": "nano", **path}) == ["sh", "-c", "a b"]
    assert external_editor.command({"VISUAL": " ", "EDITOR": "sh", **path}) == ["sh"]
    for environ, says in (
        ({}, "set VISUAL or EDITOR"),
        ({"EDITOR": "no-such-editor -w"}, "EDITOR names an editor that cannot be found: no-such-editor"),
        ({"VISUAL": "sh 'x"}, "VISUAL cannot be read"),
    ):
        with pytest.raises(external_editor.EditorError, match=says):
            external_editor.command({**environ, **path})


def test_edited_code_is_read_back_and_the_file_removed(tmp_path: Path) -> None:
    def act(path: Path) -> None:
        assert path.name == "two-wide.py"
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.read_text() == CODE
        path.write_bytes(b"\xef\xbb\xbfx = '\xc3\xa9'\r\ny = 2\r\n")

    assert external_editor.edit(["e"], "two-wide", CODE, run(act)) == external_editor.EditOutcome("x = 'é'\ny = 2\n")
    assert files_left(tmp_path) == []


@pytest.mark.parametrize("added", ["", "\n"])
def test_unchanged_code(tmp_path: Path, added: str) -> None:
    edited = external_editor.edit(["e"], "x", "x = 1", run(lambda path: path.write_text(f"x = 1{added}") * 0))
    assert edited.code is None
    assert "Nothing was changed" in edited.message
    assert "code --wait" in edited.message
    assert files_left(tmp_path) == []


def test_an_editor_that_replaces_the_file(tmp_path: Path) -> None:
    def act(path: Path) -> None:
        other = path.with_suffix(".new")
        other.write_text("new")
        path.with_name("x.py~").write_text(CODE)
        other.replace(path)

    assert external_editor.edit(["e"], "x", CODE, run(act)).code == "new"
    assert files_left(tmp_path) == []


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("act", "status", "says"),
    [
        (b"half", 3, "ended with exit status 3. Your code here is as it was. What the editor wrote is kept in"),
        (b"half", -signal.SIGKILL, "was ended by the signal SIGKILL. Your code here is as it was. What the editor"),
        (b"\xff\xfe\x00", 0, "not UTF-8 text. Your code here is as it was. What the editor wrote is kept in"),
        (b"x\0", 0, "zero bytes"),
        (b"#" * (external_editor.LARGEST + 1), 0, "larger than 1024 KB"),
        (pipe, 0, "is not a file"),
    ],
)
def test_code_that_cannot_be_read_back_stays_in_the_file(
    tmp_path: Path, act: bytes | Callable[[Path], None], status: int, says: str
) -> None:
    def ran(path: Path) -> int:
        if callable(act):
            act(path)
        else:
            path.write_bytes(act)
        return status

    edited = external_editor.edit(["e"], "x", CODE, run(ran))
    assert edited.code is None
    assert says in edited.message
    [path] = files_left(tmp_path)
    assert str(path) in edited.message


@pytest.mark.parametrize("status", [0, 1, -signal.SIGKILL])
def test_an_empty_file_replaces_no_code(tmp_path: Path, status: int) -> None:
    """Many editors empty a file before they write it, and a full disk leaves it so."""

    def empty(path: Path) -> int:
        path.write_bytes(b"\n")
        return status

    edited = external_editor.edit(["e"], "x", CODE, run(empty))
    assert edited == external_editor.EditOutcome(None, "Your editor left an empty file. Your code here is as it was.")
    assert files_left(tmp_path) == []


def test_a_file_that_was_deleted(tmp_path: Path) -> None:
    edited = external_editor.edit(["e"], "x", CODE, run(lambda path: path.unlink()))
    assert edited == external_editor.EditOutcome(None, "Your editor left no file. Your code here is as it was.")
    assert list(tmp_path.glob("attn-tutor-*")) == []


def test_a_failure_without_a_change_leaves_nothing(tmp_path: Path) -> None:
    edited = external_editor.edit(["e"], "x", CODE, run(lambda path: 1))
    assert edited == external_editor.EditOutcome(
        None, "Your editor ended with exit status 1. Your code here is as it was."
    )
    assert files_left(tmp_path) == []


def test_without_a_folder_for_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert external_editor.edit(["e"], "x", CODE, run(lambda path: 0)).message.startswith("No file could be created")


def test_a_command_that_is_not_a_program(tmp_path: Path) -> None:
    edited = external_editor.edit([str(tmp_path)], "x", CODE)
    assert edited.code is None
    assert edited.message.startswith("Your editor could not be run: ")
    assert files_left(tmp_path) == []


def test_a_real_program(tmp_path: Path) -> None:
    words = script(tmp_path, "open(path, 'a').write('more')")
    assert external_editor.edit(words, "x", CODE) == external_editor.EditOutcome(f"{CODE}more")
    words = script(tmp_path, "os.kill(os.getpid(), signal.SIGTERM)")
    assert "the signal SIGTERM" in external_editor.edit(words, "x", CODE).message


def test_ctrl_c_is_for_the_editor(tmp_path: Path) -> None:
    """The signal reaches both; it may end the editor but not the tutor."""
    before = signal.getsignal(signal.SIGINT)
    words = script(
        tmp_path,
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\nassert signal.getsignal(signal.SIGQUIT) == signal.SIG_DFL\n"
        "os.kill(os.getppid(), signal.SIGINT)\nos.kill(os.getppid(), signal.SIGQUIT)\nopen(path, 'a').write('more')",
    )
    assert external_editor.edit(words, "x", CODE).code == f"{CODE}more"
    assert signal.getsignal(signal.SIGINT) is before
