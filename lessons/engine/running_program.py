"""Programs of one's own: what Python would run, with the arguments, environment and folder of the user."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from attn_tutor.lessons.engine import children
from attn_tutor.lessons.engine.launching.launchers import ChildProcess, output
from attn_tutor.lessons.engine.launching.reinstalling import install_command
from attn_tutor.lessons.format.lesson import Limits
from attn_tutor.lessons.results import line_shapes
from attn_tutor.lessons.results.clean_text import clean, printable
from attn_tutor.lessons.results.code_unit import PROGRAM, with_file, without_frames
from attn_tutor.lessons.results.program_result import ProgramResult
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.message_parts import CellWrite
from attn_tutor.lessons.worker.program_messages import (
    ProgramReport,
    Purpose,
    RunProgram,
)

say = Wording("engine/running-program")


class ProgramLimits(Limits):
    """The limits of a program of one's own, which may write a checkpoint."""

    file: ClassVar[int] = 200


LIMITS = ProgramLimits(cpu=300, wall=60, memory=6144)
"""The limits of a program and its record, unless they are lifted. When the time is up, what it did can be looked at."""

UNLIMITED = Limits.model_construct(cpu=10**9, wall=10**9, memory=1 << 30)

MIB = 1 << 20

WORKER = str(Path(__file__).parents[1] / "worker")
"""The folder of the recorder, whose functions stand in tracebacks between those of PyTorch and of a program."""

GRACE = 20.0
"""Seconds for the report of a program after its time is up: names are found only then."""


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
    wall: float | None = LIMITS.wall
    sources: tuple[tuple[str, str], ...] = ()
    data: str = ""

    @classmethod
    def here(cls, path: Path, code: str, arguments: Sequence[str] = (), *, limited: bool = True) -> OwnProgram:
        """Return a program with the working directory and the environment of this process."""
        environment = tuple(sorted(os.environ.items()))
        wall = LIMITS.wall if limited else None
        return cls(str(path.resolve()), code, tuple(arguments), os.getcwd(), environment, limited, wall)

    @property
    def name(self) -> str:
        """The name of its file, which is safe to print."""
        return printable(Path(self.path).name)

    @property
    def limits(self) -> Limits:
        """The limits for its process."""
        if self.data:
            return with_room_for(Path(self.path), LIMITS)
        return LIMITS if self.limited else UNLIMITED


def with_room_for(path: Path, limits: Limits) -> Limits:
    """Return limits under which a file can be mapped as a whole, which takes addresses and no memory."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        # Who reads it will say what is wrong.
        return limits
    return limits.model_copy(update={"memory": limits.memory + -(-size // MIB)})


def run(
    program: OwnProgram, cells: Sequence[CellWrite], job: ChildProcess, cancelled: Callable[[], bool], purpose: Purpose
) -> tuple[ProgramResult, bool]:
    """Run a program in a child. Returns the result, and whether the child is still there to answer questions.

    In a hunt, it may end the program when it has found the first number that is not finite.
    """
    message = RunProgram(
        path=program.path,
        code=program.code,
        arguments=program.arguments,
        folder=program.folder,
        environment=dict(program.environment),
        cells=tuple(cells),
        wall=program.wall,
        limited=program.limited,
        purpose=purpose,
        sources=dict(program.sources),
        is_data=bool(program.data),
    )
    deadline = None if program.wall is None else time.monotonic() + program.wall + GRACE
    try:
        channel.send(job.talk, message)
        report = channel.receive(job.talk, ProgramReport, deadline=deadline)
        return _result(report, job, program.name), True
    except TimeoutError:
        failure = children.timeout_failure(job, program.limits.wall)
    except wire.WireError as error:
        # A child that sends something unreadable is ended.
        failure = children.exit_failure(job, error, program.limits, cancelled())
    return ProgramResult(PROGRAM.name, stdout=_printed(job, program.name), error=failure), False


def _result(report: ProgramReport, job: ChildProcess, file: str) -> ProgramResult:
    return ProgramResult(
        PROGRAM.name,
        stdout=_printed(job, file, *report.stdout),
        error=_failure(report),
        seconds=report.seconds,
        notes=report.notes,
        shapes=line_shapes.of_worker(report.shapes, lambda name, axes: ()),
        named=report.named,
        inner=report.inner,
        stopped=clean(report.stopped),
        sources={clean(file): source for file, source in _sources(report.blob).items()},
        imported=report.imported,
        operations=report.operations,
        failed_at=report.failed_at,
        written=tuple(map(clean, report.written)),
        unlisted=tuple(map(clean, report.unlisted)),
    )


def _failure(report: ProgramReport) -> Failure | None:
    """Return how a program failed; where a package is missing, with the command that installs it."""
    failure = report.error
    if failure is None or not report.missing:
        return failure
    if report.missing == "attention":
        said = say("course-layers", "In a program of your own, the layers of the course are in `attn_tutor.attention`.")
    else:
        command = install_command(clean(report.missing))
        said = say("install", "To add it to the tutor's environment: {command}", command=command)
    return replace(failure, message=f"{failure.message.rstrip('.')}. {said}")


def _sources(blob: bytes) -> dict[str, str]:
    """Read the sources in a report. Raises `WireError` for anything but an object of texts."""
    try:
        found = json.loads(blob)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(source, str) for source in found.values()):
        raise wire.WireError("unreadable sources")
    return found


def _printed(job: ChildProcess, file: str, start: int = 0, end: int | None = None) -> str:
    """Return what a program printed, first on standard output, then on standard error.

    Tracebacks in it name the program's own file, and leave out the functions of the recorder.
    """
    printed, errors = output(job.out, start, end), output(job.err)
    between = "" if not printed or printed.endswith("\n") or not errors else "\n"
    return with_file(without_frames(printed + between + errors, WORKER), PROGRAM, file)
