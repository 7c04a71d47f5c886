"""Text from programs and files, made safe to print on a terminal."""

from __future__ import annotations

import os

REPLACEMENT = "\ufffd"


def clean(text: str, *, keep: str = "\n\t", escape: bool = False) -> str:
    """Replace every character that could move the cursor of a terminal, turn its line around, or do worse.

    Control, format and bidirectional characters become U+FFFD, or with `escape` what Python writes for them, such as
    `\\x1b`. Those in `keep` stay: line ends and tabs, since most text has several lines. Where line ends stay, CRLF
    becomes LF.
    """
    if text.isprintable():
        return text
    if "\n" in keep:
        text = text.replace("\r\n", "\n")
    return "".join(
        character
        if character.isprintable() or character in keep
        else character.encode("unicode_escape").decode()
        if escape
        else REPLACEMENT
        for character in text
    )


def printable(path: str | os.PathLike[str]) -> str:
    """Return a path as text that is safe to print: a name on disk may contain bytes that are not text."""
    return clean(os.fsencode(path).decode("utf-8", "replace"), keep="")
