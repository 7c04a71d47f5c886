"""Values that a program gets in place of those that it assigns to its variables: from the command line, or a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attn_tutor.lessons.engine.programs.stored_tensors import UnreadableTensors, opened
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.reading.reassigned import NoAssignment, reassigned
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.errors import UsageError
from attn_tutor.tui.commands.output import print_error

say = Wording("command/diff")

ONLY = "npy"
"""The format of files whose only tensor has no name: that of the file stands for it."""

READ = "__import__('attn_tutor').open_tensors({path!r})[{name!r}].clone()"


def of_texts(texts: Sequence[str]) -> dict[str, str]:
    """Return the expressions for variables from texts such as `x=torch.ones(3)`. Raises `UsageError`."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, expression = text.partition("=")
        if not equals:
            raise UsageError(say("no-value", "'{text}' sets nothing. Write it like x='torch.ones(3)'.", text=text))
        found[name.strip()] = expression.strip()
    return found


def of_file(session: Session, path: Path) -> dict[str, str]:
    """Return the expressions that read the tensors of a file, by name. Raises `UsageError`."""
    try:
        with opened(session, path) as file:
            found = file.found
    except UnreadableTensors as error:
        raise UsageError(str(error)) from None
    place = str(path.resolve())
    return {
        path.stem if found.kind == ONLY else item.name: READ.format(path=place, name=item.name)
        for item in found.tensors
        if not item.problem
    }


def put_in(file: str, code: str, values: Mapping[str, str]) -> str:
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


def share_out(codes: Mapping[str, str], values: Mapping[str, str], source: str) -> dict[str, str]:
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
        file: put_in(file, code, {name: text for name, text in values.items() if name not in lacking[file]})
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
