"""Files are written whole or not at all: a full disk leaves what was there."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from attn_tutor.lessons.files import create_whole, rewrite, write_whole

Write = Callable[[Path, bytes], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with nothing in it."""
    made = tmp_path / "files"
    made.mkdir()
    return made


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_who_may_read_a_file(folder: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(folder / "own", b"a")
        create_whole(folder / "created", b"a")
        rewrite(folder / "new", b"a")
        (folder / "old").write_bytes(b"old")
        (folder / "old").chmod(0o604)
        rewrite(folder / "old", b"a")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"own": 0o600, "created": 0o640, "new": 0o640, "old": 0o604}
    assert {path.read_bytes() for path in folder.iterdir()} == {b"a"}


def test_what_is_there_is_not_created(folder: Path) -> None:
    file, link = folder / "file", folder / "link"
    file.write_bytes(b"old")
    link.symlink_to("nowhere")
    for path in (file, link):
        with pytest.raises(FileExistsError):
            create_whole(path, b"new")
    assert file.read_bytes() == b"old"
    assert sorted(os.listdir(folder)) == ["file", "link"]


def test_a_path_without_a_name() -> None:
    with pytest.raises(FileExistsError):
        create_whole(Path("/"), b"new")
    with pytest.raises(OSError, match=r"directory|busy"):
        rewrite(Path("/"), b"new")


def test_a_file_system_without_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", refuse)
    create_whole(folder / "file", b"new")
    assert (folder / "file").read_bytes() == b"new"
    with pytest.raises(FileExistsError):
        create_whole(folder / "file", b"newer")
    assert os.listdir(folder) == ["file"]


def test_links_stay_links_and_devices_are_written_to(folder: Path) -> None:
    (folder / "file").write_bytes(b"old")
    (folder / "link").symlink_to("file")
    rewrite(folder / "link", b"new")
    assert (folder / "link").is_symlink()
    assert (folder / "file").read_bytes() == b"new"
    rewrite(Path(os.devnull), b"text")


def test_a_name_as_long_as_names_can_be(folder: Path) -> None:
    for write in (write_whole, create_whole, rewrite):
        path = folder / write.__name__.ljust(255, "x")
        write(path, b"a")
        assert path.read_bytes() == b"a"


@pytest.mark.parametrize("write", [write_whole, create_whole, rewrite])
def test_a_disk_that_is_full_only_at_the_end(write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a network, and with a quota, this is heard no earlier."""
    path = folder / "file"
    if write is not create_whole:
        path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        write(path, b"new")
    assert [each.read_bytes() for each in folder.iterdir()] == ([] if write is create_whole else [b"old"])


WRITE = """
import sys
from pathlib import Path
from attn_tutor.lessons import files
try:
    getattr(files, sys.argv[1])(Path(sys.argv[2]), bytes(100_000))
except OSError as error:
    sys.exit(f"{error.strerror}")
"""


@pytest.mark.parametrize("write", [write_whole, create_whole, rewrite])
def test_a_file_that_may_not_grow(write: Write, folder: Path) -> None:
    """As on a full disk, some of it can be written."""
    path = folder / "file"
    if write is not create_whole:
        path.write_bytes(b"old")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    done = subprocess.run(
        [sys.executable, "-c", WRITE, write.__name__, path], preexec_fn=limit, capture_output=True, text=True
    )
    assert done.stderr == "File too large\n"
    assert [each.read_bytes() for each in folder.iterdir()] == ([] if write is create_whole else [b"old"])
