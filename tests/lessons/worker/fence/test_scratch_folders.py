"""The folder of a child: what is in it is counted, and it is removed, whatever is in it and whoever moves it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attn_tutor.lessons.worker.fence import cleaner, landlock, processes, scratch_folders
from attn_tutor.lessons.worker.fence.cleaner import FOLDER, walk

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
MIB = 1 << 20
DEPTH = 3000
"""A folder so deep has a path that is longer than the kernel takes, and is deeper than Python may call."""


def dig(folder: Path, depth: int = DEPTH) -> int:
    """Make folders one in the other, and return the innermost, open."""
    folder.mkdir(parents=True, exist_ok=True)
    fd = os.open(folder, FOLDER)
    for _ in range(depth):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", FOLDER, dir_fd=fd)
        os.close(fd)
        fd = inner
    return fd


@pytest.fixture
def decoy(tmp_path: Path) -> Path:
    """Return a folder of others, beside the one that is removed, with what an attacker would have removed."""
    made = tmp_path / "precious"
    (made / "deep").mkdir(parents=True)
    (made / "deep" / "file").write_text("here")
    return made


@contextlib.contextmanager
def process(program: Callable[[], object]) -> Iterator[int]:
    """Run a function again and again in another process, until the block ends; yields its pid."""
    pid = os.fork()
    if pid == 0:
        try:
            while True:
                program()
        finally:
            os._exit(1)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


# Removing ------------------------------------------------------------------------------------------------------------


def test_folders_that_lie_deep_are_removed(tmp_path: Path) -> None:
    fd = dig(tmp_path / "scratch")
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    scratch_folders.remove(str(tmp_path / "scratch"))
    assert not (tmp_path / "scratch").exists()


def test_everything_inside_is_removed_and_nothing_else(tmp_path: Path) -> None:
    scratch, theirs = tmp_path / "scratch", tmp_path / "theirs"
    for folder in (scratch / "a" / "b", scratch / "c" / "d", theirs):
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
    (scratch / "a" / "link").symlink_to(theirs)
    (scratch / "link").symlink_to(theirs / "file")
    os.mkfifo(scratch / "pipe")
    os.link(theirs / "file", scratch / "second")
    scratch_folders.remove(str(scratch))
    assert not scratch.exists()
    assert (theirs / "file").read_text() == "x"
    scratch_folders.remove(str(scratch))


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path, decoy: Path) -> None:
    (tmp_path / "scratch").symlink_to(decoy)
    scratch_folders.remove(str(tmp_path / "scratch"))
    assert (decoy / "deep" / "file").read_text() == "here"


def test_an_empty_folder_is_removed_without_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(subprocess, "run", refuse)
    scratch_folders.remove(str(tmp_path / "scratch"))
    assert not (tmp_path / "scratch").exists()


def bait(scratch: Path, levels: int = 6) -> Path:
    """Make folders in folders, with one named as the decoy in each; return the deepest."""
    for _ in range(levels):
        (scratch / "precious").mkdir(parents=True)
        scratch /= "in"
    scratch.mkdir(parents=True)
    return scratch


@pytest.mark.parametrize("steps", range(1, 16))
def test_a_folder_that_moves_up_leads_nobody_out(tmp_path: Path, decoy: Path, steps: int) -> None:
    """The attack, at each moment of the removal: what the cleaner is in lies further up when it climbs back."""
    scratch = tmp_path / "base" / "scratch"
    deepest = bait(scratch)
    count = 0

    def enter(fd: int) -> list[str]:
        nonlocal count
        count += 1
        if count == steps:
            current = Path(os.readlink(f"/proc/self/fd/{fd}"))
            if current != scratch:
                current.rename(scratch / "up")
            elif deepest.exists():
                deepest.rename(scratch / "up")
        return sorted(cleaner._remove_files(fd))

    top = os.open(scratch, FOLDER)
    try:
        walk(top, enter, cleaner._remove_folder)
        assert (decoy / "deep" / "file").read_text() == "here"
        cleaner.empty(top)
    finally:
        os.close(top)
    assert list(scratch.iterdir()) == []
    assert (decoy / "deep" / "file").read_text() == "here"


@pytest.mark.slow
def test_a_process_that_moves_folders_has_nothing_of_others_removed(tmp_path: Path, decoy: Path) -> None:
    """Nobody is alive any more when a folder is removed. If somebody were, again and again, nothing would be lost."""
    for number in range(25):
        scratch = tmp_path / "base" / f"scratch{number}"
        deepest = bait(scratch, 40)
        for name in range(100):
            (deepest / str(name)).touch()
        folder, moved = scratch.joinpath(*["in"] * 37), scratch / "up"

        def there_and_back(folder: Path = folder, moved: Path = moved) -> None:
            for old, new in ((folder, moved), (moved, folder)):
                with contextlib.suppress(OSError):
                    old.rename(new)

        with process(there_and_back):
            scratch_folders.remove(str(scratch))
        assert (decoy / "deep" / "file").read_text() == "here"
        scratch_folders.remove(str(scratch))
        assert not scratch.exists()


@pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")
def test_the_cleaner_can_reach_nothing_else(tmp_path: Path, decoy: Path) -> None:
    """Were it led out all the same, the kernel would refuse what it does there."""
    program = f"""
import os
from attn_tutor.lessons.worker.fence import cleaner
def elsewhere(top, enter, leave):
    fd = os.open({str(decoy)!r}, cleaner.FOLDER)
    cleaner._remove_files(os.open("deep", cleaner.FOLDER, dir_fd=fd))
    cleaner._remove_folder(fd, "deep")
    for action in (lambda: os.rename("deep", "gone", src_dir_fd=fd, dst_dir_fd=top), lambda: open("x", "w")):
        try:
            action()
        except OSError:
            continue
        raise AssertionError
    return True
cleaner.walk = elsewhere
cleaner.main({str(tmp_path / "scratch")!r})
"""
    (tmp_path / "scratch" / "in").mkdir(parents=True)
    root = Path(__file__).parents[4]
    run = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True)
    assert run.stderr == ""
    assert (decoy / "deep" / "file").read_text() == "here"


def test_folders_on_other_disks_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "disk" / "in").mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    entered: list[str] = []
    true, disk = cleaner.identity, (tmp_path / "disk").stat().st_ino
    monkeypatch.setattr(
        cleaner,
        "identity",
        lambda fd: true(fd)._replace(device=1) if true(fd).inode == disk else true(fd),
    )

    def enter(fd: int) -> list[str]:
        entered.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name)
        return sorted(os.listdir(fd))

    top = os.open(tmp_path, FOLDER)
    walk(top, enter, lambda fd, name: None)
    os.close(top)
    assert entered == [tmp_path.name, "mine", "home"]


def test_the_folder_of_a_worker_is_none_of_those_that_it_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/dev/shm/mine")
    made = Path(scratch_folders.make_base())
    made.rmdir()
    assert made.parent in (Path("/tmp"), Path("/var/tmp"))


# Counting ------------------------------------------------------------------------------------------------------------


def test_size_and_number_of_files_count(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(bytes(20_000))
    found = scratch_folders.content(str(tmp_path), MIB)
    assert 20_000 <= found.bytes < 50_000
    assert (found.entries, found.complete) == (3, True)
    assert scratch_folders.content(str(tmp_path / "none"), 0).entries == 0


def test_files_count_however_long_their_path_is(tmp_path: Path) -> None:
    fd = dig(tmp_path / "scratch")
    with open("file", "wb", opener=lambda name, flags: os.open(name, flags, dir_fd=fd)) as file:
        file.write(bytes(3 * MIB))
    os.close(fd)
    found = scratch_folders.content(str(tmp_path / "scratch"), 1024 * MIB)
    # pytest itself would fail to remove it.
    scratch_folders.remove(str(tmp_path / "scratch"))
    assert found.bytes >= 3 * MIB


def test_counting_stops_once_it_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch_folders, "MOST_FILES", 5)
    for name in range(20):
        (tmp_path / str(name)).touch()
    assert scratch_folders.content(str(tmp_path), MIB).entries == 6


def test_a_count_says_that_folders_were_moved(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    (scratch / "a" / "b").mkdir(parents=True)

    def enter(fd: int) -> list[str]:
        if Path(os.readlink(f"/proc/self/fd/{fd}")) == scratch / "a" / "b":
            (scratch / "a" / "b").rename(scratch / "c")
        return os.listdir(fd)

    top = os.open(scratch, FOLDER)
    assert not walk(top, enter, lambda fd, name: None)
    os.close(top)


def held(pids: list[int]) -> int:
    return scratch_folders.kept_open(pids, processes.mapped(map(processes.maps, pids)), MIB)


@linux
def test_open_files_in_no_folder_count_once() -> None:
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(bytes(20_000))
        holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file, stderr=file)
    try:
        assert held([]) == 0
        assert 20_000 <= held([holder.pid]) < 35_000
    finally:
        holder.communicate()


@linux
@pytest.mark.parametrize("memory", [False, True], ids=["disk", "memfd"])
def test_files_that_are_only_mapped_count_with_the_most_that_they_can_take(memory: bool, tmp_path: Path) -> None:
    """One page of a file keeps all of it, and nothing tells how much that is."""
    program = f"""
import mmap, os, sys
fd = os.memfd_create("x") if {memory} else os.open({str(tmp_path / "x")!r}, os.O_CREAT | os.O_RDWR)
os.write(fd, bytes(100_000))
kept = mmap.mmap(fd, mmap.PAGESIZE)
os.close(fd)
for mapped in range(3, 64):
    try: os.close(mapped)
    except OSError: pass
if not {memory}: os.unlink({str(tmp_path / "x")!r})
alone = mmap.mmap(-1, mmap.PAGESIZE)
print("ready", flush=True)
sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        assert held([holder.pid]) == MIB
        holder.communicate()
