"""What a YAML file may not be, whoever wrote it: too large, too deep, multiplied by its aliases, or able to command a
terminal."""

from __future__ import annotations

import unicodedata
from typing import Any

import yaml

from attn_tutor.lessons.reading.findings import Finding, LessonError

MOST_BYTES = 4 * 1024 * 1024
"""The largest file that is read; a device has no end."""

MOST_LEVELS = 100
"""The deepest nesting that is read. The parser in C crashes at some tens of thousands of levels."""

MOST_VALUES = 100_000
"""The most values of a file, with those that an alias stands for. The largest of our own files has under 2000."""

LONGEST_NUMBER = 100
"""The most characters of a number: some forms of YAML take as long as the square of them."""

NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})

BIDIRECTIONAL = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the order of others around, so that code reads differently than it runs."""

REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, halves of characters, and ends of lines that look like none."""


def check_levels(text: str, file: str, loader: Any) -> None:
    """Raise `LessonError` if text is nested too deeply to be composed, and `yaml.YAMLError` if it is not YAML."""
    level = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            level += 1
            if level > MOST_LEVELS:
                raise _refused(event.start_mark, f"more than {MOST_LEVELS} levels", "Write it flatter.", file)
        elif isinstance(event, yaml.CollectionEndEvent):
            level -= 1


def check_values(root: yaml.Node, file: str) -> None:
    """Raise `LessonError` for values that are too many, that contain themselves, or that may not be shown."""
    counts: dict[int, int] = {}
    open_nodes: set[int] = set()

    def count(node: yaml.Node) -> int:
        """Return how many values a node stands for; one with several aliases is looked at once."""
        known = counts.get(id(node))
        if known is not None:
            return known
        if id(node) in open_nodes:
            raise _refused(node.start_mark, "this contains itself, by an alias", "Write it out.", file)
        if isinstance(node, yaml.ScalarNode):
            _check_scalar(node, file)
            found = 1
        else:
            open_nodes.add(id(node))
            pairs = node.value if isinstance(node, yaml.MappingNode) else ()
            items = node.value if isinstance(node, yaml.SequenceNode) else ()
            found = 1 + sum(count(key) + count(value) for key, value in pairs) + sum(map(count, items))
            open_nodes.discard(id(node))
        if found > MOST_VALUES:
            raise _refused(node.start_mark, f"more than {MOST_VALUES} values, with those of aliases", "Split it.", file)
        counts[id(node)] = found
        return found

    count(root)


def _check_scalar(node: yaml.ScalarNode, file: str) -> None:
    text: str = node.value
    if node.tag in NUMBERS and len(text) > LONGEST_NUMBER:
        raise _refused(node.start_mark, f"a number of {len(text)} characters", "Write a shorter one.", file)
    if text.isprintable():
        return
    for character in text:
        if character in BIDIRECTIONAL or (
            character not in "\n\t" and unicodedata.category(character) in REFUSED_CATEGORIES
        ):
            name = f"U+{ord(character):04X}"
            raise _refused(node.start_mark, f"a text with the control character {name}", "Take it out.", file)


def _refused(mark: Any, problem: str, remedy: str, file: str) -> LessonError:
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    return LessonError([Finding(file, line, column, problem, remedy)])
