"""One line of text."""

from __future__ import annotations

from unittest.mock import Mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult

from attn_tutor.tui.widgets.text import TextLine


class LineApp(App[None]):
    def __init__(self, line: TextLine) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.line = line

    def compose(self) -> ComposeResult:
        yield self.line

    @property
    def text(self) -> str:
        return self.line.render_line(0).text


async def test_left_and_right() -> None:
    app = LineApp(TextLine(" Softmax", "lesson 1   step 6 of 9 "))
    async with app.run_test(size=(60, 1)) as pilot:
        assert app.text == " Softmax" + " " * 29 + "lesson 1   step 6 of 9 "
        assert app.line.text == " Softmax"
        app.line.set(Text("[b]Softmax[/b]"))
        assert app.text.rstrip() == "[b]Softmax[/b]"
        await pilot.pause()


async def test_in_too_little_room() -> None:
    app = LineApp(TextLine("The query meets every token", "lesson 1 "))
    async with app.run_test(size=(60, 1)) as pilot:
        for width, expected in (
            (40, "The query meets every token    lesson 1 "),
            (30, "The query meets eve… lesson 1 "),
            (16, "The query meets…"),
            (1, "…"),
        ):
            await pilot.resize_terminal(width, 1)
            assert app.text == expected


async def test_ascii() -> None:
    app = LineApp(TextLine("The query meets every token", ellipsis="..."))
    async with app.run_test(size=(12, 1)):
        assert app.text == "The query..."


async def test_a_line_is_repainted_only_if_it_changed() -> None:
    app = LineApp(TextLine("weights[0,0] = 0.5"))
    async with app.run_test(size=(40, 1)):
        refresh = Mock()
        app.line.refresh = refresh  # type: ignore[method-assign]
        app.line.set("weights[0,0] = 0.5")
        app.line.set(Text("weights[0,0] = 0.5"))
        refresh.assert_not_called()
        app.line.set(Text("weights[0,0] = 0.5", Style(bold=True)))
        app.line.set("weights[0,0] = 0.5", "more")
        assert refresh.call_count == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20)
@given(st.text("ab Ж你\u0301", max_size=30), st.text("ab Ж你\u0301", max_size=30))
async def test_a_line_is_always_as_wide_as_the_screen(left: str, right: str) -> None:
    app = LineApp(TextLine(left, right))
    async with app.run_test(size=(20, 1)) as pilot:
        assert cell_len(app.text) == 20
        await pilot.resize_terminal(3, 1)
        assert cell_len(app.text) == 3
