"""An experiment for tests: two numbers, one of which is to fall below the other."""

from __future__ import annotations

from typing import Any

from attn_tutor.lessons.format.lesson import ExperimentStep, Lesson
from tests.lessons.lesson_builders import code_step, lesson_of

STEP: dict[str, Any] = {
    "id": "swap",
    "kind": "experiment",
    "exercise": "swap",
    "title": "Swap",
    "prose": "The first is {pair[0]:.0f}. Make it smaller than the second.",
    "show": [{"name": "pair", "kind": "vector"}, {"name": "total", "kind": "vector", "expr": "total"}],
    "ways": [
        {
            "id": "by-source",
            "name": "the source changed",
            "right": True,
            "changed": ["source"],
            "if": "pair[0] < pair[1]",
            "why": "Now it is {pair[0]:.0f}, and the total {total:.0f}.",
            "proof": ["source[0] = 0", "source[0] = 1; source[1] = 5"],
        },
        {
            "id": "by-hand",
            "name": "the result overwritten",
            "changed": ["pair"],
            "if": "pair[0] < pair[1]",
            "why": "You wrote the result.",
            "proof": ["pair[0] = 0"],
        },
        {"id": "broken", "name": "never", "if": "missing > 1", "why": "{missing}", "proof": ["source[0] = 9"]},
    ],
    "otherwise": "It is still {pair[0]:.0f}.",
    "hints": ["Ask.", "Point.", "Show."],
    "why": "Sources decide.",
}


def experiment_lesson(**fields: Any) -> Lesson:
    """Build a lesson with the experiment as its last step; fields replace some of its own."""
    code = "import torch\nsource = torch.tensor([3.0, 2.0])\npair = source * 10\ntotal = pair.sum()\n"
    return lesson_of(code_step("make", code, "pair"), STEP | fields)


def experiment(lesson: Lesson) -> ExperimentStep:
    """Return the experiment of the lesson."""
    step = lesson.step("swap")
    assert isinstance(step, ExperimentStep)
    return step
