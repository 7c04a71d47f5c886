"""Keys that arrive in pieces, with a pause between them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import textual._parser
from textual._xterm_parser import XTermParser
from textual.events import Key, Paste
from textual.message import Message

from attn_tutor.tui.tty import textual_patches
from attn_tutor.tui.tty.textual_patches import INTERRUPTS, MOST_PASTED, PASTE_PATIENCE, PATIENCE, PatientParser
from tests.tui.packets import DOWN, F5, pasted

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


def heard(parser: XTermParser, pieces: list[str], let_pass: Callable[[float], None], pause: float = LATE) -> list[str]:
    """Return the keys and pasted texts that a parser hears in pieces that come late."""
    found: list[Message] = []
    for piece in pieces:
        found += [*parser.feed(piece), *parser.tick()]
        let_pass(pause)
        found += [*parser.tick()]
    return [event.key if isinstance(event, Key) else event.text for event in found if isinstance(event, Key | Paste)]


def test_what_waits_on_the_line_is_no_late_part_of_a_key(let_pass: Callable[[float], None]) -> None:
    """On a busy machine, much time passes between what the driver does with one piece and its look for the next."""
    parser = PatientParser()
    found = [*parser.feed("\x1b")]
    let_pass(LATE)
    found += [*parser.tick(), *parser.feed("[15~"), *parser.tick()]
    assert [event.key for event in found if isinstance(event, Key)] == ["f5"]


@pytest.mark.parametrize(("sequence", "key"), [(DOWN, "down"), (F5, "f5"), (b"\x1b[1;5H", "ctrl+home")])
def test_half_a_key_is_not_a_key(sequence: bytes, key: str, let_pass: Callable[[float], None]) -> None:
    text = sequence.decode()
    for cut in range(2, len(text)):
        assert heard(PatientParser(), ["a", text[:cut], text[cut:] + "b"], let_pass) == ["a", key, "b"]


def test_a_paste_in_pieces(let_pass: Callable[[float], None]) -> None:
    text = pasted("x = 12").decode()
    for cut in range(2, len(text)):
        assert heard(PatientParser(), ["a" + text[:cut], text[cut:] + "b"], let_pass) == ["a", "x = 12", "b"]


NASTY = "a\x1b\x1b[A\x11q\x1b[200~\x1b[20\x1b[201\r\nЖ\x1b]0;t\x07\x9b1m\x1b[<0;1;1M\x1b[I\x1bOP\x00\tz\x1b"
"""What a paste may hold: keys, reports of the terminal, and what looks like its marks."""
NASTY_TEXT = "a[Aq[200~[20[201\r\nЖ]0;t1m[<0;1;1M[IOP\tz"


@pytest.mark.parametrize("pause", [0.0, LATE, 2 * PATIENCE])
def test_all_of_a_paste_is_text_in_whatever_pieces_it_comes(pause: float, let_pass: Callable[[float], None]) -> None:
    text = "a" + pasted(NASTY).decode() + "b"
    start = text.index("~") + 1
    for first in range(len(text)):
        for second in range(first, len(text)):
            pieces = [piece for piece in (text[:first], text[first:second], text[second:]) if piece]
            found = heard(PatientParser(), pieces, let_pass, pause)
            if 1 < first <= second < start and pause and len(pieces) == 3 and (first == 2 or pause > PATIENCE):
                # A mark that comes to a halt twice cannot be told from keys.
                continue
            assert [found[0], *found[-2:]] == ["a", NASTY_TEXT, "b"], pieces
            # A mark that comes to a halt has begun like a key.
            assert len(found) == 3 or (pause and {first, second} & set(range(2, start))), pieces
    if not pause:
        assert heard(PatientParser(), [*text], let_pass, pause) == ["a", NASTY_TEXT, "b"]


def test_keys_around_a_paste(let_pass: Callable[[float], None]) -> None:
    around = "\x1b" + pasted("one").decode() + pasted("").decode() + pasted("two").decode() + "\x1b[B"
    assert heard(PatientParser(), [around], let_pass) == ["escape", "one", "", "two", "down"]
    assert heard(PatientParser(), [*around], let_pass, 0.0) == ["escape", "one", "", "two", "down"]
    # Half of a sequence is no key, and no reason to wait.
    assert heard(PatientParser(), ["\x1b[1;" + pasted("one").decode() + "x"], let_pass)[-2:] == ["one", "x"]


def test_a_paste_without_an_end_ends_all_the_same(let_pass: Callable[[float], None]) -> None:
    begun = pasted("one").decode()[:-3]
    parser = PatientParser()
    assert heard(parser, [begun, "two"], let_pass) == []
    let_pass(PASTE_PATIENCE)
    assert heard(parser, [], let_pass) == []
    assert [event.text for event in parser.tick() if isinstance(event, Paste)] == ["one[2two"]
    assert heard(parser, ["a"], let_pass) == ["a"]


@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_ctrl_c_ends_a_paste_that_has_come_to_a_halt(interrupt: str, let_pass: Callable[[float], None]) -> None:
    begun = pasted("one").decode()[:-6]
    parser = PatientParser()
    # A paste may hold this key, and be cut before and behind it.
    assert heard(parser, [begun, interrupt], let_pass, 0.0) == []
    let_pass(PATIENCE)
    assert heard(parser, [interrupt, "a"], let_pass) == ["one[99;5u" if len(interrupt) > 1 else "one", "a"]


def test_a_paste_of_any_size_takes_little_memory(let_pass: Callable[[float], None]) -> None:
    begun, end = pasted("x" * 1000).decode()[:-6], pasted("").decode()[-6:]
    pieces = [begun, *["\x1by" * 100_000] * 12, end + "a"]
    [text, key] = heard(PatientParser(), pieces, let_pass, 0.0)
    assert (len(text), key) == (MOST_PASTED, "a")


def test_the_end_of_input_ends_a_paste(let_pass: Callable[[float], None]) -> None:
    assert heard(PatientParser(), [pasted("one").decode()[:-6], ""], let_pass) == ["one"]


def test_textual_alone_takes_an_escape_for_the_end_of_a_paste(let_pass: Callable[[float], None]) -> None:
    """If this test fails, Textual itself takes all of a paste for text, and the patch can go."""
    assert heard(XTermParser(), [pasted("a\x1bb\x11").decode()], let_pass) != ["ab"]


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
