"""The model of each kind of step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.play.exercise import ExerciseModel
from attn_tutor.lessons.play.step import LearnerChanges, Learning, StepModel, TrainingModel
from attn_tutor.lessons.play.task import ExperimentModel, FindModel, QuestionModel

# Each model is made with steps of its own kind, which no type can say of a table.
MODELS: Mapping[str, Any] = {
    "read": StepModel,
    "run": StepModel,
    "train": TrainingModel,
    "exercise": ExerciseModel,
    "choice": QuestionModel,
    "predict": QuestionModel,
    "point": QuestionModel,
    "find": FindModel,
    "experiment": ExperimentModel,
}
"""The class of the model of each kind of step, by the `kind` that lesson files use."""


def model_of(
    learning: Learning,
    lesson: Lesson,
    step: Step,
    learner_changes: LearnerChanges | None = None,
    purpose: Purpose = Purpose.WORK,
) -> StepModel:
    """Return a step as a learner works on it, by default without changes to its lesson."""
    changes = LearnerChanges() if learner_changes is None else learner_changes
    model: StepModel = MODELS[step.kind](learning, lesson, step, changes, purpose)
    return model
