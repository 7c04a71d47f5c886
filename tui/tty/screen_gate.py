"""The one exit to the screen: text that is drawn holds nothing that a terminal would obey.

Whatever a view shows, from wherever it comes, Textual paints from segments of text, and knows which bytes are its own
commands only as long as text and style are apart. So this is where text is made harmless, for all views at once, and
none of them has to think of it.
"""

from __future__ import annotations

import rich.text
import textual.content
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from textual.strip import Strip

from attn_tutor.lessons.results.clean_text import REPLACEMENT, clean, is_harmless

_render = Strip.render


def harmless_strip(strip: Strip) -> Strip:
    """Return a strip of the same width without characters that a terminal would obey, and without links."""
    if all(text.isprintable() and not (style and style.link) for text, style, _ in strip):
        return strip
    segments = [
        Segment(_harmless(text), style.update_link(None) if style and style.link else style) for text, style, _ in strip
    ]
    return Strip(segments, strip.cell_length)


def _harmless(text: str) -> str:
    """Return text without characters that a terminal would obey, as wide as it was laid out.

    What has no width goes without a trace: whatever came as a text was made harmless before it was laid out.
    """
    return "".join(character if is_harmless(character) else REPLACEMENT * cell_len(character) for character in text)


def render(strip: Strip, console: Console) -> str:
    """Render a strip into what is sent to the terminal."""
    # Rendered once, a strip keeps what it became.
    return _render(strip if strip._render_cache is not None else harmless_strip(strip), console)


def install() -> None:
    """Have everything that is painted pass through here.

    Texts are made harmless as they are made, so that a replaced character has its width in every layout; Rich and
    Textual do that too, but leave out escape, among others. Strips are, as they are sent, whatever they were made from.
    """
    setattr(rich.text, "strip_control_codes", clean)  # noqa: B010 - not attributes of ours
    setattr(textual.content, "_strip_control_codes", clean)  # noqa: B010
    setattr(Strip, "render", render)  # noqa: B010
