"""The controller of the flow view: opens it on what the learner looks at, and asks for flows and tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.flow import Flow, FlowBox
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.tensor_questions import BoxQuestion, FlowQuestion, Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.controllers.frame import FLOW, Frame
from attn_tutor.tui.controllers.step_controller import StepController
from attn_tutor.tui.screens.flow_view import FlowView
from attn_tutor.tui.screens.step_view import FlowSubject
from attn_tutor.tui.state.async_session import AsyncSession
from attn_tutor.tui.state.shown_tensors import labeled_of_flow

say = Wording("screen/flow-controller")


def not_yet() -> str:
    """Say why there is nothing to draw."""
    return say("not-yet", "The flow can be drawn once this step has run.")


class FlowController:
    """The controller of the flow view, which remembers where the learner was when they opened it."""

    def __init__(self, frame: Frame, async_session: AsyncSession, steps: StepController, view: FlowView) -> None:
        self._frame, self._async_session, self._steps, self._view = frame, async_session, steps, view
        self.close: Callable[[], None] = lambda: None
        """Close the view, and restore the view and the focus of before."""

    def toggle(self) -> None:
        """Open the flow of what the current view shows, or close it if it is open."""
        if self._frame.view_id == FLOW:
            self.close()
        elif (subject := self._frame.view.flow_subject) is not None:
            self._open(subject)

    def _open(self, subject: FlowSubject) -> None:
        self.close = self._frame.cover(self._view)
        self._view.open(subject, self._steps.lesson)
        self._frame.show_lines()

    def arrive(self) -> None:
        """Ask again for the flow of a step that had not run when the learner opened the view."""
        if self._frame.view_id == FLOW and not self._view.loaded:
            self._view.ask_again()

    async def fetch(self, question: FlowQuestion) -> None:
        """Fetch a flow for the view, if it still waits for it then."""
        reply = await self._async_session.ask(question)
        if self._view.question != question or self._frame.view_id != FLOW:
            return
        if isinstance(reply, Flow):
            self._view.show_flow(self._colored(reply))
        else:
            self._view.refuse(not_yet() if reply is None else reply.reason)

    async def fetch_tensor(self, question: BoxQuestion) -> None:
        """Fetch the tensor of a box, and label its axes as the lesson does."""
        reply = await self._async_session.ask(question)
        if self._frame.view_id != FLOW:
            return
        if isinstance(reply, Tensor):
            self._view.show_tensor(question, labeled_of_flow(self._steps.lesson, self._steps.step.id, reply))
        else:
            self._view.refuse(not_yet() if not isinstance(reply, Refusal) else reply.reason)

    def _colored(self, flow: Flow) -> Flow:
        """Return a flow whose thumbnails have the colors of the matrices of their boxes."""
        return colored(flow, self._steps.lesson, self._steps.step.id)


def colored(flow: Flow, lesson: Lesson, step: str) -> Flow:
    """Return a flow whose boxes have the kinds that `labeled` gives to their tensors."""

    def kind(box: FlowBox) -> str:
        dims = len(box.shape or ())
        return axis_labels.drawn_as(lesson, step, box.name, dims, box.dtype).kind

    return replace(flow, boxes=tuple(replace(box, kind=kind(box)) for box in flow.boxes))
