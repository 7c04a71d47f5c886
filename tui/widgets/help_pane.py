"""The help for the current view, on top of everything else; any key closes it."""

from __future__ import annotations

from rich.text import Text

from attn_tutor.tui.widgets.text_pane import TextPane

PAGE_KEYS = {"down": 1, "pagedown": 1, "space": 1, "up": -1, "pageup": -1}
"""Keys that turn the pages of a long help, and by how many pages."""


class HelpPane(TextPane):
    """A text that is shown until the next key."""

    def toggle(self, topic: str, width: int, height: int) -> None:
        """Show the keys of a topic of `help_pages.PAGES` on a screen of this size, or hide the help."""
        from attn_tutor.tui.actions import help_layout, help_pages

        if self.display:
            self.display = False
            return
        room = max(1, height - 3)
        text = help_layout.rendered(help_pages.page(topic), max(20, width - 2))
        self.show(Text(text + help_pages.any_key()))
        if self.lines_at(width) > room:
            self.show(Text(help_pages.scroll() + text))
        self.styles.height = min(self.lines_at(width), room)
        self.display = True

    def take_key(self, key: str) -> None:
        """Close the help, or turn its page if it is longer than the screen."""
        if self.longer and key in PAGE_KEYS:
            self.action_scroll_lines(PAGE_KEYS[key] * max(1, self.size.height - 2))
        else:
            self.display = False
