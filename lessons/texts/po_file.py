"""PO files, the format of translators: for each text its id, what it says in English, and what in another language.

The id of a text is its `msgctxt`. A file has at most one entry for an id. Only what we write and what the tools of
translators make of it is read: UTF-8, one text after another, with comments that begin with `#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d)\])?)\s+(".*")\s*')
FUZZY = "fuzzy"


class PoError(ValueError):
    """A file that is not in PO format. Attributes: `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


@dataclass(frozen=True, slots=True)
class Entry:
    """A text and its translation.

    Attributes:
        id: the id of the text.
        source: the text in English, for which the translation was made.
        plural: what it says in English of several things, "" if it does not count.
        translations: the text in the other language, or one for each form that numbers have there.
        is_fuzzy: whether a translator still has to look at it.
        comments: lines for the translator.
        line: the line of the file where the entry begins, from 1.
    """

    id: str
    source: str
    plural: str = ""
    translations: tuple[str, ...] = ("",)
    is_fuzzy: bool = False
    comments: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def is_translated(self) -> bool:
        """Whether there is a translation that a translator is done with."""
        return all(self.translations) and not self.is_fuzzy


@dataclass(frozen=True, slots=True)
class PoFile:
    """The contents of a PO file: the fields of its header, and its entries by id, in order."""

    header: Mapping[str, str]
    entries: Mapping[str, Entry]


def read(text: str) -> PoFile:
    """Read the text of a PO file. Raises `PoError`."""
    header: dict[str, str] = {}
    entries: dict[str, Entry] = {}
    for entry in _entries(text):
        if not entry.id and not entry.source:
            lines = (line.partition(":") for line in entry.translations[0].splitlines())
            header = {name.strip(): value.strip() for name, _, value in lines}
        elif not entry.id:
            raise PoError(entry.line, "this text has no msgctxt, which is its id")
        elif entry.id in entries:
            raise PoError(entry.line, f"'{entry.id}' stands here twice")
        else:
            entries[entry.id] = entry
    return PoFile(header, entries)


def _entries(text: str) -> Iterator[Entry]:
    parts: dict[str, str] = {}
    comments: list[str] = []
    flags = ""
    start = 0
    current = ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        line = line.strip()
        match = KEYWORD.fullmatch(line)
        opens = line.startswith("#") or (match is not None and match[1] in ("msgctxt", "msgid"))
        if (not line or opens) and any(part.startswith("msgstr") for part in parts):
            yield _entry(parts, comments, flags, start)
            parts, comments, flags = {}, [], ""
        if line.startswith("#~") or not line:
            continue
        if line.startswith("#"):
            flags += line[2:] if line.startswith("#,") else ""
            comments += [line[2:].strip()] if line.startswith("#.") else []
        elif match is not None:
            if match[1] in parts:
                raise PoError(number, f"{match[1]} stands here twice")
            start = start if parts else number
            current = match[1]
            parts[current] = _unquoted(match[3], number)
        elif line.startswith('"') and parts:
            parts[current] += _unquoted(line, number)
        else:
            raise PoError(number, "this is not a line of a PO file")
    if parts:
        raise PoError(start, "this text has no msgstr")


def _entry(parts: dict[str, str], comments: list[str], flags: str, line: int) -> Entry:
    if "msgid" not in parts:
        raise PoError(line, "this text has no msgid")
    translations = tuple(parts[name] for name in sorted(parts) if name.startswith("msgstr"))
    is_fuzzy = FUZZY in flags
    plural = parts.get("msgid_plural", "")
    return Entry(parts.get("msgctxt", ""), parts["msgid"], plural, translations, is_fuzzy, tuple(comments), line)


def _unquoted(quoted: str, line: int) -> str:
    inner = quoted[1:-1]
    if len(quoted) < 2 or quoted[-1] != '"' or re.search(r'(?<!\\)(?:\\\\)*"', inner):
        raise PoError(line, "the quotes do not match")
    return ESCAPED.sub(lambda match: ESCAPES.get(match[1], match[0]), inner)


# Writing -------------------------------------------------------------------------------------------------------------


def write(header: Mapping[str, str], entries: Iterable[Entry]) -> str:
    """Return the text of a PO file."""
    fields = "".join(f"{name}: {value}\n" for name, value in header.items())
    blocks = [["msgid " + _quoted(""), "msgstr " + _quoted(fields)], *map(_lines, entries)]
    return "\n".join("\n".join(lines) + "\n" for lines in blocks)


def _lines(entry: Entry) -> list[str]:
    lines = [f"#. {comment}" for comment in entry.comments]
    if entry.is_fuzzy:
        lines.append(f"#, {FUZZY}")
    lines += [f"msgctxt {_quoted(entry.id)}", f"msgid {_quoted(entry.source)}"]
    if not entry.plural:
        return [*lines, f"msgstr {_quoted(entry.translations[0])}"]
    numbered = (f"msgstr[{number}] {_quoted(text)}" for number, text in enumerate(entry.translations))
    return [*lines, f"msgid_plural {_quoted(entry.plural)}", *numbered]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\r", "\\r")
    pieces = [piece.replace("\n", "\\n") for piece in re.findall(r"[^\n]*\n+|[^\n]+", escaped)]
    if len(pieces) < 2:
        return f'"{"".join(pieces)}"'
    return "\n".join(['""', *(f'"{piece}"' for piece in pieces)])
