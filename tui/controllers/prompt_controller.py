"""The controller of the Python prompt on a step: opens and closes it, and has its inputs run."""

from __future__ import annotations

from functools import partial

from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.controllers.frame import PROMPT, Frame
from attn_tutor.tui.controllers.step_controller import StepController
from attn_tutor.tui.screens.prompt_view import PromptView
from attn_tutor.tui.state.async_session import AsyncSession

say = Wording("screen/prompt-controller")


class PromptController:
    """The controller of the prompt, which starts with the variables of a step after the learner's changes."""

    def __init__(self, frame: Frame, async_session: AsyncSession, steps: StepController, view: PromptView) -> None:
        self._frame, self._async_session, self._steps, self._view = frame, async_session, steps, view

    def open(self) -> None:
        """Open a prompt on the step that is shown, if the learner's changes apply to it."""
        steps = self._steps
        if not steps.is_visible or "prompt" not in steps.model.offers or not steps.may_leave():
            return
        self._frame.show(self._view)
        self._view.open(steps.lesson, steps.step)
        self._frame.show_title()
        self._frame.start(partial(self._start, steps.lesson, steps.index), "open-prompt")

    async def _start(self, lesson: Lesson, index: int) -> None:
        """Start a separate run for the prompt, and show the names that its inputs can use."""
        try:
            names = await self._async_session.open_prompt(lesson, lesson.steps[index].id, self._steps.changes)
        except (WorkerError, ValueError) as error:
            self._view.say(say("not-opened", "The prompt cannot run code: {reason}", reason=error))
            return
        if self._steps.is_at(lesson, index) and self._frame.main_view_id == PROMPT:
            self._view.show_names(names)

    async def enter(self, code: str) -> None:
        """Run an input and show its result, or the reason why it could not be run."""
        prompt = self._view.opened
        try:
            result = await self._async_session.enter(code)
        except (WorkerError, ValueError) as error:
            if self._view.opened == prompt:
                self._view.say(say("not-run", "This could not be run: {reason}", reason=error))
            return
        if self._view.opened == prompt and self._frame.view_id == PROMPT:
            self._view.show_result(result)

    def close(self) -> None:
        """Close the prompt and go back to the step, which the prompt has not changed."""
        self._async_session.close_prompt()
        self._frame.show(self._steps.view)
        self._frame.show_title()
        self._steps.view.focus_active()
        self._frame.show_keys()
