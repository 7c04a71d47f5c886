"""From one style of text to another in few bytes."""

from __future__ import annotations

import itertools

import pyte
import pytest

from attn_tutor.tui.tty.glyph_screen import PLAIN, Style, style_after, style_change, style_of_blank, style_to_write

PARAMETERS = ("", "1", "2", "1;31", "7", "38;5;80;48;5;233", "48;5;7", "38;2;1;2;3", "3;4", "92;104", "9;41")
STYLES = [style for each in PARAMETERS if (style := style_after(PLAIN, each)) is not None]


def cell(text: str) -> object:
    screen = pyte.Screen(2, 1)
    pyte.Stream(screen).feed(text)
    return screen.buffer[0][0]


@pytest.mark.parametrize("now", STYLES)
def test_the_change_leads_to_the_style(now: Style) -> None:
    for wanted in STYLES:
        text = style_change(PLAIN, now) + style_change(now, wanted)
        assert cell(f"{text}x") == cell(f"{style_change(PLAIN, wanted)}x")
        assert style_after(PLAIN, ";".join(value for _, value in wanted)) == wanted


def test_only_what_differs_is_sent() -> None:
    bold, light = style_after(PLAIN, "1;38;5;80;48;5;233"), style_after(PLAIN, "38;5;80;48;5;233")
    assert bold is not None
    assert light is not None
    assert style_change(bold, light) == "\x1b[22m"
    assert style_change(light, bold) == "\x1b[1m"
    assert style_change(light, PLAIN) == "\x1b[m"
    assert style_change(light, light) == ""


@pytest.mark.parametrize(("parameters", "known"), [("39", True), ("58;5;1", False), ("21", False), ("38;7", False)])
def test_unknown_parameters(parameters: str, known: bool) -> None:
    assert (style_after((("color", "31"),), parameters) is not None) == known


def test_a_blank_is_written_in_the_color_that_is_in_force() -> None:
    """Wherever the color or the weight could be seen, that of the blank is set."""
    for now, wanted in itertools.product(STYLES, STYLES):
        blank = dict(style_to_write(now, " ", wanted))
        assert blank.get("ground") == dict(wanted).get("ground")
        assert blank.keys() & {4, 7, 9} == dict(wanted).keys() & {4, 7, 9}
        if blank.keys() & {4, 7, 9}:
            assert style_to_write(now, " ", wanted) == wanted == style_of_blank(wanted)
        assert style_to_write(now, "x", wanted) == wanted
    red, bold = (("color", "31"),), ((1, "1"),)
    assert style_to_write(red, " ", bold) == red
