"""The view of each model of a step."""

from __future__ import annotations

from collections.abc import Mapping

from lessons.play.exercise import ExerciseModel
from lessons.play.experiment import ExperimentModel
from lessons.play.kinds import MODELS
from lessons.play.question import FindModel, QuestionModel
from lessons.play.step import StepModel
from lessons.play.training import TrainingModel
from tui.screens.experiment_view import ExperimentView
from tui.screens.find_view import FindView
from tui.screens.lesson_view import LessonView
from tui.screens.question_view import QuestionView
from tui.screens.step_view import StepView, ViewContext
from tui.screens.training_view import TrainingView
from tui.screens.workbench import Workbench

VIEWS: Mapping[type[StepModel], type[StepView]] = {
    StepModel: LessonView,
    TrainingModel: TrainingView,
    ExerciseModel: Workbench,
    QuestionModel: QuestionView,
    FindModel: FindView,
    ExperimentModel: ExperimentView,
}
"""The class of the view that draws each model of a step."""


def make_views(context: ViewContext) -> dict[str, StepView]:
    """Return the view of each kind of step, by the `kind` that lesson files use; kinds of one model share a view."""
    views = {model: view.make(context) for model, view in VIEWS.items()}
    return {kind: views[model] for kind, model in MODELS.items()}
