"""What is painted holds no command of anyone else, and is as wide as it was laid out."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.content import Content
from textual.strip import Strip

from attn_tutor.lessons.results.clean_text import REPLACEMENT, clean, is_harmless
from attn_tutor.tui.tty import screen_gate
from tests.tui.hostile_text import COMMANDS, EVERY_COMMAND, MARK, foreign

CONSOLE = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=200)
STYLES = (None, Style(), Style(color="red", bold=True), Style(link=f"file:///{MARK}{EVERY_COMMAND}"))

screen_gate.install()


def sent(*segments: Segment) -> str:
    return Strip(segments).render(CONSOLE)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", COMMANDS)
def test_no_kind_of_command_is_painted(name: str, style: Style | None) -> None:
    painted = sent(Segment("a", style), Segment(f"b{COMMANDS[name]}c", style))
    assert foreign(painted) == []
    assert "\n" not in painted
    assert "\x1b]" not in painted


@given(st.text(), st.sampled_from(STYLES))
def test_what_is_painted_is_as_wide_as_it_was_laid_out(text: str, style: Style | None) -> None:
    strip = Strip([Segment(text, style)])
    [[shown, _, _]] = screen_gate.harmless_strip(strip)
    assert all(map(is_harmless, shown))
    # Joiners join what stands beside them, and are gone.
    parts = text.replace("\u200d", "\n")
    assert cell_len(shown) == sum(map(cell_len, filter(is_harmless, parts))) + sum(
        cell_len(character) for character in parts if not is_harmless(character)
    )


def test_what_is_harmless_stays_the_strip_that_it_was() -> None:
    strip = Strip([Segment("a → 漢"), Segment(" é", Style(bold=True))])
    assert screen_gate.harmless_strip(strip) is strip
    assert Strip([Segment("Que\u00a0?")]).render(CONSOLE) == "Que\u00a0?"


@pytest.mark.parametrize(
    "make", [Text, lambda text: Text("").append(text), Text.assemble, Content, Content.from_markup]
)
def test_a_text_shows_where_something_was_replaced(make: Callable[[str], Text | Content]) -> None:
    plain = make(f"a{EVERY_COMMAND.replace('[', '(')}b").plain
    assert plain == clean(f"a{EVERY_COMMAND.replace('[', '(')}b")
    assert REPLACEMENT in plain
