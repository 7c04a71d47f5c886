"""The view of the first result in which an answer differs: actual, expected and difference, wrong cells marked."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from attn_tutor.lessons.render.numbers import exact, short, visible
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import AnswerDifference
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.actions.key_names import short_keys
from attn_tutor.tui.drawings import before_after
from attn_tutor.tui.drawings.marks import Marks
from attn_tutor.tui.render import verdict_text
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.text_line import TextLine
from attn_tutor.tui.widgets.text_pane import TextPane

VIEWS = 3
SENTENCE = 3
"""The maximum number of lines for the sentence."""

GAP = 2


class DifferenceView(Box):
    """The matrices of a difference, side by side, stacked or one at a time, as the room allows, with one cursor."""

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
        """Posted when the learner goes back to the exercise."""

    class Flipped(Message):
        """Posted when the focus has moved to a different matrix."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sentence = TextPane(ellipsis=terminal.ellipsis, way=partial(short_keys, "screen.pane"), id="parting")
        self._matrices = [MatrixView(terminal, id=f"side{index}") for index in range(VIEWS)]
        self._sides = Box(*self._matrices, id="sides")
        self._detail = TextLine(ellipsis=terminal.ellipsis, id="sides-detail")
        self._contents: tuple[before_after.MatrixContent, ...] = ()
        self._active = 0
        self._all = True

    def compose(self) -> ComposeResult:
        """Compose the sentence, the matrices, and the line about the cell under the cursor."""
        yield from (self._sentence, self._sides, self._detail)

    def show(self, difference: AnswerDifference) -> None:
        """Show the first difference between an answer and the model answer."""
        self._contents = before_after.answered(difference)
        self._active = 0
        self._sentence.show(verdict_text.departure(difference))
        for index, view in enumerate(self._matrices):
            content = self._contents[index] if index < len(self._contents) else None
            view.show(content.tensor if content else None)
            if content is not None:
                view.caption(content.caption)
                view.mark(Marks(changed=content.changed))
        wrong = self._contents[-1].changed.flat
        if wrong:
            self._matrices[0].go_to(_index(min(wrong), difference.yours.shape))
        self._follow(self._matrices[0])
        self._arrange()

    def focus_active(self) -> None:
        """Focus the active matrix."""
        self._matrices[self._active].focus(scroll_visible=False)

    def move_pane(self, step: int) -> None:
        """Move the focus `step` matrices on."""
        self._active = (self._active + step) % max(1, len(self._contents))
        self._arrange()
        self.focus_active()
        self._describe()

    def action_flip(self) -> None:
        """Go to the next matrix, which replaces this one if there is no room for both."""
        self.move_pane(1)

    def action_leave(self) -> None:
        """Go back to the exercise."""
        self.post_message(self.Left())

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        following = self._contents[(self._active + 1) % len(self._contents)].caption if len(self._contents) > 1 else ""
        flip = [hint("difference.flip", following)] if following else []
        matrix = self._matrices[self._active].hints
        return [hint("difference.leave"), *flip, *matrix, hint("exercise.check"), hint("tutor.help")]

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the new size of the view."""
        self._arrange()
        self._describe()

    def _arrange(self) -> None:
        width, height = self.room
        if not width or not height or not self._contents:
            return
        sentence = min(self._sentence.lines_at(width), SENTENCE, max(1, height // 6))
        set_height(self._sentence, sentence)
        room = height - sentence - 1
        sizes = [view.natural_size() for view in self._matrices[: len(self._contents)]]
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
        """Move the cursors of the other matrices to the same cell."""
        event.stop()
        if event.view.has_focus:
            self._follow(event.view)

    def _follow(self, leader: MatrixView) -> None:
        for view in self._matrices[: len(self._contents)]:
            view.go_to(leader.index)
        self._describe()

    def on_matrix_view_missing(self, event: MatrixView.Missing) -> None:
        """Drop the request: the judge has ended, so no more values can be fetched."""
        event.stop()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Make a matrix that was clicked the active one."""
        if isinstance(event.widget, MatrixView) and event.widget in self._matrices:
            self._active = self._matrices.index(event.widget)
            self._describe()

    def _describe(self) -> None:
        """Show the values of all matrices at the cursor."""
        views = self._matrices[: len(self._contents)]
        name = visible(label(self._contents[0].tensor.name, views[0].index)) if self._contents else ""
        # Use fewer digits if the exact values do not fit.
        for form in (exact, short):
            values = [
                f"{content.caption} {form(view.value, content.tensor.dtype) if view.value is not None else '?'}"
                for content, view in zip(self._contents, views, strict=True)
            ]
            text = f" {name}: {'   '.join(values)}"
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
