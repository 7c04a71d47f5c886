"""All about one exercise: writing, hints, checks, a scratch run, where it differs, and the solution.

It joins its views with the worker and the store, and tells the rest of the tutor when keys and title are others.
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
from lessons.learner import milestones, outcomes
from lessons.learner.progress import Progress
from lessons.learner.records import Conflict
from lessons.results.result import AnswerComparison, Judgement, StepResult, WorkerError
from lessons.what_if.changes import ChangeHistory
from tui.actions.bindings import bindings
from tui.actions.hints import hint, key_line, mention
from tui.actions.naming import short_keys
from tui.render import exercise_text, solution_text, verdict_text
from tui.screens.difference_view import DifferenceView
from tui.screens.exercise_view import ExerciseView
from tui.screens.outside_editing import edit_outside
from tui.screens.scratch_run_view import ScratchRunView
from tui.screens.solution_view import SolutionView
from tui.screens.step_view import QuietStepView, ViewContext
from tui.state.async_session import AsyncSession
from tui.state.drafts import Drafts
from tui.state.step_results import ShownResult
from tui.tty.terminal import Terminal
from tui.widgets.line_widget import Box
from tui.widgets.text_pane import TextPane

DIM = Style(dim=True)

View = ExerciseView | ScratchRunView | DifferenceView | SolutionView


class Workbench(QuietStepView, Box):
    """One exercise at a time, in one of four views."""

    DEFAULT_CSS = """
    Workbench, Workbench > Box {
        height: 1fr;
        width: 1fr;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("exercise")]

    class Changed(Message):
        """Title or keys are others."""

    class Arrived(Message):
        """What another session has done is known now, with the conflicts that this session has with it."""

        def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
            self.conflicts = conflicts
            super().__init__()

    def __init__(
        self, terminal: Terminal, code_theme: str, engine: AsyncSession, store: Progress, *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._terminal, self._engine, self._store = terminal, engine, store
        self.writing = ExerciseView(terminal, id="writing")
        self._scratch = ScratchRunView(terminal, code_theme, id="scratch")
        self._difference = DifferenceView(terminal, id="difference")
        self._solution = SolutionView(terminal, id="solution")
        self._shown: View = self.writing
        # Counts what was opened: an answer about something else comes too late.
        self._opened = 0
        self._lesson: Lesson | None = None
        self._step: ExerciseStep | None = None
        self._hints = 0
        self._judgement: Judgement | None = None
        self._word: tuple[Text, str | None, int | None] = (Text(), None, None)
        # f3 was pressed with all hints used up: once more gives up.
        self._armed = False
        # Exercises that are done once more, from the starter and without what is known of them.
        self._reviewed: set[str] = set()
        self._gave_up: set[str] = set()
        self._drafts = Drafts(store)
        # Nothing has been done since the exercise was opened.
        self._untouched = False
        # The code of another session that f9 shows, as it says below the editor.
        self._other_code: str | None = None

    def on_mount(self) -> None:
        """Hear of other sessions, from the thread that writes."""
        self._store.on_exchange = lambda conflicts: self.post_message(self.Arrived(conflicts))

    def on_unmount(self) -> None:
        """Hear of them no more."""
        self._store.on_exchange = None

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that shows nothing yet."""
        return cls(context.terminal, context.code_theme, context.engine, context.store, id="exercise")

    def compose(self) -> ComposeResult:
        """The four views, of which one is shown."""
        for view in self._views:
            view.display = view is self._shown
            yield view

    @property
    def _views(self) -> tuple[View, ...]:
        return self.writing, self._scratch, self._difference, self._solution

    # What is told to the tutor -----------------------------------------------------------------------------------

    @property
    def text_pane(self) -> TextPane:
        """The pane of the task."""
        return self.writing.task_pane

    @property
    def title(self) -> str:
        """What to say above."""
        title = self._step.title if self._step else ""
        word = {"scratch": "Your code", "difference": "Where it differs", "solution": "Model answer"}.get(self.topic)
        return f"{word}: {title}" if word else title

    @property
    def topic(self) -> str:
        """What help is about: exercise, scratch, difference, solution."""
        return "exercise" if self._shown is self.writing else str(self._shown.id)

    @property
    def keys(self) -> str:
        """What keys do here, for the line of keys: as many as fit."""
        if not isinstance(self._shown, ExerciseView):
            return self._shown.keys
        check, run, more = hint("exercise.check"), hint("exercise.run"), hint("exercise.hint", self._help_key)
        if self.writing.editing:
            steps = [hint("tutor.pane-anywhere"), hint("tutor.next-anywhere")]
            leave = [mention("editor.leave", "map, quit"), hint("tutor.help-anywhere")]
            parts = [check, run, more, *steps, *leave]
        else:
            both = [hint("exercise.difference")] if self._difference_known else []
            others = map(hint, ("tutor.next", "tutor.help", "tutor.map", "tutor.quit"))
            parts = [hint("task.edit"), check, *both, run, more, *others]
        return key_line(parts, self.size.width)

    def move_pane(self, step: int) -> None:
        """To the next pane of what is shown, but not into the editor."""
        if not isinstance(self._shown, SolutionView):
            self._shown.move_pane(step)

    def next_pane(self) -> None:
        """To the next pane of what is shown; the editor is one of them."""
        if self._shown is self.writing:
            self.writing.move_pane(1, editor=True)
        else:
            self.move_pane(1)

    # Opening -----------------------------------------------------------------------------------------------------

    def open_step(
        self, lesson: Lesson, step: Step, shown: ShownResult, history: ChangeHistory, *, review: bool = False
    ) -> None:
        """Show an exercise with the learner's code, or for a review with the starter."""
        assert isinstance(step, ExerciseStep)
        if review:
            self._begin_again(step)
        self._opened += 1
        self._lesson, self._step, self._judgement, self._armed = lesson, step, None, False
        self._hints = 0 if step.exercise in self._reviewed else self._store.hints_used(step.exercise)
        self._show(self.writing)
        self.writing.show_step(step, self._drafts.open(step), self._hints)
        self._greet(lesson, step)
        self._untouched = True

    def _greet(self, lesson: Lesson, step: ExerciseStep) -> None:
        """Say what is to be said before anything has been done."""
        welcome, other = self._welcome(lesson, step), self._drafts.beside(step.exercise, self.writing.code)
        if other is None:
            self._say(welcome)
        else:
            self._offer(other, welcome)

    def _offer(self, other: str, more: Text | None = None) -> None:
        """Say that there is other code, and how to see it; and below that something more."""
        self._say(exercise_text.other_code(more))
        self._other_code = other

    def show_result(self, shown: ShownResult) -> None:
        """Do nothing: an exercise is about code that has not run yet."""

    def _begin_again(self, step: ExerciseStep) -> None:
        """Put the starter in place of the learner's code, which is kept, and forget what is known of the exercise."""
        if self._store.passed(step.exercise) and step.exercise not in self._reviewed:
            self._reviewed.add(step.exercise)
            self._drafts.begin_again(step)

    def _welcome(self, lesson: Lesson, step: ExerciseStep) -> Text:
        """What stands below the editor before anything has been checked."""
        name = step.exercise
        return exercise_text.welcome(
            step,
            self._hints,
            self._help_key,
            reviewed=name in self._reviewed,
            passed=self._store.passed(name),
            gave_up=self._store.gave_up(name),
            skips=step.challenge and milestones.first_open(lesson, self._store) != step.id,
        )

    def _show(self, view: View) -> None:
        """Show one of the views, which then has the keys."""
        self._shown = view
        for each in self._views:
            if each.display != (each is view):
                each.display = each is view
        self.focus_active()
        self.post_message(self.Changed())

    def focus_active(self) -> None:
        """Give the keys to the view that is shown."""
        if isinstance(self._shown, ExerciseView):
            self._shown.come_back()
        else:
            self._shown.focus_active()

    def _say(self, text: Text, of: str | None = None, line: int | None = None) -> None:
        """Say something that holds until something else is said."""
        self._word = (text, of, line)
        self._untouched = False
        self._other_code = None
        self.writing.say(*self._word)

    def _back(self) -> None:
        """To the editor, with everything as it was."""
        self.writing.say(*self._word)
        self._show(self.writing)

    @on(ScratchRunView.PanesChanged)
    @on(DifferenceView.Flipped)
    @on(events.DescendantFocus)
    @on(events.Resize)
    def tell_changed(self) -> None:
        """Tell the tutor that other keys may fit, or may mean something."""
        self.post_message(self.Changed())

    @on(ScratchRunView.Left)
    @on(DifferenceView.Left)
    @on(SolutionView.Left)
    def show_editor(self) -> None:
        """Go back to the editor."""
        self._back()

    def on_exercise_view_edited(self, event: ExerciseView.Edited) -> None:
        """Keep the learner's code."""
        event.stop()
        self._armed = self._untouched = False
        self._drafts.save(event.exercise.exercise, event.code)

    def on_workbench_arrived(self, event: Arrived) -> None:
        """Offer the code of another session; before anything is done here, show the newest."""
        event.stop()
        lesson, step = self._lesson, self._step
        if lesson is None or step is None:
            return
        for conflict in event.conflicts:
            if conflict.exercise == step.exercise:
                self._offer(conflict.other)
                return
        if self._untouched and not self.writing.edited and not self._drafts.is_newest(step.exercise):
            self.writing.load(self._drafts.open(step))
            self._greet(lesson, step)
            self._untouched = True

    # Checks ------------------------------------------------------------------------------------------------------

    def action_check(self) -> None:
        """Have the learner's code judged."""
        if self._step is not None:
            self._armed = False
            if self._shown is not self.writing:
                self._show(self.writing)
            self.check()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def check(self) -> None:
        """Judge what stands in the editor and show the word."""
        lesson, step, opened, code = self._lesson, self._step, self._opened, self.writing.code
        assert lesson is not None
        assert step is not None
        self._say_meanwhile("checking")
        try:
            judgement = await self._engine.check(step, code)
        except WorkerError as error:
            if self._opened == opened:
                self._say(Text(f"This could not be checked: {error}"))
            return
        more = outcomes.record(self._store, lesson, step, code, judgement)
        if judgement.passed:
            self._reviewed.discard(step.exercise)
            self._gave_up.discard(step.exercise)
        if self._opened == opened:
            self._judgement = judgement
            told = verdict_text.verdict(
                judgement, help=mention("exercise.hint", self._help_key), more=more, unicode=self._terminal.unicode
            )
            self._say(told, code, None if judgement.passed or judgement.stopped else judgement.line)
            self.post_message(self.Changed())

    def _say_meanwhile(self, what: str) -> None:
        """Say what the worker is doing, and how to stop it."""
        loading = "" if self._engine.ready else "PyTorch is still loading; then "
        leave = f"{short_keys('editor.leave')}, " if self.writing.editing else ""
        keys = leave + mention("tutor.stop")
        self.writing.say(Text(f"{loading}{what}{self._terminal.ellipsis}   {keys}", DIM))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key means something now."""
        if action == "difference":
            return self._difference_known and self._shown is self.writing
        return True

    @property
    def _difference_known(self) -> bool:
        """Whether the last check has told where the answer leaves the way of the model answer."""
        return self._judgement is not None and self._judgement.difference is not None

    def action_difference(self) -> None:
        """Show where the answer leaves the way of the model answer."""
        if self._judgement is not None and self._judgement.difference is not None:
            self._difference.show(self._judgement.difference)
            self._show(self._difference)

    # Hints and the solution --------------------------------------------------------------------------------------

    @property
    def _help_key(self) -> str:
        """What f3 does now."""
        step = self._step
        if step is None or (self._hints < len(step.hints) and not self._open_book):
            return "hint"
        if not self._open_book:
            return "give up"
        return "why it works" if self._store.passed(step.exercise) else "solution"

    @property
    def _open_book(self) -> bool:
        """Whether the solution can be seen: after passing, or giving up."""
        name = self._step.exercise if self._step else ""
        if name in self._gave_up:
            return True
        return name not in self._reviewed and (self._store.passed(name) or self._store.gave_up(name))

    def action_hint(self) -> None:
        """One hint more; when they are used up, twice gives up; then, or after passing, the solution."""
        step = self._step
        if step is None:
            return
        if self._shown is not self.writing:
            self._back()
        elif self._open_book:
            self._read_solution()
        elif self._hints < len(step.hints):
            self._hints += 1
            self._store.use_hint(step.exercise, self._hints)
            self.writing.show_hints(self._hints)
            self.post_message(self.Changed())
        elif not self._armed:
            self._armed = True
            self._say(exercise_text.no_more_hints())
        else:
            self._store.archive(step.exercise, self.writing.code, "gave-up")
            self._store.give_up(step.exercise)
            self._gave_up.add(step.exercise)
            self._say(exercise_text.after_giving_up())
            self._read_solution()

    def _read_solution(self) -> None:
        assert self._step is not None
        self._armed = False
        self._store.use_solution(self._step.exercise)
        self._show_solution(f"comparing{self._terminal.ellipsis}")
        self._show(self._solution)
        self.compare()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def compare(self) -> None:
        """Find the intermediates of both codes, and show them below the rest."""
        step, opened = self._step, self._opened
        assert step is not None
        try:
            compared: AnswerComparison | str = await self._engine.compare(step, self.writing.code)
        except WorkerError as error:
            compared = str(error)
        if self._opened == opened and self._shown is self._solution:
            self._show_solution(compared, keep=True)

    def _show_solution(self, compared: AnswerComparison | str, keep: bool = False) -> None:
        step = self._step
        assert step is not None
        name = step.exercise
        gave_up = self._store.gave_up(name) and (name in self._gave_up or not self._store.passed(name))
        text = solution_text.solution(
            step, self.writing.code, compared, gave_up=gave_up, unicode=self._terminal.unicode
        )
        if gave_up:
            take_back = mention("solution.take-back", "take that back, and hide this again")
            text = Text.assemble((f"You gave up.   {take_back}\n\n", DIM), text)
        self._solution.show(text, gave_up=gave_up, keep=keep)

    def on_solution_view_taken_back(self) -> None:
        """The learner goes on with the exercise after all."""
        if self._step is not None:
            self._store.take_back_give_up(self._step.exercise)
            self._gave_up.discard(self._step.exercise)
            keys = key_line([mention("exercise.check"), mention("exercise.hint", "give up")])
            self._say(Text(f"Taken back: you have not given up.   {keys}", DIM))
            self._back()

    # Running and editing -----------------------------------------------------------------------------------------

    def action_attempt(self) -> None:
        """Run the code to look at what it makes; from there back to the editor."""
        if self._shown is self._scratch:
            self._back()
        elif self._step is not None:
            self._armed = False
            if self._shown is not self.writing:
                self._back()
            self.attempt()

    @work(exclusive=True, group="run", exit_on_error=False)
    async def attempt(self) -> None:
        """Run what stands in the editor, without judging or keeping it."""
        lesson, step, opened = self._lesson, self._step, self._opened
        assert lesson is not None
        assert step is not None
        self._say_meanwhile("running")
        try:
            with_code, run = await self._engine.attempt(lesson, step, self.writing.code)
        except WorkerError as error:
            if self._opened == opened:
                self._say(Text(f"This could not be run: {error}"))
            return
        if self._opened != opened:
            return
        result = run.result(STEP) or StepResult(STEP)
        yours = with_code.step(STEP)
        assert isinstance(yours, RunStep)
        if result.error is not None and result.error.kind == "stopped":
            self.writing.say(*self._word)
            return
        self._scratch.show_run(with_code, yours, result)
        self._show(self._scratch)

    def action_fold(self) -> None:
        """Fold the task away, or back."""
        if self._shown is self.writing:
            self.writing.fold()

    def action_reset(self) -> None:
        """Back to the starter, or back from it."""
        if self._step is None or self._shown is not self.writing:
            return
        name, self._untouched = self._step.exercise, False
        if self._other_code is not None:
            self._swap(name, self._other_code)
            return
        last = self._drafts.last_archived(name)
        aside = self.writing.reset(last)
        if aside is not None and aside != last:
            self._store.archive(name, aside, "reset")

    def _swap(self, name: str, other: str) -> None:
        """Put the code of another session in the place of this code, which is offered then."""
        code = self.writing.code
        self._drafts.archive(name, code)
        self.writing.put(other)
        self._offer(code)

    def action_outside(self) -> None:
        """Have the code edited by the learner's own editor, with the tutor out of the way."""
        if self._step is None:
            return
        if self._shown is not self.writing:
            self._back()
        name = self._step.exercise
        edited = edit_outside(self.app, name, self.writing.code, partial(self._drafts.save, name))
        if edited.code is not None:
            self.writing.put(edited.code)
        if edited.message:
            self.notify(edited.message, markup=False, timeout=15)
