"""Progress that somebody has saved, to be read and not to be kept: an export, or a copy of a progress file.

It may come from anybody. What is not progress is refused in a sentence, and no file takes long or much memory.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import islice

from attn_tutor.lessons.learner import exports, tables
from attn_tutor.lessons.learner.tables import COLUMNS, VERSION
from attn_tutor.lessons.texts.wording import Wording

say = Wording("progress/saved")

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
        return exports.parse(exports.decode(content), course)
    rows = _database_rows(content)
    for table, entries in rows.items():
        exports.check_number(table, len(entries))
    return rows


def _database_rows(content: bytes) -> SavedRows:
    looks = iter(range(_MOST_LOOKS))
    with closing(sqlite3.connect(":memory:")) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(exports.LONGEST, len(content)))
        # A true value stops SQLite: pages of a damaged file may lead in a circle.
        database.set_progress_handler(lambda: next(looks, None) is None, _STEPS_BETWEEN)
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            database.deserialize(content)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, exports.LONGEST)
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise ValueError(exports.newer())
            # A file of an older version lacks tables.
            found = [name for name in COLUMNS if _entry(database, name)]
            if "attempts" not in found or not all(_is_plain_table(database, name) for name in found):
                raise ValueError(exports.foreign())
            rows = {name: list(islice(tables.read_table(database, name), exports.MOST_ROWS + 1)) for name in found}
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
