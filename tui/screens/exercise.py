"""An exercise: the task, an editor, and the judge's word."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from lessons.model import ExerciseStep
from lessons.result import Judgement
from tui.arrange import WIDE
from tui.plain import clean
from tui.prose import rich_text
from tui.terminal import Terminal
from tui.widgets.drawn import Box, set_height
from tui.widgets.editor import Editor
from tui.widgets.pane import TextPane

BOLD, DIM = Style(bold=True), Style(dim=True)
GOOD, BAD = Style(bold=True, color="green"), Style(bold=True, color="red")

EDITOR_LINES = 8
"""The editor gets no fewer lines than this, where half of the screen has as many."""


class ExerciseView(Box):
    """Task above or left, editor in the middle or right, verdict below the task.

    A learner arrives at the task, where the keys of a step work, and not in the editor, where an `n` would be typed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "edit", "Edit", show=False)]

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

        self._judged, self._judged_code = Text(), ""
        self._stale = True
        self._task_pane = TextPane(ellipsis=terminal.ellipsis, way="f4, then arrows", id="task")
        self._editor = Editor(
            "", language="python", show_line_numbers=True, soft_wrap=False, tab_behavior="indent", id="editor"
        )
        self._verdict = TextPane(ellipsis=terminal.ellipsis, way="f4, then arrows", id="verdict")

    def compose(self) -> ComposeResult:
        """Task, editor, verdict."""
        yield from (self._task_pane, self._editor, self._verdict)

    @property
    def code(self) -> str:
        """What stands in the editor."""
        return self._editor.text

    @property
    def editing(self) -> bool:
        """Whether keys go to the editor."""
        return self._editor.has_focus

    def show_step(self, exercise: ExerciseStep, code: str, passed: bool) -> None:
        """Show an exercise with the learner's code."""
        self._exercise, self._hints, self._folded, self._set_aside = exercise, 0, False, None
        self._told = code
        self._editor.load_text(code)
        # Once it has its size: a cursor that does not fit yet would scroll the code aside.
        self.call_after_refresh(self._editor.go_to_last_line)
        self._show_task()
        hint = f"f5: check   f3: hint (there are {len(exercise.hints)})"
        self.say(Text(f"Passed before. {hint}" if passed else hint, DIM))
        self._task_pane.focus(scroll_visible=False)

    def action_edit(self) -> None:
        """Go to the editor."""
        self._editor.focus(scroll_visible=False)

    def _show_task(self) -> None:
        exercise = self._exercise
        if exercise is None:
            return
        number = f"Exercise {exercise.number}: " if exercise.number else "Exercise: "
        text = Text.assemble((number + exercise.title, BOLD))
        text.append(f"   f2: {'unfold' if self._folded else 'fold'}", DIM)
        if not self._folded:
            text.append("\n")
            text.append_text(rich_text(exercise.prose))
            for place in range(self._hints):
                text.append(f"\nHint {place + 1} of {len(exercise.hints)}: ", BOLD)
                text.append_text(rich_text(exercise.hints[place]))
        # The newest hint is the last line.
        self._task_pane.show(text, at_end=self._hints > 0)
        self._arrange()

    def say(self, text: Text) -> None:
        """Show something below the editor."""
        self._stale = True
        self._verdict.show(text)
        self._arrange()

    def show_judgement(self, judgement: Judgement, code: str) -> None:
        """Show the judge's word of this code: first what matters, then check by check."""
        yes, no = ("✓", "✗") if self._terminal.unicode else ("+", "x")
        text = Text()
        if judgement.passed:
            text.append(f"{yes} Passed.", GOOD)
            text.append("   f8: go on", DIM)
        elif judgement.verdict == "failed" and any(check.passed or check.message for check in judgement.checks):
            text.append(f"{no} Not yet.", BAD)
            more = self._exercise is not None and self._hints < len(self._exercise.hints)
            text.append("   f3: hint" if more else "   there are no more hints", DIM)
        elif judgement.message.startswith("Stopped by you"):
            text.append(judgement.message)
        else:
            words = {"failed": "Not yet", "error": "Error", "timeout": "Too long", "memory": "Out of memory"}
            where = f", line {judgement.untold_line}" if judgement.untold_line else ""
            text.append(f"{no} {words.get(judgement.verdict, judgement.verdict.capitalize())}{where}: ", BAD)
            # Not as prose: what Python says of `a * b * c` has no emphasis in it.
            text.append(clean(judgement.message))
        # What is wrong, one line each; what is right, in one line together.
        for check in judgement.checks:
            if check.message:
                text.append(f"\n{no} ", BAD)
                text.append(f"{check.name}: ")
                text.append_text(rich_text(clean(check.message)))
        right = [check.name for check in judgement.checks if check.passed]
        if right:
            text.append("\n")
            for place, name in enumerate(right):
                text.append("   " if place else "")
                text.append(f"{yes} ", GOOD)
                text.append(name)
        text.append("\n" if judgement.stdout else "")
        if judgement.stdout:
            text.append("It printed:\n", DIM)
            text.append(clean(judgement.stdout))
        text.rstrip()
        self.say(text)
        self._judged, self._judged_code, self._stale = text, code, False
        self._age_verdict()

    def hint(self) -> None:
        """Show one hint more."""
        if self._exercise is not None and self._hints < len(self._exercise.hints):
            self._hints += 1
        self._folded = False
        self._show_task()

    def fold(self) -> None:
        """Fold the task away, or back."""
        self._folded = not self._folded
        self._show_task()

    def reset(self) -> None:
        """Back to the starter; a second time brings the learner's code back."""
        if self._exercise is None:
            return
        now = self._editor.text
        if self._set_aside is None:
            # The starter takes the place of the code only when it is changed, so that a slip of the finger loses none.
            then, self._set_aside = self._exercise.starter, now
            self._told = then
        else:
            then, self._set_aside = self._set_aside, None
        # An edit, not a load: it can be undone like any other.
        self._editor.replace(then, (0, 0), self._editor.document.end)

    def move_pane(self, step: int, editor: bool = False) -> None:
        """From verdict to task and back; with `editor`, from there to the editor as well.

        Tab does not lead into the editor, since it would indent there.
        """
        panes: list[Widget] = [self._task_pane, self._verdict, *([self._editor] if editor else [])]
        place = next((place for place, pane in enumerate(panes) if pane.has_focus), -1)
        panes[(place + step) % len(panes)].focus(scroll_visible=False)

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

    def _age_verdict(self) -> None:
        """What was said of other code is dimmed."""
        if not self._stale and self._editor.text != self._judged_code:
            self._stale = True
            first, _, rest = self._judged.plain.partition("\n")
            self._verdict.show(Text.assemble((f"{first}   (of earlier code)\n{rest}", DIM)))

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
            task = max(3, min(self._task_pane.lines_at(left) + 1, height * 2 // 3))
            self.styles.grid_columns = f"{left} 1fr"
            self.styles.grid_rows = f"{task} 1fr"
            for pane in (self._task_pane, self._editor, self._verdict):
                pane.styles.height = "1fr"
            return
        least = min(EDITOR_LINES, height // 2)
        verdict = min(self._verdict.lines_at(width), max(2, (height - least) // 2))
        task = min(self._task_pane.lines_at(width) + 1, max(3, height - least - verdict))
        editor = max(1, height - task - verdict)
        for widget, lines in ((self._task_pane, task), (self._editor, editor), (self._verdict, verdict)):
            set_height(widget, lines)
