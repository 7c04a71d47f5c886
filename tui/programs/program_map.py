"""The list of a program's tensors, which takes the place of the course map; below it, what is known of one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType

from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.render.palette import BOLD
from attn_tutor.tui.screens.map_view import MapView
from attn_tutor.tui.sources.source import TensorRow
from attn_tutor.tui.state.typed_names import has_words
from attn_tutor.tui.tty.terminal import Terminal, in_ascii
from attn_tutor.tui.widgets.lesson_list import LessonEntry, LessonList
from attn_tutor.tui.widgets.search_line import SearchLine

if TYPE_CHECKING:
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.reading.course_outline import LessonOutline, StepOutline
    from attn_tutor.tui.sources.source import MapContent
    from attn_tutor.tui.state.course_entries import CourseEntry


GAP = "  "


class TensorRowList(LessonList):
    """Tensors in aligned columns, of which the last ones go where their names need the room."""

    def __init__(self, *, ellipsis: str = "…", id: str | None = None) -> None:
        super().__init__(ellipsis=ellipsis, id=id)
        self._columns: list[tuple[str, ...]] = []
        self._label_width = 0

    def show_rows(self, rows: Sequence[TensorRow], marks: Iterable[str]) -> None:
        """Show these tensors, each with a sign before its name."""
        widths = _widths(row.columns for row in rows)
        self._columns = [
            tuple(text + " " * (width - cell_len(text)) for text, width in zip(row.columns, widths, strict=False))
            for row in rows
        ]
        self._label_width = max((cell_len(visible(row.label)) for row in rows), default=0)
        self.show(tuple(LessonEntry(mark, visible(row.label)) for row, mark in zip(rows, marks, strict=True)))
        self.refresh()

    @property
    def page(self) -> int:
        """The lines that the keys for pages move the cursor by: as many as are to be seen, less one."""
        return max(1, self.size.height - 1)

    def _fitted(self, index: int, width: int) -> tuple[str, str]:
        """Return name and columns; names are cut at their beginning, if half of the line is not enough for them."""
        entry, columns = self._entries[index], self._columns[index]
        start = f" {entry.glyph} "
        label = max(min(self._label_width, width // 2), 1)
        while len(columns) > 1 and cell_len(start) + label + cell_len(_joined(columns)) > width:
            columns = columns[:-1]
        right = _joined(columns)
        room = max(1, width - cell_len(start) - cell_len(right))
        text = entry.text if cell_len(entry.text) <= room else _end_of(entry.text, room, self._ellipsis)
        left = truncated(start + text, max(0, width - cell_len(right)), self._ellipsis)
        # The columns follow the names, however wide the screen is.
        used = max(cell_len(left), cell_len(start) + min(self._label_width, room))
        return left + " " * (used - cell_len(left)), right + " " * (width - used - cell_len(right))


def _widths(rows: Iterable[tuple[str, ...]]) -> list[int]:
    """Return the width of each column."""
    widths: list[int] = []
    for columns in rows:
        widths += [0] * (len(columns) - len(widths))
        for index, text in enumerate(columns):
            widths[index] = max(widths[index], cell_len(text))
    return widths


def _joined(columns: Sequence[str]) -> str:
    return GAP + GAP.join(columns) + " " if columns else ""


def _end_of(text: str, width: int, ellipsis: str) -> str:
    """Return the end of a text, after an ellipsis, in at most `width` columns."""
    start = 1
    while start < len(text) and cell_len(text[start:]) + cell_len(ellipsis) > width:
        start += 1
    return ellipsis + text[start:]


say = Wording("screen/program")


def _in_ascii(row: TensorRow) -> TensorRow:
    return replace(row, columns=tuple(map(in_ascii, row.columns)), about=in_ascii(row.about))


class ProgramMap(MapView):
    """One line for each tensor. What stands on the page that was shown last has a mark."""

    topic = "program-map"

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(terminal, id=id)
        self._tensors = TensorRowList(ellipsis=terminal.ellipsis, id="tensors")
        self.list = self._tensors
        self._search = SearchLine(ellipsis=terminal.ellipsis)
        self._all: tuple[TensorRow, ...] = ()
        self._rows: tuple[TensorRow, ...] = ()
        self._shown: tuple[LessonOutline, str] | None = None

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tensors")]

    def compose(self) -> ComposeResult:
        """Compose the line to search in, the list and, below it, the description of the tensor under the cursor."""
        yield self._search
        yield self.list
        yield self._about

    @property
    def _found(self) -> tuple[TensorRow, ...]:
        """The tensors that have the words of the search in their names."""
        return tuple(row for row in self._all if has_words(self._search.words, row.label))

    @property
    def row(self) -> TensorRow | None:
        """The tensor under the cursor."""
        return self._rows[self.list.cursor] if self._rows else None

    def show(self, source: MapContent, progress: Progress, others: Sequence[CourseEntry] = ()) -> None:
        """Show the tensors of a program, whose pages are the one lesson of an outline."""
        (pages,), rows = source.outline.lessons, source.rows or ()
        self._all = tuple(rows if self._terminal.unicode else map(_in_ascii, rows))
        position = progress.position()
        here = position[1] if position is not None else ""
        self._shown = pages, here
        self._fill()
        found = [number for number, row in enumerate(self._rows) if here and row.page == here]
        if found and self.list.cursor not in found:
            self.list.cursor = found[0]

    def _fill(self) -> None:
        """List what the search finds."""
        if self._shown is None:
            return
        pages, here = self._shown
        self._rows = self._found
        self._targets = [(pages, row.page, row.name) for row in self._rows]
        mark = "▶" if self._terminal.unicode else ">"
        self._tensors.show_rows(self._rows, [mark if row.page and row.page == here else " " for row in self._rows])
        self._search.show_count(len(self._rows), len(self._all))

    def on_search_line_typed(self, event: SearchLine.Typed) -> None:
        """List what has the words; the tensor under the cursor stays there if it has them."""
        event.stop()
        before = self.row
        self._fill()
        self.list.cursor = self._rows.index(before) if before in self._rows else 0
        self._describe()
        if self._shown is not None:
            # The keys are different ones too.
            self.post_message(self.Selected(self._shown[0]))

    def on_search_line_moved(self, event: SearchLine.Moved) -> None:
        """Move the cursor of the list."""
        event.stop()
        self.list.cursor += event.lines

    def on_search_line_left(self, event: SearchLine.Left) -> None:
        """Go to the list."""
        event.stop()
        self.list.focus(scroll_visible=False)

    def action_search(self) -> None:
        """Go to the line to search in."""
        self._search.open()

    def action_show_all(self) -> None:
        """List all tensors again."""
        self._search.clear()
        self.list.focus(scroll_visible=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: all can be listed again where words are sought."""
        return bool(self._search.words) if action == "show_all" else super().check_action(action, parameters)

    def about(
        self,
        lesson: LessonOutline,
        progress: Progress,
        due: Sequence[tuple[LessonOutline, StepOutline]] = (),
    ) -> None:
        """Describe the tensor under the cursor."""
        self._describe()

    def _describe(self) -> None:
        row = self.row
        if row is not None:
            text = Text.assemble((visible(row.label), BOLD), "\n", row.about)
        else:
            text = Text(say("none-found", "No name has these words."))
        self._about.show(text)

    def on_lesson_list_moved(self, event: LessonList.Moved) -> None:
        """Describe the tensor under the cursor, unless the list has become shorter since."""
        if event.index >= len(self._rows):
            event.prevent_default()

    def on_lesson_list_chosen(self, event: LessonList.Chosen) -> None:
        """Open the page of a tensor, unless none shows it."""
        if not self._rows[event.index].page:
            event.prevent_default()

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self._search.typing:
            return self._search.hints
        every = [hint("tensors.all")] if self._search.words else []
        return [
            hint("list.move"),
            hint("map.open"),
            hint("tensors.search"),
            *every,
            hint("tutor.help"),
            hint("tutor.quit"),
        ]

    def action_challenge(self) -> None:
        """Do nothing: a program has no challenge."""

    def action_review(self) -> None:
        """Do nothing: a program has nothing to review."""
