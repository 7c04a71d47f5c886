"""A prompt on a step: the results of inputs, inputs that fail, and that the lesson does not change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from attn_tutor.lessons.engine.children import CodeResult
from attn_tutor.lessons.engine.launching.launchers import output
from attn_tutor.lessons.engine.prompt import Prompt
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.what_if.cells import CellChange
from attn_tutor.lessons.what_if.changes import Changes
from tests.lessons import run_questions
from tests.lessons.lesson_builders import code_step, lesson_of, text_step
from tests.lessons.processes import PATIENCE, at_work, wait_until, with_enough_time

SHOWN = {"name": "scores", "kind": "score", "axes": ["query", "key"]}
LESSON = lesson_of(
    text_step("why", "Because."),
    code_step("scores", "scores = x @ x.T", SHOWN),
    code_step("later", "secret = 1"),
    setup="import torch\nx = torch.tensor([[1.0, 2.0], [3.0, 4.0]])",
    tokens=["a", "b"],
)


@pytest.fixture(autouse=True)
def check_no_process_is_left(worker: Session) -> Iterator[None]:
    """Check that no test leaves a process behind."""
    before = set(at_work(worker))
    yield
    assert set(at_work(worker)) <= before


OpenPrompt = Callable[..., Prompt]


@pytest.fixture
def open_prompt(worker: Session) -> Iterator[OpenPrompt]:
    """Return a function that opens a prompt; close all prompts after the test."""
    prompts: list[Prompt] = []

    def start(
        lesson: Lesson = LESSON, step: str = "scores", changes: Changes | None = None, wall: float = 10
    ) -> Prompt:
        prompts.append(Prompt(worker, lesson, step, changes or Changes(), wall))
        return prompts[-1]

    yield start
    for prompt in prompts:
        prompt.close()


@pytest.fixture
def prompt(open_prompt: OpenPrompt) -> Prompt:
    return open_prompt()


def values(prompt: Prompt, code: str) -> tuple[float, ...] | None:
    """Return the numbers of the first tensor that an input shows."""
    result = prompt.enter(code)
    assert result.error is None
    return result.tensors[0].values


def message(result: CodeResult) -> str:
    assert result.error is not None
    return result.error.message


# Results of inputs ---------------------------------------------------------------------------------------------------


def test_a_prompt_knows_the_names_of_the_step(prompt: Prompt) -> None:
    assert prompt.start() == (("torch", "module"), ("x", "(2,2)"), ("scores", "(2,2)"))


def test_a_tensor_expression_is_shown(prompt: Prompt) -> None:
    result = prompt.enter("scores * 2")
    assert (result.id, result.error, result.stdout, result.value) == ("input 1", None, "", "")
    (tensor,) = result.tensors
    assert (tensor.name, tensor.kind, tensor.axes) == ("scores * 2", "vector", ("index", "index"))
    assert tensor.labels == (("0", "1"), ("0", "1"))
    assert tensor.values == (10, 22, 22, 50)


def test_a_variable_of_the_lesson_looks_as_it_does_there(prompt: Prompt) -> None:
    (tensor,) = prompt.enter("scores").tensors
    assert (tensor.name, tensor.kind, tensor.axes) == ("scores", "score", ("query", "key"))
    assert tensor.labels == (("a", "b"), ("a", "b"))
    # A tensor of the same name with a different number of axes is drawn with bare indices.
    (tensor,) = prompt.enter("scores = scores[0]").tensors
    assert (tensor.name, tensor.axes) == ("scores", ("index",))


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("2 + 2", "4"),
        ("'a\\nb'", r"'a\nb'"),
        ("x.shape", "torch.Size([2, 2])"),
        ("(\n 1 +\n 1\n)", "2"),
        ("'é'; 'é' + 'b'", "'éb'"),
        ("1, 2", "(1, 2)"),
        ("n = 3", ""),
        ("None", ""),
        ("print()", ""),
        ("# nothing", ""),
        ("", ""),
        ("x.to(torch.complex64)[0, 0]", "tensor(1.+0.j)"),
        ("torch.zeros(0, 3)", "tensor([], size=(0, 3))"),
        ("'a' * 9999", "'" + "a" * 1999 + "..."),
    ],
)
def test_repr_of_values(prompt: Prompt, code: str, value: str) -> None:
    result = prompt.enter(code)
    assert (result.error, result.value, result.tensors) == (None, value, ())


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("a = x + 1", ["a"]),
        ("a = b = x + 1", ["a", "b"]),
        ("a, (b, n) = x[0], (x[1], 1)", ["a", "b"]),
        ("a: torch.Tensor = x.T", ["a"]),
        ("x += 1", ["x"]),
        ("i = 0; x[i, x[0, 0].long() - 1] = 5", ["x"]),
        ("x.data = x * 2", ["x"]),
        ("n = 1", []),
        ("for a in x: pass", []),
        ("x, x.T", ["x", "x.T"]),
        ("[x, x]", ["[x, x][0]", "[x, x][1]"]),
        ("list(x)", ["list(x)[0]", "list(x)[1]"]),
        ("[*x]", ["[*x][0]", "[*x][1]"]),
        ("[x] * 9", [f"[x] * 9[{place}]" for place in range(4)]),
        ("torch.cat((x, x, x, x, x, x), dim=-1).sum(dim=-1)", ["_"]),
    ],
)
def test_names_of_shown_tensors(prompt: Prompt, code: str, names: list[str]) -> None:
    result = prompt.enter(code)
    assert result.error is None
    assert [tensor.name for tensor in result.tensors] == names


def test_the_last_value_has_a_name(prompt: Prompt) -> None:
    prompt.enter("x * 2")
    assert values(prompt, "_ + 1") == (3, 5, 7, 9)
    prompt.enter("None")
    assert values(prompt, "_") == (3, 5, 7, 9)


def test_a_result_has_the_output_of_its_own_input(prompt: Prompt) -> None:
    assert prompt.enter("print('one')").stdout == "one\n"
    assert prompt.enter("print('two')").stdout == "two\n"
    assert prompt.enter("3").stdout == ""


def test_variables_stay_between_inputs(prompt: Prompt) -> None:
    assert prompt.enter("def double(y):\n    return 2 * y\n\na = double(x)").error is None
    result = prompt.enter("double(a)")
    assert result.tensors[0].values == (4, 8, 12, 16)
    assert dict(result.names).items() >= {"a": "(2,2)", "double": "function"}.items()
    assert "_" not in dict(result.names)


def test_a_result_has_the_shapes_of_the_lines(prompt: Prompt) -> None:
    (line,) = prompt.enter("scores @ x.T").shapes
    assert ([item.name for item in line.took], line.joints) == (["scores", "x.T"], ("@",))


def test_tensors_can_be_asked_about(prompt: Prompt) -> None:
    large = prompt.enter("large = (torch.arange(100 * 200.) * 2).view(100, 200)")
    assert large.tensors[0].values is None
    assert prompt.run is not None
    window = run_questions.window(prompt.run, large.id, "large", (), 99, 198, 1, 2)
    assert window is not None
    assert window.rows == ((39996.0, 39998.0),)
    product = prompt.enter("x @ x")
    expected = run_questions.explain(prompt.run, product.id, "x @ x", (0, 1))
    assert isinstance(expected, Explanation)
    assert (expected.value, {operand.name for operand in expected.operands}) == (10, {"x"})
    # Tensors of earlier inputs can still be asked about.
    assert run_questions.window(prompt.run, large.id, "large", (), 0, 0, 1, 1) is not None


# Inputs that fail ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected", "line"),
    [
        ("a = 1\nb = a / 0", "ZeroDivisionError", 2),
        ("a = = 1", "This is not Python: invalid syntax.", 1),
        ("x @ torch.ones(3)", "RuntimeError", 1),
        ("import sys\nsys.exit()", "sys.exit", 2),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", 1),
        ("def f(): f()\nf()", "The recursion is too deep", 1),
        ("input()", "keyboard", 1),
        ("return 3", "'return' outside function", 1),
        ("a = '\0'", "This is not Python", 1),
    ],
)
def test_an_exception_ends_only_its_input(prompt: Prompt, code: str, expected: str, line: int) -> None:
    prompt.start()
    before = prompt.run
    prompt.enter("kept = 1")
    result = prompt.enter(code)
    assert expected in message(result)
    assert result.error is not None
    assert result.error.line == line
    assert prompt.enter("kept").value == "1"
    assert prompt.run is before


def test_variables_bound_before_an_exception_stay(prompt: Prompt) -> None:
    prompt.enter("a = 1\n1 / 0")
    assert prompt.enter("a").value == "1"


@pytest.mark.parametrize(
    ("code", "expected", "line"),
    [
        ("import ctypes\nprint('there'); ctypes.string_at(0)", "interpreter itself crashed at line 2", 2),
        ("import os\nprint('there'); os._exit(0)", "os._exit", None),
        ("print('there')\nwhile True:\n    pass", "Stopped after {wall:g} seconds. It was at line", 2),
        ("import time\nprint('there'); time.sleep(1000)", "Stopped after {wall:g} seconds. It was at line 2.", 2),
        (
            "class A:\n    def __repr__(self):\n        print('there')\n        while True: pass\nA()",
            "Stopped after {wall:g} seconds",
            4,
        ),
    ],
)
def test_inputs_are_replayed_after_one_that_ends_the_child(
    open_prompt: OpenPrompt, code: str, expected: str, line: int | None
) -> None:
    def attempt(wall: float) -> tuple[Prompt, tuple[float, ...] | None, CodeResult]:
        prompt = open_prompt(wall=wall)
        prompt.enter("a = x * 10")
        prompt.enter("b = torch.rand(3)")
        return prompt, values(prompt, "b"), prompt.enter(code)

    (prompt, random, result), wall = with_enough_time(attempt, lambda found: found[2].stdout, 1)
    assert expected.format(wall=wall) in message(result)
    assert result.error is not None
    # The faulting loop may be at either of its lines.
    assert line is None or result.error.line in (line, line + 1)
    assert ("b", "(3)") in result.names
    # The earlier inputs have been replayed, random numbers included, and their tensors can be asked about.
    assert values(prompt, "b") == random
    assert values(prompt, "a") == (10, 20, 30, 40)
    assert prompt.run is not None
    assert run_questions.window(prompt.run, "input 1", "a", (), 1, 1, 1, 1) is not None
    assert prompt.inputs == ["a = x * 10", "b = torch.rand(3)", "b", "b", "a"]


def test_a_flood_of_output_is_limited(prompt: Prompt) -> None:
    result = prompt.enter("print('x' * 10**8)")
    assert "more than 8 MB" in message(result)
    assert len(result.stdout) < 70_000
    for _ in range(3):
        assert prompt.enter("print('again')").stdout == "again\n"


def test_memory_is_limited(prompt: Prompt) -> None:
    assert "Out of memory" in message(prompt.enter("a = torch.zeros(2**32)"))
    assert prompt.enter("1").value == "1"


def test_a_very_long_input_is_refused(prompt: Prompt) -> None:
    assert "more than 64 KB" in message(prompt.enter("#" * 70_000))


def test_many_names_are_cut_off(prompt: Prompt) -> None:
    result = prompt.enter("\n".join(f"a{number} = x" for number in range(1000)))
    assert result.error is None
    assert len(result.names) <= 200


def test_a_hanging_input_can_be_stopped(prompt: Prompt, worker: Session) -> None:
    prompt.enter("a = 1")
    found: list[CodeResult] = []
    thread = threading.Thread(target=lambda: found.append(prompt.enter("print('on')\nwhile True: pass")))
    thread.start()
    wait_until(lambda: worker._running is not None and output(worker._running.out).endswith("on\n"))
    worker.cancel()
    thread.join(PATIENCE)
    (result,) = found
    assert result.error is not None
    assert (result.error.kind, result.stdout) == ("stopped", "on\n")
    assert prompt.enter("a").value == "1"


@pytest.mark.slow
def test_a_long_prompt_does_not_run_out_of_processor_time(open_prompt: OpenPrompt) -> None:
    spend = "import time\nend = time.process_time() + 0.7\nwhile time.process_time() < end: pass"
    prompt = open_prompt(LESSON.model_copy(update={"limits": LESSON.limits.model_copy(update={"cpu": 1})}))
    prompt.start()
    before = prompt.run
    for _ in range(3):
        assert prompt.enter(spend).error is None
    assert prompt.run is before


def test_an_input_that_cannot_be_replayed_is_forgotten(open_prompt: OpenPrompt) -> None:
    prompt = open_prompt(wall=1)
    prompt.enter("a = 1")
    prompt.enter("b = 2")
    # as if the outcome of the input depended on the clock
    prompt._history[1] = (2, "while True: pass")
    assert "Stopped after 1 seconds" in message(prompt.enter("while True: pass"))
    result = prompt.enter("a")
    assert "is forgotten: Stopped after 1 seconds" in message(result)
    assert prompt.inputs == ["a = 1"]
    assert prompt.enter("a").value == "1"


# The lesson ----------------------------------------------------------------------------------------------------------


def test_a_prompt_does_not_change_the_lesson(prompt: Prompt, worker: Session) -> None:
    run = worker.run(LESSON, "scores")
    before = run.steps[1].tensors
    assert values(prompt, "scores[0, 0] = 99\nscores.mul_(2)") is not None
    assert prompt.enter("del x").error is None
    # It answers while the prompt is open, and after it.
    explained = run_questions.explain(run, "scores", "scores", (0, 0))
    assert isinstance(explained, Explanation)
    assert explained.value == 5
    prompt.close()
    assert run_questions.window(run, "scores", "scores", (), 0, 0, 1, 1) is not None
    run.close()
    again = worker.run(LESSON, "scores")
    again.close()
    assert again.steps[1].tensors == before


def test_a_prompt_starts_with_the_changes_of_the_lesson(open_prompt: OpenPrompt) -> None:
    changes = Changes().with_cell(LESSON, CellChange("setup", "x", (0, 0), 5.0))
    assert values(open_prompt(changes=changes), "x") == (5, 2, 3, 4)


def test_a_prompt_on_a_lesson_that_fails(open_prompt: OpenPrompt) -> None:
    lesson = lesson_of(code_step("only", "a = 1\nb = a / 0"))
    prompt = open_prompt(lesson, "only")
    assert prompt.start() == (("a", "int"),)
    assert prompt.enter("a").value == "1"


def test_a_prompt_on_a_lesson_that_crashes(open_prompt: OpenPrompt) -> None:
    prompt = open_prompt(lesson_of(code_step("only", "import os; os._exit(1)")), "only")
    assert prompt.start() == ()
    assert "os._exit" in message(prompt.enter("1"))


def test_a_prompt_on_an_exercise_has_the_names_of_earlier_steps(open_prompt: OpenPrompt, course: Course) -> None:
    lesson = course.lesson("stacked-heads")
    prompt = open_prompt(lesson, "two-wide")
    assert ("wrapper", "MultiHeadAttentionWrapper") in prompt.start()


def test_a_closed_prompt_refuses_inputs(prompt: Prompt) -> None:
    prompt.enter("a = 1")
    prompt.close()
    assert "closed" in message(prompt.enter("a"))
