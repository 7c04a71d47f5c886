"""The progress file, an SQLite database that may be missing, locked, damaged, read-only, newer, or on a full disk.

`ProgressFile` never raises because of the file: it says in a sentence what is wrong, and tries again with the next
write. Until then the rows live in the memory of the session.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from attn_tutor.lessons.files import open_regular
from attn_tutor.lessons.learner import tables
from attn_tutor.lessons.learner.renames import UNCHANGED, Renames
from attn_tutor.lessons.learner.tables import COLUMNS, VERSION, Row, Rows
from attn_tutor.lessons.results.clean_text import clean, printable
from attn_tutor.lessons.texts.wording import Wording

say = Wording("progress/file")

PATIENCE = 5.0
"""Seconds to wait while another session writes."""

RETRY_PATIENCE = 0.3
"""Seconds to wait once that was not enough: a learner must not wait long at every event."""

# What a file system, SQLite and odd paths (a NUL, no home) may raise when a file is opened, read or written.
TROUBLE = (OSError, sqlite3.Error, ValueError, RuntimeError)

# A message of SQLite about a damaged file may quote bytes that are no text.
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError)

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
# SQLITE_ERROR means that the tables are not ours.
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}

MOST_VERSION = 1000
"""The largest version that a later attn-tutor may have; a larger one in a file is damage."""

BESIDE = ("-journal", "-wal", "-shm")
"""What the names of the files end in that SQLite keeps beside a database."""

_FORMATS = (b"\1", b"\2")
"""What SQLite writes at `_FORMAT_AT`. A file with anything else it only reads, without calling it damaged."""

_FORMAT_AT = 18


@dataclass(frozen=True, slots=True)
class Exchange:
    """The result of writing to the file or reading from it.

    Attributes:
        rows: all rows of the file, if another session has changed it since they were returned last; else none.
        conflicts: conflicts between drafts, each as the draft that stayed and the one that was archived.
    """

    rows: Rows = field(default_factory=dict)
    conflicts: tuple[tuple[Row, Row], ...] = ()


class ProgressFile:
    """The file at a path, or none. Not thread-safe.

    Attributes:
        problem: sentences for the learner about what is wrong with the file, or None.
        saved: whether everything that was written is in the file.
        may_pass: whether the problem may pass by itself, without another file in place of this one.
        is_known: whether what is in the file has been read, if there is any.
    """

    def __init__(
        self,
        path: Path | None,
        everything: Callable[[], Rows],
        renames: Renames = UNCHANGED,
        *,
        patient: bool = True,
        wanted: bool = True,
    ) -> None:
        """Prepare for a file; the first write opens it.

        Args:
            path: the file; without one nothing is ever saved.
            everything: returns all rows of this session, to be written once the file can be used (again).
            renames: the ids that the course has in place of others that may stand in the file.
            patient: whether a lock is waited for longer the first time, for those who do not try again by themselves.
            wanted: whether anything is to be saved; if not, there is no path, and that is no problem.
        """
        self.problem: str | None = None if path or not wanted else _no_home()
        self.saved, self.may_pass = not wanted, False
        self.is_known = path is None
        self._patient = patient
        self._path = path
        self._everything = everything
        self._renames = renames
        self._connection: sqlite3.Connection | None = None
        self._data_version = 0

    def write(self, rows: Rows, *, live: bool = True) -> Exchange:
        """Merge rows into the file; if it was not usable before, all rows of this session. `live` as in `merge`."""
        if self._path is None:
            return Exchange()
        if self._connection is not None:
            try:
                conflicts = tables.merge(self._connection, rows, live=live)
                return Exchange(self._read_changed(self._connection), tuple(conflicts))
            except _UNREADABLE as error:
                # A fresh connection may work: the file was moved, deleted or damaged under this one.
                self._fail(error)
        try:
            return self._attach(self._path)
        except (*TROUBLE, _Damaged, _Newer) as error:
            self._fail(error)
            return Exchange()

    def read(self) -> Exchange:
        """Read what other sessions have written; a file that cannot be read is opened anew."""
        if self._connection is None:
            return Exchange()
        try:
            return Exchange(self._read_changed(self._connection))
        except _UNREADABLE as error:
            self._fail(error)
            return self.write({})

    def salvage(self) -> Rows:
        """Return what can be read of a file that cannot be used, without changing it."""
        if self._path is None:
            return {}
        found = _readable_rows(self._path)
        self.is_known = self.is_known or found is not None or not os.path.lexists(self._path)
        return self._renames.apply_to_all(found or _no_rows())

    def close(self) -> None:
        """Write what is not saved yet, if that is possible, and close the file. A later write opens it again."""
        if not self.saved:
            self.write({})
        self._detach()

    def _read_changed(self, connection: sqlite3.Connection) -> Rows:
        """Return all rows if another connection has changed the file since the last time; else none."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version == self._data_version:
            return {}
        rows = tables.read_all(connection)
        self._data_version = version
        return rows

    def _attach(self, path: Path) -> Exchange:
        """Open the file; a damaged one is replaced by a new one with what could still be read."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = _file_identity(path)
        rows = self._everything()
        try:
            connection, exchange, notice = self._connect(path, rows)
        except (_Damaged, *_UNREADABLE) as error:
            if not _is_damage(error) and not _only_read(error, path):
                raise
            salvaged, replaced = salvage(path), None
            # Another session may have replaced the file in the meantime.
            if _file_identity(path) == found:
                try:
                    aside = move_aside(path)
                except OSError:
                    raise _Damaged from None
                replaced = say(
                    "replaced",
                    "Your progress file was damaged. It is kept as {file}, and a new one holds what could still be "
                    "read. If anything is missing, you can import a backup.",
                    file=printable(aside),
                )
            everything = {table: [*rows.get(table, ()), *salvaged[table]] for table in COLUMNS}
            connection, exchange, notice = self._connect(path, everything)
            notice = replaced or notice
        self._connection = connection
        self.problem = notice
        self.saved = self.is_known = True
        return exchange

    def _connect(self, path: Path, rows: Rows) -> tuple[sqlite3.Connection, Exchange, str | None]:
        """Open a file that is whole, ours and writable, and exchange all rows with it; the third is what to say."""
        file = open_database(path, "mode=rwc", self._patience())
        try:
            file.execute("PRAGMA synchronous = FULL")
            # Taking the write lock first keeps a second session from seeing half a schema.
            file.execute("BEGIN IMMEDIATE")
            (version,) = file.execute("PRAGMA user_version").fetchone()
            if VERSION < version <= MOST_VERSION:
                raise _Newer
            if not 0 <= version <= VERSION:
                raise _Damaged
            if file.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise _Damaged
            tables.make_tables(file)
            offers = tables.offers_for_damaged(file)
            tables.settle_damaged(file, offers)
            # Written every time, because only a write shows that writing works.
            file.execute(f"PRAGMA user_version = {VERSION}")
            # Only after a successful write: somebody may have made the file read-only on purpose.
            with suppress(OSError):
                path.chmod(0o600)
            conflicts = [*tables.merge(file, rows), *tables.rename(file, self._renames)]
            everything = tables.read_all(file)
            # Read within the transaction, so that a change right after it is noticed.
            (self._data_version,) = file.execute("PRAGMA data_version").fetchone()
            file.execute("COMMIT")
            # Not WAL, which needs shared memory: a home directory on a network has none.
            with suppress(sqlite3.OperationalError):
                file.execute("PRAGMA journal_mode = DELETE")
            file.execute(f"PRAGMA busy_timeout = {round(self._first_patience() * 1000)}")
        except BaseException:
            file.close()
            raise
        return file, Exchange(everything, tuple(conflicts)), _describe_damage(offers)

    def _fail(self, error: Exception) -> None:
        """Close the file until the next write tries again."""
        self._detach()
        self.saved = False
        self.problem = _describe_problem(error, self._path)
        self.may_pass = _may_pass(error)

    def _patience(self) -> float:
        return self._first_patience() if self.problem is None else RETRY_PATIENCE

    def _first_patience(self) -> float:
        return PATIENCE if self._patient else RETRY_PATIENCE

    def _detach(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Damaged(Exception):
    """The file is not a database, or not a whole one."""


class _Newer(Exception):
    """The file was written by a later version of this program."""


NAME = "progress.db"


def default_path(state_folder: str = "") -> Path:
    """Return where the learner's file is; raises `RuntimeError` if there is no home directory.

    `state_folder` says of which course, as `lessons.reading.folders.CourseFolder` has it.
    """
    return state_root() / state_folder / NAME


def state_root() -> Path:
    """Return the tutor's folder for what it keeps of a learner; raises `RuntimeError` if there is no home directory."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):
        return Path(state, "attn-tutor")
    # Imported here, because a program that gets a path does not need it.
    from platformdirs import user_state_path

    path = user_state_path("attn-tutor")
    if not path.is_absolute():
        raise RuntimeError(_no_home())
    return path


def make_private(folder: Path, levels: int) -> None:
    """Make a folder for its user alone, and so many of the folders that it lies in."""
    for each in (*reversed(list(folder.parents)[:levels]), folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
        _keep_private(each)


def _keep_private(folder: Path) -> None:
    """Take a folder's rights from everybody else; those of the learner may have been set on purpose."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & ~stat.S_IRWXU:
        folder.chmod(mode & stat.S_IRWXU)


def _special(path: Path) -> Path | None:
    """Return the pipe, device or socket that SQLite would read forever, in place of a file or of one beside it."""
    for each in (path, *(path.with_name(path.name + suffix) for suffix in BESIDE)):
        with suppress(OSError):
            mode = each.stat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                return each
    return None


def open_database(path: Path, how: str, patience: float) -> sqlite3.Connection:
    """Open a file, `how` as in an SQLite URI; the connection waits so many seconds for a lock.

    Raises `OSError` for what is no file, and what `sqlite3.connect` raises.
    """
    if _special(path):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    file = sqlite3.connect(
        f"{path.as_uri()}?{how}", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    # Text that is not UTF-8 is damage to one value, and no reason to lose all others.
    file.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return file


def salvage(path: Path) -> dict[str, list[dict[str, str]]]:
    """Return what can be read of a file that cannot be used, without changing it."""
    return _readable_rows(path) or _no_rows()


def _no_rows() -> dict[str, list[dict[str, str]]]:
    return {table: [] for table in COLUMNS}


def _readable_rows(path: Path) -> dict[str, list[dict[str, str]]] | None:
    """Return the rows of a file that can be read, None if it cannot even be opened, as when it is locked."""
    rows = _no_rows()
    # A journal that must be rolled back, or a folder that allows no lock, needs the second mode.
    for how in ("mode=ro", "mode=ro&immutable=1"):
        try:
            with closing(open_database(path, how, 0)) as file:
                file.execute("SELECT 1 FROM sqlite_master").fetchall()
                for table in COLUMNS:
                    with suppress(sqlite3.Error):
                        for row in tables.read_table(file, table):
                            rows[table].append(row)
                with suppress(sqlite3.Error):
                    rows["kept"] += tables.offers_for_damaged(file)
                return rows
        except TROUBLE as error:
            if _is_damage(error) or _error_code(error) in _BUSY:
                break
    return None


def move_aside(path: Path) -> Path:
    """Rename a file to the first free `NAME.damaged-N`, and return that."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(aside)
    # SQLite would apply an old journal to the new file.
    for suffix in BESIDE:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    return aside


def _file_identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_damage(error: Exception) -> bool:
    """Return whether an error means that the file is not a whole database of ours."""
    return isinstance(error, _Damaged | UnicodeDecodeError) or _error_code(error) in _DAMAGED


def _only_read(error: Exception, path: Path) -> bool:
    """Return whether SQLite refuses to write a file because its header names a format that SQLite has never written."""
    # The file is looked at only then: to close it drops the locks that this process may have on it.
    if _error_code(error) != sqlite3.SQLITE_READONLY:
        return False
    try:
        with open_regular(path) as file:
            file.seek(_FORMAT_AT)
            return file.read(1) not in _FORMATS
    except OSError:
        return False


def _error_code(error: Exception) -> int | None:
    """Return the primary result code of an SQLite error, or None for other errors."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _may_pass(error: Exception) -> bool:
    """Return whether an error passes once a lock is gone, or once there is room."""
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    return full or _error_code(error) in (*_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _no_home() -> str:
    return say(
        "no-home",
        "Your progress is not saved, because there is no home directory. Set HOME or XDG_STATE_HOME to one of "
        "your folders and start again.",
    )


def _describe_damage(offers: Iterable[Row]) -> str | None:
    """Say which drafts the disk has changed, None if there is none."""
    names = ", ".join(clean(offer["exercise"], keep="") for offer in offers)
    if not names:
        return None
    return say(
        "damaged-draft",
        "The disk has changed a part of your code for {names}: look it over before you go on, or switch to the last "
        "code that is whole, which the exercise offers you.",
        names=names,
    )


def _describe_problem(error: Exception, path: Path | None) -> str:
    """Write the sentence for the learner: which file, what is wrong with it, and what they can do."""
    file, folder = printable(path or ""), printable(path.parent if path else "")
    system, code = getattr(error, "errno", None), _error_code(error)
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DIRECTORY:
        code = sqlite3.SQLITE_CANTOPEN
    if isinstance(error, _Newer):
        return say(
            "newer",
            "Your progress is not saved, because {file} was written by a newer version of attn-tutor. Update "
            "attn-tutor, or set XDG_STATE_HOME to a folder where you may write, and start again.",
            file=file,
        )
    if _is_damage(error):
        return say(
            "damaged",
            "Your progress is not saved, because {file} is damaged and cannot be moved. Rename it, or set "
            "XDG_STATE_HOME to a folder where you may write, and start again.",
            file=file,
        )
    if code in _BUSY:
        return say(
            "locked",
            "Your progress is not saved, because another program keeps {file} locked. Close your other sessions of "
            "attn-tutor.",
            file=file,
        )
    if code == sqlite3.SQLITE_FULL or system in (errno.ENOSPC, errno.EDQUOT):
        return say(
            "disk-full",
            "Your progress is not saved, because the disk with {file} is full. Make room on it.",
            file=file,
        )
    if system in (errno.EEXIST, errno.ENOTDIR):
        return say(
            "no-folder",
            "Your progress is not saved, because there is a file where the folder {folder} should be. Rename that "
            "file, or set XDG_STATE_HOME to a folder where you may write, and start again.",
            folder=folder,
        )
    if path is not None and os.path.isdir(path):
        return say(
            "is-folder",
            "Your progress is not saved, because {file} is a folder. Rename it, or set XDG_STATE_HOME to a folder "
            "where you may write, and start again.",
            file=file,
        )
    if system == errno.EINVAL and path is not None and (special := _special(path)):
        return say(
            "is-no-file",
            "Your progress is not saved, because {file} is a pipe or a device. Rename it, or set XDG_STATE_HOME to a "
            "folder where you may write, and start again.",
            file=printable(special),
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return say(
            "read-only",
            "Your progress is not saved, because {file} is read-only. Make it writable, or set XDG_STATE_HOME to a "
            "folder where you may write, and start again.",
            file=file,
        )
    if code == sqlite3.SQLITE_CANTOPEN or system is not None:
        return say(
            "folder-read-only",
            "Your progress is not saved, because nothing can be written in the folder {folder}. Make it writable, or "
            "set XDG_STATE_HOME to a folder where you may write, and start again.",
            folder=folder,
        )
    if code == sqlite3.SQLITE_IOERR:
        return say(
            "unwritable",
            "Your progress is not saved, because {file} cannot be written. Make room on its disk and in your quota.",
            file=file,
        )
    return say(
        "unusable",
        "Your progress is not saved, because {file} cannot be used ({error}). Make it usable, or set XDG_STATE_HOME to "
        "a folder where you may write, and start again.",
        file=file,
        error=error,
    )
