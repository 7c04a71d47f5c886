"""The verb `diff`: what two programs compute alike, and the first number on their way that differs."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from attn_tutor.lessons.engine.programs import saved_traces
from attn_tutor.lessons.engine.running_program import OwnProgram
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.render import run_comparison_text
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.json_numbers import number
from attn_tutor.lessons.results.run_comparison import RunComparison
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.program_messages import TracePart
from attn_tutor.tui.commands import given_values
from attn_tutor.tui.commands.errors import CommandError, UsageError
from attn_tutor.tui.commands.files import MEBIBYTE, read_code, read_file
from attn_tutor.tui.commands.new_file import check_free
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import print_error, print_json, print_lines
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/diff")

Trace = Sequence[TracePart]

LEAST_WIDTH = 40
MOST = 512 * MEBIBYTE
"""The largest file with a trace: its numbers take half of that."""


def run(options: argparse.Namespace) -> ExitCode:
    """Run both programs and print what they have in common and the first difference; no difference is success."""
    limited = not options.no_limits
    files, arguments = _files(options)
    if options.save:
        check_free(options.save, force=True)
    saved = {file: trace for file in files if (trace := _saved(file)) is not None}
    codes = {file: read_code(file) for file in files if file not in saved}
    with open_session(limited=limited) as session:
        codes = _given(session, codes, options)
        programs = {file: OwnProgram.here(Path(file), code, arguments, limited=limited) for file, code in codes.items()}
        traces = [_run(session, file, programs[file]) if file in programs else saved[file] for file in files]
        if options.save:
            _save(Path(options.save), traces[0])
            gaps = traces[0][-1].gaps
            print_lines(run_comparison_text.gap_lines(gaps, printable(Path(options.one).name)))
            return ExitCode.UNDECIDED if gaps else ExitCode.OK
        comparison = session.compare_programs(traces[0], traces[1], options.rtol, options.atol)
    names = _names(files)
    if options.json:
        print_json(_document(comparison, names))
    else:
        print_lines(run_comparison_text.lines(comparison, names, PROGRAM.name, _width()))
    return _status(comparison)


def _given(session: Session, codes: Mapping[str, str], options: argparse.Namespace) -> dict[str, str]:
    """Return the codes of the programs with the values that the command line gives to their variables."""
    values = given_values.of_texts(options.set or [])
    found = {file: given_values.put_in(file, code, values) for file, code in codes.items()}
    if options.inputs and found:
        tensors = given_values.of_file(session, Path(options.inputs))
        found = given_values.share_out(found, tensors, options.inputs)
    return found


def _files(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the files to compare, or the one to save, and the arguments of the programs. Raises `UsageError`."""
    if options.save:
        return [options.one], [*([options.other] if options.other is not None else []), *options.arguments]
    if options.other is None:
        raise UsageError(say("two-files", "Name two programs to compare, or --save FILE to keep what one computes."))
    return [options.one, options.other], options.arguments


def _names(files: Sequence[str]) -> tuple[str, str]:
    """Return what to call the two programs: their files without folders, if that tells them apart."""
    one, other = (printable(Path(file).name) for file in files)
    return (one, other) if one != other else (files[0], files[1])


def _saved(file: str) -> Trace | None:
    """Return the trace in a file; None if it is a program. Raises `CommandError`."""
    if file.endswith(".py"):
        return None
    content = read_file(file, regular=True, most=MOST)
    if not saved_traces.is_trace(content):
        return None
    try:
        return saved_traces.parts_of(content)
    except saved_traces.UnreadableTrace as error:
        raise UsageError(say("unreadable", "{file} cannot be read: {why}", file=file, why=error)) from None


def _run(session: Session, file: str, program: OwnProgram) -> Trace:
    """Return the trace of a program, which says whether it came to its end. Raises `CommandError`."""
    with contextlib.closing(session.run_program(program, purpose="trace")) as program_run:
        failure = program_run.steps[0].error
        if failure is not None:
            print_error(linear_text.file_failure(file, failure))
        trace = program_run.trace()
    if trace is None:
        raise CommandError(say("no-trace", "The process that ran {file} ended too early.", file=file))
    gaps = replace(trace[-1].gaps, unfinished=failure is not None)
    return [*trace[:-1], replace(trace[-1], gaps=gaps)]


def _status(comparison: RunComparison) -> ExitCode:
    if comparison.agree is None:
        return ExitCode.UNDECIDED
    return ExitCode.OK if comparison.agree else ExitCode.NOT_PASSED


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
        return max(LEAST_WIDTH, shutil.get_terminal_size().columns)
    return run_comparison_text.WIDTH


def _document(comparison: RunComparison, names: tuple[str, str]) -> dict[str, Any]:
    document = asdict(comparison)
    difference = comparison.difference
    if difference is not None:
        document["difference"]["largest"] = number(difference.largest)
        document["difference"]["cells"] = [
            {"index": list(cell.index), "one": number(cell.one), "other": number(cell.other)}
            for cell in difference.cells
        ]
    every = zip(names, (comparison.gaps_of_one, comparison.gaps_of_other), strict=True)
    unfinished = [name for name, gaps in every if gaps.unfinished]
    return {"agree": comparison.agree, "unfinished": unfinished, **document}
