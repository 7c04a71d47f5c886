"""The commands of the page for authors, typed one after another as a reader would."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.lessons.authoring.test_authoring_page import blocks, written
from tests.tui.commands.command_line import Command

PROVES = ["lint", "votes"]
"""What takes several seconds. Tests of the page and of skeletons prove the same course."""


def test_every_command_of_the_page(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [shlex.split(line) for text in blocks("sh") for line in text.splitlines()]
    assert all(words[0] == "attn-tutor" for words in commands)
    said = []
    for _, *arguments in commands:
        status, out, err = command(*arguments, *(["--quick"] if arguments == PROVES else []))
        assert (status, err) == (0, ""), arguments
        said.append(out)
        if arguments[0] == "new":
            # From here on, the reader has written what the page says.
            for name, text in written()[0].items():
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_text(text, encoding="utf-8")
    assert PROVES in (words[1:] for words in commands)
    joined = " ".join(" ".join(said).split())
    for shown in ("A table of numbers", "Two towns vote", "town 1 gave green 40 votes", "Write the division"):
        assert shown in joined
    assert "2 lessons, 9 steps, 2 exercises, 2 questions" in joined
    assert "Course: Votes" in joined
