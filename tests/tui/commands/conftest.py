"""Fixtures for tests of the verbs: texts that are read once, and a course of one step."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.reading import folders
from attn_tutor.lessons.reading.course_texts import Catalog
from attn_tutor.tui.commands.verbs import list_texts
from tests.course import use_course


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
