"""The verb `doctor`: it prints what it finds, even where all libraries are missing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

from attn_tutor.lessons.engine.self_testing import WorkerFacts, worker_facts
from attn_tutor.tui.commands.health import python
from attn_tutor.tui.commands.health.check import HealthCheck
from attn_tutor.tui.commands.verbs import doctor
from tests.tui.commands.command_line import ROOT, Command, document

OK = HealthCheck("a", "first", "ok", "as it should be")
NOTE = HealthCheck("b", "second", "note", "too small", "Enlarge it.")
BROKEN = HealthCheck("c", "third", "broken", "missing", "pip install it-with-a-name-that-must-stay-whole")


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PyTorch load in no time."""
    facts = WorkerFacts("2.13.0", "", 2.0, True, "", 6, True, True)
    monkeypatch.setattr(python, "worker_facts", lambda: facts)


@pytest.mark.parametrize(
    ("checks", "status", "end"),
    [
        ([OK], 0, "All is well."),
        ([OK, NOTE], 0, "The tutor works here; the notes say what would be better."),
        ([OK, NOTE, BROKEN], 3, "The tutor does not work here before what is broken is mended."),
    ],
)
def test_the_exit_status_says_whether_the_tutor_works(
    command: Command, monkeypatch: pytest.MonkeyPatch, checks: Sequence[HealthCheck], status: int, end: str
) -> None:
    monkeypatch.setattr(doctor, "look", lambda: iter(checks))
    found, out, err = command("doctor")
    assert (found, err, out.splitlines()[-1]) == (status, "", end)
    data = document(command("doctor", "--json"), status)
    assert data["checks"][0] == {"id": "a", "name": "first", "outcome": "ok", "found": "as it should be", "remedy": ""}


def test_a_remedy_stands_below_what_was_found() -> None:
    assert list(doctor.lines([OK, BROKEN], 60))[:3] == [
        "ok      first  as it should be",
        "BROKEN  third  missing",
        "               -> pip install",
    ]


def test_on_a_narrow_terminal_nothing_is_squeezed_beside_the_names() -> None:
    lines = list(doctor.lines([OK, NOTE], 40))
    assert lines[:3] == ["ok first: as it should be", "note second: too small", "  -> Enlarge it."]


@pytest.mark.usefixtures("worker")
def test_everything_is_looked_at(command: Command) -> None:
    status, out, _ = command("doctor", "--json")
    ids = [check["id"] for check in json.loads(out)["checks"]]
    # A terminal has more to it than the pipe of a test.
    expected = {"terminal", "characters", "python", "libraries", "torch", "host", "memory", "limits", "protection"}
    assert expected | {"state", "cache", "scratch", "clock"} <= set(ids)
    assert status in (0, 3)
    assert len(ids) == len(set(ids))


WITHOUT = """
import sys

class Nothing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("textual", "rich", "pydantic", "yaml", "platformdirs", "torch", "tree_sitter"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Nothing())
import importlib.metadata
importlib.metadata.version = lambda name: (_ for _ in ()).throw(importlib.metadata.PackageNotFoundError(name))
from attn_tutor.lessons.engine.self_testing import WorkerFacts
from attn_tutor.tui.commands.health import python
python.worker_facts = lambda: WorkerFacts(torch_error="ModuleNotFoundError: torch")
from attn_tutor.tui.cli import main
sys.exit(main(["doctor"]))
"""


def test_it_works_where_all_libraries_are_missing() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (3, "")
    broken = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("BROKEN")]
    assert broken == ["libraries", "PyTorch"]
    assert "missing: textual, rich, pydantic," in done.stdout


@pytest.mark.slow
def test_the_worker_tests_itself() -> None:
    facts = worker_facts()
    assert facts.torch_error == ""
    assert facts.torch_computes
    assert facts.torch_seconds > 0


def test_a_worker_that_says_nothing_is_told_by_its_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_tutor.lessons.engine.self_testing.SELF_TEST", "import sys; sys.exit('not today')")
    assert worker_facts() == WorkerFacts(torch_error="not today")
    monkeypatch.setattr("attn_tutor.lessons.engine.self_testing.SELF_TEST", "input()\nwhile True: pass")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "/nowhere/python" in worker_facts().torch_error
