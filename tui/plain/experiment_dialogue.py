"""Experiments in the dialogue: each change is judged by what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lessons.engine.questions import experiment_judging
from lessons.format.lesson import ExperimentStep, Lesson, Step
from lessons.learner import outcomes
from lessons.play.learner_changes import LearnerChanges
from lessons.play.purpose import Purpose
from lessons.play.question_state import state_at_opening
from lessons.play.step_content import StepContent
from lessons.texts.wording import Wording
from lessons.what_if import changes
from tui.plain.command_table import Handlers
from tui.plain.plain_state import PlainState
from tui.plain.refused import Refused
from tui.plain.step_dialogue import StepDialogue
from tui.render.prose import plain_lines

say = Wording("plain/experiment")


class ExperimentDialogue(StepDialogue):
    """An experiment."""

    def __init__(
        self, state: PlainState, lesson: Lesson, step: Step, learner_changes: LearnerChanges, purpose: Purpose
    ) -> None:
        assert isinstance(step, ExperimentStep)
        self._experiment = step
        self._help = state_at_opening(step, state.progress, purpose)
        super().__init__(state, lesson, step, learner_changes, purpose)

    @property
    def handlers(self) -> Handlers:
        """The commands that apply at the experiment now."""
        found = super().handlers
        if self._help.is_open:
            found |= {"hint": self.hint, "solution": self.solution}
        return found

    def why_not(self, word: str) -> str:
        """See `StepDialogue`."""
        if word in ("answer", "point", "hint", "solution") and not self._help.is_open:
            return say("is-over", "You have done this task. Type next to go on.")
        return super().why_not(word)

    @property
    def _hints_read(self) -> tuple[str, ...]:
        return self._experiment.hints[: self._help.hints]

    @property
    def _shown_content(self) -> StepContent:
        """The task as it was before any change, with the numbers as they are."""
        base = self.content.base
        if base is None:
            return self.content
        return replace(self.content, result=replace(self.content.result, text=base.text))

    def _below(self) -> Iterator[str]:
        for number in range(self._help.hints if self._help.is_open else 0):
            yield ""
            yield from self._hint_lines(self._experiment.hints, number)
        yield from super()._below()
        if self._help.is_open:
            yield from self._paragraphs(
                say(
                    "how", "This is an experiment: change numbers or knobs with set and knob, and see what comes of it."
                )
            )
        elif self._help.answered_before:
            yield from self._paragraphs(
                say("done-before", "You have done this before.")
                if self._help.phase == "passed"
                else f"{say('gave-up-before', 'You gave up on this one.')} {self._one_way()}"
            )

    def _one_way(self) -> str:
        return say("one-way", "One way: {way}", way=experiment_judging.solution(self._experiment))

    def _after_change(self) -> Iterator[str]:
        """Judge the changes, record them if they are an attempt, and yield the verdict."""
        step, made = self._experiment, self.content.changes
        if not made:
            return
        judgement = experiment_judging.judge(step, made, self.content.result)
        self._help = replace(self._help, gives_up_next=False)
        more = ""
        if experiment_judging.is_attempt(judgement):
            lines = changes.as_lines(made)
            more = outcomes.record(self._state.progress, self.lesson, step, lines, judgement)
        if judgement.passed:
            self._help = replace(self._help, phase="passed", answered_before=False)
            start = say("done", "Done.")
        elif judgement.stopped:
            return
        else:
            start = say("not-yet", "Not yet.") if self._help.is_open else ""
            if judgement.mistakes:
                name = judgement.mistakes[0].name
                # Not `capitalize`, which would change the letters of a name such as W_query.
                start = f"{start} {name[:1].upper()}{name[1:]}:".strip()
        yield from plain_lines(f"{start} {judgement.message}", self._console.width)
        yield from self._console.wrapped(more)

    def hint(self, _: str) -> Iterator[str]:
        """Yield the next hint, or say that there are none left."""
        hints = self._experiment.hints
        if self._help.hints >= len(hints):
            raise Refused(
                say("no-more-hints", "There are no more hints. Type solution to give up and see one way to do it.")
            )
        self._help = self._help.with_help(len(hints))
        self._state.progress.use_hint(self._experiment.exercise, self._help.hints)
        yield from self._hint_lines(self._experiment.hints, self._help.hints - 1)

    def solution(self, _: str) -> Iterator[str]:
        """Give up, when that is asked for twice, and yield one way to do it."""
        if not self._help.gives_up_next:
            self._help = replace(self._help, gives_up_next=True)
            yield from self._console.wrapped(
                say("give-up", "This gives up, which does not count as passed. Type solution again to see one way.")
            )
            return
        self._help = replace(self._help, phase="gave-up", gives_up_next=False)
        self._state.progress.give_up(self._experiment.exercise)
        yield from self._console.wrapped(self._one_way())
