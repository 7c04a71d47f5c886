"""The flow of every step of the course."""

from __future__ import annotations

import pytest

from lessons.engine.session import Session
from lessons.format.lesson import FilledStep, Lesson
from lessons.results.code_unit import CodeUnit
from lessons.results.flow import Flow
from lessons.results.tensor_questions import FlowQuestion
from tests.course import COURSE


@pytest.mark.parametrize("lesson", COURSE.lessons, ids=lambda lesson: lesson.id)
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
            # What a step shows comes from a box, unless no operation made it.
            result = run.result(step.id)
            assert result is not None
            assert not result.tensors or flow.boxes
    finally:
        run.close()
