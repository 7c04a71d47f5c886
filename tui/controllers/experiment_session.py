"""The view of an experiment: the learner changes the run, and each change is judged by what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Self

from rich.style import Style
from rich.text import Text
from textual.binding import BindingType

from lessons.engine.questions import experiment_judging
from lessons.format import template
from lessons.format.lesson import ExperimentStep, FilledStep, Lesson, Step
from lessons.learner import outcomes
from lessons.learner.progress import Progress
from lessons.play.purpose import Purpose
from lessons.play.question_state import QuestionState, state_at_opening
from lessons.play.step_content import StepContent
from lessons.results.result import Judgement, StepResult
from lessons.texts.wording import Wording
from lessons.what_if import changes
from lessons.what_if.changes import ChangeHistory, Changes
from tui.actions.bindings import bindings
from tui.actions.hints import hint, mention
from tui.actions.key_names import short_keys
from tui.render.ascii_text import in_ascii
from tui.render.prose import rich_text
from tui.screens.lesson_view import LessonView
from tui.screens.step_view import ViewContext
from tui.tty.terminal import Terminal

say = Wording("screen/experiment")

BOLD, DIM = Style(bold=True), Style(dim=True)
GOOD, BAD = Style(bold=True, color="green"), Style(bold=True, color="red")


def _go_on() -> str:
    """Say which key leads to the next step."""
    return mention("tutor.next", say("go-on", "go on"))


class ExperimentSession(LessonView):
    """The view of an experiment, which judges and records what the learner's changes lead to."""

    topic = "experiment"

    text_gets_older = False

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("experiment")]

    def __init__(self, terminal: Terminal, code_theme: str, progress: Progress, *, id: str | None = None) -> None:
        super().__init__(terminal, code_theme, id=id)
        self._progress = progress
        self._experiment: ExperimentStep | None = None
        self._help = QuestionState()
        # Whether the learner has asked for help since the last change.
        self._helped = False
        self._judgement: Judgement | None = None
        self._judged: Changes | None = None

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that does not show an experiment yet."""
        return cls(context.terminal, context.code_theme, context.progress, id="experiment")

    def open_step(
        self,
        lesson: Lesson,
        step: Step,
        content: StepContent,
        history: ChangeHistory,
        purpose: Purpose = Purpose.WORK,
    ) -> None:
        """Show an experiment with the learner's progress, or without it for a review, and take the focus."""
        assert isinstance(step, ExperimentStep)
        self._experiment, self._judgement, self._judged = step, None, None
        self._help = state_at_opening(step, self._progress, purpose)
        super().open_step(lesson, step, content, history, purpose)

    def show_result(self, content: StepContent) -> None:
        """Show the results of a run of the experiment, and judge the changes that it ran with."""
        self._judge(content)
        super().show_result(content)

    def _judge(self, content: StepContent) -> None:
        step, lesson = self._experiment, self._lesson
        if step is None or lesson is None or content.changes == self._judged:
            return
        self._judged, self._helped = content.changes, False
        self._help = replace(self._help, gives_up_next=False)
        self._judgement = experiment_judging.judge(step, content.changes, content.result) if content.changes else None
        judgement = self._judgement
        if judgement is None or not experiment_judging.is_attempt(judgement):
            return
        more = outcomes.record(self._progress, lesson, step, changes.as_lines(content.changes), judgement)
        if judgement.passed:
            self._help = replace(self._help, phase="passed")
        if more:
            self.notify(more, markup=False, timeout=10)

    # Hints and giving up -----------------------------------------------------------------------------------------

    def action_hint(self) -> None:
        """Show one more hint; without hints left, give up when the key is pressed twice."""
        step = self._experiment
        if step is None or not self._help.is_open:
            return
        self._helped = True
        self._help = self._help.with_help(len(step.hints))
        if not self._help.is_open:
            self._progress.give_up(step.exercise)
        elif not self._help.gives_up_next:
            self._progress.use_hint(step.exercise, self._help.hints)
        self._prose.show(self._prose_text(step, self._result), at_end=self._help.is_open)
        self._arrange()
        self._describe()

    # Texts -------------------------------------------------------------------------------------------------------

    def _remark(self, step: FilledStep) -> tuple[Text, bool]:
        """Return the text for the what-if panel: the newest hint, then what came of the changes, or else the task.

        What came of the right changes is to be read whole.
        """
        assert isinstance(step, ExperimentStep)
        text = self._help_text(step) if self._helped and self._help.is_open else Text()
        if text:
            text.append("\n")
        text.append_text(self._outcome(step))
        if self._judgement is None:
            before = self._content.base or self._result
            text.append("\n" if text else "").append_text(self._marked_up(template.fill(step.prose, before.text)))
        return text, self._judgement is not None and self._judgement.passed

    def _prose_text(self, step: FilledStep, result: StepResult) -> Text:
        """Return the verdict, if there is one, then the task as it was before any change, then the hints."""
        assert isinstance(step, ExperimentStep)
        text = self._outcome(step)
        if text:
            text.append("\n\n")
        before = self._content.base or result
        text.append_text(self._marked_up(template.fill(step.prose, before.text)))
        for number in range(self._help.hints if self._help.is_open else 0):
            text.append("\n").append_text(self._hint_text(step, number))
        if self._help.gives_up_next:
            text.append("\n").append_text(self._help_text(step))
        return text

    def _hint_text(self, step: ExperimentStep, number: int) -> Text:
        """Return a hint, counted from 0."""
        text = Text(say("hint", "Hint {number} of {all}:", number=number + 1, all=len(step.hints)) + " ", BOLD)
        before = self._content.base or self._result
        return text.append_text(self._marked_up(template.fill(step.hints[number], before.text)))

    def _help_text(self, step: ExperimentStep) -> Text:
        """Return the newest hint, or what to press to give up."""
        if self._help.gives_up_next:
            return Text(
                say(
                    "no-more-hints",
                    "There are no more hints. Press {key} again to give up and see one way to do it.",
                    key=short_keys("experiment.hint"),
                ),
                BOLD,
            )
        return self._hint_text(step, self._help.hints - 1) if self._help.hints else Text()

    def _outcome(self, step: ExperimentStep) -> Text:
        """Return what came of the learner's changes, or how the experiment ended."""
        yes, no = ("✓", "✗") if self._terminal.unicode else ("+", "x")
        judgement, text = self._judgement, Text()
        if self._help.phase == "gave-up" and (judgement is None or not judgement.passed):
            text.append(say("gave-up", "You gave up, so this does not count as passed.") + " ", DIM)
            text.append(say("one-way", "One way:") + " ", BOLD)
            text.append(experiment_judging.solution(step))
        elif judgement is not None and judgement.passed:
            text.append(f"{yes} {say('done', 'Done.')} ", GOOD).append_text(self._marked_up(judgement.message))
            text.append("   " + _go_on(), DIM)
        elif judgement is not None:
            text.append(f"{no} {say('not-yet', 'Not yet.')} " if self._help.is_open else "", BAD)
            if judgement.mistakes:
                # Not `capitalize`, which would change the letters of a name such as W_query.
                name = judgement.mistakes[0].name
                text.append(f"{name[:1].upper()}{name[1:]}: ", BOLD)
            text.append_text(self._marked_up(judgement.message))
        elif self._help.phase == "passed":
            text.append(f"{yes} {say('done-before', 'You have done this before.')}", GOOD)
            text.append("   " + _go_on(), DIM)
        return text

    def _marked_up(self, prose: str) -> Text:
        return rich_text(prose if self._terminal.unicode else in_ascii(prose))

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        found = super().hints
        if self._explanation.has_focus or not self._help.is_open or self._whatif.in_line:
            return found
        more = self._experiment is not None and self._help.hints < len(self._experiment.hints)
        help = hint("experiment.hint", "" if more else say("give-up", "give up"))
        if self._whatif.has_focus_within:
            return [*found[:2], help, *found[2:]]
        keys = [hint("step.what-if"), help]
        return [*keys, *(each for each in found if each not in keys)]
