"""A session for a file of tensors: each page is a small program that reads what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.engine.launching.launchers import Launcher
from attn_tutor.lessons.engine.programs import stored_tensors
from attn_tutor.lessons.engine.programs.program_session import ProgramRun, ProgramSession
from attn_tutor.lessons.engine.programs.stored_tensors import UnreadableTensors
from attn_tutor.lessons.engine.programs.tensor_file_pages import TensorFilePages
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.running_program import OwnProgram
from attn_tutor.lessons.format.lesson import Lesson, RunStep
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.program_result import ProgramResult
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.results.tensor_file import TensorList, TensorStatistics
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes

SECONDS = 1.0
"""The longest time that the statistics of all tensors of a page may take."""


class TensorFileSession(ProgramSession):
    """A session whose pages show the tensors of a file. Nothing of them is read before their page is opened."""

    def __init__(
        self,
        path: Path,
        found: TensorList,
        printed: Callable[[Sequence[tuple[str, TensorStatistics]]], Iterable[str]],
        heads: Mapping[str, int] | None = None,
        launcher: Launcher | None = None,
    ) -> None:
        """Begin with a list of the tensors.

        Args:
            path: the file.
            found: what is in it.
            printed: returns the statistics of some tensors as lines, which take the place of output.
            heads: the rows of these tensors are split into so many.
            launcher: starts the processes.
        """
        program = replace(OwnProgram.here(path, ""), data=printable(path.name))
        super().__init__(program, launcher)
        self.path, self.found, self._printed, self._heads = path, found, printed, heads
        self.pages = TensorFilePages(path, found, heads)
        self.statistics: dict[str, tuple[tuple[str, TensorStatistics], ...]] = {}
        """What the numbers of each tensor of a page amount to, by what the page calls it; of pages that were opened."""
        self._page: tuple[str, Changes, ProgramRun] | None = None
        self._show_pages()

    def open(self, program: OwnProgram) -> ProgramRun:
        """List the file again, and make its pages. Raises `WorkerError` if it cannot be read any more."""
        try:
            with stored_tensors.opened(self, self.path) as file:
                self.found = file.found
        except UnreadableTensors as error:
            raise WorkerError(str(error)) from None
        self.pages = TensorFilePages(self.path, self.found, self._heads)
        return self._show_pages()

    def _show_pages(self) -> ProgramRun:
        self.statistics.clear()
        self._page = None
        nothing = Run([ProgramResult(PROGRAM.name)], None)
        self.opened = ProgramRun(nothing, self.program, self.pages)
        return self.opened

    def run(self, lesson: Lesson, upto: str | None = None, changes: Changes = UNCHANGED) -> Run:
        """Read the tensors of a page, with its changes, unless they have just been read. Raises as `Session.run`."""
        pages = self.pages.lesson
        step = pages.step(upto) if upto is not None else pages.steps[0]
        assert isinstance(step, RunStep)
        own = Changes(cells=tuple(cell for cell in changes.cells if cell.step == step.id))
        held = self._page
        if lesson is pages and held is not None and held[:2] == (step.id, own) and held[2].alive:
            return held[2]
        program = replace(self.program, code=step.code)
        run = self._remembered(
            ProgramRun(self.run_program(program, replies.cell_writes(pages, own)), program, self.pages)
        )
        result = run.show(step)
        if result.error is None:
            problem = self._look_at(step.id)
            notes = (*result.notes, problem) if problem else result.notes
            found = self.statistics.get(step.id)
            printed = "\n".join(self._printed(found)) if found is not None else ""
            run.steps[run.steps.index(result)] = replace(result, stdout=printed, notes=notes)
        if lesson is pages:
            self._page = step.id, own, run
        return run

    def _look_at(self, step: str) -> str:
        """Look at all numbers of a page, or at as many as there is time for. Returns why that cannot be done, or ""."""
        if step in self.statistics:
            return ""
        (page,) = [page for page in self.pages.pages if page.step.id == step]
        seconds = SECONDS / len(page.tensors)
        try:
            with stored_tensors.opened(self, self.path) as file:
                found = [(name, file.show(item.name, seconds)[1]) for name, item in page.tensors]
        except UnreadableTensors as error:
            return str(error)
        self.statistics[step] = tuple(found)
        return ""
