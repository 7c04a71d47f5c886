"""The view of an exercise step, which connects its four views with the worker and the learner's progress.

The four views are the editor, the scratch run, the difference between two results, and the model answer.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Self

from rich.style import Style
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from lessons.engine.scratch_run import STEP
from lessons.format.lesson import ExerciseStep, Lesson, RunStep, Step
from lessons.learner import milestones, outcomes, symptoms
from lessons.learner.records import OTHER_SESSION, Conflict
from lessons.play.drafts import Drafts
from lessons.play.exercise_help import ExerciseHelp
from lessons.play.purpose import Purpose
from lessons.play.step_content import StepContent
from lessons.results.result import AnswerComparison, Judgement, StepResult, WorkerError
from lessons.texts.wording import Wording
from lessons.what_if.changes import ChangeHistory
from tui.actions.bindings import bindings
from tui.actions.hints import hint, key_line, mention
from tui.actions.key_names import short_keys
from tui.render import exercise_text, solution_text, verdict_text
from tui.screens.difference_view import DifferenceView
from tui.screens.exercise_view import ExerciseView
from tui.screens.flow_subject import FlowSubject
from tui.screens.outside_editing import edit_outside
from tui.screens.scratch_run_view import ScratchRunView
from tui.screens.solution_view import SolutionView
from tui.screens.step_view import QuietStepView, ViewContext
from tui.widgets.line_widget import Box
from tui.widgets.text_pane import TextPane

say = Wording("exercise/workbench")

DIM = Style(dim=True)

View = ExerciseView | ScratchRunView | DifferenceView | SolutionView


class Workbench(QuietStepView, Box):
    """The view of an exercise step: shows the editor, the scratch run, the difference or the solution."""

    DEFAULT_CSS = """
    Workbench, Workbench > Box {
        height: 1fr;
        width: 1fr;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("exercise")]

    class Changed(Message):
        """Posted when the title or the line of keys may have changed."""

    class Arrived(Message):
        """Posted when the changes of a different session have been read, with their conflicts with this session."""

        def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
            self.conflicts = conflicts
            super().__init__()

    def __init__(self, context: ViewContext, *, id: str | None = None) -> None:
        super().__init__(id=id)
        terminal = self._terminal = context.terminal
        self._async_session, self._progress = context.async_session, context.progress
        self.writing = ExerciseView(terminal, id="writing")
        self._scratch = ScratchRunView(terminal, context.code_theme, id="scratch")
        self._difference = DifferenceView(terminal, id="difference")
        self._solution = SolutionView(terminal, id="solution")
        self._current_view: View = self.writing
        # The number of exercises opened so far, by which a late reply about an earlier one is recognized.
        self._openings = 0
        self._lesson: Lesson | None = None
        self._step: ExerciseStep | None = None
        self._challenged = False
        self._judgement: Judgement | None = None
        self._word: tuple[Text, str | None, int | None] = (Text(), None, None)
        self._help = ExerciseHelp(context.progress)
        self._drafts = Drafts(context.progress)
        # Whether nothing has been done since the exercise was opened.
        self._untouched = False
        # The code of a different session that f9 shows, as offered below the editor; None if there is none.
        self._other_code: str | None = None
        self._why_other = OTHER_SESSION

    def on_mount(self) -> None:
        """Subscribe to changes by other sessions, which the thread that writes progress reports."""
        self._progress.on_exchange = lambda conflicts: self.post_message(self.Arrived(conflicts))

    def on_unmount(self) -> None:
        """Unsubscribe from changes by other sessions."""
        self._progress.on_exchange = None

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that does not show a step yet."""
        return cls(context, id="exercise")

    def compose(self) -> ComposeResult:
        """Compose the four views, of which one is displayed."""
        for view in self._views:
            view.display = view is self._current_view
            yield view

    @property
    def _views(self) -> tuple[View, ...]:
        return self.writing, self._scratch, self._difference, self._solution

    # What the tutor asks -----------------------------------------------------------------------------------------

    @property
    def text_pane(self) -> TextPane:
        """The pane that holds the task."""
        return self.writing.task_pane

    @property
    def title(self) -> str:
        """The title of the exercise, or of the view that is open on it."""
        title = self._step.title if self._step else ""
        match self.topic:
            case "scratch":
                return say("your-code", "Your code: {title}", title=title)
            case "difference":
                return say("difference", "Where it differs: {title}", title=title)
            case "solution":
                return say("solution", "Model answer: {title}", title=title)
        return title

    @property
    def topic(self) -> str:
        """The topic of the help: exercise, scratch, difference or solution."""
        return "exercise" if self._current_view is self.writing else str(self._current_view.id)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if not isinstance(self._current_view, ExerciseView):
            return self._current_view.hints
        check, run, more = hint("exercise.check"), hint("exercise.run"), hint("exercise.hint", self._help.next)
        if self.writing.editing:
            steps = [hint("tutor.pane-anywhere"), hint("tutor.next-anywhere")]
            leave = [mention("editor.leave", say("map-quit", "map, quit")), hint("tutor.help-anywhere")]
            return [check, run, more, *steps, *leave]
        both = [hint("exercise.difference")] if self._difference_known else []
        others = map(hint, ("tutor.next", "tutor.help", "tutor.map", "tutor.quit"))
        return [hint("task.edit"), check, *both, run, more, *others]

    @property
    def flow_subject(self) -> FlowSubject | None:
        """What a flow can be shown of: a scratch run."""
        return self._scratch.flow_subject if self._current_view is self._scratch else None

    def move_pane(self, step: int) -> None:
        """Move the focus `step` panes on in the current view, without entering the editor."""
        if not isinstance(self._current_view, SolutionView):
            self._current_view.move_pane(step)

    def next_pane(self) -> None:
        """Move the focus to the next pane of the current view; the editor counts as a pane."""
        if self._current_view is self.writing:
            self.writing.move_pane(1, editor=True)
        else:
            self.move_pane(1)

    # Opening -----------------------------------------------------------------------------------------------------

    def open_step(
        self,
        lesson: Lesson,
        step: Step,
        content: StepContent,
        history: ChangeHistory,
        purpose: Purpose = Purpose.WORK,
    ) -> None:
        """Show an exercise with the learner's code or, for a review, with the starter."""
        assert isinstance(step, ExerciseStep)
        if purpose is Purpose.REVIEW and self._help.begin_review(step):
            self._drafts.begin_again(step)
        self._openings += 1
        self._challenged = purpose is Purpose.CHALLENGE
        self._lesson, self._step, self._judgement = lesson, step, None
        self._help.open(step)
        self._show(self.writing)
        self.writing.show_step(step, self._drafts.open(step), self._help.hints)
        self._show_welcome(lesson, step)
        self._untouched = True

    def _show_welcome(self, lesson: Lesson, step: ExerciseStep) -> None:
        """Show the text for an exercise on which nothing has been done yet in this session."""
        welcome = self._welcome(lesson, step)
        if other := self._drafts.offered(step.exercise, self.writing.code):
            self._offer(other.code, other.why, welcome)
        else:
            self._say(welcome)

    def _offer(self, other: str, why: str, more: Text | None = None) -> None:
        """Say that there is different code, and how to see it, followed by `more`."""
        self._say(exercise_text.other_code(why, more))
        self._other_code, self._why_other = other, why

    def show_result(self, content: StepContent) -> None:
        """Do nothing, because an exercise shows results only on request."""

    def _welcome(self, lesson: Lesson, step: ExerciseStep) -> Text:
        """Return the text below the editor until the exercise is checked."""
        return exercise_text.welcome(
            step,
            self._help.hints,
            self._help.next,
            reviewed=self._help.under_review,
            passed=self._progress.passed(step.exercise),
            gave_up=self._progress.gave_up(step.exercise),
            skips=self._challenged and milestones.first_open(lesson, self._progress) != step.id,
        )

    def _show(self, view: View) -> None:
        """Show one of the four views and focus it."""
        self._current_view = view
        for each in self._views:
            if each.display != (each is view):
                each.display = each is view
        self.focus_active()
        self.post_message(self.Changed())

    def focus_active(self) -> None:
        """Focus the current view."""
        if isinstance(self._current_view, ExerciseView):
            self._current_view.come_back()
        else:
            self._current_view.focus_active()

    def _say(self, text: Text, of: str | None = None, line: int | None = None) -> None:
        """Show a text below the editor until a different one replaces it."""
        self._word = (text, of, line)
        self._untouched = False
        self._other_code = None
        self.writing.say(*self._word)

    def _back(self) -> None:
        """Go back to the editor and show the last text below it."""
        self.writing.say(*self._word)
        self._show(self.writing)

    @on(ScratchRunView.PanesChanged)
    @on(DifferenceView.Flipped)
    @on(events.DescendantFocus)
    @on(events.Resize)
    def post_changed(self) -> None:
        """Post that the line of keys may have changed."""
        self.post_message(self.Changed())

    @on(ScratchRunView.Left)
    @on(DifferenceView.Left)
    @on(SolutionView.Left)
    def show_editor(self) -> None:
        """Go back to the editor."""
        self._back()

    def on_exercise_view_edited(self, event: ExerciseView.Edited) -> None:
        """Save the learner's code."""
        event.stop()
        self._help.gives_up_next = self._untouched = False
        self._drafts.save(event.exercise.exercise, event.code)

    def on_workbench_arrived(self, event: Arrived) -> None:
        """Offer the code of a different session, or show it at once if nothing has been done in this one."""
        event.stop()
        lesson, step = self._lesson, self._step
        if lesson is None or step is None:
            return
        for conflict in event.conflicts:
            if conflict.exercise == step.exercise:
                self._offer(conflict.other, OTHER_SESSION)
                return
        if self._untouched and not self.writing.edited and not self._drafts.is_newest(step.exercise):
            self.writing.load(self._drafts.open(step))
            self._show_welcome(lesson, step)
            self._untouched = True

    # Checks ------------------------------------------------------------------------------------------------------

    def action_check(self) -> None:
        """Have the learner's code judged."""
        if self._step is not None:
            self._help.gives_up_next = False
            if self._current_view is not self.writing:
                self._show(self.writing)
            self.check()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def check(self) -> None:
        """Judge the code in the editor and show the verdict."""
        lesson, step, opened, code = self._lesson, self._step, self._openings, self.writing.code
        challenged = self._challenged
        assert lesson is not None
        assert step is not None
        self._say_meanwhile(
            say("checking", "checking"), say("then-checking", "PyTorch is still loading, then your code is checked")
        )
        try:
            judgement = await self._async_session.check(step, code)
        except WorkerError as error:
            if self._openings == opened:
                self._say(Text(say("not-checked", "Your code could not be checked: {reason}", reason=error)))
            return
        shown, held_back = symptoms.of_first_check(self._progress, step, judgement)
        more = outcomes.record(self._progress, lesson, step, code, judgement, challenged=challenged) or held_back
        if judgement.passed:
            self._help.forget(step.exercise)
        if self._openings == opened:
            self._judgement = shown
            help = mention("exercise.hint", self._help.next)
            verdict = verdict_text.verdict(shown, lesson, help=help, more=more, unicode=self._terminal.unicode)
            self._say(verdict, code, None if shown.passed or shown.stopped else shown.line)
            self.post_message(self.Changed())

    def _say_meanwhile(self, now: str, later: str) -> None:
        """Say what the worker is doing now, or later because PyTorch has to be loaded first, and how to stop it."""
        what = now if self._async_session.ready else later
        leave = f"{short_keys('editor.leave')}, " if self.writing.editing else ""
        keys = leave + mention("tutor.stop")
        self.writing.say(Text(f"{what}{self._terminal.ellipsis}   {keys}", DIM), arrange=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now."""
        if action == "difference":
            return self._current_view is self.writing
        return True

    @property
    def _difference_known(self) -> bool:
        """Whether the last check has found a difference between the answer and the model answer."""
        return self._judgement is not None and self._judgement.difference is not None

    def action_difference(self) -> None:
        """Show the first difference between the answer and the model answer, or say why there is none to show."""
        if self._judgement is not None and self._judgement.difference is not None:
            self._difference.show(self._judgement.difference)
            self._show(self._difference)
            return
        text, of, line = self._word
        why = Text(exercise_text.nothing_to_compare(self._judgement), DIM)
        self.writing.say(Text.assemble(why, "\n", text) if text else why, of, line)

    # Hints and the solution --------------------------------------------------------------------------------------

    def action_hint(self) -> None:
        """Show one more hint; without hints left, give up on the second press. Afterwards show the solution."""
        if self._step is None or self._lesson is None:
            return
        if self._current_view is not self.writing:
            self._back()
        elif self._help.solution_is_open:
            self._read_solution()
        elif self._help.hints_left:
            welcomed = self._word[0] == self._welcome(self._lesson, self._step)
            self._help.use_hint()
            self.writing.show_hints(self._help.hints)
            if welcomed:  # It says how many hints are left.
                self._say(self._welcome(self._lesson, self._step))
            self.post_message(self.Changed())
        elif not self._help.gives_up_next:
            self._help.gives_up_next = True
            self._say(exercise_text.no_more_hints())
        else:
            self._help.give_up(self.writing.code)
            self._say(exercise_text.after_giving_up())
            self._read_solution()

    def _read_solution(self) -> None:
        self._help.use_solution()
        self._show_solution(f"{say('comparing', 'comparing')}{self._terminal.ellipsis}")
        self._show(self._solution)
        self.compare()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def compare(self) -> None:
        """Compute the intermediate results of the answer and the solution, and show them below the solution."""
        step, opened = self._step, self._openings
        assert step is not None
        try:
            compared: AnswerComparison | str = await self._async_session.compare(step, self.writing.code)
        except WorkerError as error:
            compared = str(error)
        if self._openings == opened and self._current_view is self._solution:
            self._show_solution(compared, keep=True)

    def _show_solution(self, compared: AnswerComparison | str, keep: bool = False) -> None:
        step = self._step
        assert step is not None
        gave_up = self._help.gave_up
        text = solution_text.solution(
            step, self.writing.code, compared, gave_up=gave_up, unicode=self._terminal.unicode
        )
        if gave_up:
            take_back = mention("solution.take-back", say("take-back", "take that back, and hide this again"))
            gave_up_line = say("gave-up", "You gave up.")
            text = Text.assemble((f"{gave_up_line}   {take_back}\n\n", DIM), text)
        self._solution.show(text, gave_up=gave_up, keep=keep)

    def on_solution_view_taken_back(self) -> None:
        """Undo giving up, and go back to the editor."""
        if self._step is not None:
            self._help.take_back_give_up()
            keys = key_line([mention("exercise.check"), mention("exercise.hint", say("give-up", "give up"))])
            taken_back = say("taken-back", "Taken back: you have not given up.")
            self._say(Text(f"{taken_back}   {keys}", DIM))
            self._back()

    # Running and editing -----------------------------------------------------------------------------------------

    def action_attempt(self) -> None:
        """Start a scratch run of the code, or go back from it to the editor."""
        if self._current_view is self._scratch:
            self._back()
        elif self._step is not None:
            self._help.gives_up_next = False
            if self._current_view is not self.writing:
                self._back()
            self.attempt()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def attempt(self) -> None:
        """Run the code in the editor, without judging or saving it."""
        lesson, step, opened = self._lesson, self._step, self._openings
        assert lesson is not None
        assert step is not None
        self._say_meanwhile(
            say("running", "running"), say("then-running", "PyTorch is still loading, then your code runs")
        )
        try:
            with_code, run = await self._async_session.attempt(lesson, step, self.writing.code)
        except WorkerError as error:
            if self._openings == opened:
                self._say(Text(say("not-run", "Your code could not be run: {reason}", reason=error)))
            return
        if self._openings != opened:
            return
        result = symptoms.of_first_run(self._progress, step, run.result(STEP) or StepResult(STEP))
        yours = with_code.step(STEP)
        assert isinstance(yours, RunStep)
        if result.error is not None and result.error.kind == "stopped":
            self.writing.say(*self._word)
            return
        self._scratch.show_run(with_code, yours, result)
        self._show(self._scratch)

    def action_fold(self) -> None:
        """Fold or unfold the task."""
        if self._current_view is self.writing:
            self.writing.fold()

    def action_reset(self) -> None:
        """Replace the code by the starter, or the starter by the code."""
        if self._step is None or self._current_view is not self.writing:
            return
        name, self._untouched = self._step.exercise, False
        if self._other_code is not None:
            self._swap(name, self._other_code)
            return
        last = self._drafts.last_archived(name)
        before, aside = self.writing.code, self.writing.reset(last)
        if self._lesson is not None and self._judgement is not None and self.writing.code != before:
            # The verdict is about code that is gone.
            self._judgement = None
            self._say(self._welcome(self._lesson, self._step))
            self.post_message(self.Changed())
        if aside is not None and aside != last:
            self._progress.archive(name, aside, "reset")

    def _swap(self, name: str, other: str) -> None:
        """Show the code that is offered in place of this code, and offer this code in turn."""
        code = self.writing.code
        self._drafts.archive(name, code)
        self.writing.replace_code(other)
        self._offer(code, self._why_other)

    def action_outside(self) -> None:
        """Open the code in the learner's own editor, and suspend the tutor in the meantime."""
        if self._step is None:
            return
        if self._current_view is not self.writing:
            self._back()
        name = self._step.exercise
        before = self.writing.code
        edited = edit_outside(self.app, name, before, partial(self._drafts.save_edited, name, before))
        if edited.code is not None:
            self.writing.replace_code(edited.code)
        if edited.message:
            self.notify(edited.message, markup=False, timeout=15)
