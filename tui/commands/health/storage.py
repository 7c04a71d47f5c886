"""The folders that the tutor writes to, their disk, and the clock by which it orders what it writes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from attn_tutor.lessons.learner.progress_file import default_path, open_database
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.health.check import HealthCheck

say = Wording("doctor/storage")

MIB = 1024 * 1024

SPACE = 50 * MIB
"""How much room the progress of the most diligent learner takes, and what is written beside it, with a margin."""

PASSING = ("tmpfs", "ramfs", "overlay")
"""File systems whose files are gone when the host starts again, or when the container is removed."""

OTHERS, OTHERS_WRITE = stat.S_IRWXG | stat.S_IRWXO, stat.S_IWGRP | stat.S_IWOTH

DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """What was found of a folder that the tutor writes to.

    Attributes:
        path: the folder; "" if it is not known where it should be.
        exists: whether it is there; the tutor makes it.
        problem: why nothing can be written there, "" if it can be.
        rights: what others may do there, as the bits of its mode.
        system: the type of its file system, "" if that is not known.
        free: how many bytes are free there, None if that is not known.
    """

    path: str
    exists: bool = True
    problem: str = ""
    rights: int = 0
    system: str = ""
    free: int | None = None


@dataclass(frozen=True, slots=True)
class StorageFacts:
    """What was found of all folders.

    Attributes:
        state, cache, scratch: the folders of progress, of the course as it was read last, and of temporary files; None
            if the library is missing that knows where it is.
        progress: what is wrong with the progress file, "" if nothing is, or if there is none yet.
        now, installed: the time by the clock, and when the newest file of the tutor was written, in seconds.
    """

    state: FolderFacts | None
    cache: FolderFacts | None
    scratch: FolderFacts
    progress: str = ""
    now: float = 0
    installed: float = 0


def storage_facts() -> StorageFacts:
    """Look at the folders, and write into each of them for a moment."""
    newest = max((path.stat().st_mtime for path in Path(__file__).parent.glob("*.py")), default=0.0)
    return StorageFacts(
        _looked_for(_state_folder),
        _looked_for(_cache_folder),
        _looked_at_scratch(),
        _progress_problem(),
        time.time(),
        newest,
    )


def storage_checks(facts: StorageFacts) -> Iterator[HealthCheck]:
    """Yield what is to be said of the folders and the clock."""
    if facts.state:
        yield _state(facts.state, facts.progress)
    if facts.cache:
        yield _cache(facts.cache)
    yield _scratch(facts.scratch)
    yield _clock(facts)


def _state(folder: FolderFacts, progress: str) -> HealthCheck:
    name = say("progress", "progress")
    elsewhere = say("elsewhere", "export XDG_STATE_HOME=FOLDER, a folder where you may write")
    if not folder.path:
        found = say("no-home", "there is no home directory, so nothing is saved")
        return HealthCheck("state", name, "broken", found, elsewhere)
    if folder.problem:
        return HealthCheck("state", name, "broken", _unwritable(folder), elsewhere)
    if progress:
        found = say("bad-progress", "{folder}/progress.db: {problem}", folder=folder.path, problem=progress)
        remedy = say("open-it", "Start attn-tutor: it keeps the file and saves what can be read in a new one.")
        return HealthCheck("state", name, "note", found, remedy)
    found = _described(folder)
    if folder.free is not None and folder.free < SPACE:
        return HealthCheck("state", name, "note", found, _make_room())
    if folder.system in PASSING:
        passing = say("passing", "{found}: lost with the container, or at the next start of the host", found=found)
        remedy = say(
            "use-volume", "Keep it on a volume or a disk: mount one there, or {elsewhere}", elsewhere=elsewhere
        )
        return HealthCheck("state", name, "note", passing, remedy)
    if folder.rights:
        remedy = say("close-it", "chmod 700 {folder}", folder=folder.path)
        return HealthCheck("state", name, "note", say("open", "{found}, and others may read it", found=found), remedy)
    return HealthCheck("state", name, "ok", found)


def _cache(folder: FolderFacts) -> HealthCheck:
    name = say("cache", "cache")
    if not folder.path or folder.problem or folder.rights & OTHERS_WRITE:
        where = folder.path or say("home", "a home directory")
        found = say("no-cache", "the course cannot be kept in {folder}, so each start takes longer", folder=where)
        remedy = say("private-cache", "export XDG_CACHE_HOME=FOLDER, a folder where only you may write")
        return HealthCheck("cache", name, "note", found, remedy)
    return HealthCheck("cache", name, "ok", _described(folder))


def _scratch(folder: FolderFacts) -> HealthCheck:
    name = say("scratch", "temporary files")
    if folder.problem:
        remedy = say("use-tmpdir", "export TMPDIR=FOLDER, a folder where you may write")
        return HealthCheck("scratch", name, "broken", _unwritable(folder), remedy)
    if folder.free is not None and folder.free < SPACE:
        return HealthCheck("scratch", name, "note", _described(folder), _make_room())
    return HealthCheck("scratch", name, "ok", _described(folder))


def _unwritable(folder: FolderFacts) -> str:
    return say("unwritable", "nothing can be saved in {folder}: {problem}", folder=folder.path, problem=folder.problem)


def _make_room() -> str:
    return say("make-room", "Make room on this disk, or in your quota.")


def _clock(facts: StorageFacts) -> HealthCheck:
    name, found = say("clock", "clock"), time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(facts.now))
    if facts.now < facts.installed - DAY:
        wrong = say("slow-clock", "{found}, which is before the tutor was installed", found=found)
        return HealthCheck("clock", name, "note", wrong, say("set-clock", "Set the clock; reviews come by it."))
    return HealthCheck("clock", name, "ok", found)


def _described(folder: FolderFacts) -> str:
    free = "" if folder.free is None else say("free", "{free} MiB free", free=folder.free // MIB)
    new = "" if folder.exists else say("not-yet", "not there yet")
    return ", ".join(filter(None, (folder.path, new, folder.system, free)))


# Looking at folders --------------------------------------------------------------------------------------------------


def _state_folder() -> Path | None:
    """Return where progress is saved, None without a home directory. Raises `ImportError`."""
    with suppress(RuntimeError, OSError):
        return default_path().parent
    return None


def _cache_folder() -> Path | None:
    """Return where the course is kept, None without a home directory. Raises `ImportError`."""
    from attn_tutor.lessons.reading.kept_course import cache_folder

    with suppress(RuntimeError, OSError):
        return cache_folder()
    return None


def _looked_for(find: Callable[[], Path | None]) -> FolderFacts | None:
    try:
        return _looked_at(find())
    except ImportError:
        return None


def _looked_at(folder: Path | None) -> FolderFacts:
    if folder is None:
        return FolderFacts("", exists=False)
    path, exists = clean(os.fsencode(folder).decode("utf-8", "replace"), keep=""), False
    try:
        # What is not there is made by the tutor, so the folder where that happens counts.
        there = next(each for each in (folder, *folder.parents) if each.exists())
        exists = there == folder
        rights = folder.stat().st_mode & OTHERS if exists else 0
        free = shutil.disk_usage(there).free
        return FolderFacts(path, exists, _writing_problem(there), rights, file_system(there), free)
    except OSError as error:
        return FolderFacts(path, exists, error.strerror or str(error))


def _looked_at_scratch() -> FolderFacts:
    try:
        return _looked_at(Path(tempfile.gettempdir()))
    except OSError as error:
        # Python has tried several, and names them all.
        return FolderFacts("TMPDIR", exists=False, problem=error.strerror or str(error))


def _writing_problem(folder: Path) -> str:
    """Return why no database can be written in a folder, "" if one can be: locks and room for it are tried as well."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix=".attn-tutor-doctor-", dir=folder) as made,
            closing(sqlite3.connect(Path(made, "try.db"), timeout=1)) as database,
        ):
            database.execute("CREATE TABLE tried (value)")
            database.commit()
    except OSError as error:
        return error.strerror or str(error)
    except sqlite3.Error as error:
        return str(error)
    return ""


def _progress_problem() -> str:
    """Return what is wrong with the progress file, "" if nothing is, or if there is none."""
    try:
        folder = _state_folder()
        if folder is None or not (path := folder / "progress.db").exists():
            return ""
        with closing(open_database(path, "mode=ro", 1)) as database:
            (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
            return "" if found == "ok" else str(found)
    except ImportError:
        return ""
    except (OSError, sqlite3.Error) as error:
        return str(error)


def file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Return the type of the file system that a folder is on, "" if it is not known. `mounts` lists what is mounted."""
    best, kind = "", ""
    with suppress(OSError):
        real = os.fspath(folder.resolve())
        for line in mounts.read_text(errors="surrogateescape").splitlines():
            _, where, type_, *_ = line.split(" ")
            where = where.replace("\\040", " ")
            # Of two that are mounted in the same place, the later one covers the other.
            if len(where) >= len(best) and f"{real}/".startswith(f"{where.rstrip('/')}/"):
                best, kind = where, type_
    return kind
