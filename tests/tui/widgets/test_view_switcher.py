"""The views and the panel beside them."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Container

from attn_tutor.tui.render.step_layout import WIDE
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import Box
from attn_tutor.tui.widgets.side_panel import SidePanel
from attn_tutor.tui.widgets.view_switcher import Middle, ViewSwitcher
from tests.tui.painted import painted_lines


class Switching(App[None]):
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]

    def compose(self) -> ComposeResult:
        self.views = ViewSwitcher(Box(id="one"), Box(id="two"), Container(id="three"), initial="one")
        self.middle = Middle(self.views, SidePanel(Terminal(), id="side"))
        yield self.middle


async def test_a_view_knows_its_room_before_it_is_laid_out() -> None:
    app = Switching()
    async with app.run_test(size=(80, 24)) as pilot:
        for width in (80, 109, 110, 117, 120, 139, 160, 199, 200, 240, 300):
            await pilot.resize_terminal(width, 40)
            for alone in (False, True):
                app.middle.alone = alone
                hidden = app.query_one("#two", Box).room
                await pilot.pause()
                assert hidden == app.views.size == app.query_one("#one", Box).room, (width, alone)
                assert (app.views.size.width < width) == (width >= WIDE and not alone)
        assert painted_lines(app)
