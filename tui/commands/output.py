"""The output of commands: lines, JSON documents, code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable

from lessons.results.clean_text import clean
from tui.render.ascii_text import in_ascii
from tui.tty.terminal import this_terminal


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; what the encoding of standard output lacks becomes an escape rather than an error."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        try:
            line.encode(encoding)
        except UnicodeEncodeError:
            line = in_ascii(line).encode(encoding, "backslashreplace").decode(encoding)
        print(line)


def print_now(lines: Iterable[str]) -> None:
    """Print lines that somebody is waiting for, even at the other end of a pipe."""
    print_lines(lines)
    sys.stdout.flush()


def print_json(document: object) -> None:
    """Print a document on one line. Raises `ValueError` for a number that JSON lacks."""
    print(json.dumps(document, allow_nan=False))


def print_code(code: str) -> None:
    """Print code byte for byte, so that it can go to a file. On a terminal, omit whatever would move its cursor."""
    if sys.stdout.isatty():
        print_lines(clean(code).removesuffix("\n").split("\n"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(code.encode())
    sys.stdout.buffer.flush()


def print_error(error: object) -> None:
    """Print what went wrong on standard error, as the command's own words."""
    print(f"attn-tutor: {error}", file=sys.stderr)


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
