"""Execution of source code: what generators it begins with, how much it prints, and a failure in one sentence."""

from __future__ import annotations
import __future__

import ast
import dis
import errno
import itertools
import linecache
import os
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import ModuleType, TracebackType
from typing import Any, Literal

import torch

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice import advice
from attn_tutor.lessons.worker.advice.safe_reading import is_a, with_original_builtins
from attn_tutor.lessons.worker.advice.scene import failed_operation

say = Wording("worker/execute")

# Bound before any learner's code runs, which may replace the builtins.
_compile, _exec, _parse, _str, _type = compile, exec, ast.parse, str, type
_trace: Callable[[object], TracebackType | None] = BaseException.__dict__["__traceback__"].__get__
_line, _file, _said, _errno = (
    kind.__dict__[name].__get__
    for kind, name in ((SyntaxError, "lineno"), (SyntaxError, "filename"), (SyntaxError, "msg"), (OSError, "errno"))
)

YOUR_CODE = code_unit.ANSWER.filename
NO_TEXT = re.compile("[\0\ud800-\udfff]")
LONGEST = 2000
FEW_CALLS = 100
"""Calls inside of each other up to which it is something else that is too deep, such as a list of lists."""

NESTED = 3000
"""Levels of a syntax tree that can be compiled."""

SENTENCE_ENDS = (".", "!", "?", ":")

ACCELERATED = torch.backends.cuda.is_built() or torch.backends.mps.is_built() or torch.xpu._is_compiled()
"""Whether this build of PyTorch has generators on devices other than the processor."""

After = Callable[[ast.stmt], None]
"""A function that is called after each top-level statement."""


Described = Callable[[BaseException, str], Failure]
"""A function that describes how the code of a file has failed."""


def seed_generators(number: int) -> None:
    """Seed every generator that lesson code may use."""
    if ACCELERATED:
        torch.manual_seed(number)
    else:
        # For each kind of accelerator that is not in use, `torch.manual_seed` keeps a text of the whole stack, which
        # takes longer than most steps.
        torch.default_generator.manual_seed(number)
    random.seed(number)


def out_size() -> int:
    """Return the number of bytes written to standard output so far. It is a file, so other writers count too."""
    # The program may have closed or replaced the stream.
    with suppress(BaseException):
        sys.stdout.flush()
    try:
        return os.fstat(1).st_size
    except OSError:
        return 0


def new_namespace(name: str) -> dict[str, Any]:
    """Create a module for a program to run in and return its namespace.

    Python's own tools look for a class in its module (pickle, an annotated dataclass), so the module can be imported.
    """
    module = sys.modules[name] = ModuleType(name)
    return module.__dict__


def execute(
    source: str,
    filename: str,
    namespace: dict[str, Any],
    after: After | None = None,
    described: Described | None = None,
    prepare: Callable[[ast.Module], None] | None = None,
) -> Failure | None:
    """Run `source` in `namespace`. Returns None if it completed, else the failure, `described`. Never raises.

    With `after`, the top-level statements run one by one, and `after` is called with each of them afterwards; `prepare`
    may insert something into the code before.
    """
    if found := NO_TEXT.search(source):
        # Python's own message about such a character does not name the line.
        line = source.count("\n", 0, found.start()) + 1
        return Failure(
            "error", say("not-python-byte", "This is not Python: there is a byte that is no text (UTF-8)."), line
        )
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        if after is None:
            _exec(_compile(source, filename, "exec", dont_inherit=True), namespace)
        else:
            _one_by_one(source, filename, namespace, after, prepare)
    except BaseException as error:
        return (described or describe)(error, filename)
    return None


def _one_by_one(
    source: str,
    filename: str,
    namespace: dict[str, Any],
    after: After,
    prepare: Callable[[ast.Module], None] | None,
) -> None:
    with _as_deep_as_python():
        tree = _parse(source, filename)
        # Compile all of it first, so that an error that only the compiler sees (`return` outside a function) is early.
        _compile(source, filename, "exec", dont_inherit=True)
        if prepare is not None:
            prepare(tree)
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            # A future import holds for a whole file, so its flag is needed for every later statement.
            flags |= sum(getattr(__future__, alias.name).compiler_flag for alias in statement.names)
        with _as_deep_as_python():
            code = _compile(ast.Module([statement], []), filename, "exec", flags, dont_inherit=True)
        _exec(code, namespace)
        after(statement)


def _is_deeper(traceback: TracebackType | None, calls: int) -> bool:
    """Return whether there are more calls than these inside of each other."""
    for _ in range(calls):
        traceback = traceback.tb_next if traceback is not None else None
    return traceback is not None


@contextmanager
def _as_deep_as_python() -> Iterator[None]:
    """Let code be nested as deeply as where Python compiles a file, such as 1,500 branches of one `if`.

    For a syntax tree, the limit is otherwise a third of that.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, NESTED))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def describe(error: BaseException, filename: str) -> Failure:
    """Describe an exception as a failure: what happened, what to do, and the innermost line of `filename` involved."""
    return with_original_builtins(_describe, error, filename)


def _describe(error: BaseException, filename: str) -> Failure:
    line = _last_line(_trace(error), filename)
    kind: Literal["error", "memory"] = "error"
    operation, text, told = "", "", None
    if is_a(error, SyntaxError):
        at = _line(error)
        line = at if _file(error) == filename and type(at) is int else line
        text = _text(_said(error))
        message = _sentence(say("not-python", "This is not Python: {text}", text=text))
        told = advice(error, filename, _source(filename))
    elif is_a(error, SystemExit):
        message = say("sys-exit", "The code ended the program itself (sys.exit); nothing after that was run.")
    elif is_a(error, RecursionError) and _is_deeper(_trace(error), FEW_CALLS):
        message = say(
            "recursion", "The recursion is too deep: a function calls itself again and again, maybe endlessly."
        )
    elif is_a(error, EOFError) and _text(error) == "EOF when reading a line":
        message = say("keyboard", "The code waits for the keyboard, which it cannot read here.")
    elif is_a(error, OSError) and _errno(error) == errno.EFBIG:
        message = say("output", "The code printed or wrote more than 8 MB; the first 64 KB are shown.")
    else:
        text = _text(error)
        if is_a(error, MemoryError) or "can't allocate memory" in text:
            kind, message = "memory", say("memory", "Out of memory: {allocation}.", allocation=_allocation(text))
        else:
            name = _type(error).__name__
            message = f"{name}: {text}" if text else name
            told = advice(error, filename, _source(filename))
            operation = failed_operation(error, filename, _source(filename))
    # Python's own message may name the line, as in "(detected at line 3)".
    named = line is not None and re.search(rf"\bline {line}\b", text) is not None
    if told is None:
        refused = is_a(error, PermissionError)
        return Failure(kind, message[:LONGEST], line, names_line=named, operation=operation, refused=refused)
    tried = tuple(replace(item, text=_joined(message, item.text)) for item in told.suggestions)
    untried, symptom = _joined(message, told.untried), message[:LONGEST]
    return Failure(kind, _joined(message, told.text), line, symptom, named, operation, untried, tried)


def _joined(message: str, text: str) -> str:
    """Append an advice for the learner to a message."""
    return f"{_sentence(message[: LONGEST - 2 - len(text)].rstrip())} {text}" if text else message[:LONGEST]


def _sentence(text: str) -> str:
    return text if text.endswith(SENTENCE_ENDS) else f"{text}."


def _source(filename: str) -> str:
    """Return the source of a file that was run, empty if it is unknown."""
    try:
        return "".join(linecache.cache[filename][2])  # type: ignore[misc]
    except BaseException:
        return ""


def _last_line(trace: TracebackType | None, filename: str) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = line_of(trace)
        trace = trace.tb_next
    return line


def line_of(trace: TracebackType) -> int:
    """Return the line that a frame of a traceback was at.

    A few instructions have none, as the jump back to the beginning of a loop may; a signal is handled at such a jump.
    They have that of where they jump to, and else that of the code before them.
    """
    line: int | None = trace.tb_lineno
    if line is not None:
        return line
    code = trace.tb_frame.f_code
    line, target = code.co_firstlineno, None
    for instruction in dis.get_instructions(code):
        if instruction.offset == trace.tb_lasti and instruction.opcode in dis.hasjrel:
            target = instruction.argval
    for instruction in dis.get_instructions(code):
        at = instruction.positions.lineno if instruction.positions is not None else None
        if target is not None and instruction.offset >= target and at is not None:
            return at
        if target is None and instruction.offset > trace.tb_lasti:
            break
        line = at or line
    return line


def _text(value: object) -> str:
    try:
        return _str(value)
    except BaseException:
        return say("no-message", "its message could not be read")


def _allocation(text: str) -> str:
    """Describe a failed allocation, with its size if the message has one ("you tried to allocate 123 bytes")."""
    words = text.split()
    for word, unit in itertools.pairwise(words):
        if word.isdigit() and unit.startswith("bytes") and int(word) >= 2**20:
            mebibytes = int(word) / 2**20
            if mebibytes >= 1024:
                return say("gibibytes", "a tensor of {size:.1f} GiB does not fit into the limit", size=mebibytes / 1024)
            return say("mebibytes", "a tensor of {size:.0f} MiB does not fit into the limit", size=mebibytes)
    return say("limit-reached", "the limit was reached")
