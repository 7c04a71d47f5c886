"""Python code as styled text."""

from __future__ import annotations

from functools import cache

from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

NUMBER = Style(dim=True)


@cache
def _highlighter(theme: str) -> Syntax:
    return Syntax("", "python", theme=theme, background_color="default")


def rich_code(code: str, theme: str, numbered: bool = True) -> Text:
    """The code with colours of a Pygments theme and, in front of each line, its number."""
    text = _highlighter(theme).highlight(code.rstrip("\n"))
    text.rstrip()
    if not numbered:
        return text
    lines = text.split("\n", allow_blank=True)
    width = len(str(len(lines)))
    return Text("\n").join(Text(f"{place:{width}}  ", NUMBER) + line for place, line in enumerate(lines, 1))
