"""The way from step to step in the dialogue, of a course or of pages, and the dialogue about each model of a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.play.exercise import ExerciseModel
from attn_tutor.lessons.play.journey import Journey
from attn_tutor.lessons.play.step import StepModel, TrainingModel
from attn_tutor.lessons.play.task import ExperimentModel, FindModel, QuestionModel
from attn_tutor.lessons.what_if.changes import ChangeHistory
from attn_tutor.tui.plain.command_table import Handlers, PlainCommand
from attn_tutor.tui.plain.exercise_dialogue import ExerciseDialogue
from attn_tutor.tui.plain.experiment_dialogue import ExperimentDialogue
from attn_tutor.tui.plain.question_dialogue import QuestionDialogue
from attn_tutor.tui.plain.step_dialogue import StepDialogue
from attn_tutor.tui.plain.training_dialogue import TrainingDialogue
from attn_tutor.tui.plain.waiting_session import PlainState

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


class JourneyDialogue(ABC):
    """A way from step to step.

    Attributes:
        current: the dialogue of the step that the learner is at.
    """

    current: StepDialogue

    def __init__(self, state: PlainState, lesson: Lesson, index: int) -> None:
        """Initialize at a step."""
        self._state, self._console = state, state.console
        self._journey = Journey(state.learning)
        self._come_to(lesson, index)

    def _come_to(
        self, lesson: Lesson, index: int, purpose: Purpose = Purpose.WORK, history: ChangeHistory | None = None
    ) -> None:
        """Have the learner be at a step, without printing it."""
        self.current = self._dialogue(self._journey.open(lesson, index, purpose, history))

    def _dialogue(self, model: StepModel) -> StepDialogue:
        return dialogue_of(self._state, model)

    @property
    def lesson(self) -> Lesson:
        """The lesson that the learner is in."""
        return self.current.lesson

    @property
    def step(self) -> Step:
        """The step that the learner is at."""
        return self.current.step

    @property
    @abstractmethod
    def handlers(self) -> Handlers:
        """The commands that apply now, those of the step included."""

    def form_of(self, command: PlainCommand) -> str:
        """Return what may follow the word of a command."""
        return command.said_form()

    def help_of(self, command: PlainCommand) -> str:
        """Return the sentence for the help on a command."""
        return command.said_help()

    def open(
        self, lesson: Lesson, index: int, *, purpose: Purpose = Purpose.WORK, history: ChangeHistory | None = None
    ) -> Iterator[str]:
        """Open a step, and yield it."""
        if ended := self.current.stop():
            yield from self._console.wrapped(f"({ended})")
        is_new = not self._journey.is_in(lesson)
        self._come_to(lesson, index, purpose, history)
        if is_new:
            yield from self._title(lesson)
        yield from self.current.open()

    def open_again(self, lesson: Lesson, index: int) -> Iterator[str]:
        """Open a step of something that was read again."""
        self._journey.forget_jumps()
        yield from self.open(lesson, index)

    def turn_to(self, text: str) -> Iterator[str]:
        """Go to the step with the tensor that a command begins with, if that may be another one, and say so."""
        yield from ()

    def begin(self) -> Iterator[str]:
        """Yield the step where the learner goes on."""
        yield from self._title(self.lesson)
        yield from self.open(self.lesson, self.lesson.index(self.step.id))

    @abstractmethod
    def _title(self, lesson: Lesson) -> Iterator[str]:
        """Yield what a lesson is called."""
