"""Recorded outputs that do not fit their lesson are no outputs: the step is shown without, until it has run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.reading import recorded_outputs
from tests.lessons.lesson_builders import code_step, lesson_of

TENSOR = {"dtype": "float32", "shape": [2, 2], "values": [1, 2, 3, 4], "low": 1, "high": 4}


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    return lesson_of(code_step("only", "table = torch.ones(2, 2)", "table"), folder=str(tmp_path))


def load(lesson: Lesson, **fields: Any) -> Any:
    """Return what is loaded of a recording whose tensor has other fields."""
    tensor = {name: value for name, value in (TENSOR | fields).items() if value != "left out"}
    steps = {"only": {"stdout": "", "text": {}, "tensors": {"table": tensor}}}
    (Path(lesson.folder) / recorded_outputs.FILE).write_text(json.dumps({"steps": steps}))
    return recorded_outputs.load(lesson)


def test_a_recording_that_fits_is_shown(lesson: Lesson) -> None:
    assert load(lesson)["only"].tensors[0].values == (1, 2, 3, 4)
    corner = load(lesson, shape=[200, 300], values="left out", window=[[1, 2, 3], [4, 5, 6]])["only"].tensors[0].window
    assert corner.rows == ((1, 2, 3), (4, 5, 6))


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": [2, 3]},
        {"shape": [10**12, 1], "values": "left out"},
        {"shape": [-2, -2]},
        {"shape": ["two", 2]},
        {"values": [1, 2, 3]},
        {"values": 4},
        {"low": "1"},
        {"low": "left out"},
        {"shape": [200, 300], "values": "left out", "window": [[1, 2], [3]]},
        {"shape": [1, 300], "values": "left out", "window": [[1, 2], [3, 4]]},
        {"shape": [300, 1], "values": "left out", "window": [[1, 2], [3, 4]]},
    ],
)
def test_a_recording_that_does_not_fit_is_none(fields: dict[str, Any], lesson: Lesson) -> None:
    assert load(lesson, **fields) == {}
