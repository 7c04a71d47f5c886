"""Experiments in the dialogue: each change is judged by what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attn_tutor.lessons.engine.questions import experiment_judging
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.task import ExperimentModel
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.command_table import Handlers
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.step_dialogue import StepDialogue
from attn_tutor.tui.plain.waiting_session import PlainState
from attn_tutor.tui.render.prose import plain_lines

say = Wording("plain/experiment")


class ExperimentDialogue(StepDialogue):
    """An experiment."""

    _model: ExperimentModel

    def __init__(self, state: PlainState, model: ExperimentModel) -> None:
        super().__init__(state, model)
        self._experiment = model.task

    @property
    def handlers(self) -> Handlers:
        """The commands that apply at the experiment now."""
        return super().handlers | self._offered({"hint": {"hint": self.hint}, "give-up": {"solution": self.solution}})

    def why_not(self, word: str) -> str:
        """See `StepDialogue`."""
        if word in ("answer", "point", "hint", "solution") and not self._model.state.is_open:
            return say("is-over", "You have done this task. Type next to go on.")
        return super().why_not(word)

    @property
    def _hints_read(self) -> tuple[str, ...]:
        return self._model.hints_read

    @property
    def _shown_content(self) -> StepContent:
        """The task as it was before any change, with the numbers as they are."""
        return replace(self.content, result=replace(self.content.result, text=self._model.before.text))

    def _below(self) -> Iterator[str]:
        for number in range(self._model.state.hints if self._model.state.is_open else 0):
            yield ""
            yield from self._hint_lines(self._experiment.hints, number)
        yield from super()._below()
        if self._model.state.is_open:
            yield from self._paragraphs(
                say(
                    "how", "This is an experiment: change numbers or knobs with set and knob, and see what comes of it."
                )
            )
        elif self._model.state.answered_before:
            yield from self._paragraphs(
                say("done-before", "You have done this before.")
                if self._model.state.phase == "passed"
                else f"{say('gave-up-before', 'You gave up on this one.')} {self._one_way()}"
            )

    def _one_way(self) -> str:
        return say("one-way", "One way: {way}", way=experiment_judging.solution(self._experiment))

    def _after_change(self) -> Iterator[str]:
        """Yield the verdict about the changes."""
        judgement = self._model.judgement
        if judgement is None:
            return
        if judgement.passed:
            start = say("done", "Done.")
        elif judgement.stopped:
            return
        else:
            start = say("not-yet", "Not yet.") if self._model.state.is_open else ""
            if judgement.mistakes:
                name = judgement.mistakes[0].name
                # Not `capitalize`, which would change the letters of a name such as W_query.
                start = f"{start} {name[:1].upper()}{name[1:]}:".strip()
        yield from plain_lines(f"{start} {judgement.message}", self._console.width)
        yield from self._console.wrapped(self._follows)

    def hint(self, _: str) -> Iterator[str]:
        """Yield the next hint, or say that there are none left."""
        if not self._model.take_hint():
            raise Refused(
                say("no-more-hints", "There are no more hints. Type solution to give up and see one way to do it.")
            )
        yield from self._hint_lines(self._experiment.hints, self._model.state.hints - 1)

    def solution(self, _: str) -> Iterator[str]:
        """Give up, when that is asked for twice, and yield one way to do it."""
        if not self._model.give_up():
            yield from self._console.wrapped(
                say("give-up", "This gives up, which does not count as passed. Type solution again to see one way.")
            )
            return
        yield from self._console.wrapped(self._one_way())
