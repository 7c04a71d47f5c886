"""What the doctor says of each state of terminal, Python, host and folders, without the fault."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.launching import host_limits
from attn_tutor.lessons.engine.self_testing import WorkerFacts
from attn_tutor.tui.commands.health import host
from attn_tutor.tui.commands.health.check import HealthCheck
from attn_tutor.tui.commands.health.host import HostFacts, group_free, host_checks, host_facts
from attn_tutor.tui.commands.health.python import LIBRARIES, PythonFacts, is_in_range, python_checks
from attn_tutor.tui.commands.health.storage import FolderFacts, StorageFacts, file_system, storage_checks, storage_facts
from attn_tutor.tui.commands.health.terminal import TerminalFacts, terminal_checks, terminal_facts
from attn_tutor.tui.tty.terminal import detect

MIB = 1 << 20
UTF8 = {"LANG": "C.UTF-8", "TERM": "xterm-256color"}


def outcomes(checks: Iterable[HealthCheck]) -> dict[str, str]:
    """Return what is not ok, by id; assert that what is broken has a remedy."""
    found: dict[str, str] = {}
    for check in checks:
        assert check.outcome != "broken" or check.remedy
        if check.outcome != "ok":
            found[check.id] = check.outcome
    return found


def of_terminal(environ: dict[str, str], tty: bool = True, **fields: object) -> list[HealthCheck]:
    facts = TerminalFacts(environ, detect(environ, tty, tty, tty), widths={"·": 1})
    return list(terminal_checks(replace(facts, **fields)))  # type: ignore[arg-type]


def test_a_good_terminal() -> None:
    checks = of_terminal({**UTF8, "TMUX": "x", "SSH_TTY": "x"}, mosh=True)
    assert outcomes(checks) == {}
    assert checks[0].found == "TERM=xterm-256color, tmux, mosh, SSH"
    assert [check.id for check in checks] == ["terminal", "size", "colors", "characters", "widths"]


@pytest.mark.parametrize(
    ("environ", "fields", "noted"),
    [
        ({**UTF8, "TERM": "dumb"}, {}, "terminal"),
        (UTF8, {"tty": False}, "terminal"),
        (UTF8, {"columns": 79}, "size"),
        (UTF8, {"lines": 23}, "size"),
        ({**UTF8, "TERM": "xterm"}, {}, "colors"),
        ({**UTF8, "TERM": "vt100"}, {}, "colors"),
        ({"TERM": "xterm-256color"}, {}, "characters"),
        (UTF8, {"encoding": "ascii"}, "characters"),
        (UTF8, {"widths": {"·": 2}}, "widths"),
    ],
)
def test_a_terminal_that_could_be_better(environ: dict[str, str], fields: dict[str, object], noted: str) -> None:
    checks = of_terminal(environ, **fields)  # type: ignore[arg-type]
    assert outcomes(checks) == {noted: "note"}
    assert next(check for check in checks if check.id == noted).remedy


@pytest.mark.parametrize(
    ("variable", "found"),
    [("ATTN_TUTOR_COLOR=16", "16 (ATTN_TUTOR_COLOR=16)"), ("NO_COLOR=1", "none (NO_COLOR=1)"),
     ("COLORTERM=truecolor", "truecolor (COLORTERM=truecolor)"), ("TERM=xterm-kitty", "truecolor (TERM=xterm-kitty)")],
)  # fmt: skip
def test_what_decides_about_colors_is_told(variable: str, found: str) -> None:
    name, value = variable.split("=")
    [colors] = [check for check in of_terminal({**UTF8, name: value}) if check.id == "colors"]
    assert colors.found == found


def test_a_terminal_that_does_not_answer_is_no_fault() -> None:
    checks = of_terminal(UTF8, widths={})
    assert outcomes(checks) == {}
    assert "not measured" in checks[-1].found


def test_asked_for_ascii_needs_no_locale() -> None:
    assert outcomes(of_terminal({"TERM": "xterm-256color", "ATTN_TUTOR_ASCII": "1"})) == {}


WORKER = WorkerFacts("2.13.0+cpu", "", 2.0, True, "", 6, True, True)
COMMANDS = {name: f"pip install {name}" for name in (*LIBRARIES, "torch")}
PYTHON = PythonFacts(
    *("3.11.7", "/bin/python", ("textual<9,>=8.2", "torch<3,>=2.6"), dict.fromkeys(LIBRARIES, "8.2.8")),
    COMMANDS,
    WORKER,
)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (PYTHON, {}),
        (replace(PYTHON, worker=replace(WORKER, cuda="13.0")), {}),
        (replace(PYTHON, worker=replace(WORKER, torch_seconds=60.0)), {"torch": "note"}),
        (replace(PYTHON, worker=replace(WORKER, torch_computes=False)), {"torch": "broken"}),
        (replace(PYTHON, worker=WorkerFacts(torch_error="ModuleNotFoundError")), {"torch": "broken"}),
        (replace(PYTHON, versions={}), {"libraries": "broken"}),
        (replace(PYTHON, versions={**PYTHON.versions, "textual": "7.0"}), {"libraries": "broken"}),
        (replace(PYTHON, needs=()), {}),
    ],
)
def test_python(facts: PythonFacts, expected: dict[str, str]) -> None:
    assert outcomes(python_checks(facts)) == expected


def test_what_is_missing_is_installed_by_one_command_if_that_suffices() -> None:
    without = {name: version for name, version in PYTHON.versions.items() if name not in ("textual", "rich")}

    def libraries(commands: dict[str, str]) -> HealthCheck:
        return list(python_checks(replace(PYTHON, versions=without, commands=commands)))[1]

    assert libraries(COMMANDS).found == "missing: textual, rich"
    assert libraries(COMMANDS).remedy == "pip install textual; pip install rich"
    assert libraries(dict.fromkeys(COMMANDS, "make learn")).remedy == "make learn"


@pytest.mark.parametrize(
    ("version", "fits"),
    [("8.2", True), ("8.2.8", True), ("8.10.0", True), ("8.1.9", False), ("9.0.0", False), ("8.2+cpu", True)],
)
def test_versions_are_compared_by_number(version: str, fits: bool) -> None:
    assert is_in_range(version, "textual<9,>=8.2") is fits
    assert is_in_range(version, "")


HOST = HostFacts("Linux 6.1", 2, 8000 * MIB)


@pytest.mark.parametrize(
    ("facts", "worker", "expected"),
    [
        (HOST, WORKER, {}),
        (replace(HOST, free=None), WORKER, {}),
        (replace(HOST, free=500 * MIB), WORKER, {"memory": "note"}),
        (replace(HOST, group_free=100 * MIB), WORKER, {"memory": "broken"}),
        (replace(HOST, limits={"nofile": host_limits.FEWEST_FILES - 1.0}), WORKER, {"limits": "broken"}),
        (replace(HOST, limits={"nofile": 100.0, "as": float("inf")}), WORKER, {"limits": "note"}),
        (replace(HOST, limits={"nofile": 1024.0, "nproc": float("inf")}), WORKER, {}),
        (replace(HOST, is_root=True), WORKER, {"account": "note"}),
        (HOST, replace(WORKER, shared_memory=False), {}),
        (HOST, replace(WORKER, system_calls=False), {"protection": "note"}),
        (HOST, replace(WORKER, landlock=0), {"protection": "note"}),
    ],
)
def test_host(facts: HostFacts, worker: WorkerFacts, expected: dict[str, str]) -> None:
    assert outcomes(host_checks(facts, worker)) == expected


def test_limits_are_told_in_the_units_of_ulimit() -> None:
    checks = host_checks(replace(HOST, limits={"as": 1024.0 * MIB}), WORKER)
    [limits] = [check for check in checks if check.id == "limits"]
    assert limits.found == "as: 1048576 left, 4194304 wanted"
    assert limits.remedy.startswith("ulimit -v 4194304")


@pytest.mark.parametrize(
    ("membership", "files", "free"),
    [
        (
            "0::/a/b",
            {"a/memory.max": 100, "a/memory.current": 30, "a/b/memory.max": "max", "a/b/memory.current": 5},
            70,
        ),
        (
            "0::/a/b",
            {"a/b/memory.max": 100, "a/b/memory.current": 30, "a/b/memory.stat": "anon 1\ninactive_file 20"},
            90,
        ),
        ("3:cpu:/x\n2:memory:/a", {"memory/a/memory.limit_in_bytes": 50, "memory/a/memory.usage_in_bytes": 20}, 30),
        ("2:memory:/a", {"memory/a/memory.limit_in_bytes": 1 << 62, "memory/a/memory.usage_in_bytes": 20}, None),
        ("0::/a", {}, None),
    ],
)
def test_limit_of_a_control_group(tmp_path: Path, membership: str, files: dict[str, object], free: int | None) -> None:
    listed = tmp_path / "membership"
    listed.write_text(membership)
    for name, content in files.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(f"{content}\n")
    assert group_free(listed, tmp_path / "root") == free


DISK = FolderFacts("/home/ada/.local/state/attn-tutor", system="ext4", free=9000 * MIB)
STORAGE = StorageFacts(DISK, DISK, DISK, now=2e9, installed=1.9e9)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (STORAGE, {}),
        (replace(STORAGE, state=None, cache=None), {}),
        (replace(STORAGE, state=FolderFacts("")), {"state": "broken"}),
        (replace(STORAGE, state=replace(DISK, problem="Read-only file system")), {"state": "broken"}),
        (replace(STORAGE, state=replace(DISK, free=MIB)), {"state": "note"}),
        (replace(STORAGE, state=replace(DISK, system="overlay")), {"state": "note"}),
        (replace(STORAGE, state=replace(DISK, rights=0o055)), {"state": "note"}),
        (replace(STORAGE, progress="malformed"), {"state": "note"}),
        (replace(STORAGE, cache=replace(DISK, rights=0o055)), {}),
        (replace(STORAGE, cache=replace(DISK, rights=0o020)), {"cache": "note"}),
        (replace(STORAGE, cache=FolderFacts("")), {"cache": "note"}),
        (replace(STORAGE, scratch=replace(DISK, problem="No space left on device")), {"scratch": "broken"}),
        (replace(STORAGE, scratch=replace(DISK, free=0)), {"scratch": "note"}),
        (replace(STORAGE, now=1.8e9), {"clock": "note"}),
    ],
)
def test_storage(facts: StorageFacts, expected: dict[str, str]) -> None:
    assert outcomes(storage_checks(facts)) == expected


def test_file_system_of_a_folder(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    here, parent = (str(path).replace(" ", r"\040") for path in (tmp_path, tmp_path.parent))
    mounts.write_text(f"a / ext4 rw\nb {parent} tmpfs rw\nc {here}/a\\040b nfs4 rw\nd {here}/a xfs rw\n")
    assert [file_system(path, mounts) for path in (Path("/"), tmp_path, tmp_path / "a b", tmp_path / "a b" / "c")] == [
        "ext4", "tmpfs", "nfs4", "nfs4",
    ]  # fmt: skip
    assert file_system(tmp_path, tmp_path / "nothing") == ""


def test_folders_are_tried_and_left_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "attn-tutor"
    state.mkdir(mode=0o700)
    (state / "progress.db").write_bytes(b"no database")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none" / "yet"))
    facts = storage_facts()
    assert facts.state is not None and facts.cache is not None  # noqa: PT018
    assert (facts.state.problem, facts.state.rights, facts.cache.exists, facts.cache.problem) == ("", 0, False, "")
    assert facts.progress == "file is not a database"
    assert [path.name for path in state.iterdir()] == ["progress.db"]
    assert not (tmp_path / "none").exists()


def test_a_folder_where_no_database_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr("sqlite3.connect", refuse)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert outcomes(storage_checks(storage_facts()))["state"] == "broken"


def test_folders_that_cannot_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python finds no folder for temporary files, and what lies above the other may not be looked into."""

    def refuse() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.gettempdir", refuse)
    exists = Path.exists

    def guarded(path: Path) -> bool:
        if path.is_relative_to(tmp_path):
            raise PermissionError(errno.EACCES, "Permission denied")
        return exists(path)

    monkeypatch.setattr(Path, "exists", guarded)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    facts = storage_facts()
    assert facts.state is not None
    assert (facts.state.problem, facts.progress) == ("Permission denied", "[Errno 13] Permission denied")
    assert facts.scratch.problem == "No usable temporary directory found in ['/tmp']"
    assert {outcomes(storage_checks(facts))[name] for name in ("state", "scratch")} == {"broken"}


def test_facts_of_this_host(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = host_facts()
    assert facts.processors == len(os.sched_getaffinity(0))
    assert facts.limits.keys() >= {"nofile", "as"}
    assert facts.free
    assert host._tasks() > 0
    monkeypatch.setattr("os.getppid", lambda: 1)
    assert not terminal_facts().mosh
