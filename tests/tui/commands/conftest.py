"""Fixtures for tests of the verbs: a warm session, and the command in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest

from lessons.engine.session import Session
from lessons.format.lesson import Course, Lesson
from tests.course import use_course
from tests.tui.commands.command_line import Command, Done, WarmSession
from tui import cli


@pytest.fixture
def command(session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command in this process, with text for its standard input."""

    def run(*arguments: str | Path, given: bytes = b"") -> Done:
        # A class that derives from Session has to be made before the function takes its place.
        import_module("lessons.engine.programs.program_session")
        monkeypatch.setattr("lessons.engine.session.Session", lambda: WarmSession(session))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capsys.readouterr()
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(cast(int, end.code))
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def one_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that replaces the course by one lesson with one step of this code."""

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
        use_course(monkeypatch, course)

    return install
