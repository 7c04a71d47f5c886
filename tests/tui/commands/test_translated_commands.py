"""Commands in another language: nothing that they say is left in English, but for what argparse says itself."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest

from attn_tutor.tui import cli
from attn_tutor.tui.commands.verb_table import VERBS, Verb
from tests import pseudo_language
from tests.course import COURSE, use_course
from tests.pseudo_language import CLOSE, OPEN
from tests.tui.commands.command_line import Command


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("translations")
    pseudo_language.write(folder, pseudo_language.interface())
    return folder


@pytest.fixture(autouse=True)
def translated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pseudo_language.speak(monkeypatch, folder)
    use_course(monkeypatch, COURSE)


def is_translated(text: str) -> bool:
    return text.startswith(OPEN) and text.endswith(CLOSE)


def helps_of(parser: argparse.ArgumentParser) -> list[str]:
    return [action.help or "" for action in parser._actions if not isinstance(action, argparse._HelpAction)]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_help_of_a_verb_is_translated(verb: Verb) -> None:
    parser = argparse.ArgumentParser()
    verb.add_arguments(parser)
    assert [text for text in (verb.summary(), *helps_of(parser)) if not is_translated(text)] == []


def test_help_of_the_command_is_translated(command: Command) -> None:
    _, out, _ = command("--help")
    assert all(OPEN in line for line in out.splitlines() if line.startswith(("    list", "    export", "    check ")))
    assert f"{OPEN}commands{CLOSE}:" in out
    assert f"\n{OPEN}Understand attention" in out
    assert is_translated(cli._parser().description or "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "99"),
        ("run", "1", "--step", "x"),
        ("run", "5", "--set", "seed"),
        ("run", "5", "--set", "diagonal=7"),
        ("run", "5", "--words", "one"),
        ("run", "5", "--cell", "foo[0]=1"),
        ("check", "9.9", "-"),
        ("check", "3.2", "nowhere.py"),
        ("explain", "all-queries", "nowhere", "scores", "0"),
        ("explain", "all-queries", "product", "scores", "one"),
        ("explain", "all-queries", "product", "scores", "0,0", "--depth", "0"),
        ("flow", "5", "nowhere"),
        ("history", "9.9"),
        ("history", "3.2", "--show", "1"),
        ("history", "--show", "1"),
        ("watch", "2.1"),
        ("watch", "3.2", "/"),
        ("watch", "3.2", "/nowhere/file.py"),
        ("train", "1"),
        ("train", "16", "--step", "why"),
        ("glossary", "nothing like it"),
        ("export", "/nowhere/file"),
        ("import", "nowhere.json"),
        ("import", "-"),
        ("report", "nowhere.json"),
        ("report", "-"),
    ],
    ids=" ".join,
)
def test_errors_are_translated(command: Command, arguments: Sequence[str]) -> None:
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert is_translated(err.removeprefix("attn-tutor: ").strip()), err


def test_empty_histories_are_translated(command: Command) -> None:
    for verb in ("history", "check-all"):
        _, out, _ = command(verb)
        assert is_translated(out.strip()), out
