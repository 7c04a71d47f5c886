"""The app for a file of tensors: a list of all of them, and pages that read a few from the file."""

from __future__ import annotations

from lessons.engine.programs.tensor_file_session import TensorFileSession
from lessons.render.tensor_file_text import size
from lessons.results.clean_text import printable
from lessons.texts.wording import Wording
from tui.program_app import ProgramApp
from tui.state.program_results import FileResults, ProgramResults
from tui.state.program_rows import rows_of_file
from tui.state.tensor_rows import TensorRow
from tui.tty.terminal import Terminal

say = Wording("screen/tensor-file")


class TensorFileApp(ProgramApp):
    """The tutor with a file of tensors in place of the course."""

    def __init__(self, terminal: Terminal, session: TensorFileSession, *, name: str = "") -> None:
        """Initialize; the page with the tensor `name` is opened first, or else the list."""
        self.file_session = session
        super().__init__(terminal, session)
        self._first = name
        # Nothing is computed from what the file holds, so there is no flow.
        self.frame.alone = True
        found = session.found
        count = len(found.tensors) + found.more_tensors
        facts = say.count("tensors", count, "{count} tensor", "{count} tensors")
        self.frame.map_title = f"{found.kind}, {size(found.size)}, {facts}"

    def rows(self) -> tuple[TensorRow, ...]:
        """Return the tensors of the file, then what else is in it."""
        return tuple(rows_of_file(self.file_session))

    def results(self) -> ProgramResults:
        """Return the results of the pages."""
        return FileResults()

    def show_first_page(self) -> None:
        """Open the page of the tensor that was asked for; else the list stays."""
        page, name = self.file_session.pages.page_of(self._first)
        if page:
            self.open_when_made("", page, name=name)

    def said_while_running(self) -> str:
        """Say that the file is read again."""
        return say("reading", "Reading {file} again.", file=printable(self.file_session.path.name))

    def said_again(self, changed: str) -> str:
        """Say that the file was read again."""
        return say("again", "The list of the file was read again.")
