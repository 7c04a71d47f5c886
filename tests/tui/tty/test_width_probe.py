"""How wide a terminal draws: asked of one that answers, of one that draws wide, and of one that says nothing."""

from __future__ import annotations

import ast
import os
import pty
import termios
import threading
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from attn_tutor.tui.tty.width_probe import DRAWN, measure_widths

ROOT = Path(__file__).parents[3]
REPORT = "\x1b[6n"


@pytest.fixture
def line() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal's line: that of the terminal, and that of the program."""
    terminal, program = pty.openpty()
    yield terminal, program
    os.close(terminal)
    os.close(program)


def answer(terminal: int, width: int) -> threading.Thread:
    """Start a terminal that takes so many columns for each character."""

    def draw() -> None:
        column, text = 1, ""
        # Until the line is cleared, which is the last thing that it is told.
        while not text.endswith("\x1b[K"):
            text += os.read(terminal, 4096).decode()
            while REPORT in text:
                before, _, text = text.partition(REPORT)
                column = 1 + width * len(before.removeprefix("\r"))
                os.write(terminal, f"\x1b[1;{column}R".encode())

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("width", [1, 2])
def test_the_terminal_says_how_wide_it_draws(line: tuple[int, int], width: int) -> None:
    terminal, program = line
    before = termios.tcgetattr(program)
    thread = answer(terminal, width)
    assert measure_widths(program, "·█…") == {"·": width, "█": width, "…": width}
    thread.join(10)
    assert termios.tcgetattr(program) == before


def test_a_terminal_that_says_nothing_is_asked_once(line: tuple[int, int]) -> None:
    terminal, program = line
    assert measure_widths(program, seconds=0.0) is None
    assert os.read(terminal, 4096).decode() == REPORT


def test_what_is_no_terminal_cannot_be_asked(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file, pytest.raises(OSError, match="ioctl"):
        measure_widths(file.fileno())


def test_what_drawings_use_is_measured() -> None:
    drawn = set()
    for room in ("drawings", "widgets", "screens"):
        for path in (ROOT / "tui" / room).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    drawn |= {letter for letter in node.value if unicodedata.east_asian_width(letter) == "A"}
    blocks = {ord(letter) // 32 for letter in DRAWN}
    assert {letter for letter in drawn if ord(letter) // 32 not in blocks} == set()
