"""An exercise: the task, an editor, and the judge's word."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from lessons.format.lesson import ExerciseStep
from tui.actions.bindings import bindings
from tui.actions.hints import mention
from tui.render import verdict_text
from tui.render.prose import in_ascii, rich_text
from tui.render.step_layout import WIDE
from tui.tty.terminal import Terminal
from tui.widgets.code_editor import CodeEditor
from tui.widgets.line_widget import Box, set_height
from tui.widgets.text_pane import AFTER_F4, TextPane

BOLD, DIM = Style(bold=True), Style(dim=True)

EDITOR_LINES = 8
"""The editor gets no fewer lines than this, where half of the screen has as many."""


class ExerciseView(Box):
    """Task above or left, editor in the middle or right, verdict below the task.

    A learner arrives at the task, where the keys of a step work, and not in the editor, where an `n` would be typed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("task")]

    class Edited(Message):
        """The code has changed."""

        def __init__(self, exercise: ExerciseStep, code: str) -> None:
            self.exercise, self.code = exercise, code
            super().__init__()

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._exercise: ExerciseStep | None = None
        self._hints = 0
        self._folded = False
        self._set_aside: str | None = None
        # The code as it was told last: what differs from it is the learner's doing.
        self._told = ""

        self._said, self._said_of = Text(), ""
        self._stale = True
        self._focused: Widget | None = None
        self.task_pane = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="task")
        self._editor = CodeEditor(unicode=terminal.unicode, id="editor")
        self._verdict = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="verdict")

    def compose(self) -> ComposeResult:
        """Task, editor, verdict."""
        yield from (self.task_pane, self._editor, self._verdict)

    @property
    def code(self) -> str:
        """What stands in the editor."""
        return self._editor.text

    @property
    def edited(self) -> bool:
        """Whether the learner has changed the code since that was told last."""
        return self._editor.text != self._told

    @property
    def editing(self) -> bool:
        """Whether keys go to the editor."""
        return self._editor.has_focus

    def show_step(self, exercise: ExerciseStep, code: str, hints: int) -> None:
        """Show an exercise with the learner's code, and as many hints as they have read."""
        self._exercise, self._hints, self._folded, self._set_aside = exercise, hints, False, None
        self._told = code
        if not self._editor.open(exercise.exercise, code):
            # Once it has its size: a cursor that does not fit yet would scroll the code aside.
            self.call_after_refresh(self._editor.go_to_last_line)
        self._show_task(at_end=False)
        self._focused = None
        self.task_pane.focus(scroll_visible=False)

    def action_edit(self) -> None:
        """Go to the editor."""
        self._editor.focus(scroll_visible=False)

    def come_back(self) -> None:
        """Give the keys to the pane that had them when the learner went to look at something else."""
        (self._focused or self.task_pane).focus(scroll_visible=False)

    def _show_task(self, at_end: bool = True) -> None:
        exercise = self._exercise
        if exercise is None:
            return
        number = f"Exercise {exercise.number}: " if exercise.number else "Exercise: "
        text = Text.assemble((number + exercise.title, BOLD))
        text.append(f"   {mention('exercise.fold', 'unfold' if self._folded else 'fold')}", DIM)
        if not self._folded:
            text.append("\n")
            text.append_text(self._prose(exercise.prose))
            for index in range(self._hints):
                text.append(f"\nHint {index + 1} of {len(exercise.hints)}: ", BOLD)
                text.append_text(self._prose(exercise.hints[index]))
        # The newest hint is the last line.
        self.task_pane.show(text, at_end=at_end and self._hints > 0)
        self._arrange()

    def _prose(self, prose: str) -> Text:
        return rich_text(prose if self._terminal.unicode else in_ascii(prose))

    def say(self, text: Text, of: str | None = None, line: int | None = None) -> None:
        """Show something below the editor.

        Args:
            text: what.
            of: the code that it is about: it is dimmed when there is other code.
            line: the line of this code that it is about, which is marked as long.
        """
        self._said, self._said_of, self._stale = text, of or "", of is None
        self._verdict.show(text)
        self._arrange()
        self._editor.mark(line)
        self._age_verdict()

    def show_hints(self, hints: int) -> None:
        """Show the hints up to this number."""
        self._hints, self._folded = hints, False
        self._show_task()

    def fold(self) -> None:
        """Fold the task away, or back."""
        self._folded = not self._folded
        self._show_task()

    def reset(self, kept: str | None = None) -> str | None:
        """Back to the starter, or from it to the learner's code.

        Args:
            kept: code that the starter took the place of some other day.

        Returns:
            The code that the starter has taken the place of, if it has.
        """
        if self._exercise is None:
            return None
        now, starter = self._editor.text, self._exercise.starter
        if self._set_aside is not None:
            then, self._set_aside = self._set_aside, None
        elif now == starter:
            then = now if kept is None else kept
        else:
            # The starter takes the place of the code only when it is changed: a slip of the finger loses none.
            then, self._set_aside = starter, now
            self._told = then
        self.put(then)
        return self._set_aside

    def load(self, code: str) -> None:
        """Show code that was saved elsewhere in place of what stands in the editor, as it was saved."""
        self._told = code
        self.put(code)

    def put(self, code: str) -> None:
        """Put code in the place of what stands in the editor. An edit, not a load: it can be undone like any other."""
        if code != self._editor.text:
            self._editor.history.checkpoint()
            location = self._editor.cursor_location
            self._editor.replace(code, (0, 0), self._editor.document.end, maintain_selection_offset=False)
            self._editor.move_cursor(location)
            self._editor.history.checkpoint()

    def move_pane(self, step: int, editor: bool = False) -> None:
        """From verdict to task and back; with `editor`, from there to the editor as well.

        Tab does not lead into the editor, since it would indent there.
        """
        panes: list[Widget] = [self.task_pane, self._verdict, *([self._editor] if editor else [])]
        index = next((index for index, pane in enumerate(panes) if pane.has_focus), -1)
        panes[(index + step) % len(panes)].focus(scroll_visible=False)

    def on_editor_left(self) -> None:
        """Escape: keys work as in a lesson then."""
        self._verdict.focus(scroll_visible=False)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Tell the new code, unless it was us who put it there."""
        event.stop()
        self._age_verdict()
        if self._exercise is not None and self._editor.text != self._told:
            self._told = self._editor.text
            # Edited since f9: the starter is the learner's code now, and f9 leads to a fresh one.
            self._set_aside = None
            self.post_message(self.Edited(self._exercise, self._told))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Note where to come back to."""
        self._focused = event.widget

    def _age_verdict(self) -> None:
        """What was said of other code is dimmed, and no line is marked."""
        if not self._stale and self._editor.text != self._said_of:
            self._stale = True
            self._verdict.show(verdict_text.dimmed(self._said))
            self._editor.mark(None)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange again."""
        self._arrange()

    def _arrange(self) -> None:
        """Task and verdict get what they need, within limits; the editor gets the rest."""
        width, height = self.room
        if not width or not height:
            return
        wide = width >= WIDE
        self.set_class(wide, "wide")
        if wide:
            left = width * 2 // 5
            task = max(3, min(self.task_pane.lines_at(left) + 1, height * 2 // 3))
            self.styles.grid_columns = f"{left} 1fr"
            self.styles.grid_rows = f"{task} 1fr"
            for pane in (self.task_pane, self._editor, self._verdict):
                pane.styles.height = "1fr"
            return
        least = min(EDITOR_LINES, height // 2)
        verdict = min(self._verdict.lines_at(width), max(2, (height - least) // 2))
        task = min(self.task_pane.lines_at(width) + 1, max(3, height - least - verdict))
        editor = max(1, height - task - verdict)
        for widget, lines in ((self.task_pane, task), (self._editor, editor), (self._verdict, verdict)):
            set_height(widget, lines)
