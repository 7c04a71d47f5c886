"""A prompt on a step: what inputs give, what becomes of those that end badly, and that the lesson stays as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from lessons.engine.prompt import Prompt, PromptResult
from lessons.engine.session import Session
from lessons.format.lesson import Course, Lesson
from lessons.results.explanation import Explanation
from lessons.what_if.cells import CellChange
from lessons.what_if.changes import Changes
from tests.lessons import run_questions
from tests.lessons.lesson_builders import code_step, lesson_of, text_step
from tests.lessons.processes import descendants, fork_server_pid, wait_until

SHOWN = {"name": "scores", "kind": "score", "axes": ["query", "key"]}
LESSON = lesson_of(
    text_step("why", "Because."),
    code_step("scores", "scores = x @ x.T", SHOWN),
    code_step("later", "secret = 1"),
    setup="import torch\nx = torch.tensor([[1.0, 2.0], [3.0, 4.0]])",
    tokens=["a", "b"],
)


@pytest.fixture(autouse=True)
def nothing_stays(worker: Session) -> Iterator[None]:
    """No test leaves a process behind."""
    before = set(descendants(fork_server_pid(worker)))
    yield
    assert set(descendants(fork_server_pid(worker))) <= before


Open = Callable[..., Prompt]


@pytest.fixture
def opened(worker: Session) -> Iterator[Open]:
    """Opens prompts, and closes them in the end."""
    made: list[Prompt] = []

    def open_play(
        lesson: Lesson = LESSON, step: str = "scores", changes: Changes | None = None, wall: float = 10
    ) -> Prompt:
        made.append(Prompt(worker, lesson, step, changes or Changes(), wall))
        return made[-1]

    yield open_play
    for play in made:
        play.close()


@pytest.fixture
def play(opened: Open) -> Prompt:
    return opened()


def values(play: Prompt, code: str) -> tuple[float, ...] | None:
    """The numbers of the first tensor that an input gives."""
    played = play.enter(code)
    assert played.error is None
    return played.tensors[0].values


def message(played: PromptResult) -> str:
    assert played.error is not None
    return played.error.message


# What inputs give ----------------------------------------------------------------------------------------------------


def test_names_of_the_step(play: Prompt) -> None:
    assert play.start() == (("torch", "module"), ("x", "(2,2)"), ("scores", "(2,2)"))


def test_an_expression_is_shown(play: Prompt) -> None:
    played = play.enter("scores * 2")
    assert (played.id, played.error, played.stdout, played.value) == ("play 1", None, "", "")
    (tensor,) = played.tensors
    assert (tensor.name, tensor.kind, tensor.axes) == ("scores * 2", "vector", ("index", "index"))
    assert tensor.labels == (("0", "1"), ("0", "1"))
    assert tensor.values == (10, 22, 22, 50)


def test_a_variable_of_the_lesson_looks_as_it_does_there(play: Prompt) -> None:
    (tensor,) = play.enter("scores").tensors
    assert (tensor.name, tensor.kind, tensor.axes) == ("scores", "score", ("query", "key"))
    assert tensor.labels == (("a", "b"), ("a", "b"))
    # One with another number of axes is another thing.
    (tensor,) = play.enter("scores = scores[0]").tensors
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
def test_values(play: Prompt, code: str, value: str) -> None:
    played = play.enter(code)
    assert (played.error, played.value, played.tensors) == (None, value, ())


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
def test_tensors(play: Prompt, code: str, names: list[str]) -> None:
    played = play.enter(code)
    assert played.error is None
    assert [tensor.name for tensor in played.tensors] == names


def test_the_last_value_has_a_name(play: Prompt) -> None:
    play.enter("x * 2")
    assert values(play, "_ + 1") == (3, 5, 7, 9)
    play.enter("None")
    assert values(play, "_") == (3, 5, 7, 9)


def test_output_of_one_input_only(play: Prompt) -> None:
    assert play.enter("print('one')").stdout == "one\n"
    assert play.enter("print('two')").stdout == "two\n"
    assert play.enter("3").stdout == ""


def test_state_stays_between_inputs(play: Prompt) -> None:
    assert play.enter("def double(y):\n    return 2 * y\n\na = double(x)").error is None
    played = play.enter("double(a)")
    assert played.tensors[0].values == (4, 8, 12, 16)
    assert dict(played.names).items() >= {"a": "(2,2)", "double": "function"}.items()
    assert "_" not in dict(played.names)


def test_shapes_of_the_lines(play: Prompt) -> None:
    (line,) = play.enter("scores @ x.T").shapes
    assert ([item.name for item in line.took], line.joints) == (["scores", "x.T"], ("@",))


def test_tensors_can_be_asked_about(play: Prompt) -> None:
    large = play.enter("large = (torch.arange(100 * 200.) * 2).view(100, 200)")
    assert large.tensors[0].values is None
    assert play.run is not None
    window = run_questions.window(play.run, large.id, "large", (), 99, 198, 1, 2)
    assert window is not None
    assert window.rows == ((39996.0, 39998.0),)
    product = play.enter("x @ x")
    told = run_questions.explain(play.run, product.id, "x @ x", (0, 1))
    assert isinstance(told, Explanation)
    assert (told.value, {operand.name for operand in told.operands}) == (10, {"x"})
    # What an earlier input gave is still there.
    assert run_questions.window(play.run, large.id, "large", (), 0, 0, 1, 1) is not None


# What goes wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "told", "line"),
    [
        ("a = 1\nb = a / 0", "ZeroDivisionError", 2),
        ("a = = 1", "This is not Python: invalid syntax.", 1),
        ("x @ torch.ones(3)", "RuntimeError", 1),
        ("import sys\nsys.exit()", "sys.exit", 2),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", 1),
        ("def f(): f()\nf()", "Endless recursion", 1),
        ("input()", "keyboard", 1),
        ("return 3", "'return' outside function", 1),
        ("a = '\0'", "This is not Python", 1),
    ],
)
def test_an_exception_ends_only_its_input(play: Prompt, code: str, told: str, line: int) -> None:
    play.start()
    before = play.run
    play.enter("kept = 1")
    played = play.enter(code)
    assert told in message(played)
    assert played.error is not None
    assert played.error.line == line
    assert play.enter("kept").value == "1"
    assert play.run is before


def test_what_was_done_before_an_exception_stays(play: Prompt) -> None:
    play.enter("a = 1\n1 / 0")
    assert play.enter("a").value == "1"


@pytest.mark.parametrize(
    ("code", "told", "line"),
    [
        ("import ctypes\nctypes.string_at(0)", "interpreter itself crashed at line 2", 2),
        ("import os\nos._exit(0)", "os._exit", None),
        ("a = 1\nwhile True:\n    pass", "Stopped after 1 seconds. It was at line", 2),
        ("import time\ntime.sleep(99)", "Stopped after 1 seconds. It was at line 2.", 2),
        ("class A:\n    def __repr__(self):\n        while True: pass\nA()", "Stopped after 1 seconds", 3),
    ],
)
def test_an_input_that_ends_the_child_costs_one_sentence(opened: Open, code: str, told: str, line: int | None) -> None:
    play = opened(wall=1)
    play.enter("a = x * 10")
    play.enter("b = torch.rand(3)")
    random = values(play, "b")
    played = play.enter(code)
    assert told in message(played)
    assert played.error is not None
    # The faulting loop may be at either of its lines.
    assert line is None or played.error.line in (line, line + 1)
    assert ("b", "(3)") in played.names
    # All that went well before is there again, random numbers too, and can still be asked about.
    assert values(play, "b") == random
    assert values(play, "a") == (10, 20, 30, 40)
    assert play.run is not None
    assert run_questions.window(play.run, "play 1", "a", (), 1, 1, 1, 1) is not None
    assert play.inputs == ["a = x * 10", "b = torch.rand(3)", "b", "b", "a"]


def test_a_flood_of_output(play: Prompt) -> None:
    played = play.enter("print('x' * 10**8)")
    assert "more than 8 MB" in message(played)
    assert len(played.stdout) < 70_000
    for _ in range(3):
        assert play.enter("print('again')").stdout == "again\n"


def test_much_memory(play: Prompt) -> None:
    assert "Out of memory" in message(play.enter("a = torch.zeros(2**32)"))
    assert play.enter("1").value == "1"


def test_a_very_long_input(play: Prompt) -> None:
    assert "more than 64 KB" in message(play.enter("#" * 70_000))


def test_many_names_and_lines(play: Prompt) -> None:
    played = play.enter("\n".join(f"a{place} = x" for place in range(1000)))
    assert played.error is None
    assert len(played.names) <= 200


def test_a_hanging_input_can_be_stopped(play: Prompt, worker: Session) -> None:
    play.enter("a = 1")
    found: list[PromptResult] = []
    thread = threading.Thread(target=lambda: found.append(play.enter("print('on')\nwhile True: pass")))
    thread.start()
    wait_until(lambda: worker._running is not None)
    threading.Event().wait(0.3)  # until the loop turns for sure: it sends no sign of it
    worker.cancel()
    thread.join(10)
    (played,) = found
    assert played.error is not None
    assert (played.error.kind, played.stdout) == ("stopped", "on\n")
    assert play.enter("a").value == "1"


def test_a_long_prompt_does_not_run_out_of_processor_time(opened: Open) -> None:
    spend = "import time\nend = time.process_time() + 0.7\nwhile time.process_time() < end: pass"
    play = opened(LESSON.model_copy(update={"limits": LESSON.limits.model_copy(update={"cpu": 1})}))
    play.start()
    before = play.run
    for _ in range(6):
        assert play.enter(spend).error is None
    assert play.run is before


def test_a_history_that_does_not_go_well_again(opened: Open) -> None:
    play = opened(wall=1)
    play.enter("a = 1")
    play.enter("b = 2")
    # As if the clock had decided.
    play._history[1] = (2, "while True: pass")
    assert "Stopped after 1 seconds" in message(play.enter("while True: pass"))
    played = play.enter("a")
    assert "is forgotten: Stopped after 1 seconds" in message(played)
    assert play.inputs == ["a = 1"]
    assert play.enter("a").value == "1"


# The lesson ----------------------------------------------------------------------------------------------------------


def test_the_lesson_stays_as_it_was(play: Prompt, worker: Session) -> None:
    run = worker.run(LESSON, "scores")
    before = run.steps[1].tensors
    assert values(play, "scores[0, 0] = 99\nscores.mul_(2)") is not None
    assert play.enter("del x").error is None
    # It answers while the prompt is open, and after it.
    told = run_questions.explain(run, "scores", "scores", (0, 0))
    assert isinstance(told, Explanation)
    assert told.value == 5
    play.close()
    assert run_questions.window(run, "scores", "scores", (), 0, 0, 1, 1) is not None
    run.close()
    again = worker.run(LESSON, "scores")
    again.close()
    assert again.steps[1].tensors == before


def test_changes_of_the_lesson_hold(opened: Open) -> None:
    changes = Changes().with_cell(LESSON, CellChange("setup", "x", (0, 0), 5.0))
    assert values(opened(changes=changes), "x") == (5, 2, 3, 4)


def test_a_lesson_that_fails(opened: Open) -> None:
    lesson = lesson_of(code_step("only", "a = 1\nb = a / 0"))
    play = opened(lesson, "only")
    assert play.start() == (("a", "int"),)
    assert play.enter("a").value == "1"


def test_a_lesson_that_dies(opened: Open) -> None:
    play = opened(lesson_of(code_step("only", "import os; os._exit(1)")), "only")
    assert play.start() == ()
    assert "os._exit" in message(play.enter("1"))


def test_an_exercise_has_what_was_before_it(opened: Open, course: Course) -> None:
    lesson = course.lesson("stacked-heads")
    play = opened(lesson, "two-wide")
    assert ("wrapper", "MultiHeadAttentionWrapper") in play.start()


def test_a_closed_prompt(play: Prompt) -> None:
    play.enter("a = 1")
    play.close()
    assert "closed" in message(play.enter("a"))
