"""What the learner has done: position, steps, drafts, attempts and the help they took, in one SQLite file.

Everything is also kept in memory. As long as the file works, it is written at every event and read at every question,
so that two sessions see each other. When it fails, the session goes on in memory and writes what is missing, all of it
together, as soon as an event finds the file working again.

That is safe because every row says when it was made and merging is idempotent: a state only rises, of two drafts the
newer stays, an attempt is kept once.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, Self, cast, get_args

from lessons.results.clean_text import clean
from lessons.results.result import Verdict

State = Literal["new", "seen", "skipped", "done"]

RANK: dict[str, int] = {"new": 0, "seen": 1, "skipped": 2, "done": 3}
"""A state only rises: a step that was passed over stays so until it is done."""

VERSION = 2
"""The version of the tables. A file with a higher one belongs to a newer program and is left alone."""

HINT, GAVE_UP, TOOK_BACK, SOLUTION = "hint-", "gave-up", "took-back", "solution"
"""The kinds of help in the log; that of a hint ends with its number."""

PATIENCE = 5.0
"""Seconds to wait while another session writes."""

RETRY_PATIENCE = 0.3
"""Seconds to wait once that was not enough: a learner must not wait long at every event."""

_FORMAT = "attn-tutor progress"

_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS position (
        slot TEXT PRIMARY KEY DEFAULT 'last', lesson TEXT NOT NULL, step TEXT NOT NULL, time TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS states (
        lesson TEXT NOT NULL, step TEXT NOT NULL, state TEXT NOT NULL, time TEXT NOT NULL,
        PRIMARY KEY (lesson, step)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS drafts (
        exercise TEXT PRIMARY KEY, code TEXT NOT NULL, time TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS attempts (
        exercise TEXT NOT NULL, time TEXT NOT NULL, verdict TEXT NOT NULL, code TEXT NOT NULL,
        mistake TEXT NOT NULL DEFAULT '', message TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX IF NOT EXISTS attempts_of_exercise ON attempts (exercise, time)",
    "CREATE TABLE IF NOT EXISTS help (exercise TEXT NOT NULL, kind TEXT NOT NULL, time TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS kept (
        exercise TEXT NOT NULL, code TEXT NOT NULL, time TEXT NOT NULL, why TEXT NOT NULL)""",
)

_COLUMNS = {
    "position": ("lesson", "step", "time"),
    "states": ("lesson", "step", "state", "time"),
    "drafts": ("exercise", "code", "time"),
    "attempts": ("exercise", "time", "verdict", "code", "mistake", "message"),
    "help": ("exercise", "kind", "time"),
    "kept": ("exercise", "code", "time", "why"),
}

_DEFAULTS = {"mistake": "", "message": ""}
"""Columns that files and exports of version 1 lack, and what stands for them. Tables they lack are empty."""

_ATTEMPT = "code, verdict, time, mistake, message"
"""The columns of an `Attempt`, as its fields stand."""

# What the learner does now (:live) counts always, even if the clock was set back; what comes late only if it is newer.
_PUT = {
    "position": """INSERT INTO position (lesson, step, time) VALUES (:lesson, :step, :time)
        ON CONFLICT (slot) DO UPDATE SET lesson = excluded.lesson, step = excluded.step, time = max(time, excluded.time)
        WHERE :live OR excluded.time >= time""",
    "states": """INSERT INTO states (lesson, step, state, time) VALUES (:lesson, :step, :state, :time)
        ON CONFLICT (lesson, step) DO UPDATE SET state = excluded.state, time = excluded.time
        WHERE (state = 'seen' AND excluded.state <> 'seen') OR (state = 'skipped' AND excluded.state = 'done')""",
    "drafts": """INSERT INTO drafts (exercise, code, time) VALUES (:exercise, :code, :time)
        ON CONFLICT (exercise) DO UPDATE SET code = excluded.code, time = max(time, excluded.time)
        WHERE :live OR excluded.time >= time""",
    # A unique key with the code in it would hold the code a second time.
    "attempts": """INSERT INTO attempts (exercise, time, verdict, code, mistake, message)
        SELECT :exercise, :time, :verdict, :code, :mistake, :message WHERE NOT EXISTS (SELECT 1 FROM attempts
        WHERE exercise = :exercise AND time = :time AND verdict = :verdict AND code = :code)""",
    "help": """INSERT INTO help (exercise, kind, time) SELECT :exercise, :kind, :time WHERE NOT EXISTS (
        SELECT 1 FROM help WHERE exercise = :exercise AND kind = :kind AND time = :time)""",
    "kept": """INSERT INTO kept (exercise, code, time, why) SELECT :exercise, :code, :time, :why WHERE NOT EXISTS (
        SELECT 1 FROM kept WHERE exercise = :exercise AND code = :code AND time = :time AND why = :why)""",
}

_ALLOWED = {
    "state": re.compile("seen|skipped|done"),
    "verdict": re.compile("|".join(get_args(Verdict))),
    "kind": re.compile(rf"{HINT}[1-9]\d?|{GAVE_UP}|{TOOK_BACK}|{SOLUTION}"),
}
"""What a column may hold, for those that hold words of ours."""

_Row = Mapping[str, str]
_Rows = Mapping[str, Iterable[_Row]]

# What a file system, SQLite and odd paths (a NUL, no home) may raise when a file is opened, read or written.
_TROUBLE = (OSError, sqlite3.Error, ValueError, RuntimeError)

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
# An SQLITE_ERROR comes from tables that are not ours.
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to an exercise, what the judge said, and when (UTC, ISO 8601).

    `mistake` holds the ids of the mistakes that the judge named, joined by commas; `message` is its one sentence.
    """

    code: str
    verdict: Verdict
    time: str
    mistake: str = ""
    message: str = ""

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the mistakes that were named."""
        return tuple(filter(None, self.mistake.split(",")))


@dataclass(frozen=True, slots=True)
class ArchivedCode:
    """Code that something else took the place of, and when (UTC, ISO 8601).

    `why` says what did, in a word: `reset`, `gave-up`, `review` (which begins anew), `watch` (a file became the draft).
    """

    code: str
    time: str
    why: str


@dataclass(frozen=True, slots=True)
class Help:
    """What help a learner has taken with an exercise.

    Attributes:
        hints: how many hints they have read.
        give_ups: when they gave up (UTC, ISO 8601), without what they took back; oldest first.
        gave_up: whether the last word was that they give up.
        solution: whether they have read the solution.
    """

    hints: int = 0
    give_ups: tuple[str, ...] = ()
    gave_up: bool = False
    solution: bool = False

    def then(self, kind: str, time: str) -> Help:
        """After one more event."""
        if kind == GAVE_UP:
            return replace(self, give_ups=(*self.give_ups, time), gave_up=True)
        if kind == TOOK_BACK:
            # Only what it follows: those before were of other tries.
            return replace(self, give_ups=self.give_ups[: -1 if self.gave_up else None], gave_up=False)
        if kind == SOLUTION:
            return replace(self, solution=True)
        return replace(self, hints=max(self.hints, int(kind.removeprefix(HINT))))


class Progress:
    """What the learner has done.

    Any thread may call it. No method raises because of the file; `problem` and `saved` say how it is.

    Attributes:
        problem: one sentence for the learner about what is wrong with the file, or None.
        saved: whether everything so far is in the file.
    """

    problem: str | None
    saved: bool

    def __init__(self, path: Path | None) -> None:
        """Use `Progress.open`."""
        self.problem = None
        self.saved = False
        self._path = path
        self._lock = threading.RLock()
        self._last = datetime.min.replace(tzinfo=UTC)
        self._file: sqlite3.Connection | None = None
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        _make_tables(self._memory)
        # `close` leaves the memory open, so that an event which comes late, from a thread, does no harm.
        weakref.finalize(self, self._memory.close)

    @classmethod
    def open(cls, path: Path | None = None) -> Self:
        """Opens the learner's file, or the one at `path`; when that fails, goes on in memory and says so."""
        ours = path is None
        try:
            path = (path or default_path()).absolute()
        except _TROUBLE:
            progress = cls(None)
            progress.problem = (
                "Your progress is not saved, because no home directory is known: set HOME or XDG_STATE_HOME to a "
                "folder of yours and start again."
            )
            return progress
        progress = cls(path)
        if ours:
            with suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.parent.chmod(0o700)
        progress._save()
        if not progress.saved:
            _put(progress._memory, _salvage(path))
        return progress

    def close(self) -> None:
        """Saves what is not saved yet, if it can be, and closes the file. A later event would open it again."""
        with self._lock:
            if not self.saved:
                self._save()
            self._detach()

    def position(self) -> tuple[str, str] | None:
        """The lesson and the step where the learner was last."""
        for lesson, step in self._query("SELECT lesson, step FROM position"):
            return lesson, step
        return None

    def set_position(self, lesson: str, step: str) -> None:
        """Notes where the learner is."""
        self._add("position", lesson=lesson, step=step)

    def state(self, lesson: str, step: str) -> State:
        """How far the learner is with a step."""
        for (state,) in self._query("SELECT state FROM states WHERE lesson = ? AND step = ?", lesson, step):
            return cast(State, state)
        return "new"

    def states(self) -> dict[tuple[str, str], State]:
        """Lesson and step to state, for all steps that are not new."""
        rows = self._query("SELECT lesson, step, state FROM states")
        return {(lesson, step): cast(State, state) for lesson, step, state in rows}

    def set_state(self, lesson: str, step: str, state: State) -> None:
        """Notes how far the learner is with a step. Nothing is ever taken back: a state only rises; see `RANK`."""
        if state != "new":
            self._add("states", lesson=lesson, step=step, state=state)

    def draft(self, exercise: str) -> str | None:
        """The learner's unfinished code for an exercise."""
        for (code,) in self._query("SELECT code FROM drafts WHERE exercise = ?", exercise):
            return code
        return None

    def save_draft(self, exercise: str, code: str) -> None:
        """Keeps the learner's code for an exercise instead of the draft before."""
        self._add("drafts", exercise=exercise, code=code)

    def attempts(self, exercise: str) -> list[Attempt]:
        """All answers to an exercise, oldest first."""
        rows = self._query(f"SELECT {_ATTEMPT} FROM attempts WHERE exercise = ? ORDER BY time", exercise)
        return [_attempt(*row) for row in rows]

    def history(self) -> list[tuple[str, Attempt]]:
        """All answers to all exercises, each with its exercise, oldest first."""
        rows = self._query(f"SELECT exercise, {_ATTEMPT} FROM attempts ORDER BY time")
        return [(exercise, _attempt(*row)) for exercise, *row in rows]

    def add_attempt(self, exercise: str, code: str, verdict: Verdict, mistake: str = "", message: str = "") -> None:
        """Keeps an answer to an exercise and what the judge said."""
        self._add("attempts", exercise=exercise, code=code, verdict=verdict, mistake=mistake, message=message)

    def last_passed(self) -> dict[str, str]:
        """The last answer to each exercise that was ever solved, of those that passed."""
        rows = self._query("SELECT exercise, code FROM attempts WHERE verdict = 'passed' ORDER BY time")
        return dict(cast(list[tuple[str, str]], rows))

    def passed(self, exercise: str) -> bool:
        """Whether the learner has ever solved an exercise."""
        return bool(self._query("SELECT 1 FROM attempts WHERE exercise = ? AND verdict = 'passed' LIMIT 1", exercise))

    def help(self) -> dict[str, Help]:
        """What help was taken, of each exercise with which any was."""
        taken: dict[str, Help] = {}
        for exercise, kind, time in self._query("SELECT exercise, kind, time FROM help ORDER BY time"):
            if isinstance(kind, str) and _is_allowed("kind", kind):
                taken[exercise] = taken.get(exercise, Help()).then(kind, time)
        return taken

    def hints_used(self, exercise: str) -> int:
        """How many hints of an exercise the learner has read."""
        return self._help_with(exercise).hints

    def use_hint(self, exercise: str, n: int) -> None:
        """Notes that the learner has read the hints of an exercise up to the `n`-th, from 1."""
        if n > self.hints_used(exercise):
            self._add_help(exercise, f"{HINT}{n}")

    def gave_up(self, exercise: str) -> bool:
        """Whether the learner has given up on an exercise, and not taken it back."""
        return self._help_with(exercise).gave_up

    def give_ups(self, exercise: str) -> tuple[str, ...]:
        """When the learner gave up on an exercise (UTC, ISO 8601), without what was taken back; oldest first."""
        return self._help_with(exercise).give_ups

    def give_up(self, exercise: str) -> None:
        """Notes that the learner gives up on an exercise."""
        self._add_help(exercise, GAVE_UP)

    def take_back_give_up(self, exercise: str) -> None:
        """Notes that the learner goes on with an exercise after all."""
        if self.gave_up(exercise):
            self._add_help(exercise, TOOK_BACK)

    def solution_used(self, exercise: str) -> bool:
        """Whether the learner has read the solution of an exercise."""
        return self._help_with(exercise).solution

    def use_solution(self, exercise: str) -> None:
        """Notes that the learner has read the solution of an exercise."""
        if not self.solution_used(exercise):
            self._add_help(exercise, SOLUTION)

    def kept(self, exercise: str) -> list[ArchivedCode]:
        """All code for an exercise that something else took the place of, oldest first."""
        rows = self._query("SELECT code, time, why FROM kept WHERE exercise = ? ORDER BY time", exercise)
        return [ArchivedCode(code, time, why) for code, time, why in rows]

    def keep(self, exercise: str, code: str, why: str) -> None:
        """Keeps code for an exercise before something else takes its place."""
        self._add("kept", exercise=exercise, code=code, why=why)

    def export(self) -> dict[str, object]:
        """Everything, as plain data for JSON."""
        with self._lock:
            if self._file is not None:
                try:
                    return {"format": _FORMAT, "version": VERSION, **_rows(self._file)}
                except sqlite3.Error as error:
                    self._fail(error)
                    self._save()
            return {"format": _FORMAT, "version": VERSION, **_rows(self._memory)}

    def restore(self, data: object) -> None:
        """Adds what `export` gave; what is here already and newer stays.

        Raises `ValueError`, before anything is changed, with a sentence that says what is wrong with the data.
        """
        rows = _parse(data)
        with self._lock:
            _put(self._memory, rows)
            self._save(rows)

    def _help_with(self, exercise: str) -> Help:
        return self.help().get(exercise, Help())

    def _add_help(self, exercise: str, kind: str) -> None:
        """Adds to the log of help. The newest event counts, so it is the latest even if the clock was set back."""
        with self._lock:
            time = self._now()
            for (newest,) in self._query("SELECT max(time) FROM help WHERE exercise = ?", exercise):
                with suppress(ValueError, TypeError, OverflowError):
                    later = datetime.fromisoformat(newest) + timedelta(microseconds=1)
                    time = max(time, later.isoformat(timespec="microseconds"))
            self._add("help", exercise=exercise, kind=kind, time=time)

    def _add(self, table: str, **values: str) -> None:
        # Half of a surrogate pair, from a strange paste, has no place in a file of UTF-8.
        row = {name: value.encode("utf-8", "replace").decode() for name, value in values.items()}
        with self._lock:
            rows = {table: [{"time": self._now(), **row}]}
            _put(self._memory, rows, live=True)
            self._save(rows, live=True)

    def _now(self) -> str:
        """The time, later than every time before: it tells attempts apart and puts them in order."""
        self._last = max(datetime.now(UTC), self._last + timedelta(microseconds=1))
        return self._last.isoformat(timespec="microseconds")

    def _query(self, sql: str, *values: str) -> list[tuple[str, ...]]:
        """Asks the file, which knows the other sessions too, or the memory if the file lacks something."""
        with self._lock:
            if self._file is not None:
                try:
                    return self._file.execute(sql, values).fetchall()
                except sqlite3.Error as error:
                    self._fail(error)
                    self._save()
            return self._memory.execute(sql, values).fetchall()

    def _save(self, rows: _Rows | None = None, *, live: bool = False) -> None:
        """Writes rows that the memory has already, or all that it has if the file is not open; never raises."""
        if self._path is None:
            return
        if self._file is not None:
            try:
                return _put(self._file, rows or {}, live=live)
            except sqlite3.Error as error:
                # A fresh connection may work: the file was moved, deleted or damaged under this one.
                self._fail(error)
        try:
            self._attach(self._path)
        except (*_TROUBLE, _Damaged, _Newer) as error:
            self._fail(error)

    def _attach(self, path: Path) -> None:
        """Opens the file; a damaged one is replaced by a new one with what could still be read."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = _identity(path)
        notice = None
        try:
            file = self._connect(path)
        except (_Damaged, sqlite3.Error) as error:
            if not isinstance(error, _Damaged) and _code(error) not in _DAMAGED:
                raise
            _put(self._memory, _salvage(path))
            # Another session may have dealt with it meanwhile; then what stands there now is its new file.
            if _identity(path) == found:
                try:
                    kept = _move_aside(path)
                except OSError:
                    raise _Damaged from None
                notice = (
                    f"Your progress file was damaged and is kept as {_shown(kept)}; a new one was started with what "
                    "could still be read, and what is missing in it can come from a backup."
                )
            file = self._connect(path)
        self._file = file
        self.problem = notice
        self.saved = True

    def _connect(self, path: Path) -> sqlite3.Connection:
        """A connection to a file that is whole, ours and writable, and holds what the memory holds; and vice versa."""
        file = _open(path, "mode=rwc", PATIENCE if self.problem is None else RETRY_PATIENCE)
        try:
            file.execute("PRAGMA synchronous = FULL")
            # Taking the write lock first keeps a second session from seeing half a schema.
            file.execute("BEGIN IMMEDIATE")
            (version,) = file.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise _Newer
            if file.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise _Damaged
            _make_tables(file)
            # Written every time, because only a write shows that writing works.
            file.execute(f"PRAGMA user_version = {VERSION}")
            # Not before: somebody may have made the file read-only on purpose.
            with suppress(OSError):
                path.chmod(0o600)
            _put(file, _rows(self._memory))
            rows = _rows(file)
            file.execute("COMMIT")
            # Not WAL: that needs shared memory, which a home on a network does not have.
            with suppress(sqlite3.OperationalError):
                file.execute("PRAGMA journal_mode = DELETE")
            file.execute(f"PRAGMA busy_timeout = {round(PATIENCE * 1000)}")
            _put(self._memory, rows)
        except BaseException:
            file.close()
            raise
        return file

    def _fail(self, error: Exception) -> None:
        """Goes on in memory until the next event tries again."""
        self._detach()
        self.saved = False
        self.problem = _sentence(error, self._path)

    def _detach(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class _Damaged(Exception):
    """The file is not a database, or not a whole one."""


class _Newer(Exception):
    """The file was written by a later version of this program."""


def default_path() -> Path:
    """Where the learner's file is; raises `RuntimeError` if there is no home directory."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):
        return Path(state, "attn-tutor", "progress.db")
    # Imported here, because a program that is given a path need not pay for it.
    from platformdirs import user_state_path

    path = user_state_path("attn-tutor")
    if not path.is_absolute():
        raise RuntimeError("no home directory")
    return path / "progress.db"


def _open(path: Path, how: str, patience: float) -> sqlite3.Connection:
    file = sqlite3.connect(
        f"{path.as_uri()}?{how}", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    # Text that is not UTF-8 is damage in one value, no reason to lose all others.
    file.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return file


def _make_tables(database: sqlite3.Connection) -> None:
    """Makes the tables that there are not yet, and turns those of earlier versions into ours."""
    for statement in _SCHEMA:
        database.execute(statement)
    for table in _COLUMNS:
        for name, value in _lacking(database, table).items():
            database.execute(f"ALTER TABLE {table} ADD COLUMN {name} TEXT NOT NULL DEFAULT '{value}'")


def _lacking(database: sqlite3.Connection, table: str) -> dict[str, str]:
    """The columns that a table of an earlier version does not have, and what stands for them."""
    there = {name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")}
    return {name: value for name, value in _DEFAULTS.items() if name in _COLUMNS[table] and name not in there}


def _put(database: sqlite3.Connection, rows: _Rows, *, live: bool = False) -> None:
    """Merges rows in one transaction, or in the one that is open."""
    own = not database.in_transaction
    if own:
        database.execute("BEGIN IMMEDIATE")
    try:
        for table, sql in _PUT.items():
            database.executemany(sql, ({**row, "live": live} for row in rows.get(table, ())))
        if own:
            database.execute("COMMIT")
    except BaseException:
        # Some errors have rolled back already.
        if own and database.in_transaction:
            with suppress(sqlite3.Error):
                database.execute("ROLLBACK")
        raise


def _rows(database: sqlite3.Connection) -> dict[str, list[dict[str, str]]]:
    """All rows as one moment has them."""
    own = not database.in_transaction
    if own:
        database.execute("BEGIN")
    try:
        return {table: list(_rows_of(database, table)) for table in _COLUMNS}
    finally:
        if own and database.in_transaction:
            database.execute("COMMIT")


def _rows_of(database: sqlite3.Connection, table: str) -> Iterable[dict[str, str]]:
    """The rows of a table that are what they should be; those of a damaged file may be anything."""
    # A file of an earlier version may be one that can only be read, and not upgraded.
    lacking = _lacking(database, table)
    columns = [name for name in _COLUMNS[table] if name not in lacking]
    for values in database.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY time"):
        row = {**dict(zip(columns, values, strict=True)), **lacking}
        if all(isinstance(value, str) and _is_allowed(name, value) for name, value in row.items()):
            yield row


def _is_allowed(name: str, value: str) -> bool:
    """Whether a column may hold this text."""
    return name not in _ALLOWED or _ALLOWED[name].fullmatch(value) is not None


def _attempt(code: str, verdict: str, time: str, mistake: str, message: str) -> Attempt:
    """An attempt from the columns of `_ATTEMPT`."""
    return Attempt(code, cast(Verdict, verdict), time, mistake, message)


def _salvage(path: Path) -> dict[str, list[dict[str, str]]]:
    """What can be read of a file that cannot be used, without changing it."""
    rows: dict[str, list[dict[str, str]]] = {table: [] for table in _COLUMNS}
    # A journal that waits to be rolled back, or a folder in which no lock can be made, needs the second way.
    for how in ("mode=ro", "mode=ro&immutable=1"):
        try:
            with closing(_open(path, how, 0)) as file:
                file.execute("SELECT 1 FROM sqlite_master").fetchall()
                for table in _COLUMNS:
                    with suppress(sqlite3.Error):
                        for row in _rows_of(file, table):
                            rows[table].append(row)
                return rows
        except _TROUBLE as error:
            if _code(error) in _BUSY | _DAMAGED:
                break
    return rows


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _move_aside(path: Path) -> Path:
    """Renames a file to the first free `NAME.damaged-N`, and returns that."""
    number = 1
    while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(kept)
    # SQLite would apply a journal that is left behind to the new file.
    for suffix in ("-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(kept.with_name(kept.name + suffix))
    return kept


def _parse(data: object) -> dict[str, list[dict[str, str]]]:
    """The rows in the data of an export, checked, with times in the one form that can be compared as text."""
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise ValueError("This is not progress that attn-tutor exported.")
    version = data.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise ValueError("This progress was exported by a newer version of attn-tutor: update and try again.")
    rows: dict[str, list[dict[str, str]]] = {}
    for table, columns in _COLUMNS.items():
        rows[table] = []
        entries = data.get(table, [])
        if not isinstance(entries, list):
            raise ValueError(f"'{table}' is not a list.")
        for number, entry in enumerate(entries, 1):
            try:
                row = {name: entry[name] if name in entry else _DEFAULTS[name] for name in columns}
                for name, value in row.items():
                    if not isinstance(value, str) or not _is_allowed(name, value):
                        raise ValueError
                    row[name] = value.encode("utf-8", "replace").decode()
                time = datetime.fromisoformat(row["time"])
                time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
                rows[table].append({**row, "time": time.isoformat(timespec="microseconds")})
            except (KeyError, TypeError, ValueError, OverflowError):
                raise ValueError(f"Entry {number} of '{table}' is not one that attn-tutor exported.") from None
    return rows


def _code(error: Exception) -> int | None:
    """The kind of an SQLite error, without its details."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _shown(path: Path | None) -> str:
    """A path as it can be printed: a name on disk may hold bytes that are no text."""
    text = os.fsencode(path or "").decode("utf-8", "replace")
    return clean(text, keep="")


def _sentence(error: Exception, path: Path | None) -> str:
    """What, where, and what the learner can do."""
    file, folder = _shown(path), _shown(path and path.parent)
    system, code = getattr(error, "errno", None), _code(error)
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DIRECTORY:
        code = sqlite3.SQLITE_CANTOPEN
    elsewhere = "or set XDG_STATE_HOME to a folder where you may write, and start again"
    if isinstance(error, _Newer):
        what = f"{file} was written by a newer version of attn-tutor: update, {elsewhere}"
    elif isinstance(error, _Damaged) or code in _DAMAGED:
        what = f"{file} is damaged and cannot be moved: rename it, {elsewhere}"
    elif code in _BUSY:
        what = f"another program keeps {file} locked: close other sessions of attn-tutor, and it will be saved"
    elif code == sqlite3.SQLITE_FULL or system in (errno.ENOSPC, errno.EDQUOT):
        what = f"the disk with {file} is full: make room, and it will be saved"
    elif system in (errno.EEXIST, errno.ENOTDIR):
        what = f"there is a file where the folder {folder} should be: rename that file, {elsewhere}"
    elif path is not None and os.path.isdir(path):
        what = f"{file} is a folder: rename it, {elsewhere}"
    elif code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        what = f"{file} may only be read: make it writable, {elsewhere}"
    elif code == sqlite3.SQLITE_CANTOPEN or system is not None:
        what = f"nothing can be written in the folder {folder}: make it writable, {elsewhere}"
    elif code == sqlite3.SQLITE_IOERR:
        what = f"{file} cannot be written: make room on its disk or in your quota, and it will be saved"
    else:
        what = f"{file} cannot be used ({error}): make it usable, {elsewhere}"
    return f"Your progress is not saved, because {what}."
