"""A file of tensors as a source: a list of all of them, and pages that read a few from the file."""

from __future__ import annotations

from collections.abc import Iterator

from attn_tutor.lessons.engine.programs.program_session import ProgramRun
from attn_tutor.lessons.engine.programs.tensor_file_session import TensorFileSession
from attn_tutor.lessons.play.recorded_results import NothingRecorded
from attn_tutor.lessons.play.step_results import StepResults
from attn_tutor.lessons.render.tensor_file_text import size
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.sources.pages import Pages
from attn_tutor.tui.sources.source import StepPosition
from attn_tutor.tui.state.program_rows import rows_of_file
from attn_tutor.tui.state.tensor_rows import TensorRow

say = Wording("screen/tensor-file")


class TensorFileSource(Pages):
    """A file of tensors."""

    computes = False

    def __init__(self, session: TensorFileSession, name: str = "") -> None:
        """Initialize; the page with the tensor `name` is opened first, or else the list."""
        self._file, self._first = session, name
        super().__init__(session)

    @property
    def map_name(self) -> str:
        """The kind of the file, its size, and how many tensors are in it."""
        found = self._file.found
        count = len(found.tensors) + found.more_tensors
        facts = say.count("tensors", count, "{count} tensor", "{count} tensors")
        return f"{found.kind}, {size(found.size)}, {facts}"

    def _rows(self) -> Iterator[TensorRow]:
        return rows_of_file(self._file)

    @property
    def start(self) -> StepPosition | None:
        """The page of the tensor that was asked for."""
        page, name = self._file.pages.page_of(self._first)
        return StepPosition(self.lessons[0], self.lessons[0].index(page), name) if page else None

    def _make_results(self) -> StepResults:
        return StepResults(NothingRecorded())

    def _compare_with(self, before: ProgramRun) -> None:
        self._results.forget()

    @property
    def _said_meanwhile(self) -> str:
        return say("reading", "Reading {file} again.", file=printable(self._file.path.name))

    def said_after(self, changed: str) -> str:
        """Say that the file was read again."""
        return say("again", "The list of the file was read again.")
