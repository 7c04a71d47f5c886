"""The kinds of steps: how the results of each come, and which view shows it. A new kind is a line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from tui.controllers.question_session import QuestionSession
from tui.screens.lesson_view import LessonView
from tui.screens.step_view import StepView, ViewContext
from tui.screens.training_view import TrainingView
from tui.screens.workbench import Workbench


class Runner(Enum):
    """How the results of a step come."""

    WITH_CHANGES = auto()
    """The lesson is run up to the step, with the learner's changes; a prompt can be opened there."""
    AS_WRITTEN = auto()
    """The lesson is run up to the step as its author wrote it."""
    ON_REQUEST = auto()
    """Nothing runs until the learner asks the view for it."""


@dataclass(frozen=True, slots=True)
class StepKind:
    """How the results of steps of one kind come, and the class of the view that shows them."""

    runner: Runner
    view: type[StepView]


STEP_KINDS: Mapping[str, StepKind] = {
    "read": StepKind(Runner.WITH_CHANGES, LessonView),
    "run": StepKind(Runner.WITH_CHANGES, LessonView),
    "train": StepKind(Runner.WITH_CHANGES, TrainingView),
    "exercise": StepKind(Runner.ON_REQUEST, Workbench),
    "choice": StepKind(Runner.AS_WRITTEN, QuestionSession),
    "predict": StepKind(Runner.AS_WRITTEN, QuestionSession),
    "point": StepKind(Runner.AS_WRITTEN, QuestionSession),
}
"""What is done with a step, by its `kind`."""


def make_views(context: ViewContext) -> dict[str, StepView]:
    """Return the view of each kind of step; kinds whose views have the same class share one."""
    views = {kind.view: kind.view.make(context) for kind in dict.fromkeys(STEP_KINDS.values())}
    return {name: views[kind.view] for name, kind in STEP_KINDS.items()}
