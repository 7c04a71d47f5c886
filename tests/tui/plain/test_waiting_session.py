"""Waiting for the worker in the dialogue."""

from __future__ import annotations

import io
import signal
import sys
import threading
import traceback
from typing import Any

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results.result import Training, WorkerError
from attn_tutor.tui.plain import waiting_session
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.waiting_session import WaitingSession
from tests.lessons.lesson_builders import code_step, lesson_of
from tests.lessons.processes import wait_until

LESSON = lesson_of(code_step("numbers", "a = 1"))


class Endless(Session):
    """A session whose training goes on until it is cancelled, and which is interrupted in its own thread."""

    stopped = threading.Event()

    def cancel(self) -> None:
        """End the training."""
        self.stopped.set()

    def train(self, *_: Any) -> Training:
        """Interrupt the process where nothing wakes the first thread, which waits by now, and is to handle that."""
        wait_until(lambda: _functions()[:2] == ["wait", "result"])
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        assert self.stopped.wait(5)
        raise WorkerError("Stopped by you.")


def _functions() -> list[str]:
    """Return the functions that the first thread is in, innermost first."""
    frame = sys._current_frames()[threading.main_thread().ident or 0]
    return [each.f_code.co_name for each, _ in traceback.walk_stack(frame)]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals cannot be sent to a thread")
def test_ctrl_c_that_does_not_wake_the_first_thread_stops_what_runs() -> None:
    console = Console(io.StringIO(), io.StringIO(), 79, unicode=True)
    waiting = WaitingSession(Endless(), console)
    with console.interrupts.installed(), pytest.raises(WorkerError, match="Stopped by you"):
        waiting.call_with_session(
            lambda session: session.train(LESSON, "training", lambda snapshot: None), lambda: None
        )
    waiting.close()


def test_ctrl_c_raises_nothing_inside_a_wait() -> None:
    """A lock that is being waited for would be left undone, which ended the dialogue with an error of Python's."""
    console = Console(io.StringIO(), io.StringIO(), 79, unicode=True)
    waiting = WaitingSession(Session(), console)
    raising: list[bool] = []
    for _ in range(3):
        waiting.call(lambda: raising.append(console.interrupts._heard))
    waiting.close()
    assert raising == [False] * 3


class Interrupting(io.StringIO):
    """An output during whose first line Ctrl+C is pressed, as by somebody who has just read that it stops what runs."""

    def write(self, text: str, /) -> int:
        """Interrupt, then take the text."""
        if not self.getvalue():
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


def test_ctrl_c_while_the_line_about_it_is_written_stops_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_session, "PATIENCE", 0.0)
    console = Console(io.StringIO(), Interrupting(), 79, unicode=True)
    waiting = WaitingSession(Session(), console)
    stopped = threading.Event()
    with console.interrupts.installed():
        assert waiting.call_with_session(lambda _: stopped.wait(10), stopped.set)
    waiting.close()


class Loading(Session):
    """A session that knows only from waiting that PyTorch has been loaded, as a real one does."""

    heard = threading.Event()

    def start(self) -> None:
        """Begin to load."""

    @property
    def ready(self) -> bool:
        """Whether somebody has waited."""
        return self.heard.is_set()

    def wait_ready(self) -> None:
        """Hear of it."""
        self.heard.set()


def test_the_worker_is_known_to_be_ready_before_anybody_asks_for_a_run() -> None:
    waiting = WaitingSession(Loading(), Console(io.StringIO(), io.StringIO(), 79))
    waiting.start()
    wait_until(lambda: waiting.ready)
    waiting.close()
