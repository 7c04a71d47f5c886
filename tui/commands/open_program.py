"""The verb `open`: a program of one's own as pages of the tutor, or as text where there is no terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from lessons.engine.programs.program_session import ProgramSession
from lessons.format import main_path
from lessons.format.lesson import RunStep
from lessons.results.result import WorkerError
from lessons.texts.wording import Wording
from tui.commands import output, own_program
from tui.commands.errors import CommandError, UsageError
from tui.commands.interrupted_run import interruptible
from tui.render import linear_text
from tui.tty.terminal import Terminal, prepare, this_terminal

if TYPE_CHECKING:
    from lessons.engine.programs.tensor_file_session import TensorFileSession
    from tui.app import TutorApp

say = Wording("command/open")

MOST_PAGES = 50
"""Pages that are printed."""


def run(options: argparse.Namespace) -> int:
    """Run the program, then open its pages or print them."""
    program = own_program.read_program(options.file, options.arguments, limited=not options.no_limits, python=False)
    terminal = this_terminal()
    on_screen = terminal.interactive and not options.plain
    if options.watch and not on_screen:
        raise UsageError(say("watch-unseen", "--watch needs a terminal to draw on, and does not go with --plain."))
    if on_screen:
        print(say("running", "Running {file} (Ctrl+C stops it) ...", file=options.file), file=sys.stderr, flush=True)
        return open_pages(terminal, ProgramSession(program), watch=options.watch)
    session = ProgramSession(program)
    try:
        with interruptible(session):
            session.open(program)
        if options.plain:
            return talk(terminal, session, options.columns)
        return _print(session)
    except WorkerError as error:
        raise CommandError(str(error)) from None
    finally:
        session.close()


def talk(terminal: Terminal, session: ProgramSession, columns: int | None, name: str = "") -> int:
    """Talk about the pages of a session in lines of this width, from the tensor of a name; return the exit code."""
    from tui.plain import open_dialogue
    from tui.plain.program_dialogue import ProgramDialogue

    open_dialogue.converse(lambda console: ProgramDialogue(session, console, name), columns, unicode=terminal.unicode)
    assert session.opened is not None
    return own_program.status(session.opened.whole)


def open_pages(terminal: Terminal, session: ProgramSession, *, watch: bool = False) -> int:
    """Run the program of a session and open its pages. Closes the session, and returns the exit code."""
    prepare(terminal, os.environ)
    try:
        with interruptible(session):
            session.open(session.program)
        # Textual reads the environment as soon as it is imported.
        from tui.program_app import ProgramApp

        return run_app(lambda: ProgramApp(terminal, session, watch=watch))
    except WorkerError as error:
        raise CommandError(str(error)) from None
    finally:
        session.close()


def open_file(terminal: Terminal, session: TensorFileSession, name: str = "") -> int:
    """Open the pages of a file at a tensor of this name. Closes the session, and returns the exit code."""
    prepare(terminal, os.environ)
    try:
        from tui.tensor_file_app import TensorFileApp

        return run_app(lambda: TensorFileApp(terminal, session, name=name))
    finally:
        session.close()


def run_app(make: Callable[[], TutorApp]) -> int:
    """Make an app, run it until the learner quits, and return the exit code."""
    from tui.tty import hangup_guard
    from tui.tty.textual_patches import apply_patches

    apply_patches()
    hangup_guard.guard()
    app = make()
    try:
        app.run()
    finally:
        with suppress(OSError):
            app.close()
        output.discard_output()
    return app.return_code or 0


def _print(session: ProgramSession) -> int:
    """Print all pages, as `run` prints a lesson."""
    opened = session.opened
    assert opened is not None
    pages = [step for step in opened.lesson.steps if isinstance(step, RunStep)]
    shown = {""}
    for step in pages[:MOST_PAGES]:
        code = opened.code_beside(step)
        plain = step.model_copy(update={"code": "" if code in shown else code})
        shown.add(code)
        output.print_lines(
            linear_text.step_lines(plain, opened.show(step), main_path.position_of(opened.lesson.steps, step.id))
        )
        output.print_lines([""])
    left = len(pages) - MOST_PAGES
    if left > 0:
        output.print_lines([say("more", "(and {count} more pages of tensors)", count=left)])
    return own_program.status(opened.whole)
