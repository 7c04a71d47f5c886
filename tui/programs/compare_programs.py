"""The verb `diff`: what two programs compute alike, and the first number on their way that differs.

A program may get values in place of those that it assigns to its variables, from the command line, or from a file.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.programs.engine import traces
from attn_tutor.lessons.programs.engine.running import run_program
from attn_tutor.lessons.programs.engine.tensor_file import UnreadableTensors, opened_tensors
from attn_tutor.lessons.programs.messages import TracePart
from attn_tutor.lessons.programs.render import comparison_text
from attn_tutor.lessons.programs.results.comparison import RunComparison
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.floats import json_number
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.files import MEBIBYTE, check_free, read_code, read_file
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import CommandError, UsageError, print_error, print_json, print_lines
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.tty.exit_codes import ExitCode


class NoAssignment(ValueError):
    """A program that does not assign to a variable, at its top level or in the function that was named."""


def reassigned(code: str, name: str, expression: str) -> str:
    """Return a program in which the first assignment to a variable takes the value of an expression.

    The variable is one of the program, or that of a function by its label, such as `main.x`. The lines stay where they
    are. Raises `NoAssignment` if there is none, `SyntaxError` if the expression is no Python.
    """
    ast.parse(expression, mode="eval")
    try:
        tree = ast.parse(code)
    except SyntaxError:
        # The program says so itself when it runs.
        return code
    scope, _, variable = name.rpartition(".")
    for statement in _statements(_body(tree, scope)):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == variable:
            value = statement.value  # type: ignore[attr-defined]
            lines = code.encode().split(b"\n")
            first, last = value.lineno - 1, value.end_lineno - 1
            before, after = lines[first][: value.col_offset], lines[last][value.end_col_offset :]
            blank = b"\n" * (last - first)
            # In parentheses, the expression may go on over the lines of the one that it replaces.
            middle = b"(" + expression.encode() + blank + b")"
            return b"\n".join([*lines[:first], before + middle + after, *lines[last + 1 :]]).decode()
    raise NoAssignment(name)


def _body(tree: ast.Module, scope: str) -> Sequence[ast.stmt]:
    """Return the statements of a function, or those of the program if `scope` is empty; none if there is none."""
    body: Sequence[ast.stmt] = tree.body
    for part in filter(None, scope.split(".")):
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        body = next((item.body for item in _statements(body) if isinstance(item, kinds) and item.name == part), ())
    return body


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those inside of them, such as in an `if`, but none of functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for block in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, block, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body)


say = Wording("command/diff")

ONLY = "npy"
"""The format of files whose only tensor has no name: that of the file stands for it."""

READ = "__import__('attn_tutor').open_tensors({path!r})[{name!r}].clone()"


def values_of_texts(texts: Sequence[str]) -> dict[str, str]:
    """Return the expressions for variables from texts such as `x=torch.ones(3)`. Raises `UsageError`."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, expression = text.partition("=")
        if not equals:
            raise UsageError(say("no-value", "'{text}' sets nothing. Write it like x='torch.ones(3)'.", text=text))
        found[name.strip()] = expression.strip()
    return found


def values_of_file(session: Session, path: Path) -> dict[str, str]:
    """Return the expressions that read the tensors of a file, by name. Raises `UsageError`."""
    try:
        with opened_tensors(session, path) as file:
            found = file.found
    except UnreadableTensors as error:
        raise UsageError(str(error)) from None
    place = str(path.resolve())
    return {
        path.stem if found.kind == ONLY else item.name: READ.format(path=place, name=item.name)
        for item in found.tensors
        if not item.problem
    }


def put_values_in(file: str, code: str, values: Mapping[str, str]) -> str:
    """Return the code of a program with values for its variables. Raises `UsageError` if it lacks one of these."""
    for name, expression in values.items():
        try:
            code = reassigned(code, name, expression)
        except NoAssignment:
            raise UsageError(_without(file, name)) from None
        except SyntaxError as error:
            text = f"{name}={expression}"
            raise UsageError(say("not-python", "'{text}' is not Python: {why}.", text=text, why=error.msg)) from None
    return code


def share_out_values(codes: Mapping[str, str], values: Mapping[str, str], source: str) -> dict[str, str]:
    """Return the codes of programs, by file, with those of the values that each has variables for.

    A variable that only one of them has is told. Raises `UsageError` if none of them has any.
    """
    lacking = {file: set(_lacking(code, values)) for file, code in codes.items()}
    everywhere = set(values) if not lacking else set.intersection(*lacking.values())
    if len(everywhere) == len(values):
        names = ", ".join(sorted(values)[:10])
        raise UsageError(
            say("no-input", "No program assigns to a variable that {source} has: {names}.", source=source, names=names)
        )
    for file, absent in lacking.items():
        for name in sorted(absent - everywhere):
            print_error(_without(file, name))
    return {
        file: put_values_in(file, code, {name: text for name, text in values.items() if name not in lacking[file]})
        for file, code in codes.items()
    }


def _lacking(code: str, values: Mapping[str, str]) -> Iterator[str]:
    for name, expression in values.items():
        try:
            reassigned(code, name, expression)
        except NoAssignment:
            yield name


def _without(file: str, name: str) -> str:
    return say("no-assignment", "{file} has no line that begins with '{name} ='.", file=file, name=name)


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
        computed = [_run(session, file, programs[file]) if file in programs else saved[file] for file in files]
        if options.save:
            _save(Path(options.save), computed[0])
            gaps = computed[0][-1].gaps
            print_lines(comparison_text.gap_lines(gaps, printable(Path(options.one).name)))
            return ExitCode.UNDECIDED if gaps else ExitCode.OK
        comparison = traces.compare(session, computed[0], computed[1], options.rtol, options.atol)
    names = _names(files)
    if options.json:
        print_json(_document(comparison, names))
    else:
        print_lines(comparison_text.lines(comparison, names, PROGRAM.name, _width()))
    return _status(comparison)


def _given(session: Session, codes: Mapping[str, str], options: argparse.Namespace) -> dict[str, str]:
    """Return the codes of the programs with the values that the command line gives to their variables."""
    values = values_of_texts(options.set or [])
    found = {file: put_values_in(file, code, values) for file, code in codes.items()}
    if options.inputs and found:
        tensors = values_of_file(session, Path(options.inputs))
        found = share_out_values(found, tensors, options.inputs)
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
    if not traces.is_trace(content):
        return None
    try:
        return traces.parts_of(content)
    except traces.UnreadableTrace as error:
        raise UsageError(say("unreadable", "{file} cannot be read: {why}", file=file, why=error)) from None


def _run(session: Session, file: str, program: OwnProgram) -> Trace:
    """Return the trace of a program, which says whether it came to its end. Raises `CommandError`."""
    with contextlib.closing(run_program(session, program, purpose="trace")) as program_run:
        failure = program_run.steps[0].error
        if failure is not None:
            print_error(linear_text.file_failure(file, failure))
        trace = traces.of_run(program_run)
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
        traces.save(path, trace)
    except OSError as error:
        raise CommandError(
            say("not-saved", "{file} cannot be written: {reason}.", file=path, reason=error.strerror)
        ) from None
    print_lines([say("saved", "What the program computes is in {file}.", file=path)])


def _width() -> int:
    """Return the width of the terminal, or what COLUMNS says; elsewhere that of a line of text."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(LEAST_WIDTH, shutil.get_terminal_size().columns)
    return comparison_text.WIDTH


def _document(comparison: RunComparison, names: tuple[str, str]) -> dict[str, Any]:
    document = asdict(comparison)
    difference = comparison.difference
    if difference is not None:
        document["difference"]["largest"] = json_number(difference.largest)
        document["difference"]["cells"] = [
            {"index": list(cell.index), "one": json_number(cell.one), "other": json_number(cell.other)}
            for cell in difference.cells
        ]
    every = zip(names, (comparison.gaps_of_one, comparison.gaps_of_other), strict=True)
    unfinished = [name for name, gaps in every if gaps.unfinished]
    return {"agree": comparison.agree, "unfinished": unfinished, **document}
