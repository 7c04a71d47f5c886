"""What a child leaves in shared memory is removed, unless somebody uses it."""

from __future__ import annotations

import mmap
from pathlib import Path

from attn_tutor.lessons.process import fork_server


def test_only_new_files_that_nobody_uses_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    for name in ("old", "left", "opened", "mapped"):
        (folder / name).write_text("x" * mmap.PAGESIZE)
    (folder / "kept").mkdir()
    before = frozenset({"old"})
    with (folder / "opened").open() as opened, (folder / "mapped").open("r+b") as file:
        with mmap.mmap(file.fileno(), mmap.PAGESIZE):
            file.close()
            fork_server.sweep_shared_files(before, folder)
            assert fork_server.list_shared_files(folder) == {"old", "opened", "mapped", "kept"}
        assert opened.read(1) == "x"
    fork_server.sweep_shared_files(before, folder)
    assert fork_server.list_shared_files(folder) == {"old", "kept"}


def test_a_folder_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert fork_server.list_shared_files(tmp_path / "none") == frozenset()
    fork_server.sweep_shared_files(frozenset(), tmp_path / "none")


def test_folders_are_removed_when_nothing_runs(tmp_path: Path) -> None:
    folder = tmp_path / "shm"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path)
    fork_server.sweep_shared_files(frozenset(), folder)
    assert fork_server.list_shared_files(folder) == {"a"}
    fork_server.sweep_shared_files(frozenset(), folder, folders=True)
    assert fork_server.list_shared_files(folder) == frozenset()
    assert tmp_path.is_dir()
