"""The protocols of views: of all views, of those that show steps of a lesson, and what a flow is shown of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.results.tensor_questions import FlowQuestion
from attn_tutor.tui.state.async_session import AsyncSession
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.text import TextPane


@dataclass(frozen=True, slots=True)
class FlowSubject:
    """What a flow is shown of.

    Attributes:
        title: of the step, or what else has run.
        question: the question about its flow, with the operands of the explanation that is open.
        tensor: the name of the tensor that the learner is in; "" for none.
        point: what to do with the name of the box that the learner points at; None if nothing asks for one.
    """

    title: str
    question: FlowQuestion
    tensor: str = ""
    point: Callable[[str], None] | None = None


class View(Protocol):
    """A view, of which one at a time fills the middle of the screen."""

    @property
    def id(self) -> str | None:
        """The id of the view, by which the frame finds it."""

    @property
    def title(self) -> str:
        """The text of the title line."""

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""

    @property
    def topic(self) -> str:
        """The topic of the help: a key of `tui.actions.help_pages.PAGES`."""

    @property
    def flow_subject(self) -> FlowSubject | None:
        """What a flow can be shown of, None if nothing has run in the view."""

    def move_pane(self, step: int) -> None:
        """Move the focus `step` panes on; -1 is the previous pane."""

    def next_pane(self) -> None:
        """Move the focus to the next pane; an editor counts as a pane."""


@dataclass(frozen=True, slots=True)
class ViewContext:
    """The objects that the views of steps are made with."""

    terminal: Terminal
    code_theme: str
    async_session: AsyncSession
    progress: Progress


class StepView(View, Protocol):
    """A view that shows steps of one or more kinds, as registered in `tui.controllers.step_kinds`."""

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that does not show a step yet."""

    def open_step(self, model: StepModel) -> None:
        """Show a step that the learner has opened, with the results that are known, and take the focus."""

    def show_result(self, content: StepContent, follows: str = "") -> None:
        """Show what has come of a run of the step that was opened last, and what follows from it in a sentence."""

    def focus_active(self) -> None:
        """Focus the active pane."""

    @property
    def text_pane(self) -> TextPane:
        """The pane that holds the text of the step."""

    @property
    def busy(self) -> bool:
        """Whether something is running that is lost if the learner leaves."""

    def may_leave(self) -> bool:
        """Return whether the learner may leave the step; if not, tell them why."""

    def stop(self) -> None:
        """Handle that the learner has stopped what was running."""


class QuietStepView:
    """The part of a `StepView` that never runs anything that could be lost."""

    @property
    def busy(self) -> bool:
        """Whether something is running that is lost if the learner leaves."""
        return False

    def may_leave(self) -> bool:
        """Return True: nothing is lost if the learner leaves."""
        return True

    def stop(self) -> None:
        """Do nothing, because nothing in this view depends on what runs."""
