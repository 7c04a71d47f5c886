"""The only screen of the tutor."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.tty import screen_gate

# Whatever is painted is on this screen.
screen_gate.install()


class TutorScreen(Screen[None]):
    """The only screen of the tutor. Unlike in Textual's own class, moving the focus does not repaint all of it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("screen")]

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
