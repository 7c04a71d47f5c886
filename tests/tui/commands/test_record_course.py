"""The verb `record`: results beside the lessons of somebody's course, which are shown until it has run."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.reading.loader import load_course
from tests import small_course
from tests.tui.commands.command_line import Command


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return small_course.write_course(tmp_path / "rows")


def recorded(course: Path) -> dict[str, str]:
    """Return what the steps that are recorded fill into their texts."""
    found = recorded_outputs.load(load_course(course).lessons[0])
    return {step: " ".join(result.text.values()) for step, result in found.items()}


def test_the_results_of_a_course_are_written_and_go_along_with_it(command: Command, course: Path, home: Path) -> None:
    assert recorded(course) == {}
    assert command("record", course) == (0, "first-row: 2 steps recorded\n", "")
    assert recorded(course) == {"table": "10", "remember": ""}
    assert command("courses", "add", course, "--yes")[0] == 0
    added = home / "xdg_data_home" / "attn-tutor" / "added-courses" / "rows"
    assert recorded(added) == recorded(course)


def test_a_lesson_that_does_not_run_is_not_recorded(command: Command, course: Path) -> None:
    lesson = course / "01-first-row" / "lesson.yaml"
    lesson.write_text(small_course.LESSON.replace("code: table", "code: tables"))
    status, out, err = command("record", course, "--lesson", "first-row")
    assert (status, out, recorded(course)) == (1, "", {})
    assert "NameError: name 'table' is not defined" in err
    assert err.endswith("Lesson 'first-row' was not recorded, because it does not run.\n")


def test_what_cannot_be_recorded_is_refused(command: Command, course: Path, tmp_path: Path) -> None:
    status, _, err = command("record", course, "--lesson", "rows")
    assert (status, err) == (2, "attn-tutor: There is no lesson 'rows'. The lessons are: first-row\n")
    status, _, err = command("record", tmp_path / "nowhere")
    assert (status, "there are no lessons here" in err) == (3, True)
    (course / "01-first-row" / "link.txt").symlink_to(course / "course.yaml")
    status, _, err = command("record", course)
    assert status == 3
    assert "The recordings are written, but the course cannot be shared." in err
