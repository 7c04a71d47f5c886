"""What the tutor asks of a view: of each, and of one that shows steps of a lesson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

from lessons.format.lesson import Lesson, Step
from lessons.learner.progress import Progress
from lessons.what_if.changes import ChangeHistory
from tui.state.async_session import AsyncSession
from tui.state.step_results import ShownResult, TrainingReplays
from tui.tty.terminal import Terminal
from tui.widgets.text_pane import TextPane


class View(Protocol):
    """One of the views that take turns in the middle of the screen."""

    @property
    def id(self) -> str | None:
        """The name under which the view is shown."""

    @property
    def title(self) -> str:
        """What the title line says."""

    @property
    def keys(self) -> str:
        """What keys do here, for the line of keys."""

    @property
    def topic(self) -> str:
        """What help is about: a key of `tui.actions.help_pages.PAGES`."""

    def move_pane(self, step: int) -> None:
        """Give the keys to the next pane, or with -1 to the one before."""

    def next_pane(self) -> None:
        """Give the keys to the next pane, an editor among them."""


@dataclass(frozen=True, slots=True)
class ViewContext:
    """What views of steps are made with."""

    terminal: Terminal
    code_theme: str
    engine: AsyncSession
    store: Progress
    replays: TrainingReplays


class StepView(View, Protocol):
    """A view that shows steps of some kinds; `tui.controllers.step_kinds` says which."""

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that shows nothing yet."""

    def open_step(
        self, lesson: Lesson, step: Step, shown: ShownResult, history: ChangeHistory, *, review: bool = False
    ) -> None:
        """Show a step that the learner has come to, and take the keys.

        Args:
            lesson, step: what is shown, without any changes.
            shown: what is known of its results before it has run.
            history: the learner's changes to the lesson.
            review: the step is an exercise that is to be done again, from the start.
        """

    def show_result(self, shown: ShownResult) -> None:
        """Show what a run of the step gave that was opened last."""

    def focus_active(self) -> None:
        """Give the keys to the active pane."""

    @property
    def text_pane(self) -> TextPane:
        """The pane that holds the text of the step."""

    @property
    def busy(self) -> bool:
        """Whether something runs here that is lost if the learner leaves."""

    def may_leave(self) -> bool:
        """Return whether the learner may go elsewhere; if not, say why."""

    def stop(self) -> None:
        """Take note that the learner has stopped what runs."""


class QuietStepView:
    """The part of a view of steps in which nothing runs that could be lost."""

    @property
    def busy(self) -> bool:
        """Whether something runs here that is lost if the learner leaves."""
        return False

    def may_leave(self) -> bool:
        """Return that the learner may go elsewhere."""
        return True

    def stop(self) -> None:
        """Do nothing: nothing here depends on what runs."""
