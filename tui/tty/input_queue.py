"""One queue for everything that a learner types, pastes and clicks: each event takes effect before the next is handled.

Textual hands an event to the widget that has the focus when the event arrives, and goes on. A character takes effect
there, in the widget's own message queue. A key that is bound to an action first rises through the queues of all
ancestors to the app, and what its action posts (a value submitted, a pane left) makes a journey of its own. So what was
typed behind such a key overtakes it: `1 2 backspace 3` in one read becomes `12`, and what follows the enter that opens
an editor goes to the pane that had the focus before.
"""

from __future__ import annotations

import asyncio
from collections import deque

from textual.app import App
from textual.events import Event, Key, MouseEvent, Paste
from textual.message import Message


class OrderedInputApp(App[None]):
    """An app for which input that arrives at once is the same as input that arrives slowly."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting_input: deque[Event] = deque()
        self._input_in_effect = False

    def post_message(self, message: Message) -> bool:
        """Post a message to the app; input that is new waits until the input before it has taken effect."""
        if not isinstance(message, Key | MouseEvent | Paste) or message.is_forwarded:
            return super().post_message(message)
        self._waiting_input.append(message)
        if not self._input_in_effect:
            self._hand_on()
        return True

    def _hand_on(self) -> None:
        """Handle the next event now, and the one after it when there is nothing left to do."""
        self._input_in_effect = bool(self._waiting_input) and super().post_message(self._waiting_input.popleft())
        if self._input_in_effect:
            asyncio.get_running_loop().call_soon(self._hand_on_at_rest)

    def _hand_on_at_rest(self) -> None:
        loop = asyncio.get_running_loop()
        if getattr(loop, "_ready", ()):
            # A message is on its way, or its handler is. What waits for a thread or a timer is not in there.
            loop.call_soon(self._hand_on_at_rest)
        elif self.is_running and self.screen._callbacks:
            # Called by the screen after these.
            self.call_after_refresh(self._hand_on_at_rest)
        else:
            self._hand_on()
