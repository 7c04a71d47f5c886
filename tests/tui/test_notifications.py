"""Notifications stand above the last two lines of the screen, however long they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App
from textual.widgets._toast import Toast

from attn_tutor import tui


class Notified(App[None]):
    """An app with the style of the tutor."""

    CSS_PATH = Path(tui.__file__).parent / "app.tcss"


@pytest.mark.asyncio
@pytest.mark.parametrize("length", [95, 96, 97, 98, 200])
async def test_a_long_notification_is_shown_to_its_end(length: int) -> None:
    """Of one that was just too long for a line, the second line was below the last one that is seen."""
    app = Notified()
    async with app.run_test(size=(100, 36), notifications=True) as pilot:
        app.notify(("x" * 9 + " ") * (length // 10) + "y" * (length % 10), markup=False)
        await pilot.pause()
        await pilot.pause()
        assert app.screen.query_one(Toast).region.bottom == 34
