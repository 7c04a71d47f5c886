"""The first result of an answer that differs: yours, the expected one, the difference, with the wrong cells marked."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from lessons.results.explanation import label
from lessons.results.result import AnswerDifference
from tui.actions.bindings import bindings
from tui.actions.hints import hint, key_line
from tui.actions.naming import short_keys
from tui.drawings import before_after
from tui.drawings.marks import Marks
from tui.render import verdict_text
from tui.render.numbers import exact, short, visible
from tui.tty.terminal import Terminal
from tui.widgets.line_widget import Box, set_height
from tui.widgets.matrix import MatrixView
from tui.widgets.text_line import TextLine
from tui.widgets.text_pane import TextPane

VIEWS = 3
SENTENCE = 3
"""Lines that the sentence may take."""

GAP = 2


class DifferenceView(Box):
    """Matrices side by side, below each other, or one at a time: as there is room. Their cursors go together."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("difference")]

    DEFAULT_CSS = """
    DifferenceView #sides {
        layout: vertical;
        height: 1fr;
    }

    DifferenceView #sides.beside {
        layout: horizontal;
    }

    DifferenceView #sides.beside MatrixView {
        margin-right: 2;
    }
    """

    class Left(Message):
        """The learner goes back to the exercise."""

    class Flipped(Message):
        """Another matrix has the keys."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sentence = TextPane(ellipsis=terminal.ellipsis, way=short_keys("screen.pane"), id="parting")
        self._matrices = [MatrixView(terminal, id=f"side{index}") for index in range(VIEWS)]
        self._sides = Box(*self._matrices, id="sides")
        self._detail = TextLine(ellipsis=terminal.ellipsis, id="sides-detail")
        self._shown: tuple[before_after.MatrixContent, ...] = ()
        self._active = 0
        self._all = True

    def compose(self) -> ComposeResult:
        """A sentence, the matrices, the cell under the cursor."""
        yield from (self._sentence, self._sides, self._detail)

    def show(self, difference: AnswerDifference) -> None:
        """Show where an answer leaves the way of the model answer."""
        self._shown = before_after.answered(difference)
        self._active = 0
        self._sentence.show(verdict_text.departure(difference))
        for index, view in enumerate(self._matrices):
            content = self._shown[index] if index < len(self._shown) else None
            view.show(content.tensor if content else None)
            if content is not None:
                view.caption(content.caption)
                view.mark(Marks(changed=content.changed))
        wrong = self._shown[-1].changed.flat
        if wrong:
            self._matrices[0].go_to(_index(min(wrong), difference.yours.shape))
        self._follow(self._matrices[0])
        self._arrange()

    def focus_active(self) -> None:
        """Give the keys to the active matrix."""
        self._matrices[self._active].focus(scroll_visible=False)

    def move_pane(self, step: int) -> None:
        """To the next matrix."""
        self._active = (self._active + step) % max(1, len(self._shown))
        self._arrange()
        self.focus_active()
        self._describe()

    def action_flip(self) -> None:
        """To the next matrix, in the place of this one if there is no room for both."""
        self.move_pane(1)

    def action_leave(self) -> None:
        """Back to the exercise."""
        self.post_message(self.Left())

    @property
    def keys(self) -> str:
        """What keys do here."""
        following = self._shown[(self._active + 1) % len(self._shown)].caption if len(self._shown) > 1 else ""
        flip = [hint("difference.flip", following)] if following else []
        matrix = self._matrices[self._active].hints
        return key_line([hint("difference.leave"), *flip, *matrix, hint("exercise.check"), hint("tutor.help")])

    def on_resize(self, event: events.Resize) -> None:
        """Arrange again."""
        self._arrange()
        self._describe()

    def _arrange(self) -> None:
        width, height = self.room
        if not width or not height or not self._shown:
            return
        sentence = min(self._sentence.lines_at(width), SENTENCE, max(1, height // 6))
        set_height(self._sentence, sentence)
        room = height - sentence - 1
        sizes = [view.natural_size() for view in self._matrices[: len(self._shown)]]
        beside = sum(columns + GAP for columns, _ in sizes) <= width
        below = sum(lines for _, lines in sizes) <= room
        self._all = beside or below
        self._sides.set_class(beside, "beside")
        for index, view in enumerate(self._matrices):
            there = index < len(sizes) and (self._all or index == self._active)
            natural = sizes[index][1] if index < len(sizes) else 0
            set_height(view, 0 if not there else natural if below and not beside else max(1, room))

    @on(MatrixView.CursorMoved)
    def follow(self, event: MatrixView.CursorMoved) -> None:
        """The cursors go together."""
        event.stop()
        if event.view.has_focus:
            self._follow(event.view)

    def _follow(self, leader: MatrixView) -> None:
        for view in self._matrices[: len(self._shown)]:
            view.go_to(leader.index)
        self._describe()

    def on_matrix_view_missing(self, event: MatrixView.Missing) -> None:
        """What is not here is not to be had: the judge has ended."""
        event.stop()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click may have moved the focus."""
        if isinstance(event.widget, MatrixView) and event.widget in self._matrices:
            self._active = self._matrices.index(event.widget)
            self._describe()

    def _describe(self) -> None:
        """The cell under the cursor in all of the matrices."""
        views = self._matrices[: len(self._shown)]
        name = visible(label(self._shown[0].tensor.name, views[0].index)) if self._shown else ""
        # With fewer digits where they do not fit.
        for form in (exact, short):
            told = [
                f"{content.caption} {form(view.value, content.tensor.dtype) if view.value is not None else '?'}"
                for content, view in zip(self._shown, views, strict=True)
            ]
            text = f" {name}: {'   '.join(told)}"
            if cell_len(text) < self.room.width:
                break
        self._detail.set(text)
        self.post_message(self.Flipped())


def _index(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        position, on_axis = divmod(position, max(1, size))
        index.insert(0, on_axis)
    return tuple(index)
