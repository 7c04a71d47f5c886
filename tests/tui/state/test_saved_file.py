"""When a file counts as saved, and what is read from it, with real files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.judging import MAX_SOURCE
from attn_tutor.tui.state.saved_file import FileFingerprint, Settling, create, look, read

A, B = FileFingerprint(1, 1, 1), FileFingerprint(2, 2, 1)


@pytest.mark.parametrize(
    ("looks", "judged"),
    [
        ([A, A, A], [1]),
        ([A, B, B, B], [2]),
        ([None, None, A, A], [3]),
        # The file is written in pieces.
        ([A, A, B, FileFingerprint(3, 3, 1), FileFingerprint(4, 3, 1), FileFingerprint(4, 3, 1)], [1, 5]),
        # The file disappears for a moment, then comes back as a new file or the same one.
        ([A, A, None, FileFingerprint(1, 1, 2), FileFingerprint(1, 1, 2)], [1, 4]),
        ([A, A, None, A, A], [1]),
        # The same size at a different time, and a different file of the same time.
        ([A, A, FileFingerprint(1, 2, 1), FileFingerprint(1, 2, 1)], [1, 3]),
        ([A, A, FileFingerprint(1, 1, 9), FileFingerprint(1, 1, 9)], [1, 3]),
    ],
)
def test_a_file_is_settled_when_two_looks_agree(looks: list[FileFingerprint | None], judged: list[int]) -> None:
    settling = Settling()
    found = []
    for index, each in enumerate(looks):
        if settling.settled(each):
            assert each is not None
            settling.judge(each)
            found.append(index)
    assert found == judged


def test_a_file_known_at_the_start_is_not_judged() -> None:
    settling = Settling(A)
    assert [settling.settled(each) for each in (A, A, B, B)] == [False, False, False, True]


def test_a_settled_file_is_offered_until_it_is_judged() -> None:
    settling = Settling()
    assert [settling.settled(A) for _ in range(4)] == [False, True, True, True]


def test_look_finds_only_ordinary_files(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert look(file) is None
    file.write_text("abc")
    found = look(file)
    assert found is not None
    assert found.size == 3
    (tmp_path / "link").symlink_to(file)
    assert look(tmp_path / "link") == found
    os.mkfifo(tmp_path / "pipe")
    for other in (tmp_path, tmp_path / "pipe", tmp_path / "a\0b", Path("/dev/zero")):
        assert look(other) is None


def test_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for data, text in (
        (b"", ""),
        (b"\xef\xbb\xbfa\r\n", "a\r\n"),
        (b"a\xff", "a\udcff"),
        (b"x" * (MAX_SOURCE + 9), "x" * (MAX_SOURCE + 1)),
    ):
        file.write_bytes(data)
        found = look(file)
        assert found is not None
        assert read(file, found) == text
    # The file is not the one that the look has found.
    assert read(file, A) is None
    file.unlink()
    with pytest.raises(FileNotFoundError):
        read(file, A)


def test_a_file_is_made_and_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "file"
    fingerprint = create(file, "a\r\nЖ\n")
    assert (fingerprint, file.read_bytes()) == (look(file), "a\r\nЖ\n".encode())
    assert create(file, "other") is None
    assert file.read_bytes() == "a\r\nЖ\n".encode()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    assert create(link, "other") is None
    assert not link.exists()
    with pytest.raises(NotADirectoryError):
        create(file / "below", "x")
