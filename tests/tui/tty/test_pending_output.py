"""A terminal shows what was written, though it is sent less."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyte.screens import Char

from attn_tutor.tui.tty.terminal_writer import PendingOutput
from tests.tui.painted import seen

MODES = "\x1b[?1049h\x1b[?1000h\x1b[?25l\x1b[>25u\x1b[?7l"
ASIDE, LAST = "\x1b[?7h\x1b[<u", "\x1b[?1049l\x1b[?25h"
COLUMNS, LINES = 12, 4
SEQUENCES = ("0", "", "1", "2", "1;31", "7", "38;5;80;48;5;233", "48;5;7", "3;4", "92;104", "22", "39", "53", "58;5;1")
moves = st.tuples(st.integers(1, LINES), st.integers(1, COLUMNS)).map(lambda at: f"\x1b[{at[0]};{at[1]}H")
texts = st.sampled_from(["ab", " ", "x", "      ", "x\n\x1b[2;1H"])
others = st.sampled_from(["\x1b]2;title\x07", "\x1b[?2026h", "\x1b[?2026l", "\x1b[2K", "\t"])
styles = st.sampled_from([f"\x1b[{each}m" for each in SEQUENCES])
pieces = st.one_of(styles, moves, texts, texts, others)
writes = st.lists(pieces, max_size=12).map(lambda each: f"\x1b[H{''.join(each)}\x1b[0m")


def on_terminal(text: str) -> list[list[Char]]:
    screen = pyte.Screen(COLUMNS, LINES)
    screen.reset_mode(7, private=True)
    pyte.Stream(screen).feed(text)
    return seen(screen)


def sent(*texts: str) -> list[str]:
    """Return what is sent of each text, if there is time to send it."""
    output = PendingOutput(COLUMNS, LINES)
    found = []
    for text in texts:
        output.add(text)
        found.append(output.take())
    return found


@given(st.lists(writes, max_size=5), st.booleans())
def test_the_terminal_shows_what_was_written(texts: list[str], at_once: bool) -> None:
    output = PendingOutput(COLUMNS, LINES)
    out = ""
    for text in (MODES, *texts):
        output.add(text)
        out += "" if at_once else output.take()
    assert on_terminal(out + output.take()) == on_terminal(MODES + "".join(texts))
    assert output.take() == ""


def test_what_is_shown_already_is_not_sent_again() -> None:
    first, second = "\x1b[1;1H\x1b[1mtitle\x1b[0m  text\x1b[1;1H", "\x1b[1;1H\x1b[1mtitle\x1b[0m  next\x1b[1;1H"
    assert sent(first, first, second) == ["\x1b[H\x1b[1mtitle  \x1b[mtext\x1b[H", "", "\x1b[1;8Hn\x1b[H"]


def test_what_is_painted_over_is_never_sent() -> None:
    output = PendingOutput(COLUMNS, LINES)
    for number in range(10):
        output.add(f"\x1b[1;1H{number}\x1b[1;1H")
    assert output.take() == "\x1b[H9\x1b[H"


def test_modes_are_passed_on_in_order() -> None:
    output = sent(MODES, "\x1b[1;1Hx", ASIDE + LAST)
    assert "".join(output) == f"{MODES}\x1b[m\x1b[Hx\x1b[1;2H{ASIDE}\x1b[1;2H{LAST}\x1b[m"


@pytest.mark.parametrize("aside", ["\x07", "\x1b]52;c;eA==\x07", "\x1b]2;title\x1b\\", "\x1b[?1003h", "\x1b[?2048$p"])
def test_what_is_not_on_the_screen(aside: str) -> None:
    output = PendingOutput(COLUMNS, LINES)
    output.add("\x1b[1;1Hx\x1b[1;1H")
    assert not output.is_urgent
    output.add(aside)
    assert output.is_urgent
    assert output.take() == f"{aside}\x1b[Hx\x1b[H"
    output.add("\x1b[1;1Hx\x1b[1;1H")
    assert output.take() == ""


def test_a_frame_is_shown_at_once_by_terminals_that_can() -> None:
    begin, end = "\x1b[?2026h", "\x1b[?2026l"
    assert sent(begin, "\x1b[1;1Hx\x1b[1;1H", end) == ["", f"{begin}\x1b[Hx\x1b[H{end}", ""]


def test_text_beyond_the_screen_is_dropped() -> None:
    """A terminal would write it over its last column or row."""
    assert sent("\x1b[1;11Hxyz\x1b[5;1Hx\x1b[1;1H\x1b[1;12H漢\x1b[1;1H") == ["\x1b[1;11Hxy\x1b[H"]


def test_a_frame_for_the_size_before_does_not_spoil_the_new_one() -> None:
    output, terminal = PendingOutput(COLUMNS, LINES), pyte.Screen(COLUMNS, LINES)
    terminal.reset_mode(7, private=True)
    wide, narrow = f"\x1b[1;1H{'-' * COLUMNS}x\x1b[1;1H", f"\x1b[1;1H{'-' * COLUMNS}\x1b[1;1H"
    for text, columns in ((wide, COLUMNS + 1), (wide, COLUMNS), (narrow, COLUMNS)):
        output.resize(columns, LINES)
        output.add(text)
        pyte.Stream(terminal).feed(output.take())
    assert terminal.display[0] == "-" * COLUMNS


def test_what_was_painted_is_kept_for_another_size() -> None:
    output = PendingOutput(COLUMNS, LINES)
    output.add("\x1b[1;1Habc\x1b[1;1H")
    output.take()
    assert output.resize(2, LINES)
    assert output.take() == "\x1b[Hab\x1b[H"
    assert not output.resize(2, LINES)
    assert output.take() == "\x1b[Hab\x1b[H"
    assert output.take() == ""
