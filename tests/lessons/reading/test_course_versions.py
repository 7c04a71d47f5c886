"""Versions of the lesson format: an older course is read as if it were written today, a newer one is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attn_tutor.lessons.format import lesson
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.reading import course_versions
from attn_tutor.lessons.reading.course_versions import UPGRADES, Upgrade
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.loader import load_course, load_lesson
from tests.small_course import DESCRIPTION, EXERCISE, FILES, LESSON, MISTAKES, write_course


def test_every_older_version_can_be_read() -> None:
    assert set(UPGRADES) == set(range(1, lesson.FORMAT))


def rename(old: str, new: str, data: dict[str, Any]) -> None:
    if old in data:
        data[new] = data.pop(old)


def of_steps(data: dict[str, Any]) -> None:
    for step in data["steps"]:
        rename("text", "prose", step)


@pytest.fixture
def newer_tutor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a tutor that writes version 3, in which authors, goals and reasons have other names than in version 1."""
    monkeypatch.setattr(lesson, "FORMAT", 3)
    names = Upgrade(
        course=lambda data: rename("writers", "authors", data),
        lesson=lambda data: rename("aim", "goal", data),
        mistake=lambda data: rename("reason", "why", data),
    )
    monkeypatch.setattr(course_versions, "UPGRADES", {1: names, 2: Upgrade(lesson=of_steps)})


OLD = {
    "course": DESCRIPTION.replace("authors", "writers"),
    "lesson": LESSON.replace("goal:", "aim:").replace("prose:", "text:"),
    "doubling": EXERCISE.replace("prose:", "text:"),
    "rows": MISTAKES.replace("why:", "reason:"),
}
"""The course in version 1 of that tutor's format."""


@pytest.mark.usefixtures("newer_tutor")
def test_a_course_of_an_older_version_is_the_same_course(tmp_path: Path) -> None:
    old = load_course(write_course(tmp_path / "old", **OLD))
    new = load_course(write_course(tmp_path / "new", course=DESCRIPTION.replace("format: 1", "format: 3")))
    assert old.description is not None
    assert old.description.authors == ("A. Teacher",)
    [lesson], [same] = old.lessons, new.lessons
    assert lesson.model_copy(update={"folder": same.folder}) == same
    exercise = lesson.step("doubling")
    assert isinstance(exercise, ExerciseStep)
    assert exercise.mistakes[0].why == "A square is no double."
    assert load_lesson(Path(lesson.folder)) == lesson


@pytest.mark.usefixtures("newer_tutor")
def test_findings_of_an_older_version_have_positions(tmp_path: Path) -> None:
    text = OLD["lesson"].replace("title: A table", "titel: A table")
    with pytest.raises(LessonError) as refused:
        load_course(write_course(tmp_path / "old", **(OLD | {"lesson": text})))
    assert any("01-first-row/lesson.yaml:7:5: 'titel' is not known" in str(one) for one in refused.value.findings)


@pytest.mark.parametrize("change", ["format: 2", "format: 1000000000000000000000"])
def test_a_newer_course_is_refused_before_anything_else_is_looked_at(change: str, tmp_path: Path) -> None:
    newer = DESCRIPTION.replace("format: 1", change) + "a new field: of that version\n"
    folder = write_course(tmp_path / "newer", course=newer, lesson="not: a lesson\n")
    with pytest.raises(LessonError) as refused:
        load_course(folder)
    [found] = refused.value.findings
    number = change.split()[1]
    assert str(found) == (
        f"{folder}/course.yaml:4:9: this course is written in version {number} of the format, and this attn-tutor "
        "reads up to 1. Update attn-tutor."
    )


def test_lessons_without_a_description_are_of_the_newest_version(tmp_path: Path) -> None:
    folder = write_course(tmp_path / "course")
    (folder / "course.yaml").unlink()
    course = load_course(folder)
    assert (course.description, len(course.lessons)) == (None, 1)
    assert set(FILES) > {"course.yaml"}
