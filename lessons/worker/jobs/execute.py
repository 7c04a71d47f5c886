"""Run a piece of source code and tell, in one sentence, what became of it."""

from __future__ import annotations
import __future__

import ast
import errno
import itertools
import linecache
import re
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal

from lessons.results import code_unit
from lessons.worker.advice import advice
from lessons.worker.advice.original_builtins import with_original_builtins
from lessons.worker.advice.safe_reading import is_a
from lessons.worker.message_parts import ErrorReport

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
SENTENCE_ENDS = (".", "!", "?", ":")

After = Callable[[ast.stmt], None]
"""Called after each top-level statement."""


def execute(source: str, filename: str, namespace: dict[str, Any], after: After | None = None) -> ErrorReport | None:
    """Run `source` in `namespace`; None if it came to its end, else the failure. Never raises.

    With `after`, the top-level statements are run one by one and it is called between them.
    """
    if found := NO_TEXT.search(source):
        # Python's own complaint about these names no line.
        line = source.count("\n", 0, found.start()) + 1
        return ErrorReport("error", "This is not Python: there is a byte that is no text (UTF-8).", line)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        if after is None:
            _exec(_compile(source, filename, "exec", dont_inherit=True), namespace)
        else:
            _one_by_one(source, filename, namespace, after)
    except BaseException as error:
        return describe(error, filename)
    return None


def _one_by_one(source: str, filename: str, namespace: dict[str, Any], after: After) -> None:
    tree = _parse(source, filename)
    # All of it first: a mistake that only the compiler sees (`return` outside a function) must not wait for its line.
    _compile(source, filename, "exec", dont_inherit=True)
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            # What holds for a whole file has to be said again for each part of it.
            flags |= sum(getattr(__future__, alias.name).compiler_flag for alias in statement.names)
        _exec(_compile(ast.Module([statement], []), filename, "exec", flags, dont_inherit=True), namespace)
        after(statement)


def describe(error: BaseException, filename: str) -> ErrorReport:
    """An exception as a failure: what happened, what to do, and the last line of `filename` on the way to it."""
    return with_original_builtins(_describe, error, filename)


def _describe(error: BaseException, filename: str) -> ErrorReport:
    line = _last_line(_trace(error), filename)
    kind: Literal["error", "memory"] = "error"
    if is_a(error, SyntaxError):
        at = _line(error)
        line = at if _file(error) == filename and type(at) is int else line
        message = _advised(_sentence(f"This is not Python: {_text(_said(error))}"), error, filename)
    elif is_a(error, SystemExit):
        message = "The code ended the program itself (sys.exit); nothing after that was run."
    elif is_a(error, RecursionError):
        message = "Endless recursion: a function calls itself without end."
    elif is_a(error, EOFError):
        message = "The code waits for the keyboard, which it cannot read here."
    elif is_a(error, OSError) and _errno(error) == errno.EFBIG:
        message = "The code printed or wrote more than 8 MB; the first 64 KB are shown."
    else:
        text = _text(error)
        if is_a(error, MemoryError) or "can't allocate memory" in text:
            kind, message = "memory", f"Out of memory: {_allocation(text)}."
        else:
            name = _type(error).__name__
            message = _advised(f"{name}: {text}" if text else name, error, filename)
    return ErrorReport(kind, message[:LONGEST], line)


def _advised(message: str, error: BaseException, filename: str) -> str:
    """A message with the advice for a learner after it, if there is any."""
    text = advice(error, filename, _source(filename))
    if not text:
        return message
    return f"{_sentence(message[: LONGEST - 2 - len(text)].rstrip())} {text}"


def _sentence(text: str) -> str:
    return text if text.endswith(SENTENCE_ENDS) else f"{text}."


def _source(filename: str) -> str:
    """The code of a file that was run."""
    try:
        return "".join(linecache.cache[filename][2])  # type: ignore[misc]
    except BaseException:
        return ""


def _last_line(trace: TracebackType | None, filename: str) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _text(value: object) -> str:
    try:
        return _str(value)
    except BaseException:
        return "its message could not be read"


def _allocation(text: str) -> str:
    """How much a failed allocation wanted, if the message says so ("you tried to allocate 123 bytes")."""
    words = text.split()
    for word, unit in itertools.pairwise(words):
        if word.isdigit() and unit.startswith("bytes") and int(word) >= 2**20:
            mebibytes = int(word) / 2**20
            size = f"{mebibytes / 1024:.1f} GiB" if mebibytes >= 1024 else f"{mebibytes:.0f} MiB"
            return f"a tensor of {size} does not fit into the limit"
    return "the limit was reached"
