"""Fixtures for tests of the verbs: a warm session, and the command in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.reading import folders
from attn_tutor.lessons.reading.course_texts import Catalog
from attn_tutor.tui import cli
from attn_tutor.tui.commands.verbs import list_texts
from tests.course import use_course
from tests.tui.commands.command_line import Command, Done, WarmSession


@pytest.fixture
def command(session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command in this process, with text for its standard input."""

    def run(*arguments: str | Path, given: bytes = b"") -> Done:
        # A class that derives from Session has to be made before the function takes its place.
        import_module("attn_tutor.lessons.engine.programs.program_session")
        monkeypatch.setattr("attn_tutor.lessons.engine.session.Session", lambda: WarmSession(session))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capsys.readouterr()
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(cast(int, end.code))
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture(scope="session")
def texts_of_ours() -> tuple[Catalog, Catalog]:
    """Return the texts of the courses that ship and of the tutor, read once: that takes longer than most tests."""
    return list_texts.course_texts(folders.COURSE), list_texts.own_texts()


@pytest.fixture
def texts_read_once(monkeypatch: pytest.MonkeyPatch, texts_of_ours: tuple[Catalog, Catalog]) -> None:
    """Have the verbs say these texts, without reading their files again."""
    read, ours = list_texts.course_texts, [course.path.resolve() for course in folders.BUILT_IN]
    of_courses, of_tutor = texts_of_ours
    monkeypatch.setattr(
        list_texts, "course_texts", lambda folder: of_courses if folder.resolve() in ours else read(folder)
    )
    monkeypatch.setattr(list_texts, "own_texts", lambda: of_tutor)


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
