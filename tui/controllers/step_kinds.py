"""The view of each kind of step. A new kind is one line here, and one in `lessons.play.runner`."""

from __future__ import annotations

from collections.abc import Mapping

from tui.controllers.experiment_session import ExperimentSession
from tui.controllers.find_session import FindSession
from tui.controllers.question_session import QuestionSession
from tui.screens.lesson_view import LessonView
from tui.screens.step_view import StepView, ViewContext
from tui.screens.training_view import TrainingView
from tui.screens.workbench import Workbench

VIEWS: Mapping[str, type[StepView]] = {
    "read": LessonView,
    "run": LessonView,
    "train": TrainingView,
    "exercise": Workbench,
    "choice": QuestionSession,
    "predict": QuestionSession,
    "point": QuestionSession,
    "find": FindSession,
    "experiment": ExperimentSession,
}
"""The class of the view of each kind of step, by the `kind` that lesson files use."""


def make_views(context: ViewContext) -> dict[str, StepView]:
    """Return the view of each kind of step; kinds with the same class of view share one view."""
    views = {view: view.make(context) for view in dict.fromkeys(VIEWS.values())}
    return {name: views[view] for name, view in VIEWS.items()}
