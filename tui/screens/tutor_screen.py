"""The one screen of the tutor."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from tui.actions.bindings import bindings


class TutorScreen(Screen[None]):
    """The one screen. Moving the focus does not repaint all of it, as it does in Textual's own."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("screen")]

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
