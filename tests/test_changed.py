"""Which tests a change calls for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.changed import ROOT, changed_paths, select_tests

TESTS = [
    "tests/test_imports.py",
    "tests/attention/test_causal.py",
    "tests/lessons/test_lessons.py",
    "tests/lessons/engine/test_judging.py",
    "tests/lessons/engine/test_session.py",
    "tests/lessons/worker/jobs/test_run.py",
    "tests/tui/widgets/test_matrix.py",
]
ENGINE = ["tests/lessons/engine/test_judging.py", "tests/lessons/engine/test_session.py"]


@pytest.mark.parametrize(
    ("changed", "called"),
    [
        ("lessons/engine/session.py", ENGINE),
        ("attention/multi_head.py", ["tests/attention/test_causal.py"]),
        ("lessons/worker/jobs/run.py", ["tests/lessons/worker/jobs/test_run.py"]),
        ("lessons/load.py", ["tests/lessons/test_lessons.py"]),
        ("tui/widgets/matrix.tcss", ["tests/tui/widgets/test_matrix.py"]),
    ],
)
def test_file_calls_for_the_select_tests_its_room(changed: str, called: list[str]) -> None:
    assert select_tests([changed], TESTS) == called


@pytest.mark.parametrize(
    ("changed", "called"),
    [
        ("lessons/engine/deeper/and/deeper.py", ENGINE),
        ("lessons/worker/wire.py", ["tests/lessons/test_lessons.py"]),
        ("lessons/course/05-causal/lesson.yaml", ["tests/lessons/test_lessons.py"]),
        ("tui/app.py", ["tests/test_imports.py"]),
        ("Makefile", ["tests/test_imports.py"]),
        (".ci/run", ["tests/test_imports.py"]),
    ],
)
def test_room_without_tests_takes_those_of_the_room_around_it(changed: str, called: list[str]) -> None:
    assert select_tests([changed], TESTS) == called


def test_changed_test_calls_for_itself() -> None:
    assert select_tests(["tests/lessons/engine/test_session.py"], TESTS) == ["tests/lessons/engine/test_session.py"]


@pytest.mark.parametrize("name", ["conftest.py", "fake_session.py", "test_that_is_gone.py"])
def test_other_file_among_tests_calls_for_those_beside_it(name: str) -> None:
    assert select_tests([f"tests/lessons/engine/{name}"], TESTS) == ENGINE


def test_each_test_is_called_once() -> None:
    changed = ["lessons/engine/run.py", "tests/lessons/engine/test_session.py", "attention/causal.py"]
    assert select_tests(changed, TESTS) == ["tests/attention/test_causal.py", *ENGINE]


def test_no_change_calls_for_no_test() -> None:
    assert select_tests([], TESTS) == []


def test_tree_without_tests_calls_for_none() -> None:
    assert select_tests(["tui/app.py"], []) == []


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit on its main branch."""
    root = tmp_path / "a checkout"
    root.mkdir()
    for name in ("kept.py", "edited.py", "deleted.py", "moved.py"):
        (root / name).write_text(f"# {name}\n" * 5)
    (root / ".gitignore").write_text("*.pyc\n")
    git = git_in(root)
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message=First")
    return root


def git_in(root: Path) -> Callable[..., None]:
    """Return a function that runs git in a folder, as an author with a name."""
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]

    def git(*arguments: str) -> None:
        subprocess.run(["git", *author, *arguments], cwd=root, check=True, capture_output=True)

    return git


def test_nothing_has_changed_at_first(repository: Path) -> None:
    assert changed_paths(repository) == []


def test_uncommitted_and_unknown_files_have_changed(repository: Path) -> None:
    (repository / "edited.py").write_text("edited\n")
    (repository / "deleted.py").unlink()
    (repository / "new é.py").write_text("new\n")
    (repository / "ignored.pyc").write_text("ignored\n")
    (repository / "staged.py").write_text("staged\n")
    git_in(repository)("add", "staged.py")
    assert changed_paths(repository) == ["deleted.py", "edited.py", "new é.py", "staged.py"]


def test_commits_of_a_branch_have_changed_and_those_of_main_since_have_not(repository: Path) -> None:
    git = git_in(repository)
    git("switch", "--quiet", "--create", "branch")
    git("mv", "moved.py", "there.py")
    git("commit", "--quiet", "--message=Move")
    git("switch", "--quiet", "main")
    (repository / "kept.py").write_text("changed on main\n")
    git("commit", "--quiet", "--all", "--message=Another")
    git("switch", "--quiet", "branch")
    assert changed_paths(repository) == ["moved.py", "there.py"]


def test_checkout_without_a_main_branch_knows_what_is_uncommitted(repository: Path) -> None:
    git_in(repository)("branch", "--move", "trunk")
    (repository / "edited.py").write_text("edited\n")
    assert changed_paths(repository) == ["edited.py"]


def test_paths_are_those_below_the_folder(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "new.py").write_text("new\n")
    (repository / "edited.py").write_text("edited\n")
    assert changed_paths(inner) == ["new.py"]


def test_folder_without_a_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(subprocess.CalledProcessError):
        changed_paths(tmp_path)


def make_check(folder: Path, found: str, status: int = 0) -> tuple[bool, list[str]]:
    """Run `make check` with an environment whose Python writes down what it is asked, and whose pytest has a status.

    Returns whether make succeeded, and what was asked.
    """
    (folder / "found").write_text(found)
    (folder / ".ready-dev").touch()
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.write_text(
        f'#!/bin/sh\necho "$*" >> {folder}/log\n'
        f'case "$2" in tests.changed) cat {folder}/found ;; pytest) exit {status} ;; esac\n'
    )
    python.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "check", f"VENV={folder}", "ARGS=-x"]
    made = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, timeout=60)
    return made.returncode == 0, (folder / "log").read_text().splitlines()


@pytest.mark.parametrize(
    ("found", "run"),
    [
        ("", []),
        (
            "tests/test_a.py\ntests/test_b.py\n",
            ["-m pytest -m not slow and not long tests/test_a.py tests/test_b.py -x"],
        ),
    ],
)
def test_make_runs_what_was_found_and_never_everything(found: str, run: list[str], tmp_path: Path) -> None:
    succeeded, asked = make_check(tmp_path, found)
    assert succeeded
    assert [line for line in asked if line.startswith("-m pytest")] == run
    assert "-m tests.changed" in asked


@pytest.mark.parametrize(("status", "succeeds"), [(0, True), (1, False), (2, False), (5, True)])
def test_make_fails_as_pytest_does_unless_all_tests_were_left_out(status: int, succeeds: bool, tmp_path: Path) -> None:
    assert make_check(tmp_path, "tests/test_a.py\n", status)[0] is succeeds
