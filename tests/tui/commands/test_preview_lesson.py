"""The verb `preview` without a terminal, and what it refuses."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests import small_course
from tests.tui.commands.command_line import Command


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return small_course.write_course(tmp_path / "rows")


def test_a_step_is_printed(command: Command, course: Path) -> None:
    lesson = course / "01-first-row" / "lesson.yaml"
    status, out, err = command("preview", f"{lesson}:table")
    assert (status, err) == (0, "")
    assert "Step 1 of 3: A table  [table]" in out
    assert "Twice as much" not in out
    assert "Twice as much" in command("preview", lesson.parent / "exercises" / "doubling.yaml")[1]
    assert "What to remember" in command("preview", f"{course}:3")[1]


def test_what_is_wrong_is_printed(command: Command, course: Path) -> None:
    lesson = course / "01-first-row" / "lesson.yaml"
    lesson.write_text(small_course.LESSON.replace("kind: read", "kind: reed"))
    status, out, err = command("preview", lesson)
    assert (status, out) == (1, "")
    assert err.startswith("01-first-row/lesson.yaml:12:5: 'reed' is not a kind of step. Use 'read',")


def test_what_is_not_there_is_refused(command: Command, course: Path, tmp_path: Path) -> None:
    assert command("preview", tmp_path / "nowhere.yaml") == (2, "", "attn-tutor: There is no file nowhere.yaml.\n")
    assert command("preview", f"{course}:tables") == (
        2,
        "",
        "attn-tutor: There is no step 'tables'. The steps are: table, doubling, remember\n",
    )


def test_a_preview_says_what_it_runs_and_keeps_nothing(command: Command, course: Path, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    status, out, _ = command("preview", "--plain", course, given=b"next\nprogress\nquit\n")
    assert status == 0
    assert out.startswith("A preview of lesson.yaml. Lines of code in it: ")
    assert "Twice as much" in out
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_preview_names_the_command_that_evaluates_claims(command: Command, course: Path) -> None:
    said = "Whether its claims are true, this says: attn-tutor lint --claims "
    assert said not in command("preview", "--plain", course, given=b"quit\n")[1]
    lesson = course / "01-first-row" / "lesson.yaml"
    lesson.write_text(small_course.LESSON.replace("    show:", "    claims: [table.sum() == 11]\n    show:"))
    out = command("preview", "--plain", course, given=b"quit\n")[1]
    [folder] = shlex.split(next(line for line in out.splitlines() if said in line).removeprefix(said))
    assert "this is not true: table.sum() == 11" in command("lint", "--claims", folder)[1]


@pytest.mark.parametrize("verb", [("preview",), ("new", "course")], ids=" ".join)
def test_a_link_that_leads_to_itself(command: Command, tmp_path: Path, verb: tuple[str, ...]) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    status, _, err = command(*verb, loop)
    assert (status, "Traceback" in err, err.count("\n")) == (2, False, 1)
