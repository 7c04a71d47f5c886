"""The output of commands: lines, JSON documents, code, and errors that end a command early."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper

from attn_tutor.lessons.results.clean_text import clean_code
from attn_tutor.tui.tty.clean_output import PLAIN, Colored, command
from attn_tutor.tui.tty.exit_codes import ExitCode
from attn_tutor.tui.tty.terminal import encodable, given_environment, output_encoding, this_terminal


class CommandError(Exception):
    """A command cannot do what it was asked to do, through no fault of the user."""

    exit_code = ExitCode.FAILURE


class NotAllowed(CommandError):
    """Somebody was asked whether a course may run, and did not say yes."""


class UsageError(CommandError):
    """The command line names something that does not exist."""

    exit_code = ExitCode.USAGE


def use_given_encoding() -> None:
    """Have text encoded as the environment asks, unless somebody has told Python how.

    In a locale that is C, or not installed, Python writes UTF-8.
    """
    environ = given_environment()
    encoding = output_encoding(environ)
    if encoding == "utf-8" or any(environ.get(name) for name in ("PYTHONIOENCODING", "PYTHONUTF8")):
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding == "utf-8":
            stream.reconfigure(encoding=encoding, errors="replace")


def print_lines(lines: Iterable[str | Colored]) -> None:
    """Print lines; what the encoding of standard output lacks becomes an escape rather than an error."""
    for line in lines:
        if isinstance(line, Colored):
            command(line.color)
            print(encodable(line.text, sys.stdout.encoding), end="")
            command(PLAIN)
            print()
        else:
            print(encodable(line, sys.stdout.encoding))


def print_now(lines: Iterable[str | Colored]) -> None:
    """Print lines that somebody is waiting for, even at the other end of a pipe."""
    print_lines(lines)
    sys.stdout.flush()


def print_json(document: object) -> None:
    """Print a document on one line. Raises `ValueError` for a number that JSON lacks."""
    print(json.dumps(document, allow_nan=False))


def print_code(code: str) -> None:
    """Print code so that it can go to a file: in UTF-8, with escapes for what would command a terminal."""
    code = clean_code(code)
    if sys.stdout.isatty():
        print_lines(code.replace("\r\n", "\n").removesuffix("\n").split("\n"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(code.encode())
    sys.stdout.buffer.flush()


def print_error(error: object) -> None:
    """Print what went wrong on standard error, as the command's own words."""
    if sys.stderr is None:  # closed: the exit status alone says that something went wrong
        return
    try:
        print(encodable(f"attn-tutor: {error}", sys.stderr.encoding), file=sys.stderr, flush=True)
    except OSError:
        discard_output()


def is_colored() -> bool:
    """Return whether standard output is a terminal that shows colors, and is allowed to."""
    return sys.stdout.isatty() and this_terminal().depth != "none"


def discard_output() -> None:
    """Keep Python from complaining at exit, with an exit code of its own, about output that it cannot write."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
