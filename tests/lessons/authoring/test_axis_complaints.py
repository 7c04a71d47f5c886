"""Axes and labels that do not fit the tensors of a run are found, although they would only be drawn plainly."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from attn_tutor.lessons.authoring import axis_complaints
from attn_tutor.lessons.engine.session import Session
from tests.lessons.lesson_builders import code_step, lesson_of


@pytest.mark.parametrize(
    ("fields", "path", "problem"),
    [
        ({"axes": ["town"]}, ("axes",), "'x' has the shape (2, 3), but 'axes' names 1"),
        ({"axes": ["town", "day", "hour"]}, ("axes",), "'x' has the shape (2, 3), but 'axes' names 3"),
        (
            {"axes": ["town", "day"], "labels": {"day": ["Monday", "Tuesday"]}},
            ("labels", "day"),
            "axis 'day' of 'x' has size 3, but 'labels' has 2 for it",
        ),
        (
            {"axes": ["town", "day"], "labels": {"days": ["a", "b", "c"]}},
            ("labels",),
            "'x' has no axis 'days' to label",
        ),
        ({"axes": ["town", "day"], "labels": {"town": ["Lund", "Bergen"]}}, (), ""),
        ({}, (), ""),
    ],
)
def test_what_does_not_fit_is_found(
    worker: Session, fields: dict[str, Any], path: tuple[str, ...], problem: str
) -> None:
    show = {"name": "x", "kind": "vector", **fields}
    lesson = lesson_of(code_step("one", "import torch\nx = torch.ones(2, 3)\n", show))
    with closing(worker.run(lesson)) as run:
        found = list(axis_complaints.complaints(lesson, run))
    assert [complaint[:2] for complaint in found] == ([(("steps", 0, "show", 0, *path), problem)] if path else [])
