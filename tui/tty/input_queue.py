"""One queue for everything that a learner types, pastes and clicks: each event takes effect before the next is handled.

Textual hands an event to the widget that has the focus when the event arrives, and goes on. A character takes effect
there, in the widget's own message queue. A key that is bound to an action first rises through the queues of all
ancestors to the app, and messages that its action posts (a value submitted, a pane left) pass through queues of their
own. So text typed after such a key overtakes it: `1 2 backspace 3` in one read becomes `12`, and text after the enter
that opens an editor goes to the pane that had the focus before.

Input may arrive faster than it can be handled. Then ctrl+c discards what waits, as terminals do, and once more ends the
app.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import RenderableType
from textual import on
from textual.app import App
from textual.driver import Driver
from textual.events import AppBlur, AppFocus, Event, Key, MouseEvent, Paste, Resize
from textual.message import Message
from textual.screen import Screen

from attn_tutor.tui.tty.terminal_writer import resize_terminal

PAINT_EVERY = 0.25
"""Seconds after which the screen is painted even if there is more input to handle."""

MOST_AT_ONCE = 64
"""The most keys that are handed on before the first of them has taken effect; they can no longer be discarded."""

INTERRUPT = "ctrl+c"
"""The key that discards the input that waits."""


class OrderedInputApp(App[None]):
    """An app in which input that arrives at once has the same effect as input that arrives slowly.

    The screen is painted only once for such input.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting_input: deque[Event] = deque()
        self._input_in_effect: Event | None = None
        self._handed_on = 0
        self._unpainted = ExitStack()
        self._unpainted_since: float | None = None
        self._holds = 0
        self._at_rest_but_held = False
        self._awaits_rest = False

    def post_message(self, message: Message) -> bool:
        """Post a message to the app; new input waits until the input before it has taken effect."""
        if isinstance(message, Resize):
            resize_terminal(*message.size)
        if not isinstance(message, Key | MouseEvent | Paste | AppFocus | AppBlur) or message.is_forwarded:
            return super().post_message(message)
        if _is_interrupt(message):
            if any(map(_is_interrupt, self._waiting_input)):
                self.exit()
            self._waiting_input.clear()
        # The terminal may have delivered much that comes after the end of the app.
        if self._exit:
            return False
        self._waiting_input.append(message)
        self._hand_on()
        return True

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End the app, without the input that waits. Its return code stays that of the first call."""
        self._waiting_input.clear()
        if not self._exit:
            super().exit(result, return_code, message)

    def redraw_terminal(self) -> None:
        """Send all of the screen again: nothing is known of what the terminal shows."""
        resize_terminal(*self.size)

    @on(Driver.SignalResume)
    def draw_again(self) -> None:
        """Draw the screen again after the program was stopped: the terminal shows something else."""
        self.refresh(layout=True)

    @contextmanager
    def input_held(self) -> Iterator[None]:
        """Hold new input while what it is meant for awaits a thread or a timer."""
        self._holds += 1
        self._at_rest_but_held = self._at_rest_but_held or self._input_in_effect is None
        try:
            yield
        finally:
            self._holds -= 1
            if self._at_rest_but_held and not self._holds:
                self._at_rest_but_held = False
                self._continue_at_rest()

    def _hand_on(self) -> None:
        """Handle the next event once the previous one has taken full effect; text may follow text at once."""
        while self._waiting_input and self._may_follow(self._waiting_input[0]):
            event = self._waiting_input.popleft()
            if self._input_in_effect is None:
                self._continue_at_rest()
            self._input_in_effect = event
            self._handed_on += 1
            super().post_message(event)
        if not self._waiting_input:
            self._paint()
        elif self._unpainted_since is None and not self._at_rest_but_held:
            self._unpainted_since = asyncio.get_running_loop().time()
            self._unpainted.enter_context(self.batch_update())

    def _may_follow(self, event: Event) -> bool:
        before = self._input_in_effect
        if self._at_rest_but_held:
            return False
        if before is None:
            return True
        return self._handed_on < MOST_AT_ONCE and self._is_text(before) and self._is_text(event)

    def _is_text(self, event: Event) -> bool:
        """Return whether the focused widget inserts this key as text."""
        focused = self._top_screen.focused if self._top_screen is not None else None
        return isinstance(event, Key) and focused is not None and focused.check_consume_key(event.key, event.character)

    def _continue_at_rest(self) -> None:
        """Have `_await_rest` called until all work is done: once, since two would each take the other one for work."""
        if not self._awaits_rest:
            self._awaits_rest = True
            asyncio.get_running_loop().call_soon(self._await_rest)

    def _await_rest(self) -> None:
        """Continue with the next event when all work for the previous one is done."""
        loop = asyncio.get_running_loop()
        if getattr(loop, "_ready", ()):
            # A message is on its way, or its handler is running. asyncio has no public name for the callbacks that are
            # ready to run, which do not include those that await a thread or a timer.
            loop.call_soon(self._await_rest)
        elif self._holds:
            self._awaits_rest = False
            self._at_rest_but_held = True
            self._paint()
        elif self._painting_is_due(loop.time()):
            self._paint()
            self.call_after_refresh(self._await_rest)
        else:
            self._awaits_rest = False
            self._input_in_effect = None
            self._handed_on = 0
            self._hand_on()

    def _painting_is_due(self, now: float) -> bool:
        """Return whether the last paint is too long ago, or a handler waits for the next one."""
        if self._unpainted_since is not None and now - self._unpainted_since > PAINT_EVERY:
            return True
        # Textual calls these after it has painted; for example, the cursor then goes to the end of code that has a size
        # by then. Textual has no public name for the calls that wait for a paint.
        return self.is_running and self._top_screen is not None and bool(self._top_screen._callbacks)

    @property
    def _top_screen(self) -> Screen[object] | None:
        """The current screen, None before the first one and after the last one."""
        stack = self.screen_stack
        return stack[-1] if stack else None

    def _paint(self) -> None:
        self._unpainted_since = None
        self._unpainted.close()


def _is_interrupt(event: Event) -> bool:
    return isinstance(event, Key) and event.key == INTERRUPT
