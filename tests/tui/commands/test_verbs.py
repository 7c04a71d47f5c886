"""Every verb has a module, and none is imported before the command line names it."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import tui.commands
from tui.commands.verbs import VERBS, Verb

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
FOLDER = Path(tui.commands.__path__[0])


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_module_of_a_verb(verb: Verb) -> None:
    command = verb.load()
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert "usage" in parser.format_help()
    assert command.run.__doc__
    assert (command.__doc__ or "").startswith(f"The verb `{verb.name}`")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_readme_tells_of_a_verb_and_its_options(verb: Verb) -> None:
    readme = README.read_text(encoding="utf-8")
    parser = argparse.ArgumentParser(add_help=False)
    verb.load().add_arguments(parser)
    assert re.search(rf"attn-tutor {verb.name}\b", readme)
    options = re.findall(r"--[a-z]+", parser.format_usage())
    assert [option for option in options if f"{option} " not in readme and f"{option}]" not in readme] == []


def test_every_module_with_arguments_is_a_verb() -> None:
    modules = (path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
    found = {name for name in modules if hasattr(import_module(f"tui.commands.{name}"), "add_arguments")}
    assert found == {verb.module for verb in VERBS}
    assert len({verb.name for verb in VERBS}) == len(VERBS)


def test_help_imports_no_verb() -> None:
    code = "import sys\nfrom tui.cli import main\ntry: main(['--help'])\nfinally: print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    modules = done.stdout.splitlines()[-1].split()
    assert "tui.commands.verbs" in modules
    assert not {f"tui.commands.{verb.module}" for verb in VERBS} & set(modules)
