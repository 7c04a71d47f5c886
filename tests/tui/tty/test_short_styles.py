"""Output with fewer bytes looks as it did."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.tty.short_styles import shorten

SEQUENCES = ("0", "", "1", "2", "1;31", "7", "38;5;80;48;5;233", "48;5;7", "38;2;1;2;3", "3;4", "92;104", "22", "39")
moves = st.tuples(st.integers(1, 4), st.integers(1, 12)).map(lambda at: f"\x1b[{at[0]};{at[1]}H")
pieces = st.one_of(
    st.sampled_from([f"\x1b[{each}m" for each in SEQUENCES]), moves, st.sampled_from(["ab", " ", "x\r\n"])
)


def cells(text: str) -> list[object]:
    screen = pyte.Screen(12, 4)
    pyte.Stream(screen).feed(text)
    return [screen.buffer[y][x] for y in range(4) for x in range(12)]


@given(st.lists(pieces, max_size=20))
def test_every_cell_stays_as_it_was(parts: list[str]) -> None:
    text = "".join(parts) + "\x1b[0m"
    short = shorten(text)
    assert cells(short + "z") == cells(text + "z")
    # What another write has left behind is not known.
    assert cells("\x1b[4m" + shorten("\x1b[0m" + text) + "z") == cells("\x1b[4m\x1b[0m" + text + "z")
    assert len(short) <= len(text) + len("\x1b[0m") + len("0;")


def test_only_what_differs_is_sent() -> None:
    text = "\x1b[1;38;5;80;48;5;233mA\x1b[0m\x1b[38;5;80;48;5;233mB\x1b[0m\n\x1b[2;1H\x1b[38;5;80;48;5;233mC\x1b[0m"
    assert shorten(text) == "\x1b[0;1;38;5;80;48;5;233mA\x1b[22mB\n\x1b[2;1HC\x1b[0m"


@pytest.mark.parametrize("text", ["\x1b[4:3mcurly\x1b[0m", "\x1b[58;5;1mx\x1b[0m", "plain", ""])
def test_what_is_not_known_stays(text: str) -> None:
    assert shorten(text) == text
