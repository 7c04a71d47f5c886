"""The dialogue of each kind of step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lessons.play.step import StepModel
from tui.plain.exercise_dialogue import ExerciseDialogue
from tui.plain.experiment_dialogue import ExperimentDialogue
from tui.plain.plain_state import PlainState
from tui.plain.question_dialogue import QuestionDialogue
from tui.plain.step_dialogue import StepDialogue
from tui.plain.training_dialogue import TrainingDialogue

# Each dialogue is about models of its own kind, which no type can say of a table.
STEP_DIALOGUES: Mapping[str, Any] = {
    "read": StepDialogue,
    "run": StepDialogue,
    "train": TrainingDialogue,
    "exercise": ExerciseDialogue,
    "choice": QuestionDialogue,
    "predict": QuestionDialogue,
    "point": QuestionDialogue,
    "find": QuestionDialogue,
    "experiment": ExperimentDialogue,
}
"""The class of the dialogue of each kind of step, by the `kind` that lesson files use."""


def dialogue_of(state: PlainState, model: StepModel) -> StepDialogue:
    """Return the dialogue about a step."""
    dialogue: StepDialogue = STEP_DIALOGUES[model.step.kind](state, model)
    return dialogue
