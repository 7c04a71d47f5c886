"""The command without a verb: open the tutor, or print it where there is no terminal to draw on."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from lessons.texts.wording import Wording
from tui.commands import output
from tui.tty.terminal import Terminal, prepare, this_terminal

if TYPE_CHECKING:
    import argparse

say = Wording("command/tutor")


def run(_: argparse.Namespace | None = None) -> int:
    """Open the tutor on the terminal, or print the map and the lesson that the learner is in."""
    terminal = this_terminal()
    return _draw(terminal) if terminal.interactive else _print()


def _draw(terminal: Terminal) -> int:
    prepare(terminal, os.environ)
    # What is made until the tutor is loaded stays, and to look for garbage in it takes a tenth of that time. The app
    # turns it on again.
    gc.disable()
    # Textual reads the environment as soon as it is imported.
    from tui.app import TutorApp
    from tui.tty import hangup_guard
    from tui.tty.textual_patches import apply_patches

    apply_patches()
    hangup_guard.guard()
    app = TutorApp(terminal)
    try:
        app.run()
    finally:
        farewell = app.close()
        # The connection may be lost: then nobody is left to read the message, and there is no terminal to draw on.
        with suppress(OSError):
            if farewell:
                print(farewell, file=sys.stderr)
        output.discard_output()
    return app.return_code or 0


def _print() -> int:
    from tui.commands.course_lookup import read_course
    from tui.commands.open_progress import open_progress
    from tui.commands.run_lesson import print_lesson
    from tui.render import linear_text

    course = read_course()
    with closing(open_progress()) as progress:
        states, position = progress.states(), progress.position()
    output.print_lines([say("title", "attn-tutor: understand attention by touching every number."), ""])
    output.print_lines(
        [say("no-terminal", "There is no terminal to draw on, so the course is printed as plain text."), ""]
    )
    output.print_lines(linear_text.course(course, states))
    here = next((lesson for lesson in course.lessons if position and lesson.id == position[0]), course.lessons[0])
    any_lesson = say("any-lesson", "'attn-tutor run LESSON' prints any of these lessons. You can continue here:")
    output.print_lines(["", any_lesson, ""])
    return print_lesson(here)
