"""Packages of a program that are called like the tutor's: they are the program's own, in every verb."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.programs.engine.running import run_program
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.tensor_questions import ShowQuestion

ROOT = Path(__file__).resolve().parents[4]

OWN = """\
import importlib
import torch
import attention
import lessons.words
import tui
from lessons import words

assert importlib.import_module("lessons.words") is words is lessons.words
x = torch.ones(2) * attention.FACTOR * words.COUNT * tui.SIZE
"""


def run(worker: Session, folder: Path, source: str) -> Run:
    path = folder / "train.py"
    path.write_text(source)
    return run_program(worker, OwnProgram.here(path, source))


@pytest.mark.parametrize("init", [True, False], ids=["package", "folder"])
def test_a_program_finds_its_own_packages(worker: Session, tmp_path: Path, init: bool) -> None:
    (tmp_path / "attention.py").write_text("FACTOR = 2\n")
    for name, file, content in (("lessons", "words.py", "COUNT = 3\n"), ("tui", "__init__.py", "SIZE = 5\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(content)
    if init:
        (tmp_path / "lessons/__init__.py").touch()
    found = run(worker, tmp_path, OWN)
    (result,) = found.steps
    assert result.error is None
    shown = found.ask(ShowQuestion("x", PROGRAM))
    assert isinstance(shown, Tensor)
    assert shown.values == (30.0, 30.0)
    assert {Path(file).name for file in getattr(result, "imported", ())} >= {"attention.py", "words.py"}
    found.close()


def test_a_program_may_use_the_door_for_python(worker: Session, tmp_path: Path) -> None:
    source = "import torch\nfrom attn_tutor import record\nwith record() as trace:\n    x = torch.ones(2) + 1\n"
    found = run(worker, tmp_path, source + "assert trace.tensors['x'].value.tolist() == [2.0, 2.0]\n")
    assert found.steps[0].error is None
    found.close()


def test_the_command_takes_no_module_of_the_working_directory_for_one_of_python(tmp_path: Path) -> None:
    for name in ("tty", "selectors", "pathlib", "argparse", "rich"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('imported {name} from the working directory')\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "attn_tutor", "--version"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
