"""Ctrl+C while a program of one's own runs for the first time."""

from __future__ import annotations

import signal
from typing import cast

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.tui.commands.open_session import interruptible


class Interrupted:
    """Stands in for a session; counts how often its program was interrupted."""

    def __init__(self, *, running: bool) -> None:
        self.running, self.count = running, 0

    def interrupt(self) -> bool:
        """Interrupt the program, if one is running."""
        self.count += self.running
        return self.running


def test_the_first_interrupt_is_for_the_program_and_the_second_for_the_command() -> None:
    session = Interrupted(running=True)
    before = signal.getsignal(signal.SIGINT)
    with interruptible(cast(Session, session)):
        signal.raise_signal(signal.SIGINT)
        assert session.count == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert session.count == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_before_the_program_runs_an_interrupt_is_for_the_command() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible(cast(Session, Interrupted(running=False))):
        signal.raise_signal(signal.SIGINT)
