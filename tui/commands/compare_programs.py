"""The verb `diff`: what two programs compute alike, and the first number on their way that differs."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lessons.engine import saved_traces
from lessons.engine.running_program import OwnProgram
from lessons.engine.session import Session
from lessons.reading.reassigned import NoAssignment, reassigned
from lessons.render import run_comparison_text
from lessons.results.code_unit import PROGRAM
from lessons.results.json_numbers import number
from lessons.results.run_comparison import RunComparison
from lessons.texts.wording import Wording
from lessons.worker.program_messages import TracePart
from tui.commands.errors import CommandError, UsageError
from tui.commands.files import read_code, read_file
from tui.commands.open_session import open_session
from tui.commands.output import print_error, print_json, print_lines
from tui.render import linear_text
from tui.tty.exit_codes import ExitCode

say = Wording("command/diff")

Trace = Sequence[TracePart]


def run(options: argparse.Namespace) -> ExitCode:
    """Run both programs and print what they have in common and the first difference; no difference is success."""
    limited = not options.no_limits
    files, arguments = _files(options)
    with open_session(limited=limited) as session:
        traces = [_trace(session, file, arguments, options.set or [], limited=limited) for file in files]
        if options.save:
            _save(Path(options.save), traces[0])
            return ExitCode.OK
        comparison = session.compare_programs(traces[0], traces[1], options.rtol, options.atol)
    if options.json:
        print_json(_document(comparison))
    else:
        print_lines(run_comparison_text.lines(comparison, _names(files), PROGRAM.name, _width()))
    return ExitCode.OK if comparison.difference is None else ExitCode.NOT_PASSED


def _files(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the files to compare, or the one to save, and the arguments of the programs. Raises `UsageError`."""
    if options.save:
        return [options.one], [*([options.other] if options.other is not None else []), *options.arguments]
    if options.other is None:
        raise UsageError(say("two-files", "Name two programs to compare, or --save FILE to keep what one computes."))
    return [options.one, options.other], options.arguments


def _names(files: Sequence[str]) -> tuple[str, str]:
    """Return what to call the two programs: their files without folders, if that tells them apart."""
    one, other = (Path(file).name for file in files)
    return (one, other) if one != other else (files[0], files[1])


def _trace(session: Session, file: str, arguments: Sequence[str], changes: Sequence[str], *, limited: bool) -> Trace:
    """Return the trace of a program, or one that was saved. Raises `CommandError`."""
    if not file.endswith(".py") and saved_traces.is_trace(content := read_file(file, regular=True)):
        try:
            return saved_traces.parts_of(content)
        except saved_traces.UnreadableTrace as error:
            raise UsageError(say("unreadable", "{file} cannot be read: {why}", file=file, why=error)) from None
    code = read_code(file)
    for change in changes:
        name, equals, expression = change.partition("=")
        if not equals:
            raise UsageError(say("no-value", "'{text}' sets nothing. Write it like x='torch.ones(3)'.", text=change))
        try:
            code = reassigned(code, name.strip(), expression.strip())
        except NoAssignment:
            raise UsageError(
                say("no-assignment", "{file} has no line that begins with '{name} ='.", file=file, name=name.strip())
            ) from None
        except SyntaxError as error:
            raise UsageError(say("not-python", "'{text}' is not Python: {why}.", text=change, why=error.msg)) from None
    program = OwnProgram.here(Path(file), code, arguments, limited=limited)
    with contextlib.closing(session.run_program(program, purpose="trace")) as program_run:
        failure = program_run.steps[0].error
        if failure is not None:
            print_error(f"{file}: {linear_text.failure(failure)}")
        trace = program_run.trace()
    if trace is None:
        raise CommandError(say("no-trace", "The process that ran {file} ended too early.", file=file))
    return trace


def _save(path: Path, trace: Trace) -> None:
    try:
        saved_traces.save(path, trace)
    except OSError as error:
        raise CommandError(
            say("not-saved", "{file} cannot be written: {reason}.", file=path, reason=error.strerror)
        ) from None
    print_lines([say("saved", "What the program computes is in {file}.", file=path)])


def _width() -> int:
    """Return the width of the terminal, or what COLUMNS says; elsewhere that of a line of text."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(run_comparison_text.WIDTH, shutil.get_terminal_size().columns)
    return run_comparison_text.WIDTH


def _document(comparison: RunComparison) -> dict[str, Any]:
    document = asdict(comparison)
    difference = comparison.difference
    if difference is not None:
        document["difference"]["largest"] = number(difference.largest)
        document["difference"]["cells"] = [
            {"index": list(cell.index), "one": number(cell.one), "other": number(cell.other)}
            for cell in difference.cells
        ]
    return {"agree": difference is None, **document}
