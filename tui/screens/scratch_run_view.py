"""A scratch run: the learner's code, and every matrix that it made. Nothing is judged or kept."""

from __future__ import annotations

import re
from dataclasses import replace

from rich.text import Text
from textual.message import Message

from lessons.format.lesson import FilledStep, Lesson, RunStep
from lessons.results.clean_text import clean
from lessons.results.result import StepResult
from tui.actions.hints import hint, key_line
from tui.render.step_layout import CODE
from tui.screens.lesson_view import BOLD, LessonView
from tui.state.step_results import ShownResult
from tui.tty.terminal import Terminal

MOST = 16
"""Matrices that are shown. The first ones are the arguments and what is made from them; few functions make more."""


class ScratchRunView(LessonView):
    """A step whose code is the learner's: looked at like any other, but not changed from here."""

    class Left(Message):
        """The learner goes back to the editor."""

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, code_theme, most=MOST, id=id)

    def show_run(self, lesson: Lesson, step: RunStep, result: StepResult) -> None:
        """Show what the code of a step gave, and mark the line where it failed."""
        self._show(lesson, step, ShownResult(result, f"live, {result.seconds * 1000:.0f} ms"))
        if result.error is not None:
            self._line = result.error.line
            self._show_code(keep=True)

    def _first_pane(self) -> int:
        """What went wrong is in the code."""
        return super()._first_pane() if self._result.error is None else CODE

    def _prose_text(self, step: FilledStep, result: StepResult) -> Text:
        """What went wrong, where the text of a step stands."""
        error = result.error
        if error is None:
            return super()._prose_text(step, result)
        told = clean(error.message)
        named = error.line is None or re.search(rf"\bline {error.line}\b", told)
        return Text.assemble((told if named else f"Line {error.line}: {told}", BOLD))

    def _output_text(self, result: StepResult) -> Text:
        return super()._output_text(replace(result, error=None))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What-if is for the code of a lesson; escape always leads somewhere."""
        if action in ("what_if", "close"):
            return action == "close"
        return super().check_action(action, parameters)

    def action_close(self) -> None:
        """Close the explanation; else back to the editor."""
        if self.explaining:
            self._close_explanation()
        else:
            self.post_message(self.Left())

    @property
    def keys(self) -> str:
        """What keys do here, for the line of keys: as many as fit."""
        if self.explaining or (self._active >= 0 and self._matrices[self._active].overview):
            return super().keys
        explain = [hint("number.explain")] if self._active >= 0 else []
        parts = [hint("step.close", "editor"), *self._pane_keys(), *explain, hint("exercise.check"), hint("tutor.help")]
        return key_line(parts, self.size.width)
