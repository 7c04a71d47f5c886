"""A compiled file that a full disk has cut short is compiled again, in the screen and in the worker."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.launching import worker_process
from attn_tutor.lessons.reading import cut_bytecode

ROOT = Path(__file__).parents[3]
SOURCE = "words = ('many of them', 'so that', 'it is long') + tuple('abcdefgh')\n" * 60


def cut(folder: Path) -> Path:
    """Write a module whose compiled file ends after its first block, and return that file."""
    source = folder / "cut_short.py"
    source.write_text(SOURCE)
    run(folder, "import cut_short")
    compiled = Path(importlib.util.cache_from_source(str(source)))
    compiled.write_bytes(compiled.read_bytes()[: cut_bytecode.BLOCK])
    return compiled


def run(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)])}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=False)


def test_python_alone_fails_at_it(tmp_path: Path) -> None:
    cut(tmp_path)
    assert "EOFError" in run(tmp_path, "import cut_short").stderr


def test_it_is_compiled_again_and_written(tmp_path: Path) -> None:
    compiled = cut(tmp_path)
    ignored = run(
        tmp_path, "from attn_tutor.lessons.reading import cut_bytecode; cut_bytecode.ignore(); import cut_short"
    )
    assert (ignored.returncode, ignored.stderr) == (0, "")
    assert compiled.stat().st_size > cut_bytecode.BLOCK
    assert run(tmp_path, "import cut_short").returncode == 0


@pytest.mark.parametrize("start", ["import attn_tutor.__main__", worker_process._BOOT.partition("try:")[0]])
def test_the_processes_of_the_tutor_ignore_it(tmp_path: Path, start: str) -> None:
    cut(tmp_path)
    arguments = f"import sys; sys.argv[1:] = [{str(ROOT)!r}, '0']\n"
    ignored = run(tmp_path, f"{arguments}{start}\nimport cut_short")
    assert (ignored.returncode, ignored.stderr) == (0, "")
