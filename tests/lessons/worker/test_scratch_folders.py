"""The folder of a child: its size, and its removal whatever is in it."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lessons.worker import scratch_folders


def test_folders_that_lie_deep_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`shutil.rmtree` fails on folders that lie deeper than Python may call, and with it the fork server."""
    scratch = tmp_path / "scratch"
    deepest = scratch
    for _ in range(150):
        deepest /= "d"
    deepest.mkdir(parents=True)
    (deepest / "file").touch()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        scratch_folders.remove(str(scratch))
    finally:
        sys.setrecursionlimit(limit)
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]


def test_everything_inside_is_removed_and_nothing_else(tmp_path: Path) -> None:
    scratch, theirs = tmp_path / "scratch", tmp_path / "theirs"
    for folder in (scratch / "a" / "b", scratch / "c" / "d", theirs):
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
    (scratch / "a" / "link").symlink_to(theirs)
    (scratch / "link").symlink_to(theirs / "file")
    scratch_folders.remove(str(scratch))
    assert not scratch.exists()
    assert (theirs / "file").read_text() == "x"
    scratch_folders.remove(str(scratch))


def test_size_and_number_of_files_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(bytes(20_000))
    assert scratch_folders.exceeds(str(tmp_path), 15_000)
    assert not scratch_folders.exceeds(str(tmp_path), 50_000)
    assert not scratch_folders.exceeds(str(tmp_path / "none"), 0)
    monkeypatch.setattr(scratch_folders, "MOST_FILES", 2)
    assert scratch_folders.exceeds(str(tmp_path), 50_000)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_open_files_in_no_folder_count_once(tmp_path: Path) -> None:
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(bytes(20_000))
        holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file, stderr=file)
    try:
        assert not scratch_folders.exceeds(str(tmp_path), 15_000)
        assert scratch_folders.exceeds(str(tmp_path), 15_000, [holder.pid])
        assert not scratch_folders.exceeds(str(tmp_path), 35_000, [holder.pid])
    finally:
        holder.communicate()
