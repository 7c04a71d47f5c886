"""The dialogue about each model of a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attn_tutor.lessons.play.exercise import ExerciseModel
from attn_tutor.lessons.play.experiment import ExperimentModel
from attn_tutor.lessons.play.question import FindModel, QuestionModel
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.training import TrainingModel
from attn_tutor.tui.plain.exercise_dialogue import ExerciseDialogue
from attn_tutor.tui.plain.experiment_dialogue import ExperimentDialogue
from attn_tutor.tui.plain.plain_state import PlainState
from attn_tutor.tui.plain.question_dialogue import QuestionDialogue
from attn_tutor.tui.plain.step_dialogue import StepDialogue
from attn_tutor.tui.plain.training_dialogue import TrainingDialogue

# Each dialogue is about models of its own class, which no type can say of a table.
STEP_DIALOGUES: Mapping[type[StepModel], Any] = {
    StepModel: StepDialogue,
    TrainingModel: TrainingDialogue,
    ExerciseModel: ExerciseDialogue,
    QuestionModel: QuestionDialogue,
    FindModel: QuestionDialogue,
    ExperimentModel: ExperimentDialogue,
}
"""The class of the dialogue about each model of a step."""


def dialogue_of(state: PlainState, model: StepModel) -> StepDialogue:
    """Return the dialogue about a step."""
    dialogue: StepDialogue = STEP_DIALOGUES[type(model)](state, model)
    return dialogue
