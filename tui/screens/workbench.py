"""The view of an exercise step, which connects its four views with worker, progress, and an editor outside.

The four views are the editor, the scratch run, the difference between two results, and the model answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Self

from rich.text import Text
from textual import events, on, work
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.message import Message

from attn_tutor.lessons.engine.scratch_run import STEP
from attn_tutor.lessons.learner.records import OTHER_SESSION, Conflict
from attn_tutor.lessons.play.exercise import ExerciseModel
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.results.result import AnswerComparison, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, key_line, mention, short_keys
from attn_tutor.tui.render import exercise_text
from attn_tutor.tui.render.palette import DIM
from attn_tutor.tui.screens.exercise_view import DifferenceView, ExerciseView, SolutionView
from attn_tutor.tui.screens.lesson_view import ScratchRunView
from attn_tutor.tui.screens.step_view import FlowSubject, QuietStepView, ViewContext
from attn_tutor.tui.tty import external_editor
from attn_tutor.tui.widgets.line_widget import Box
from attn_tutor.tui.widgets.text import TextPane

say = Wording("exercise/workbench")


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
        self._model: ExerciseModel | None = None
        self._word: tuple[Text, str | None, int | None] = (Text(), None, None)
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
    def model(self) -> ExerciseModel:
        """The exercise with what the learner does there. Callers use it only after an exercise was opened."""
        assert self._model is not None
        return self._model

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
        title = self._model.step.title if self._model is not None else ""
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
        check, run, more = hint("exercise.check"), hint("exercise.run"), hint("exercise.hint", self.model.help.next)
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

    def open_step(self, model: StepModel) -> None:
        """Show an exercise with the learner's code or, for a review, with the starter."""
        assert isinstance(model, ExerciseModel)
        self._model = model
        self._show(self.writing)
        self.writing.show_step(model.exercise, model.code, model.help.hints)
        self._show_welcome(model)
        self._untouched = True

    def _show_welcome(self, model: ExerciseModel) -> None:
        """Show the text for an exercise on which nothing has been done yet in this session."""
        welcome = self._welcome(model)
        if other := model.offered(self.writing.code):
            self._offer(other.code, other.why, welcome)
        else:
            self._say(welcome)

    def _offer(self, other: str, why: str, more: Text | None = None) -> None:
        """Say that there is different code, and how to see it, followed by `more`."""
        self._say(exercise_text.other_code(why, more))
        self._other_code, self._why_other = other, why

    def show_result(self, content: StepContent, follows: str = "") -> None:
        """Do nothing, because an exercise shows results only on request."""

    def _welcome(self, model: ExerciseModel) -> Text:
        """Return the text below the editor until the exercise is checked."""
        return exercise_text.welcome(
            model.exercise,
            model.help.hints,
            model.help.next,
            reviewed=model.help.under_review,
            passed=model.passed,
            gave_up=model.gave_up,
            skips=model.skips_lesson,
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
        self._untouched = False
        self.model.save(event.code)

    def on_workbench_arrived(self, event: Arrived) -> None:
        """Offer the code of a different session, or show it at once if nothing has been done in this one."""
        event.stop()
        model = self._model
        if model is None:
            return
        for conflict in event.conflicts:
            if conflict.exercise == model.exercise.exercise:
                self._offer(conflict.other, OTHER_SESSION)
                return
        drafts = model.drafts
        if self._untouched and not self.writing.edited and not drafts.is_newest(model.exercise.exercise):
            self.writing.load(drafts.open(model.exercise))
            self._show_welcome(model)
            self._untouched = True

    # Checks ------------------------------------------------------------------------------------------------------

    def action_check(self) -> None:
        """Have the learner's code judged."""
        if self._model is not None:
            self._model.help.gives_up_next = False
            if self._current_view is not self.writing:
                self._show(self.writing)
            self.check()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def check(self) -> None:
        """Judge the code in the editor and show the verdict."""
        model, code = self.model, self.writing.code
        self._say_meanwhile(
            say("checking", "checking"), say("then-checking", "PyTorch is still loading, then your code is checked")
        )
        try:
            judgement = await self._async_session.check(model.exercise, code)
        except WorkerError as error:
            if model is self._model:
                self._say(Text(say("not-checked", "Your code could not be checked: {reason}", reason=error)))
            return
        shown, more = model.judged(code, judgement)
        if model is self._model:
            help = mention("exercise.hint", model.help.next)
            verdict = exercise_text.verdict(shown, model.lesson, help=help, more=more, unicode=self._terminal.unicode)
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
        return "difference" in self.model.offers

    def action_difference(self) -> None:
        """Show the first difference between the answer and the model answer, or say why there is none to show."""
        judgement = self.model.judgement
        if judgement is not None and judgement.difference is not None:
            self._difference.show(judgement.difference)
            self._show(self._difference)
            return
        text, of, line = self._word
        why = Text(exercise_text.nothing_to_compare(judgement), DIM)
        self.writing.say(Text.assemble(why, "\n", text) if text else why, of, line)

    # Hints and the solution --------------------------------------------------------------------------------------

    def action_hint(self) -> None:
        """Show one more hint; without hints left, give up on the second press. Afterwards show the solution."""
        model = self._model
        if model is None:
            return
        help = model.help
        if self._current_view is not self.writing:
            self._back()
        elif help.solution_is_open:
            self._read_solution()
        elif help.hints_left:
            welcomed = self._word[0] == self._welcome(model)
            help.use_hint()
            self.writing.show_hints(help.hints)
            if welcomed:  # It says how many hints are left.
                self._say(self._welcome(model))
            self.post_message(self.Changed())
        elif not help.gives_up_next:
            help.gives_up_next = True
            self._say(exercise_text.no_more_hints())
        else:
            help.give_up(self.writing.code)
            self._say(exercise_text.after_giving_up())
            self._read_solution()

    def _read_solution(self) -> None:
        self.model.help.use_solution()
        self._show_solution(f"{say('comparing', 'comparing')}{self._terminal.ellipsis}")
        self._show(self._solution)
        self.compare()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def compare(self) -> None:
        """Compute the intermediate results of the answer and the solution, and show them below the solution."""
        model = self.model
        try:
            compared: AnswerComparison | str = await self._async_session.compare(model.exercise, self.writing.code)
        except WorkerError as error:
            compared = str(error)
        if model is self._model and self._current_view is self._solution:
            self._show_solution(compared, keep=True)

    def _show_solution(self, compared: AnswerComparison | str, keep: bool = False) -> None:
        gave_up = self.model.help.gave_up
        text = exercise_text.solution(
            self.model.exercise, self.writing.code, compared, gave_up=gave_up, unicode=self._terminal.unicode
        )
        if gave_up:
            take_back = mention("solution.take-back", say("take-back", "take that back, and hide this again"))
            gave_up_line = say("gave-up", "You gave up.")
            text = Text.assemble((f"{gave_up_line}   {take_back}\n\n", DIM), text)
        self._solution.show(text, gave_up=gave_up, keep=keep)

    def on_solution_view_taken_back(self) -> None:
        """Undo giving up, and go back to the editor."""
        if self._model is not None:
            self._model.help.take_back_give_up()
            keys = key_line([mention("exercise.check"), mention("exercise.hint", say("give-up", "give up"))])
            taken_back = say("taken-back", "Taken back: you have not given up.")
            self._say(Text(f"{taken_back}   {keys}", DIM))
            self._back()

    # Running and editing -----------------------------------------------------------------------------------------

    def action_attempt(self) -> None:
        """Start a scratch run of the code, or go back from it to the editor."""
        if self._current_view is self._scratch:
            self._back()
        elif self._model is not None:
            self._model.help.gives_up_next = False
            if self._current_view is not self.writing:
                self._back()
            self.attempt()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def attempt(self) -> None:
        """Run the code in the editor, without judging or saving it."""
        model = self.model
        self._say_meanwhile(
            say("running", "running"), say("then-running", "PyTorch is still loading, then your code runs")
        )
        try:
            with_code, run = await self._async_session.attempt(model.lesson, model.exercise, self.writing.code)
        except WorkerError as error:
            if model is self._model:
                self._say(Text(say("not-run", "Your code could not be run: {reason}", reason=error)))
            return
        if model is not self._model:
            return
        result = model.scratch(run)
        if result.error is not None and result.error.kind == "stopped":
            self.writing.say(*self._word)
            return
        self._scratch.show_run(with_code, with_code.step(STEP), result)
        self._show(self._scratch)

    def action_fold(self) -> None:
        """Fold or unfold the task."""
        if self._current_view is self.writing:
            self.writing.fold()

    def action_reset(self) -> None:
        """Replace the code by the starter, or the starter by the code."""
        model = self._model
        if model is None or self._current_view is not self.writing:
            return
        name, self._untouched = model.exercise.exercise, False
        if self._other_code is not None:
            self._swap(name, self._other_code)
            return
        last = model.drafts.last_archived(name)
        before, aside = self.writing.code, self.writing.reset(last)
        if model.judgement is not None and self.writing.code != before:
            # The verdict is about code that is gone.
            model.judgement = None
            self._say(self._welcome(model))
            self.post_message(self.Changed())
        if aside is not None and aside != last:
            self._progress.archive(name, aside, "reset")

    def _swap(self, name: str, other: str) -> None:
        """Show the code that is offered in place of this code, and offer this code in turn."""
        code = self.writing.code
        self.model.drafts.archive(name, code)
        self.writing.replace_code(other)
        self._offer(code, self._why_other)

    def action_outside(self) -> None:
        """Open the code in the learner's own editor, and suspend the tutor in the meantime."""
        if self._model is None:
            return
        if self._current_view is not self.writing:
            self._back()
        name = self._model.exercise.exercise
        before = self.writing.code
        edited = edit_outside(self.app, name, before, partial(self._model.drafts.save_edited, name, before))
        if edited.code is not None:
            self.writing.replace_code(edited.code)
        if edited.message:
            self.notify(edited.message, markup=False, timeout=15)


def edit_outside(app: App[object], name: str, code: str, save: Callable[[str], None]) -> external_editor.EditOutcome:
    """Open the learner's editor on some code, and return the edited code or the reason why there is none.

    Args:
        app: the tutor, which gives up the terminal in the meantime.
        name: the name of the exercise.
        code: the code to edit.
        save: called with the edited code before the screen is restored, because the connection may have been lost.
    """
    try:
        words = external_editor.command(os.environ)
        with app.suspend():
            edited = external_editor.edit(words, name, code)
            if edited.code is not None:
                save(edited.code)
    except external_editor.EditorError as error:
        return external_editor.EditOutcome(message=str(error))
    except SuspendNotSupported:
        return external_editor.EditOutcome(
            message=say("no-suspend", "This terminal does not let the tutor make room for another program.")
        )
    return edited
