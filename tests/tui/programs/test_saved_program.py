"""A program of one's own is found to have been saved, whenever and however that happens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.tui.programs.saved_program import SavedProgram

BEGAN = 10**18


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "mine.py", "a = 1\n")


@pytest.fixture
def saved(file: Path) -> SavedProgram:
    return SavedProgram(OwnProgram.here(file, file.read_text()))


def written(file: Path, text: str, after: int = 0) -> Path:
    """Write a file some nanoseconds after the program began, or at the same moment."""
    file.write_text(text)
    os.utime(file, ns=(BEGAN + after, BEGAN + after))
    return file


def changed(saved: SavedProgram, *imported: Path, began: int = BEGAN) -> list[bool]:
    return [saved.changed(map(str, imported), began) for _ in range(4)]


def test_what_has_run_is_not_changed(saved: SavedProgram, file: Path) -> None:
    assert changed(saved, written(file.parent / "beside.py", "b = 1")) == [False] * 4


def test_a_save_before_the_first_look_is_found(saved: SavedProgram, file: Path) -> None:
    file.write_text("a = 2\n")
    assert changed(saved) == [False, True, False, False]


def test_an_import_that_is_saved_before_the_first_look_is_found(saved: SavedProgram, file: Path) -> None:
    assert changed(saved, written(file.parent / "beside.py", "b = 1", after=1)) == [False, True, False, False]


def test_an_import_of_the_run_that_found_it_is_not_changed(saved: SavedProgram, file: Path) -> None:
    changed(saved)
    beside = written(file.parent / "beside.py", "b = 1", after=1)
    assert changed(saved, beside, began=BEGAN + 2) == [False] * 4


def test_a_file_that_is_being_written_is_not_saved_yet(saved: SavedProgram, file: Path) -> None:
    changed(saved)
    found = []
    for text in ("", "a", "a = 2\n"):
        file.write_text(text)
        found.append(saved.changed((), BEGAN))
    assert found == [False] * 3
    assert changed(saved) == [True, False, False, False]


def test_a_file_that_is_gone_is_changed_when_it_is_back(saved: SavedProgram, file: Path) -> None:
    changed(saved)
    file.unlink()
    assert changed(saved) == [False] * 4
    file.write_text("a = 2\n")
    assert changed(saved) == [False, True, False, False]


def test_a_file_that_the_last_run_did_not_import_is_still_looked_at(saved: SavedProgram, file: Path) -> None:
    beside = written(file.parent / "beside.py", "b =")
    changed(saved, beside)
    beside.write_text("b = 1")
    assert changed(saved) == [False, True, False, False]
