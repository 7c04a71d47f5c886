"""The messages that run a program of one's own and report it; `lessons.worker.messages` lists them with all others."""

from __future__ import annotations

from typing import Any, Literal

from lessons.worker.message_parts import CellWrite, ErrorReport, message


@message
class NamedReport:
    """A tensor that the source of a program names; see `lessons.results.program_result.Named`."""

    label: str
    kind: Literal["variable", "parameter", "local"]
    scope: str
    file: str
    line: int | None
    count: int
    shape: tuple[int, ...]
    dtype: str


@message
class RunProgram:
    """Run a program of one's own as Python would, report it, then answer questions until the connection is closed.

    Attributes:
        path: its file, as an absolute path.
        code: its source, with what was changed in it.
        arguments: what follows the name of the file on a command line.
        folder: the working directory.
        environment: the variables of the environment.
        cells: the numbers that were changed in it.
        wall: seconds after which it is stopped; None to let it run to its end.
        limited: whether the limits of the worker hold for it.
    """

    path: str
    code: str
    arguments: tuple[str, ...]
    folder: str
    environment: dict[str, str]
    cells: tuple[CellWrite, ...]
    wall: float | None
    limited: bool


@message
class ProgramReport:
    """The result of a program. `stdout` is the range of the output file that it printed, in bytes.

    Attributes:
        named: the tensors that its source names, which can be asked for by their labels.
        stopped: why recording stopped before the program ended; "" if it did not.
    """

    error: ErrorReport | None
    stdout: tuple[int, int]
    named: tuple[NamedReport, ...]
    shapes: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    stopped: str
    seconds: float
