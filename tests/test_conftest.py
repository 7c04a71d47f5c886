"""What a failed test leaves to those after it, and how parallel processes share the reading of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import conftest

ROOT = Path(__file__).parents[1]

TESTS = """
import gc
import socket


def test_fails():
    left = [socket.socket()]
    left.append(left)
    assert False


def test_passes():
    gc.collect()
"""


def test_what_a_failed_test_has_not_closed_fails_no_other(tmp_path: Path) -> None:
    file = tmp_path / "test_two.py"
    file.write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-p", "tests.conftest", str(file)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines()[-1].startswith("1 failed, 1 passed"), done.stdout


@pytest.mark.parametrize(("worker", "first"), [("gw0", "a"), ("gw1", "c"), ("gw2", "e")])
def test_parallel_processes_read_the_tests_from_different_ones_on(
    monkeypatch: pytest.MonkeyPatch, worker: str, first: str
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "3")
    found = conftest.from_own_part(list("abcdef"))
    assert (found[0], sorted(found)) == (first, list("abcdef"))


def test_one_process_reads_the_tests_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    assert conftest.from_own_part(list("abc")) == list("abc")
