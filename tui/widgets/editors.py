"""The editors for code: Textual's with fewer bytes, that of an exercise, and the input of the prompt."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Self

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.document._history import EditHistory
from textual.document._syntax_aware_document import SyntaxAwareDocument
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Location, Selection, TextAreaTheme
from tree_sitter import Language, Query

from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.state.prompt_lines import goes_on
from attn_tutor.tui.widgets.line_widget import settle

NARROW, GUTTER = 60, 6
"""The minimum width of the editor, used while it is unknown, and the width of the line numbers."""

EDITOR_THEME = TextAreaTheme(
    name="tutor",
    base_style=Style(),
    gutter_style=Style(dim=True),
    cursor_style=Style(reverse=True),
    selection_style=Style(reverse=True),
    bracket_matching_style=Style(underline=True),
    syntax_styles={
        "comment": Style(dim=True),
        "string": Style(color="green"),
        "number": Style(color="yellow"),
        "boolean": Style(color="cyan"),
        "constant.builtin": Style(color="cyan"),
        "keyword": Style(color="magenta", bold=True),
        "keyword.function": Style(color="magenta", bold=True),
        "keyword.return": Style(color="magenta", bold=True),
        "keyword.operator": Style(color="magenta", bold=True),
        "include": Style(color="magenta", bold=True),
        "conditional": Style(color="magenta", bold=True),
        "repeat": Style(color="magenta", bold=True),
        "exception": Style(color="magenta", bold=True),
        "function": Style(color="cyan"),
        "method": Style(color="cyan"),
        "class": Style(color="yellow", bold=True),
        "type": Style(color="yellow"),
    },
)
"""A theme with the sixteen colors of every terminal, on the terminal's own background."""


@cache
def _query(language: Language, text: str) -> Query:
    return Query(language, text)


def _prepare_query(document: SyntaxAwareDocument, query: str) -> Query:
    return _query(document.language, query)


# For each text that an editor opens, Textual compiles the query for the colors again, which takes 30 ms, and four times
# at the start. A compiled query belongs to its language, not to a document.
SyntaxAwareDocument.prepare_query = _prepare_query  # type: ignore[assignment, method-assign]


class Editor(TextArea):
    """An editor that repaints only the lines that differ, where Textual's sends all of them.

    Its cursor does not blink: a blinking cursor sends bytes forever.
    """

    class Left(Message):
        """Posted when the learner leaves the editor."""

    _drawn: dict[int, Strip] | None = None
    """The lines as last drawn, once the editor has any."""
    _comparing = False

    def on_mount(self) -> None:
        """Set up colors and cursor for any terminal."""
        self.register_theme(EDITOR_THEME)
        self.theme = "tutor"
        self.cursor_blink = False
        self.highlight_cursor_line = False

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        # As `Steady` does: Textual takes the style of the editor's parts from its first base alone.
        changed = super()._size_updated(size, virtual_size, container_size, layout)
        if changed:
            settle(self)
        return changed

    def render_line(self, y: int) -> Strip:
        """Render one line, and keep it to compare the next one with."""
        strip = super().render_line(y)
        if self._drawn is None:
            self._drawn = {}
        self._drawn[y] = strip
        return strip

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Repaint only the lines that differ when a repaint of the whole editor is requested."""
        if regions or recompose or not repaint or not self._drawn or not self.size:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        if not self._comparing:
            self._comparing = True
            # In the middle of an edit, the text is new but its colors are not. Highlight after it, and once per run of
            # keys.
            self.call_later(self._repaint_differing)
        return super().refresh(repaint=False, layout=True) if layout else self

    def _repaint_differing(self) -> None:
        self._comparing = False
        previous, width = self._drawn or {}, self.size.width
        for y in range(self.size.height):
            if previous.get(y) != super().render_line(y):
                super().refresh(Region(0, y, width, 1))

    async def _on_key(self, event: events.Key) -> None:
        if event.key not in ("escape", "enter"):
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.post_message(self.Left())
        else:
            self.action_enter()

    def action_enter(self) -> None:
        """Insert a new line with the indentation of the line before, one level deeper after a colon."""
        start, end = sorted((self.selection.start, self.selection.end))
        before = self.document.get_line(start[0])[: start[1]]
        indent = before[: len(before) - len(before.lstrip())]
        if before.rstrip().endswith(":"):
            indent += " " * self.indent_width
        self.replace("\n" + indent, start, end, maintain_selection_offset=False)

    def select(self, text: str) -> bool:
        """Select the first occurrence of a text, so that typing replaces it. Returns whether there is one."""
        for row, line in enumerate(self.text.split("\n")):
            if (column := line.find(text)) >= 0:
                self.selection = Selection((row, column), (row, column + len(text)))
                return True
        return False

    def go_to_last_line(self) -> None:
        """Put the cursor at the end of the last line with content, or below it if that line is too wide.

        In code that is longer than the editor, the cursor stays at the beginning, since the learner reads the code
        first.
        """
        lines = self.text.split("\n")
        row = max((index for index, line in enumerate(lines) if line.strip()), default=0)
        if row >= (self.size.height or len(lines)):
            return
        line = lines[row]
        fits = len(line) < (self.size.width or NARROW) - GUTTER
        if fits or row + 1 == len(lines):
            self.move_cursor((row, len(line) if fits else len(line) - len(line.lstrip())))
        else:
            self.move_cursor((row + 1, 0))


LEVEL = 4
MARK = Style(bold=True, color="red")
CHECKPOINTS = 1000
"""The number of undo steps remembered per exercise."""

COMMENT = re.compile(r"^(\s*)# ?")


def indented(lines: list[str]) -> list[str]:
    """Indent lines by one level; empty ones stay empty."""
    return [" " * LEVEL + line if line.strip() else line for line in lines]


def dedented(lines: list[str]) -> list[str]:
    """Dedent lines by one level, as far as they have leading spaces."""
    return [line[min(LEVEL, len(line) - len(line.lstrip(" "))) :] for line in lines]


def commented(lines: list[str]) -> list[str]:
    """Comment lines out, or uncomment them if all of them are commented out."""
    full = [line for line in lines if line.strip()]
    if full and all(COMMENT.match(line) for line in full):
        return [COMMENT.sub(r"\1", line, count=1) for line in lines]
    edge = min((len(line) - len(line.lstrip()) for line in full), default=0)
    return [f"{line[:edge]}# {line[edge:]}" if line.strip() else line for line in lines]


def marked_in_sight(top: int, height: int, marked: int, cursor: int) -> int:
    """Return the first visible line for which a marked line is visible, and the line of the cursor if both fit."""
    first, last = min(marked, cursor), max(marked, cursor)
    if last - first < height:
        return max(0, min(top, first), last - height + 1)
    return top if top <= marked < top + height else max(0, marked - height // 2)


@dataclass(frozen=True, slots=True)
class _Left:
    """The state of an editor when its text was closed, to be resumed if the text is still the same."""

    text: str
    history: EditHistory
    selection: Selection


class CodeEditor(Editor):
    """The editor in which an answer is written."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("editor")]

    def __init__(self, *, unicode: bool = True, id: str | None = None) -> None:
        super().__init__("", language="python", show_line_numbers=True, soft_wrap=False, tab_behavior="indent", id=id)
        self._sign = "✗" if unicode else "x"
        self._marked: int | None = None
        self._opened = ""
        self._left: dict[str, _Left] = {}
        self.history = self._fresh()

    @staticmethod
    def _fresh() -> EditHistory:
        return EditHistory(max_checkpoints=CHECKPOINTS, checkpoint_timer=2.0, checkpoint_max_characters=100)

    def open(self, name: str, text: str) -> bool:
        """Show the text of this name. Returns whether it is unchanged since it was closed, so that undo continues."""
        if self._opened:
            self._left[self._opened] = _Left(self.text, self.history, self.selection)
        self._opened, self._marked = name, None
        before = self._left.pop(name, None)
        self.history = self._fresh()
        self.load_text(text)
        if before is None or before.text != text:
            return False
        self.history, self.selection = before.history, before.selection
        return True

    # The line of an error ----------------------------------------------------------------------------------------

    def mark(self, line: int | None) -> None:
        """Mark the number of a line, counted from 1; None removes the mark."""
        if line != self._marked:
            self._marked = line
            self._line_cache.clear()
            self.refresh()

    def show_marked(self) -> None:
        """Scroll to the marked line, and to the cursor, if they are out of sight; the cursor stays where it is."""
        if not self.size.height:
            return
        row = self.cursor_location[0]
        marked = row if self._marked is None else self._marked - 1
        top = marked_in_sight(self.scroll_offset.y, self.size.height, marked, row)
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)

    def _render_line(self, y: int) -> Strip:
        strip = super()._render_line(y)
        if self._marked is None or y + self.scroll_offset.y != self._marked - 1:
            return strip
        width = self.gutter_width
        if self._marked > self.document.line_count:
            return strip
        gutter = Segment(f"{self._marked:>{width - 2}}{self._sign} ", MARK)
        return Strip.join([Strip([gutter], width), strip.crop(width)])

    # Keys --------------------------------------------------------------------------------------------------------

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "tab" and not self.selection.is_empty:
            event.stop()
            event.prevent_default()
            self._change(indented)

    def action_to_end(self, way: int) -> None:
        """Move the cursor to the end of the code, or with `way` -1 to its beginning."""
        self.move_cursor(self.document.end if way > 0 else (0, 0))

    def action_dedent(self) -> None:
        """Dedent the line of the cursor, or all selected lines, by one level."""
        self._change(dedented)

    def action_comment(self) -> None:
        """Comment out the line of the cursor, or all selected lines, or uncomment them."""
        self._change(commented)

    def action_delete_left(self) -> None:
        """Delete one level of indentation at the beginning of a line, elsewhere one character."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if not self.selection.is_empty or not column or before.strip(" "):
            super().action_delete_left()
            return
        self.delete((row, (column - 1) // LEVEL * LEVEL), (row, column), maintain_selection_offset=False)

    def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        """Replace the selected lines; the selection stays."""
        selection = self.selection
        (top, _), (bottom, column) = sorted(selection)
        if bottom > top and column == 0:
            # The last line of the selection contains no selected character.
            bottom -= 1
        before = [self.document.get_line(row) for row in range(top, bottom + 1)]
        after = change(before)
        if after == before:
            return
        self.history.checkpoint()
        self.replace("\n".join(after), (top, 0), (bottom, len(before[-1])), maintain_selection_offset=False)

        def moved(location: Location) -> Location:
            row, column = location
            if not top <= row <= bottom or (column == 0 and not selection.is_empty):
                return location
            return row, max(0, column + len(after[row - top]) - len(before[row - top]))

        self.selection = Selection(moved(selection.start), moved(selection.end))
        self.history.checkpoint()


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
