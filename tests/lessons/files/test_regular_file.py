"""What is no ordinary file is never waited for, wherever a file is read."""

from __future__ import annotations

import errno
import io
import os
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from attn_tutor.lessons.courses import consent
from attn_tutor.lessons.engine import training
from attn_tutor.lessons.files import NotRegular, open_regular, read_most, read_regular, read_text
from attn_tutor.lessons.format.lesson import TrainStep
from attn_tutor.lessons.learner import progress_file, trained_models
from attn_tutor.lessons.reading import kept_course, loader, recorded_outputs
from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.lessons.texts.translations import Translations
from tests.lessons.lesson_builders import lesson_of
from tests.small_course import write_course


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_terminal(path: Path) -> None:
    path.symlink_to("/dev/tty")


def make_socket(path: Path) -> None:
    here = os.getcwd()
    # A path may be too long for the address of a socket.
    os.chdir(path.parent)
    try:
        with closing(socket.socket(socket.AF_UNIX)) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


OTHERS = [make_pipe, make_device, make_terminal, make_socket, Path.mkdir]
Make = Callable[[Path], object]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


@pytest.mark.parametrize("make", OTHERS)
def test_what_is_no_ordinary_file_is_not_opened(make: Make, file: Path) -> None:
    make(file)
    with pytest.raises(NotRegular) as caught:
        open_regular(file)
    assert caught.value.errno == (errno.EISDIR if make is Path.mkdir else errno.EINVAL)
    assert caught.value.strerror == ("Is a directory" if make is Path.mkdir else "Not an ordinary file")
    assert caught.value.filename == str(file)


@pytest.mark.parametrize("make", [make_pipe, make_device])
def test_what_takes_the_place_of_a_file_before_it_is_opened(
    make: Make, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(b"x")
    real = os.open

    def replace(path: Path, *rest: int, dir_fd: int | None = None) -> int:
        file.unlink()
        make(file)
        return real(path, *rest, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", replace)
    with pytest.raises(NotRegular):
        open_regular(file)


def test_links_and_folders(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"content")
    link = tmp_path / "link"
    link.symlink_to(file)
    assert read_regular(link) == b"content"
    with pytest.raises(OSError, match="ordinary"):
        read_regular(link, links=False)
    opened = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with open_regular("file", folder=opened) as inside:
            assert not os.get_inheritable(inside.fileno())
            assert inside.read() == b"content"
    finally:
        os.close(opened)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "nothing")


def test_a_file_has_a_largest_size(file: Path) -> None:
    file.write_bytes(b"12345")
    assert read_regular(file, 5) == b"12345"
    with pytest.raises(OSError, match="too large"):
        read_regular(file, 4)
    with open_regular(file) as opened:
        assert read_most(opened, 3) == b"123"
    # A read may return less than is asked for.
    assert read_most(cast(BinaryIO, Drops()), 3) == b"xxx"


class Drops(io.RawIOBase):
    """A file of which each read gives one byte."""

    def read(self, size: int = -1, /) -> bytes:
        return b"x"


def test_text_has_ends_of_lines_as_python_reads_them(file: Path) -> None:
    file.write_bytes("a\r\nb\rЖ\n".encode())
    assert read_text(file) == file.read_text(encoding="utf-8") == "a\nb\nЖ\n"


# Wherever files are read at the start --------------------------------------------------------------------------------


@pytest.fixture(params=OTHERS)
def make(request: pytest.FixtureRequest) -> Make:
    """Return a function that makes what is no ordinary file."""
    made: Make = request.param
    return made


def test_translations(make: Make, tmp_path: Path) -> None:
    make(tmp_path / "screen.po")
    assert Translations(tmp_path).find("screen", "screen/title", "Title") is None


def test_a_course(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files in its folder and in that of a translation decide whether a kept course may be used."""
    translation = tmp_path / "ru"
    translation.mkdir()
    make(translation / "course.po")
    monkeypatch.setattr("attn_tutor.lessons.texts.translations.chosen_folder", lambda *_: translation)
    course = write_course(tmp_path / "small")
    for folder in (course, next(path for path in course.iterdir() if path.is_dir())):
        make(folder / "other")
    monkeypatch.setattr(kept_course, "MISTAKES", tmp_path / "none")
    (tmp_path / "none").mkdir()
    found = kept_course.load_course(CourseFolder("small", course, "courses/small", "added"))
    assert [lesson.id for lesson in found.lessons] == [lesson.id for lesson in loader.load_course(course).lessons]


def test_what_was_allowed(make: Make) -> None:
    folder = progress_file.state_root()
    folder.mkdir(parents=True)
    make(folder / consent.FILE)
    assert not consent.was_allowed(CourseFolder("small", folder, "courses/small", "added"))


def test_what_ships_with_a_lesson(make: Make, tmp_path: Path) -> None:
    lesson = lesson_of(
        {
            "kind": "train",
            "id": "learn",
            "title": "Learn",
            "prose": "See.",
            "training": "frame(0, 1)\nw = 1",
            "code": "w = trained['w']",
            "curves": [{"name": "size", "label": "Size", "expr": "w"}],
            "watch": [],
            "keep": "{'w': w}",
            "show": [],
        }
    ).model_copy(update={"folder": str(tmp_path)})
    step = lesson.step("learn")
    assert isinstance(step, TrainStep)
    make(tmp_path / recorded_outputs.FILE)
    assert recorded_outputs.load(lesson) == {}
    make(tmp_path / training.SNAPSHOTS)
    assert training.load_recorded(lesson, step).snapshots == ()
    (tmp_path / "trained").mkdir()
    make(tmp_path / "trained" / f"{trained_models.key(lesson, step)}.pt")
    assert trained_models.find(lesson, step).origin == "missing"
