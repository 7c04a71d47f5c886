"""The controller of steps: opens them, has them run, goes on to the next, and shows what is wrong in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.play.journey import Journey
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.what_if.changes import ChangeHistory, Changes
from attn_tutor.tui.controllers.frame import MAP, CoursePosition, Frame, LearningState
from attn_tutor.tui.screens.step_view import StepView
from attn_tutor.tui.sources.source import Source
from attn_tutor.tui.widgets.text import FindingsPane

RUNS = "run"
"""The group of background tasks that run steps: a new task cancels the one before it."""


class StepController:
    """The controller of the learner's current step, and the owner of their changes to its lesson."""

    def __init__(
        self, frame: Frame, state: LearningState, views: Mapping[str, StepView], show_map: Callable[[], None]
    ) -> None:
        """Initialize without a current step; `views` has the view of each kind of step."""
        self._frame, self._session, self._views, self._show_map = frame, state.async_session, views, show_map
        self._journey = Journey(state.learning)
        self._remark = ""
        self.on_open: Callable[[], None] = lambda: None
        """Called when a step was opened."""
        self.on_result: Callable[[], None] = lambda: None
        """Called when the step has run, or could not be run."""

    @property
    def model(self) -> StepModel:
        """The step that the learner is at, with what they do there. Callers use it only after a step was opened."""
        return self._journey.model

    @property
    def changes(self) -> Changes:
        """The learner's changes with which the current step runs."""
        return self.model.changes

    @property
    def history(self) -> ChangeHistory:
        """The learner's changes to the lesson."""
        return self._journey.history

    @property
    def lesson(self) -> Lesson:
        """The lesson that the learner is in. Callers use it only after a step was opened."""
        return self._journey.lesson

    @property
    def step(self) -> Step:
        """The step that the learner is at."""
        return self._journey.step

    @property
    def index(self) -> int:
        """The position of the step in its lesson."""
        return self._journey.index

    @property
    def view(self) -> StepView:
        """The view that shows the current step."""
        return self._views[self.step.kind]

    @property
    def is_visible(self) -> bool:
        """Whether the view of the current step is on the screen."""
        return self._journey.has_begun and self._frame.view_id == self.view.id

    def is_at(self, lesson: Lesson, index: int) -> bool:
        """Return whether the learner is still at this step, so that a late reply of the worker is of use."""
        is_there = self._journey.is_in(lesson) and self.index == index
        return is_there and self._frame.main_view_id != MAP

    # Opening and running ---------------------------------------------------------------------------------------------

    def open(
        self,
        lesson: Lesson,
        index: int,
        *,
        remark: str = "",
        purpose: Purpose = Purpose.WORK,
        history: ChangeHistory | None = None,
    ) -> None:
        """Show a step with its recorded results at once, then with live ones.

        Args:
            lesson, index: the step.
            remark: a message that stays in the title while this step is shown.
            purpose: why the learner opens the step.
            history: the learner's changes to the lesson, if they come back to it; else those of before hold, and none
                in another lesson.
        """
        self._session.close_prompt()
        self._remark = remark
        model = self._journey.open(lesson, index, purpose, history)
        runs = "run" in model.offers
        if not runs:
            self._session.stop()
        self._frame.show(self.view)
        self.view.open_step(model)
        self.on_open()
        self._show_position()
        self._frame.show_keys()
        if runs:
            self.run()

    def run(self) -> None:
        """Run the lesson up to the current step, and show the results if the learner is still there."""
        self._frame.start(partial(self._run, self.model), RUNS)

    async def _run(self, model: StepModel) -> None:
        try:
            content = await self._session.finish(model.lesson, model.step.id, model.live())
        except ValueError as error:  # a change that cannot be made
            self._frame.notify(str(error))
            return
        except WorkerError as error:
            self._frame.problem = str(error)
            self.on_result()
            self._show_position()
            return
        self._frame.problem = ""
        # Also while the prompt covers the step, because the learner comes back to it.
        if model is self.model and self._frame.main_view_id != MAP:
            self.view.show_result(content, model.take(content))
            self.on_result()
            self._show_position()

    def rerun(self) -> None:
        """Run the current step again."""
        if self.is_visible and "run" in self.model.offers and self.may_leave():
            self.run()

    def change(self, lesson: Lesson, history: ChangeHistory) -> None:
        """Apply the learner's new changes to a lesson, and run the current step again with them."""
        if self._journey.is_in(lesson):
            self.model.history = history
            if self.is_visible:
                self.run()

    def stop(self) -> None:
        """Tell the view of the current step that the learner has stopped its run."""
        if self.is_visible:
            self.view.stop()

    def _show_position(self) -> None:
        """Show the learner's position in the title."""
        lesson, step = self.lesson, self.step
        self._frame.position = CoursePosition(
            lesson=lesson.name,
            step=main_path.position_of(lesson.steps, step.id),
            main=lesson.main_steps.index(lesson.main_step_of(step.id)) + 1,
            of=len(lesson.main_steps),
            side=next((beside.title for beside in self._journey.side_steps), ""),
            remark=self._remark,
            changed=bool(self.changes),
            jumped=self.jumped,
        )
        self._frame.show_title()

    # From step to step -----------------------------------------------------------------------------------------------

    def may_leave(self) -> bool:
        """Return whether the learner may leave the current step; if they may, stop what runs in it."""
        if not self._journey.has_begun or self._frame.main_view_id != self.view.id:
            return True
        busy, leaves = self.view.busy, self.view.may_leave()
        if busy and leaves:
            self._session.stop()
        return leaves

    def next(self) -> None:
        """Go on to the next step, past side steps unless the learner is at one; count a step read or run as done."""
        if not self.may_leave():
            return
        remark = self._journey.leave()
        after = self._journey.after
        if after is not None:
            self._go_on(*after, remark)
        else:
            self._to_map()

    def _go_on(self, lesson: Lesson, index: int, remark: str = "") -> None:
        """Open a neighbor of the current step. After a jump, one that is done is only looked at."""
        self.open(lesson, index, remark=remark, purpose=self._journey.purpose_of(lesson, index))

    def previous(self) -> None:
        """Go back to the previous step, which may be the last one of the previous lesson.

        The first side step leads back to its main step; other side steps are passed.
        """
        if not self.may_leave():
            return
        before = self._journey.before
        if before is not None:
            self._go_on(*before)

    @property
    def has_side_step(self) -> bool:
        """Whether the learner is at a main step with side steps."""
        return self._journey.has_begun and bool(self._journey.side_steps)

    def turn_aside(self) -> None:
        """Open the first side step of the current step, if it has one; what counts as done stays as it is."""
        if self.has_side_step and self.may_leave():
            self._go_on(self.lesson, self.lesson.index(self._journey.side_steps[0].id))

    def leave(self) -> None:
        """Stop what is running and go back to the course map, if the learner may leave the step."""
        if self.may_leave():
            self._session.stop()
            self._to_map()

    def _to_map(self) -> None:
        """Show the map, from which every step can be reached."""
        self._journey.forget_jumps()
        self._show_map()

    # Jumps -----------------------------------------------------------------------------------------------------------

    @property
    def jumped(self) -> bool:
        """Whether there is a way back to where the learner was before a jump."""
        return self._journey.jumped

    def jump(self, lesson: Lesson, index: int, purpose: Purpose) -> None:
        """Open a step away from where the learner is, if they may leave; `jump_back` leads back."""
        if not self.may_leave():
            return
        self._journey.begin_jump(at_map=not self._journey.has_begun or self._frame.main_view_id == MAP)
        self.open(lesson, index, purpose=purpose)

    def jump_back(self) -> None:
        """Go back to where the learner was before the last jump, with the changes that held there."""
        if not self.jumped or not self.may_leave():
            return
        origin = self._journey.end_jump()
        if origin is None:
            self._session.stop()
            self._to_map()
        else:
            self.open(origin.lesson, origin.index, purpose=origin.purpose, history=origin.history)


class FindingsController:
    """The controller of the findings of a source; without any, its pane stays hidden."""

    def __init__(self, source: Source, steps: StepController, pane: FindingsPane) -> None:
        self._source, self._steps, self.pane = source, steps, pane

    def update(self) -> None:
        """Show what is found in the step that is open."""
        if self._source.findings is not None:
            self.pane.show_findings(self._source.findings(self._steps.lesson, self._steps.index))
