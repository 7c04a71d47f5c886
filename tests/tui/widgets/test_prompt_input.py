"""The input of the prompt: complete inputs, completions, and the history."""

from __future__ import annotations

import pytest
from textual import on
from textual.app import App, ComposeResult

from attn_tutor.tui.state.prompt_lines import goes_on
from attn_tutor.tui.widgets.editors import PromptInput, completions, shared


@pytest.mark.parametrize(
    ("code", "further"),
    [
        ("", False),
        ("x", False),
        ("x = 1", False),
        ("x =", False),
        ("x = = 1", False),
        ("f(1,", True),
        ("f(1,\n  2)", False),
        ("[\n", False),
        ("for i in x:", True),
        ("for i in x:\n    print(i)", True),
        ("for i in x:\n    print(i)\n", False),
        ("for i in x:\n    print(i)\n    ", False),
        ("for i in x: print(i)", True),
        ("for i in x:\n    print(i)\ny = 1", False),
        ("def f():\n    return 1", True),
        ("@decorated", True),
        ("'''a", True),
        ("x = 1 + \\", True),
        ("import torch; x", False),
        ("a\0b", False),
        ("(" * 500, False),
    ],
)
def test_input_that_is_not_complete(code: str, further: bool) -> None:
    assert goes_on(code) is further


NAMES = ("weights", "weights_back", "inputs")


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("we", ("weights", "weights_back")),
        ("x = inp", ("inputs", "input")),
        ("weights_", ("weights_back",)),
        ("torch.we", ()),
        ("3we", ()),
        ("", ()),
        ("we ", ()),
        ("print(leng", ()),
        ("le", ("len",)),
    ],
)
def test_completions(before: str, found: tuple[str, ...]) -> None:
    assert completions(before, NAMES) == found


def test_the_common_prefix() -> None:
    assert shared(()) == ""
    assert shared(("one",)) == "one"
    assert shared(("weights", "weights_back", "web")) == "we"


class PromptApp(App[None]):
    """An app with a prompt, which keeps the posted messages."""

    def __init__(self) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.prompt = PromptInput()
        self.entered: list[str] = []
        self.offered: list[tuple[str, ...]] = []

    def compose(self) -> ComposeResult:
        yield self.prompt

    def on_mount(self) -> None:
        self.prompt.names = NAMES
        self.prompt.focus()

    @on(PromptInput.Entered)
    def note(self, event: PromptInput.Entered) -> None:
        self.entered.append(event.code)

    @on(PromptInput.Completions)
    def note_completions(self, event: PromptInput.Completions) -> None:
        self.offered.append(event.names)


async def test_enter_runs_what_is_complete() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"2+2", "enter", "enter", "space", "enter")
        assert app.entered == ["2+2"]
        assert app.prompt.text == " "


async def test_a_block_is_indented_and_ended_by_an_empty_line() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"for i in x:", "enter", *"print(i)", "enter", "enter")
        assert app.entered == ["for i in x:\n    print(i)"]
        assert app.prompt.text == ""


async def test_open_brackets() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"f(1,", "enter", *"2)", "enter")
        assert app.entered == ["f(1,\n2)"]


async def test_enter_in_the_middle_makes_a_line() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.replace_code("a\nb")
        await pilot.press("up", "enter")
        assert (app.entered, app.prompt.text) == ([], "a\n\nb")


async def test_earlier_inputs() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("up", "down", *"one", "enter", *"two", "enter", *"two", "enter", *"dra")
        await pilot.press("up")
        assert app.prompt.text == "two"
        await pilot.press("up", "up")
        assert app.prompt.text == "one"
        await pilot.press("down", "down")
        assert app.prompt.text == "dra"
        await pilot.press("down")
        assert app.prompt.text == "dra"
        await pilot.press("up", "enter")
        assert app.entered == ["one", "two", "two", "two"]
        app.prompt.restart()
        await pilot.press("up")
        assert app.prompt.text == ""


async def test_an_earlier_input_of_several_lines() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"one", "enter", *"if 1:", "enter", *"a", "enter", "enter", "up", "up", "up")
        # Up moves through the lines of the input, then to the previous input.
        assert app.prompt.text == "one"


async def test_tab_indents_and_completes() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("tab", *"wei", "tab")
        assert app.prompt.text == "    weights"
        assert app.offered == [("weights", "weights_back")]
        await pilot.press("_", "tab")
        assert app.prompt.text == "    weights_back"
        assert app.offered[-1] == ()
        await pilot.press("ctrl+u")
        assert app.prompt.text == ""


async def test_nothing_is_entered_while_an_input_runs() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.held = True
        await pilot.press("a", "enter")
        assert (app.entered, app.prompt.text) == ([], "a")
        app.prompt.held = False
        await pilot.press("enter")
        assert app.entered == ["a"]


async def test_keys_that_are_not_ours_are_typed() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"nqm?bs", "backspace")
        assert app.prompt.text == "nqm?b"
