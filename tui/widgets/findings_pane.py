"""What is wrong with the files of a preview, above the step: as high as its text, and hidden if there is none."""

from __future__ import annotations

from rich.text import Text

from attn_tutor.tui.widgets.line_widget import set_height
from attn_tutor.tui.widgets.text_pane import TextPane

MOST_LINES = 9
"""The most lines of the screen that findings take, so that the step below stays readable."""


class FindingsPane(TextPane, can_focus=False):
    """A text of a few lines that never takes the focus."""

    DEFAULT_CSS = """
    FindingsPane {
        display: none;
        height: 0;
        width: 1fr;
    }
    """

    def show_findings(self, text: Text | None) -> None:
        """Show a text, or nothing."""
        self.show(text or Text())
        self.fit()

    def on_resize(self) -> None:
        """Fit the new width of the screen."""
        self.fit()

    def fit(self) -> None:
        """Take as many lines as the text needs on this screen, and one to set it off from the step."""
        lines = self.lines_at(self.screen.size.width)
        set_height(self, min(lines + 1, MOST_LINES) if lines else 0)
