"""Questions about a run, finds, and experiments: how each is judged, and the hints, giving up and end of all.

Answers to questions are judged against the numbers of the run; in an experiment the learner changes the run, and each
change is judged by what comes of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from attn_tutor.lessons.engine.questions import answer_forms, experiment_judging, question_facts
from attn_tutor.lessons.format.lesson import ExperimentStep, FindStep, Lesson, Question
from attn_tutor.lessons.learner import outcomes
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.play.question_state import QuestionState, state_at_opening
from attn_tutor.lessons.play.step import LearnerChanges, Learning, Runner, StepModel
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.results.result import Judgement, StepResult, Tensor
from attn_tutor.lessons.what_if import changes
from attn_tutor.lessons.what_if.changes import Changes


class TaskModel(StepModel):
    """A question or an experiment.

    Attributes:
        task: the step.
        state: the learner's progress on it.
    """

    task: Question | ExperimentStep

    def __init__(
        self,
        learning: Learning,
        lesson: Lesson,
        step: Question | ExperimentStep,
        learner_changes: LearnerChanges,
        purpose: Purpose,
    ) -> None:
        super().__init__(learning, lesson, step, learner_changes, purpose)
        self.task = step
        if purpose is Purpose.REVIEW:
            learning.under_review.add(step.exercise)
        is_new = step.exercise in learning.under_review
        self.state = QuestionState() if is_new else state_at_opening(step, learning.progress)

    @property
    def offers(self) -> frozenset[str]:
        """As `StepModel.offers`; and while the task is open, a `hint` and to `give-up`."""
        return super().offers | ({"hint", "give-up"} if self.state.is_open else set())

    @property
    def has_hints(self) -> bool:
        """Whether there are hints that the learner has not read."""
        return self.state.hints < len(self.task.hints)

    @property
    def hints_read(self) -> tuple[str, ...]:
        """The hints that the learner has read."""
        return self.task.hints[: self.state.hints]

    def take_hint(self) -> bool:
        """Show one more hint; return False if there is none left."""
        if not self.has_hints:
            return False
        self.state = replace(self.state, hints=self.state.hints + 1)
        self._learning.progress.use_hint(self.task.exercise, self.state.hints)
        return True

    def give_up(self) -> bool:
        """Give up if that is asked for a second time; return whether the learner has given up."""
        if not self.state.gives_up_next:
            self.state = replace(self.state, gives_up_next=True)
            return False
        self._check_revealed()
        self._end()
        self.state = replace(self.state, phase="gave-up", gives_up_next=False, remark="")
        self._learning.progress.give_up(self.task.exercise)
        return True

    def go_on(self) -> None:
        """Forget a first request to give up, because the learner does something else."""
        self.state = replace(self.state, gives_up_next=False)

    def _check_revealed(self) -> None:
        """Raise `WorkerError` if what giving up reveals is not known yet."""

    def _end(self) -> None:
        """Record that the task is not under review any more."""
        self._learning.under_review.discard(self.task.exercise)


class QuestionModel(TaskModel):
    """A question about a run."""

    runner: ClassVar[Runner] = Runner.AS_WRITTEN
    task: Question

    def resume(self, earlier: StepModel) -> None:
        """Keep the answers that were given, and what is shown below them."""
        assert isinstance(earlier, QuestionModel)
        self.state = replace(earlier.state, gives_up_next=False, remark="")

    @property
    def offers(self) -> frozenset[str]:
        """As `TaskModel.offers`; and while the question is open, to `answer` it, and maybe to `point` at the answer."""
        if not self.state.is_open:
            return super().offers
        return super().offers | {"answer", *(("point",) if self.task.is_pointed else ())}

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """What can be looked at: what the question shows, and what it reveals once it is answered."""
        return question_facts.visible_tensors(self.task, self.content.result, answered=not self.state.is_open)

    @property
    def hidden(self) -> str:
        """The name of the tensor whose numbers are hidden until the question is answered, "" if there is none."""
        return self.task.blank_tensor if self.state.is_open else ""

    def answer(self, text: str) -> tuple[Judgement, str]:
        """Judge and record an answer; return the judgement, and what follows in a sentence. Raises `WorkerError`."""
        judgement = answer_forms.judge(self.task, self.content.result, text)
        more = outcomes.record_outcome(self._learning.progress, self.lesson, self.task, text, judgement)
        if judgement.stopped:
            self.go_on()
            return judgement, more
        self.state = self.state.with_answer(text, judgement)
        if judgement.passed:
            self._end()
            self.state = replace(self.state, phase="passed")
        return judgement, more

    def remark(self, text: str) -> None:
        """Have a message stand in place of a judgement until there is one."""
        self.state = replace(self.state, remark=text)

    def _check_revealed(self) -> None:
        answer_forms.answer_text(self.task, self.content.result)


class FindModel(QuestionModel):
    """A find: the learner explains numbers until they come to the one that is asked for."""

    task: FindStep


class ExperimentModel(TaskModel):
    """An experiment.

    Attributes:
        judgement: that of the changes that the experiment ran with last, None if there were none.
    """

    runner: ClassVar[Runner] = Runner.WITH_OWN_CHANGES
    task: ExperimentStep

    def __init__(
        self,
        learning: Learning,
        lesson: Lesson,
        step: ExperimentStep,
        learner_changes: LearnerChanges,
        purpose: Purpose,
    ) -> None:
        super().__init__(learning, lesson, step, learner_changes, purpose)
        self.judgement: Judgement | None = None
        self._judged: Changes | None = None

    def resume(self, earlier: StepModel) -> None:
        """Keep the judgement of the changes that still hold: they are no new attempt."""
        assert isinstance(earlier, ExperimentModel)
        self.judgement, self._judged = earlier.judgement, earlier._judged

    @property
    def before(self) -> StepResult:
        """The result before any change, which the task is about."""
        return self.content.base or self.content.result

    def take(self, content: StepContent) -> str:
        """Take over what has come of a run, and judge the changes that it ran with, once."""
        super().take(content)
        if content.changes == self._judged:
            return ""
        self._judged = content.changes
        self.go_on()
        self.judgement = None
        if not content.changes:
            return ""
        judgement = self.judgement = experiment_judging.judge(self.task, content.changes, content.result)
        if not experiment_judging.is_attempt(judgement):
            return ""
        lines = changes.as_lines(content.changes)
        more = outcomes.record_outcome(self._learning.progress, self.lesson, self.task, lines, judgement)
        if judgement.passed:
            self._end()
            self.state = replace(self.state, phase="passed", answered_before=False)
        return more
