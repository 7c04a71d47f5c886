"""The dialogue of each kind of step. A new kind is one line here, and one in `lessons.play.runner`."""

from __future__ import annotations

from collections.abc import Mapping

from tui.plain.exercise_dialogue import ExerciseDialogue
from tui.plain.experiment_dialogue import ExperimentDialogue
from tui.plain.question_dialogue import QuestionDialogue
from tui.plain.step_dialogue import StepDialogue
from tui.plain.training_dialogue import TrainingDialogue

STEP_DIALOGUES: Mapping[str, type[StepDialogue]] = {
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
