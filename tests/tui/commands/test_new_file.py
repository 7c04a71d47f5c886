"""Files that a learner names are written, and none is destroyed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attn_tutor.tui.commands import files
from attn_tutor.tui.commands.output import UsageError


def refusal(path: Path | str, *, force: bool = False) -> str:
    with pytest.raises(UsageError) as caught:
        files.write_new(str(path), "new", force=force)
    return str(caught.value)


def test_a_new_file_is_written(tmp_path: Path) -> None:
    files.write_new(str(tmp_path / "a b.py"), "Ω\n")
    assert (tmp_path / "a b.py").read_bytes() == "Ω\n".encode()


def test_a_file_that_is_there_is_replaced_only_if_that_is_said(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    assert refusal(file) == f"{file} is there already. With --force it is replaced."
    assert file.read_text(encoding="utf-8") == "old"
    files.write_new(str(file), "new", force=True)
    assert file.read_text(encoding="utf-8") == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.glob(".*")) == []


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old", encoding="utf-8")
    link = tmp_path / "link"
    link.symlink_to("target")
    assert "is there already" in refusal(link)
    files.write_new(str(link), "new", force=True)
    assert link.is_symlink()
    assert (tmp_path / "target").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("force", [False, True])
def test_what_cannot_be_written_is_said(tmp_path: Path, force: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path, force=force) == f"{tmp_path} is a folder. Name a file in it."
    assert "is a pipe" in refusal(tmp_path / "pipe", force=force)
    assert "there is no such folder" in refusal(tmp_path / "no" / "file", force=force)
    assert "cannot be written" in refusal("a\0b", force=force)
    assert "cannot be written: " in refusal(tmp_path / ("x" * 300), force=force)
    shown = refusal(tmp_path / "no\n\x1b]0;title\a" / "x", force=force)
    assert shown.isprintable()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "Permission denied" in refusal(tmp_path / "locked" / "file")


def test_a_disk_that_is_full_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.py"
    file.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert "No space left on device" in refusal(file, force=True)
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.glob(".*")) == []


def test_a_device_is_written_to(tmp_path: Path) -> None:
    files.write_new("/dev/null", "text")
