"""Every verb has a module, which is imported only when its work is to be done."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from attn_tutor.tui import cli, programs
from attn_tutor.tui.commands import verbs
from attn_tutor.tui.commands.verb_table import VERBS, Verb

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "docs" / "reference.md"


def help_of(verb: Verb) -> str:
    """Return the help of the arguments of a verb, without the option that asks for it."""
    parser = argparse.ArgumentParser(add_help=False)
    verb.add_arguments(parser)
    return parser.format_help()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_verb_has_a_module_that_names_it(verb: Verb) -> None:
    command = import_module(verb.module)
    assert command.run.__doc__
    assert (command.__doc__ or "").startswith(f"The verb `{verb.name}`")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_reference_describes_a_verb_and_its_options(verb: Verb) -> None:
    reference = REFERENCE.read_text(encoding="utf-8")
    assert re.search(rf"attn-tutor {verb.name}\b", reference)
    options = re.findall(r"^ +(--[a-z-]+)", help_of(verb), re.MULTILINE)
    assert [option for option in options if f"{option} " not in reference and f"{option}]" not in reference] == []


def test_every_module_of_a_verb_is_registered_once() -> None:
    folders = ((package.__name__, Path(package.__path__[0])) for package in (verbs, programs))
    modules = (f"{package}.{path.stem}" for package, folder in folders for path in folder.glob("[!_]*.py"))
    documented = {name: import_module(name).__doc__ or "" for name in modules}
    found = {name for name, doc in documented.items() if doc.startswith("The verb ")}
    assert found == {verb.module for verb in VERBS}
    assert len({verb.name for verb in VERBS}) == len(VERBS)


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["lint", "--help"]], ids=" ".join)
def test_help_imports_no_verb_and_nothing_that_only_verbs_need(arguments: list[str]) -> None:
    code = "import sys\nfrom attn_tutor.tui.cli import main\ntry: main(sys.argv[1:])\nfinally: print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    modules = set(done.stdout.splitlines()[-1].split())
    assert "attn_tutor.tui.commands.verb_table" in modules
    assert not {verb.module for verb in VERBS} & modules
    assert not {"pydantic", "yaml", "textual.app"} & modules


@pytest.mark.parametrize("verb", ["open", "show", "preview"])
def test_that_it_is_plain_text_may_be_said_before_the_verb(verb: str) -> None:
    options = cli._parsed(["--plain", "--columns", "40", verb, "FILE"])
    assert (options.plain, options.columns) == (True, 40)
