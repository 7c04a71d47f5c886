"""The screen of whatever is opened but a course: it is shown until the learner quits."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from attn_tutor.tui.commands import output
from attn_tutor.tui.tty.terminal import Terminal

if TYPE_CHECKING:
    from attn_tutor.tui.screens.map_view import MapView
    from attn_tutor.tui.sources.source import Source


def run_app(terminal: Terminal, source: Source, map_view: type[MapView] | None = None) -> int:
    """Open the tutor with a source until the learner quits, and return the exit code.

    Its map is a view of the class `map_view`, by default that of a course.
    """
    # Textual reads the environment as soon as it is imported.
    from attn_tutor.tui.app import TutorApp
    from attn_tutor.tui.screens.map_view import MapView
    from attn_tutor.tui.tty import signals
    from attn_tutor.tui.tty.textual_patches import apply_patches

    apply_patches()
    signals.guard_against_hangup()
    app = TutorApp(terminal, source, map_view or MapView)
    try:
        app.run()
    finally:
        with suppress(OSError):
            app.close()
        output.discard_output()
    return app.return_code or 0
