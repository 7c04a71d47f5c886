"""The container of the views, and the panel that stands beside the views of steps where the screen is wide."""

from __future__ import annotations

from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from attn_tutor.tui.render.step_layout import WIDE
from attn_tutor.tui.widgets.line_widget import Box

SIDE_PERCENT, SIDE_MOST = 29, 64
"""The width of the panel: a part of the screen, and at most so many columns."""


class ViewSwitcher(ContentSwitcher):
    """The container of the views, of which one is displayed."""

    @property
    def room(self) -> Size:
        """The size that a view gets, also before the panel beside it is laid out."""
        beside = self.parent
        if not isinstance(beside, Middle) or not beside.size:
            return self.size
        columns, lines = beside.size
        has_panel = columns >= WIDE and not beside.alone
        return Size(columns - min(columns * SIDE_PERCENT // 100, SIDE_MOST) if has_panel else columns, lines)


class Middle(Box):
    """The views, and on a wide screen what stands beside those of steps."""

    # The class for a wide screen is that of the screen.
    SCOPED_CSS = False

    DEFAULT_CSS = f"""
    Middle {{
        layout: horizontal;
        height: 1fr;
    }}

    Middle > * {{
        height: 1fr;
        width: 1fr;
    }}

    Middle > SidePanel {{
        display: none;
        width: {SIDE_PERCENT}%;
        max-width: {SIDE_MOST};
    }}

    .-wide Middle > SidePanel {{
        display: block;
    }}

    Middle.alone > SidePanel {{
        display: none;
    }}
    """

    def __init__(self, views: ViewSwitcher, *beside: Widget, id: str | None = None) -> None:
        super().__init__(views, *beside, id=id)

    @property
    def alone(self) -> bool:
        """Whether nothing stands beside the view."""
        return self.has_class("alone") or len(self.children) == 1

    @alone.setter
    def alone(self, alone: bool) -> None:
        if alone == self.has_class("alone"):
            return
        self.set_class(alone, "alone", update=False)
        # Nothing else looks different, and to style all of the views again takes longer than to show one.
        for beside in self.children[1:]:
            beside.update_node_styles()
