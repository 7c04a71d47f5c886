"""Text that is wrapped and scrolls."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.geometry import Region

from attn_tutor.tui.widgets.text import TextPane, wrapped_code
from tests.tui.painted import painted_lines

TEN = "\n".join(f"line {number}" for number in range(1, 11))


class PaneApp(App[None]):
    """An app with a pane above a different widget that can have the focus."""

    CSS = "#pane { height: 5; } #other { height: 2; }"

    def __init__(self, theme: str = "ansi-dark") -> None:
        super().__init__()
        self.theme = theme
        self.pane = TextPane(id="pane")
        self.other = TextPane(id="other")
        self.refreshed: list[Region] = []

    def compose(self) -> ComposeResult:
        yield from (self.pane, self.other)

    def on_mount(self) -> None:
        self.pane.focus()

    def watch_refreshes(self) -> None:
        """Start to note what the pane repaints."""
        refresh = self.pane.refresh

        def noted(*regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> TextPane:
            if repaint:
                self.refreshed += regions or [self.pane.size.region]
            return refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

        self.pane.refresh = noted  # type: ignore[method-assign]

    @property
    def screen_lines(self) -> list[str]:
        """The lines on the screen, which may differ from those that would be painted now."""
        return painted_lines(self)

    @property
    def lines(self) -> list[str]:
        """The painted lines of the pane."""
        return self.screen_lines[: self.pane.size.height]


async def test_long_lines_are_wrapped() -> None:
    app = PaneApp()
    async with app.run_test(size=(20, 10)) as pilot:
        app.pane.show(Text("The query meets every key.\n\nAnother."))
        await pilot.pause()
        assert app.lines == [" The query meets", " every key.", "", " Another.", ""]
        assert app.pane.text == "The query meets every key.\n\nAnother."
        assert (app.pane.lines_at(20), app.pane.lines_at(80), app.other.lines_at(20)) == (4, 3, 0)
        assert app.pane.widest == len("The query meets every key.") + 2


async def test_markup_and_control_characters_are_drawn_literally() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(Text("[red]x[/red] [/] [link=y]"))
        await pilot.pause()
        assert app.lines[0] == " [red]x[/red] [/] [link=y]"


async def test_more_lines() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(Text(TEN))
        await pilot.pause()
        assert app.lines == [" line 1", " line 2", " line 3", " line 4", " … 6 more lines: arrows"]
        await pilot.press("down")
        assert app.lines == [" line 2", " line 3", " line 4", " line 5", " … 5 more lines: arrows"]
        await pilot.press("pagedown")
        assert app.lines[0] == " line 5"
        await pilot.press("end", "down")
        assert app.lines == [f" line {number}" for number in range(6, 11)]
        await pilot.press("home", "up", "pageup")
        assert app.lines[0] == " line 1"
        app.pane.show(Text("one\ntwo"))
        await pilot.press("down", "end")
        assert app.lines == [" one", " two", "", "", ""]


async def test_the_hint_names_the_keys_that_lead_there() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(Text(TEN))
        await pilot.pause()
        assert app.lines[-1] == " … 6 more lines: arrows"
        app.other.focus()
        await pilot.pause()
        assert app.lines[-1] == " … 6 more lines: tab, then arrows"
        app.pane.focus()
        await pilot.pause()
        assert app.lines[-1] == " … 6 more lines: arrows"


async def test_a_new_text_starts_at_its_top() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(Text(TEN))
        await pilot.press("end")
        app.pane.show(Text(TEN.replace("line", "word")))
        await pilot.pause()
        assert app.lines[0] == " word 1"


@pytest.mark.parametrize("theme", ["ansi-dark", "textual-dark"])
async def test_only_lines_that_differ_are_repainted(theme: str) -> None:
    app = PaneApp(theme)
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(Text("one\ntwo\nthree"))
        await pilot.pause()
        app.watch_refreshes()
        app.pane.show(Text("one\ntwo\nthree"))
        assert app.refreshed == []
        app.pane.show(Text("one\n2\nthree\nfour"))
        assert app.refreshed == [Region(0, 1, 40, 1), Region(0, 3, 40, 1)]
        app.refreshed.clear()
        app.pane.show(Text.assemble("one\n2\n", ("three", Style(bold=True)), "\nfour"))
        assert app.refreshed == [Region(0, 2, 40, 1)]
        await pilot.pause()
        assert app.lines == [" one", " 2", " three", " four", ""]


async def test_text_set_while_hidden_is_shown_later() -> None:
    """A pane that is displayed again does not show the text that it had when it was hidden."""
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(Text("before"))
        await pilot.pause()
        app.pane.display = False
        await pilot.pause()
        app.pane.show(Text("after"))
        app.pane.display = True
        await pilot.pause()
        assert app.lines[0] == " after"


async def test_a_different_size() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 20)) as pilot:
        app.pane.show(Text(TEN + " and so on and on"))
        await pilot.press("end")
        assert app.lines[-1] == " line 10 and so on and on"
        app.pane.styles.height = 8
        await pilot.pause()
        # The additional room is used.
        assert app.lines == [*(f" line {number}" for number in range(3, 10)), " line 10 and so on and on"]
        await pilot.resize_terminal(16, 20)
        assert app.lines[-2:] == [" line 9", " … 2 more lines:"]
        await pilot.resize_terminal(40, 20)
        await pilot.press("home")
        assert app.lines[0] == " line 1"


@pytest.mark.parametrize(
    ("line", "wrapped"),
    [
        ("1  short = 1", ["1  short = 1"]),
        ("3      y = f(a, b) + g(c, d)", ["3      y = f(a, b) +", "         g(c, d)"]),
        ("    return numbers + others", ["    return numbers +", "      others"]),
        ("2  anidentifierthatisverylong", ["2  anidentifierthatisv", "     erylong"]),
    ],
)
def test_code_is_wrapped_with_its_indent(line: str, wrapped: list[str]) -> None:
    parts = wrapped_code(Text(line), 22, Console())
    assert [part.plain.rstrip() for part in parts] == wrapped


async def test_a_line_is_revealed() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 8)) as pilot:
        app.pane.show(Text(TEN))
        app.pane.reveal(6, 40, 5)
        await pilot.pause()
        assert "line 7" in " ".join(app.screen_lines[:4])
        # What is seen already moves nothing.
        shown = app.screen_lines
        app.pane.reveal(5, 40, 5)
        await pilot.pause()
        assert app.screen_lines == shown


@pytest.mark.parametrize(("first", "top"), [(3, 4), (0, 3), (None, 3)], ids=["near", "far above", "alone"])
async def test_what_a_revealed_line_belongs_to_comes_to_the_top_if_it_fits(first: int | None, top: int) -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 8)) as pilot:
        app.pane.show(Text(TEN))
        app.pane.reveal(5, 40, 5, first)
        await pilot.pause()
        assert app.screen_lines[0].strip() == f"line {top}"
