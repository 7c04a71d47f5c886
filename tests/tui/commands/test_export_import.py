"""The verbs `export` and `import`: progress is written to a file and merged from it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.tui.commands.files import read_code
from tests.tui.commands.command_line import Command, document, listed_lesson


def test_exported_progress_can_be_imported(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_import_of_a_file_that_is_not_an_export(command: Command, data: bytes) -> None:
    status, out, err = command("import", "-", given=data)
    assert (status, out) == (2, "")
    assert err == "attn-tutor: Standard input cannot be imported. This is not progress that attn-tutor exported.\n"


@pytest.mark.parametrize("verb", [("import",), ("check", "3.1"), ("explain",)], ids=lambda verb: str(verb[0]))
def test_a_pipe_that_nobody_writes_to_is_refused(command: Command, tmp_path: Path, verb: tuple[str, ...]) -> None:
    """Also behind a link; a pipe that the shell has opened is read."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.py").symlink_to("pipe")
    file = tmp_path / "link.py"
    rest = ("-", "x", "0") if verb == ("explain",) else ()
    assert command(*verb, file, *rest) == (
        2,
        "",
        f"attn-tutor: {file} is a pipe. Name a file, or - for standard input.\n",
    )


def test_nothing_is_exported_to_a_pipe_that_nobody_reads(command: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert command("export", pipe) == (
        2,
        "",
        f"attn-tutor: {pipe} is a pipe. Name a file, or - for standard output.\n",
    )


def test_a_name_of_a_file_is_shown_without_control_characters(command: Command, tmp_path: Path) -> None:
    """They would be commands for the terminal, or further lines."""
    status, _, err = command("import", tmp_path / "a\nb\x1b]0;title\a")
    assert status == 2
    assert err.removesuffix("\n").isprintable()


@pytest.mark.skipif(sys.platform != "linux", reason="names pipes as Linux does")
def test_a_pipe_that_a_shell_has_opened_is_read() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"x = 1")
    os.close(writer)
    assert read_code(f"/proc/self/fd/{reader}") == "x = 1"
    os.close(reader)
