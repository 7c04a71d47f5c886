"""The controller of what stands beside a step: the flow of the numbers up to it, and what earlier steps have shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import (
    Lesson,
    Step,
)
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.flow import Flow, longest_path, with_explained
from attn_tutor.lessons.results.result import StepResult, WorkerError
from attn_tutor.lessons.results.tensor_questions import FlowQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.controllers.flow_controller import colored
from attn_tutor.tui.controllers.frame import Frame, LearningState
from attn_tutor.tui.controllers.step_controller import StepController
from attn_tutor.tui.screens.lesson_view import LessonView
from attn_tutor.tui.screens.step_view import StepView
from attn_tutor.tui.state import shown_tensors
from attn_tutor.tui.widgets.side_panel import SidePanel

say = Wording("screen/side")

ENOUGH, MOST_ASKED = 3, 6
"""Boxes of a flow that is worth a look, and how many earlier steps are asked for one."""


class SideController:
    """The controller of the panel beside a step, and of the way of the numbers in the rule above it."""

    def __init__(self, frame: Frame, state: LearningState, steps: StepController, panel: SidePanel) -> None:
        self._frame, self._state, self._steps, self._panel = frame, state, steps, panel
        self._lesson: Lesson | None = None
        self._asked: tuple[FlowQuestion, ...] = ()

    def open(self) -> None:
        """Show what is known of a step that was just opened."""
        lesson = self._steps.lesson
        same = lesson is self._lesson
        self._lesson, self._asked = lesson, ()
        if not same or not self._state.async_session.ready:
            self._frame.way = ()
        self._panel.leave_step(same_lesson=same)
        self._show_earlier()
        if "run" not in self._steps.model.offers:
            self.update()

    def arrive(self) -> None:
        """Show beside the step what has come of its run, which may have other numbers than the run before."""
        self._asked = ()
        self.update()

    def update(self) -> None:
        """Show beside the step what its view shows now, and ask for the flow of it."""
        if self._lesson is None or not self._steps.is_visible:
            return
        self._show_earlier()
        questions = self._questions()
        if questions and questions != self._asked:
            self._asked = questions
            self._frame.start(partial(self._fetch, self._lesson, self._steps.index, questions), "side")

    def _questions(self) -> tuple[FlowQuestion, ...]:
        """Return the questions for the flow beside the step: that of its code or of a scratch run, or those before."""
        lesson, index, subject = self._steps.lesson, self._steps.index, self._steps.view.flow_subject
        step = lesson.steps[index]
        if subject is not None and not (step.is_text or step.is_question):
            return (subject.question,)
        references = subject.question.references if subject is not None else ()
        return tuple(FlowQuestion((), references, CodeUnit.step(step)) for step in steps_with_flow(lesson, index))

    async def _fetch(self, lesson: Lesson, index: int, questions: tuple[FlowQuestion, ...]) -> None:
        found = await self._largest(questions)
        if found is None and (upto := self._worth_running(lesson, index)) is not None:
            try:
                await self._state.async_session.run_later(lesson, upto)
            except WorkerError:
                return
            found = await self._largest(questions)
        if found is None or questions is not self._asked or not self._steps.is_at(lesson, index):
            return
        flow, unit = found
        subject = self._steps.view.flow_subject
        if subject is not None and subject.question.unit == unit:
            flow = with_explained(flow, subject.tensor)
        self._panel.show_flow(colored(flow, lesson, lesson.steps[index].id), self._title(lesson, index, unit))
        self._show_earlier()
        self._frame.way = tuple(box.name for box in longest_path(flow))
        self._frame.show_title()

    def _title(self, lesson: Lesson, index: int, unit: CodeUnit | None) -> str:
        """Return what the flow is of: this step, an earlier or later one, or a run of the learner's own code."""
        step = next((step for step in lesson.steps if CodeUnit.step(step.id) == unit), None)
        if step is None:
            return say("flow-of-your-run", "the flow of your run")
        if step is lesson.steps[index]:
            if step.is_page:
                return say("flow-of-this-page", "the flow of this page")
            return say("flow-of-this-step", "the flow of this step")
        return say("flow-of-step", "the flow of {step}", step=main_path.name_of(lesson.steps, step.id))

    async def _largest(self, questions: Sequence[FlowQuestion]) -> tuple[Flow, CodeUnit | None] | None:
        """Return the first flow that is worth a look, else the largest, with its unit; None if there is none."""
        found: tuple[Flow, CodeUnit | None] | None = None
        for question in questions:
            reply = await self._state.async_session.ask(question)
            if isinstance(reply, Flow) and len(reply.boxes) > (len(found[0].boxes) if found is not None else 0):
                found = reply, question.unit
                if len(reply.boxes) >= ENOUGH:
                    break
        return found

    def _worth_running(self, lesson: Lesson, index: int) -> str | None:
        """Return the id of the step up to which the lesson is run for the sake of the flow; None if it is not.

        Nothing has run for an exercise, and the first steps of a lesson come before all code: their flow is that of the
        whole lesson. Such a run replaces nothing that the learner looks at.
        """
        steps = self._steps
        if not self._panel.display or not steps.is_at(lesson, index) or steps.changes:
            return None
        if steps.step.answered_in_code and steps.view.flow_subject is None and not steps.view.busy:
            return next(iter(_runs_behind(lesson, index)), None)
        return lesson.steps[-1].id if steps.step.is_text else None

    def _show_earlier(self) -> None:
        lessons, lesson = self._state.learning.course.lessons, self._steps.lesson
        number = lessons.index(lesson)
        before = lessons[number - 1] if number else None
        show_earlier(self._panel, self._steps.view, lesson, self._steps.index, self._result_of, before)

    def _result_of(self, lesson: Lesson, step: str) -> StepResult | None:
        """Return the result of a step, with the learner's changes to the lesson that they are in."""
        if self._steps.changes and lesson is self._steps.lesson:
            return self._state.async_session.result(step)
        return self._state.learning.results.recorded(lesson, step)


def show_earlier(
    panel: SidePanel,
    view: StepView,
    lesson: Lesson,
    index: int,
    result_of: Callable[[Lesson, str], StepResult | None],
    before: Lesson | None,
) -> None:
    """Show earlier tensors beside a step: those that it reads, those in its flow, and in the panel others too.

    Args:
        panel: what stands beside the view, with the flow of the step.
        view: what shows the step.
        lesson, index: the step.
        result_of: returns the result of a step of a lesson, None if there is none.
        before: the lesson before.
    """
    step = lesson.steps[index]
    read = shown_tensors.names_read(step.run_code) if step.shows_results else frozenset()
    known = shown_tensors.shown_before(lesson, index, partial(result_of, lesson))
    # What the code of the step reads comes first.
    first = [each for each in known if each.tensor.name in read]
    related = [*first, *(each for each in known if each.tensor.name in panel.names - read)]
    others = [each for each in known if each not in related]
    if step.is_question:
        # A short list of numbers may be what is asked for.
        related, others = ([each for each in those if min(each.tensor.matrix_shape) > 1] for those in (related, others))
    if is_end(lesson, index):
        others = [
            *shown_tensors.emblem(lesson, partial(result_of, lesson), say("this-lesson", "this lesson")),
            *others,
        ]
    if before is not None:
        others += shown_tensors.emblem(before, partial(result_of, before), before.name)
    taken = isinstance(view, LessonView) and view.show_earlier(related)
    panel.show_earlier(others if taken else [*related, *others])


def is_end(lesson: Lesson, index: int) -> bool:
    """Return whether a step is read before all code of a lesson, or after all of it."""
    runs_before, runs_after = _runs(lesson.steps[:index]), _runs(lesson.steps[index:])
    return lesson.steps[index].is_text and not (runs_before and runs_after)


def steps_with_flow(lesson: Lesson, index: int) -> tuple[str, ...]:
    """List the steps whose flow may stand beside a step, the best first.

    A step that runs has its own. Beside a question, an exercise or a training stands that of a step before, which tells
    nothing about the answer or the outcome; at both ends of a lesson that of the step which the lesson names.
    """
    step = lesson.steps[index]
    if step.shows_own_flow:
        return (step.id,)
    before = _runs_behind(lesson, index)
    named = [lesson.flow] if lesson.flow and is_end(lesson, index) else []
    return (*named, *before[:MOST_ASKED])


def _runs_behind(lesson: Lesson, index: int) -> list[str]:
    """List the ids of the steps behind a learner that run and are no questions, the last first."""
    return _runs(main_path.steps_behind(lesson.steps, lesson.steps[index].id))


def _runs(steps: Sequence[Step]) -> list[str]:
    """List the ids of the steps that run and are no questions, the last first."""
    return [step.id for step in reversed(steps) if step.runs and not step.is_question]
