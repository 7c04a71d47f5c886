"""Where a learner types Python, in one line or several: enter runs what is complete, up and down bring back earlier."""

from __future__ import annotations

import ast
import builtins
import codeop
import re
import warnings
from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from tui.actions.bindings import bindings
from tui.widgets.editor import Editor

COMPOUND = (
    ast.For
    | ast.AsyncFor
    | ast.While
    | ast.If
    | ast.With
    | ast.AsyncWith
    | ast.Try
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | ast.Match
)
WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*$")
INDENT = "    "
BUILTINS = tuple(name for name in dir(builtins) if name[0].islower())
MOST_HISTORY = 500


def goes_on(code: str) -> bool:
    """Whether enter is to begin a new line: brackets are open, or a block has not been ended by an empty line."""
    if not code.rpartition("\n")[2].strip():
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if codeop.compile_command(code, symbol="exec") is None:
                return True
            body = ast.parse(code).body
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
        # It is run all the same: then it is told what is wrong.
        return False
    return bool(body) and isinstance(body[-1], COMPOUND)


def completions(before: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that the word before the cursor may be the beginning of."""
    word = WORD.search(before)
    if word is None:
        return ()
    found = [name for name in dict.fromkeys((*names, *BUILTINS)) if name.startswith(word[0]) and name != word[0]]
    return tuple(found)


def shared(words: Sequence[str]) -> str:
    """What all the words begin with."""
    if not words:
        return ""
    first, last = min(words), max(words)
    end = next((place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:end]


class PromptInput(Editor):
    """The prompt. It posts what is to be run, and keeps what has been."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("prompt-line")]

    class Entered(Message):
        """This is to be run."""

        def __init__(self, code: str) -> None:
            self.code = code
            super().__init__()

    class Completions(Message):
        """These names are possible; none if there is nothing to choose from."""

        def __init__(self, names: tuple[str, ...]) -> None:
            self.names = names
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", language="python", show_line_numbers=False, soft_wrap=False, id=id)
        self.names: tuple[str, ...] = ()
        self.held = False
        self._history: list[str] = []
        # Where in the history the learner is; at its end stands what they have not entered yet.
        self._place = 0
        self._draft = ""

    def restart(self) -> None:
        """An empty prompt without history."""
        self._history, self._place, self._draft = [], 0, ""
        self.put("")

    def put(self, code: str) -> None:
        """Write this into the prompt, with the cursor at its end."""
        self.replace(code, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        """Tab completes or indents; what other keys do is the editor's business."""
        if event.key == "tab":
            event.stop()
            event.prevent_default()
            self._complete()

    def action_enter(self) -> None:
        """Enter: run the input if it is complete."""
        if self.cursor_location[0] + 1 < self.document.line_count or goes_on(self.text):
            super().action_enter()
            return
        code = self.text.rstrip()
        if not code.strip() or self.held:
            return
        if self._history[-1:] != [code]:
            self._history = [*self._history[1 - MOST_HISTORY :], code]
        self._place, self._draft = len(self._history), ""
        self.put("")
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
        """From the first line to the input before."""
        if select or self.cursor_location[0] > 0:
            super().action_cursor_up(select)
        else:
            self._recall(self._place - 1)

    def action_cursor_down(self, select: bool = False) -> None:
        """From the last line to the input after."""
        if select or self.cursor_location[0] + 1 < self.document.line_count:
            super().action_cursor_down(select)
        else:
            self._recall(self._place + 1)

    def _recall(self, place: int) -> None:
        if not 0 <= place <= len(self._history):
            return
        if self._place == len(self._history):
            self._draft = self.text
        self._place = place
        self.put(self._history[place] if place < len(self._history) else self._draft)

    def action_clear(self) -> None:
        """Away with what has been typed."""
        self.put("")
