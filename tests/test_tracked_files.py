"""What git tracks: nothing that a tool writes while it works, such as the caches of the linters."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

HIDDEN = {".ci", ".containerignore", ".gitignore"}
"""The names at the root that begin with a dot and are ours; tools write all others."""

WRITTEN = (
    *(".venv/bin/python", ".venv-lowest/bin/python", "attn_tutor.egg-info/PKG-INFO", "build/lowest.txt", "dist/a.whl"),
    *(".mypy_cache/3.11/x.json", ".mypy_worker.99c1d5ab.0.json", ".ruff_cache/x", ".import_linter_cache/x"),
    *(".pytest_cache/x", ".hypothesis/x", "lessons/__pycache__/x.pyc"),
)
"""What installing, `make static` and the tests write; mypy leaves a file for each of its workers when it is stopped."""


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints about this checkout. Skips the test where the tree is no checkout."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no git here")
    if done.returncode == 128:
        pytest.skip("this tree is no checkout")
    return done.stdout.splitlines()


def test_nothing_is_tracked_that_git_ignores() -> None:
    assert git("ls-files", "--cached", "--ignored", "--exclude-standard") == []


def test_nothing_hidden_is_tracked_but_what_is_ours() -> None:
    names = {path.split("/")[0] for path in git("ls-files")}
    assert {name for name in names if name.startswith(".")} <= HIDDEN


def test_what_tools_write_is_ignored() -> None:
    assert git("check-ignore", "--no-index", *WRITTEN) == list(WRITTEN)
