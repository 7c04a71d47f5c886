"""Small lessons and exercises for tests."""

from __future__ import annotations

from typing import Any

from attn_tutor.lessons.format.lesson import Course, ExerciseStep, Lesson

Fields = dict[str, Any]

DOUBLED = "def double(x):\n    return 2 * x\n"
"""The right answer to `doubling_exercise()`."""

SQUARED = "def double(x):\n    return x * x\n"
"""The wrong answer to `doubling_exercise()` that its known mistake gives."""

ATTENTION = """\
import torch


def attention(queries, keys, values):
    scores = queries @ keys.T
    weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
    context = weights @ values
    return weights, context
"""
"""The right answer to `attention_exercise()`."""


def lesson_of(*steps: Fields, **fields: Any) -> Lesson:
    """Build a lesson with these steps."""
    defaults = {"id": "made", "number": 1, "folder": "", "title": "Made", "goal": "To be tested."}
    return Lesson.model_validate(defaults | fields | {"steps": steps})


def code_step(step_id: str, code: str, *show: str | Fields, prose: str = "Look.", **fields: Any) -> Fields:
    """Build a step that runs code and shows the tensors of these names."""
    shown = [{"name": item, "kind": "vector"} if isinstance(item, str) else item for item in show]
    return {"kind": "run", "id": step_id, "title": "A step", "prose": prose, "code": code, "show": shown} | fields


def text_step(step_id: str, prose: str) -> Fields:
    """Build a step to read."""
    return {"kind": "read", "id": step_id, "title": "A text", "prose": prose}


def doubling_exercise(**limits: float) -> ExerciseStep:
    """Build the smallest exercise: double a tensor. `limits` apply to the learner's program."""
    return ExerciseStep.model_validate(
        {
            "kind": "exercise",
            "id": "doubling",
            "exercise": "doubling",
            "title": "Twice as much",
            "prose": "Write `double(x)`.",
            "defines": ["double"],
            "starter": "def double(x):\n    return x\n",
            "solution": DOUBLED,
            "hints": ["Multiply.", "By how much?", "By two."],
            "why": "It is twice as much.",
            "attempt": "doubled = double(torch.ones(2, 3))",
            "mistakes": [{"id": "squared", "name": "squared", "why": "A square.", "code": SQUARED}],
            "context": "context = {'x': torch.randn(*pick(2, 2, 6))}",
            "probe": "got = {'out': double(context.x)}",
            "checks": [
                {
                    "name": "twice",
                    "test": "close(got.out, want.out)",
                    "fail": "The sum is {got.out.sum():.2f}, not {want.out.sum():.2f}.",
                }
            ],
            "limits": {"memory": 256} | limits,
        }
    )


def attention_exercise(**fields: Any) -> ExerciseStep:
    """Build an exercise whose answers compute intermediates: scores, weights, context."""
    columns = "Your columns sum to {columns(got.weights)}, your rows to {rows(got.weights)}."
    mistakes = [
        {
            "id": "columns",
            "name": "softmax over the columns",
            "seen": columns,
            "why": "Each row shares out one unit.",
            "edits": [{"find": "dim=-1", "replace": "dim=0"}],
        },
        {
            "id": "no-scale",
            "name": "scores not scaled",
            "why": "Divide them.",
            "edits": [{"find": " / keys.shape[-1] ** 0.5", "replace": ""}],
        },
        {
            "id": "no-transpose",
            "name": "keys not transposed",
            "why": "Rows meet rows.",
            "edits": [{"find": "keys.T", "replace": "keys"}],
        },
    ]
    defaults = {
        "kind": "exercise",
        "id": "attending",
        "exercise": "attending",
        "title": "Attend",
        "prose": "Write `attention(queries, keys, values)`.",
        "defines": ["attention"],
        "starter": "import torch\n\n\ndef attention(queries, keys, values):\n    return None\n",
        "solution": ATTENTION,
        "hints": ["Scores first.", "Then weights.", "Then the context."],
        "why": "Every row is an average.",
        "context": "n, d, e = pick(3, 4, 9)\ncontext = {'q': torch.randn(n, d), 'k': torch.randn(n, d), "
        "'v': torch.randn(n, e)}",
        "probe": "weights, context_ = attention(context.q, context.k, context.v)\n"
        "got = {'weights': weights, 'context': context_}",
        "checks": [
            {
                "name": "weights",
                "test": "close(got.weights, want.weights)",
                "fail": "The first weights are {numbers(got.weights[0])}.",
            },
            {"name": "context", "test": "close(got.context, want.context)", "fail": "It differs."},
        ],
        "mistakes": mistakes,
        "accepted": [
            {
                "name": "queries scaled",
                "code": ATTENTION.replace("queries @ keys.T", "(queries / keys.shape[-1] ** 0.5) @ keys.T").replace(
                    "scores / keys.shape[-1] ** 0.5", "scores"
                ),
            }
        ],
    }
    return ExerciseStep.model_validate(defaults | fields)


def code_exercise(course: Course, name: str) -> tuple[Lesson, ExerciseStep]:
    """Return an exercise of a course whose answer is code, with its lesson."""
    lesson, exercise = course.exercise(name)
    assert isinstance(exercise, ExerciseStep)
    return lesson, exercise
