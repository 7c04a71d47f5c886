"""The input of the prompt: Python in one or several lines. Enter runs complete input, Up and Down recall earlier."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.state.prompt_lines import goes_on
from attn_tutor.tui.widgets.editor import Editor

WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*$")
INDENT = "    "
FIRST, GOES_ON = ">>> ", "... "
"""What stands before the lines of an input, as Python has it."""

SIGN = Style(dim=True)
BUILTINS = tuple(name for name in dir(builtins) if name[0].islower())
MOST_HISTORY = 500


def completions(before: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that the word before the cursor may be completed to."""
    word = WORD.search(before)
    if word is None:
        return ()
    found = [name for name in dict.fromkeys((*names, *BUILTINS)) if name.startswith(word[0]) and name != word[0]]
    return tuple(found)


def shared(words: Sequence[str]) -> str:
    """Return the longest common prefix of the words."""
    if not words:
        return ""
    first, last = min(words), max(words)
    end = next((index for index, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:end]


class PromptInput(Editor):
    """The input of the prompt. Posts `Entered` with input to be run, and keeps it in the history."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("prompt-line")]

    class Entered(Message):
        """Posted with the input to be run."""

        def __init__(self, code: str) -> None:
            self.code = code
            super().__init__()

    class Completions(Message):
        """Posted with the possible completions; empty if there is no choice to make."""

        def __init__(self, names: tuple[str, ...]) -> None:
            self.names = names
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", language="python", show_line_numbers=True, soft_wrap=False, id=id)
        self.names: tuple[str, ...] = ()
        self.held = False
        self._history: list[str] = []
        # The position in the history; at its end is the text that has not been entered yet.
        self._position = 0
        self._draft = ""

    def restart(self) -> None:
        """Clear the input and the history."""
        self._history, self._position, self._draft = [], 0, ""
        self.replace_code("")

    def replace_code(self, code: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.replace(code, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    @property
    def gutter_width(self) -> int:
        """The width of the signs before the lines."""
        return len(FIRST)

    def _render_line(self, y: int) -> Strip:
        strip = super()._render_line(y)
        line = y + self.scroll_offset.y
        if line >= self.document.line_count:
            return strip
        return Strip.join([Strip([Segment(GOES_ON if line else FIRST, SIGN)], len(FIRST)), strip.crop(len(FIRST))])

    async def _on_key(self, event: events.Key) -> None:
        """Complete or indent on Tab; the editor handles all other keys."""
        if event.key == "tab":
            event.stop()
            event.prevent_default()
            self._complete()

    def action_enter(self) -> None:
        """Run the input if it is complete, else begin a new line."""
        if self.cursor_location[0] + 1 < self.document.line_count or goes_on(self.text):
            super().action_enter()
            return
        code = self.text.rstrip()
        if not code.strip() or self.held:
            return
        if self._history[-1:] != [code]:
            self._history = [*self._history[1 - MOST_HISTORY :], code]
        self._position, self._draft = len(self._history), ""
        self.replace_code("")
        self.post_message(self.Entered(code))

    def _complete(self) -> None:
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        word = WORD.search(before)
        if word is None:
            self.insert(INDENT)
            return
        found = completions(before, self.names)
        if common := shared(found)[len(word[0]) :]:
            self.insert(common)
        self.post_message(self.Completions(found if len(found) > 1 else ()))

    # History -----------------------------------------------------------------------------------------------------

    def action_cursor_up(self, select: bool = False) -> None:
        """Move up, from the first line to the previous input."""
        if select or self.cursor_location[0] > 0:
            super().action_cursor_up(select)
        else:
            self._recall(self._position - 1)

    def action_cursor_down(self, select: bool = False) -> None:
        """Move down, from the last line to the next input."""
        if select or self.cursor_location[0] + 1 < self.document.line_count:
            super().action_cursor_down(select)
        else:
            self._recall(self._position + 1)

    def _recall(self, index: int) -> None:
        if not 0 <= index <= len(self._history):
            return
        if self._position == len(self._history):
            self._draft = self.text
        self._position = index
        self.replace_code(self._history[index] if index < len(self._history) else self._draft)

    def action_clear(self) -> None:
        """Clear the input."""
        self.replace_code("")
