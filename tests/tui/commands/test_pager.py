"""Long texts are shown in the learner's pager on a terminal, and nowhere else."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from attn_tutor.tui.commands import course_consent


class Stream:
    """A stream that may be a terminal."""

    encoding = "ascii"

    def __init__(self, terminal: bool) -> None:
        self.isatty = lambda: terminal


@pytest.mark.parametrize(
    ("stdin", "stdout", "command", "used"),
    [
        (True, True, "tee", True),
        (False, True, "tee", False),
        (True, False, "tee", False),
        (True, True, "no-such-program", False),
        (True, True, "false", False),
        (True, True, "'", False),
    ],
)
def test_only_on_a_terminal_with_a_pager(
    stdin: bool, stdout: bool, command: str, used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "paged"
    monkeypatch.setenv("PAGER", f"{command} {shlex.quote(str(file))}" if command == "tee" else command)
    monkeypatch.setattr(sys, "stdin", Stream(stdin))
    monkeypatch.setattr(sys, "stdout", Stream(stdout))
    assert course_consent.show_in_pager(["one", "zwölf"]) == used
    assert file.exists() == used
    if used:
        assert file.read_text() == "one\nzw\\xf6lf"
