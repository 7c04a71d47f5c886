"""The list of a program's tensors, which takes the place of the course map; below it, what is known of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult

from lessons.render.numbers import visible
from lessons.texts.wording import Wording
from tui.actions.hints import hint
from tui.render.ascii_text import in_ascii
from tui.screens.map_view import MapView
from tui.state.tensor_rows import TensorRow
from tui.tty.terminal import Terminal
from tui.widgets.lesson_list import LessonList
from tui.widgets.tensor_list import TensorList

if TYPE_CHECKING:
    from lessons.learner.progress import Progress
    from lessons.reading.course_outline import CourseOutline, LessonOutline, StepOutline
    from tui.state.course_entries import CourseEntry

say = Wording("screen/program")

BOLD = Style(bold=True)


def _in_ascii(row: TensorRow) -> TensorRow:
    return replace(row, columns=tuple(map(in_ascii, row.columns)), about=in_ascii(row.about))


class ProgramMap(MapView):
    """One line for each tensor. What stands on the page that was shown last has a mark."""

    topic = "program-map"

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(terminal, id=id)
        self._tensors = TensorList(ellipsis=terminal.ellipsis, id="tensors")
        self.list = self._tensors
        self._rows: tuple[TensorRow, ...] = ()

    def compose(self) -> ComposeResult:
        """Compose the list and, below it, the description of the tensor under the cursor."""
        yield self.list
        yield self._about

    def list_tensors(self, rows: Sequence[TensorRow]) -> None:
        """Show these tensors from now on."""
        self._rows = tuple(rows if self._terminal.unicode else map(_in_ascii, rows))

    @property
    def row(self) -> TensorRow | None:
        """The tensor under the cursor."""
        return self._rows[self.list.cursor] if self._rows else None

    def show(self, course: CourseOutline, progress: Progress, others: Sequence[CourseEntry] = ()) -> None:
        """Show the tensors of a program, whose pages are the one lesson of an outline."""
        (pages,) = course.lessons
        position = progress.position()
        here = position[1] if position is not None else ""
        self._targets = [(pages, row.page) for row in self._rows]
        mark = "▶" if self._terminal.unicode else ">"
        self._tensors.show_rows(self._rows, [mark if row.page and row.page == here else " " for row in self._rows])
        found = [number for number, row in enumerate(self._rows) if here and row.page == here]
        if found and self.list.cursor not in found:
            self.list.cursor = found[0]

    def about(
        self,
        lesson: LessonOutline,
        progress: Progress,
        due: Sequence[tuple[LessonOutline, StepOutline]] = (),
    ) -> None:
        """Describe the tensor under the cursor."""
        row = self.row
        self._about.show(Text.assemble((visible(row.label), BOLD), "\n", row.about) if row is not None else Text())

    def on_lesson_list_chosen(self, event: LessonList.Chosen) -> None:
        """Open the page of a tensor, unless none shows it."""
        if not self._rows[event.index].page:
            event.prevent_default()

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        return [hint("list.move"), hint("map.open"), hint("tutor.help"), hint("tutor.quit")]

    def action_challenge(self) -> None:
        """Do nothing: a program has no challenge."""

    def action_review(self) -> None:
        """Do nothing: a program has nothing to review."""
