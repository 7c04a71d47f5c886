"""The abilities of the terminal, determined from the environment alone, and text for one that knows ASCII only.

Textual reads its settings when it is imported, so everything here runs before that and does not import it.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

Depth = Literal["none", "16", "256", "truecolor"]
"""The number of colors."""

Reason = Literal["ATTN_TUTOR_COLOR", "NO_COLOR", "COLORTERM", "TERM", "Windows"]
"""What decides about the number of colors: a variable of the environment, or the system."""

FPS_LOCAL = 60
FPS_REMOTE = 10
"""Frames per second over SSH. Keys that repeat faster share a frame, so that a slow link does not fall behind."""

_DEPTHS: dict[str, Depth] = {"none": "none", "16": "16", "256": "256", "truecolor": "truecolor"}
_DUMB = ("dumb", "unknown", "emacs")
_COLORLESS = ("vt52", "vt100", "vt102", "vt220")
_TRUECOLOR = ("alacritty", "contour", "foot", "xterm-ghostty", "xterm-kitty", "kitty", "wezterm")
"""Prefixes of TERM that imply 24-bit color; SSH often does not pass on COLORTERM, which would say so too."""


_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""The values that Python gives to LC_CTYPE."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The abilities of a terminal.

    Attributes:
        interactive: whether a full screen program makes sense; else print plain text.
        depth: how many colors to use.
        unicode: whether shades, arrows and the like may be drawn; else ASCII stands in for them.
        remote: whether there is a network between program and terminal, so that bytes count.
    """

    interactive: bool = True
    depth: Depth = "truecolor"
    unicode: bool = True
    remote: bool = False

    @property
    def ellipsis(self) -> str:
        """The character for omitted text."""
        return "…" if self.unicode else "~"


def detect(
    environ: Mapping[str, str], stdin_tty: bool = True, stdout_tty: bool = True, stderr_tty: bool = True
) -> Terminal:
    """Return the abilities of the terminal in this environment.

    All three streams count: keys come from stdin, Textual draws on stderr, and whoever redirects stdout wants text in
    it.
    """
    term = environ.get("TERM", "").lower()
    return Terminal(
        interactive=stdin_tty and stdout_tty and stderr_tty and term not in _DUMB,
        depth=color_choice(environ)[0],
        unicode=_unicode(environ),
        remote=is_remote(environ),
    )


def this_terminal() -> Terminal:
    """Return the abilities of this process's terminal."""
    return detect(given_environment(), _is_tty(sys.__stdin__), _is_tty(sys.__stdout__), _is_tty(sys.__stderr__))


def given_environment() -> Mapping[str, str]:
    """Return the environment of this process without the encoding that Python adds.

    Where the locale is C, or not installed, Python sets LC_CTYPE to one with UTF-8, whatever the terminal shows.
    """
    if os.environ.get("LC_CTYPE") not in _COERCED:
        return os.environ
    try:
        given = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return os.environ
    if any(entry.startswith(b"LC_CTYPE=") for entry in given):
        return os.environ
    return {name: value for name, value in os.environ.items() if name != "LC_CTYPE"}


def output_encoding(environ: Mapping[str, str]) -> str:
    """Return the encoding of text for the terminal of this environment."""
    if _unicode(environ):
        return "utf-8"
    encoding = "" if environ.get("ATTN_TUTOR_ASCII") == "1" else _locale(environ).partition(".")[2].partition("@")[0]
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return "ascii"


def theme(terminal: Terminal) -> str:
    """Return the name of the Textual theme to use.

    With up to 16 colors, all panels of an RGB theme would get the same few colors, and NO_COLOR would still produce
    gray RGB. The ANSI theme uses the terminal's own colors, is the only one that NO_COLOR makes colorless, and paints
    no background, which saves half of the bytes over SSH.
    """
    return "ansi-dark" if terminal.depth in ("none", "16") or terminal.remote else "textual-dark"


def textual_environment(terminal: Terminal) -> dict[str, str]:
    """Return the environment variables to set before Textual is imported."""
    variables = {
        # Any value other than these stops Textual at startup, so an inherited one is always replaced.
        "TEXTUAL_COLOR_SYSTEM": "standard" if terminal.depth in ("none", "16") else terminal.depth,
        # The app decides in its constructor how to treat NO_COLOR, based on its theme at that time.
        "TEXTUAL_THEME": theme(terminal),
        "TEXTUAL_ANIMATIONS": "none",
        "TEXTUAL_SMOOTH_SCROLL": "0",
        "TEXTUAL_FPS": str(FPS_REMOTE if terminal.remote else FPS_LOCAL),
    }
    if terminal.depth == "none":
        variables["NO_COLOR"] = "1"
    return variables


def prepare(terminal: Terminal, environ: MutableMapping[str, str]) -> None:
    """Set up `environ` (`os.environ`) for Textual.

    Textual obeys NO_COLOR even if it is empty or overridden by ATTN_TUTOR_COLOR; in these cases it is removed.
    """
    if terminal.depth != "none":
        environ.pop("NO_COLOR", None)
    environ.update(textual_environment(terminal))


def color_choice(environ: Mapping[str, str]) -> tuple[Depth, Reason]:
    """Return how many colors to use in this environment, and what decides that."""
    term = environ.get("TERM", "").lower()
    if wish := _DEPTHS.get(environ.get("ATTN_TUTOR_COLOR", "").lower()):
        return wish, "ATTN_TUTOR_COLOR"
    if environ.get("NO_COLOR"):
        return "none", "NO_COLOR"
    if term in _DUMB or term in _COLORLESS or term.endswith(("-m", "-mono")):
        return "none", "TERM"
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "truecolor", "COLORTERM"
    if term.endswith("-direct"):
        return "truecolor", "TERM"
    if term.startswith(_TRUECOLOR):
        # 24-bit color takes half again as many bytes as 256 colors. Over SSH it must be requested explicitly.
        return "256" if is_remote(environ) else "truecolor", "TERM"
    if _is_windows(environ):
        return "truecolor", "Windows"
    return "256" if "256color" in term else "16", "TERM"


def is_remote(environ: Mapping[str, str]) -> bool:
    """Return whether this environment is that of a connection over SSH."""
    return any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))


def _unicode(environ: Mapping[str, str]) -> bool:
    if environ.get("ATTN_TUTOR_ASCII") == "1":
        return False
    locale = _locale(environ)
    return "utf8" in locale.lower().replace("-", "") if locale else _is_windows(environ)


def _locale(environ: Mapping[str, str]) -> str:
    """Return the name of the locale for characters, "" if there is none."""
    return next(filter(None, map(environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")


def _is_windows(environ: Mapping[str, str]) -> bool:
    return environ.get("OS") == "Windows_NT"


def _is_tty(stream: TextIO | None) -> bool:
    # A stream may be absent (pythonw) or closed (`attn-tutor <&-`).
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


ASCII = str.maketrans({"·": "*", "√": "sqrt ", "×": "x", "…": "...", "→": "->", "–": "-", "—": "-", "≈": "~"})


def in_ascii(text: str) -> str:
    """Replace the non-ASCII characters that lessons use by ASCII."""
    return text.translate(ASCII)


def encodable(text: str, encoding: str | None) -> str:
    """Return text with ASCII, or an escape, in place of what an encoding lacks."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return in_ascii(text).encode(encoding, "backslashreplace").decode(encoding)
    return text
