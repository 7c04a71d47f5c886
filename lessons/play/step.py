"""A step that is read, run or trained, and what steps of all kinds have in common: what a learner works with there."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import ClassVar

from attn_tutor.lessons.format.lesson import Lesson, Step, TrainStep
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.course_path import HasLessons, Purpose
from attn_tutor.lessons.play.drafts import Drafts
from attn_tutor.lessons.play.exercise_help import ExerciseHelp
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.step_results import Runs, StepResults, TrainingReplays
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.results.result import Training
from attn_tutor.lessons.what_if.changes import UNCHANGED, ChangeHistory, Changes


@dataclass(slots=True)
class LearnerChanges:
    """The learner's changes to one lesson: of all its steps together, and by its id of each experiment by itself."""

    lesson_history: ChangeHistory = field(default_factory=ChangeHistory)
    own: dict[str, ChangeHistory] = field(default_factory=dict)

    def of(self, step: str) -> ChangeHistory:
        """Return the changes that hold in an experiment alone."""
        return self.own.get(step, ChangeHistory())


class Runner(Enum):
    """The way in which a step gets its results."""

    WITH_CHANGES = auto()
    """The lesson is run up to the step, with the learner's changes; a prompt can be opened there."""
    WITH_OWN_CHANGES = auto()
    """The same with changes that hold in this step only, so that an experiment begins with the lesson as written."""
    AS_WRITTEN = auto()
    """The lesson is run up to the step as its author wrote it."""
    ON_REQUEST = auto()
    """The step runs only when the learner asks for it."""


CHANGING = (Runner.WITH_CHANGES, Runner.WITH_OWN_CHANGES)
"""The ways in which a step runs with changes of the learner."""


@dataclass(frozen=True, slots=True)
class Learning:
    """What a learner works with.

    Attributes:
        results, replays: the results of steps and trainings that are known so far.
        drafts, help: the learner's code, and the help that they had with it.
        under_review: questions that are asked again as if they had not been answered.
    """

    course: HasLessons
    progress: Progress
    results: StepResults
    replays: TrainingReplays
    drafts: Drafts
    help: ExerciseHelp
    under_review: set[str] = field(default_factory=set)

    @classmethod
    def begin(cls, course: HasLessons, progress: Progress, results: StepResults | None = None) -> Learning:
        """Return the state in which a learner opens a course, by default with its recorded results."""
        return cls(
            course, progress, results or StepResults(), TrainingReplays(), Drafts(progress), ExerciseHelp(progress)
        )


class StepModel:
    """A step as a learner works on it.

    Attributes:
        runner: how the step gets its results.
        lesson, step: the step.
        purpose: why the learner has opened it.
        content: its result, as far as it is known.
    """

    runner: ClassVar[Runner] = Runner.WITH_CHANGES

    def __init__(
        self, learning: Learning, lesson: Lesson, step: Step, learner_changes: LearnerChanges, purpose: Purpose
    ) -> None:
        self._learning, self._learner_changes = learning, learner_changes
        self.lesson, self.step, self.purpose = lesson, step, purpose
        self.content = learning.results.at_once(lesson, step)

    def resume(self, earlier: StepModel) -> None:
        """Go on from an earlier visit to the same step; there is nothing to keep of a step that is read or run."""

    @property
    def history(self) -> ChangeHistory:
        """The learner's changes to the lesson, or to the step if it has its own."""
        own = self.runner is Runner.WITH_OWN_CHANGES
        return self._learner_changes.of(self.step.id) if own else self._learner_changes.lesson_history

    @history.setter
    def history(self, history: ChangeHistory) -> None:
        if self.runner is Runner.WITH_OWN_CHANGES:
            self._learner_changes.own[self.step.id] = history
        else:
            self._learner_changes.lesson_history = history

    @property
    def offers(self) -> frozenset[str]:
        """What a learner can do here now, besides looking, explaining and going on.

        To `run` the step, to `change` its numbers, and to open a `prompt` on it.
        """
        run = () if self.runner is Runner.ON_REQUEST else ("run",)
        return frozenset((*run, *(("change", "prompt") if self.runner in CHANGING else ())))

    @property
    def changes(self) -> Changes:
        """The learner's changes with which the step runs."""
        return self.history.current if self.runner in CHANGING else UNCHANGED

    def live(self, changes: Changes | None = None) -> Runs[StepContent]:
        """Have the lesson run up to the step, by default with the learner's changes. `take` takes what comes of it."""
        return self._learning.results.live(self.lesson, self.step, self.changes if changes is None else changes)

    def take(self, content: StepContent) -> str:
        """Take over what has come of a run; return what follows from it in a sentence, "" if nothing does."""
        self.content = content
        return ""


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
