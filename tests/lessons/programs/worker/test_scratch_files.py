"""Files that a program writes while limits hold: it finds its copies, and the files on disk stay as they are."""

from __future__ import annotations

import bz2
import glob
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.programs.worker.scratch_files import ScratchFiles


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScratchFiles]:
    """Copies of what is written in a folder with one file, in which the test runs."""
    home = tmp_path / "mine"
    home.mkdir()
    (home / "old.txt").write_text("old\n")
    monkeypatch.chdir(home)
    scratch = tmp_path / "scratch"
    kept = ScratchFiles(scratch / "files", scratch)
    scratch.mkdir()
    with kept.in_place():
        yield kept
    # Whatever a test does: what lies there is what lay there before.
    assert [path.name for path in home.iterdir()] == ["old.txt"]
    assert (home / "old.txt").read_text() == "old\n"


def test_what_is_written_is_found_again(files: ScratchFiles) -> None:
    os.makedirs("out/logs")
    os.makedirs("out", exist_ok=True)
    with open("out/log.txt", "w") as file:
        file.write("one\n")
    with open(b"out/log.txt", "a") as file:
        file.write("two\n")
    assert Path("out/log.txt").read_text() == "one\ntwo\n"
    assert (Path("out").is_dir(), os.path.isfile("out/log.txt")) == (True, True)
    assert sorted(os.listdir("out")) == ["log.txt", "logs"]
    assert [os.path.basename(path) for path in glob.glob("out/*.txt")] == ["log.txt"]
    assert list(files.written) == [os.path.abspath("out/log.txt")]


def test_a_file_that_is_there_is_copied_when_it_is_changed(files: ScratchFiles) -> None:
    assert Path("old.txt").read_text() == "old\n"
    with open("old.txt", "a") as file:
        file.write("new\n")
    assert Path("old.txt").read_text() == "old\nnew\n"
    with open("old.txt", "r+") as file:
        file.write("OLD")
    assert Path("old.txt").read_text() == "OLD\nnew\n"
    Path("old.txt").write_text("other")
    assert Path("old.txt").read_text() == "other"
    assert os.listdir(".") == ["old.txt"]


def test_tensors_are_saved_and_loaded(files: ScratchFiles) -> None:
    torch.save({"weight": torch.ones(2)}, "model.pt")
    torch.save(torch.ones(1), Path("old.pt"), _use_new_zipfile_serialization=False)
    assert torch.load("model.pt")["weight"].tolist() == [1, 1]
    assert torch.load(Path("old.pt")).tolist() == [1]
    assert [os.path.basename(path) for path in files.written] == ["model.pt", "old.pt"]


def test_an_archive_is_packed_and_unpacked(files: ScratchFiles) -> None:
    # These modules keep the `open` of the time when they were imported.
    os.makedirs("data/inner")
    Path("data/inner/a.txt").write_text("a")
    with tarfile.open("data.tar", "w") as archive:
        archive.add("data/inner/a.txt", "cora/a.txt")
    with tarfile.open("data.tar") as archive:
        archive.extractall()
    assert Path("cora/a.txt").read_text() == "a"
    with bz2.open("a.bz2", "wb") as packed:
        packed.write(b"b")
    with bz2.open("a.bz2") as packed:
        assert packed.read() == b"b"


def test_numpy_reads_the_text_that_it_wrote(files: ScratchFiles) -> None:
    numpy = pytest.importorskip("numpy")
    numpy.savetxt("a.txt", [[1, 2]])
    assert numpy.loadtxt("a.txt").tolist() == numpy.genfromtxt("a.txt").tolist() == [1, 2]


def test_what_is_asked_of_a_file_is_asked_of_its_copy(files: ScratchFiles) -> None:
    os.makedirs("steps/1")
    Path("steps/1/model.txt").write_text("weights")
    shutil.copy2("steps/1/model.txt", "best.txt")
    # The layers around the program refuse to change these of any file, so a copy keeps what it has.
    written = os.lstat("best.txt").st_mtime
    os.utime("best.txt", (5, 5))
    os.chmod("best.txt", 0o000)
    assert (os.stat("best.txt").st_mtime, Path("best.txt").read_text()) == (written, "weights")
    assert os.access("best.txt", os.R_OK)
    assert os.path.lexists("best.txt")
    shutil.rmtree("steps")
    assert not os.path.exists("steps")
    assert sorted(os.listdir(".")) == ["best.txt", "old.txt"]


def test_a_file_that_is_written_beside_another_and_put_in_its_place(files: ScratchFiles) -> None:
    with open("old.txt.part", "x") as file:
        file.write("whole")
    os.replace("old.txt.part", "old.txt")
    assert list(files.written) == [os.path.abspath("old.txt")]
    assert Path("old.txt").read_text() == "whole"
    assert not os.path.exists("old.txt.part")
    os.remove("old.txt")
    assert Path("old.txt").read_text() == "old\n"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("open('none/a.txt', 'w')", FileNotFoundError),
        ("open('old.txt', 'x')", FileExistsError),
        ("open('none.txt', 'r+')", FileNotFoundError),
        ("open('none.txt')", FileNotFoundError),
        ("os.mkdir('none/inner')", FileNotFoundError),
        ("os.mkdir('old.txt')", FileExistsError),
        ("os.stat('none')", FileNotFoundError),
        ("os.listdir('none')", FileNotFoundError),
        ("os.scandir('none')", FileNotFoundError),
        ("open('old.txt', 'wr')", ValueError),
        ("open(None)", TypeError),
    ],
)
def test_what_python_refuses_is_refused(files: ScratchFiles, code: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        eval(code)
    assert not files.written


def test_what_lies_in_the_temporary_folder_is_written_as_it_is(files: ScratchFiles, tmp_path: Path) -> None:
    (tmp_path / "scratch" / "mine").mkdir()
    (tmp_path / "scratch" / "mine" / "a.txt").write_text("a")
    with open(os.devnull, "w") as file:
        file.write("nothing")
    assert not files.written
    shutil.rmtree(tmp_path / "scratch" / "mine")
