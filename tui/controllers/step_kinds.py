"""The view of each model of a step."""

from __future__ import annotations

from collections.abc import Mapping

from attn_tutor.lessons.play.exercise import ExerciseModel
from attn_tutor.lessons.play.experiment import ExperimentModel
from attn_tutor.lessons.play.kinds import MODELS
from attn_tutor.lessons.play.question import FindModel, QuestionModel
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.training import TrainingModel
from attn_tutor.tui.screens.experiment_view import ExperimentView
from attn_tutor.tui.screens.find_view import FindView
from attn_tutor.tui.screens.lesson_view import LessonView
from attn_tutor.tui.screens.question_view import QuestionView
from attn_tutor.tui.screens.step_view import StepView, ViewContext
from attn_tutor.tui.screens.training_view import TrainingView
from attn_tutor.tui.screens.workbench import Workbench

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
