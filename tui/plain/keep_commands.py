"""The command that writes files for the learner to keep: a matrix, or what they read and wrote."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.takehome import home_files, learner_work, matrix_file
from attn_tutor.lessons.takehome.home_files import FILES, HomeFile, NothingToTake
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.matrix_commands import MatrixCommands
from attn_tutor.tui.plain.plain_state import PlainState
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.state import home_offers
from attn_tutor.tui.state.exported_files import ExportedFiles, NotWritten

say = Wording("plain/keep")


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
        work = learner_work.read(self._state.learning.progress, course)
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
        yield from self._state.console.wrapped(say("written", "Written: {file}", file=path))
