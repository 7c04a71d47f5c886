"""The verb `doctor`: look at everything that the tutor depends on, and say what to do about what is wrong.

It has to work where the tutor does not, so neither it nor what it imports needs more than Python itself.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.health.check import HealthCheck, Outcome
from attn_tutor.tui.commands.health.host import host_checks, host_facts
from attn_tutor.tui.commands.health.python import python_checks, python_facts
from attn_tutor.tui.commands.health.storage import storage_checks, storage_facts
from attn_tutor.tui.commands.health.terminal import terminal_checks, terminal_facts
from attn_tutor.tui.commands.output import print_json, print_lines
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/doctor")

NARROWEST = 40
"""The least columns that the lines are wrapped at."""


NARROW = 60
"""The columns below which a name and what was found do not stand in columns."""


def run(options: argparse.Namespace) -> ExitCode:
    """Print what was found. The exit code says whether anything is broken."""
    checks = list(look())
    broken = any(check.outcome == "broken" for check in checks)
    if options.json:
        print_json({"checks": [asdict(check) for check in checks]})
    else:
        print_lines(lines(checks, shutil.get_terminal_size().columns))
    return ExitCode.FAILURE if broken else ExitCode.OK


def look() -> Iterator[HealthCheck]:
    """Look at the terminal, at Python, the host and the folders, and yield what is found."""
    yield from terminal_checks(terminal_facts())
    python = python_facts()
    yield from python_checks(python)
    yield from host_checks(host_facts(), python.worker)
    yield from storage_checks(storage_facts())


def lines(checks: Sequence[HealthCheck], width: int) -> Iterator[str]:
    """Yield a line for each check, or several if it is wider than the terminal, and its remedy below it."""
    words = {check.outcome: outcome_word(check.outcome) for check in checks}
    word_width, name_width = max(map(len, words.values())), max(len(check.name) for check in checks)
    # On a narrow terminal, what was found would be left a few columns beside its name.
    indent = " " * (word_width + name_width + 4 if width >= NARROW else 2)
    for check in checks:
        head = f"{words[check.outcome]:{word_width}}  {check.name:{name_width}}  "
        if width < NARROW:
            head = f"{words[check.outcome]} {check.name}: "
        yield from _wrapped(check.found, head, indent, width)
        if check.remedy:
            yield from _wrapped(check.remedy, f"{indent}-> ", f"{indent}   ", width)
    yield ""
    counts = [check.outcome for check in checks]
    if "broken" in counts:
        yield say("broken-end", "The tutor does not work here before what is broken is mended.")
    elif "note" in counts:
        yield say("note-end", "The tutor works here; the notes say what would be better.")
    else:
        yield say("ok-end", "All is well.")


def outcome_word(outcome: Outcome) -> str:
    """Return how a check came out, in a word."""
    match outcome:
        case "ok":
            return say("ok", "ok")
        case "note":
            return say("note", "note")
    return say("broken", "BROKEN")


def _wrapped(text: str, head: str, indent: str, width: int) -> list[str]:
    # Commands stay whole, so that they can be copied.
    width = max(width, NARROWEST, len(indent) + NARROWEST // 2)
    return textwrap.wrap(
        text, width, initial_indent=head, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
