"""The shapes of the tensors that the lines of a step took and made."""

from __future__ import annotations

import json

import pytest

from attn_tutor.lessons.authoring import recordings
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.results import line_shapes
from attn_tutor.lessons.results.line_shapes import LineShapes, Shape
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.tui.commands import documents
from tests.lessons.course_runs import CourseRuns
from tests.lessons.lesson_builders import code_step, lesson_of

SETUP = """
import torch
from torch import nn
x = torch.ones(6, 3)
y = torch.ones(2, 6, 3)
w = nn.Linear(3, 2, bias=False)
"""


def format_line(line: LineShapes) -> str:
    """Format a line: `x (6,3) @ x.T (3,6) -> s (6,6)`."""

    def shape(item: Shape) -> str:
        return f"{item.name} ({','.join(map(str, item.sizes))})".strip()

    joints = ("", *(" @ " if joint == "@" else ", " for joint in line.joints))
    took = "".join(joint + shape(item) for joint, item in zip(joints, line.took, strict=bool(line.took)))
    return f"{took} -> {', '.join(map(shape, line.made))}".strip()


def lines(worker: Session, code: str) -> dict[int, str]:
    """Run code and return its formatted lines by number."""
    run = worker.run(lesson_of(code_step("only", code), setup=SETUP))
    run.close()
    (result,) = run.steps
    assert result.error is None
    return {line.line: format_line(line) for line in result.shapes}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("s = x @ x.T", "x (6,3) @ x.T (3,6) -> s (6,6)"),
        ("s = x @ x.T / x.shape[-1] ** 0.5", "x (6,3) @ x.T (3,6) -> s (6,6)"),
        ("s = x @ x.T @ x", "x (6,3) @ x.T (3,6) @ x (6,3) -> s (6,3)"),
        ("s = y @ y.transpose(1, 2)", "y (2,6,3) @ y.transpose(1, 2) (2,3,6) -> s (2,6,6)"),
        ("s = torch.softmax(x @ x.T, dim=-1) @ x", "(6,6) @ x (6,3) -> s (6,3)"),
        ("s = w(x) @ w(x).T", "(6,2) @ (2,6) -> s (6,6)"),
        ("s = w(x)", "x (6,3) -> s (6,2)"),
        ("q = x[1]", "x (6,3) -> q (3)"),
        ("y.squeeze_(0)", "y (2,6,3) -> y (2,6,3)"),
        ("y.transpose_(0, 2)", "y (2,6,3) -> y (3,6,2)"),
        ("y.unsqueeze_(0)", "y (2,6,3) -> y (1,2,6,3)"),
        ("q = x[1] * x[2]", "x[1] (3), x[2] (3) -> q (3)"),
        ("q = w.weight.T", "w.weight (2,3) -> q (3,2)"),
        ("q = x.view(3, 2, 3).transpose(0, 1)", "x (6,3) -> q (2,3,3)"),
        ("q = torch.stack((x, x))", "x (6,3), x (6,3) -> q (2,6,3)"),
        ("q, r = x[0], y", "x (6,3), y (2,6,3) -> q (3), r (2,6,3)"),
        ("q: torch.Tensor = x + 1", "x (6,3) -> q (6,3)"),
        ("x = x @ torch.ones(3, 4)", "x (6,3) @ (3,4) -> x (6,4)"),
        ("x += 1", "x (6,3) -> x (6,3)"),
        ("x[0, 1] = x[1, 1]", "x (6,3) -> x[0, 1] ()"),
        ("x.zero_()", "x (6,3) -> x (6,3)"),
        ("q = nn.Dropout(0.5).eval()(x)", "x (6,3) -> q (6,3)"),
        ("same = torch.equal(x, x)", "x (6,3), x (6,3) ->"),
        ("total = x.sum().item()", "x (6,3) ->"),
        ("q = torch.zeros(len(x), x.shape[1])", "-> q (6,3)"),
        ("q = [row * 2 for row in x[:2]]", "x[:2] (2,3) -> (3), (3)"),
        ("q = [x * 2 for x in (1, 2)]", None),
        ("n = len(x)", None),
        ("b, n, _ = y.shape", None),
        ("n = x.size(0) + x.dim()", None),
        ("print(x)", None),
        ("print(f'{x}')", None),
        ("nobody = x is None", None),
        ("f = lambda: x + 1", None),
        ("def f():\n    return x + 1", None),
        ("n = 2 + 2", None),
    ],
)
def test_shapes_of_a_line(worker: Session, code: str, expected: str | None) -> None:
    assert lines(worker, code).get(1) == expected


def test_a_statement_counts_for_its_first_line(worker: Session) -> None:
    assert lines(worker, "n = 1\ns = torch.cat(\n    (x,\n     x))") == {2: "x (6,3), x (6,3) -> s (12,3)"}


def test_a_loop_and_the_lines_in_it(worker: Session) -> None:
    code = "s = torch.zeros(6, 6)\nfor i, q in enumerate(x):\n    for j, k in enumerate(x):\n        s[i, j] = q @ k"
    assert lines(worker, code) == {
        1: "-> s (6,6)",
        2: "x (6,3) -> q (3)",
        3: "x (6,3) -> k (3)",
        4: "q (3) @ k (3) -> s[i, j] ()",
    }


def test_a_loop_shows_its_last_round(worker: Session) -> None:
    assert lines(worker, "for n in (2, 4):\n    s = torch.ones(n, 3)\n    t = s @ s.T") == {
        2: "-> s (4,3)",
        3: "s (4,3) @ s.T (3,4) -> t (4,4)",
    }


def test_other_compound_statements(worker: Session) -> None:
    code = "with torch.no_grad():\n    a = w(x)\nif True:\n    b = a.T\n"
    code += "try:\n    c = a @ a\nexcept RuntimeError:\n    c = 2 * a"
    assert lines(worker, code) == {2: "x (6,3) -> a (6,2)", 4: "a (6,2) -> b (2,6)", 8: "a (6,2) -> c (6,2)"}


def test_a_function_of_the_lesson(worker: Session) -> None:
    code = "def f(a):\n    b = a.T\n    return a @ b\ns = f(x)\nt = f(x) @ x"
    assert lines(worker, code) == {4: "x (6,3) -> s (6,6)", 5: "x (6,3) @ x (6,3) -> t (6,3)"}


def test_lines_before_a_failure_have_shapes(worker: Session) -> None:
    run = worker.run(lesson_of(code_step("only", "a = x.T\nb = a @ a\nc = a"), setup=SETUP))
    run.close()
    assert run.steps[0].error is not None
    assert [format_line(line) for line in run.steps[0].shapes] == ["x (6,3) -> a (3,6)"]


def test_a_setup_that_fails_has_no_lines(worker: Session) -> None:
    run = worker.run(lesson_of(code_step("only", "b = 1"), setup="import torch\na = torch.ones(2)\na @ 3"))
    run.close()
    assert run.steps[0].shapes == ()


@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_a_nested_tensor_has_no_sizes(worker: Session, layout: str) -> None:
    step = code_step("only", f"ragged = torch.nested.nested_tensor([x, x[:4]], layout=torch.{layout})\nz = x @ x.T")
    run = worker.run(lesson_of(step, setup=SETUP, limits={"cpu": 60, "wall": 300}))
    run.close()
    (result,) = run.steps
    assert result.error is None
    assert [format_line(line) for line in result.shapes if line.line == 2] == ["x (6,3) @ x.T (3,6) -> z (6,6)"]


def test_a_branch_that_was_not_taken_has_no_shapes(worker: Session) -> None:
    code = "a = x\nif len(x) > 9:\n    a = x @ x.T\nelse:\n    b = x + 1"
    assert lines(worker, code) == {1: "x (6,3) -> a (6,3)", 5: "x (6,3) -> b (6,3)"}


# The course ----------------------------------------------------------------------------------------------------------


def run_step(worker: Session, lesson: Lesson, step: str) -> StepResult:
    run = worker.run(lesson, step)
    run.close()
    result = run.result(step)
    assert result is not None
    return result


def test_shapes_of_all_scores(worker: Session, course: Course) -> None:
    first, _ = run_step(worker, course.lesson("all-queries"), "product").shapes
    assert first == LineShapes(
        1,
        (Shape("inputs", (6, 3), ("token", "dim")), Shape("inputs.T", (3, 6), ("dim", "token"))),
        ("@",),
        (Shape("scores", (6, 6), ("query", "key")),),
    )


def test_shapes_of_split_heads(worker: Session, course: Course) -> None:
    lesson = course.lesson("weight-split")
    cut, split = (run_step(worker, lesson, step).shapes[-1] for step in ("cut", "split"))
    assert [cut.took, cut.made, split.took, split.made] == [
        (Shape("queries", (2, 6, 4), ("batch", "token", "dim")),),
        (Shape("cut", (2, 6, 2, 2), ("batch", "token", "head", "head_dim")),),
        (Shape("cut", (2, 6, 2, 2), ("batch", "token", "head", "head_dim")),),
        (Shape("split", (2, 2, 6, 2), ("batch", "head", "token", "head_dim")),),
    ]
    [scores] = [
        line for line in run_step(worker, lesson, "attend").shapes if [made.name for made in line.made] == ["scores"]
    ]
    assert scores.took[1] == Shape("split.transpose(2, 3)", (2, 2, 2, 6), ("batch", "head", "head_dim", "token"))
    assert scores.made == (Shape("scores", (2, 2, 6, 6), ("batch", "head", "query", "key")),)


def test_every_declared_variable_is_in_the_course(results: CourseRuns, course: Course) -> None:
    """Otherwise nobody would notice an axis declaration for a name that no line has any more."""
    for lesson in course.lessons:
        every = [
            item for step in results[lesson.id].values() for line in step.shapes for item in (*line.took, *line.made)
        ]
        named = {(item.name.partition("[")[0], len(item.sizes)) for item in every}
        for name, axes in lesson.axes.items():
            assert (name, len(axes)) in named, f"{lesson.id}: {name}"


def test_priority_of_axis_names() -> None:
    shown = [
        {"name": "a", "kind": "weight", "axes": axes} for axes in (["query", "key"], ["token", "dim"], ["dim", "dim"])
    ]
    steps = [code_step(f"s{place}", "a = 1", item) for place, item in enumerate(shown)]
    steps.insert(1, code_step("between", "a = 1"))
    lesson = lesson_of(*steps)
    assert axis_labels.axes_of(lesson, "s0", "a", 2) == ("query", "key")
    assert axis_labels.axes_of(lesson, "between", "a", 2) == ("query", "key")
    assert axis_labels.axes_of(lesson, "s2", "a", 2) == ("dim", "dim")
    assert axis_labels.axes_of(lesson, "s2", "a", 3) == ()
    assert axis_labels.axes_of(lesson, "s2", "b", 2) == ()
    format_line = lesson_of(*steps, axes={"a": ["batch", "head"]})
    assert axis_labels.axes_of(format_line, "s0", "a", 2) == ("query", "key")
    assert axis_labels.axes_of(format_line, "between", "a", 2) == ("batch", "head")
    last = lesson_of(*steps[1:])
    assert axis_labels.axes_of(last, "between", "a", 2) == ("token", "dim")


# As JSON -------------------------------------------------------------------------------------------------------------

LINE = LineShapes(3, (Shape("x", (2, 3), ("", "dim")), Shape("", (3,), ("",))), ("@",), (Shape("y", (2,), ("token",)),))


def test_json_round_trip() -> None:
    assert line_shapes.of_json(json.loads(json.dumps(line_shapes.to_json((LINE,))))) == (LINE,)


def test_shapes_in_a_document(course: Course) -> None:
    spec = course.lesson("all-queries").step("product")
    made = documents.step(spec, StepResult("product", shapes=(LINE,)))
    assert made["shapes"] == [
        {
            "line": 3,
            "took": [{"name": "x", "shape": [2, 3], "axes": ["", "dim"]}, {"name": "", "shape": [3], "axes": [""]}],
            "joints": ["@"],
            "made": [{"name": "y", "shape": [2], "axes": ["token"]}],
        }
    ]


def test_shapes_are_recorded(worker: Session, course: Course, tmp_path_factory: pytest.TempPathFactory) -> None:
    lesson = course.lesson("all-queries").model_copy(update={"folder": str(tmp_path_factory.mktemp("lesson"))})
    run = worker.run(lesson)
    run.close()
    recordings.save(lesson, run.steps)
    assert {name: item.shapes for name, item in recorded_outputs.load(lesson).items()} == {
        s.id: s.shapes for s in run.steps
    }
