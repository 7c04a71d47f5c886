"""What the terminal shows of an app under test."""

from __future__ import annotations

from textual.app import App
from textual.strip import Strip


def painted_strips(app: App[None]) -> list[Strip]:
    """Return the lines that are painted, with their styles; what has not been repainted yet is as it was."""
    # The only way to them: a screenshot paints anew.
    return app.screen._compositor.render_strips()


def painted_lines(app: App[None]) -> list[str]:
    """Return the text of the lines that are painted, without blanks at their ends."""
    return ["".join(segment.text for segment in strip).rstrip() for strip in painted_strips(app)]
