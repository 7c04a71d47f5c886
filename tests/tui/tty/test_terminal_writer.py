"""What reaches the terminal of what is written to it, and when."""

from __future__ import annotations

from queue import Queue

import pytest

from attn_tutor.tui.tty.terminal_writer import Pace, TerminalWriter, resize_terminal


class Terminal:
    """A terminal that takes what it is sent only when a test receives it."""

    def __init__(self) -> None:
        self.writes: Queue[str] = Queue(1)
        self.is_lost = False

    def write(self, text: str) -> None:
        if self.is_lost:
            raise OSError("the line is lost")
        self.writes.put(text)

    def flush(self) -> None:
        pass

    def received(self) -> str:
        return self.writes.get(timeout=20)


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def writer(terminal: Terminal) -> TerminalWriter:
    writer = TerminalWriter(terminal, Pace())  # type: ignore[arg-type]
    writer.start()
    return writer


def test_only_the_newest_screen_follows_one_that_takes_long(terminal: Terminal, writer: TerminalWriter) -> None:
    """Two writes are on their way at most: the one that blocks, and one in the queue of the test."""
    for number in range(100, 400):
        writer.write(f"\x1b[1;1H{number}")
    received = [terminal.received()]
    writer.write("\x1b[2;1Hend")
    while "end" not in received[-1]:
        received.append(terminal.received())
    assert len(received) < 10
    assert "".join(received).count("\x1b") < 30
    writer.stop()


def test_all_is_sent_before_the_end(terminal: Terminal) -> None:
    """No pace holds back the last of it."""
    pace = Pace()
    writer = TerminalWriter(terminal, pace)  # type: ignore[arg-type]
    pace.sent(10**9, 0.0)
    pace.heard("x" * 20, 10.0**9)
    writer.write("\x1b[1;1Hx")
    writer.start()
    writer.stop()
    assert terminal.received() == "\x1b[Hx\x1b[1;2H"


def test_what_others_wait_for_is_sent_at_once(terminal: Terminal) -> None:
    pace = Pace()
    writer = TerminalWriter(terminal, pace)  # type: ignore[arg-type]
    pace.sent(10**9, 0.0)
    pace.heard("x" * 20, 10.0**9)
    writer.start()
    writer.write("\x07")
    assert terminal.received() == "\x07"
    writer.stop()


def test_a_terminal_that_reports_its_size_is_painted_again(terminal: Terminal, writer: TerminalWriter) -> None:
    """Even if that is what it was: meanwhile the terminal may have cut off what did not fit."""
    resize_terminal(20, 5)
    writer.write("\x1b[1;1Hx\x1b[1;1H")
    first = terminal.received()
    resize_terminal(20, 5)
    assert terminal.received() == first == "\x1b[Hx\x1b[H"
    writer.stop()


def test_output_is_discarded_after_the_line_is_lost(terminal: Terminal, writer: TerminalWriter) -> None:
    terminal.is_lost = True
    writer.write("\x1b[1;1Hx")
    writer.join(timeout=20)
    for _ in range(100):
        writer.write("\x1b[1;1Hy")
    writer.stop()
    assert terminal.writes.empty()
