"""What the harness says a program has sent does not depend on when it was read."""

from __future__ import annotations

import os
import sys

import pytest

from tests.tui.pty_harness import Output, Pty

WORK = b"\x1b[2;5H\x1b[1mabc\x1b[0m\x1b[3;1Hxyz"
LEAVES = """
import sys, time
print("ready", flush=True)
sys.stdin.readline()
print("farewell", flush=True)
"""


def needed(*paints: bytes) -> int:
    return Output.on(b"".join(paints), 20, 5, (0, 0)).needed


def test_bytes_that_draw_what_is_seen_are_needed() -> None:
    assert needed(WORK) == len(WORK)
    assert needed(WORK, b"\x1b[5;1Hmore") == len(WORK) + len(b"\x1b[5;1Hmore")
    assert needed("\x1b[1;1Hαβ".encode()) == 10


def test_paint_that_is_drawn_over_costs_nothing() -> None:
    assert needed(WORK, WORK) == len(WORK)
    assert needed(b"\x1b[2;5H...", b"\x1b[3;1H???", WORK) == len(WORK)


def test_paint_that_is_drawn_over_in_part_costs_the_rest() -> None:
    assert needed(b"\x1b[2;7Hc!", WORK) == len(WORK) + 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("is_read_before", [True, False])
def test_farewell_is_what_came_since_the_last_keys(is_read_before: bool) -> None:
    with Pty([sys.executable, "-c", LEAVES], dict(os.environ)) as terminal:
        terminal.send(b"", "ready")
        if is_read_before:
            terminal.send(b"\n", "farewell")
        else:
            terminal.type(b"\n")
        assert terminal.wait() == 0
        assert b"farewell" in terminal.sent_at_end
        assert b"ready" not in terminal.sent_at_end
