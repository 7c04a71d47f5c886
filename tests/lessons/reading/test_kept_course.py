"""The course that is kept in the cache folder: equal to what the files say, and never used when anything differs."""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.reading import course_outline, kept_course, loader
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import CourseFolder
from tests import course as whole

LESSON = """
title: First
goal: To be read.
setup: x = 1
steps:
  - kind: read
    id: only
    title: Only
    prose: "It is {x}."
"""


class Files:
    """A course of one lesson, and a count of how often its files were read."""

    def __init__(self, root: Path) -> None:
        self.course, self.mistakes, self.code = root / "course", root / "mistakes", root / "code"
        self.version = root / "version.py"
        self.lesson = self.course / "01-first" / "lesson.yaml"
        self.kept = root / "cache" / "attn-tutor" / "course.json"
        for folder in (self.lesson.parent, self.mistakes, self.code):
            folder.mkdir(parents=True)
        self.lesson.write_text(LESSON)
        (self.code / "rules.py").write_text("strict = True\n")
        self.reads = 0

    @property
    def folder(self) -> CourseFolder:
        return CourseFolder("attention", self.course)

    def is_read_again(self) -> bool:
        before = self.reads
        kept_course.load_course(self.folder)
        return self.reads > before


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Return a course that was read and kept."""
    files = Files(tmp_path)
    read = loader.load_course

    def load_course(folder: Path) -> Course:
        files.reads += 1
        return read(folder)

    monkeypatch.setattr(loader, "load_course", load_course)
    monkeypatch.setattr(kept_course, "MISTAKES", files.mistakes)
    monkeypatch.setattr(kept_course, "CODE", (files.code,))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept_course.load_course(files.folder)
    assert files.reads == 1
    return files


# What is kept --------------------------------------------------------------------------------------------------------


def test_whole_course_is_kept_as_its_files_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    read = [whole.COURSE]
    monkeypatch.setattr(loader, "load_course", lambda _: read.pop())
    kept_course.load_course()
    kept = kept_course.load_course()  # the loader would raise an exception
    assert kept == whole.COURSE
    assert repr(kept) == repr(whole.COURSE)  # unlike ==, this tells 1 from 1.0 and from True
    assert [step.model_fields_set for lesson in kept.lessons for step in lesson.steps] == [
        step.model_fields_set for lesson in whole.LESSONS for step in lesson.steps
    ]
    assert repr(kept_course.load_outline()[0]) == repr(whole.outline_of_course())


def test_outline_says_of_the_course_what_the_map_shows() -> None:
    for outline, lesson in zip(whole.outline_of_course().lessons, whole.LESSONS, strict=True):
        assert (outline.id, outline.number, outline.title, outline.goal) == (
            lesson.id, lesson.number, lesson.title, lesson.goal
        )  # fmt: skip
        assert [(step.id, step.title, step.noun, step.is_exercise) for step in outline.steps] == [
            (step.id, step.title, step.noun, step.is_exercise) for step in lesson.steps
        ]
        assert [(step.exercise, step.number) for step in outline.exercises] == [
            (step.exercise, step.number) for step in lesson.exercises
        ]
        assert (outline.challenge.id if outline.challenge else "") == (lesson.challenge.id if lesson.challenge else "")
        assert outline.corner is not None
        assert outline.corner.name == lesson.thumbnail.partition("/")[2]
        assert {len(row) for row in outline.corner.rows} == {min(course_outline.SIDE, (1, *outline.corner.shape)[-1])}


def test_course_is_the_one_of_the_outline(files: Files) -> None:
    """Also if its files change before it is needed."""
    for title in ("First", "Frist"):
        outline, load_course = kept_course.load_outline(files.folder)
        edit_lesson(files)
        assert outline.lessons[0].title == load_course().lessons[0].title == title


def test_parts_that_were_given_the_same_fields_share_the_set_of_their_names() -> None:
    steps = [step for lesson in whole.LESSONS for step in lesson.steps]
    kinds = {frozenset(step.model_fields_set) for step in steps}
    assert len({id(step.model_fields_set) for step in steps}) == len(kinds) < len(steps)
    for step in steps:
        step.model_copy(update={"parent": None})
    assert {frozenset(step.model_fields_set) for step in steps} == kinds


def test_course_that_has_been_read_keeps_no_second_copy_of_its_text(files: Files) -> None:
    load_course = kept_course.load_outline(files.folder)[1]
    assert any(vars(load_course).values())
    assert load_course() is load_course()
    assert not [held for held in vars(load_course).values() if isinstance(held, bytes) and held]


def test_files_are_read_once(files: Files) -> None:
    assert kept_course.load_course(files.folder) == loader.load_course(files.course)
    assert not files.is_read_again()


def test_kept_file_is_the_user_s_own_and_alone(files: Files) -> None:
    assert [path.name for path in files.kept.parent.iterdir()] == ["course.json"]
    assert stat.S_IMODE(files.kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(files.kept.parent.stat().st_mode) == 0o700


def test_code_is_that_of_reading_and_of_the_rooms_below() -> None:
    contracts = tomllib.loads((whole.ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rooms = next(each["layers"] for each in contracts if each.get("containers") == ["attn_tutor.lessons"])
    below = {whole.ROOT / "lessons" / room for room in rooms[rooms.index("reading") :]}
    below = {room if room.is_dir() else room.with_suffix(".py") for room in below}
    assert {path.resolve() for path in kept_course.CODE} == below | {whole.ROOT / "attention"}


# Changes -------------------------------------------------------------------------------------------------------------


def edit_lesson(files: Files) -> None:
    before = files.lesson.stat()
    files.lesson.write_text(LESSON.replace("First", "Frist"))
    # As an edit at the same moment, so that neither size nor time tells.
    os.utime(files.lesson, ns=(before.st_atime_ns, before.st_mtime_ns))


def rename_lesson(files: Files) -> None:
    files.lesson.parent.rename(files.course / "02-first")


def add_lesson(files: Files) -> None:
    (files.course / "02-second").mkdir()
    (files.course / "02-second" / "lesson.yaml").write_text(LESSON)


def add_mistake(files: Files) -> None:
    (files.mistakes / "one.yaml").write_text("- {id: one, name: One, why: It is wrong.}\n")


def record(files: Files) -> None:
    (files.lesson.parent / "recorded.json").write_text("{}")


def change_code(files: Files) -> None:
    (files.code / "rules.py").write_text("strict = None\n")


@pytest.mark.parametrize("change", [edit_lesson, rename_lesson, add_lesson, add_mistake, record, change_code])
def test_files_are_read_again_after_a_change(files: Files, change: Callable[[Files], None]) -> None:
    change(files)
    assert kept_course.load_course(files.folder) == loader.load_course(files.course)
    assert not files.is_read_again()


def test_changed_file_is_what_the_course_says(files: Files) -> None:
    edit_lesson(files)
    assert kept_course.load_course(files.folder).lessons[0].title == "Frist"


def test_files_are_read_again_with_another_python(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version", "3.99")
    assert files.is_read_again()


def test_files_are_read_again_with_another_library(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "a_library_of_this_test"
    library.mkdir()
    (library / "__init__.py").write_text("")
    (library / "version.py").write_text("VERSION = '1.0'")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(kept_course, "VERSIONS", ((library.name, "version.py"),))
    assert files.is_read_again()
    assert not files.is_read_again()
    (library / "version.py").write_text("VERSION = '1.1'")
    assert files.is_read_again()


@pytest.mark.parametrize(("library", "module"), kept_course.VERSIONS)
def test_versions_of_libraries_stand_where_they_are_looked_for(library: str, module: str) -> None:
    __import__(library)
    version = sys.modules[library].__version__
    assert version in (Path(str(sys.modules[library].__file__)).parent / module).read_text()


def test_file_that_is_saved_while_the_course_is_read_is_read_again(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = loader.load_course

    def save_meanwhile(folder: Path) -> Course:
        course = read(folder)
        files.lesson.write_text(LESSON.replace("First", "Third"))
        return course

    edit_lesson(files)
    with monkeypatch.context() as patch:
        patch.setattr(loader, "load_course", save_meanwhile)
        assert kept_course.load_course(files.folder).lessons[0].title == "Frist"
    assert kept_course.load_course(files.folder).lessons[0].title == "Third"


def test_course_with_mistakes_is_never_kept(files: Files) -> None:
    files.lesson.write_text(LESSON + "    pros: typo\n")
    with pytest.raises(LessonError) as read:
        loader.load_course(files.course)
    for _ in range(2):
        with pytest.raises(LessonError) as found:
            kept_course.load_course(files.folder)
        assert found.value.findings == read.value.findings
    files.lesson.write_text(LESSON)
    assert not files.is_read_again()


# Files that are not trusted ------------------------------------------------------------------------------------------


def damage(file: Path, change: Callable[[bytes], bytes]) -> None:
    file.write_bytes(change(file.read_bytes()))


def make_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def make_link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: damage(file, lambda content: b""),
        lambda file: damage(file, lambda content: content[:-20]),
        lambda file: damage(file, lambda content: content.replace(b"First", b"Worst")),
        lambda file: damage(file, lambda content: b"\xff" * 100),
        lambda file: file.chmod(0o620),
        lambda file: file.chmod(0o602),
        lambda file: file.parent.chmod(0o770),
        lambda file: file.parent.chmod(0o777),
        make_pipe,
        make_folder,
        make_link,
    ],
)
def test_kept_file_that_may_not_be_ours_is_not_used(files: Files, spoil: Callable[[Path], None]) -> None:
    spoil(files.kept)
    assert kept_course.load_course(files.folder).lessons[0].title == "First"
    assert files.reads == 2


def test_files_of_another_user_are_not_used(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: files.kept.stat().st_uid + 1)
    assert files.is_read_again()


def test_damaged_file_is_replaced(files: Files) -> None:
    damage(files.kept, lambda content: content[:-20])
    assert files.is_read_again()
    assert not files.is_read_again()


def test_folder_that_others_may_write_stays_as_it_is(files: Files) -> None:
    files.kept.unlink()
    files.kept.parent.chmod(0o777)
    assert files.is_read_again()
    assert list(files.kept.parent.iterdir()) == []


@pytest.mark.parametrize("folder", ["/dev/null", "/proc/nothing", "not/absolute", ""])
def test_course_is_read_where_nothing_can_be_kept(files: Files, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", folder)
    monkeypatch.setenv("HOME", "/dev/null")
    assert files.is_read_again()
    assert files.is_read_again()


def test_course_in_a_folder_whose_name_is_not_unicode(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = files.course.with_name(os.fsdecode(b"\xff"))
    try:
        files.course.rename(elsewhere)
    except OSError:
        pytest.skip("this file system knows Unicode only")
    files.course = elsewhere
    assert kept_course.load_course(files.folder) == loader.load_course(elsewhere)


def test_nothing_is_left_when_a_file_cannot_be_replaced(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError

    files.kept.unlink()
    monkeypatch.setattr(os, "replace", fail)
    assert files.is_read_again()
    assert list(files.kept.parent.iterdir()) == []


def test_file_that_cannot_be_read_is_for_the_loader_to_report(files: Files) -> None:
    files.lesson.unlink()
    files.lesson.symlink_to("nowhere")
    with pytest.raises(LessonError, match="this file is missing"):
        kept_course.load_course(files.folder)
