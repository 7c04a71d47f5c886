"""The tables of the progress file: their schema, how older files are upgraded, and how rows are merged.

The same tables exist in the file and in memory. Merging rows from anywhere (another session, a file that was unusable
for a while, an export) is idempotent and loses no code: a state only rises, an attempt is recorded once, and of two
drafts that were written without knowledge of each other one stays the draft and the other one is archived.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import get_args

from attn_tutor.lessons.learner.records import DAMAGED, GAVE_UP, HINT, OTHER_SESSION, SOLUTION, TOOK_BACK
from attn_tutor.lessons.learner.renames import Renames
from attn_tutor.lessons.results.verdict import Verdict

FORMAT = "attn-tutor progress"
"""What an export says that it is."""

VERSION = 4
"""The version of the tables. A file with a higher one belongs to a newer program and is left alone.

Version 2 added help, archived code and what the judge said; version 3 added which draft a draft is based on; version 4
added the checksum of a draft.
"""

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS position (
        slot TEXT PRIMARY KEY DEFAULT 'last', lesson TEXT NOT NULL, step TEXT NOT NULL, time TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS states (
        lesson TEXT NOT NULL, step TEXT NOT NULL, state TEXT NOT NULL, time TEXT NOT NULL,
        PRIMARY KEY (lesson, step)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS drafts (
        exercise TEXT PRIMARY KEY, code TEXT NOT NULL, time TEXT NOT NULL,
        version TEXT NOT NULL DEFAULT '', base TEXT NOT NULL DEFAULT '', checksum TEXT NOT NULL DEFAULT '')""",
    """CREATE TABLE IF NOT EXISTS attempts (
        exercise TEXT NOT NULL, time TEXT NOT NULL, verdict TEXT NOT NULL, code TEXT NOT NULL,
        mistake TEXT NOT NULL DEFAULT '', message TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX IF NOT EXISTS attempts_of_exercise ON attempts (exercise, time)",
    "CREATE TABLE IF NOT EXISTS help (exercise TEXT NOT NULL, kind TEXT NOT NULL, time TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS help_of_exercise ON help (exercise, time)",
    """CREATE TABLE IF NOT EXISTS kept (
        exercise TEXT NOT NULL, code TEXT NOT NULL, time TEXT NOT NULL, why TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS kept_of_exercise ON kept (exercise, time)",
)

COLUMNS = {
    "position": ("lesson", "step", "time"),
    "states": ("lesson", "step", "state", "time"),
    "drafts": ("exercise", "code", "time", "version", "base"),
    "attempts": ("exercise", "time", "verdict", "code", "mistake", "message"),
    "help": ("exercise", "kind", "time"),
    "kept": ("exercise", "code", "time", "why"),
}

DEFAULTS = {"mistake": "", "message": "", "version": "", "base": ""}
"""Columns that files and exports of older versions lack, and their values. Tables that they lack are empty."""

Row = Mapping[str, str]
Rows = Mapping[str, Iterable[Row]]


def _insert_once(table: str, *identity: str) -> str:
    """Return the statement that inserts a row, unless there is one with the same values in the columns `identity`."""
    names = COLUMNS[table]
    same = " AND ".join(f"{name} = :{name}" for name in identity)
    return f"""INSERT INTO {table} ({", ".join(names)}) SELECT {", ".join(f":{name}" for name in names)}
        WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE {same})"""


# What the learner does now (:live) always counts, even if the clock was set back; other rows count only if newer.
_MERGE = {
    "position": """INSERT INTO position (lesson, step, time) VALUES (:lesson, :step, :time)
        ON CONFLICT (slot) DO UPDATE SET lesson = excluded.lesson, step = excluded.step, time = max(time, excluded.time)
        WHERE :live OR excluded.time >= time""",
    "states": """INSERT INTO states (lesson, step, state, time) VALUES (:lesson, :step, :state, :time)
        ON CONFLICT (lesson, step) DO UPDATE SET state = excluded.state, time = excluded.time
        WHERE (state = 'seen' AND excluded.state <> 'seen') OR (state = 'skipped' AND excluded.state = 'done')""",
    # A unique index on the code would store the code a second time.
    "attempts": _insert_once("attempts", "exercise", "time", "verdict", "code"),
    "help": _insert_once("help", "exercise", "kind", "time"),
    "kept": _insert_once("kept", "exercise", "code", "time", "why"),
}

_WRITE_DRAFT = """INSERT INTO drafts (exercise, code, time, version, base, checksum)
    VALUES (:exercise, :code, :time, :version, :base, :checksum)
    ON CONFLICT (exercise) DO UPDATE SET code = excluded.code, time = max(time, excluded.time),
        version = excluded.version, base = excluded.base, checksum = excluded.checksum"""

_LAST_WHOLE = """SELECT code FROM (
    SELECT code, time FROM attempts WHERE exercise = :exercise
    UNION ALL SELECT code, time FROM kept WHERE exercise = :exercise) ORDER BY time DESC LIMIT 1"""

_ALLOWED = {
    "state": re.compile("seen|skipped|done"),
    "verdict": re.compile("|".join(get_args(Verdict))),
    "kind": re.compile(rf"{HINT}[1-9]\d?|{GAVE_UP}|{TOOK_BACK}|{SOLUTION}"),
}
"""What the columns for words of the program may contain."""


def is_allowed(column: str, value: str) -> bool:
    """Return whether a column may contain this text."""
    return column not in _ALLOWED or _ALLOWED[column].fullmatch(value) is not None


def with_version(row: Row) -> dict[str, str]:
    """Return a draft with a version: one that an older program wrote has its time as its version, in every copy."""
    return {**row, "version": row.get("version") or row["time"], "base": row.get("base", "")}


def make_tables(database: sqlite3.Connection) -> None:
    """Create the tables that do not exist yet, and upgrade the tables of older versions."""
    for statement in SCHEMA:
        database.execute(statement)
    for table in COLUMNS:
        for name, value in _missing_columns(database, table).items():
            database.execute(f"ALTER TABLE {table} ADD COLUMN {name} TEXT NOT NULL DEFAULT '{value}'")
    if "checksum" not in _columns_of(database, "drafts"):
        database.execute("ALTER TABLE drafts ADD COLUMN checksum TEXT NOT NULL DEFAULT ''")
    database.execute("UPDATE drafts SET version = time WHERE version = ''")


def offers_for_damaged(database: sqlite3.Connection) -> list[dict[str, str]]:
    """Return for each draft that the disk has changed a row for `kept`: the last code that is whole.

    The draft stays: one wrong letter in it may be less of a loss than what was written since. Without earlier code, the
    row has that of the draft.
    """
    if "checksum" not in _columns_of(database, "drafts"):
        return []
    offers, now = [], datetime.now(UTC).isoformat(timespec="microseconds")
    for exercise, code, version, raw, checksum in database.execute(
        "SELECT exercise, code, version, CAST(code AS BLOB), checksum FROM drafts ORDER BY time"
    ).fetchall():
        # A checksum of a different version is none of this code: an older program has written the draft.
        if checksum.startswith(f"{version} ") and checksum != _checksum(version, exercise, raw):
            (whole,) = database.execute(_LAST_WHOLE, {"exercise": exercise}).fetchone() or (code,)
            offers.append({"exercise": exercise, "code": whole, "time": now, "why": DAMAGED})
    return offers


def settle_damaged(database: sqlite3.Connection, offers: Iterable[Row]) -> None:
    """Keep what is offered for damaged drafts, and take these drafts as they are from now on."""
    for offer in offers:
        database.execute(_MERGE["kept"], offer)
        database.execute("UPDATE drafts SET checksum = '' WHERE exercise = ?", (offer["exercise"],))


def _checksum(version: str, exercise: str, code: bytes) -> str:
    """Return the checksum of a draft, which says of which version it is."""
    return f"{version} {zlib.crc32(exercise.encode() + bytes(1) + code):08x}"


def _missing_columns(database: sqlite3.Connection, table: str) -> dict[str, str]:
    """Return the columns that a table of an older version lacks, with their default values."""
    there = _columns_of(database, table)
    return {name: DEFAULTS[name] for name in COLUMNS[table] if name in DEFAULTS and name not in there}


def _columns_of(database: sqlite3.Connection, table: str) -> set[str]:
    return {name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")}


def read_table(database: sqlite3.Connection, table: str) -> Iterator[dict[str, str]]:
    """Yield the valid rows of a table, oldest first; a damaged file may hold anything."""
    # A file of an older version may be readable and not writable, so that it cannot be upgraded.
    missing = _missing_columns(database, table)
    columns = [name for name in COLUMNS[table] if name not in missing]
    for values in database.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY time"):
        row = {**dict(zip(columns, values, strict=True)), **missing}
        if all(isinstance(value, str) and is_allowed(name, value) for name, value in row.items()):
            yield with_version(row) if table == "drafts" else row


def read_all(database: sqlite3.Connection) -> dict[str, list[dict[str, str]]]:
    """Return all rows of all tables, as of one moment."""
    with _transaction(database, "BEGIN"):
        return {table: list(read_table(database, table)) for table in COLUMNS}


def rename(database: sqlite3.Connection, renames: Renames) -> list[tuple[Row, Row]]:
    """Give all rows the ids of today, in one transaction or in the open one; return the conflicts as `merge` does."""
    conflicts: list[tuple[Row, Row]] = []
    with _transaction(database, "BEGIN IMMEDIATE"):
        for table, columns in COLUMNS.items():
            for before, after in renames.in_table(columns):
                same = " AND ".join(f"{name} = :{name}" for name in before)
                if database.execute(f"SELECT 1 FROM {table} WHERE {same} LIMIT 1", before).fetchone():
                    rows = [row for row in read_table(database, table) if before.items() <= row.items()]
                    database.execute(f"DELETE FROM {table} WHERE {same}", before)
                    conflicts += merge(database, {table: [{**row, **after} for row in rows]})
    return conflicts


def merge(database: sqlite3.Connection, rows: Rows, *, live: bool = False) -> list[tuple[Row, Row]]:
    """Merge rows in one transaction, or in the open one.

    Args:
        database: the file or the memory.
        rows: table to rows.
        live: whether the learner does all this now, so that it counts whatever the clock says.

    Returns:
        The conflicts between drafts, each as the draft that stayed and the one that was archived.
    """
    conflicts = []
    with _transaction(database, "BEGIN IMMEDIATE"):
        for table, sql in _MERGE.items():
            database.executemany(sql, ({**row, "live": live} for row in rows.get(table, ())))
        for row in rows.get("drafts", ()):
            if conflict := _merge_draft(database, row, live):
                conflicts.append(conflict)
    return conflicts


def _merge_draft(database: sqlite3.Connection, new: Row, live: bool) -> tuple[Row, Row] | None:
    """Merge one draft. If neither draft is based on the other one, archive the one that does not stay."""
    names = COLUMNS["drafts"]
    found = database.execute(f"SELECT {', '.join(names)} FROM drafts WHERE exercise = ?", (new["exercise"],)).fetchone()
    if found is None:
        _write_draft(database, new)
        return None
    old = with_version(dict(zip(names, found, strict=True)))
    if new["version"] in (old["version"], old["base"]):
        return None
    newer = live or new["time"] >= old["time"] or new["base"] == old["version"]
    if newer:
        _write_draft(database, new)
    stayed, lost = (new, old) if newer else (old, new)
    one_line = new["base"] == old["version"] or session_of(new["version"]) == session_of(old["version"])
    if one_line or stayed["code"] == lost["code"]:
        return None
    archived = {"exercise": lost["exercise"], "code": lost["code"], "time": lost["time"], "why": OTHER_SESSION}
    database.execute(_MERGE["kept"], archived)
    return stayed, lost


def _write_draft(database: sqlite3.Connection, row: Row) -> None:
    checksum = _checksum(row["version"], row["exercise"], row["code"].encode())
    database.execute(_WRITE_DRAFT, {**row, "checksum": checksum})


def session_of(version: str) -> str:
    """Return the session that wrote a version of a draft: a session numbers its versions, `SESSION/1`, `SESSION/2`."""
    return version.rpartition("/")[0] or version


@contextmanager
def _transaction(database: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Run the body in a transaction of its own, unless one is open."""
    own = not database.in_transaction
    if own:
        database.execute(begin)
    try:
        yield
        if own:
            database.execute("COMMIT")
    except BaseException:
        # Some errors have rolled back already.
        if own and database.in_transaction:
            with suppress(sqlite3.Error):
                database.execute("ROLLBACK")
        raise
