"""The dialogue: it prints a step, reads a line, does what the line says, and so on until the input ends."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.exports import export_to_temporary_file
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.renames import renames_of
from attn_tutor.lessons.play.step import Learning
from attn_tutor.lessons.reading.folders import option_about
from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.results.result import Tensor, WorkerError
from attn_tutor.lessons.takehome import home_files, learner_work, matrix_file
from attn_tutor.lessons.takehome.home_files import FILES, HomeFile, NothingToTake
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import ChangeError
from attn_tutor.tui.plain.command_table import COMMANDS, Handlers, word_of
from attn_tutor.tui.plain.console import SENTENCES, Console
from attn_tutor.tui.plain.course_dialogue import CourseDialogue
from attn_tutor.tui.plain.journey_dialogue import JourneyDialogue
from attn_tutor.tui.plain.matrix_commands import MatrixCommands
from attn_tutor.tui.plain.question_dialogue import letters
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.waiting_session import PlainState, WaitingSession
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.sources.source import Edited, Source
from attn_tutor.tui.state import course_entries, home_offers
from attn_tutor.tui.state.home_offers import ExportedFiles, NotWritten
from attn_tutor.tui.state.unsaved_progress import farewell

if TYPE_CHECKING:
    from attn_tutor.lessons.reading.folders import CourseFolder


say = Wording("plain/dialogue")

LONGEST_ECHO = 60
"""Characters that are repeated of what a learner has typed."""


class Dialogue:
    """The dialogue with one learner.

    Attributes:
        course: the learner's way through the course.
        next_course: the course to go on with, None if the learner quits.
    """

    def __init__(
        self,
        source: Source,
        progress: Progress,
        console: Console,
        make_way: Callable[[PlainState], JourneyDialogue] = CourseDialogue,
    ) -> None:
        """Initialize; `make_way` makes the way through what the source has."""
        self._source, self._console = source, console
        self.session = WaitingSession(source.open_session(), console)
        learning = Learning.begin(source, progress, source.load())
        self.state = PlainState(source, learning, console, self.session)
        self.course = make_way(self.state)
        self._keeping = KeepCommands(self.state, lambda: self.course.current.matrices)
        self._quits = False
        self.next_course: CourseFolder | None = None
        self._problem: str | None = None
        # The file that progress was exported to.
        self._exported: Path | None = None

    @property
    def handlers(self) -> Handlers:
        """The commands that apply now."""
        own: Handlers = {}
        if self._source.folder is not None:
            own = {"courses": self._courses, "course": self._open_course, "export": self._export}
        own |= {"keep": self._keep, "sentences": self._sentences}
        return self.course.handlers | own | {"help": self._help, "quit": self._quit}

    def begin(self) -> None:
        """Say what is wrong with files that are being written, start the worker, and print the first step."""
        if self._source.edited is not None:
            self._console.write(self._report(self._source.edited))
        with suppress(WorkerError):  # the first request says why it cannot be started
            self.session.start()
        self._console.write(self._guarded(self.course.begin()))
        self._console.write(self._about_saving())

    def listen(self) -> None:
        """Do what lines of input say until the learner quits or the input ends.

        Raises `BrokenPipeError` if nobody reads any more.
        """
        while not self._quits:
            try:
                line = self._console.ask()
            except KeyboardInterrupt:
                self._console.end_line()
                self._console.write(self._console.wrapped(say("how-to-quit", "Type quit to leave.")))
                continue
            if line is None:
                return
            self._console.write(self._guarded(self._obey(line)))
            self._console.write(self._about_saving())

    def _about_saving(self) -> Iterator[str]:
        """Say that progress cannot be saved, or that it can be again, when that has changed."""
        problem = self.state.learning.progress.problem
        if problem != self._problem:
            self._problem = problem
            yield from self._console.wrapped(problem or say("saved-again", "Your progress is saved again."))

    def close(self) -> None:
        """Stop what is running."""
        self.course.current.stop()
        self.session.close()

    def _guarded(self, lines: Iterator[str]) -> Iterator[str]:
        """Yield lines; what cannot be done becomes a sentence."""
        try:
            yield from lines
        except (Refused, WorkerError, ChangeError) as error:
            yield from self._console.wrapped(str(error))

    def _obey(self, line: str) -> Iterator[str]:
        """Show the step as it is now if its files were saved; then do what a line says, and yield what comes of it."""
        edited = self._source.edited
        if edited is not None and edited.was_saved():
            yield from self._read_again(edited)
        yield from self._do(line)

    def _read_again(self, edited: Edited) -> Iterator[str]:
        place = edited.read_now(self.course.lesson, self.course.step)
        yield from self._report(edited)
        if place is not None:
            yield from self._console.wrapped(say("saved", "A file was saved. The step is as follows now."))
            yield ""
            yield from self.course.open_again(place.lesson, place.index)

    def _report(self, edited: Edited) -> Iterator[str]:
        """Yield what is wrong with the files that are being written."""
        for sentence in edited.report():
            yield from self._console.wrapped(sentence)

    def _do(self, line: str) -> Iterator[str]:
        """Do what a line says, and yield what comes of it."""
        first, _, rest = line.strip().partition(" ")
        if not first:
            return
        handlers = self.handlers
        if first.isdecimal() and not rest and "follow" in handlers:
            first, rest = "follow", first
        if first in letters(self.course.step) and not rest and "answer" in handlers:
            raise Refused(self._letter_alone(first, handlers))
        word = word_of(first) or self._begun(first, handlers)
        if word is None or word not in handlers:
            raise Refused(self._unknown(line.strip(), word, handlers))
        yield from handlers[word](rest.strip())

    def _letter_alone(self, letter: str, handlers: Handlers) -> str:
        """Say that a letter alone may be an answer or a command."""
        word = word_of(letter)
        if word in handlers and word not in ("answer", None):
            return say(
                "answer-or-command", "To answer, type answer {letter}. The command is {word}.", letter=letter, word=word
            )
        return say("answer-first", "To answer, type answer {letter}.", letter=letter)

    def _begun(self, text: str, handlers: Handlers) -> str | None:
        """Return the only command that applies and begins with a text, None if there is none. Raises `Refused`."""
        found = [word for word in handlers if word.startswith(text.casefold())] if len(text) > 1 else []
        if len(found) > 1:
            raise Refused(
                say("several", "{text} may be each of these: {words}. Type more of it.",
                    text=text, words=", ".join(found))
            )  # fmt: skip
        return found[0] if found else None

    def _unknown(self, line: str, word: str | None, handlers: Handlers) -> str:
        """Say that a line begins with no command, or with none that does something here, and what to type instead."""
        if word is not None:
            if reason := self.course.current.why_not(word):
                return reason
            return say("not-here", "The command {word} does nothing here. Type help to see what you can do.", word=word)
        if meant := self.course.current.command_for(line):
            return say("meant", "Do you mean this? {command}", command=truncated(meant, LONGEST_ECHO, "..."))
        text = line.partition(" ")[0]
        shown = truncated(visible(text), LONGEST_ECHO, "...")
        close = difflib.get_close_matches(text.casefold(), handlers, 1)
        close = close or difflib.get_close_matches(text.casefold(), COMMANDS, 1)
        if close:
            return say("similar", "There is no command {text}. Do you mean {similar}?", text=shown, similar=close[0])
        return say("unknown", "There is no command {text}. Type help to see what you can do.", text=shown)

    def _keep(self, text: str) -> Iterator[str]:
        """Write a file for the learner to keep."""
        yield from self.course.turn_to(text)
        yield from self._keeping.keep(text)

    # Other courses ---------------------------------------------------------------------------------------------------

    def _courses(self, _: str) -> Iterator[str]:
        """Yield the courses that can be opened, with the learner's progress."""
        for entry in course_entries.entries():
            here = self._is_open(entry.course)
            status = f" ({entry.status})" if entry.status else ""
            yield from self._console.wrapped(
                f"{entry.course.id}: {entry.title}{status}" + (f"  <- {say('here', 'you are here')}" if here else "")
            )

    def _is_open(self, course: CourseFolder) -> bool:
        """Return whether a course is the one that this dialogue is about."""
        folder = self._source.folder
        return folder is not None and course.state_folder == folder.state_folder

    def _open_course(self, text: str) -> Iterator[str]:
        """End this dialogue, so that another one about the course of this id begins."""
        found = {entry.course.id: entry for entry in course_entries.entries()}
        if text not in found:
            raise Refused(
                say("which-course", "Say which course: course and one of these: {ids}.", ids=", ".join(found))
            )
        entry = found[text]
        if entry.problem:
            raise Refused(say("course-problem", "It cannot be opened. {reason}", reason=entry.problem))
        if self._is_open(entry.course):
            raise Refused(say("this-course", "You are in this course."))
        self._quits, self.next_course = True, entry.course
        yield from ()

    # Help ------------------------------------------------------------------------------------------------------------

    def _help(self, text: str) -> Iterator[str]:
        """Yield the commands that apply now, each with its short form and what it does, or one of them."""
        word = word_of(text) if text else None
        if text and word is None:
            raise Refused(say("unknown", "There is no command {text}. Type help to see what you can do.", text=text))
        handlers = self.handlers
        for command in COMMANDS.values():
            if command.word == word or (word is None and command.word in handlers):
                short = say("short", ", short: {letter}", letter=command.letter) if command.letter else ""
                form = f"{command.word} {self.course.form_of(command)}".strip()
                yield from self._console.wrapped(f"{form}{short}: {self.course.help_of(command)}")

    def _sentences(self, _: str) -> Iterator[str]:
        """Switch between sentences and tables."""
        self._console.sentences = not self._console.sentences
        yield from self._console.wrapped(
            say(
                "sentences",
                "Matrices are printed in sentences from now on. sentences again prints tables. If the environment has "
                "{variable}=1, there are sentences from the beginning.",
                variable=SENTENCES,
            )
            if self._console.sentences
            else say("tables", "Matrices are printed as tables from now on.")
        )

    def _export(self, _: str) -> Iterator[str]:
        """Save the learner's progress and code to a file."""
        try:
            self._exported = export_to_temporary_file(self.state.learning.progress, self._exported)
        except OSError as error:
            raise Refused(
                say("not-written", "Your progress could not be written to a file: {reason}", reason=error)
            ) from None
        yield from self._console.wrapped(
            say("written", "Your progress and code were written to {file}", file=self._exported)
        )

    def _quit(self, _: str) -> Iterator[str]:
        """End the dialogue."""
        self._quits = True
        yield from self._bye()

    def _bye(self) -> Iterator[str]:
        """Yield what is said at the end."""
        if self._source.folder is not None and self.state.learning.progress.saved:
            yield from self._console.wrapped(say("bye", "Everything is saved."))


class _Stopped(Exception):
    """The learner has stopped what was running."""


class KeepCommands:
    """Writes a matrix of the step, or what the learner read and wrote, to a file."""

    def __init__(self, state: PlainState, matrices: Callable[[], MatrixCommands]) -> None:
        self._state, self._matrices = state, matrices
        self._files = ExportedFiles()

    def keep(self, text: str) -> Iterator[str]:
        """Write what a text names, and yield where. Raises `Refused`."""
        what, _, file = text.partition(" ")
        course = self._state.source.course
        known = [*FILES, home_offers.PROGRESS] if course is not None else []
        try:
            if course is not None and what in known:
                yield from self._keep_work(what, file.strip(), course)
            else:
                yield from self._keep_matrix(text, known)
        except NotWritten as error:
            raise Refused(str(error)) from None

    def _keep_matrix(self, text: str, known: list[str]) -> Iterator[str]:
        """Write a matrix; the last word is the file, if it ends like one."""
        if not text:
            raise Refused(self._what(known))
        name, _, file = text.rpartition(" ")
        if not name or Path(file).suffix.lower() not in matrix_file.WRITERS:
            name, file = text, ""
        tensor: Tensor = yield from self._matrices().taken(name)
        file = file or self._files.proposed(f"{home_offers.file_stem(tensor.name)}.csv")
        writer = matrix_file.WRITERS[Path(file).suffix.lower()]
        yield from self._written(self._files.write(file, writer(tensor)))

    def _what(self, known: list[str]) -> str:
        """Say what can be kept."""
        example = say("matrix", "Say which matrix: keep weights weights.csv, or a file in .txt or .svg.")
        if not known:
            return example
        return f"{example} " + say("work", "Or one of these: {known}.", known=", ".join(known))

    def _keep_work(self, kind: str, file: str, course: Course) -> Iterator[str]:
        """Write what the learner read and wrote, or their progress."""
        if kind == home_offers.PROGRESS:
            file = file or self._files.proposed("my_progress.json")
            yield from self._written(self._files.write(file, home_offers.progress_text(self._state.learning.progress)))
            return
        file = file or self._files.proposed(home_files.file_name(kind, course))
        self._files.check(file)
        work = learner_work.read_work(self._state.learning.progress, course)
        stopped = threading.Event()

        def go_on(_: str = "") -> None:
            if stopped.is_set():
                raise _Stopped

        def take(session: Session) -> HomeFile:
            taken = home_files.take(kind, session, course, work, on_line=go_on)
            go_on()
            return taken

        try:
            found = self._state.session.call_with_session(take, stopped.set)
        except NothingToTake as error:
            raise Refused(str(error)) from None
        except _Stopped:
            raise Refused(say("stopped", "Stopped. Nothing was written.")) from None
        yield from self._written(self._files.write(file, found.text))
        for line in found.about:
            yield from self._state.console.wrapped(line)

    def _written(self, path: Path) -> Iterator[str]:
        yield from self._state.console.wrapped(say("keep-written", "Written: {file}", file=path))


@dataclass(frozen=True, slots=True)
class DialogueEnd:
    """How a dialogue ended.

    Attributes:
        next_course: the course to go on with, if any.
        is_lost: whether something that the learner did could not be kept anywhere.
    """

    next_course: CourseFolder | None
    is_lost: bool


def talk(folder: CourseFolder, course: Course, columns: int | None, *, unicode: bool) -> DialogueEnd:
    """Talk with a learner about a course until they quit; return how that ended. See `converse`."""
    progress = _progress_with(course)
    try:
        source = CourseSource(folder, Session(), course)
        ended = converse(lambda console: Dialogue(source, progress, console), columns, unicode=unicode)
    finally:
        progress.close()
        ending = farewell(progress, option_about(course))
        # The reader may be gone.
        with suppress(OSError):
            if ending.message:
                print(ending.message, file=sys.stderr)
    return DialogueEnd(ended.next_course, ending.is_lost)


def _progress_with(course: Course) -> Progress:
    return Progress.open(state_folder=course.state_folder, renames=renames_of(course), course=course.export_id)


def converse(make: Callable[[Console], Dialogue], columns: int | None, *, unicode: bool) -> Dialogue:
    """Talk with a learner until they quit, the input ends, or nobody reads any more; return how the dialogue ended.

    Args:
        make: makes the dialogue.
        columns: the width of a line; None: COLUMNS, or else that of the terminal, or else 80.
        unicode: whether characters that are not ASCII may be written.
    """
    # It may be closed.
    given = sys.stdin or StringIO()
    if isinstance(given, TextIOWrapper) and given.errors != "replace":
        # Bytes that are no text are no reason to end. This cannot be said after the first line of an earlier dialogue.
        given.reconfigure(errors="replace")
    # No line reaches the last column, where some terminals wrap.
    width = columns or shutil.get_terminal_size().columns - 1
    console = Console(given, sys.stdout, width, unicode=unicode)
    console.sentences = os.environ.get(SENTENCES, "") not in ("", "0")
    dialogue = make(console)
    try:
        with console.interrupts.installed():
            dialogue.begin()
            dialogue.listen()
    finally:
        dialogue.close()
    return dialogue
