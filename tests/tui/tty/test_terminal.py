"""The capabilities of a terminal, as read from its environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from attn_tutor.tui.tty.terminal import Depth, Terminal, detect, output_encoding, prepare, textual_environment, theme

UTF8 = {"LANG": "en_US.UTF-8", "TERM": "xterm"}


@pytest.mark.parametrize(
    ("environ", "depth"),
    [
        ({}, "16"),
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "linux"}, "16"),
        ({"TERM": "screen"}, "16"),
        ({"TERM": "vt100"}, "none"),
        ({"TERM": "dumb"}, "none"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "tmux-256color"}, "256"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, "truecolor"),
        ({"TERM": "alacritty"}, "truecolor"),
        ({"TERM": "xterm-ghostty"}, "truecolor"),
        ({"TERM": "xterm-kitty", "SSH_TTY": "/dev/pts/1"}, "256"),
        ({"OS": "Windows_NT"}, "truecolor"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "none"),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, "256"),
        ({"TERM": "xterm", "NO_COLOR": "1", "ATTN_TUTOR_COLOR": "256"}, "256"),
        ({"TERM": "xterm-256color", "ATTN_TUTOR_COLOR": "none"}, "none"),
        ({"TERM": "xterm-256color", "ATTN_TUTOR_COLOR": "16"}, "16"),
        ({"TERM": "xterm", "ATTN_TUTOR_COLOR": "rainbow"}, "16"),
    ],
)
def test_depth(environ: dict[str, str], depth: Depth) -> None:
    assert detect(environ).depth == depth


@pytest.mark.parametrize(
    ("environ", "unicode"),
    [
        ({}, False),
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LANG": "C.utf8"}, True),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, False),
        ({"LC_ALL": "", "LC_CTYPE": "ru_RU.UTF-8", "LANG": "C"}, True),
        ({"LANG": "ru_RU.KOI8-R"}, False),
        ({"OS": "Windows_NT"}, True),
        ({"LANG": "en_US.UTF-8", "ATTN_TUTOR_ASCII": "1"}, False),
        ({"LANG": "en_US.UTF-8", "ATTN_TUTOR_ASCII": "0"}, True),
    ],
)
def test_unicode(environ: dict[str, str], unicode: bool) -> None:
    assert detect(environ).unicode is unicode


def test_interactive_requires_three_terminals_and_a_terminal_type() -> None:
    assert detect(UTF8).interactive
    assert detect({}).interactive
    assert not detect(UTF8, stdin_tty=False).interactive
    assert not detect(UTF8, stdout_tty=False).interactive
    assert not detect(UTF8, stderr_tty=False).interactive
    assert not detect({"TERM": "dumb"}).interactive


def test_remote() -> None:
    assert not detect(UTF8).remote
    assert detect({**UTF8, "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}).remote
    assert detect({**UTF8, "SSH_TTY": "/dev/pts/0"}).remote


@pytest.mark.parametrize("depth", ["none", "16", "256", "truecolor"])
@pytest.mark.parametrize("remote", [False, True])
def test_textual_gets_valid_values(depth: Depth, remote: bool) -> None:
    variables = textual_environment(Terminal(depth=depth, remote=remote))
    assert variables["TEXTUAL_COLOR_SYSTEM"] in ("standard", "256", "truecolor")
    assert variables["TEXTUAL_ANIMATIONS"] == "none"
    assert variables["TEXTUAL_SMOOTH_SCROLL"] == "0"
    assert (int(variables["TEXTUAL_FPS"]) < 60) is remote
    assert ("NO_COLOR" in variables) is (depth == "none")
    assert variables["TEXTUAL_THEME"] == theme(Terminal(depth=depth, remote=remote))


@pytest.mark.parametrize("depth", ["none", "16", "256", "truecolor"])
def test_theme(depth: Depth) -> None:
    here = "ansi-dark" if depth in ("none", "16") else "textual-dark"
    assert theme(Terminal(depth=depth)) == here
    # Painted backgrounds are half of the bytes on the line.
    assert theme(Terminal(depth=depth, remote=True)) == "ansi-dark"


def test_prepare_replaces_values_that_stop_textual_or_remove_colors() -> None:
    environ = {"TEXTUAL_COLOR_SYSTEM": "", "NO_COLOR": "", "HOME": "/home/learner"}
    prepare(Terminal(depth="256"), environ)
    assert environ["TEXTUAL_COLOR_SYSTEM"] == "256"
    assert "NO_COLOR" not in environ
    assert environ["HOME"] == "/home/learner"
    prepare(Terminal(depth="none"), environ)
    assert environ["NO_COLOR"]


def test_neither_textual_nor_rich_is_imported() -> None:
    program = (
        "import sys, tui.tty.terminal; print([name for name in ('textual', 'rich', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_closed_streams_are_not_terminals() -> None:
    program = "import sys; from attn_tutor.tui.tty.terminal import this_terminal; sys.exit(this_terminal().interactive)"
    shell = f'exec "{sys.executable}" -c "{program}" <&- >&- 2>&-'
    assert subprocess.run(["/bin/sh", "-c", shell], check=False).returncode == 0


@pytest.mark.parametrize(
    ("environ", "encoding"),
    [
        ({"LANG": "C.UTF-8"}, "utf-8"),
        ({"LANG": "C.UTF-8", "ATTN_TUTOR_ASCII": "1"}, "ascii"),
        ({"LANG": "C"}, "ascii"),
        ({"LANG": "en_US"}, "ascii"),
        ({"LC_ALL": "ru_RU.KOI8-R", "LANG": "C.UTF-8"}, "koi8-r"),
        ({"LC_CTYPE": "de_DE.ISO-8859-15@euro"}, "iso8859-15"),
        ({"LANG": "xx.no-encoding"}, "ascii"),
    ],
)
def test_output_encoding(environ: dict[str, str], encoding: str) -> None:
    assert output_encoding(environ) == encoding


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["C", "POSIX", "zz_ZZ.KOI8-R"])
def test_encoding_that_python_puts_into_the_environment_is_not_the_terminals(name: str) -> None:
    environ = {**os.environ, "LANG": name}
    program = (
        "import os, sys; from attn_tutor.tui.tty.terminal import this_terminal; "
        "from attn_tutor.tui.commands import output; output.use_given_encoding(); output.print_lines(['\u2026']); "
        "sys.exit(this_terminal().unicode or os.environ.get('LC_CTYPE', '') == '')"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"...\n")
