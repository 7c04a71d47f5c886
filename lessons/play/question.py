"""Questions about a run, and finds: answers are judged against the numbers of the run."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from attn_tutor.lessons.engine.questions import question_facts, question_words
from attn_tutor.lessons.engine.questions.question_judging import judge
from attn_tutor.lessons.format.lesson import FindStep, PointStep, Question
from attn_tutor.lessons.learner import outcomes
from attn_tutor.lessons.play.runner import Runner
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.task import TaskModel
from attn_tutor.lessons.results.result import Judgement, Tensor


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
        pointing = question_facts.target_of(self.task) is not None
        return super().offers | {"answer", *(("point",) if pointing else ())}

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """What can be looked at: what the question shows, and what it reveals once it is answered."""
        return question_facts.visible_tensors(self.task, self.content.result, answered=not self.state.is_open)

    @property
    def hidden(self) -> str:
        """The name of the tensor whose numbers are hidden until the question is answered, "" if there is none."""
        step = self.task
        return step.on if self.state.is_open and isinstance(step, PointStep) and step.blank else ""

    def answer(self, text: str) -> tuple[Judgement, str]:
        """Judge and record an answer; return the judgement, and what follows in a sentence. Raises `WorkerError`."""
        judgement = judge(self.task, self.content.result, text)
        more = outcomes.record(self._learning.progress, self.lesson, self.task, text, judgement)
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
        question_words.answer_text(self.task, self.content.result)


class FindModel(QuestionModel):
    """A find: the learner explains numbers until they come to the one that is asked for."""

    task: FindStep
