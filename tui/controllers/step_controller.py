"""The controller of steps: opens them, has them run, and goes from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from lessons.format import main_path
from lessons.format.lesson import Lesson, Step
from lessons.learner import milestones
from lessons.play import course_path
from lessons.play.course_path import Origin
from lessons.play.learner_changes import LearnerChanges
from lessons.play.purpose import Purpose
from lessons.play.runner import CHANGING, RUNNERS, Runner
from lessons.results.result import WorkerError
from lessons.what_if.changes import UNCHANGED, ChangeHistory, Changes
from tui.controllers.frame import MAP, CoursePosition, Frame
from tui.controllers.learning_state import LearningState
from tui.screens.step_view import StepView

RUNS = "run"
"""The group of background tasks that run steps: a new task cancels the one before it."""


class StepController:
    """The controller of the learner's current step, and the owner of their changes to its lesson."""

    def __init__(
        self, frame: Frame, state: LearningState, views: Mapping[str, StepView], show_map: Callable[[], None]
    ) -> None:
        """Initialize without a current step; `views` has the view of each kind of step."""
        self._frame, self._state, self._views, self._show_map = frame, state, views, show_map
        self._lesson: Lesson | None = None
        self.index = 0
        self._remark = ""
        self._learner_changes = LearnerChanges()
        self._purpose = Purpose.WORK
        self.on_open: Callable[[], None] = lambda: None
        """Called when a step was opened."""
        self.on_result: Callable[[], None] = lambda: None
        """Called when the step has run, or could not be run."""
        # What the learner has jumped away from, the latest last; None is the map.
        self._origins: list[Origin | None] = []

    @property
    def changes(self) -> Changes:
        """The learner's changes with which the current step runs."""
        return self._history.current if self.runner in CHANGING else UNCHANGED

    @property
    def _history(self) -> ChangeHistory:
        """The learner's changes to the lesson, or to the current step if it has its own."""
        return self._learner_changes.of(self.step)

    @property
    def history(self) -> ChangeHistory:
        """The learner's changes to the lesson."""
        return self._learner_changes.lesson_history

    @property
    def lesson(self) -> Lesson:
        """The lesson that the learner is in. Callers use it only after a step was opened."""
        assert self._lesson is not None
        return self._lesson

    @property
    def step(self) -> Step:
        """The step that the learner is at."""
        return self.lesson.steps[self.index]

    @property
    def view(self) -> StepView:
        """The view that shows the current step."""
        return self._views[self.step.kind]

    @property
    def runner(self) -> Runner:
        """The way in which the current step gets its results."""
        return RUNNERS[self.step.kind]

    @property
    def is_visible(self) -> bool:
        """Whether the view of the current step is on the screen."""
        return self._lesson is not None and self._frame.view_id == self.view.id

    def is_at(self, lesson: Lesson, index: int) -> bool:
        """Return whether the learner is still at this step, so that a late reply of the worker is of use."""
        return (self._lesson, self.index) == (lesson, index) and self._frame.main_view_id != MAP

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
        self._state.async_session.close_prompt()
        if lesson is not self._lesson:
            self._learner_changes = LearnerChanges(history or ChangeHistory())
            self._state.results.forget()
        self._lesson, self.index, self._remark, self._purpose = lesson, index, remark, purpose
        course_path.visit(self._state.progress, lesson, self.step, purpose)
        if self.runner is Runner.ON_REQUEST:
            self._state.async_session.stop()
        self._frame.show(self.view)
        content = self._state.results.at_once(lesson, self.step)
        self.view.open_step(lesson, self.step, content, self._history, purpose)
        self.on_open()
        self._show_position()
        self._frame.show_keys()
        if self.runner is not Runner.ON_REQUEST:
            self.run()

    def run(self) -> None:
        """Run the lesson up to the current step, and show the results if the learner is still there."""
        self._frame.start(partial(self._run, self.lesson, self.index), RUNS)

    async def _run(self, lesson: Lesson, index: int) -> None:
        step = lesson.steps[index]
        try:
            content = await self._state.results.live(lesson, step, self.changes)
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
        if self.is_at(lesson, index):
            self.view.show_result(content)
            self.on_result()
            self._show_position()

    def rerun(self) -> None:
        """Run the current step again."""
        if self.is_visible and self.runner is not Runner.ON_REQUEST and self.may_leave():
            self.run()

    def change(self, lesson: Lesson, history: ChangeHistory) -> None:
        """Apply the learner's new changes to a lesson, and run the current step again with them."""
        if lesson is self._lesson:
            self._learner_changes.replace(self.step, history)
            if self.is_visible:
                self.run()

    def forget_results(self) -> None:
        """Forget the results of the lesson, because something that they depend on has changed."""
        self._state.results.forget()

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
            side=next((beside.title for beside in self._side_steps), ""),
            remark=self._remark,
            changed=bool(self.changes),
            jumped=self.jumped,
        )
        self._frame.show_title()

    # From step to step -----------------------------------------------------------------------------------------------

    def may_leave(self) -> bool:
        """Return whether the learner may leave the current step; if they may, stop what runs in it."""
        if self._lesson is None or self._frame.main_view_id != self.view.id:
            return True
        busy, leaves = self.view.busy, self.view.may_leave()
        if busy and leaves:
            self._state.async_session.stop()
        return leaves

    def next(self) -> None:
        """Go on to the next step, past side steps unless the learner is at one; count a step read or run as done."""
        if not self.may_leave():
            return
        remark = milestones.leave(self._state.progress, self.lesson, self.step)
        after = course_path.step_after(self._state.course, self.lesson, self.step)
        if after is not None:
            self._go_on(*after, remark)
        else:
            self._to_map()

    def _go_on(self, lesson: Lesson, index: int, remark: str = "") -> None:
        """Open a neighbor of the current step. After a jump, one that is done is only looked at."""
        purpose = course_path.purpose_of(self._state.progress, lesson, index, jumped=self.jumped)
        self.open(lesson, index, remark=remark, purpose=purpose)

    def previous(self) -> None:
        """Go back to the previous step, which may be the last one of the previous lesson.

        The first side step leads back to its main step; other side steps are passed.
        """
        if not self.may_leave():
            return
        before = course_path.step_before(self._state.course, self.lesson, self.step)
        if before is not None:
            self._go_on(*before)

    @property
    def has_side_step(self) -> bool:
        """Whether the learner is at a main step with side steps."""
        return self._lesson is not None and bool(self._side_steps)

    @property
    def _side_steps(self) -> tuple[Step, ...]:
        """The side steps of the current step, if that is a main step."""
        return course_path.side_steps(self.lesson, self.step)

    def turn_aside(self) -> None:
        """Open the first side step of the current step, if it has one; what counts as done stays as it is."""
        if self.has_side_step and self.may_leave():
            self._go_on(self.lesson, self.lesson.index(self._side_steps[0].id))

    def leave(self) -> None:
        """Stop what is running and go back to the course map, if the learner may leave the step."""
        if self.may_leave():
            self._state.async_session.stop()
            self._to_map()

    def _to_map(self) -> None:
        """Show the map, from which every step can be reached."""
        self._origins.clear()
        self._show_map()

    # Jumps -----------------------------------------------------------------------------------------------------------

    @property
    def jumped(self) -> bool:
        """Whether there is a way back to where the learner was before a jump."""
        return bool(self._origins)

    def jump(self, lesson: Lesson, index: int, purpose: Purpose) -> None:
        """Open a step away from where the learner is, if they may leave; `jump_back` leads back."""
        if not self.may_leave():
            return
        at_map = self._lesson is None or self._frame.main_view_id == MAP
        self._origins.append(
            None if at_map else Origin(self.lesson, self.index, self._purpose, self._learner_changes.lesson_history)
        )
        self.open(lesson, index, purpose=purpose)

    def jump_back(self) -> None:
        """Go back to where the learner was before the last jump, with the changes that held there."""
        if not self.jumped or not self.may_leave():
            return
        origin = self._origins.pop()
        if origin is None:
            self._state.async_session.stop()
            self._to_map()
        else:
            self.open(origin.lesson, origin.index, purpose=origin.purpose, history=origin.history)
