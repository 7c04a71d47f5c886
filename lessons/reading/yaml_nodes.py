"""YAML files as nodes with positions and as data, and what such a file may not be, whoever wrote it.

It may not be too large, too deep, multiplied by its aliases, or able to command a terminal.
"""

from __future__ import annotations

import errno
import io
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from attn_tutor.lessons.files import NotRegular, read_text
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


Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(file: Path) -> str:
    """Read a file as UTF-8 text. Raises `LessonError`, from a `FileNotFoundError` if there is none."""
    try:
        return read_text(file, MOST_BYTES)
    except FileNotFoundError as error:
        raise LessonError(
            [Finding(str(file), 1, 1, "this file is missing", "Every lesson folder needs a lesson.yaml.")]
        ) from error
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise LessonError(
            [Finding(str(file), line, column, "this is not UTF-8 text", "Save the file as UTF-8.")]
        ) from None
    except OSError as error:
        if isinstance(error, NotRegular) and error.errno != errno.EISDIR:
            raise _refuse(file, "this is a pipe or a device", "Put a text file in its place.") from None
        if error.errno == errno.EFBIG:
            most = MOST_BYTES // 1024**2
            raise _refuse(file, f"the file has more than {most} MiB", "Split it.") from None
        raise LessonError(
            [Finding(str(file), 1, 1, f"cannot be read: {error.strerror}", "Check the file and its rights.")]
        ) from None


def _refuse(file: Path, problem: str, remedy: str) -> LessonError:
    return LessonError([Finding(str(file), 1, 1, problem, remedy)])


def parse(text: str, file: str) -> yaml.Node:
    """Parse text into YAML nodes, which carry the name of the file. Raises `LessonError`."""
    lines = text.count("\n") + (not text.endswith("\n"))
    try:
        check_levels(text, file, Loader)
        node: yaml.Node | None = yaml.compose(_Named(text, file), Loader=Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark and mark.line >= lines:
            # An unclosed quote or bracket runs to the end of the file: report where it begins.
            mark = error.context_mark or mark
        line, column = (min(mark.line + 1, lines), mark.column + 1) if mark else (1, 1)
        problem = " ".join(filter(None, (error.context, error.problem))) or "this is not YAML"
        above, found = ["", *text.split("\n")][line - 1 : line + 1]
        raise LessonError([Finding(file, line, column, problem, _yaml_remedy(problem, found, column, above))]) from None
    except yaml.reader.ReaderError as error:
        line = text.encode("utf-8", "replace")[: error.position].count(b"\n") + 1
        raise LessonError(
            [
                Finding(
                    file,
                    line,
                    1,
                    f"a character that YAML does not allow ({error.reason})",
                    "Delete it, or write it as an escape in double quotes.",
                )
            ]
        ) from None
    if node is None:
        raise LessonError([Finding(file, 1, 1, "the file is empty", "Start it with 'title: ...'.")])
    check_values(node, file)
    return node


def data_of(node: yaml.Node) -> object:
    """Convert nodes to data. Raises `LessonError`."""
    try:
        loader = yaml.SafeLoader("")
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark or node.start_mark
        problem = " ".join(filter(None, (error.context, error.problem))) or "this is not YAML"
        raise LessonError([Finding(*position_of(mark), problem, _yaml_remedy(problem, "", 1))]) from None
    except (ValueError, OverflowError, RecursionError) as error:
        # Such as an impossible date.
        found = Finding(node.start_mark.name, 1, 1, f"a value cannot be read: {error}", "Put it in quotes.")
        raise LessonError([found]) from None


def position_of(mark: yaml.Mark) -> tuple[str, int, int]:
    """Return the file, line and column of a mark; lines and columns count from 1."""
    return mark.name, mark.line + 1, mark.column + 1


class _Named(io.StringIO):
    """A text stream with the name of its file, which YAML gives to every node."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


QUOTE = "in quotes, or write it as a block after '|'."
"""How YAML takes a text as it is."""

REMEDIES = (
    ("cannot start any token", f"Put the text {QUOTE}"),
    ("scanning an alias", f"Put a text that begins with a star {QUOTE}"),
    ("undefined alias", f"Put a text that begins with a star {QUOTE}"),
    ("constructor for the tag", f"Leave out the tag, or put a text that begins with an exclamation mark {QUOTE}"),
    ("scanning a block scalar", "Begin the text in the next line, further to the right."),
    ("could not find expected ':'", "Write 'name: value', with a space after the colon, here or in the line above."),
    ("expected ',' or ']'", "Close the bracket, here or in the line above."),
    ("expected ',' or '}'", "Close the brace, here or in the line above."),
)
"""What to do about problems, by what parsers of YAML say."""


def _yaml_remedy(problem: str, line: str, column: int, above: str = "") -> str:
    """Return what to do about a problem in a column of a line, below the one above."""
    before, character = line[: column - 1], line[column - 1 : column]
    if "tab" in problem or character == "\t":
        return "Indent with spaces, not tabs."
    if "mapping values are not allowed" in problem:
        if re.match(r"\s*-\w", above):
            return "Write a space after the dash."
        quoted = f"Put a text with a colon {QUOTE}"
        # What stands before the first colon of a line may be the name of a field that is too far to the right.
        is_first = re.fullmatch(r"[\s-]*[A-Za-z]\w*", before)
        return f"Begin a field in the same column as those around it. {quoted}" if is_first else quoted
    if "unexpected end of stream" in problem and character in ("'", '"'):
        return "Close the quote that opens here."
    # A text that begins with a quote or bracket ends where that is closed.
    if "expected key" in problem and re.match(r"""[\s-]*\w+: +["'{[]""", before):
        return f"Put the whole text {QUOTE}"
    for part, remedy in REMEDIES:
        if part in problem:
            return remedy
    return "Check the indentation and the quotes at this place."


def repeated_keys(node: yaml.Node, visited: set[int]) -> Iterator[Finding]:
    """Find keys that a mapping has twice, of which YAML would silently use the last."""
    if id(node) in visited:  # an alias
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                yield Finding(
                    *position_of(key.start_mark),
                    f"'{key.value}' is given twice",
                    "Keep one of the two.",
                )
            seen.add(key.value)
            yield from repeated_keys(value, visited)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from repeated_keys(item, visited)


def locate(root: yaml.Node, path: tuple[int | str, ...]) -> tuple[yaml.Node, yaml.Node]:
    """Return the key node and value node at a path, or those of its nearest existing ancestor."""
    key = node = root
    for part in path:
        if isinstance(node, yaml.MappingNode):
            for candidate, value in reversed(node.value):  # the last of equal keys counts
                if candidate.value == str(part):
                    key, node = candidate, value
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            key = node = node.value[part]
    return key, node


def place_of(root: yaml.Node, path: tuple[int | str, ...]) -> tuple[str, int, int]:
    """Return the file, line and column of what is at a path; behind a text, a number is that of one of its lines."""
    node = locate(root, path)[1]
    file, line, column = position_of(node.start_mark)
    number = path[-1] if path and locate(root, path[:-1])[1] is node else None
    if isinstance(number, int) and isinstance(node, yaml.ScalarNode) and node.style == "|":
        # The text of a block starts one line below its mark.
        return file, line + min(number, node.value.rstrip("\n").count("\n") + 1), 1
    return file, line, column
