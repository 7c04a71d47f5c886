"""Keys that arrive in pieces, with a pause between them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import textual._parser
from textual._xterm_parser import XTermParser
from textual.events import Key, Paste
from textual.message import Message

from tests.tui.packets import DOWN, F5, pasted
from tui.tty import textual_patches
from tui.tty.textual_patches import PATIENCE, PatientParser

LATE = 0.3
"""Seconds between two pieces: more than Textual waits."""


@pytest.fixture
def let_pass(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Replace the clock of the parser by one that a test advances."""
    now = [100.0]

    def let_pass(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(textual._parser, "get_time", lambda: now[0])
    monkeypatch.setattr(textual_patches, "monotonic", lambda: now[0])
    return let_pass


def heard(parser: XTermParser, pieces: list[str], let_pass: Callable[[float], None]) -> list[str]:
    """Return the keys and pasted texts that a parser hears in pieces that come late."""
    found: list[Message] = []
    for piece in pieces:
        found += [*parser.feed(piece)]
        let_pass(LATE)
        found += [*parser.tick()]
    return [event.key if isinstance(event, Key) else event.text for event in found if isinstance(event, Key | Paste)]


@pytest.mark.parametrize(("sequence", "key"), [(DOWN, "down"), (F5, "f5"), (b"\x1b[1;5H", "ctrl+home")])
def test_half_a_key_is_not_a_key(sequence: bytes, key: str, let_pass: Callable[[float], None]) -> None:
    text = sequence.decode()
    for cut in range(2, len(text)):
        assert heard(PatientParser(), ["a", text[:cut], text[cut:] + "b"], let_pass) == ["a", key, "b"]


def test_a_paste_in_pieces(let_pass: Callable[[float], None]) -> None:
    text = pasted("x = 12").decode()
    for cut in range(2, len(text)):
        assert heard(PatientParser(), ["a" + text[:cut], text[cut:] + "b"], let_pass) == ["a", "x = 12", "b"]


def test_textual_alone_would_never_end_the_paste(let_pass: Callable[[float], None]) -> None:
    """If this test fails, Textual itself waits for the rest of a paste, and the patch can go."""
    text = pasted("x = 12").decode()
    assert "x = 12" not in heard(XTermParser(), [text[:-2], text[-2:] + "b"], let_pass)


def test_escape_is_a_key(let_pass: Callable[[float], None]) -> None:
    assert heard(PatientParser(), ["a\x1b", "b\x1b"], let_pass) == ["a", "escape", "b", "escape"]
    assert heard(PatientParser(), [pasted("x").decode() + "\x1b", "y"], let_pass) == ["x", "escape", "y"]


def test_an_unfinished_key_times_out(let_pass: Callable[[float], None]) -> None:
    parser = PatientParser()
    assert heard(parser, ["\x1b["], let_pass) == []
    let_pass(PATIENCE)
    assert len([*parser.tick()]) == 1
    assert heard(parser, ["a"], let_pass) == ["a"]


@pytest.mark.parametrize("sequence", ["\x1b[2:H", "\x1b[;:F", "\x1b[1523841H", f"\x1b[{10**25}H", "\x1b[97:65;2:1u"])
def test_a_sequence_that_names_no_character_ends_nothing(sequence: str, let_pass: Callable[[float], None]) -> None:
    """Textual takes each for a key, and fails on its number; its input thread would end, and with it the tutor."""
    assert heard(PatientParser(), ["a", f"{sequence}\x1b[B", "b"], let_pass)[-2:] == ["down", "b"]
