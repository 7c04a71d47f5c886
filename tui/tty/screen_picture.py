"""The screen as a picture: what is painted, with its colors, as SVG that needs no network and can be read aloud."""

from __future__ import annotations

import io
from html import escape

from rich.console import Console
from textual.app import App

from attn_tutor.tui.tty.screen_gate import harmless_strip

FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {{width}} {{height}}" xmlns="http://www.w3.org/2000/svg" role="img" \
aria-label="{title}">
<title>{title}</title>
<desc>{text}</desc>
<style>
.{{unique_id}}-matrix {{{{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; \
font-size: {{char_height}}px; line-height: {{line_height}}px; white-space: pre; }}}}
.{{unique_id}}-title {{{{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}}}
{{styles}}
</style>
<defs>
<clipPath id="{{unique_id}}-clip-terminal">
<rect x="0" y="0" width="{{terminal_width}}" height="{{terminal_height}}" />
</clipPath>
{{lines}}
</defs>
{{chrome}}
<g transform="translate({{terminal_x}}, {{terminal_y}})" clip-path="url(#{{unique_id}}-clip-terminal)" \
aria-hidden="true">
{{backgrounds}}
<g class="{{unique_id}}-matrix" xml:space="preserve">
{{matrix}}
</g>
</g>
</svg>
"""
"""The file, to be filled in twice: by us, then by Rich, whose own format would fetch a font from the network.

Programs other than browsers would leave out spaces at the ends of texts without `xml:space`.
"""


class ScreenPicture:
    """What was painted at one moment, as it is made into a file later."""

    def __init__(self, app: App[None], title: str) -> None:
        """Take what is painted now; `title` says what it shows."""
        self._title = title
        self._console = Console(
            width=app.size.width,
            height=app.size.height,
            file=io.StringIO(),
            force_terminal=True,
            color_system="truecolor",
            record=True,
            legacy_windows=False,
            safe_box=False,
        )
        # There is no public way to read painted lines: a screenshot of Textual fetches a font when it is looked at.
        strips = [*map(harmless_strip, app.screen._compositor.render_strips())]
        for strip in strips:
            for segment in strip:
                if not segment.control:
                    self._console.print(segment.text, style=segment.style, end="", markup=False, highlight=False)
            self._console.print()
        self.text = "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)
        """The painted lines, without their colors."""

    def svg(self) -> str:
        """Return the picture; its title and its text are there for programs that read pictures aloud."""

        def inner(text: str) -> str:
            return escape(text).replace("{", "{{").replace("}", "}}")

        # Not by `xml.sax.saxutils`: it brings along what fetches files from the network, which costs time and memory.
        form = FORMAT.format(title=inner(self._title), text=inner(self.text))
        return self._console.export_svg(title=self._title, code_format=form, unique_id="screen")
