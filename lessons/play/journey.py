"""The learner's way through a course: the step that they are at, their changes, and where jumps lead back to."""

from __future__ import annotations

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.play import course_path
from attn_tutor.lessons.play.course_path import JumpOrigin, Position, Purpose
from attn_tutor.lessons.play.kinds import model_of
from attn_tutor.lessons.play.step import LearnerChanges, Learning, StepModel
from attn_tutor.lessons.what_if.changes import ChangeHistory


class Journey:
    """The learner's way through a course. It begins at no step.

    Attributes:
        learning: the course, and what is known and kept of it; an author's is another one after each save.
    """

    def __init__(self, learning: Learning) -> None:
        self.learning = learning
        self._model: StepModel | None = None
        self._learner_changes = LearnerChanges()
        self._visited: dict[str, StepModel] = {}
        """The models of the steps of the lesson that were opened, by the ids of the steps."""
        # What the learner has jumped away from, the latest last; None is the map.
        self._origins: list[JumpOrigin | None] = []

    @property
    def has_begun(self) -> bool:
        """Whether a step was opened."""
        return self._model is not None

    @property
    def model(self) -> StepModel:
        """The step that the learner is at, with what they do there. Callers use it only after a step was opened."""
        assert self._model is not None
        return self._model

    @property
    def lesson(self) -> Lesson:
        """The lesson that the learner is in."""
        return self.model.lesson

    @property
    def step(self) -> Step:
        """The step that the learner is at."""
        return self.model.step

    @property
    def index(self) -> int:
        """The position of the step in its lesson."""
        return self.lesson.index(self.step.id)

    @property
    def history(self) -> ChangeHistory:
        """The learner's changes to the lesson."""
        return self._learner_changes.lesson_history

    @property
    def side_steps(self) -> tuple[Step, ...]:
        """The side steps of the step, if it is a main step."""
        return course_path.side_steps(self.lesson, self.step)

    def is_in(self, lesson: Lesson) -> bool:
        """Return whether the learner is in this lesson, as it was read."""
        return self._model is not None and self._model.lesson is lesson

    def open(
        self, lesson: Lesson, index: int, purpose: Purpose = Purpose.WORK, history: ChangeHistory | None = None
    ) -> StepModel:
        """Open a step and record the visit; return the step with what the learner does there.

        Args:
            lesson, index: the step.
            purpose: why the learner opens it.
            history: the learner's changes to the lesson, if they come back to it; else those of before hold, and none
                in another lesson.
        """
        step = lesson.steps[index]
        if not self.is_in(lesson):
            self._learner_changes = LearnerChanges(history or ChangeHistory())
            self._visited.clear()
            self.learning.results.forget()
        course_path.visit(self.learning.progress, lesson, step, purpose)
        model = model_of(self.learning, lesson, step, self._learner_changes, purpose)
        earlier = self._visited.get(step.id)
        if earlier is not None and purpose is not Purpose.REVIEW:
            model.resume(earlier)
        self._model = self._visited[step.id] = model
        return model

    # From step to step -----------------------------------------------------------------------------------------------

    def leave(self) -> str:
        """Count the step as done if it was read or run; return what follows in a sentence, "" if nothing does."""
        return milestones.leave(self.learning.progress, self.lesson, self.step)

    @property
    def after(self) -> Position | None:
        """The step after this one, past side steps unless the learner is at one; None after the last."""
        return course_path.step_after(self.learning.course, self.lesson, self.step)

    @property
    def before(self) -> Position | None:
        """The step before this one, which may be in the lesson before; None before the first."""
        return course_path.step_before(self.learning.course, self.lesson, self.step)

    def purpose_of(self, lesson: Lesson, index: int) -> Purpose:
        """Return why the learner goes on to a neighbor of the step: after a jump, one that is done is looked at."""
        return course_path.purpose_of(self.learning.progress, lesson, index, jumped=self.jumped)

    # Jumps -----------------------------------------------------------------------------------------------------------

    @property
    def jumped(self) -> bool:
        """Whether there is a way back to where the learner was before a jump."""
        return bool(self._origins)

    def begin_jump(self, *, at_map: bool = False) -> None:
        """Remember where the learner is, or that they are at the map, because they jump away from there."""
        here = None if at_map else JumpOrigin(self.lesson, self.index, self.model.purpose, self.history)
        self._origins.append(here)

    def end_jump(self) -> JumpOrigin | None:
        """Return where the learner was before the last jump, which is forgotten; None if that was at the map."""
        return self._origins.pop()

    def forget_jumps(self) -> None:
        """Forget all jumps, because the learner has gone elsewhere."""
        self._origins.clear()
