"""Text from programs and files, made safe to draw on a terminal."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable
from functools import cache
from unicodedata import category

REPLACEMENT = "\ufffd"

LINE_ENDS_AND_TABS = "\n\t"

MOST_BLANKS = 50
"""How many form feeds of a piece of code are looked at, each of which has all of it parsed."""


def is_harmless(character: str) -> bool:
    """Return whether a terminal draws a character where it stands, and does nothing else.

    Control, format and bidirectional characters are not harmless, nor are half of a pair of surrogates and what Unicode
    has not assigned. The spaces of all languages are: French has one before a colon.
    """
    return character.isprintable() or category(character) == "Zs"


def clean(text: str, *, keep: str = LINE_ENDS_AND_TABS, escape: bool = False) -> str:
    """Replace every character that could move the cursor of a terminal, turn its line around, or do worse.

    What is not harmless becomes U+FFFD, or with `escape` what Python writes for it, such as `\\x1b`. Characters in
    `keep` stay, since most text has several lines. Where line ends stay, CRLF becomes LF.
    """
    if text.isprintable():
        return text
    if "\n" in keep:
        text = text.replace("\r\n", "\n")
    return text.translate(_table(keep, _python_escape if escape else _replacement))


def in_one_line(text: str) -> str:
    """Clean a text, and its ends of lines and tabs too."""
    return clean(text, keep="")


def clean_code(code: str) -> str:
    """Return Python code that means the same, and looks the same in an editor, without what a terminal would obey.

    In strings and comments, escapes take the place of such characters. The line ends stay, since a terminal only goes
    to the next line for them, except that a CR of its own, which ends a line for Python, becomes LF.
    """
    if code.isprintable():
        return code
    # Python ignores all that stands before a form feed at the start of a line.
    code = re.sub(r"^[ \t\f]*\f", "", re.sub(r"\r(?!\n)", "\n", code), flags=re.MULTILINE)
    for at in [found.start() for found in re.finditer("\f", code)][:MOST_BLANKS]:
        spaced = f"{code[:at]} {code[at + 1 :]}"
        code = spaced if _means_the_same(spaced, code) else code
    return "\r\n".join(clean(part, escape=True) for part in code.split("\r\n"))


def _means_the_same(code: str, other: str) -> bool:
    """Return whether two pieces of code are one program: a form feed may stand for a blank, but not in a string."""
    try:
        return ast.dump(ast.parse(code)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def clean_json(document: str) -> str:
    """Replace what is not harmless in a JSON document by escapes, which mean the same."""
    return document if document.isprintable() else document.translate(_table(LINE_ENDS_AND_TABS, _json_escape))


def printable(path: str | os.PathLike[str]) -> str:
    """Return a path as text that is safe to print: a name on disk may contain bytes that are not text."""
    return clean(os.fsencode(path).decode("utf-8", "replace"), keep="")


class _Table(dict[int, int | str]):
    """What stands for each character, by number: found when a text first has it, since there are a million."""

    def __init__(self, keep: str, escape: Callable[[str], str]) -> None:
        super().__init__({ord(character): ord(character) for character in keep})
        self._escape = escape

    def __missing__(self, number: int) -> int | str:
        character = chr(number)
        self[number] = number if is_harmless(character) else self._escape(character)
        return self[number]


@cache
def _table(keep: str, escape: Callable[[str], str]) -> _Table:
    return _Table(keep, escape)


def _replacement(_: str) -> str:
    return REPLACEMENT


def _python_escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _json_escape(character: str) -> str:
    return "".join(f"\\u{unit}" for unit in character.encode("utf-16-be", "surrogatepass").hex(" ", 2).split())
