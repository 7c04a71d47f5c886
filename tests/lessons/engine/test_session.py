"""Running a lesson: results of steps, questions to the child that remains, and programs that fail."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.launching.launchers import ForkServerLauncher
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, Lesson, Limits
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.line_shapes import LineShapes, Shape
from attn_tutor.lessons.results.result import Failure, StepResult, Tensor, Window
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion
from tests.lessons import run_questions
from tests.lessons.lesson_builders import code_step, lesson_of, text_step
from tests.lessons.processes import PATIENCE, at_work, fork_server_pid, wait_for_end, wait_until, with_enough_time

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def check_no_process_is_left(worker: Session) -> Iterator[None]:
    """Check that no test leaves a process behind."""
    before = set(at_work(worker))
    yield
    assert set(at_work(worker)) <= before


def run_steps(worker: Session, lesson: Lesson, upto: str | None = None) -> list[StepResult]:
    """Run a lesson and return the results of its steps."""
    run = worker.run(lesson, upto)
    run.close()
    return run.steps


def run_code(worker: Session, code: str, *show: str, prose: str = "Look.", setup: str = "import torch") -> StepResult:
    """Run one step of code and return its result."""
    (only,) = run_steps(worker, lesson_of(code_step("only", code, *show, prose=prose), setup=setup))
    return only


def run_expression(worker: Session, expression: str) -> Tensor:
    """Return the value of an expression as a tensor that a step shows."""
    outcome = run_code(worker, f"x = {expression}", "x")
    assert outcome.error is None
    return outcome.tensors[0]


# The result of a step ------------------------------------------------------------------------------------------------


def test_result_of_a_step(worker: Session) -> None:
    shown = {"name": "weights", "kind": "weight", "axes": ["query", "key"]}
    lesson = lesson_of(
        code_step(
            "softmax",
            "weights = torch.softmax(torch.tensor([[0.0, 0.0], [0.0, -torch.inf]]), dim=-1)\nprint('done')",
            shown,
            prose="Row 0 holds `{weights[0, 0]:.2f}`, {list(weights.shape)!r}.",
        ),
        setup="import torch",
        tokens=["Your", "journey"],
    )
    (outcome,) = run_steps(worker, lesson)
    assert outcome.seconds > 0
    assert outcome == StepResult(
        id="softmax",
        stdout="done\n",
        error=None,
        tensors=(
            Tensor(
                name="weights",
                kind="weight",
                dtype="float32",
                shape=(2, 2),
                axes=("query", "key"),
                labels=(("Your", "journey"), ("Your", "journey")),
                low=0.0,
                high=1.0,
                values=(0.5, 0.5, 1.0, 0.0),
            ),
        ),
        text={"weights[0, 0]:.2f": "0.50", "list(weights.shape)!r": "[2, 2]"},
        seconds=outcome.seconds,
        shapes=(LineShapes(1, made=(Shape("weights", (2, 2), ("query", "key")),)),),
    )


def test_steps_share_a_namespace(worker: Session) -> None:
    lesson = lesson_of(
        code_step("one", "x = base + 1"),
        text_step("between", "So far it is {x}."),
        code_step("two", "x = x * 2", prose="Now it is {x}."),
        setup="base = 1",
    )
    one, between, two = run_steps(worker, lesson)
    assert (one.text, between.text, two.text) == ({}, {"x": "2"}, {"x": "4"})


def test_run_up_to_a_step(worker: Session) -> None:
    lesson = lesson_of(code_step("one", "x = 1"), code_step("two", "x = 2"), code_step("three", "x = 3"))
    run = worker.run(lesson, "two")
    try:
        assert [step.id for step in run.steps] == ["one", "two"]
        assert run.result("two") is run.steps[1]
        assert run.result("three") is None
    finally:
        run.close()
    with pytest.raises(KeyError):
        worker.run(lesson, "four")


def test_exercises_are_not_run(worker: Session, course: Course) -> None:
    lesson, exercise = course.exercise("3.2")
    ids = [step.id for step in run_steps(worker, lesson, exercise.id)]
    before = lesson.steps[: lesson.index(exercise.id)]
    assert ids == [step.id for step in before if step.kind != "exercise"]


@pytest.mark.parametrize(
    ("expression", "dtype", "shape", "values"),
    [
        ("torch.tensor([1.5, -2.0])", "float32", (2,), (1.5, -2.0)),
        ("torch.tensor([0.1], dtype=torch.float64)", "float64", (1,), (0.1,)),
        ("torch.tensor([0.5], dtype=torch.float16)", "float16", (1,), (0.5,)),
        ("torch.tensor([0.5], dtype=torch.bfloat16)", "bfloat16", (1,), (0.5,)),
        ("torch.tensor([2**62, -1])", "int64", (2,), (2**62, -1)),
        ("torch.tensor([3], dtype=torch.int8)", "int8", (1,), (3,)),
        ("torch.tensor([255], dtype=torch.uint8)", "uint8", (1,), (255,)),
        ("torch.tensor([True, False])", "bool", (2,), (1, 0)),
        ("torch.tensor(2.0)", "float32", (), (2.0,)),
        ("torch.arange(4.0).reshape(2, 2).T", "float32", (2, 2), (0.0, 2.0, 1.0, 3.0)),
        ("torch.ones(1).expand(2, 2)", "float32", (2, 2), (1.0,) * 4),
        ("torch.empty(0, 3)", "float32", (0, 3), ()),
        ("torch.nn.Parameter(torch.ones(1))", "float32", (1,), (1.0,)),
        ("7", "int64", (), (7,)),
        ("True", "bool", (), (1,)),
        ("0.5", "float32", (), (0.5,)),
        ("[1, 2]", "int64", (2,), (1, 2)),
        ("((1.0, 2.0), (3.0, 4.0))", "float32", (2, 2), (1.0, 2.0, 3.0, 4.0)),
    ],
)
def test_values_that_are_shown(
    worker: Session, expression: str, dtype: str, shape: tuple[int, ...], values: tuple[float, ...]
) -> None:
    shown = run_expression(worker, expression)
    assert (shown.dtype, shown.shape, shown.values, shown.window) == (dtype, shape, values, None)
    assert shown.axes == ("index",) * len(shape)


def test_bounds_ignore_values_that_are_not_finite(worker: Session) -> None:
    shown = run_expression(worker, "torch.tensor([3.0, torch.nan, -torch.inf, -1.0, torch.inf])")
    assert (shown.low, shown.high) == (-1.0, 3.0)
    assert shown.values is not None
    assert [str(value) for value in shown.values] == ["3.0", "nan", "-inf", "-1.0", "inf"]


@pytest.mark.parametrize(
    "expression", ["torch.full((2, 2), -torch.inf)", "torch.tensor([torch.nan])", "torch.empty(0)"]
)
def test_no_bounds_without_finite_values(worker: Session, expression: str) -> None:
    shown = run_expression(worker, expression)
    assert (shown.low, shown.high) == (None, None)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("'text'", "x cannot be shown: TypeError: it is a str, not a tensor"),
        ("None", "x cannot be shown: TypeError: it is a NoneType, not a tensor"),
        ("[[1], [2, 3]]", "x cannot be shown: ValueError: expected sequence of length 1 at dim 1 (got 2)"),
        ("torch.zeros(2, device='meta')", "x cannot be shown: TypeError: it is on the meta device, and no plain"),
        ("torch.nested.nested_tensor([torch.zeros(2)])", "x cannot be shown: TypeError: it is nested, and no plain"),
        ("torch.zeros(2).to_mkldnn()", "x cannot be shown: TypeError: it is in a layout of its own, and no plain"),
        ("torch.zeros(2, dtype=torch.complex64).conj()", "x cannot be shown: TypeError: its numbers are complex"),
        ("torch.zeros(2, 2).to_sparse()", "x cannot be shown: TypeError: it is sparse, and no plain table of numbers"),
    ],
)
def test_failure_to_show_a_value(worker: Session, expression: str, message: str) -> None:
    outcome = run_code(worker, f"x = {expression}", "x")
    assert outcome.error is not None
    assert outcome.error.kind == "error"
    assert outcome.error.message.startswith(message)
    assert outcome.tensors == ()


def test_a_complex_tensor_is_shown_and_explained_in_parts(worker: Session) -> None:
    shown = {"name": "x", "kind": "vector"}
    lesson = lesson_of(code_step("one", "import torch\nx = torch.tensor([3 + 4j, 5j]) * 2", shown))
    with closing(worker.run(lesson)) as run:
        (x,) = run.steps[0].tensors
        assert (x.shape, x.values) == ((2, 2), (6.0, 8.0, 0.0, 10.0))
        explanation = run.ask(ExplainQuestion("x", (0, 1), CodeUnit.step("one")))
    assert isinstance(explanation, Explanation)
    assert (explanation.name, explanation.index, explanation.value) == ("x.imag", (0,), 8.0)


def test_labels_of_axes(worker: Session) -> None:
    shown = {
        "name": "x",
        "kind": "vector",
        "axes": ["batch", "head", "token", "head_dim"],
        "labels": {"head": ["first", "second"]},
    }
    lesson = lesson_of(
        code_step("one", "import torch\nx = torch.zeros(1, 2, 3, 2)", shown), tokens=["a", "b", "c", "d"]
    )
    (x,) = run_steps(worker, lesson)[0].tensors
    assert x.labels == (("text 0",), ("first", "second"), ("a", "b", "c"), ("d0", "d1"))
    assert (x.row_labels, x.col_labels) == (("a", "b", "c"), ("d0", "d1"))


@pytest.mark.parametrize(
    ("heads", "labels"),
    [
        (2, ("h0 d0", "h0 d1", "h1 d0", "h1 d1")),
        (4, ("h0 d0", "h1 d0", "h2 d0", "h3 d0")),
        (3, ("d0", "d1", "d2", "d3")),
        (0, ("d0", "d1", "d2", "d3")),
    ],
)
def test_labels_of_joined_heads(worker: Session, heads: int, labels: tuple[str, ...]) -> None:
    """The run says how many heads there are; numbers that do not divide the features leave the usual labels."""
    shown = {"name": "x", "kind": "vector", "axes": ["token", "dim"], "heads": "heads"}
    lesson = lesson_of(code_step("only", f"heads = {heads}\nx = torch.zeros(3, 4)", shown), setup="import torch")
    (x,) = run_steps(worker, lesson)[0].tensors
    assert x.col_labels == labels


def test_too_few_labels_are_replaced_by_numbers(worker: Session) -> None:
    shown = {"name": "x", "kind": "vector", "axes": ["token", "index"], "labels": {"index": ["one"]}}
    lesson = lesson_of(code_step("one", "import torch\nx = torch.zeros(3, 2)", shown), tokens=["a", "b"])
    (x,) = run_steps(worker, lesson)[0].tensors
    assert x.labels == (("0", "1", "2"), ("0", "1"))


def test_axes_that_do_not_fit_are_ignored(worker: Session) -> None:
    shown = {"name": "x", "kind": "vector", "axes": ["token"]}
    (x,) = run_steps(worker, lesson_of(code_step("one", "import torch\nx = torch.zeros(1, 2)", shown)))[0].tensors
    assert x.axes == ("index", "index")


# Windows of large tensors --------------------------------------------------------------------------------------------

LARGE = "x = torch.arange(2 * 3 * 100 * 300).reshape(2, 3, 100, 300)"


def value_at(lead: tuple[int, int], row: int, col: int) -> int:
    """Compute the value of a cell of the large tensor."""
    return ((lead[0] * 3 + lead[1]) * 100 + row) * 300 + col


@pytest.fixture(scope="class")
def large(worker: Session) -> Iterator[Run]:
    run = worker.run(lesson_of(code_step("one", LARGE, "x"), setup="import torch"))
    yield run
    run.close()


class TestWindows:
    """Tests that share one run, whose child stays alive."""

    def test_corner_comes_with_the_result(self, large: Run) -> None:
        (x,) = large.steps[0].tensors
        assert x.values is None
        assert (x.shape, x.low, x.high) == ((2, 3, 100, 300), 0, 179_999)
        assert x.window is not None
        assert (x.window.lead, x.window.top, x.window.left) == ((0, 0), 0, 0)
        assert [list(row) for row in x.window.rows] == [[value_at((0, 0), r, c) for c in range(32)] for r in range(32)]
        assert x.row((0, 0), 5, 2, 4) == (value_at((0, 0), 5, 2), value_at((0, 0), 5, 3))
        assert x.row((0, 0), 32, 0, 1) is None
        assert x.row((0, 0), 5, 31, 33) is None
        assert x.row((1, 0), 5, 2, 4) is None

    @pytest.mark.parametrize(
        ("lead", "top", "left", "height", "width", "rows", "cols"),
        [
            ((0, 0), 0, 0, 2, 3, 2, 3),
            ((1, 2), 50, 100, 4, 5, 4, 5),
            ((1, 2), 99, 299, 1, 1, 1, 1),
            ((0, 1), 98, 298, 10, 10, 2, 2),
            ((0, 1), 100, 0, 10, 10, 0, 10),
            ((0, 1), 0, 300, 10, 10, 10, 0),
            ((0, 1), 0, 0, 0, 0, 0, 0),
            ((1, 0), 0, 0, 1000, 1000, 100, 256),
        ],
    )
    def test_window(
        self, large: Run, lead: tuple[int, int], top: int, left: int, height: int, width: int, rows: int, cols: int
    ) -> None:
        window = run_questions.window(large, "one", "x", lead, top, left, height, width)
        expected = tuple(tuple(value_at(lead, top + r, left + c) for c in range(cols)) for r in range(rows))
        assert window == Window(lead, top, left, expected)

    @pytest.mark.parametrize(
        ("step", "name", "lead"),
        [("one", "y", (0, 0)), ("two", "x", (0, 0)), ("one", "x", ()), ("one", "x", (0,)), ("one", "x", (0, 0, 0))],
    )
    def test_question_without_an_answer_is_refused(
        self, large: Run, step: str, name: str, lead: tuple[int, ...]
    ) -> None:
        assert run_questions.window(large, step, name, lead, 0, 0, 1, 1) is None
        assert run_questions.window(large, "one", "x", (0, 0), 0, 0, 1, 1) == Window((0, 0), 0, 0, ((0,),))


@pytest.mark.parametrize(
    ("code", "lead", "expected"),
    [
        ("x = torch.arange(5000.0)", (), Window((), 0, 4998, ((4998.0, 4999.0),))),
        ("x = torch.arange(5000.0)[None]", (), Window((), 0, 4998, ((4998.0, 4999.0),))),
        ("x = torch.arange(5000) % 2 == 0", (), Window((), 0, 4998, ((1, 0),))),
        ("x = torch.arange(5000.0, dtype=torch.float64) / 10", (), Window((), 0, 4998, ((499.8, 499.9),))),
        ("x = torch.full((1, 1, 5000), -torch.inf)", (0,), Window((0,), 0, 4998, ((-math.inf, -math.inf),))),
    ],
)
def test_end_of_a_long_row(worker: Session, code: str, lead: tuple[int, ...], expected: Window) -> None:
    run = worker.run(lesson_of(code_step("one", code, "x"), setup="import torch"))
    try:
        assert run_questions.window(run, "one", "x", lead, 0, 4998, 5, 5) == expected
    finally:
        run.close()


def test_window_shows_the_present_contents_of_a_tensor(worker: Session) -> None:
    """A later step may write to a tensor; a window shows the tensor, not a copy."""
    steps = (code_step("one", "x = torch.zeros(5000)", "x"), code_step("two", "x.add_(1)", "x"))
    run = worker.run(lesson_of(*steps, setup="import torch"))
    try:
        assert run_questions.window(run, "two", "x", (), 0, 0, 1, 1) == Window((), 0, 0, ((1.0,),))
        first = run.steps[0].tensors[0].window
        assert first is not None
        assert first.rows[0][0] == 0.0
    finally:
        run.close()


def test_closed_run_has_no_window(worker: Session) -> None:
    run = worker.run(lesson_of(code_step("one", "x = 1", "x")))
    run.close()
    run.close()
    assert run_questions.window(run, "one", "x", (), 0, 0, 1, 1) is None
    assert run.steps[0].tensors[0].values == (1,)


def test_no_window_from_a_child_that_was_killed(worker: Session) -> None:
    run = worker.run(lesson_of(code_step("one", "x = 1", "x")))
    (child,) = at_work(worker)
    os.kill(child, signal.SIGKILL)
    wait_for_end(child)
    assert run_questions.window(run, "one", "x", (), 0, 0, 1, 1) is None
    assert run_questions.window(run, "one", "x", (), 0, 0, 1, 1) is None


def test_two_runs_answer_side_by_side(worker: Session) -> None:
    runs = [worker.run(lesson_of(code_step("one", f"x = {number}", "x"))) for number in (1, 2)]
    try:
        for number, run in enumerate(runs, 1):
            assert run_questions.window(run, "one", "x", (), 0, 0, 1, 1) == Window((), 0, 0, ((number,),))
    finally:
        for run in runs:
            run.close()


# Replay --------------------------------------------------------------------------------------------------------------

DRAWS = "import random\nimport torch\nx = torch.cat([torch.rand(3), torch.randn(3), torch.tensor([random.random()])])"


def test_two_runs_give_equal_results(worker: Session) -> None:
    lesson = lesson_of(*(code_step(f"step-{n}", DRAWS, "x", prose="{x.sum()}") for n in range(3)), seed=5)
    first, second = ([(step.tensors, step.text, step.stdout) for step in run_steps(worker, lesson)] for _ in range(2))
    assert first == second


def test_each_step_is_seeded(worker: Session) -> None:
    lesson = lesson_of(
        code_step("one", DRAWS, "x"),
        code_step("two", "torch.rand(1000)\nrandom.random()"),
        code_step("three", DRAWS, "x"),
        code_step("four", DRAWS, "x", seed=9),
        seed=5,
    )
    one, _, three, four = run_steps(worker, lesson)
    assert one.tensors[0].values == three.tensors[0].values
    assert one.tensors[0].values != four.tensors[0].values
    other = lesson_of(code_step("one", DRAWS, "x"), seed=9)
    assert run_steps(worker, other)[0].tensors[0].values == four.tensors[0].values


def test_step_gives_the_same_in_a_partial_and_a_whole_run(worker: Session) -> None:
    lesson = lesson_of(*(code_step(f"step-{n}", DRAWS, "x") for n in range(3)))
    assert run_steps(worker, lesson, "step-1")[1].tensors == run_steps(worker, lesson)[1].tensors


def test_variables_of_another_run_do_not_exist(worker: Session) -> None:
    run_code(worker, "import torch, os\ntorch.left = os.environ['LEFT'] = 'here'\nopen('left', 'w').close()")
    outcome = run_code(worker, "import os\nprint(hasattr(torch, 'left'), 'LEFT' in os.environ, os.path.exists('left'))")
    assert outcome.stdout == "False False False\n"


# Output --------------------------------------------------------------------------------------------------------------


def test_output_of_each_step(worker: Session) -> None:
    lesson = lesson_of(
        code_step("one", "print('one')"),
        text_step("between", "Nothing."),
        code_step("two", "import os\nos.write(1, b'two\\n')\nprint('and more', end='')"),
        code_step("three", "import subprocess\nsubprocess.run(['echo', 'three'])"),
        code_step("four", "import sys\nprint('unseen', file=sys.stderr)"),
        code_step("five", "print('fi', end='', flush=True)\nos.system('echo ve')"),
        setup="print('setup')",
    )
    assert [step.stdout for step in run_steps(worker, lesson)] == [
        "one\n",
        "",
        "two\nand more",
        "three\n",
        "",
        "five\n",
    ]


def test_output_that_is_not_utf8(worker: Session) -> None:
    outcome = run_code(worker, "import os\nos.write(1, b'\\xff\\x00\\x1b[2J')\nprint('\\udcff')")
    assert outcome.stdout == "\ufffd\x00\x1b[2J\\udcff\n"


def test_long_output_is_cut(worker: Session) -> None:
    outcome = run_code(worker, "print('x' * 100_000)")
    assert outcome.error is None
    assert outcome.stdout == "x" * 65_536 + "\n… (more was printed than is shown)\n"


def test_program_that_closes_its_output(worker: Session) -> None:
    steps = ("import sys\nprint('one')\nsys.stdout.close()", "import os\nos.write(1, b'two')")
    lesson = lesson_of(*(code_step(f"step-{n}", code) for n, code in enumerate(steps)))
    assert [(step.stdout, step.error) for step in run_steps(worker, lesson)] == [("one\n", None), ("two", None)]


# Failures ------------------------------------------------------------------------------------------------------------


def test_failing_step_ends_the_run(worker: Session) -> None:
    lesson = lesson_of(
        code_step("one", "x = 1", "x"),
        code_step("two", "print('before')\n\ny = x / 0\nprint('after')", "x", prose="{x}"),
        code_step("three", "z = 3"),
    )
    run = worker.run(lesson)
    try:
        one, two = run.steps
        assert one.error is None
        assert two.error == Failure("error", "ZeroDivisionError: division by zero", 3, operation="div ? ?")
        assert (two.stdout, two.tensors, two.text) == ("before\n", (), {})
        # The tensors of earlier steps can still be asked about.
        assert run_questions.window(run, "one", "x", (), 0, 0, 1, 1) == Window((), 0, 0, ((1,),))
    finally:
        run.close()


@pytest.mark.parametrize(
    ("code", "message", "line"),
    [
        ("def f():\n    return g()\ndef g():\n    return missing\nf()", "NameError: name 'missing' is not defined", 4),
        ("x = 1\nx = = 2", "This is not Python: invalid syntax.", 2),
        ("import torch\ntorch.ones(2, 3) @ torch.ones(2, 3)", "RuntimeError: mat1 and mat2 shapes cannot be", 2),
        ("raise SystemExit(0)", "The code ended the program itself (sys.exit)", 1),
        ("def f():\n    f()\nf()", "The recursion is too deep", 2),
        ("input()", "The code waits for the keyboard", 1),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", 1),
        ("assert 1 == 2, 'no'", "AssertionError: no", 1),
        ("exec('1/0')", "ZeroDivisionError: division by zero", 1),
        ("import json\njson.loads('{')", "JSONDecodeError: Expecting property name", 2),
    ],
)
def test_failure_names_the_line(worker: Session, code: str, message: str, line: int) -> None:
    # The loader refuses code that is not Python, but a learner's change may turn code into that later.
    step = code_step("only", "pass")
    lesson = lesson_of(step)
    changed = lesson.steps[0].model_copy(update={"code": code})
    (outcome,) = run_steps(worker, lesson.model_copy(update={"steps": (changed,)}))
    assert outcome.error is not None
    assert outcome.error.message.startswith(message)
    assert (outcome.error.kind, outcome.error.line) == ("error", line)


@pytest.mark.parametrize(
    ("prose", "message"),
    [
        ("{missing}", "{missing} in the prose: NameError: name 'missing' is not defined"),
        ("{x:.2q}", "{x:.2q} in the prose: ValueError: Unknown format code 'q' for object of type 'int'"),
        ("{x / 0:.2f}", "{x / 0:.2f} in the prose: ZeroDivisionError: division by zero"),
    ],
)
def test_failure_to_fill_a_field(worker: Session, prose: str, message: str) -> None:
    outcome = run_code(worker, "x = 1", prose=prose)
    assert outcome.error == Failure("error", message, None)


def test_failing_field_keeps_the_fields_before_it(worker: Session) -> None:
    lesson = lesson_of(text_step("one", "{missing}"), text_step("two", "Nothing."))
    (one,) = run_steps(worker, lesson)
    assert one.error is not None


def test_failing_setup_is_reported_at_the_first_step(worker: Session) -> None:
    (only,) = run_steps(worker, lesson_of(code_step("one", "x = 1"), code_step("two", "x = 2"), setup="import nothing"))
    assert only.error is not None
    assert only.error.message == "ModuleNotFoundError: No module named 'nothing'"


QUICK = Limits(cpu=1, wall=2, memory=256)


def test_endless_step_is_stopped(worker: Session) -> None:
    lesson = lesson_of(
        code_step("one", "print('one')"),
        code_step("two", "print('two')\nwhile True:\n    pass"),
        code_step("three", "print('three')"),
        limits=QUICK.model_copy(update={"wall": 60}),
    )
    one, two = run_steps(worker, lesson)
    assert (one.stdout, one.error) == ("one\n", None)
    # only the output of the step itself
    assert two.stdout == "two\n"
    assert two.error is not None
    assert two.error.kind == "timeout"
    assert two.error.message.startswith("Stopped after ")
    assert two.error.line in (2, 3)


def test_step_that_waits_is_stopped(worker: Session) -> None:
    def result(wall: float) -> StepResult:
        step = code_step("one", "import time\n\nprint('there'); time.sleep(1000)")
        (outcome,) = run_steps(worker, lesson_of(step, limits=Limits(cpu=1, wall=wall, memory=256)))
        return outcome

    outcome, wall = with_enough_time(result, lambda outcome: outcome.stdout, 0.3)
    assert outcome.error == Failure("timeout", f"Stopped after {wall:g} seconds. It was at line 3.", 3, names_line=True)


@pytest.mark.parametrize(
    ("code", "kind", "message", "line"),
    [
        ("import os\nprint('so far', flush=True)\nos._exit(0)", "crash", "The code ended the program itself", None),
        ("print('so far', flush=True)\nimport ctypes\nctypes.string_at(0)", "crash", "The Python interpreter", 3),
        ("print('so far')\nx = []\nwhile True:\n    x.append(bytearray(10**7))", "memory", "Out of memory", 4),
    ],
)
def test_failure_of_a_step_that_dies(worker: Session, code: str, kind: str, message: str, line: int | None) -> None:
    (outcome,) = run_steps(worker, lesson_of(code_step("one", code), limits=QUICK.model_copy(update={"wall": 60})))
    assert outcome.stdout == "so far\n"
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.line) == (kind, line)
    assert outcome.error.message.startswith(message)


# Stopping ------------------------------------------------------------------------------------------------------------


def endless_code(scratch: Path) -> str:
    """Return code that opens a named pipe, which tells a test that the code runs, and then loops forever."""
    return f"open({str(scratch)!r}).close()\nwhile True:\n    pass"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_cancel_from_another_thread(worker: Session, pipe: Path) -> None:
    lesson = lesson_of(
        code_step("one", "print('one')"), code_step("two", endless_code(pipe)), code_step("three", "pass")
    )
    steps: list[StepResult] = []
    thread = threading.Thread(target=lambda: steps.extend(run_steps(worker, lesson)))
    thread.start()
    with pipe.open("w"):
        worker.cancel()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert [step.id for step in steps] == ["one", "two"]
    assert steps[1].error is not None
    assert steps[1].error.kind == "stopped"
    assert steps[1].error.message in (
        "Stopped by you.",  # on a busy machine the line comes too late
        "Stopped by you at line 1.",
        "Stopped by you at line 2.",
        "Stopped by you at line 3.",
    )


def test_cancel_without_a_run_does_nothing(worker: Session) -> None:
    worker.cancel()
    assert run_code(worker, "print('well')").stdout == "well\n"


def test_cancel_before_the_child_has_started(worker: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner who moves on while PyTorch loads does not wait for the canceled run."""
    launch = worker.launcher.launch

    def launch_late(limits: Limits, later: float = 0) -> object:
        worker.cancel()
        return launch(limits)

    monkeypatch.setattr(worker.launcher, "launch", launch_late)
    (outcome,) = run_steps(worker, lesson_of(code_step("one", "while True:\n    pass")))
    assert outcome.error == Failure("stopped", "Stopped by you.", None, names_line=True)


def test_crash_of_one_run_does_not_end_another(worker: Session) -> None:
    """Its child survives, too."""
    run = worker.run(lesson_of(code_step("one", "x = 1", "x")))
    try:
        assert run_code(worker, "import os\nos._exit(0)").error is not None
        assert run_questions.window(run, "one", "x", (), 0, 0, 1, 1) == Window((), 0, 0, ((1,),))
    finally:
        run.close()


# The processes -------------------------------------------------------------------------------------------------------


def test_fork_server_has_one_thread(worker: Session) -> None:
    worker.wait_ready()
    run_code(worker, "torch.rand(200, 200) @ torch.rand(200, 200)")
    assert len(os.listdir(f"/proc/{fork_server_pid(worker)}/task")) == 1


def test_child_computes_in_one_thread(worker: Session) -> None:
    code = (
        "import os\n"
        "torch.rand(500, 500) @ torch.rand(500, 500)\n"
        "print(torch.get_num_threads(), os.environ['OMP_NUM_THREADS'])\n"
        "print(len(os.listdir('/proc/self/task')))\n"
    )
    assert run_code(worker, code).stdout == "1 1\n1\n"


def test_child_has_only_its_own_descriptors(worker: Session) -> None:
    outcome = run_code(worker, "import os\nprint(sorted(map(int, os.listdir('/proc/self/fd')))[:4])")
    assert outcome.stdout == "[0, 1, 2, 3]\n"
    outcome = run_code(worker, "import os\nprint(len(os.listdir('/proc/self/fd')))")
    assert int(outcome.stdout) == 5  # and the descriptor that lists them


def test_each_child_is_a_process_of_its_own(worker: Session) -> None:
    first, second = (run_code(worker, "import os\nprint(os.getpid(), os.getcwd())").stdout for _ in range(2))
    assert first != second
    folder = Path(first.rstrip("\n").partition(" ")[2])
    assert folder.is_absolute()
    assert not folder.exists()


def test_scratch_folder_is_the_home_of_a_child(worker: Session) -> None:
    outcome = run_code(worker, "import os, tempfile\nprint(os.environ['HOME'] == os.getcwd() == tempfile.gettempdir())")
    assert outcome.stdout == "True\n"


def test_worker_imports_only_what_it_needs(worker: Session) -> None:
    """These would be a fifth of the time that a worker takes to start."""
    heavy = ("numpy", "pydantic", "rich", "sqlite3", "sympy.core", "textual", "yaml")
    run = worker.run(
        lesson_of(code_step("one", f"import sys\nprint([name for name in {heavy} if name in sys.modules])"))
    )
    run.close()
    assert run.steps[0].stdout == "[]\n"


@pytest.mark.slow
def test_screen_side_never_imports_torch() -> None:
    code = (
        "import sys\n"
        "from attn_tutor.lessons.reading.loader import load_course\n"
        "from attn_tutor.lessons.engine.session import Session\n"
        "course = load_course()\n"
        "session = Session()\n"
        "session.run(course.lesson('one-query'), 'inputs').close()\n"
        "lesson, exercise = course.exercise('3.2')\n"
        "assert session.check(exercise, exercise.solution).passed\n"
        "session.close()\n"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] in ('torch', 'attention')))\n"
    )
    outcome = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (outcome.stdout, outcome.stderr) == ("[]\n", "")


@pytest.mark.slow
def test_fork_server_that_was_killed_is_restarted() -> None:
    session = Session()
    try:
        run = session.run(lesson_of(code_step("one", "x = 1", "x")))
        server = fork_server_pid(session)
        (child,) = at_work(session)
        os.kill(server, signal.SIGKILL)
        wait_for_end(server)
        wait_for_end(child)
        assert run_questions.window(run, "one", "x", (), 0, 0, 1, 1) is None
        run.close()
        assert run_code(session, "print('again')").stdout == "again\n"
        assert fork_server_pid(session) != server
        assert isinstance(session.launcher, ForkServerLauncher)
        folder = Path(session.launcher._base)
        # The folder of a run goes a moment after its end; the child that is forked ahead has one too.
        wait_until(lambda: len([*folder.glob("tmp*")]) <= 1)
    finally:
        session.close()
    assert not folder.exists()
    wait_until(lambda: not Path(f"/proc/{server}").exists())
