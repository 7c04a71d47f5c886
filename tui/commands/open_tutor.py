"""The command without a verb: open the tutor, talk without a screen, or print the tutor where nobody can type."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from attn_tutor.lessons.reading.folders import FIRST
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import output
from attn_tutor.tui.commands.chosen_course import allow, allowed_course
from attn_tutor.tui.commands.output import CommandError, NotAllowed
from attn_tutor.tui.tty.exit_codes import ExitCode
from attn_tutor.tui.tty.terminal import Terminal, prepare, this_terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from attn_tutor.lessons.reading.folders import CourseFolder

say = Wording("command/tutor")

SCREEN_THREADS = 5
"""How many threads the screen needs besides its first one, to show anything at all."""


def run(options: argparse.Namespace | None = None) -> int:
    """Open the tutor on the terminal, talk, or print the map and the lesson that the learner is in."""
    terminal = this_terminal()
    if options is not None and options.plain:
        return _talk(terminal, allowed_course(options), options.columns)
    return _draw(terminal, allowed_course(options)) if terminal.interactive else _print(allowed_course(options))


def _talk(terminal: Terminal, found: CourseFolder, columns: int | None) -> int:
    """Lead a learner through the course by a dialogue on standard input and output."""
    # The first lines come before the course is read, which takes a moment.
    output.print_now(
        [
            say("title", "attn-tutor: understand attention by touching every number."),
            say("dialogue", "Type help to see what you can do, quit to leave."),
            "",
        ]
    )
    from attn_tutor.tui.commands.course_lookup import open_course
    from attn_tutor.tui.plain import dialogue

    switched, is_lost = found != FIRST, False
    while True:
        course = open_course(found)
        if switched:
            output.print_now([say("course", "Course: {title}", title=course.title), ""])
        ended, switched = dialogue.talk(found, course, columns, unicode=terminal.unicode), True
        is_lost = is_lost or ended.is_lost
        if ended.next_course is None:
            return ExitCode.FAILURE if is_lost else 0
        try:
            found = allow(ended.next_course)
        except CommandError as error:
            output.print_error(error)


def _draw(terminal: Terminal, course: CourseFolder) -> int:
    # Not at the top: other verbs have no use for them.
    from attn_tutor.lessons.engine.launching import host_limits
    from attn_tutor.tui.commands import one_heap

    one_heap.share()
    try:
        host_limits.try_threads(SCREEN_THREADS)
    except host_limits.TooFewTasks as error:
        raise CommandError(str(error)) from None
    prepare(terminal, os.environ)
    # What is made until the tutor is loaded stays, and to look for garbage in it takes a tenth of that time. The app
    # turns it on again.
    gc.disable()
    # Textual reads the environment as soon as it is imported.
    from attn_tutor.tui.app import TutorApp
    from attn_tutor.tui.sources.course_source import CourseSource
    from attn_tutor.tui.tty import signals
    from attn_tutor.tui.tty.textual_patches import apply_patches

    apply_patches()
    signals.guard_against_hangup()

    def show(course: CourseFolder) -> tuple[int, CourseFolder | None]:
        app = TutorApp(terminal, CourseSource(course))
        try:
            app.run()
        finally:
            ending = app.close()
            # The connection may be lost: then nobody is left to read the message, and there is no terminal to draw on.
            with suppress(OSError):
                if ending.message:
                    print(ending.message, file=sys.stderr)
            output.discard_output()
        if app.import_error:
            raise app.import_error
        return app.return_code or (ExitCode.FAILURE if ending.is_lost else 0), app.next_course

    return show_in_turn(course, show)


def show_in_turn(course: CourseFolder, show: Callable[[CourseFolder], tuple[int, CourseFolder | None]]) -> int:
    """Show a course, then the one that its learner chooses there, and so on; return the exit code of the last one.

    `show` returns an exit code and the course that was chosen, None if the learner quits. Raises `CommandError`.
    """
    while True:
        exit_code, chosen = show(course)
        if chosen is None:
            return exit_code
        # Whoever does not let the other course run is back where they were.
        with suppress(NotAllowed):
            course = allow(chosen)


def _print(found: CourseFolder) -> int:
    from attn_tutor.tui.commands.course_lookup import open_course
    from attn_tutor.tui.commands.open_progress import open_progress
    from attn_tutor.tui.commands.verbs.run_lesson import print_lesson
    from attn_tutor.tui.render import linear_text

    course = open_course(found)
    with closing(open_progress(course)) as progress:
        states, position = progress.states(), progress.position()
    output.print_lines([say("title", "attn-tutor: understand attention by touching every number."), ""])
    if found != FIRST:
        output.print_lines([say("course", "Course: {title}", title=course.title), ""])
    output.print_lines(
        [say("no-terminal", "There is no terminal to draw on, so the course is printed as plain text."), ""]
    )
    output.print_lines(linear_text.course(course, states))
    here = next((lesson for lesson in course.lessons if position and lesson.id == position[0]), course.lessons[0])
    any_lesson = say(
        "any-lesson",
        "'attn-tutor run LESSON{course}' prints any of these lessons, and 'attn-tutor --plain{course}' leads through "
        "the course as a dialogue. You can continue here:",
        course=found.option,
    )
    output.print_lines(["", any_lesson, ""])
    return print_lesson(here)
