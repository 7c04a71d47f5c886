"""Running a learner's code after a lesson: inputs at the prompt and scratch runs of an answer.

An input is reported with what it prints, returns and binds; a scratch run with its output and its tensors, including
those in its functions.
"""

from __future__ import annotations

import ast
import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeGuard

import torch

from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.jobs.run_state import RunState, as_tensor
from attn_tutor.lessons.worker.message_parts import TensorReport
from attn_tutor.lessons.worker.messages import (
    BindNamed,
    CodeReport,
    ListNames,
    NamesReport,
    RunInput,
    RunScratch,
)
from attn_tutor.lessons.worker.recording.element_history import ValueLost

say = Wording("worker/prompt")

MOST_TENSORS = 4
MOST_AXES = 4
MOST_NAMES = 200
MOST_LINES = 200
LONGEST_NAME = 40
LONGEST_VALUE = 2000

LAST = "_"
"""The variable that holds the last value, as in Python's own prompt."""


def run_input(state: RunState, question: RunInput) -> CodeReport:
    """Run an input. Shows the value of the expression at its end, or else the tensors that its last statement bound."""
    code = question.code
    start_output()
    before = state.namespace.get(LAST)
    expression = last_expression(code)
    names = (
        [expression_name(code, node) for node in expression.elts]
        if isinstance(expression, ast.Tuple | ast.List)
        else []
    )
    failure = state.run(with_last(code), question.unit)
    value: object = None
    given: list[tuple[str, object]] = []
    if failure is None and expression is not None:
        value = state.namespace.get(LAST)
        if value is None:
            state.namespace[LAST] = before
        given = parts(expression_name(code, expression), value, names)
    elif failure is None:
        given = [(name, state.namespace.get(name)) for name in bound_names(code)]
    blob = bytearray()
    reports = shown_of(state, question.unit, given, blob)
    return CodeReport(
        error=failure,
        tensors=reports,
        value="" if value is None or reports else describe_value(value),
        shapes=tuple(state.lines[:MOST_LINES]),
        names=known_names(state),
        printed=flushed_output(),
        blob=bytes(blob),
    )


def list_names(state: RunState, question: ListNames) -> NamesReport:
    """List the names that an input can use."""
    return NamesReport(known_names(state))


def bind_named(state: RunState, question: BindNamed) -> NamesReport:
    """Make named tensors of a run variables of the prompt, as they are shown. Those that are lost are left out."""
    for name, label in question.labels.items():
        if label in state.named:
            with contextlib.suppress(ValueLost):
                state.namespace[name] = state.explainer.history.tensor(*state.named[label], copy=False)
    return NamesReport(known_names(state))


# Source --------------------------------------------------------------------------------------------------------------


def last_statement(code: str) -> ast.stmt | None:
    """Return the last statement, None if there is none or the code is not Python."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return body[-1] if body else None


def last_expression(code: str) -> ast.expr | None:
    """Return the expression at the end of the code, None if the code ends otherwise."""
    last = last_statement(code)
    return last.value if isinstance(last, ast.Expr) else None


def expression_name(code: str, node: ast.expr) -> str:
    """Return a name for an expression: its source on one line, or `_` if that is long."""
    text = " ".join((ast.get_source_segment(code, node) or LAST).split())
    return text if len(text) <= LONGEST_NAME else LAST


def with_last(code: str) -> str:
    """Return the code with the expression at its end assigned to `_`. Line numbers do not change."""
    last = last_statement(code)
    if not isinstance(last, ast.Expr):
        return code
    lines = code.encode().split(b"\n")
    line = lines[last.lineno - 1]
    lines[last.lineno - 1] = line[: last.col_offset] + f"{LAST} = ".encode() + line[last.col_offset :]
    return b"\n".join(lines).decode()


def bound_names(code: str) -> list[str]:
    """List the names that the last statement binds, or whose values it writes to."""
    last = last_statement(code)
    targets: list[ast.expr] = []
    if isinstance(last, ast.Assign):
        targets = last.targets
    elif isinstance(last, ast.AugAssign | ast.AnnAssign):
        targets = [last.target]
    found: dict[str, None] = {}
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Store) or not _is_index(target, node)):
                found[node.id] = None
    return list(found)


def _is_index(target: ast.expr, name: ast.Name) -> bool:
    """Return whether a name in a target is only part of an index, such as the `i` of `x[i] = 1`."""
    return any(isinstance(node, ast.Subscript) and name in ast.walk(node.slice) for node in ast.walk(target))


# Values --------------------------------------------------------------------------------------------------------------


def parts(name: str, value: object, names: list[str]) -> list[tuple[str, object]]:
    """Return a value, or each tensor of a list, with its name; tensors use `names` if these are all different."""
    if isinstance(value, list | tuple) and value and all(map(can_be_shown, value)):
        if len({*names}) != len(value):
            names = [f"{name}[{index}]" for index in range(len(value))]
        return list(zip(names, value, strict=True))
    return [(name, value)]


def can_be_shown(value: object) -> TypeGuard[torch.Tensor]:
    """Return whether a value is a tensor that can be drawn as a matrix."""
    return (
        isinstance(value, torch.Tensor)
        and value.layout == torch.strided
        and not (value.is_meta or value.is_complex() or value.is_quantized)
        and value.dim() <= MOST_AXES
        and value.numel() > 0
    )


def shown_of(
    state: RunState, unit: CodeUnit, given: list[tuple[str, object]], blob: bytearray
) -> tuple[TensorReport, ...]:
    """Report the tensors among some values, and accept questions about them. Appends their numbers to `blob`."""
    tensors = [(name, value) for name, value in given if can_be_shown(value)][:MOST_TENSORS]
    return tuple(state.show_tensor(unit, name, as_tensor(value), blob) for name, value in tensors)


def describe_value(value: object) -> str:
    """Return the `repr` of a value, truncated if it is long."""
    try:
        text = repr(value)
    except BaseException as error:
        kind, why = type(value).__name__, type(error).__name__
        text = say("unwritable", "(a {type} that cannot be written: {error})", type=kind, error=why)
    text = text[:LONGEST_VALUE] + ("..." if len(text) > LONGEST_VALUE else "")
    return text.encode("utf-8", "backslashreplace").decode()


def known_names(state: RunState) -> tuple[tuple[str, str], ...]:
    """List the names of the program, each with a summary of its value, newest last."""
    # Imported modules are included, so that the prompt can complete their names.
    found = [
        (name, _kind(value))
        for name, value in list(state.namespace.items())
        if type(name) is str and not name.startswith("_") and name.isidentifier()
    ]
    return tuple(found[-MOST_NAMES:])


def _kind(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return "(" + ",".join(map(str, value.shape)) + ")"
    if isinstance(value, type):
        return "class"
    return type(value).__name__[:LONGEST_NAME]


# Output --------------------------------------------------------------------------------------------------------------


def start_output() -> None:
    """Empty the output files for a new input: their size is limited, and earlier output has been read already."""
    empty_output()
    # Output that did not fit is still buffered; now it can be written, and discarded too.
    flush_output()
    empty_output()


def empty_output() -> None:
    """Truncate standard output and error, which are files."""
    for fd in (1, 2):
        with contextlib.suppress(OSError):
            os.lseek(fd, 0, os.SEEK_SET)
            os.ftruncate(fd, 0)


def flush_output() -> None:
    """Write out what Python has buffered of standard output and error."""
    # The program may have closed or replaced the streams.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


def flushed_output() -> int:
    """Flush the output and return the number of bytes on standard output."""
    flush_output()
    try:
        return os.fstat(1).st_size
    except OSError:
        return 0


MOST_SCRATCH_TENSORS = 8

_setprofile = sys.setprofile


def run_scratch(state: RunState, question: RunScratch) -> CodeReport:
    """Run an answer. Shows the local tensors of its functions as of their return, then the tensors that it binds."""
    unit = question.unit
    start_output()
    before = dict(state.namespace)
    inner: dict[str, torch.Tensor] = {}
    with _returning(unit.filename, inner):
        failure = state.run(question.code, unit)
    for name, value in state.namespace.items():
        if before.get(name) is not value and not name.startswith("_") and can_be_shown(value):
            # Where both have the name, keep the newer tensor, and move it to the end.
            inner.pop(name, None)
            inner[name] = value
    blob = bytearray()
    tensors = tuple(
        state.show_tensor(unit, name, as_tensor(value), blob)
        for name, value in [*inner.items()][-MOST_SCRATCH_TENSORS:]
    )
    shapes = tuple(state.lines[:MOST_LINES])
    return CodeReport(failure, tensors, shapes, flushed_output(), bytes(blob))


@contextmanager
def _returning(filename: str, found: dict[str, torch.Tensor]) -> Iterator[None]:
    """Collect the tensors among the local variables of every function of a file when it returns."""

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event == "return" and frame.f_code.co_filename == filename and frame.f_code.co_name != "<module>":
            for name, value in frame.f_locals.items():
                if name.isidentifier() and can_be_shown(value):
                    found.pop(name, None)
                    found[name] = value

    _setprofile(note)
    try:
        yield
    finally:
        _setprofile(None)
