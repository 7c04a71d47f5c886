"""Flows in the colors and with the labels of a lesson."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.format.lesson import RunningStep
from attn_tutor.lessons.results.flow import Flow, FlowBox
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.tui.controllers.flow_controller import colored
from attn_tutor.tui.state.shown_tensors import labeled_of_flow
from tests.course import COURSE


@pytest.mark.parametrize(
    ("name", "dtype", "kind"),
    [
        ("weights", "float32", "weight"),
        ("scores", "float32", "score"),
        ("own", "float32", "vector"),
        ("own", "bool", "mask"),
    ],
)
def test_a_thumbnail_has_the_kind_of_its_matrix(name: str, dtype: str, kind: str) -> None:
    lesson = COURSE.lesson("all-queries")
    step = next(step for step in lesson.steps if isinstance(step, RunningStep) and step.code)
    tensor = Tensor(name, "vector", dtype, (6, 6), (), (), 0.0, 1.0, (0.5,) * 36)
    flow = Flow((FlowBox("1", name, shape=(6, 6), dtype=dtype), FlowBox("2", "module")), ())
    assert labeled_of_flow(lesson, step.id, tensor).kind == kind
    assert [box.kind for box in colored(flow, lesson, step.id).boxes] == [kind, "vector"]
