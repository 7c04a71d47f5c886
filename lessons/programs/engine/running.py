"""Programs of one's own: what Python would run, with the arguments, environment and folder of the user."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, cast

from attn_tutor.lessons.engine import children
from attn_tutor.lessons.engine.launching.launchers import ChildProcess, output
from attn_tutor.lessons.engine.launching.reinstalling import install_command
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Limits
from attn_tutor.lessons.programs.messages import FindNonfinite, NonfiniteFound, ProgramReport, Purpose, RunProgram
from attn_tutor.lessons.programs.results.nonfinite import NonfiniteReport
from attn_tutor.lessons.programs.results.program_result import WALL, OwnProgram, ProgramResult
from attn_tutor.lessons.results import line_shapes
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.code_unit import PROGRAM, with_file, without_frames
from attn_tutor.lessons.results.result import Failure, StepResult
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.message_parts import CellWrite

say = Wording("engine/running-program")


class ProgramLimits(Limits):
    """The limits of a program of one's own, which may write a checkpoint."""

    file: ClassVar[int] = 200


LIMITS = ProgramLimits(cpu=300, wall=WALL, memory=6144)
"""The limits of a program and its record, unless they are lifted. When the time is up, what it did can be looked at."""

SEARCH_LIMIT = 300.0
"""Seconds that the child may take to look at all numbers of a run."""

UNLIMITED = Limits.model_construct(cpu=10**9, wall=10**9, memory=1 << 30)

MIB = 1 << 20

OWN = str(Path(__file__).parents[2])
"""The folder of our code, whose functions stand in tracebacks between those of PyTorch and of a program."""

GRACE = 20.0
"""Seconds for the report of a program after its time is up: names are found only then."""


def limits_of(program: OwnProgram) -> Limits:
    """Return the limits for the process of a program."""
    if program.data:
        return with_room_for(Path(program.path), LIMITS)
    return LIMITS if program.limited else UNLIMITED


def with_room_for(path: Path, limits: Limits) -> Limits:
    """Return limits under which a file can be mapped as a whole, which takes addresses and no memory."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        # Who reads it will say what is wrong.
        return limits
    return limits.model_copy(update={"memory": limits.memory + -(-size // MIB)})


def run_program(
    session: Session, program: OwnProgram, cells: Sequence[CellWrite] = (), purpose: Purpose = "questions"
) -> Run:
    """Run a program of one's own, with some of its numbers changed; its one step is `code_unit.PROGRAM`.

    A program that fails can be asked about what it did before; it answers only what it was run for. In a hunt, it may
    be ended when the first number that is not finite is found. The limits are lifted only in a session that was made
    without them. Raises `WorkerError` if the worker cannot run anything.
    """

    def work(job: ChildProcess, cancelled: Callable[[], bool]) -> tuple[list[StepResult], bool]:
        deadline = None if program.wall is None else time.monotonic() + program.wall + GRACE
        try:
            channel.send(job.talk, RunProgram(program, tuple(cells), purpose))
            report = channel.receive(job.talk, ProgramReport, deadline=deadline)
            return [_result(report, job, program.name)], True
        except TimeoutError:
            failure = children.timeout_failure(job, limits_of(program).wall)
        except wire.WireError as error:
            # A child that sends something unreadable is ended.
            failure = children.exit_failure(job, error, limits_of(program), cancelled())
        return [ProgramResult(PROGRAM.name, stdout=_printed(job, program.name), error=failure)], False

    return session.start_run(limits_of(program), work)


def first_nonfinite(run: Run) -> NonfiniteReport | Refusal | None:
    """Return the first number that is not finite of a program that has hunted it; None if the child is gone."""

    def read(reply: object) -> NonfiniteReport | Refusal:
        return cast(NonfiniteReport | Refusal, reply.report if isinstance(reply, NonfiniteFound) else reply)

    return run.request(FindNonfinite(), read, SEARCH_LIMIT)


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
        stopped=report.stopped,
        sources={clean(file): source for file, source in _sources(report.blob).items()},
        imported=report.imported,
        operations=report.operations,
        failed_at=report.failed_at,
        written=report.written,
        unlisted=report.unlisted,
    )


def _failure(report: ProgramReport) -> Failure | None:
    """Return how a program failed; where a package is missing, with the command that installs it."""
    failure = report.error
    if failure is None or not report.missing:
        return failure
    if report.missing == "attention":
        said = say("course-layers", "In a program of your own, the layers of the course are in `attn_tutor.attention`.")
    else:
        command = install_command(report.missing)
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
    return with_file(without_frames(printed + between + errors, OWN), PROGRAM, file)
