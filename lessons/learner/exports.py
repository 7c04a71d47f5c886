"""Export and import of progress, and progress that somebody has saved, to be read and not to be kept.

What was saved, an export or a copy of a progress file, may come from anybody. What is not progress is refused in a
sentence, and no file takes long or much memory.
"""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Protocol

from attn_tutor.lessons.files import write_whole
from attn_tutor.lessons.learner import tables
from attn_tutor.lessons.learner.tables import COLUMNS, DEFAULTS, FORMAT, VERSION, Rows, is_allowed, with_version
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording

say = Wording("progress/exports")


MOST_ROWS = 100_000
"""The most rows of a table. A learner who checks an answer every minute needs a year for as many."""

MOST_AT_ONCE = 100
"""The most rows of one moment in a table, which is one microsecond; merging compares all of them with each other."""

_MOST_CONTAINERS = (len(COLUMNS) + 1) * MOST_ROWS
"""The most lists and objects in an export. One takes some hundred bytes of memory, and as few as two of the file."""

_MOST_VALUES = sum(map(len, COLUMNS.values())) * MOST_ROWS
"""The most values in an export."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_AT_A_TIME = 1024 * 1024

LONGEST = 4 * 1024 * 1024
"""The longest value in characters, more than the longest answer has."""


COURSE = "course"
"""Where the document of an export has the id of its course, unless that is the first one."""


class Exportable(Protocol):
    """Progress that can be exported."""

    def export(self) -> dict[str, object]:
        """Return everything as plain data for JSON."""
        ...


def document(rows: Rows, course: str = "") -> dict[str, object]:
    """Convert rows to the document of an export, plain data for JSON; `course` is the id of a course but the first."""
    return {"format": FORMAT, "version": VERSION, **({COURSE: course} if course else {}), **rows}


def decode(content: bytes) -> object:
    """Return the data in the file of an export, for `parse`; None for what is no JSON, which `parse` refuses.

    None also for JSON that would take much memory, as millions of empty lists do.
    """
    containers, values = _count(content)
    if containers > _MOST_CONTAINERS or values > _MOST_VALUES:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _count(content: bytes) -> tuple[int, int]:
    """Count the lists and objects in JSON, and its values, without making them."""
    containers = values = position = 0
    while position < len(content):
        part = content[position : position + _AT_A_TIME]
        between, quote, rest = _STRING.sub(b"", part).partition(b'"')
        containers += between.count(b"[") + between.count(b"{")
        values += between.count(b",")
        # Behind a quote that is left, a string goes on beyond this part.
        counted = len(part) - len(quote + rest)
        if not counted:
            whole = _STRING.match(content, position)
            if not whole:
                break
            counted = whole.end() - position
        position += counted
    return containers, values


def foreign() -> str:
    """Say that a file is no progress."""
    return say("foreign", "This is not progress that attn-tutor exported.")


def _of_another_course(course: str) -> str:
    """Say that progress is with another course, and how to name that."""
    if course:
        return say("of-another-course", "It is progress with the course '{id}': say --course {id}.", id=course)
    return say("of-first-course", "It is progress with the first course: leave --course out.")


def newer() -> str:
    """Say that a file comes from a later attn-tutor."""
    return say("newer", "It comes from a newer version of attn-tutor. Update attn-tutor and try again.")


def check_number(table: str, number: int) -> None:
    """Raise `ValueError`, with a sentence, if these are too many rows for a table."""
    if number > MOST_ROWS:
        raise ValueError(say("too-many", "'{table}' has more than {most} entries.", table=table, most=MOST_ROWS))


def parse(data: object, course: str = "") -> dict[str, list[dict[str, str]]]:
    """Return the rows of an export, with times in the one form that can be compared as text.

    `course` is the id of the course that it has to be of, "" for the first one. Raises `ValueError` with a sentence
    that says what is wrong with the data.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(foreign())
    version = data.get("version")
    # To Python, `true` is the number 1.
    if type(version) is not int or version < 1:
        raise ValueError(foreign())
    if version > VERSION:
        raise ValueError(newer())
    if (other := data.get(COURSE, "")) != course:
        raise ValueError(_of_another_course(clean(str(other), keep="")))
    rows: dict[str, list[dict[str, str]]] = {}
    for table, columns in COLUMNS.items():
        rows[table] = []
        entries = data.get(table, [])
        if not isinstance(entries, list):
            raise ValueError(say("no-list", "'{table}' is not a list.", table=table))
        check_number(table, len(entries))
        for number, entry in enumerate(entries, 1):
            try:
                row = {name: entry[name] if name in entry else DEFAULTS[name] for name in columns}
                for name, value in row.items():
                    if not isinstance(value, str) or not is_allowed(name, value):
                        raise ValueError
                    if len(value) > LONGEST:
                        raise _TooLong
                    row[name] = value.encode("utf-8", "replace").decode()
                time = datetime.fromisoformat(row["time"])
                time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
                row["time"] = time.isoformat(timespec="microseconds")
                rows[table].append(with_version(row) if table == "drafts" else row)
            except (KeyError, TypeError, ValueError, OverflowError):
                raise ValueError(
                    say(
                        "foreign-entry",
                        "Entry {number} of '{table}' is not one that attn-tutor exported.",
                        number=number,
                        table=table,
                    )
                ) from None
            except _TooLong:
                raise ValueError(
                    say(
                        "too-long",
                        "Entry {number} of '{table}' is longer than any answer: more than {most} MiB.",
                        number=number,
                        table=table,
                        most=LONGEST // 1024**2,
                    )
                ) from None
        at_once = Counter((row.get("exercise"), row["time"]) for row in rows[table])
        if table != "states" and any(number > MOST_AT_ONCE for number in at_once.values()):
            raise ValueError(say("at-once", "'{table}' has too many entries of one moment.", table=table))
    return rows


class _TooLong(Exception):
    """A value is longer than any that a learner writes."""


def export_to_temporary_file(progress: Exportable, earlier: Path | None = None) -> Path:
    """Write everything to a new file in the directory for temporary files, and return it. Raises `OSError`.

    The file takes the place of an `earlier` export of the same progress, if there is one.
    """
    content = json.dumps(progress.export(), indent=1).encode()
    path = earlier or Path(tempfile.gettempdir(), f"attn-tutor-progress-{secrets.token_hex(4)}.json")
    write_whole(path, content)
    return path


SavedRows = dict[str, list[dict[str, str]]]
"""The rows of each table, by its name."""

_DATABASE = b"SQLite format 3\0"
"""How a database begins."""

_STEPS_BETWEEN, _MOST_LOOKS = 100_000, 500
"""How many instructions of its virtual machine SQLite runs before it is looked at, and how often it is then."""


def read_saved(content: bytes, course: str = "") -> SavedRows:
    """Return the rows of an export or of a progress file; `course` as in `exports.parse`, where the file says it.

    Raises `ValueError` with a sentence that says what is wrong with it.
    """
    if not content.startswith(_DATABASE):
        return parse(decode(content), course)
    rows = _database_rows(content)
    for table, entries in rows.items():
        check_number(table, len(entries))
    return rows


def _database_rows(content: bytes) -> SavedRows:
    looks = iter(range(_MOST_LOOKS))
    with closing(sqlite3.connect(":memory:")) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(LONGEST, len(content)))
        # A true value stops SQLite: pages of a damaged file may lead in a circle.
        database.set_progress_handler(lambda: next(looks, None) is None, _STEPS_BETWEEN)
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            database.deserialize(content)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise ValueError(newer())
            # A file of an older version lacks tables.
            found = [name for name in COLUMNS if _entry(database, name)]
            if "attempts" not in found or not all(_is_plain_table(database, name) for name in found):
                raise ValueError(foreign())
            rows = {name: list(islice(tables.read_table(database, name), MOST_ROWS + 1)) for name in found}
            return {name: rows.get(name, []) for name in COLUMNS}
        except (sqlite3.Error, OverflowError, MemoryError):
            raise ValueError(say("damaged", "It is damaged.")) from None


def _is_plain_table(database: sqlite3.Connection, name: str) -> bool:
    """Return whether a table holds its rows itself: those of a view or a computed column could have no end."""
    hidden = [column[-1] for column in database.execute(f"PRAGMA table_xinfo({name})")]
    kind, page = _entry(database, name) or ("", 0)
    return kind == "table" and page > 0 and not any(hidden)


def _entry(database: sqlite3.Connection, name: str) -> tuple[str, int] | None:
    """Return of what kind the table or view of a name is, and the page where it begins; None if there is none."""
    entry: tuple[str, int] | None = database.execute(
        "SELECT type, rootpage FROM sqlite_master WHERE name = ?", (name,)
    ).fetchone()
    return entry
