"""The view of the prompt: inputs, results, and panes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message

from attn_tutor import tui
from attn_tutor.lessons.engine.children import CodeResult
from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.results import formula
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation, Operand
from attn_tutor.lessons.results.result import Failure, Tensor
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion, FollowQuestion, WindowQuestion
from attn_tutor.tui.screens.prompt_view import PromptView, entry, heights, outline, welcome
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.editors import PromptInput
from attn_tutor.tui.widgets.explanation_pane import ExplanationPane
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.text import TextPane
from tests.course import COURSE
from tests.tui.painted import painted_lines

LESSON = COURSE.lesson("all-queries")
NAMES = (("inputs", "(6,3)"), ("scores", "(6,6)"))


def tensor(name: str, rows: int = 2, cols: int = 3) -> Tensor:
    return Tensor(
        name,
        "vector",
        "float32",
        (rows, cols),
        ("index", "index"),
        (tuple(map(str, range(rows))), tuple(map(str, range(cols)))),
        0.0,
        1.0,
        tuple(index / (rows * cols) for index in range(rows * cols)),
    )


def prompt_result(number: int = 1, **fields: Any) -> CodeResult:
    return CodeResult(f"input {number}", **({"names": NAMES} | fields))


# The transcript ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "result", "text"),
    [
        ("2 + 2", prompt_result(value="4"), ">>> 2 + 2\n4\n"),
        ("if 1:\n    print(3)", prompt_result(stdout="3\n"), ">>> if 1:\n...     print(3)\n3\n"),
        ("x", prompt_result(tensors=(tensor("x"),)), ">>> x\nx  2×3 float32\n"),
        ("1/0", prompt_result(error=Failure("error", "Z: by zero", 1)), ">>> 1/0\nZ: by zero\n"),
        ("a\n1/0", prompt_result(error=Failure("error", "Z: by zero", 2)), ">>> a\n... 1/0\nline 2: Z: by zero\n"),
        (
            "a\nb",
            prompt_result(error=Failure("timeout", "It was at line 2.", 2, names_line=True)),
            ">>> a\n... b\nIt was at line 2.\n",
        ),
        ("b", prompt_result(stdout="no end", value="4"), ">>> b\nno end\n4\n"),
        ("b", prompt_result(stdout="\x1b[2J"), ">>> b\n\ufffd[2J\n"),
        ("pass", prompt_result(), ">>> pass\n"),
    ],
)
def test_an_entry(code: str, result: CodeResult, text: str) -> None:
    assert entry(code, result, "ansi_dark").plain == text


def test_the_end_of_a_long_output_is_shown() -> None:
    text = entry("x", prompt_result(stdout="".join(f"{number}\n" for number in range(1000))), "ansi_dark").plain
    assert text.split("\n")[1:3] == ["(960 more lines above)", "960"]
    assert text.endswith("\n999\n")


def test_ascii() -> None:
    assert entry("x", prompt_result(tensors=(tensor("x"),)), "ansi_dark", unicode=False).plain.isascii()
    assert outline(tensor("x"), unicode=False) == "x  2x3 float32"


def test_welcome() -> None:
    assert welcome(NAMES).plain.endswith("\ninputs   (6,3)\nscores   (6,6)\n")
    many = tuple((f"v{number}", f"({number},{number})") for number in range(7))
    assert welcome(many).plain.splitlines()[1:] == [
        "v0   (0,0)   v4   (4,4)",
        "v1   (1,1)   v5   (5,5)",
        "v2   (2,2)   v6   (6,6)",
        "v3   (3,3)",
    ]
    assert len(welcome(many, 20).plain.splitlines()) == 8
    assert "torch" not in welcome((("torch", "module"), *NAMES)).plain
    assert "inputs" not in welcome(()).plain


@pytest.mark.parametrize(
    ("room", "wanted", "active", "lines"),
    [
        (20, [8, 8], 0, [8, 8]),
        (10, [8, 8], 0, [8, 0]),
        (10, [8, 8], 1, [0, 8]),
        (5, [8, 4], 0, [5, 0]),
        (12, [8, 9, 4], 0, [8, 0, 4]),
        (0, [8], 0, [0]),
        (5, [], 0, []),
    ],
)
def test_heights(room: int, wanted: list[int], active: int, lines: list[int]) -> None:
    assert heights(room, wanted, active) == lines


# The view ------------------------------------------------------------------------------------------------------------


class PromptApp(App[None]):
    """An app with the view alone, which keeps the posted messages."""

    CSS_PATH = Path(tui.__file__).parent / "app.tcss"

    def __init__(self, unicode: bool = True) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.view = PromptView(Terminal(True, "16", unicode, False), "ansi_dark")
        self.posted: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.open(LESSON, LESSON.step("product"), NAMES)

    @on(PromptView.Entered)
    @on(PromptView.Stopped)
    @on(PromptView.Closed)
    @on(PromptView.Missing)
    @on(PromptView.Asked)
    def note(self, event: Message) -> None:
        self.posted.append(event)

    @property
    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.posted]

    @property
    def lines(self) -> list[str]:
        return painted_lines(self)

    @property
    def drawn(self) -> str:
        return "\n".join(self.lines)


async def enter(app: PromptApp, pilot: Any, code: str, result: CodeResult) -> None:
    await pilot.press(*code, "enter")
    app.view.show_result(result)
    await pilot.pause()


async def test_an_input_and_its_result() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        assert " inputs   (6,3)\n scores   (6,6)\n" in app.drawn
        assert f"after {main_path.name_of(LESSON.steps, 'product')} of lesson {LESSON.number}" in app.drawn
        await pilot.press(*"x", "enter")
        (event,) = app.posted
        assert isinstance(event, PromptView.Entered)
        assert event.code == "x"
        assert app.view.waiting
        assert "esc: stop" in app.drawn
        app.view.show_result(prompt_result(tensors=(tensor("x"), tensor("y"))))
        await pilot.pause()
        assert not app.view.waiting
        assert ">>> x" in app.drawn
        assert [line.strip().partition("  ")[0] for line in app.lines if "2×3   rows" in line] in (["x", "y"], [])
        assert [view.tensor.name for view in app.query(MatrixView) if view.display and view.tensor] == ["x", "y"]
        assert app.view._prompt.has_focus
        # The prompt is on the last line.
        await pilot.press(*"next")
        assert app.lines[-1].strip() == ">>> next"


async def test_nothing_is_drawn_twice_or_lost_with_several_results() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        for number in range(1, 30):
            await enter(app, pilot, f"{number}", prompt_result(number, value=f"value {number}"))
        assert "value 29" in app.drawn
        assert app.drawn.count("value 29") == 1
        assert not any(view.display for view in app.query(MatrixView))
        pane = app.query_one("#transcript", TextPane)
        assert "value 1\n" in pane.text


async def test_no_input_is_accepted_while_one_runs() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"a", "enter", *"b", "enter")
        assert app.kinds == ["Entered"]
        await pilot.press("escape")
        assert app.kinds == ["Entered", "Stopped"]
        app.view.show_result(prompt_result(error=Failure("stopped", "Stopped by you.")))
        await pilot.pause()
        assert "Stopped by you." in app.drawn
        await pilot.press("enter", "escape")
        assert app.kinds == ["Entered", "Stopped", "Entered", "Stopped"]


async def test_escape_leaves() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("escape")
        assert app.kinds == ["Closed"]


async def test_an_input_that_could_not_be_run() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"a", "enter")
        app.view.say("There is no PyTorch.")
        await pilot.pause()
        assert "There is no PyTorch." in app.drawn
        assert not app.view.waiting
        await pilot.press(*"b", "enter")
        assert app.kinds == ["Entered", "Entered"]


async def test_panes() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(app, pilot, "x", prompt_result(tensors=(tensor("x"), tensor("y"))))
        order = []
        for _ in range(4):
            app.view.move_pane(1)
            await pilot.pause()
            order.append(app.focused.id if app.focused else None)
        assert order == ["made0", "made1", "transcript", "prompt"]
        app.view.move_pane(-1)
        app.view.move_pane(-1)
        await pilot.pause()
        assert app.focused is not None
        assert app.focused.id == "made1"
        await pilot.press("right")
        assert " y[0,1] = 0.1666" in app.drawn
        assert any("explain" in each for each in app.view.hints)
        await pilot.press("escape")
        assert app.view._prompt.has_focus
        assert app.kinds == ["Entered"]


async def test_a_matrix_that_disappears_loses_its_keys() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(app, pilot, "x", prompt_result(tensors=(tensor("x"),)))
        await pilot.press(*"4")
        app.view.move_pane(1)
        app.view.show_result(prompt_result(2, value="4"))
        await pilot.pause()
        assert app.view._prompt.has_focus


def explained(file: str = "input 1") -> Explanation:
    operand = Operand("inputs", (0, 1), 2.0, "float32", 7, leaf=False)
    return Explanation(
        "x",
        (0, 0),
        2.0,
        "float32",
        "add",
        "inputs + 0",
        file,
        1,
        1,
        formula.OperandRef(0),
        (operand,),
        lit={"x": ((1, 1),)},
    )


async def test_code_of_a_step_is_called_by_the_number_of_the_step() -> None:
    """A learner never sees its id."""
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(app, pilot, "x", prompt_result(tensors=(tensor("x"),)))
        for file, source in (("product", "line 1 of step"), ("setup", "line 1 of the setup"), ("input 1", "line 1")):
            app.view.explain(explained(file), further=False)
            await pilot.pause()
            assert source in app.drawn
            assert f"'{file}'" not in app.drawn
            await pilot.press("escape")


async def test_a_number_explains_itself() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(app, pilot, "x", prompt_result(tensors=(tensor("x"),)))
        app.view.move_pane(1)
        await pilot.press("enter")
        asked = app.posted[-1]
        assert isinstance(asked, PromptView.Asked)
        assert asked.question == ExplainQuestion("x", (0, 0), CodeUnit.input(1))
        app.view.explain(explained(), further=False)
        await pilot.pause()
        panel = app.query_one(ExplanationPane)
        assert panel.has_focus
        assert "inputs[0,1]" in app.drawn
        await pilot.press("enter")
        asked = app.posted[-1]
        assert isinstance(asked, PromptView.Asked)
        assert asked.question == FollowQuestion(7, CodeUnit.input(1))
        app.view.explain(explained(), further=True)
        await pilot.press("backspace", "escape")
        await pilot.pause()
        assert not panel.display
        assert app.focused is not None
        assert app.focused.id == "made0"
        # A new result closes the explanation, since its references may be invalid.
        app.view.explain(explained(), further=False)
        app.view.show_result(prompt_result(2, value="4"))
        await pilot.pause()
        assert not panel.display
        assert app.view._prompt.has_focus


async def test_large_tensors_request_missing_values() -> None:
    large = Tensor(
        "big",
        "vector",
        "float32",
        (100, 100),
        ("index", "index"),
        (tuple(map(str, range(100))),) * 2,
        0.0,
        1.0,
        None,
    )
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(app, pilot, "x", prompt_result(3, tensors=(large,)))
        missing = next(event for event in app.posted if isinstance(event, PromptView.Missing))
        assert isinstance(missing.question, WindowQuestion)
        assert missing.question.unit == CodeUnit.input(3)
        assert missing.tensor is large


async def test_an_input_of_several_lines_makes_room() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"if 1:", "enter", *"a", "enter")
        assert app.query_one(PromptInput).size.height == 3
        await pilot.press("enter")
        assert app.query_one(PromptInput).size.height == 1
        assert isinstance(app.posted[-1], PromptView.Entered)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 12), (20, 5), (1, 1)])
async def test_any_size(size: tuple[int, int]) -> None:
    app = PromptApp(unicode=False)
    async with app.run_test(size=size) as pilot:
        await enter(app, pilot, "x", prompt_result(tensors=(tensor("x", 6, 6), tensor("y", 3, 30)), stdout="a\n" * 50))
        app.view.move_pane(1)
        await pilot.resize_terminal(size[0] + 7, size[1] + 3)
        await pilot.pause()
        assert app.view.hints
        assert all(line.isascii() for line in app.lines)


async def test_wide_screens_have_matrices_at_the_right() -> None:
    app = PromptApp()
    async with app.run_test(size=(120, 30)) as pilot:
        await enter(app, pilot, "x", prompt_result(tensors=(tensor("x"),)))
        transcript, matrix = app.query_one("#transcript"), app.query_one("#made0")
        assert matrix.region.x >= transcript.region.right
        assert matrix.region.y == transcript.region.y


async def test_opening_again_clears_the_prompt() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(app, pilot, "first", prompt_result(value="4"))
        app.view.open(LESSON, LESSON.step("context"))
        await pilot.pause()
        assert "first" not in app.drawn
        await pilot.press("up")
        assert app.query_one(PromptInput).text == ""
        app.view.show_names((("later", "(2)"),))
        await pilot.pause()
        assert "later   (2)" in app.drawn
