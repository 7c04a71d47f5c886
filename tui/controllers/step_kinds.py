"""The registry of step kinds: how each kind gets its results, and which view shows it. A new kind is one line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from tui.controllers.experiment_session import ExperimentSession
from tui.controllers.find_session import FindSession
from tui.controllers.question_session import QuestionSession
from tui.screens.lesson_view import LessonView
from tui.screens.step_view import StepView, ViewContext
from tui.screens.training_view import TrainingView
from tui.screens.workbench import Workbench


class Runner(Enum):
    """The way in which a step gets its results."""

    WITH_CHANGES = auto()
    """The lesson is run up to the step, with the learner's changes; a prompt can be opened there."""
    WITH_OWN_CHANGES = auto()
    """The same with changes that hold in this step only, so that an experiment begins with the lesson as written."""
    AS_WRITTEN = auto()
    """The lesson is run up to the step as its author wrote it."""
    ON_REQUEST = auto()
    """The step runs only when the learner asks its view for it."""


CHANGING = (Runner.WITH_CHANGES, Runner.WITH_OWN_CHANGES)
"""The ways in which a step runs with changes of the learner."""


@dataclass(frozen=True, slots=True)
class StepKind:
    """A kind of step: the way in which it gets its results, and the class of the view that shows it."""

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
    "find": StepKind(Runner.AS_WRITTEN, FindSession),
    "experiment": StepKind(Runner.WITH_OWN_CHANGES, ExperimentSession),
}
"""The entry of each kind of step, by the `kind` that lesson files use."""


def make_views(context: ViewContext) -> dict[str, StepView]:
    """Return the view of each kind of step; kinds with the same class of view share one view."""
    views = {kind.view: kind.view.make(context) for kind in dict.fromkeys(STEP_KINDS.values())}
    return {name: views[kind.view] for name, kind in STEP_KINDS.items()}
