"""The editor for code: Textual's, but with fewer bytes, and silent while nothing happens."""

from __future__ import annotations

from functools import cache
from typing import Self

from rich.style import Style
from textual import events
from textual.document._syntax_aware_document import SyntaxAwareDocument
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Selection, TextAreaTheme
from tree_sitter import Language, Query

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
