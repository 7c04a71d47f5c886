"""Commands on another course than the first: it is read from its folder, and its progress is its own."""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from attn_tutor.lessons.courses import added_courses, consent
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.reading.folders import BUILT_IN, FIRST, CourseFolder
from attn_tutor.tui.commands import course_consent, open_tutor
from tests.course import COURSE
from tests.small_course import ANSWER, DESCRIPTION, write_course
from tests.tui.commands.command_line import Command, document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a course that nobody has added."""
    return write_course(tmp_path / "work" / "rows")


def state_files(home: Path) -> Iterator[str]:
    root = home / "xdg_state_home" / "attn-tutor"
    return (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_a_course_in_a_folder_from_its_list_to_its_report(command: Command, folder: Path, home: Path) -> None:
    assert command("--course", folder, "list")[1].startswith("1. The first row  [first-row]\n")
    _, out, _ = command("run", "first-row", "--course", folder)
    assert "Its numbers add up to 10." in out
    status, out, _ = command("check", "doubling", "-", "--course", folder, given=ANSWER)
    assert (status, out[:6]) == (0, "PASSED")
    exercise = document(command("list", "--json", "--course", folder))["exercises"][0]
    assert (exercise["id"], exercise["passed"]) == ("doubling", True)
    assert "doubling" in command("history", "--course", folder)[1]
    assert command("glossary", "table", "--course", folder)[1].startswith("table")
    assert command("references", "--course", folder)[1] == ""
    assert "The first row" in command("report", "--course", folder)[1]
    # The first course knows nothing of it.
    assert "doubling" not in command("history")[1]
    found = sorted(state_files(home))
    assert found[-1] == "progress.db"
    assert [name.startswith("folders/rows-") and name.endswith("/progress.db") for name in found[:-1]] == [True]


def test_commands_that_are_printed_work_as_they_stand(command: Command, tmp_path: Path) -> None:
    tensors, folder = (
        CourseFolder("tensors", FIRST.path, "courses/tensors"),
        write_course(tmp_path / "my work" / "rows"),
    )
    assert (FIRST.option, tensors.option) == ("", " --course tensors")
    answer = tmp_path / "answer.py"
    answer.write_bytes(ANSWER)
    printed = command("run", "1", "--course", folder)[1] + command("--course", folder)[1]
    printed += command("preview", folder)[1] + command("check", "nothing", answer, "--course", folder)[2]
    option = f" --course {shlex.quote(str(folder))}"
    found = [f"{each}{option}" for each in re.findall(rf"attn-tutor ((?:(?!attn-tutor).)*?){option}", printed)]
    assert {each.split()[0] for each in found} == {"list", "run", "check", "watch", "--plain"}
    for each in found:
        words = [{"FILE": str(answer), "LESSON": "1"}.get(word, word) for word in shlex.split(each)]
        if words[0] != "watch":  # it waits for the file to be saved
            assert command(*words, given=b"quit\n")[::2] == (0, ""), each


def test_an_exercise_in_no_course_names_no_command(command: Command, folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "doubling.yaml"
    own = "{id: squared, name: squared, why: A square is no double., edits: [{find: 2 *, replace: x *}]}"
    alone.write_text((folder / "01-first-row/exercises/doubling.yaml").read_text().replace("squared", own))
    status, out, _ = command("preview", alone)
    assert (status, "Twice as much" in out, "attn-tutor" in out) == (0, True, False)


def test_progress_is_carried_from_one_folder_to_another(command: Command, folder: Path, tmp_path: Path) -> None:
    command("check", "doubling", "-", "--course", folder, given=ANSWER)
    saved, copy = tmp_path / "saved.json", write_course(tmp_path / "copy")
    assert command("export", saved, "--course", folder)[0] == 0
    assert command("import", saved, "--course", copy)[0] == 0
    assert "doubling" in command("history", "--course", copy)[1]
    with closing(Progress.open()) as progress:
        assert not progress.history()


def test_progress_is_not_taken_for_that_with_another_course(command: Command, folder: Path, tmp_path: Path) -> None:
    rows, first = tmp_path / "rows.json", tmp_path / "first.json"
    command("check", "doubling", "-", "--course", folder, given=ANSWER)
    command("export", rows, "--course", folder)
    command("export", first)
    assert "course" not in first.read_text()
    said = "It is progress with the course 'rows': say --course rows.\n"
    assert command("import", rows) == (2, "", f"attn-tutor: {rows} cannot be imported. {said}")
    assert command("report", rows)[2] == f"attn-tutor: {rows} is left out. {said}"
    assert "The first row" in command("report", rows, "--course", folder)[1]
    status, _, err = command("import", first, "--course", folder)
    assert (status, err.split(". ")[1]) == (2, "It is progress with the first course: leave --course out.\n")


def test_a_course_that_does_not_exist(command: Command) -> None:
    status, out, err = command("list", "--course", "nothing")
    assert (status, out) == (2, "")
    ids = ", ".join(course.id for course in BUILT_IN)
    assert err == f"attn-tutor: There is no course 'nothing', and no folder. The courses are: {ids}\n"


def test_the_tutor_prints_another_course_where_nobody_can_type(command: Command, folder: Path) -> None:
    _, out, _ = command("--course", folder)
    assert "Lesson 1: The first row" in out
    assert "lesson 0" not in out.lower()
    status, out, _ = command("--plain", "--course", folder, given=b"map\nquit\n")
    assert status == 0
    assert "1. The first row" in out


def test_a_dialogue_goes_on_with_another_course(command: Command, folder: Path) -> None:
    command("courses", "add", folder, "--yes")
    status, out, err = command("--plain", given=b"courses\ncourse nothing\ncourse rows\nnext\ncourse attention\nquit\n")
    assert (status, err) == (0, "")
    assert "attention: Attention  <- you are here\n" in out
    assert "\nrows: Reading rows\n" in out
    assert "Say which course: course and one of these: attention," in out
    _, first, rest = out.partition("Course: Reading rows\n")
    assert "Lesson 1: The first row" in first + rest.partition("Course: Attention\n")[0]
    assert f"Lesson {COURSE.lessons[0].number}: {COURSE.lessons[0].title}" in rest.partition("Course: Attention\n")[2]
    # Both know where their learner was.
    assert document(command("list", "--json", "--course", "rows"))["position"] == {
        "lesson": "first-row", "step": "doubling"
    }  # fmt: skip


def test_a_dialogue_stays_where_another_course_may_not_run(command: Command, folder: Path) -> None:
    command("courses", "add", folder, "--yes")
    [found] = added_courses.added()
    (found.path / "course.yaml").write_text(DESCRIPTION + "# changed")
    status, out, err = command("--plain", given=b"courses\ncourse rows\nquit\n")
    assert status == 0
    assert "rows: Reading rows (has changed)\n" in out
    assert err.startswith("attn-tutor: The course 'rows' has changed since you allowed it to run. 'attn-tutor courses ")
    assert out.count(f"Lesson {COURSE.lessons[0].number}: {COURSE.lessons[0].title}") == 2


@pytest.mark.parametrize(("answer", "opened"), [("y\n", ["attention", "rows"]), ("n\n", ["attention", "attention"])])
def test_the_screen_opens_again_with_another_course_or_the_one_before(
    answer: str, opened: list[str], folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("courses", "add", folder, "--yes")
    [found] = added_courses.added()
    consent.forget(found)
    shown: list[str] = []

    def show(course: CourseFolder) -> tuple[int, CourseFolder | None]:
        """Show a course to a learner who chooses the other one, and then quits."""
        shown.append(course.id)
        return len(shown), found if len(shown) == 1 else None

    monkeypatch.setattr(course_consent, "can_ask", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    assert open_tutor.show_in_turn(FIRST, show) == 2
    assert shown == opened


def test_folders_of_progress_are_for_their_learner_alone(command: Command, folder: Path, home: Path) -> None:
    command("list", "--course", folder)
    root = home / "xdg_state_home" / "attn-tutor"
    assert {path.stat().st_mode & 0o777 for path in (root, *root.rglob("*")) if path.is_dir()} == {0o700}
