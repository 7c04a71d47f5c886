"""The view of an exercise: the task, an editor, and the verdict."""

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

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.exercises import GAP
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import mention
from attn_tutor.tui.render import verdict_text
from attn_tutor.tui.render.ascii_text import in_ascii
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.render.step_layout import WIDE
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.code_editor import CodeEditor
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.text_pane import AFTER_F4, TextPane

say = Wording("exercise/view")

BOLD, DIM = Style(bold=True), Style(dim=True)

NARROWEST_TASK, GUTTER = 40, 10
"""Columns that the task keeps beside code that needs more room, and those around the code: margin and line numbers."""

EDITOR_LINES, ROOM_TO_TYPE = 10, 2
"""The minimum number of lines for the editor, as long as half of the screen has that many and its code, with so many
empty lines below it, needs them."""

TASK_LINES = 5
"""Lines that the task keeps beside a long verdict: it has been read, and the verdict has not."""


class ExerciseView(Box):
    """The task, the editor and the verdict: stacked on a narrow screen, with the editor at the right on a wide one.

    The task has the focus first, so that the keys of a step work; in the editor an `n` would be typed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("task")]

    class Edited(Message):
        """Posted when the learner has changed the code."""

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
        # The last code that was loaded or posted; any other code in the editor is a change by the learner.
        self._posted_code = ""

        self._feedback, self._feedback_code = Text(), ""
        self._stale = True
        self._focused: Widget | None = None
        self.task_pane = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="task")
        self._editor = CodeEditor(unicode=terminal.unicode, id="editor")
        self._verdict = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="verdict")

    def compose(self) -> ComposeResult:
        """Compose the task, the editor and the verdict."""
        yield from (self.task_pane, self._editor, self._verdict)

    @property
    def code(self) -> str:
        """The code in the editor."""
        return self._editor.text

    @property
    def edited(self) -> bool:
        """Whether the code differs from the last code that was loaded or posted."""
        return self._editor.text != self._posted_code

    @property
    def editing(self) -> bool:
        """Whether the editor has the focus."""
        return self._editor.has_focus

    def show_step(self, exercise: ExerciseStep, code: str, hints: int) -> None:
        """Show an exercise with the learner's code and the first `hints` hints."""
        self._exercise, self._hints, self._folded, self._set_aside = exercise, hints, False, None
        self._posted_code = code
        if not self._editor.open(exercise.exercise, code):
            # Only after the editor has its size: before, a cursor that does not fit would scroll the code.
            self.call_after_refresh(self._put_cursor)
        self._show_task(at_end=False)
        self._focused = None
        self.task_pane.focus(scroll_visible=False)

    def _put_cursor(self) -> None:
        """Select the gap of an exercise in one line, or put the cursor at the end of the code."""
        gap = self._exercise is not None and self._exercise.form == "line" and self._editor.select(GAP)
        if not gap:
            self._editor.go_to_last_line()

    def action_edit(self) -> None:
        """Focus the editor."""
        self._editor.focus(scroll_visible=False)

    def come_back(self) -> None:
        """Focus the pane that had the focus before the learner left this view."""
        (self._focused or self.task_pane).focus(scroll_visible=False)

    def _show_task(self, at_end: bool = True) -> None:
        exercise = self._exercise
        if exercise is None:
            return
        head = (
            say("numbered", "Exercise {number}: {title}", number=exercise.number, title=exercise.title)
            if exercise.number
            else say("exercise", "Exercise: {title}", title=exercise.title)
        )
        text = Text.assemble((head, BOLD))
        text.append(f"   {mention('exercise.fold', say('unfold', 'unfold') if self._folded else '')}", DIM)
        if not self._folded:
            text.append("\n")
            text.append_text(self._prose(exercise.prose))
            for index in range(self._hints):
                number = say("hint", "Hint {number} of {all}:", number=index + 1, all=len(exercise.hints))
                text.append(f"\n{number} ", BOLD)
                text.append_text(self._prose(exercise.hints[index]))
        # The newest hint is the last line.
        self.task_pane.show(text, at_end=at_end and self._hints > 0)
        self._arrange()

    def _prose(self, prose: str) -> Text:
        # A task is the same for every run, so it has keys and no values.
        prose = template.fill(prose, {})
        return rich_text(prose if self._terminal.unicode else in_ascii(prose))

    def say(self, text: Text, of: str | None = None, line: int | None = None, *, arrange: bool = True) -> None:
        """Show feedback in the pane of the verdict.

        Args:
            text: the feedback.
            of: the code that the feedback is about; the feedback is dimmed once the editor has different code.
            line: the line of that code to mark until then, from 1.
            arrange: whether the panes take the heights that suit the text, and another line is marked. For what is soon
                replaced, all that would be sent twice.
        """
        self._feedback, self._feedback_code, self._stale = text, of or "", of is None
        self._verdict.show(text)
        if not arrange:
            return
        self._arrange()
        self._editor.mark(line)
        if of is not None:
            # Only after the editor has its new height.
            self.call_after_refresh(self._editor.show_marked)
        self._dim_stale_feedback()

    def show_hints(self, hints: int) -> None:
        """Show the first `hints` hints, and unfold the task."""
        self._hints, self._folded = hints, False
        self._show_task()

    def fold(self) -> None:
        """Fold or unfold the task."""
        self._folded = not self._folded
        self._show_task()

    def reset(self, archived: str | None = None) -> str | None:
        """Replace the learner's code by the starter, or the starter by the learner's code.

        Args:
            archived: code that the starter replaced in an earlier session.

        Returns:
            The code that the starter has just replaced, None if the starter was not put in.
        """
        if self._exercise is None:
            return None
        now, starter = self._editor.text, self._exercise.starter
        if self._set_aside is not None:
            then, self._set_aside = self._set_aside, None
        elif now == starter:
            then = now if archived is None else archived
        else:
            # The starter is posted only when it is edited, so that a slip of the finger does not lose code.
            then, self._set_aside = starter, now
            self._posted_code = then
        self.replace_code(then)
        return self._set_aside

    def load(self, code: str) -> None:
        """Show saved code in the editor, without posting it as a change."""
        self._posted_code = code
        self.replace_code(code)

    def replace_code(self, code: str) -> None:
        """Replace the code in the editor, as an edit that can be undone."""
        if code != self._editor.text:
            self._editor.history.checkpoint()
            location = self._editor.cursor_location
            self._editor.replace(code, (0, 0), self._editor.document.end, maintain_selection_offset=False)
            self._editor.move_cursor(location)
            self._editor.history.checkpoint()

    def move_pane(self, step: int, editor: bool = False) -> None:
        """Move the focus between task and verdict, and with `editor` also to the editor.

        Tab does not lead into the editor, because it would indent there. With the editor, a text that fits its place is
        passed over while the other one has more lines, which then are one key away; if both have, the verdict comes
        first, since the task has been read.
        """
        texts = [self.task_pane, self._verdict]
        if editor:
            texts = [pane for pane in (self._verdict, self.task_pane) if pane.longer] or texts
        panes: list[Widget] = [*texts, *([self._editor] if editor else [])]
        index = next((index for index, pane in enumerate(panes) if pane.has_focus), -1)
        panes[(index + step) % len(panes)].focus(scroll_visible=False)

    def on_editor_left(self) -> None:
        """Move the focus from the editor to the verdict, so that keys work as in a lesson."""
        self._verdict.focus(scroll_visible=False)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Post the new code, unless it was loaded rather than typed."""
        event.stop()
        self._dim_stale_feedback()
        if self._exercise is not None and self._editor.text != self._posted_code:
            self._posted_code = self._editor.text
            # Edited after f9: the starter is now the learner's code, and f9 brings a fresh starter.
            self._set_aside = None
            self.post_message(self.Edited(self._exercise, self._posted_code))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember the focused pane, so that `come_back` can focus it again."""
        self._focused = event.widget

    def _dim_stale_feedback(self) -> None:
        """Dim feedback about code that is no longer in the editor, and unmark its line."""
        if not self._stale and self._editor.text != self._feedback_code:
            self._stale = True
            self._verdict.show(verdict_text.dimmed(self._feedback))
            self._editor.mark(None)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the new size of the view."""
        self._arrange()

    def _arrange(self) -> None:
        """Give task and verdict the lines they need, within limits, and the editor the rest."""
        width, height = self.room
        if not width or not height:
            return
        wide = width >= WIDE
        self.set_class(wide, "wide")
        if wide:
            code = max(map(len, self._editor.text.split("\n"))) + GUTTER
            left = max(NARROWEST_TASK, min(width * 2 // 5, width - code))
            task = max(3, min(self.task_pane.lines_at(left) + 1, height * 2 // 3))
            self.styles.grid_columns = f"{left} 1fr"
            self.styles.grid_rows = f"{task} 1fr"
            for pane in (self.task_pane, self._editor, self._verdict):
                pane.styles.height = "1fr"
            return
        least = min(EDITOR_LINES, height // 2, self._editor.document.line_count + ROOM_TO_TYPE)
        verdict = min(self._verdict.lines_at(width), max(2, height - least - TASK_LINES))
        task = min(self.task_pane.lines_at(width) + 1, max(3, height - least - verdict))
        editor = max(1, height - task - verdict)
        for widget, lines in ((self.task_pane, task), (self._editor, editor), (self._verdict, verdict)):
            set_height(widget, lines)
