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
from typing import Any

# Bound before any learner's code runs, which may replace the builtins.
_compile, _exec, _parse, _str, _type = compile, exec, ast.parse, str, type

YOUR_CODE = "<your code>"
NO_TEXT = re.compile("[\0\ud800-\udfff]")
LONGEST = 2000

Failed = dict[str, Any]
"""A failure as it travels: kind, message, line. See `lessons.result.Failure`."""

After = Callable[[ast.stmt], None]
"""Called after each top-level statement."""


def execute(source: str, filename: str, namespace: dict[str, Any], after: After | None = None) -> Failed | None:
    """Run `source` in `namespace`; None if it came to its end, else the failure. Never raises.

    With `after`, the top-level statements are run one by one and it is called between them.
    """
    if found := NO_TEXT.search(source):
        # Python's own complaint about these names no line.
        line = source.count("\n", 0, found.start()) + 1
        return {
            "kind": "error",
            "message": "This is not Python: there is a byte that is no text (UTF-8).",
            "line": line,
        }
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


def describe(error: BaseException, filename: str) -> Failed:
    """An exception as a failure: what happened, and the last line of `filename` on the way to it."""
    line = _last_line(error.__traceback__, filename)
    kind = "error"
    if isinstance(error, SyntaxError):
        line = error.lineno if error.filename == filename else line
        message = f"This is not Python: {error.msg}."
    elif isinstance(error, SystemExit):
        message = "The code ended the program itself (sys.exit); nothing after that was run."
    elif isinstance(error, RecursionError):
        message = "Endless recursion: a function calls itself without end."
    elif isinstance(error, EOFError):
        message = "The code waits for the keyboard, which it cannot read here."
    elif isinstance(error, MemoryError) or "can't allocate memory" in _text(error):
        kind, message = "memory", f"Out of memory: {_allocation(_text(error))}."
    elif isinstance(error, OSError) and error.errno == errno.EFBIG:
        message = "The code printed or wrote more than 8 MB; the first 64 KB are shown."
    else:
        name, text = _type(error).__name__, _text(error)
        message = f"{name}: {text}" if text else name
    return {"kind": kind, "message": message[:LONGEST], "line": line}


def _last_line(trace: TracebackType | None, filename: str) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _text(error: BaseException) -> str:
    try:
        return _str(error)
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
