"""The view of an experiment: the learner changes the run, and each change is judged by what came of it."""

from __future__ import annotations

from typing import ClassVar, Self

from rich.style import Style
from rich.text import Text
from textual.binding import BindingType

from attn_tutor.lessons.engine.questions import experiment_judging
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ExperimentStep, Step
from attn_tutor.lessons.play.question_state import QuestionState
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.task import ExperimentModel
from attn_tutor.lessons.results.result import Judgement, StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import Changes
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, mention, short_keys
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.screens.lesson_view import LessonView
from attn_tutor.tui.screens.step_view import ViewContext
from attn_tutor.tui.tty.terminal import Terminal, in_ascii

say = Wording("screen/experiment")

GOOD, BAD = Style(bold=True, color="green"), Style(bold=True, color="red")


def _go_on() -> str:
    """Say which key leads to the next step."""
    return mention("tutor.next", say("go-on", "go on"))


class ExperimentView(LessonView):
    """The view of an experiment, and of what the learner's changes lead to."""

    topic = "experiment"

    text_gets_older = False

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("experiment")]

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, code_theme, id=id)
        self._model: ExperimentModel | None = None
        # The changes after which the learner has asked for help; None if they have not.
        self._helped_after: Changes | None = None

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that does not show an experiment yet."""
        return cls(context.terminal, context.code_theme, id="experiment")

    def open_step(self, model: StepModel) -> None:
        """Show an experiment with the learner's progress, and take the focus."""
        assert isinstance(model, ExperimentModel)
        self._model, self._helped_after = model, None
        super().open_step(model)

    @property
    def _experiment(self) -> ExperimentStep:
        assert self._model is not None
        return self._model.task

    @property
    def _state(self) -> QuestionState:
        """The learner's progress on the experiment."""
        return self._model.state if self._model is not None else QuestionState()

    @property
    def _judgement(self) -> Judgement | None:
        return self._model.judgement if self._model is not None else None

    @property
    def _helped(self) -> bool:
        """Whether the learner has asked for help since the last change."""
        return self._helped_after == self._content.changes

    # Hints and giving up -----------------------------------------------------------------------------------------

    def action_hint(self) -> None:
        """Show one more hint; without hints left, give up when the key is pressed twice."""
        model = self._model
        if model is None or not model.state.is_open:
            return
        self._helped_after = self._content.changes
        if not model.take_hint():
            model.give_up()
        self._prose.show(self._prose_text(model.task, self._result), at_end=model.state.is_open)
        self._arrange()
        self._describe()

    # Texts -------------------------------------------------------------------------------------------------------

    def _remark(self, step: Step) -> tuple[Text, bool]:
        """Return the text for the what-if panel: the newest hint, then what came of the changes, or else the task.

        What came of the right changes is to be read whole.
        """
        text = self._help_text() if self._helped and self._state.is_open else Text()
        if text:
            text.append("\n")
        text.append_text(self._outcome())
        if self._judgement is None:
            before = self._content.base or self._result
            text.append("\n" if text else "").append_text(self._marked_up(template.fill(step.prose, before.text)))
        return text, self._judgement is not None and self._judgement.passed

    def _prose_text(self, step: Step, result: StepResult) -> Text:
        """Return the verdict, if there is one, then the task as it was before any change, then the hints."""
        text = self._outcome()
        if text:
            text.append("\n\n")
        before = self._content.base or result
        text.append_text(self._marked_up(template.fill(step.prose, before.text)))
        for number in range(self._state.hints if self._state.is_open else 0):
            text.append("\n").append_text(self._hint_text(number))
        if self._state.gives_up_next:
            text.append("\n").append_text(self._help_text())
        return text

    def _hint_text(self, number: int) -> Text:
        """Return a hint, counted from 0."""
        hints = self._experiment.hints
        text = Text(say("hint", "Hint {number} of {all}:", number=number + 1, all=len(hints)) + " ", BOLD)
        before = self._content.base or self._result
        return text.append_text(self._marked_up(template.fill(hints[number], before.text)))

    def _help_text(self) -> Text:
        """Return the newest hint, or what to press to give up."""
        if self._state.gives_up_next:
            return Text(
                say(
                    "no-more-hints",
                    "There are no more hints. Press {key} again to give up and see one way to do it.",
                    key=short_keys("experiment.hint"),
                ),
                BOLD,
            )
        return self._hint_text(self._state.hints - 1) if self._state.hints else Text()

    def _outcome(self) -> Text:
        """Return what came of the learner's changes, or how the experiment ended."""
        yes, no = ("✓", "✗") if self._terminal.unicode else ("+", "x")
        judgement, text = self._judgement, Text()
        if self._state.phase == "gave-up" and (judgement is None or not judgement.passed):
            text.append(say("gave-up", "You gave up, so this does not count as passed.") + " ", DIM)
            text.append(say("one-way", "One way:") + " ", BOLD)
            text.append(experiment_judging.solution(self._experiment))
        elif judgement is not None and judgement.passed:
            text.append(f"{yes} {say('done', 'Done.')} ", GOOD).append_text(self._marked_up(judgement.message))
            text.append("   " + _go_on(), DIM)
        elif judgement is not None:
            text.append(f"{no} {say('not-yet', 'Not yet.')} " if self._state.is_open else "", BAD)
            if judgement.mistakes:
                # Not `capitalize`, which would change the letters of a name such as W_query.
                name = judgement.mistakes[0].name
                text.append(f"{name[:1].upper()}{name[1:]}: ", BOLD)
            text.append_text(self._marked_up(judgement.message))
        elif self._state.phase == "passed":
            text.append(f"{yes} {say('done-before', 'You have done this before.')}", GOOD)
            text.append("   " + _go_on(), DIM)
        return text

    def _marked_up(self, prose: str) -> Text:
        return rich_text(prose if self._terminal.unicode else in_ascii(prose))

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        found = super().hints
        if self._explanation.has_focus or not self._state.is_open or self._whatif.in_line:
            return found
        more = self._model is not None and self._model.has_hints
        help = hint("experiment.hint", "" if more else say("give-up", "give up"))
        if self._whatif.has_focus_within:
            return [*found[:2], help, *found[2:]]
        keys = [hint("step.what-if"), help]
        return [*keys, *(each for each in found if each not in keys)]
