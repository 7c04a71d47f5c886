"""The lines that an app under test has painted on the terminal."""

from __future__ import annotations

from textual.app import App
from textual.strip import Strip


def painted_strips(app: App[None]) -> list[Strip]:
    """Return the painted lines with their styles; lines that wait to be repainted are still the old ones."""
    # There is no public way to read painted lines: a screenshot would paint them again.
    return app.screen._compositor.render_strips()


def painted_lines(app: App[None]) -> list[str]:
    """Return the text of the painted lines, without trailing spaces."""
    return ["".join(segment.text for segment in strip).rstrip() for strip in painted_strips(app)]
