"""A step with a training: its replay, and what a training that ends leaves behind."""

from __future__ import annotations

from attn_tutor.lessons.format.lesson import Lesson, TrainStep
from attn_tutor.lessons.play.learner_changes import LearnerChanges
from attn_tutor.lessons.play.learning import Learning
from attn_tutor.lessons.play.purpose import Purpose
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.results.result import Training


class TrainingModel(StepModel):
    """A step with a training.

    Attributes:
        training: the step.
    """

    def __init__(
        self, learning: Learning, lesson: Lesson, step: TrainStep, learner_changes: LearnerChanges, purpose: Purpose
    ) -> None:
        super().__init__(learning, lesson, step, learner_changes, purpose)
        self.training = step

    @property
    def offers(self) -> frozenset[str]:
        """As `StepModel.offers`; and to `train`, and to look at `snapshots` if there are any."""
        return super().offers | {"train", *(("snapshots",) if self.replay.snapshots else ())}

    @property
    def replay(self) -> TrainingReplay:
        """The learner's own training with their changes, else without any, else the recorded one."""
        return self._learning.replays.of(self.lesson, self.training, self.changes)

    @property
    def last_duration(self) -> float | None:
        """The seconds that the last training took, with any changes; None if there was none."""
        return self._learning.replays.last_duration(self.lesson, self.training)

    def begin(self) -> TrainingReplay:
        """Return the replay of a training that begins now, with the learner's changes."""
        return self._learning.replays.begin(self.lesson, self.training, self.changes)

    def end(self, replay: TrainingReplay, outcome: Training) -> None:
        """End a training. Once it has trained the model, what was known of the lesson is that of another model."""
        self._learning.replays.end(replay, outcome)
        if replay.state == "trained":
            self._learning.results.forget()
