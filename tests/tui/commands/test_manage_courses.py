"""The verb `courses`: a course of somebody else from the archive to its removal, and what is said on the way."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from attn_tutor.lessons.courses import added_courses, consent, course_code, course_list
from attn_tutor.lessons.courses.course_code import CodePiece
from attn_tutor.lessons.reading.folders import BUILT_IN, CourseFolder
from attn_tutor.tui.commands import course_consent
from attn_tutor.tui.render import course_text
from tests.course import COURSE
from tests.small_course import ANSWER, DESCRIPTION, LESSON, write_course
from tests.tui.commands.command_line import Command, document

SHOWN = """\
Reading rows  [rows], by A. Teacher, CC BY 4.0
  What a row of a table says.

Lines of code in it: 6
  Steps that run when you open them: 1 of 3
  Exercises that run your answer and code of their own when you check it: 1
  Steps that train a model when you start it: 0
All of it runs as your own answers do: each time in a new process, with limits
on time, memory and files, and behind the layers that 'attn-tutor doctor'
names. Where none is missing, it cannot write your files or use the network. It
may read whatever you may read.
sha256: """


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_course(tmp_path / "work" / "rows")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have somebody at the terminal who can be asked."""
    monkeypatch.setattr(course_consent, "can_ask", lambda: True)


def added() -> CourseFolder:
    [found] = added_courses.added()
    return found


@pytest.mark.usefixtures("asked")
def test_a_course_of_somebody_else_from_its_archive_to_its_removal(
    command: Command, source: Path, tmp_path: Path, home: Path
) -> None:
    archive = tmp_path / "rows-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(source, "rows-1.0")
    status, out, err = command("courses", "add", archive, given=b"y\n")
    assert (status, err) == (0, "")
    assert out.startswith(SHOWN)
    assert out.endswith(
        "Add it, and let it run? [y/N, s shows the code]\nAdded. Open it with: attn-tutor --course rows\n"
    )

    # It runs, and is not asked about again.
    assert command("check", "doubling", "-", "--course", "rows", given=ANSWER)[0] == 0
    assert "Its numbers add up to 10." in command("run", "first-row", "--course", "rows")[1]
    assert "rows       Reading rows     1/3  added by you\n" in command("courses")[1]
    assert command("courses", "add", source, given=b"")[1] == "The course 'rows' is added already, as it is there.\n"

    # Once it has changed, it is.
    lesson = added().path / "01-first-row" / "lesson.yaml"
    lesson.write_text(LESSON.replace("4.0", "5.0"))
    status, out, err = command("run", "first-row", "--course", "rows", given=b"n\n")
    assert (status, err) == (3, "attn-tutor: The course 'rows' was not opened.\n")
    assert out.startswith("The course 'rows' has changed since you allowed it to run.\n\n" + SHOWN)
    assert "Reading rows     has changed  added by you\n" in command("courses")[1]
    assert command("courses", "verify", "rows", given=b"\n")[0] == 1
    assert command("courses", "verify", "rows", "--yes")[1].endswith("rows: may run, as it is now.\n")
    assert "Its numbers add up to 11." in command("run", "first-row", "--course", "rows")[1]

    # What was done with it stays, unless that is to go as well.
    status, out, _ = command("courses", "remove", "rows")
    assert (status, out.splitlines()[0]) == (0, "Removed: rows")
    assert command("list", "--course", "rows")[0] == 2
    command("courses", "add", source, "--yes")
    assert "Reading rows     1/3  added by you\n" in command("courses")[1]
    assert "Your progress" not in command("courses", "remove", "rows", "--progress")[1]
    assert not list((home / "xdg_state_home" / "attn-tutor").rglob("progress.db"))


def test_nobody_is_asked_where_nobody_is(command: Command, source: Path) -> None:
    status, out, err = command("courses", "add", source)
    assert (status, err) == (2, "attn-tutor: Nobody can be asked here. To agree, say so with --yes.\n")
    assert out.startswith(SHOWN)
    assert added_courses.added() == ()
    command("courses", "add", source, "--yes")
    consent.forget(added())
    status, out, err = command("list", "--course", "rows")
    assert (status, out) == (3, "")
    assert err.startswith("attn-tutor: The course 'rows' is not allowed to run yet. 'attn-tutor courses verify rows' ")
    assert command("courses", "verify", "rows")[0] == 1
    assert "Reading rows     new  added by you\n" in command("courses")[1]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("answer", [b"", b"\n", b"n\n", b"yess\n", b"no\n"])
def test_only_a_clear_yes_adds_it(answer: bytes, command: Command, source: Path) -> None:
    status, _, err = command("courses", "add", source, given=answer)
    assert (status, err) == (1, "attn-tutor: Nothing was added.\n")
    assert added_courses.added() == ()


@pytest.mark.usefixtures("asked")
def test_the_code_is_shown_before_it_may_run(command: Command, source: Path) -> None:
    status, out, _ = command("courses", "add", source, given=b"s\nn\n")
    assert status == 1
    assert added_courses.added() == ()
    assert out.count("[y/N, s shows the code]") == 2
    shown = out.partition("the code]\n")[2]
    assert shown.startswith("first-row: setup\n    import torch\n\nfirst-row/table: code\n    table = torch.tensor(")
    for line in ("first-row/table: prose\n    table.sum()\n", "first-row/doubling: probe\n", "checks.test\n", "2 *"):
        assert line in shown
    command("courses", "add", source, "--yes")
    consent.forget(added())
    assert "first-row/table: code" in command("courses", "verify", "rows", given=b"show\ny\n")[1]
    assert consent.is_allowed(added())


def test_every_field_that_has_to_be_python_is_shown() -> None:
    pieces = list(course_code.pieces_of(COURSE))
    what = {piece.what for piece in pieces}
    assert {"setup", "code", "claims", "context", "probe", "checks.test", "checks.fail.if", "ways.if", "prose"} <= what
    # No less than what is counted.
    counted = sum(bool(line.strip()) for piece in pieces for line in piece.code.splitlines())
    assert counted >= course_code.what_runs(COURSE).lines


def test_no_character_of_the_code_commands_the_terminal() -> None:
    lines = list(course_text.code([CodePiece("a/b\x1b", "code", "x = '\x1b]0;t\x07'\u202e\n\ty = 1\r")]))
    assert lines == ["a/b\\x1b: code", "    x = '\\x1b]0;t\\x07'\\u202e", "    \\ty = 1\\r", ""]


def test_a_course_that_replaces_another_says_so(command: Command, source: Path) -> None:
    command("courses", "add", source, "--yes")
    (source / "course.yaml").write_text(DESCRIPTION.replace("Reading", "Writing"))
    assert (
        "It replaces the course 'rows' that you have; progress stays.\n"
        in command("courses", "add", source, "--yes")[1]
    )
    assert "Writing rows" in command("courses")[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["add"], "Say which course: a folder, or an archive .tar.gz."),
        (["remove"], "Say which course, by its id."),
        (["list", "rows"], "'rows' is one word too many."),
        (["add", "nowhere"], "There is no file or folder nowhere."),
        (["add", __file__], f"{__file__} cannot be added. It is damaged, or no archive of the kind .tar.gz."),
        (["verify", "rows"], "There is no course 'rows'. The courses are: attention"),
        (["remove", "rows"], "There is no course 'rows'. The courses are: attention"),
        (["remove", "attention"], "The course 'attention' is a part of the tutor."),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], sentence: str, command: Command) -> None:
    status, out, err = command("courses", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"attn-tutor: {sentence}")


def test_a_name_that_is_too_long_is_said_to_be(command: Command) -> None:
    name = "x" * 300
    expected = (3, "", f"attn-tutor: {name} cannot be added: File name too long.\n")
    assert command("courses", "add", name) == expected


def test_what_is_wrong_in_a_course_is_listed(command: Command, tmp_path: Path) -> None:
    steps = "".join(f"  - {{kind: read, id: x{number}, title: x, pros: x}}\n" for number in range(18))
    folder = write_course(tmp_path / "rows", lesson=LESSON + steps)
    status, out, err = command("courses", "add", folder, "--yes")
    assert (status, out) == (2, "")
    lines = err.splitlines()
    assert lines[0] == f"attn-tutor: {folder} cannot be added, because it cannot be read:"
    assert lines[1] == "01-first-row/lesson.yaml:16:36: 'pros' is not known here. Did you mean 'prose'?"
    assert lines[11:] == ["and 8 more"]


def test_courses_are_a_document_too(command: Command, source: Path) -> None:
    command("courses", "add", source, "--yes")
    found = document(command("courses", "--json"))["courses"]
    assert [course["id"] for course in found] == [*(course.id for course in BUILT_IN), "rows"]
    assert found[-1] == {
        "id": "rows",
        "title": "Reading rows",
        "about": "What a row of a table says.",
        "source": "added",
        "package": None,
        "folder": str(added().path),
        "steps": 3,
        "done": 0,
        "allowed": True,
        "problem": None,
    }


def test_a_course_that_cannot_be_read_any_more_is_listed_as_such(command: Command, source: Path) -> None:
    command("courses", "add", source, "--yes")
    (added().path / "01-first-row" / "lesson.yaml").write_text("nothing")
    assert "rows       rows             cannot be read  added by you\n" in command("courses")[1]
    status, out, _ = command("courses", "verify")
    assert status == 1
    assert "attention: can be read.\n" in out
    assert "rows: cannot be opened. " in out
    assert command("courses", "remove", "rows")[0] == 0


def test_a_course_of_a_package_is_named_with_it(
    command: Command, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = CourseFolder("columns", source, "courses/columns", "installed")
    found = course_list.InstalledCourse(course, "columns-course")
    monkeypatch.setattr(course_list, "installed_courses", lambda: iter([found]))
    assert "columns    Reading rows     new  from the package columns-course\n" in command("courses")[1]
    err = command("courses", "remove", "columns")[2]
    assert err == (
        "attn-tutor: The course 'columns' belongs to the package columns-course. To remove it, uninstall that.\n"
    )
    # Its package calls it otherwise than it does itself.
    assert "columns: cannot be opened. Its course.yaml calls it 'rows'.\n" in command("courses", "verify")[1]
    assert "Its course.yaml calls it 'rows'." in command("list", "--course", "columns")[2]
