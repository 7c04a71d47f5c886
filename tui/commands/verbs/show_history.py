"""The verb `history`: a learner's attempts, as text and as JSON."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len

from attn_tutor.lessons.format.lesson import Course, Exercise
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.records import ArchivedCode, Attempt
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.chosen_course import chosen_course
from attn_tutor.tui.commands.course_lookup import no_exercise, read_course
from attn_tutor.tui.commands.exercise_status import next_review
from attn_tutor.tui.commands.open_progress import open_to_read
from attn_tutor.tui.commands.output import UsageError, is_colored, print_code, print_json, print_lines
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.tty.clean_output import Colored
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/history")

SIGNS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
HEAD = "\x1b[1m"
WIDEST = 60
"""The widest column of exercises."""


def run(options: argparse.Namespace) -> ExitCode:
    """Print the attempts at all exercises or at one, or one of them."""
    if options.exercise is None and (options.diff, options.show) != (None, None):
        raise UsageError(say("no-exercise-given", "--diff and --show need an exercise: name it by its id or number."))
    with closing(open_to_read(chosen_course(options))) as progress:
        if options.exercise is None:
            attempts = progress.history()
            if options.json:
                print_json(table_document(attempts))
            else:
                print_lines(table(attempts))
            return ExitCode.OK
        try:
            tried = exercise_history(read_course(options), progress, options.exercise)
            if options.json:
                print_json(tried.document(progress))
            elif options.show is not None:
                print_code(tried.find(options.show).what.code)
            elif options.diff is not None:
                print_lines(diff_lines(tried.find(options.diff), colored=is_colored()))
            else:
                print_lines(tried.lines(colored=is_colored()))
        except NoEntry as error:
            raise UsageError(str(error)) from None
    return ExitCode.OK


class NoEntry(LookupError):
    """The history has no entry of this name; the message is a sentence for the learner."""


# All exercises -------------------------------------------------------------------------------------------------------


def table(attempts: Sequence[tuple[str, Attempt]]) -> Iterator[str]:
    """Yield a line for each attempt, newest first."""
    if not attempts:
        yield say("nothing-checked", "You have not checked any answers yet.")
    # An id that was imported may have any characters, and is one word of its line.
    names = [clean(exercise, keep="", escape=True) for exercise, _ in attempts]
    width = min(max(map(cell_len, names), default=0), WIDEST)
    for name, (_, attempt) in zip(reversed(names), reversed(attempts), strict=True):
        padding = " " * (width - cell_len(name))
        yield f"{_local(attempt.time)}  {name}{padding}  {_verdict(attempt)}".rstrip()


def table_document(attempts: Sequence[tuple[str, Attempt]]) -> dict[str, Any]:
    """Return all attempts, newest first; `number` counts those at the same exercise."""
    counts: dict[str, int] = {}
    entries = []
    for exercise, attempt in attempts:
        counts[exercise] = counts.get(exercise, 0) + 1
        entries.append({"exercise": exercise, "number": counts[exercise], **_attempt_document(attempt)})
    return {"attempts": entries[::-1]}


# One exercise --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """An attempt, or archived code, with the code before it.

    Attributes:
        label: the number of an attempt, or `k1`, `k2`, ... for archived code.
        before: the code of the attempt before, or the starter of the exercise.
        before_number: the number of the attempt before, "" if there is none.
    """

    label: str
    what: Attempt | ArchivedCode
    before: str
    before_number: str

    @property
    def name(self) -> str:
        """Return the name of the entry in a diff."""
        if isinstance(self.what, Attempt):
            return say("attempt", "attempt {label}", label=self.label)
        return say("kept", "kept {label}", label=self.label)

    @property
    def before_label(self) -> str:
        """Return the name of the code before this entry in a diff."""
        if self.before_number:
            return say("attempt", "attempt {label}", label=self.before_number)
        return say("starter", "starter") if self.before else say("nothing", "nothing")

    def diff(self) -> list[str]:
        """Return the entry's changes as a unified diff without control characters."""
        texts = (clean(code).split("\n") for code in (self.before, self.what.code))
        before, after = (lines[:-1] if lines[-1] == "" else lines for lines in texts)
        return list(difflib.unified_diff(before, after, self.before_label, self.name, lineterm=""))


@dataclass(frozen=True, slots=True)
class ExerciseHistory:
    """The attempts at an exercise, oldest first. `exercise` is None if it is no longer in the course."""

    name: str
    exercise: Exercise | None
    entries: tuple[HistoryEntry, ...]

    def find(self, label: str) -> HistoryEntry:
        """Return the entry with this label. Raises `NoEntry`."""
        for entry in self.entries:
            if entry.label == label:
                return entry
        if not self.entries:
            raise NoEntry(say("no-attempts", "You have not tried '{exercise}' yet.", exercise=self.name))
        known = ", ".join(entry.label for entry in self.entries)
        raise NoEntry(
            say(
                "no-attempt",
                "There is no attempt '{label}' at '{exercise}'. The attempts are: {known}",
                label=label,
                exercise=self.name,
                known=known,
            )
        )

    def lines(self, *, colored: bool = False) -> Iterator[str | Colored]:
        """Yield every attempt with its verdict and its diff, and the archived code."""
        title = say("no-longer-there", "no longer in the course") if self.exercise is None else self.exercise.title
        yield f"{self.name}: {title}"
        if not self.entries:
            yield say("not-checked", "You have not checked this exercise yet.")
        for entry in self.entries:
            yield ""
            yield from _entry(entry)
            yield from diff_lines(entry, colored=colored)

    def document(self, progress: Progress) -> dict[str, Any]:
        """Return the history as a JSON document, with the code."""
        when = next_review(progress, self.name, self.exercise, datetime.now(UTC))
        return {
            "exercise": self.name,
            "attempts": [
                {"number": int(entry.label), **_attempt_document(entry.what), "code": entry.what.code,
                 "diff": "".join(f"{line}\n" for line in entry.diff())}
                for entry in self.entries if isinstance(entry.what, Attempt)
            ],
            "kept": [
                {"number": entry.label, "time": entry.what.time, "why": entry.what.why, "code": entry.what.code}
                for entry in self.entries if isinstance(entry.what, ArchivedCode)
            ],
            "hints": progress.hints_used(self.name),
            "gave_up": progress.gave_up(self.name),
            "review": None if when is None else when.isoformat(),
        }  # fmt: skip


def exercise_history(course: Course, progress: Progress, name: str) -> ExerciseHistory:
    """Return the attempts at the exercise of this id or number.

    Raises:
        NoEntry: neither the course nor the progress knows such an exercise.
    """
    exercise: Exercise | None = None
    try:
        _, exercise = course.exercise(name)
        name = exercise.exercise
    except KeyError:
        pass
    attempts, archived = progress.attempts(name), progress.archived(name)
    if exercise is None and not attempts and not archived:
        raise NoEntry(no_exercise(course, name))
    starter = dict(exercise.own_code).get("starter", "") if exercise is not None else ""
    return ExerciseHistory(name, exercise, tuple(_entries(attempts, archived, starter)))


def diff_lines(entry: HistoryEntry, *, colored: bool = False) -> Iterator[str | Colored]:
    """Yield the diff of an entry as lines to print."""
    lines = entry.diff()
    if not lines:
        yield _unchanged(entry)
    for number, line in enumerate(lines):
        # The two lines of the head begin with signs as well.
        color = HEAD if number < 2 else SIGNS.get(line[:1], "")
        yield Colored(color, line) if colored and color else line


def _unchanged(entry: HistoryEntry) -> str:
    """Say that an entry has the code of the one before it."""
    if not entry.before_number:
        return say("same-as-starter", "This is still the starter code.")
    return say("same-as-before", "This is the same code as in attempt {number}.", number=entry.before_number)


def why_kept(why: str) -> str:
    """Say why code was archived, by the reason that the progress has noted."""
    match why:
        case "reset":
            return say("kept-reset", "your code before you reset it")
        case "gave-up":
            return say("kept-gave-up", "your code when you gave up")
        case "review":
            return say("kept-review", "your code before a review began")
        case "watch":
            return say("kept-watch", "your code before you watched a file")
        case "session":
            return say("kept-session", "your code from another session")
        case "damaged":
            return say("kept-damaged", "your last whole code when the disk had changed what you wrote since")
    return why


def _entries(attempts: Iterable[Attempt], archived: Iterable[ArchivedCode], starter: str) -> Iterator[HistoryEntry]:
    before, before_number = starter, ""
    attempt_number = archived_number = 0
    everything: list[Attempt | ArchivedCode] = [*attempts, *archived]
    for what in sorted(everything, key=lambda each: str(each.time)):
        if isinstance(what, ArchivedCode):
            archived_number += 1
            yield HistoryEntry(f"k{archived_number}", what, before, before_number)
        else:
            attempt_number += 1
            yield HistoryEntry(str(attempt_number), what, before, before_number)
            before, before_number = what.code, str(attempt_number)


def _entry(entry: HistoryEntry) -> Iterator[str]:
    """Yield the head of an entry: when, the verdict or why it was archived, and the sentence."""
    what = entry.what
    if isinstance(what, ArchivedCode):
        yield f"{entry.label}  {_local(what.time)}  {why_kept(what.why)}"
        return
    yield f"{entry.label}  {_local(what.time)}  {_verdict(what)}"
    yield from linear_text.message(what.verdict, what.message)


def _verdict(attempt: Attempt) -> str:
    """Return the verdict and the named mistakes as columns."""
    return f"{linear_text.verdict_word(attempt.verdict):10}  {', '.join(attempt.mistakes)}".rstrip()


def _attempt_document(attempt: Attempt | ArchivedCode) -> dict[str, Any]:
    assert isinstance(attempt, Attempt)
    return {
        "time": attempt.time,
        "verdict": attempt.verdict,
        "mistakes": list(attempt.mistakes),
        "message": attempt.message,
    }


def _local(time: str) -> str:
    """Return a time of the file as local time; a damaged file may hold anything there."""
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, TypeError, OverflowError, OSError):
        return say("some-time", "unknown time").ljust(16)
