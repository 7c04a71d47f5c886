"""A learner's own programs and expressions, as the command line names them: what is not Python is refused."""

from __future__ import annotations

from pydantic import ValidationError

from lessons.engine import explanation_tree
from lessons.format.lesson import Lesson
from lessons.texts.wording import Wording
from tui.commands.errors import UsageError
from tui.commands.files import read_code

say = Wording("command/program")

STEP = "program"
"""The id of the only step of a program."""

LARGEST = 256 * 1024
"""The longest program in characters. It travels to the worker in one message, which holds a MiB at most."""


def is_program(name: str) -> bool:
    """Return whether what stands in the place of a lesson is a file."""
    return name.endswith(".py")


def read_program(file: str) -> Lesson:
    """Return the program in a file as a lesson with a single step. Raises `UsageError`."""
    code = read_code(file)
    if len(code) > LARGEST:
        raise UsageError(
            say(
                "too-large", "{file} has more than {most} KiB, too much for a program.", file=file, most=LARGEST // 1024
            )
        )
    if not code.strip():
        raise UsageError(say("empty", "{file} is empty.", file=file))
    if not code.isascii() and code.encode("utf-8", "ignore").decode() != code:
        raise UsageError(say("not-utf-8", "{file} is not UTF-8 text.", file=file))
    try:
        return explanation_tree.program(code, file)
    except ValidationError as error:
        message, line = _reason(error)
        raise UsageError(
            say("not-python", "{file} is not Python: {reason} (line {line}).", file=file, reason=message, line=line)
        ) from None


def with_shown_tensor(lesson: Lesson, step: str, tensor: str) -> Lesson:
    """Return a lesson of which a step shows this expression.

    Raises:
        KeyError: The step does not run code.
        UsageError: The text is not an expression.
    """
    try:
        return explanation_tree.with_shown_tensor(lesson, step, tensor)
    except ValidationError as error:
        raise UsageError(
            say(
                "no-expression", "'{text}' is not a Python expression: {reason}.", text=tensor, reason=_reason(error)[0]
            )
        ) from None


def _reason(error: ValidationError) -> tuple[str, int]:
    """Return what is wrong, in Python's words if it is the code, and the line."""
    first = error.errors()[0]
    context = first.get("ctx", {})
    return str(context.get("message", first["msg"])), int(context.get("line", 1))
