"""The verbs `new` and `schema`: what they write and print, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attn_tutor.lessons.authoring import format_schema
from attn_tutor.tui.commands import verb_table
from tests.tui.commands.command_line import Command

COURSE = """\
Written:
  rows/course.yaml
  rows/01-first-lesson/lesson.yaml
  rows/01-first-lesson/exercises/first-lesson-total.yaml
  rows/.schema/ (what lets an editor complete and check the fields)

Next:
  attn-tutor preview rows/01-first-lesson/lesson.yaml  see it, and again after each save
  attn-tutor lint rows                                 find out what is wrong, and prove the exercises
  attn-tutor --course rows                             open it as a learner
"""

EXERCISE = """\
Written:
  exercises/more.yaml

Add this to the steps in lesson.yaml, where it belongs:
  - include: exercises/more.yaml

Next:
  attn-tutor preview exercises/more.yaml  see it, and again after each save
  attn-tutor lint ..                      find out what is wrong, and prove the exercises
  attn-tutor --course ..                  open it as a learner
"""


def test_a_course_a_lesson_and_an_exercise(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("new", "course", "rows") == (0, COURSE, "")
    status, out, _ = command("new", "lesson", "rows/Two columns")
    assert (status, out.splitlines()[1]) == (0, "  rows/02-two-columns/lesson.yaml")
    monkeypatch.chdir(tmp_path / "rows" / "02-two-columns")
    assert command("new", "exercise", "exercises/more") == (0, EXERCISE, "")


def test_nothing_is_written_over(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lesson = tmp_path / "rows" / "01-first-lesson" / "lesson.yaml"
    lesson.parent.mkdir(parents=True)
    lesson.write_text("mine")
    status, out, err = command("new", "course", "rows")
    assert (status, out) == (2, "")
    assert err == "attn-tutor: rows/01-first-lesson/lesson.yaml is there already. Nothing was written.\n"
    assert [path.name for path in (tmp_path / "rows").rglob("*") if path.is_file()] == ["lesson.yaml"]
    assert lesson.read_text() == "mine"
    assert command("new", "exercise", lesson / "below.yaml")[::2] == (
        2,
        f"attn-tutor: {lesson} is a file, and no folder. Nothing was written.\n",
    )


def test_names_that_cannot_be(command: Command, tmp_path: Path) -> None:
    assert "There is a course 'tensors' already." in command("new", "course", tmp_path / "tensors")[2]
    assert "Use letters and digits in its name." in command("new", "lesson", tmp_path / "??")[2]
    assert not {"tensors", "??"} & {path.name for path in tmp_path.iterdir()}


def test_a_schema_is_printed(command: Command) -> None:
    assert set(verb_table.SCHEMAS) == set(format_schema.FILES)
    status, out, err = command("schema", "lesson")
    assert (status, err) == (0, "")
    assert json.loads(out) == format_schema.schema_of("lesson")
