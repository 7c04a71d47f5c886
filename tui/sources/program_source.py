"""A program of one's own as a source: its named tensors on pages."""

from __future__ import annotations

from collections.abc import Iterator

from attn_tutor.lessons.engine.programs import program_session
from attn_tutor.lessons.engine.programs.program_session import ProgramRun
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.sources.pages import Pages
from attn_tutor.tui.sources.source import StepPosition
from attn_tutor.tui.state import program_rows, program_words
from attn_tutor.tui.state.program_results import ProgramResults
from attn_tutor.tui.state.tensor_rows import TensorRow

say = Wording("screen/program")


class ProgramSource(Pages):
    """A program that has run."""

    computes = True

    @property
    def map_name(self) -> str:
        """What the title line calls the list of tensors."""
        return say("tensors", "tensors")

    def _rows(self) -> Iterator[TensorRow]:
        return program_rows.rows_of(self.opened)

    @property
    def start(self) -> StepPosition:
        """The page where the program has failed, or else the first."""
        return StepPosition(self.lessons[0], program_session.first_page(self.opened))

    def _make_results(self) -> ProgramResults:
        self._compared = ProgramResults()
        return self._compared

    def _compare_with(self, before: ProgramRun) -> None:
        self._compared.compare_with(before)

    @property
    def _said_meanwhile(self) -> str:
        return say("again", "Running {file} again.", file=self._saved.name)

    def said_after(self, changed: str) -> str:
        """Say what running the program again has changed."""
        return program_words.difference(self.opened, changed)
