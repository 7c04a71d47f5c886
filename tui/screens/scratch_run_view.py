"""The view of a scratch run: the learner's code and the matrices that it produced, without judging or saving."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text
from textual.message import Message

from attn_tutor.lessons.format.lesson import FilledStep, Lesson, RunStep
from attn_tutor.lessons.play.step_content import StepContent, live_note
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.action_words import hint_of
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.render.step_layout import CODE
from attn_tutor.tui.render.step_text import BOLD
from attn_tutor.tui.screens.lesson_view import LessonView
from attn_tutor.tui.tty.terminal import Terminal

say = Wording("screen/scratch")

MOST = 16
"""The maximum number of matrices: arguments and intermediate results, in order; few functions have more."""


def at_line(line: int | None, message: str) -> str:
    """Say in which line of the learner's code something went wrong."""
    return say("at-line", "Line {line}: {message}", line=line, message=message)


class ScratchRunView(LessonView):
    """A view of the learner's own code, which looks like a lesson step but has no what-if changes."""

    class Left(Message):
        """Posted when the learner goes back to the editor."""

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, code_theme, most=MOST, id=id)

    def show_run(self, lesson: Lesson, step: RunStep, result: StepResult) -> None:
        """Show the results of the code, and mark the line where it failed."""
        self._show(lesson, step, StepContent(result, live_note(result)))
        if result.error is not None:
            self._line = result.error.line
            self._show_code(keep=True)

    def _first_pane(self) -> int:
        """Return the code pane if the run failed, otherwise the pane that any step would focus."""
        return super()._first_pane() if self._result.error is None else CODE

    def _prose_text(self, step: FilledStep, result: StepResult) -> Text:
        """Return the error of the run, in place of the prose of a step."""
        error = result.error
        if error is None:
            return super()._prose_text(step, result)
        line = error.unmentioned_line
        return Text.assemble((error.message if line is None else at_line(line, error.message), BOLD))

    def _output_text(self, result: StepResult) -> Text:
        return super()._output_text(replace(result, error=None))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: what-if never does, because it is for lessons; escape always does."""
        if action in ("what_if", "close"):
            return action == "close"
        return super().check_action(action, parameters)

    def action_close(self) -> None:
        """Close the explanation if one is open, otherwise go back to the editor."""
        if self.explaining:
            self._close_explanation()
        else:
            self.post_message(self.Left())

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self.explaining or (self._active >= 0 and self._matrices[self._active].overview):
            return super().hints
        explain = [hint("number.explain")] if self._active >= 0 else []
        return [
            hint("step.close", hint_of("difference.leave")),
            *self._pane_keys(),
            *explain,
            hint("exercise.check"),
            hint("tutor.help"),
        ]
