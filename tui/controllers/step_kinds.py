"""The view of each kind of step."""

from __future__ import annotations

from collections.abc import Mapping

from tui.screens.experiment_view import ExperimentView
from tui.screens.find_view import FindView
from tui.screens.lesson_view import LessonView
from tui.screens.question_view import QuestionView
from tui.screens.step_view import StepView, ViewContext
from tui.screens.training_view import TrainingView
from tui.screens.workbench import Workbench

VIEWS: Mapping[str, type[StepView]] = {
    "read": LessonView,
    "run": LessonView,
    "train": TrainingView,
    "exercise": Workbench,
    "choice": QuestionView,
    "predict": QuestionView,
    "point": QuestionView,
    "find": FindView,
    "experiment": ExperimentView,
}
"""The class of the view of each kind of step, by the `kind` that lesson files use."""


def make_views(context: ViewContext) -> dict[str, StepView]:
    """Return the view of each kind of step; kinds with the same class of view share one view."""
    views = {view: view.make(context) for view in dict.fromkeys(VIEWS.values())}
    return {name: views[view] for name, view in VIEWS.items()}
