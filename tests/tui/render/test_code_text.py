"""Code as styled text: colors and line numbers."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.style import Style
from rich.text import Text

from attn_tutor.tui.render.code_text import MARKED, UNDERLINED, marked, rich_code
from attn_tutor.tui.render.palette import BOLD

CODE = "import torch\n\n# all of them\nweights = torch.softmax(scores, dim=-1)\n"
THEMES = ["ansi_dark", "monokai"]


@pytest.mark.parametrize("theme", THEMES)
def test_numbers(theme: str) -> None:
    assert rich_code(CODE, theme).plain.split("\n") == [
        "1  import torch",
        "2  ",
        "3  # all of them",
        "4  weights = torch.softmax(scores, dim=-1)",
    ]
    assert rich_code(CODE, theme, numbered=False).plain == CODE.rstrip("\n")
    # All line numbers are as wide as the last one.
    assert rich_code("pass\n" * 10, theme).plain.split("\n")[8:] == [" 9  pass", "10  pass"]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("numbered", [True, False])
def test_colors_without_a_background(theme: str, numbered: bool) -> None:
    text = rich_code(CODE, theme, numbered)
    styles = [style for _, _, style in text.spans if isinstance(style, Style)]
    assert len({style.color for style in styles if style.color}) >= 2
    assert all(style.bgcolor is None for style in styles)
    keyword = text.get_style_at_offset(Console(), text.plain.index("import"))
    plain = text.get_style_at_offset(Console(), text.plain.index("scores"))
    assert keyword != plain


def test_sixteen_colors() -> None:
    for _, _, style in rich_code(CODE, "ansi_dark").spans:
        if isinstance(style, Style) and style.color is not None:
            assert style.color.number is not None
            assert style.color.number < 16


def test_brackets_are_not_markup() -> None:
    assert rich_code("print('[red]x[/red]')", "ansi_dark").plain == "1  print('[red]x[/red]')"
    assert rich_code("", "ansi_dark", numbered=False).plain == ""


def test_only_lines_of_the_code_are_marked() -> None:
    above, code = rich_code("2  # of the package", "ansi_dark", numbered=False), rich_code("a = 1\nb = 2", "ansi_dark")
    text = marked(Text("\n").join([above, code, Text("2 was printed\n2")]), 2, {1})
    assert text.plain == "2  # of the package\n1  a = 1\n2  b = 2\n2 was printed\n2"
    styled = {style: text.plain[start:end] for start, end, style in text.spans if style in (MARKED, BOLD, UNDERLINED)}
    assert styled == {MARKED: "2", BOLD: "  b = 2", UNDERLINED: "a = 1"}
    assert marked(Text(), 1) == Text()
