"""The difference between two screens, written to a terminal."""

from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.tui.tty import glyph_screen
from attn_tutor.tui.tty.glyph_screen import PLAIN, GlyphScreen, style_after, style_change
from tests.tui.painted import seen

COLUMNS, LINES = 12, 4
STYLES = [style_after(PLAIN, each) or PLAIN for each in ("", "1;31", "7", "48;5;7", "4", "48;5;7;2;92")]
runs = st.tuples(
    st.tuples(st.integers(0, LINES - 1), st.integers(0, COLUMNS - 1)),
    st.sampled_from(["ab", "c", "    ", " d e", " " * COLUMNS, "漢", "é"]),
    st.sampled_from(STYLES),
)


def difference(old: GlyphScreen, new: GlyphScreen) -> str:
    """Return the difference on a terminal with a plain style, which it has again afterwards."""
    output, style = glyph_screen.difference(old, new, PLAIN)
    return output + style_change(style, PLAIN)


def drawn(screen: GlyphScreen, drawing: list[tuple[tuple[int, int], str, tuple[object, ...]]]) -> GlyphScreen:
    for (y, x), text, style in drawing:
        screen.draw((y, x), text[: COLUMNS - x - ("漢" in text)], style)  # type: ignore[arg-type]
    return screen


def complete(drawing: list[tuple[tuple[int, int], str, tuple[object, ...]]]) -> GlyphScreen:
    blank = GlyphScreen(COLUMNS, LINES)
    for y in range(LINES):
        blank.draw((y, 0), " " * COLUMNS, PLAIN)
    return drawn(blank, drawing)


@given(st.lists(runs, max_size=8), st.lists(runs, max_size=8))
def test_the_difference_leads_to_the_screen(
    first: list[tuple[tuple[int, int], str, tuple[object, ...]]],
    second: list[tuple[tuple[int, int], str, tuple[object, ...]]],
) -> None:
    nothing, old, new = GlyphScreen(COLUMNS, LINES), complete(first), complete(second)
    direct, changed = pyte.Screen(COLUMNS, LINES), pyte.Screen(COLUMNS, LINES)
    pyte.Stream(direct).feed(difference(nothing, new))
    pyte.Stream(changed).feed("\x1b[4;3Hgarbage" + difference(nothing, old))
    pyte.Stream(changed).feed(difference(old, new))
    assert seen(changed) == seen(direct)
    assert difference(new, new) == ""


def test_what_is_not_known_stays() -> None:
    old, new = complete([((0, 0), "abc", PLAIN)]), drawn(GlyphScreen(COLUMNS, LINES), [((0, 1), "x", PLAIN)])
    assert difference(old, new) == "\x1b[1;2Hx"
    old.overlay(new)
    assert difference(complete([((0, 0), "axc", PLAIN)]), old) == ""


def test_what_is_between_two_changes() -> None:
    """It is written again, or the cursor moves over it, whichever is shorter."""
    old = complete([((0, 0), "a b-------c", PLAIN), ((1, 0), "d", PLAIN)])
    new = complete([((0, 0), "A B-------C", PLAIN), ((1, 0), "D", PLAIN)])
    assert difference(old, new) == "\x1b[HA B\x1b[7CC\r\nD"


def test_blanks_on_the_background_of_the_terminal_are_erased() -> None:
    gray = STYLES[3]
    old, new = complete([((0, 0), "abcdefgh", PLAIN)]), complete([])
    assert difference(old, new) == "\x1b[H\x1b[K"
    assert "\x1b[K" not in difference(old, complete([((0, 0), " " * COLUMNS, gray)]))


def test_characters_whose_width_terminals_disagree_about() -> None:
    """Their row is written as a whole, and nothing behind them depends on where the cursor is then."""
    old, new = complete([((0, 0), "a漢b", PLAIN)]), complete([((0, 0), "a漢c", PLAIN)])
    assert difference(old, new).startswith("\x1b[Ha漢\x1b[1;4Hc")
    assert difference(old, old) == ""
