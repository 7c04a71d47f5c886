"""The learner's progress: position, steps, drafts, attempts and help taken.

The state lives twice, and only twice: in memory, which answers every question, and in the progress file, which outlives
the session. `Progress` keeps the two equal. In the shell each event is written and each question first looks for what
other sessions wrote. On the screen (`background=True`) a thread does all that, so that no key waits for a disk.

As long as the file cannot be used, the session goes on in memory and later writes all that is missing. That is safe
because merging is idempotent; see `lessons.learner.tables`. Until then it keeps what is missing in another file, from
which the next session takes it if this one is killed; see `lessons.learner.unsaved_rows`.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self, cast

from attn_tutor.lessons.learner import exports, tables
from attn_tutor.lessons.learner.progress_file import TROUBLE, Exchange, ProgressFile, default_path, make_private
from attn_tutor.lessons.learner.records import (
    GAVE_UP,
    HINT,
    RANK,
    SOLUTION,
    TOOK_BACK,
    ArchivedCode,
    Attempt,
    Conflict,
    Draft,
    Help,
    State,
)
from attn_tutor.lessons.learner.renames import UNCHANGED, Renames
from attn_tutor.lessons.learner.rows_aside import QueuedRows, UnsavedRows, queue
from attn_tutor.lessons.learner.tables import session_of
from attn_tutor.lessons.results.verdict import Verdict
from attn_tutor.lessons.texts.wording import Wording

say = Wording("progress/kept")

_ATTEMPT = "code, verdict, time, mistake, message"
"""The columns of an `Attempt`, in the order of its fields."""

RETRY_EVERY = 2.0
"""Seconds after which the thread tries again to save what it could not; twice as many after the second time, ..."""

RETRY_AT_LEAST = 60.0
"""Seconds after which it tries again however often it has: to write everything takes a while on a slow disk."""


class Progress:
    """The learner's progress.

    Any thread may call it. No method raises because of the file; `problem`, `saved` and `is_kept` say how it is.

    Attributes:
        on_saved: called after `problem` has changed, in the background from a different thread; not for a lock that is
            gone the next time.
        on_exchange: called after rows of other sessions have arrived, or two sessions were found to have edited one
            exercise, with the conflicts of this session; in the background, from a different thread.
    """

    on_exchange: Callable[[tuple[Conflict, ...]], object] | None = None
    on_saved: Callable[[], object] | None = None

    def __init__(
        self,
        path: Path | None,
        *,
        renames: Renames = UNCHANGED,
        background: bool = False,
        course: str = "",
        wanted: bool = True,
    ) -> None:
        """Start with an empty memory and an unopened file; use `Progress.open` or `Progress.unkept`."""
        self._lock = threading.RLock()
        self._last = datetime.min.replace(tzinfo=UTC)
        self._session = secrets.token_hex(8)
        self._drafts_saved = 0
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        tables.make_tables(self._memory)
        # `close` leaves the memory open, so that a late event from a thread does no harm.
        weakref.finalize(self, self._memory.close)

        # Never acquire this lock while holding `_lock`, which the screen waits for.
        self._file_lock = threading.RLock()
        self._file = ProgressFile(path, self._everything, renames, patient=not background, wanted=wanted)
        self._unsaved = UnsavedRows(path, course)
        self._took_over = False
        self._retry: threading.Timer | None = None
        self._failures = 0
        self._told: str | None = None
        self._renames, self._course = renames, course
        self._unwritten: QueuedRows = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="progress") if background else None
        self._scheduled = False
        self._moved = False

    @classmethod
    def unkept(cls) -> Self:
        """Return progress that is kept in no file, and is not meant to be."""
        return cls(None, wanted=False)

    @classmethod
    def open(
        cls,
        path: Path | None = None,
        *,
        state_folder: str = "",
        renames: Renames = UNCHANGED,
        background: bool = False,
        course: str = "",
    ) -> Self:
        """Open the learner's file, or the one at `path`; when that fails, go on in memory and say so.

        Args:
            path: the file; without one the learner's own.
            state_folder: of which course, as `lessons.reading.folders.CourseFolder` has it.
            renames: the ids that the course has in place of others that may stand in the file.
            background: whether a thread shall read and write the file from then on.
            course: the id of the course, which exports say, "" for the first one.
        """
        ours = path is None
        try:
            path = (path or default_path(state_folder)).absolute()
        except TROUBLE:
            return cls(None, renames=renames, background=background, course=course)
        if ours:
            with suppress(OSError):
                make_private(path.parent, levels=len(Path(state_folder).parts))
        progress = cls(path, renames=renames, background=background, course=course)
        progress._flush()
        if not progress.saved:
            tables.merge(progress._memory, progress._file.salvage())
            for _, rows in progress._unsaved.of_others():
                tables.merge(progress._memory, renames.apply_to_all(rows))
        progress._told = progress.problem
        return progress

    @property
    def problem(self) -> str | None:
        """Sentences for the learner about what is wrong with the file, and where their work is instead, or None."""
        if self._file.problem is None or self._file.saved:
            return self._file.problem
        unread = say("not-read", "What is in it cannot be read either.")
        parts = [unread] if self._file.may_pass and not self.is_known else []
        return " ".join([self._file.problem, *parts, *self._unsaved.whereabouts(may_pass=self._file.may_pass)])

    @property
    def file_problem(self) -> str | None:
        """The first of these sentences: what is wrong with the file, and what to do."""
        return self._file.problem

    @property
    def is_kept(self) -> bool:
        """Whether everything of this session is in the file or kept aside, so that it outlives this session."""
        return self._unsaved.kept

    @property
    def is_known(self) -> bool:
        """Whether what is in the file has been read, if there is any."""
        return self._file.is_known

    @property
    def saved(self) -> bool:
        """Whether everything is in the file, except for what the thread is about to write."""
        return self._file.saved

    def close(self) -> None:
        """Save what is not saved yet, if that is possible, and close the file. A later event would open it again."""
        if self._thread is not None:
            if self._retry is not None:
                self._retry.cancel()
            self._thread.shutdown(wait=True)
        self._flush()
        with self._file_lock:
            self._file.close()

    # Where the learner is ---------------------------------------------------------------------------------------

    def position(self) -> tuple[str, str] | None:
        """Return the lesson and the step where the learner was last."""
        for lesson, step in self._query("SELECT lesson, step FROM position"):
            return lesson, step
        return None

    def set_position(self, lesson: str, step: str) -> None:
        """Record where the learner is."""
        self._moved = True
        self._add("position", lesson=lesson, step=step)

    def state(self, lesson: str, step: str) -> State:
        """Return how far the learner is with a step."""
        for (state,) in self._query("SELECT state FROM states WHERE lesson = ? AND step = ?", lesson, step):
            return cast(State, state)
        return "new"

    def states(self) -> dict[tuple[str, str], State]:
        """Map lesson and step to state, for all steps that are not new."""
        rows = self._query("SELECT lesson, step, state FROM states")
        return {(lesson, step): cast(State, state) for lesson, step, state in rows}

    def set_state(self, lesson: str, step: str, state: State) -> None:
        """Record how far the learner is with a step. A state only rises; see `RANK`."""
        if RANK[state] > RANK[self.state(lesson, step)]:
            self._add("states", lesson=lesson, step=step, state=state)

    def visit(self, lesson: str, step: str) -> None:
        """Record that the learner is at a step, and has seen it."""
        self.set_position(lesson, step)
        self.set_state(lesson, step, "seen")

    # Code -------------------------------------------------------------------------------------------------------

    def draft(self, exercise: str) -> str | None:
        """Return the learner's unfinished code for an exercise."""
        return self.open_draft(exercise).code

    def open_draft(self, exercise: str) -> Draft:
        """Return the learner's unfinished code for an exercise, with the version that a later save has to name."""
        for code, version in self._query("SELECT code, version FROM drafts WHERE exercise = ?", exercise):
            return Draft(code, version)
        return Draft()

    def save_draft(self, exercise: str, code: str, seen: str = "") -> str:
        """Save the learner's code for an exercise as its draft.

        A draft of another session that was not seen is archived as `session`, and `on_exchange` is called.

        Args:
            exercise: its id.
            code: the code.
            seen: the version of the draft that the code was made from.

        Returns:
            The version of the new draft.
        """
        with self._lock:
            base = seen
            for last, last_base in self._memory.execute(
                "SELECT version, base FROM drafts WHERE exercise = ?", (exercise,)
            ):
                # While the file cannot be written, it may still hold what this session's first draft was based on.
                if session_of(last) == session_of(seen) == self._session:
                    base = last_base
            self._drafts_saved += 1
            version = f"{self._session}/{self._drafts_saved}"
            self._add_row("drafts", exercise=exercise, code=code, version=version, base=base)
        self._write()
        return version

    def archived(self, exercise: str) -> list[ArchivedCode]:
        """Return all code for an exercise that other code replaced, oldest first."""
        rows = self._query("SELECT code, time, why FROM kept WHERE exercise = ? ORDER BY time", exercise)
        return [ArchivedCode(code, time, why) for code, time, why in rows]

    def archive(self, exercise: str, code: str, why: str) -> None:
        """Archive code for an exercise before other code replaces it; `why` as in `ArchivedCode`."""
        self._add("kept", exercise=exercise, code=code, why=why)

    # Attempts ---------------------------------------------------------------------------------------------------

    def attempts(self, exercise: str) -> list[Attempt]:
        """Return all answers to an exercise, oldest first."""
        rows = self._query(f"SELECT {_ATTEMPT} FROM attempts WHERE exercise = ? ORDER BY time", exercise)
        return [_attempt(*row) for row in rows]

    def history(self) -> list[tuple[str, Attempt]]:
        """Return all answers to all exercises, each with its exercise, oldest first."""
        rows = self._query(f"SELECT exercise, {_ATTEMPT} FROM attempts ORDER BY time")
        return [(exercise, _attempt(*row)) for exercise, *row in rows]

    def add_attempt(self, exercise: str, code: str, verdict: Verdict, mistake: str = "", message: str = "") -> None:
        """Record an answer to an exercise and what the judge said; `outcomes.record_outcome` also does what follows."""
        self._add("attempts", exercise=exercise, code=code, verdict=verdict, mistake=mistake, message=message)

    def last_passed(self) -> dict[str, str]:
        """Map each exercise that was ever solved to the last answer that passed."""
        rows = self._query("SELECT exercise, code FROM attempts WHERE verdict = 'passed' ORDER BY time")
        return dict(cast(list[tuple[str, str]], rows))

    def passed(self, exercise: str) -> bool:
        """Return whether the learner has ever solved an exercise."""
        return bool(self._query("SELECT 1 FROM attempts WHERE exercise = ? AND verdict = 'passed' LIMIT 1", exercise))

    # Help -------------------------------------------------------------------------------------------------------

    def help(self) -> dict[str, Help]:
        """Map each exercise to the help that was taken with it; exercises without help are left out."""
        taken: dict[str, Help] = {}
        for exercise, kind, time in self._query("SELECT exercise, kind, time FROM help ORDER BY time"):
            taken[exercise] = taken.get(exercise, Help()).with_event(kind, time)
        return taken

    def hints_used(self, exercise: str) -> int:
        """Return how many hints of an exercise the learner has read."""
        return self._help_with(exercise).hints

    def use_hint(self, exercise: str, n: int) -> None:
        """Record that the learner has read the hints of an exercise up to the `n`-th, from 1."""
        if n > self.hints_used(exercise):
            self._add_help(exercise, f"{HINT}{n}")

    def gave_up(self, exercise: str) -> bool:
        """Return whether the learner has given up on an exercise, and not taken it back."""
        return self._help_with(exercise).gave_up

    def give_ups(self, exercise: str) -> tuple[str, ...]:
        """Return the times of giving up on an exercise that were not taken back (UTC, ISO 8601), oldest first."""
        return self._help_with(exercise).give_ups

    def give_up(self, exercise: str) -> None:
        """Record that the learner gives up on an exercise."""
        self._add_help(exercise, GAVE_UP)

    def take_back_give_up(self, exercise: str) -> None:
        """Record that the learner goes on with an exercise after all."""
        if self.gave_up(exercise):
            self._add_help(exercise, TOOK_BACK)

    def solution_used(self, exercise: str) -> bool:
        """Return whether the learner has read the solution of an exercise."""
        return self._help_with(exercise).solution

    def use_solution(self, exercise: str) -> None:
        """Record that the learner has read the solution of an exercise."""
        if not self.solution_used(exercise):
            self._add_help(exercise, SOLUTION)

    def _help_with(self, exercise: str) -> Help:
        taken = Help()
        for kind, time in self._query("SELECT kind, time FROM help WHERE exercise = ? ORDER BY time", exercise):
            taken = taken.with_event(kind, time)
        return taken

    def _add_help(self, exercise: str, kind: str) -> None:
        """Add to the log of help. The newest event counts, so it is the latest even if the clock was set back."""
        self._refresh()
        with self._lock:
            time = self._now()
            for (newest,) in self._memory.execute("SELECT max(time) FROM help WHERE exercise = ?", (exercise,)):
                with suppress(ValueError, TypeError, OverflowError):
                    later = datetime.fromisoformat(newest) + timedelta(microseconds=1)
                    time = max(time, later.isoformat(timespec="microseconds"))
            self._add_row("help", exercise=exercise, kind=kind, time=time)
        self._write()

    # Taking it along --------------------------------------------------------------------------------------------

    def export(self) -> dict[str, object]:
        """Return everything as plain data for JSON."""
        self._refresh()
        return exports.document(self._everything(), self._course)

    def restore(self, data: object) -> None:
        """Add what `export` returned; what is here already and newer stays.

        Raises `ValueError`, before anything is changed, with a sentence that says what is wrong with the data.
        """
        rows = self._renames.apply_to_all(exports.parse(data, self._course))
        with self._lock:
            tables.merge(self._memory, rows)
        self._flush()
        with self._file_lock:
            self._merge_exchange(self._file.write(rows, live=False))

    # Memory and file --------------------------------------------------------------------------------------------

    def _add(self, table: str, **values: str) -> None:
        with self._lock:
            self._add_row(table, **values)
        self._write()

    def _add_row(self, table: str, **values: str) -> None:
        """Put a row into memory and into the queue of rows to be written."""
        # Half of a surrogate pair, from a strange paste, cannot be written as UTF-8.
        row = {name: value.encode("utf-8", "replace").decode() for name, value in values.items()}
        row = {"time": self._now(), **row}
        tables.merge(self._memory, {table: [row]}, live=True)
        queue(self._unwritten, {table: [row]})

    def _now(self) -> str:
        """Return the time, later than any time before: times distinguish attempts and put them in order."""
        self._last = max(datetime.now(UTC), self._last + timedelta(microseconds=1))
        return self._last.isoformat(timespec="microseconds")

    def _write(self) -> None:
        """Write the queued rows, in the thread if there is one."""
        if self._thread is None:
            self._flush()
            return
        with self._lock:
            if self._scheduled:
                return
            self._scheduled = True
        if not self._submit():
            self._flush()

    def _submit(self) -> bool:
        """Have the thread write; return False if it has ended."""
        assert self._thread is not None
        with suppress(RuntimeError):
            self._thread.submit(self._flush)
            return True
        return False

    def _flush(self) -> None:
        """Write the queued rows, and take in what other sessions have written."""
        with self._file_lock:
            with self._lock:
                rows, self._unwritten = self._unwritten, {}
                self._scheduled = False
            arrived = self._file.write(rows)
            self._merge_exchange(arrived)
            if self.saved:
                self._settle()
            else:
                self._keep_aside(rows)
        self._tell()

    def _settle(self) -> None:
        """Forget what is kept aside, now that it is in the file, and take over what other sessions have kept."""
        self._failures = 0
        self._unsaved.settle()
        if self._took_over:
            return
        self._took_over = True
        for file, rows in self._unsaved.taken_from_others():
            renamed = self._renames.apply_to_all(rows)
            with self._lock:
                tables.merge(self._memory, renamed)
            self._merge_exchange(self._file.write(renamed, live=False))
            if not self.saved:
                self._took_over = False
                return
            with suppress(OSError):
                file.unlink()

    def _keep_aside(self, rows: QueuedRows) -> None:
        """Keep rows aside that the file could not take, with those before them, and try again after a while."""
        self._took_over = False
        self._failures += 1
        self._unsaved.add(rows)
        if self._thread is not None and (self._retry is None or not self._retry.is_alive()):
            self._retry = threading.Timer(min(RETRY_EVERY * self._failures, RETRY_AT_LEAST), self._submit)
            self._retry.daemon = True
            self._retry.start()

    def _tell(self) -> None:
        """Notify the listener if there is something new about whether progress is saved."""
        problem = self.problem
        if problem == self._told or (self._thread is not None and self._failures == 1 and self._file.may_pass):
            return
        self._told = problem
        if self.on_saved is not None:
            self.on_saved()

    def _refresh(self) -> None:
        """Take in what other sessions have written, unless a thread does that."""
        if self._thread is None:
            with self._file_lock:
                self._merge_exchange(self._file.read())

    def _merge_exchange(self, arrived: Exchange) -> None:
        """Merge an exchange into memory, and notify the listener."""
        rows = arrived.rows
        if self._thread is not None and self._moved:
            # The learner stays at the step that this screen shows, wherever other sessions go.
            rows = {table: entries for table, entries in rows.items() if table != "position"}
        with self._lock:
            tables.merge(self._memory, rows)
        if self.on_exchange is not None and (arrived.rows or arrived.conflicts):
            self.on_exchange(tuple(self._own_conflicts(arrived)))

    def _own_conflicts(self, arrived: Exchange) -> Iterable[Conflict]:
        """Yield the conflicts in which one of the two drafts belongs to this session."""
        for stayed, archived in arrived.conflicts:
            if session_of(stayed["version"]) == self._session:
                yield Conflict(stayed["exercise"], archived["code"])
            elif session_of(archived["version"]) == self._session:
                yield Conflict(stayed["exercise"], stayed["code"])

    def _everything(self) -> dict[str, list[dict[str, str]]]:
        """Return all rows of the memory."""
        with self._lock:
            return tables.read_all(self._memory)

    def _query(self, sql: str, *values: str) -> list[tuple[str, ...]]:
        """Query the memory, after taking in what other sessions have written."""
        self._refresh()
        with self._lock:
            return self._memory.execute(sql, values).fetchall()


def _attempt(code: str, verdict: str, time: str, mistake: str, message: str) -> Attempt:
    """Make an attempt from the columns of `_ATTEMPT`."""
    return Attempt(code, cast(Verdict, verdict), time, mistake, message)
