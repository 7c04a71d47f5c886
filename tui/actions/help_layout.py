"""The layout of the pages of F1: keys and their effects in columns, and paragraphs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.action_words import help_of
from attn_tutor.tui.actions.key_names import full_keys
from attn_tutor.tui.actions.table import of_context

say = Wording("help/words")

LABEL_WIDTH, SECOND_COLUMN, SECOND_WIDTH = 16, 39, 7
"""Columns of the keys, of the beginning of a second action in a line, and of its keys, at least."""

NARROW = 48
"""Columns below which the sentences do not start in a column of their own."""

GAP = 3
NESTED = "  "
ID = re.compile(r"\{([\w.-]+)\}")


@dataclass(frozen=True, slots=True)
class Entry:
    """Keys and their effect.

    Attributes:
        actions: The ids of the actions.
        help: What they do, if that differs from the sentence in the table for the first of them.
        same: Whether all actions have the same effect, so that the learner may press any of the keys.
    """

    actions: tuple[str, ...]
    help: str = ""
    same: bool = False

    @property
    def keys(self) -> str:
        """The keys."""
        return (say("or", " or ") if self.same else ", ").join(map(full_keys, self.actions))

    @property
    def fewer_keys(self) -> str:
        """The keys for a narrow screen: only the first of those that have the same effect."""
        return ", ".join(full_keys(action, alternatives=False) for action in self.actions)

    @property
    def sentence(self) -> str:
        """The effect of the keys."""
        return sentence(self.help or help_of(self.actions[0]))


@dataclass(frozen=True, slots=True)
class Row:
    """A line with one or two entries; a nested one belongs to the key above it."""

    entries: tuple[Entry, ...]
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A line or a paragraph of text with its id; "" is an empty line."""

    id: str = ""
    text: str = ""


BLANK = Note()

Lines = tuple[Note | Row, ...]
"""Texts and rows of keys, in English."""

Page = tuple[str | Row, ...]
"""Lines of text, and rows of keys, in the learner's language."""


def sentence(text: str) -> str:
    """Fill the keys of other actions, written as `{id}`, into a sentence."""
    return ID.sub(lambda found: full_keys(found[1], alternatives=False), text)


def rendered(page: Page, width: int = 80) -> str:
    """Lay out a page for so many columns, so that no line is wrapped between keys and their sentence.

    Second entries of neighboring rows are aligned, and go below the first ones where there is no room beside them.
    """
    lines: list[str] = []
    block: list[Row] = []
    for line in (*page, ""):
        if isinstance(line, Row):
            block.append(line)
            continue
        lines += _laid_out(block, width)
        lines += textwrap.wrap(line, width, drop_whitespace=True) if len(line) > width else [line]
        block = []
    return "\n".join(lines)


def _laid_out(block: list[Row], width: int) -> Iterator[str]:
    """Lay out neighboring rows."""
    starts = [_entry_line(row.entries[0], row.nested) for row in block]
    doubles = [(row, start) for row, start in zip(block, starts, strict=True) if len(row.entries) > 1]
    column = max((SECOND_COLUMN, *(len(start) + GAP for _, start in doubles)))
    keys = max((SECOND_WIDTH, *(len(row.entries[1].fewer_keys) + 1 for row, _ in doubles)))
    beside = {
        start: start.ljust(column) + row.entries[1].fewer_keys.ljust(keys) + row.entries[1].sentence
        for row, start in doubles
    }
    if any(len(line) > width for line in beside.values()):
        beside = {}
    for row, start in zip(block, starts, strict=True):
        if start in beside:
            yield beside[start]
        else:
            for entry in row.entries:
                yield from _wrapped(entry, row.nested, width)


def _entry_line(entry: Entry, nested: bool) -> str:
    return _keys(entry, nested).ljust(LABEL_WIDTH - 1) + " " + entry.sentence


def _keys(entry: Entry, nested: bool) -> str:
    return (NESTED if nested else "") + entry.keys


def _wrapped(entry: Entry, nested: bool, width: int) -> list[str]:
    """Wrap an entry; lines after the first one begin below the sentence, or a little indented on a narrow screen."""
    line = _entry_line(entry, nested)
    if len(line) <= width and width >= NARROW:
        return [line]
    keys = _keys(entry, nested)
    start = line[: len(line) - len(entry.sentence)] if width >= NARROW else f"{keys}  "
    indent = " " * (LABEL_WIDTH if width >= NARROW else 2 * len(NESTED))
    # The keys and the first word stay together, because what comes first is never split off.
    words = textwrap.wrap(entry.sentence, max(8, width - len(indent)), initial_indent="-" * (len(start) - len(indent)))
    words[0] = words[0][max(0, len(start) - len(indent)) :]
    return [start + words[0], *(indent + each for each in words[1:])]


def says(help: str, *actions: str) -> Entry:
    """Return an entry for actions with this sentence in place of the table's."""
    return Entry(actions, help)


def either(help: str, *actions: str) -> Entry:
    """Return an entry for actions of which each has the effect `help`; "" stands for the sentence in the table."""
    return Entry(actions, help, same=True)


def row(*entries: str | Entry, nested: bool = False) -> Row:
    return Row(tuple(Entry((each,)) if isinstance(each, str) else each for each in entries), nested)


def rows_of(context: str) -> tuple[Row, ...]:
    """Return a row for each action of a context that has a sentence."""
    return tuple(row(action.id) for action in of_context(context) if action.help)
