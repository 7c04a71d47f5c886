"""The flow of every step of the course."""

from __future__ import annotations

import pytest

from lessons.engine.run import Run
from lessons.engine.session import Session
from lessons.format.lesson import FilledStep, Lesson
from lessons.results.code_unit import CodeUnit
from lessons.results.flow import Flow
from lessons.results.result import StepResult
from lessons.results.tensor_questions import FlowQuestion
from tests.course import COURSE, EVERY_COURSE


def result_of(run: Run, step: str) -> StepResult:
    result = run.result(step)
    assert result is not None
    return result


def test_a_list_of_numbers_has_not_the_shape_of_what_was_counted(worker: Session) -> None:
    lesson = COURSE.lesson("gpt2-size")
    run = worker.run(lesson, "heads-are-free")
    try:
        flow = run.ask(FlowQuestion((), (), CodeUnit.step("heads-are-free")))
        assert isinstance(flow, Flow)
        assert [(box.name, box.shape) for box in flow.boxes] == [("split_counts", None), ("stacked_counts", None)]
    finally:
        run.close()


@pytest.mark.parametrize("lesson", EVERY_COURSE.lessons, ids=lambda lesson: lesson.id)
def test_every_step_has_a_flow(worker: Session, lesson: Lesson) -> None:
    run = worker.run(lesson)
    try:
        for step in lesson.steps:
            if not isinstance(step, FilledStep):
                continue
            flow = run.ask(FlowQuestion((), (), CodeUnit.step(step.id)))
            assert isinstance(flow, Flow), (step.id, flow)
            ids = {box.id for box in flow.boxes}
            assert len(ids) == len(flow.boxes)
            assert all({arrow.source, arrow.target} <= ids for arrow in flow.arrows)
            # Each box has a name, or at least code: what we and autograd do to tensors is no box.
            assert all(box.name for box in flow.boxes), step.id
            # What a step shows comes from a box, unless no operation made it.
            assert not result_of(run, step.id).tensors or flow.boxes
    finally:
        run.close()
