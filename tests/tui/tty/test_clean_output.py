"""Whoever prints, nothing but the tutor's own commands reaches standard output and standard error."""

from __future__ import annotations

import argparse
import io
import logging
import sys
import traceback
from collections.abc import Callable

import pytest
from rich.console import Console

from attn_tutor.tui.tty import clean_output
from attn_tutor.tui.tty.clean_output import CleanOutput
from tests.course import ROOT
from tests.tui.hostile_text import COMMANDS, EVERY_COMMAND, MARK, foreign


def raise_it() -> None:
    try:
        raise ValueError(EVERY_COMMAND)
    except ValueError:
        traceback.print_exc()


def refuse_arguments() -> None:
    with pytest.raises(SystemExit):
        argparse.ArgumentParser().parse_args([EVERY_COMMAND])


def log() -> None:
    handler = logging.StreamHandler()
    handler.emit(logging.LogRecord("x", logging.ERROR, "x", 1, EVERY_COMMAND, None, None))


WAYS: dict[str, Callable[[], object]] = {
    "print": lambda: print(EVERY_COMMAND),
    "print in parts": lambda: print(*EVERY_COMMAND, sep="", end="\x1b"),
    "write": lambda: sys.stderr.write(EVERY_COMMAND),
    "lines": lambda: sys.stdout.writelines([EVERY_COMMAND, EVERY_COMMAND]),
    "traceback": raise_it,
    "arguments": refuse_arguments,
    "log": log,
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_print_passes_on_a_command(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    with clean_output.installed():
        WAYS[way]()
    printed = "".join(capsys.readouterr())
    assert foreign(printed) == []
    assert MARK in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_no_kind_of_command_is_passed_on(name: str) -> None:
    under = io.StringIO()
    print(f"a{COMMANDS[name]}b", file=CleanOutput(under))
    assert foreign(under.getvalue()) == []


def test_the_commands_of_the_tutor_are_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    with clean_output.installed():
        clean_output.command("\x1b[31m")
        print("\x1b[32mred")
        clean_output.command("\x1b[0m")
    assert capsys.readouterr().out == "\x1b[31m\ufffd[32mred\n\x1b[0m"
    clean_output.command("\r")
    assert capsys.readouterr().out == "\r"


def test_an_encoding_that_lacks_the_replacement_is_no_error() -> None:
    under = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    CleanOutput(under).write("é\x1b\udc9b\n")
    under.flush()
    assert under.buffer.getvalue() == "é??\n".encode("latin-1")


def test_the_streams_are_what_they_were(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    out = sys.stdout
    monkeypatch.setattr(sys, "stderr", None)
    with clean_output.installed():
        assert sys.stdout.encoding == out.encoding
        assert sys.stdout.isatty() == out.isatty()
        assert sys.stdout.fileno() == out.fileno()
        sys.stdout.buffer.write(b"\x1b as it is\n")
        sys.stdout.buffer.flush()
        assert sys.stderr is None
    assert sys.stdout is out
    assert capfd.readouterr().out == "\x1b as it is\n"


def test_the_colors_of_a_traceback_by_textual_stay() -> None:
    under = io.StringIO()
    Console(file=CleanOutput(under), force_terminal=True, color_system="standard").print("[red]a[/]")  # type: ignore[arg-type]
    assert under.getvalue() == "\x1b[31ma\x1b[0m\n"


AROUND = ("stdout.buffer", "stderr.buffer", "__stdout__", "__stderr__", "clean_output.command", "os.write(")
"""How a module could get around the streams."""

KNOWN = {
    "tui/commands/files.py": ("stdout.buffer",),
    "tui/commands/output.py": ("stdout.buffer",),
    "tui/commands/verbs/train_model.py": ("clean_output.command",),
    "tui/tty/terminal.py": ("__stdout__", "__stderr__"),
    "tui/tty/width_probe.py": ("os.write(",),
}
"""Modules that do, and write what is clean, or what is the tutor's own."""


def test_no_other_module_gets_around_the_streams() -> None:
    for path in (ROOT / "tui").rglob("*.py"):
        name, source = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        assert {way for way in AROUND if way in source} <= {*KNOWN.get(name, ())}, name
