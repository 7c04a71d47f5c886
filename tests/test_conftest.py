"""What a failed test leaves to those after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
