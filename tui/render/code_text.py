"""Python code as styled text."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache

from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

MARKED, BOLD, UNDERLINED = Style(reverse=True, bold=True, dim=False), Style(bold=True), Style(underline=True)
NUMBER = Style(dim=True)
LINE = "line"
"""What tells in a style which line it numbers."""


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
    numbers = (
        Text.assemble((f"{number:{width}}  ", NUMBER + Style(meta={LINE: number})))
        for number in range(1, len(lines) + 1)
    )
    return Text("\n").join(number.append_text(line) for number, line in zip(numbers, lines, strict=True))


def line_of(row: Text) -> int | None:
    """Return the number that `rich_code` has given to a row; None for a row of anything else."""
    return next(
        (style.meta[LINE] for _, _, style in row.spans if isinstance(style, Style) and LINE in style.meta), None
    )


def marked(code: Text, line: int | None, changed: Collection[int] = ()) -> Text:
    """Mark one line of numbered code (number reversed, code bold) and underline the changed lines.

    What stands above or below the code, such as what it has printed, has no lines.
    """
    rows = code.split("\n", allow_blank=True)
    last = max((number for row in rows if (number := line_of(row))), default=0)
    width = len(str(last))
    for row in rows:
        number = line_of(row)
        if number is not None and number == line:
            row.stylize(MARKED, 0, width)
            row.stylize(BOLD, width)
        if number in changed:
            row.stylize(UNDERLINED, width + 2)
    return Text("\n").join(rows)
