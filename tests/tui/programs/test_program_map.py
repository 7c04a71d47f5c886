"""The list of the tensors of a program."""

from __future__ import annotations

from typing import NamedTuple

from textual.app import App, ComposeResult

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.reading.course_outline import CourseOutline, LessonOutline
from attn_tutor.tui.programs.program_map import ProgramMap
from attn_tutor.tui.screens.map_view import MapView
from attn_tutor.tui.sources.source import TensorRow
from attn_tutor.tui.tty.terminal import Terminal
from tests.tui.painted import painted_lines


class Listed(NamedTuple):
    """What the list shows."""

    rows: tuple[TensorRow, ...]
    outline: CourseOutline = CourseOutline((LessonOutline("program", 0, "mine.py", "", None, ()),), "mine.py")


def test_a_terminal_without_unicode_gets_ascii() -> None:
    rows = [TensorRow("page-1", "x", ("5×4", "float32"), "x", "5×4 numbers.")]
    for terminal, text in ((Terminal(), "5×4"), (Terminal(unicode=False), "5x4")):
        view = ProgramMap(terminal)
        view.show(Listed(tuple(rows)), Progress.unkept())
        assert view.row is not None
        assert (view.row.columns[0], view.row.about) == (text, f"{text} numbers.")


class MapApp(App[None]):
    """The list of many tensors alone, which keeps the pages that were opened."""

    CSS = "ProgramMap { layout: vertical; height: 1fr; } ProgramMap #tensors { height: 1fr; } TextPane { height: 3; }"

    def __init__(self) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.view = ProgramMap(Terminal())
        self.opened: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        names = [f"model.h.{layer}.{name}" for layer in range(100) for name in ("attn.weight", "attn.bias", "mlp.bias")]
        rows = [TensorRow(f"page-{number}", name, ("4",), name) for number, name in enumerate(names)]
        self.view.show(Listed(tuple(rows)), Progress.unkept())
        self.view.list.focus()

    def on_map_view_open(self, event: MapView.Open) -> None:
        self.opened.append(event.step)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in painted_lines(self)]


async def test_words_leave_the_names_that_have_them() -> None:
    app = MapApp()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("slash", *"ATTN 7")
        await pilot.pause()
        # The keys of the app are letters here.
        assert app.lines[0].split() == ["Search", ">", "ATTN", "7", "38", "of", "300"]
        assert app.lines[1].split() == ["model.h.7.attn.weight", "4"]
        await pilot.press(*"0 w", "enter")
        assert app.lines[:4] == [
            " Search > ATTN 70 w                       1 of 300",
            "   model.h.70.attn.weight  4",
            "",
            "",
        ]
        await pilot.press("enter")
        await pilot.pause()
        assert app.opened == ["page-210"]
        # Words that no name has leave nothing, and can be taken back.
        await pilot.press("slash", "x")
        await pilot.pause()
        assert app.view.row is None
        assert "No name has these words." in "".join(app.lines)
        await pilot.press("enter", "enter", "escape")
        await pilot.pause()
        assert app.opened == ["page-210"]
        assert app.lines[0].split() == ["model.h.0.attn.weight", "4"]
        assert "search" not in " ".join(app.view.hints[3:])


async def test_the_tensor_under_the_cursor_stays_there_while_words_are_typed() -> None:
    app = MapApp()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("end", "slash", *"bias")
        await pilot.pause()
        assert app.view.row is not None
        assert app.view.row.label == "model.h.99.mlp.bias"
        await pilot.press("up", "escape")
        await pilot.pause()
        assert app.view.row.label == "model.h.99.attn.bias"
        assert app.view.list.has_focus
        # With no words, the key goes on to whoever wants it.
        assert not app.view.check_action("show_all", ())
