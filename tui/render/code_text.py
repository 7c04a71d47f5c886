"""Python code as styled text."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache

from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

MARKED, BOLD, UNDERLINED = Style(reverse=True, bold=True, dim=False), Style(bold=True), Style(underline=True)
NUMBER = Style(dim=True)


@cache
def _highlighter(theme: str) -> Syntax:
    return Syntax("", "python", theme=theme)


def rich_code(code: str, theme: str, numbered: bool = True) -> Text:
    """Highlight code with a Pygments theme, with line numbers if `numbered`.

    The theme's background is left out, so that the screen's own shows through, which also costs fewer bytes.
    """
    return _highlighted(code, theme, numbered).copy()


@lru_cache(maxsize=8)
def _highlighted(code: str, theme: str, numbered: bool) -> Text:
    # The pages of a program have the same code, and a file of a thousand lines takes as long as all else on a page.
    colored = _highlighter(theme).highlight(code.rstrip("\n"))
    text = Text(colored.plain.rstrip("\n"))
    for start, end, style in colored.spans:
        if isinstance(style, Style) and (style.color or style.bold or style.italic):
            text.stylize(Style(color=style.color, bold=style.bold, italic=style.italic), start, end)
    if not numbered:
        return text
    lines = text.split("\n", allow_blank=True)
    width = len(str(len(lines)))
    numbers = (Text.assemble((f"{number:{width}}  ", NUMBER)) for number in range(1, len(lines) + 1))
    return Text("\n").join(number.append_text(line) for number, line in zip(numbers, lines, strict=True))


def marked(code: Text, line: int | None, changed: Collection[int] = ()) -> Text:
    """Mark one line of numbered code (number reversed, code bold) and underline the changed lines."""
    found = code.copy()
    start = 0
    for text in code.plain.split("\n"):
        number, _, _ = text.strip().partition(" ")
        if number.isdigit():
            end = text.index(number) + len(number)
            if line is not None and int(number) == line:
                found.stylize(MARKED, start, start + end)
                found.stylize(BOLD, start + end, start + len(text))
            if int(number) in changed:
                found.stylize(UNDERLINED, start + end + 2, start + len(text))
        start += len(text) + 1
    return found
