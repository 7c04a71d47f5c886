"""The terminal: what it is, its size, its colors, and how wide it draws what the tutor draws."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.health.check import HealthCheck
from attn_tutor.tui.tty.terminal import Terminal, color_choice, given_environment, is_remote, this_terminal

say = Wording("doctor/terminal")

COLUMNS, LINES = 80, 24
"""The size that every step is made to fit."""


@dataclass(frozen=True, slots=True)
class TerminalFacts:
    """What was found of the terminal.

    Attributes:
        environ: the environment.
        terminal: what the tutor makes of it.
        columns, lines: the size.
        encoding: that of standard output.
        mosh: whether this runs in mosh, which no variable tells.
        widths: how many columns each character takes, empty if the terminal did not say.
    """

    environ: Mapping[str, str]
    terminal: Terminal
    columns: int = COLUMNS
    lines: int = LINES
    encoding: str = "utf-8"
    mosh: bool = False
    widths: Mapping[str, int] = field(default_factory=dict)


def terminal_facts() -> TerminalFacts:
    """Look at the terminal of this process, and ask it how wide it draws."""
    terminal = this_terminal()
    columns, lines = shutil.get_terminal_size()
    encoding = getattr(sys.stdout, "encoding", None) or ""
    widths = _widths() if terminal.interactive and terminal.unicode else {}
    return TerminalFacts(dict(given_environment()), terminal, columns, lines, encoding, _is_in_mosh(), widths)


def terminal_checks(facts: TerminalFacts) -> Iterator[HealthCheck]:
    """Yield what is to be said of the terminal."""
    yield _kind(facts)
    if facts.terminal.interactive:
        yield _size(facts)
        yield _colors(facts)
    yield _letters(facts)
    if facts.terminal.interactive and facts.terminal.unicode:
        yield _drawn_widths(facts.widths)


def _kind(facts: TerminalFacts) -> HealthCheck:
    name, term = say("terminal", "terminal"), facts.environ.get("TERM", "")
    if not facts.terminal.interactive:
        found = say("no-screen", "none to draw on (TERM={term}): the tutor prints the course as text", term=term)
        remedy = say(
            "get-screen",
            "Run it in a terminal, over SSH with 'ssh -t HOST attn-tutor', and with TERM as the terminal sets it.",
        )
        return HealthCheck("terminal", name, "note", found, remedy)
    inside = [
        word
        for word, holds in (
            ("tmux", "TMUX" in facts.environ),
            ("screen", "STY" in facts.environ),
            ("mosh", facts.mosh),
            ("SSH", is_remote(facts.environ)),
        )
        if holds
    ]
    return HealthCheck("terminal", name, "ok", ", ".join((f"TERM={term}", *inside)))


def _size(facts: TerminalFacts) -> HealthCheck:
    name, found = say("size", "size"), f"{facts.columns}x{facts.lines}"
    if facts.columns >= COLUMNS and facts.lines >= LINES:
        return HealthCheck("size", name, "ok", found)
    needed = say("made-for", "{found}, and the lessons are made for {columns}x{lines}",
                 found=found, columns=COLUMNS, lines=LINES)  # fmt: skip
    return HealthCheck("size", name, "note", needed, say("enlarge", "Enlarge the window, or choose a smaller font."))


def _colors(facts: TerminalFacts) -> HealthCheck:
    depth, reason = color_choice(facts.environ)
    value = facts.environ.get(reason, "")
    because = f"{reason}={value}" if value else reason
    found = f"{depth} ({because})"
    remedy = ""
    if depth == "16" or (depth == "none" and reason == "TERM"):
        remedy = say("more-colors", "If the terminal shows more: ATTN_TUTOR_COLOR=256 attn-tutor")
    return HealthCheck("colors", say("colors", "colors"), "note" if remedy else "ok", found, remedy)


def _letters(facts: TerminalFacts) -> HealthCheck:
    name = say("letters", "characters")
    setting = next((f"{name}={value}" for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := facts.environ.get(name))),
                   say("no-locale", "no locale set"))  # fmt: skip
    if facts.environ.get("ATTN_TUTOR_ASCII") == "1":
        found = say("asked-for-ascii", "ASCII only, since ATTN_TUTOR_ASCII asks for it")
        return HealthCheck("characters", name, "ok", found)
    if not facts.terminal.unicode:
        found = say("ascii", "ASCII only, since the locale is not UTF-8 ({setting})", setting=setting)
        return HealthCheck("characters", name, "note", found, say("use-utf8", "export LC_ALL=C.UTF-8"))
    if facts.encoding.lower().replace("-", "") != "utf8":
        found = say(
            "other-encoding", "{setting}, but Python writes {encoding}", setting=setting, encoding=facts.encoding
        )
        return HealthCheck("characters", name, "note", found, say("use-python-utf8", "export PYTHONUTF8=1"))
    return HealthCheck("characters", name, "ok", f"UTF-8 ({setting})")


def _drawn_widths(widths: Mapping[str, int]) -> HealthCheck:
    name = say("widths", "widths")
    if not widths:
        return HealthCheck("widths", name, "ok", say("not-measured", "not measured: the terminal does not answer"))
    wrong = "".join(character for character, width in widths.items() if width != 1)
    if not wrong:
        return HealthCheck("widths", name, "ok", say("all-narrow", "every character takes one column"))
    found = say("too-wide", "{characters} do not take one column, so lines will be out of place", characters=wrong)
    remedy = say(
        "narrow", "Set characters of ambiguous width to narrow in the terminal, or: ATTN_TUTOR_ASCII=1 attn-tutor"
    )
    return HealthCheck("widths", name, "note", found, remedy)


def _widths() -> dict[str, int]:
    try:
        from attn_tutor.tui.tty.width_probe import measure_widths

        return measure_widths(sys.stdin.fileno()) or {}
    except (ImportError, OSError):  # termios is missing on Windows
        return {}


def _is_in_mosh() -> bool:
    """Return whether a process above this one is the server of mosh."""
    process = os.getppid()
    try:
        while process > 1:
            # The name stands in parentheses and may contain some; the parent is the second word after them.
            name, _, rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")
            if name.endswith("(mosh-server"):
                return True
            process = int(rest.split()[1])
    except (OSError, ValueError):
        pass
    return False
