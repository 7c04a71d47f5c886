"""The flow of every step of the course."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.format.lesson import FilledStep, Lesson
from tests.course import EVERY_COURSE
from tests.lessons.course_runs import CourseRuns


def test_a_list_of_numbers_has_not_the_shape_of_what_was_counted(results: CourseRuns) -> None:
    flow = results.flows("gpt2-size")["heads-are-free"]
    assert [(box.name, box.shape) for box in flow.boxes] == [("split_counts", None), ("stacked_counts", None)]


@pytest.mark.parametrize("lesson", EVERY_COURSE.lessons, ids=lambda lesson: lesson.id)
def test_every_step_has_a_flow(results: CourseRuns, lesson: Lesson) -> None:
    flows = results.flows(lesson.id)
    assert flows.keys() == {step.id for step in lesson.steps if isinstance(step, FilledStep)}
    for step, flow in flows.items():
        ids = {box.id for box in flow.boxes}
        assert len(ids) == len(flow.boxes)
        assert all({arrow.source, arrow.target} <= ids for arrow in flow.arrows)
        # Each box has a name, or at least code: what we and autograd do to tensors is no box.
        assert all(box.name for box in flow.boxes), step
        # What a step shows comes from a box, unless no operation made it.
        assert not results[lesson.id][step].tensors or flow.boxes
