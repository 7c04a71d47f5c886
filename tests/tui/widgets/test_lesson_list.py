"""The list of lessons on the course map."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.geometry import Region

from attn_tutor.tui.widgets.lesson_list import LessonEntry, LessonList, fitting_word
from tests.tui.painted import painted_lines, painted_strips

ENTRIES = (
    LessonEntry("▶", "Continue: 2. Softmax", strong=True),
    *(LessonEntry("·", f"{number:2}. Lesson {number}", count="1/9" if number == 2 else "") for number in range(1, 12)),
)


class ListApp(App[None]):
    CSS = "LessonList { height: 1fr; }"

    def __init__(self, entries: tuple[LessonEntry, ...] = ENTRIES) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.list = LessonList()
        self.entries = entries
        self.moved: list[int] = []
        self.chosen: list[int] = []
        self.refreshed: list[Region] = []

    def compose(self) -> ComposeResult:
        yield self.list

    def on_mount(self) -> None:
        self.list.show(self.entries)
        self.list.focus()

    def on_lesson_list_moved(self, event: LessonList.Moved) -> None:
        self.moved.append(event.index)

    def on_lesson_list_chosen(self, event: LessonList.Chosen) -> None:
        self.chosen.append(event.index)

    @property
    def lines(self) -> list[str]:
        """The painted lines."""
        return painted_lines(self)

    @property
    def reversed_line(self) -> int:
        """The index of the line under the cursor."""
        [line] = [
            line
            for line, strip in enumerate(painted_strips(self))
            if any(segment.style is not None and segment.style.reverse for segment in strip)
        ]
        return line


async def test_keys() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.press("up", "down", "down", "enter")
        assert (app.list.cursor, app.moved, app.chosen) == (2, [1, 2], [2])
        await pilot.press("end", "down", "space", "pageup", "home", "up")
        assert (app.list.cursor, app.chosen) == (0, [2, 11])
        await pilot.press("pagedown")
        assert app.list.cursor == 5


async def test_lines() -> None:
    app = ListApp()
    async with app.run_test(size=(26, 20)) as pilot:
        await pilot.press("down")
        assert app.lines[:4] == [
            " ▶ Continue: 2. Softmax",
            " ·  1. Lesson 1",
            " ·  2. Lesson 2       1/9",
            " ·  3. Lesson 3",
        ]
        assert app.reversed_line == 1
        await pilot.resize_terminal(18, 20)
        assert app.lines[0] == " ▶ Continue: 2.…"
        assert app.lines[2] == " ·  2. Lesso… 1/9"


async def test_a_screen_with_fewer_lines() -> None:
    """The cursor stays visible, and the lines scroll with it, down and back up."""
    app = ListApp()
    async with app.run_test(size=(40, 5)) as pilot:
        seen = []
        for key in ["down"] * 11 + ["up"] * 11:
            await pilot.press(key)
            assert ENTRIES[app.list.cursor].text in app.lines[app.reversed_line]
            seen.append(app.lines)
        # The drawing of a cursor position depends on nothing but that.
        for cursor in range(1, 11):
            assert seen[cursor - 1] == seen[21 - cursor], cursor


async def test_a_move_repaints_two_lines() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 20)) as pilot:
        refresh = app.list.refresh

        def noted(*regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> LessonList:
            app.refreshed += regions or [app.list.size.region]
            return refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

        app.list.refresh = noted  # type: ignore[method-assign]
        await pilot.press("down")
        assert app.refreshed == [Region(0, 0, 40, 1), Region(0, 1, 40, 1)]
        app.refreshed.clear()
        app.list.show(ENTRIES)
        assert app.refreshed == []


async def test_mouse() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.click(LessonList, offset=(4, 3))
        assert (app.list.cursor, app.chosen) == (3, [])
        await pilot.click(LessonList, offset=(4, 3))
        assert app.chosen == [3]
        await pilot.click(LessonList, offset=(4, 18))
        assert (app.list.cursor, app.chosen) == (3, [3])


async def test_fewer_lines_and_none() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.press("end")
        app.list.show(ENTRIES[:3])
        await pilot.pause()
        assert app.list.cursor == 2
        app.list.show(())
        await pilot.press("enter", "down")
        assert (app.list.cursor, app.chosen) == (0, [])


def test_a_word_never_eats_a_title() -> None:
    for count, words, short in (
        ("", ("tested out", "review"), " tested out "),
        ("27/29", ("rest skipped",), " 27/29 "),
        ("", ("done",), " "),
    ):
        entry = LessonEntry("●", " 4. Attention as a class", words, count)
        whole = ", ".join(filter(None, (count, *words)))
        full = len(f" ● {entry.text} {whole} ")
        assert fitting_word(entry, full) == f" {whole} "
        assert fitting_word(entry, full - 1) == short
    # A count is short, and nothing else says it.
    assert fitting_word(LessonEntry("◐", "12. The attention layer of PyTorch", ("review",), "3/26"), 20) == " 3/26 "
