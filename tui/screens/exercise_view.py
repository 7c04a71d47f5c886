"""The views of an exercise: the task with an editor and the verdict, the first result that differs, the solution."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.exercises import GAP
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.render.numbers import exact, short, visible
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import AnswerDifference
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, mention, short_keys
from attn_tutor.tui.drawings import before_after
from attn_tutor.tui.drawings.marks import Marks
from attn_tutor.tui.render import exercise_text
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.render.step_layout import WIDE
from attn_tutor.tui.tty.terminal import Terminal, in_ascii
from attn_tutor.tui.widgets.editors import CodeEditor
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.text import AFTER_F4, TextLine, TextPane

say = Wording("exercise/view")


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
            self._verdict.show(exercise_text.dimmed(self._feedback))
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


VIEWS = 3
SENTENCE = 3
"""The maximum number of lines for the sentence."""

MATRIX_GAP = 2


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
        self._sentence.show(exercise_text.departure_text(difference))
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
        beside = sum(columns + MATRIX_GAP for columns, _ in sizes) <= width
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


class SolutionView(Box):
    """The solution as a text: why it works, the diff, the intermediate results. Giving up can be undone here."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("solution")]

    class Left(Message):
        """Posted when the learner goes back to the exercise."""

    class TakenBack(Message):
        """Posted when the learner undoes giving up and continues with the exercise."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pane = TextPane(ellipsis=terminal.ellipsis, way=partial(short_keys, "text.scroll"), id="solved")
        self._gave_up = False

    def compose(self) -> ComposeResult:
        """Compose the pane of the text."""
        yield self._pane

    def show(self, text: Text, *, gave_up: bool, keep: bool = False) -> None:
        """Show a solution; `gave_up` says that the learner gave up, `keep` that the scroll position stays."""
        self._gave_up = gave_up
        self._pane.show(text, keep=keep)

    def focus_active(self) -> None:
        """Focus the text."""
        self._pane.focus(scroll_visible=False)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        take_back = ["solution.take-back"] if self._gave_up else []
        actions = ["text.scroll", "solution.leave", *take_back, "tutor.next", "tutor.map", "tutor.help"]
        return [hint(action) for action in actions]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: only a learner who gave up can undo that."""
        return action != "take_back" or self._gave_up

    def action_leave(self) -> None:
        """Go back to the exercise."""
        self.post_message(self.Left())

    def action_take_back(self) -> None:
        """Hide the solution, and undo giving up."""
        self.post_message(self.TakenBack())
