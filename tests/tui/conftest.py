"""Fixtures for tests of the tutor: a course that is read once, the command, pauses that wait for the event loop."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest
import textual.app
import textual.pilot
from textual._styles_cache import StylesCache

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.reading import course_texts
from attn_tutor.lessons.texts.translations import Translations
from attn_tutor.tui import cli
from attn_tutor.tui.controllers import startup
from attn_tutor.tui.tty import screen_gate
from tests import pseudo_language
from tests.course import COURSE, use_course
from tests.tui.commands.command_line import Command, Done, WarmSession

# Tests of single widgets and texts see them as the tutor shows them.
screen_gate.install()

BREATH = 0.005
"""Seconds for threads to deliver their results."""

SOON = 0.02
"""A timer that is due within so many seconds is awaited: the screen repaints 60 times a second."""


@pytest.fixture(autouse=True)
def course_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the tutor the course that was read once for all tests, and no other."""
    use_course(monkeypatch, COURSE)


@pytest.fixture
def translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Translate course and tutor into the pseudo-language."""
    folder = tmp_path / "translations"
    language = pseudo_language.write(folder, {**pseudo_language.catalog(), **pseudo_language.interface()})
    pseudo_language.speak(monkeypatch, folder)
    course = course_texts.translate_course(COURSE, Translations(language))
    use_course(monkeypatch, course)
    return course
    monkeypatch.setattr(startup, "other_courses", lambda _: ())


@pytest.fixture
def command(session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command in this process, with text for its standard input."""

    def run(*arguments: str | Path, given: bytes = b"") -> Done:
        # A class that derives from Session has to be made before the function takes its place.
        import_module("attn_tutor.lessons.programs.engine.session")
        monkeypatch.setattr("attn_tutor.lessons.engine.session.Session", lambda: WarmSession(session))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capsys.readouterr()
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(cast(int, end.code))
        out, err = capsys.readouterr()
        return status, out, err

    return run


async def wait_until_loop_rests(
    min_sleep: float = 0, max_sleep: float = 1, *, goes_on: Callable[[], bool] = lambda: True
) -> None:
    """Wait until no callback of the event loop is ready and no timer is about to fire, as long as the app goes on."""
    loop = asyncio.get_running_loop()
    end = loop.time() + max_sleep
    while goes_on():
        await asyncio.sleep(BREATH)
        ready, timers = loop._ready, loop._scheduled  # type: ignore[attr-defined]
        due = (timer for timer in timers if not timer.cancelled() and timer.when() < loop.time() + SOON)
        if (not ready and next(due, None) is None) or loop.time() > end:
            return


@pytest.fixture(autouse=True)
def painted_lines_are_forgotten() -> Iterator[None]:
    """Forget what a test painted: Textual keeps the lines of a thousand widgets, among them those of apps that ended.

    Those are hundreds of thousands of objects, through which every garbage collection would look.
    """
    yield
    StylesCache.get_inner_outer.cache_clear()


@pytest.fixture(autouse=True)
def pauses_end_when_nothing_is_left_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """End the key presses and pauses of a pilot when the event loop rests.

    Textual looks at processor time instead: on an idle machine it waits longer than needed, and on a busy
    machine it takes a process that is not scheduled for one that has finished. It also sends each widget a message and
    waits for all of them, which takes longer than most keys; a loop that rests has no message left to handle.
    """

    async def wait_for_screen(pilot: textual.pilot.Pilot[object], timeout: float = 30) -> bool:
        # An app that ends while it is painted for the first time leaves a timer behind, 60 times a second.
        await wait_until_loop_rests(max_sleep=timeout, goes_on=lambda: pilot.app.is_running)
        return True

    async def has_waited(min_sleep: float = 0, max_sleep: float = 1) -> None:
        """Return at once: whatever a pilot does, it waits for the screen first."""

    monkeypatch.setattr(textual.app, "wait_for_idle", wait_until_loop_rests)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", has_waited)
    monkeypatch.setattr(textual.pilot.Pilot, "_wait_for_screen", wait_for_screen)
