"""The verb `open`: a program of one's own as pages of the tutor, or as text where there is no terminal."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.programs.engine.session import ProgramSession
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import output, own_program
from attn_tutor.tui.commands.open_session import interruptible
from attn_tutor.tui.commands.output import CommandError, UsageError
from attn_tutor.tui.commands.run_app import run_app
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.tty.terminal import Terminal, prepare, this_terminal

if TYPE_CHECKING:
    from attn_tutor.lessons.programs.engine.tensor_file import TensorFileSession
    from attn_tutor.tui.plain.console import Console
    from attn_tutor.tui.programs.pages import PagesSource

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
            from attn_tutor.tui.programs.pages import ProgramSource

            return talk(terminal, ProgramSource(session), options.columns)
        return _print(session)
    except WorkerError as error:
        raise CommandError(str(error)) from None
    finally:
        session.close()


def talk(terminal: Terminal, pages: PagesSource, columns: int | None) -> int:
    """Talk about the pages of a program or a file in lines of this width; return the exit code."""
    from attn_tutor.tui.plain import dialogue
    from attn_tutor.tui.plain.dialogue import Dialogue
    from attn_tutor.tui.programs.dialogue import PagesDialogue

    def make(console: Console) -> Dialogue:
        return Dialogue(pages, pages.read(), console, lambda state: PagesDialogue(state, pages))

    dialogue.converse(make, columns, unicode=terminal.unicode)
    return own_program.status(pages.opened.whole)


def open_pages(terminal: Terminal, session: ProgramSession, *, watch: bool = False) -> int:
    """Run the program of a session and open its pages. Closes the session, and returns the exit code."""
    prepare(terminal, os.environ)
    try:
        with interruptible(session):
            session.open(session.program)
        from attn_tutor.tui.programs.pages import ProgramSource
        from attn_tutor.tui.programs.program_map import ProgramMap

        return run_app(terminal, ProgramSource(session, watched=watch), ProgramMap)
    except WorkerError as error:
        raise CommandError(str(error)) from None
    finally:
        session.close()


def open_file(terminal: Terminal, session: TensorFileSession, name: str = "") -> int:
    """Open the pages of a file at a tensor of this name. Closes the session, and returns the exit code."""
    prepare(terminal, os.environ)
    try:
        from attn_tutor.tui.programs.pages import TensorFileSource
        from attn_tutor.tui.programs.program_map import ProgramMap

        return run_app(terminal, TensorFileSource(session, name), ProgramMap)
    finally:
        session.close()


def _print(session: ProgramSession) -> int:
    """Print all pages, as `run` prints a lesson."""
    opened = session.opened
    assert opened is not None
    pages = opened.lesson.steps
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
