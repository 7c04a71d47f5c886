"""Programs of one's own, and their results: what a step's run returns, and the tensors that the source names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.field_bounds import Count, Line, PrintedLines, Sizes, Type
from attn_tutor.lessons.results.result import StepResult

WALL = 60.0
"""Seconds after which a program is stopped, unless its limits are lifted."""


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """A program of one's own.

    Attributes:
        path: its file, as an absolute path.
        code: its source.
        arguments: what follows the name of the file on a command line.
        folder: the working directory.
        environment: the variables of the environment.
        limited: whether the limits of the worker hold for it.
        wall: the seconds after which it is stopped; None if it runs to its end.
        sources: the source of each other file that is changed, by its path from the folder of the program on.
        data: of a file of tensors, which the code reads, what its page says of it; "" if the file is the program.
    """

    path: str
    code: str
    arguments: tuple[str, ...]
    folder: str
    environment: tuple[tuple[str, str], ...]
    limited: bool = True
    wall: float | None = WALL
    sources: tuple[tuple[str, str], ...] = ()
    data: str = ""

    @classmethod
    def here(cls, path: Path, code: str, arguments: Sequence[str] = (), *, limited: bool = True) -> OwnProgram:
        """Return a program with the working directory and the environment of this process."""
        environment = tuple(sorted(os.environ.items()))
        wall = WALL if limited else None
        return cls(str(path.resolve()), code, tuple(arguments), os.getcwd(), environment, limited, wall)

    @property
    def name(self) -> str:
        """The name of its file, which is safe to print."""
        return printable(Path(self.path).name)


@dataclass(frozen=True, slots=True)
class Named:
    """A tensor that the source of a program names, as it was when the name was bound last.

    Attributes:
        label: tells it from all others: `scores`, `model.weight`, `Attention.forward.scores`.
        name: as its own code calls it: `scores`, `model.weight`, `scores`.
        kind: a `local` is a variable of a function, or of a file that the program imports; a `parameter` is a parameter
            or buffer of a module.
        scope: the function or imported file whose variable it is; "" for a variable of the program itself.
        file: the file in which the name was bound last, "" if that is unknown; the program's own is `<program>`.
        line: the line there.
        count: how often the name was bound to a tensor, of a function's variable how often the function was called.
        shape, dtype: what the tensor is.
        time: orders the tensors by when they had their values.
        call: the call of the function that it is from; 0 if that is not known.
        module: what the program calls the module whose method that was; "" if it was none, or has no name.
        nonfinite: how many of its numbers are NaN, and how many infinite; None if they were not counted.
    """

    label: PrintedLines
    name: PrintedLines
    kind: Literal["variable", "parameter", "local"]
    scope: PrintedLines
    file: PrintedLines
    line: Line | None
    count: Count
    shape: Sizes
    dtype: Type
    time: int = 0
    call: Count = 0
    module: PrintedLines = ""
    nonfinite: tuple[Count, Count] | None = (0, 0)


@dataclass(frozen=True, slots=True)
class FailedAt:
    """Where a program failed: file, line, and the function or imported file; of the program itself `<program>`, ""."""

    file: PrintedLines
    line: Line
    scope: PrintedLines


@dataclass(frozen=True, slots=True)
class ProgramResult(StepResult):
    """The result of a program.

    Attributes:
        named: the tensors that its source names; a `ShowQuestion` with a label asks for one.
        stopped: why recording stopped before the program ended; "" if it did not.
        sources: the source of each other file that names a tensor.
        imported: the files below the folder of the program that it imported, as absolute paths.
        inner: what assignments in functions have bound last: file, line, name, and the shape of the tensor.
        operations: how many operations its record has.
        failed_at: where it failed; None if it did not, or in no file of its own.
        written: the files that it wrote as copies in its temporary folder, as paths that it would call them.
        unlisted: the variables that are tensors of another kind, such as sparse ones, which have no page.
    """

    named: tuple[Named, ...] = ()
    stopped: str = ""
    sources: dict[str, str] = field(default_factory=dict)
    imported: tuple[str, ...] = ()
    inner: tuple[tuple[str, int, str, tuple[int, ...]], ...] = ()
    operations: int = 0
    failed_at: FailedAt | None = None
    written: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
