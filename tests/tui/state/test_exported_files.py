"""The files that a learner has taken home are replaced only as long as they are as they were written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attn_tutor.tui.state.home_offers import ExportedFiles, NotWritten, file_stem


def test_only_own_files_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = ExportedFiles()
    assert files.proposed("a.csv") == "a.csv"
    assert files.write("a.csv", "1") == tmp_path / "a.csv"
    assert files.proposed("a.csv") == "a.csv"
    files.write("a.csv", "2")
    assert (tmp_path / "a.csv").read_text() == "2"
    (tmp_path / "a.csv").write_text("edited")
    assert files.proposed("a.csv") == "a-2.csv"
    with pytest.raises(NotWritten, match=r"a\.csv is there already"):
        files.write("a.csv", "3")
    assert (tmp_path / "a.csv").read_text() == "edited"
    # Another session knows nothing of them.
    (tmp_path / "a-2.csv").write_text("")
    assert ExportedFiles().proposed("a.csv") == "a-3.csv"


def test_no_link_pipe_or_folder_is_written_to(tmp_path: Path) -> None:
    files = ExportedFiles()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", ".", "no/file", "a\0b", "x" * 300):
        with pytest.raises(NotWritten):
            files.write(str(tmp_path / name), "1")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("name", "stem"), [("weights", "weights"), ("heads[0].weight", "heads-0-weight"), ("../x", "x"), ("[]", "matrix")]
)
def test_a_tensor_names_its_file(name: str, stem: str) -> None:
    assert file_stem(name) == stem
