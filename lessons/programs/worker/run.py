"""The job that runs a program of one's own as Python would, and then answers questions about its tensors."""

from __future__ import annotations

import errno
import functools
import importlib.util
import itertools
import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn

from attn_tutor.lessons.programs.messages import (
    MOST_NAMED,
    ChooseCall,
    DigestValues,
    FindNonfinite,
    NonfiniteFound,
    ProgramReport,
    Purpose,
    RunProgram,
    TracePart,
    TraceProgram,
)
from attn_tutor.lessons.programs.results.comparison import Gaps
from attn_tutor.lessons.programs.results.program_result import FailedAt, OwnProgram
from attn_tutor.lessons.programs.worker import loaded_batches
from attn_tutor.lessons.programs.worker.diff import comparison, traced_result
from attn_tutor.lessons.programs.worker.diff.result_log import TracingRecorder
from attn_tutor.lessons.programs.worker.edited_files import EditedFiles
from attn_tutor.lessons.programs.worker.named_report import (
    SHARE,
    NameList,
    choose_call,
    digest_values,
    fitting,
    list_names,
    unlisted,
)
from attn_tutor.lessons.programs.worker.named_tensors import is_module, scope_of
from attn_tutor.lessons.programs.worker.nan.hunt import HuntingRecorder
from attn_tutor.lessons.programs.worker.scratch_files import ScratchFiles
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.fence import limits
from attn_tutor.lessons.worker.jobs import course_package, tensor_questions, values
from attn_tutor.lessons.worker.jobs.execute import describe, line_of, out_size, seed_generators
from attn_tutor.lessons.worker.jobs.run_state import RunState
from attn_tutor.lessons.worker.recording.call_sites import OWN, is_installed
from attn_tutor.lessons.worker.recording.local_variables import LocalVariables, note_failed_statement
from attn_tutor.lessons.worker.recording.recorder import Recorder

LEAST_RECORD, MOST_RECORD = 256 << 20, 2 << 30
"""Bytes that a record may keep at least and at most, whatever is free."""

PART_OF_MEMORY = 4
"""A record keeps up to this part of the free memory: the program needs more, and a what-if runs it once more."""

_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


def record_size(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the bytes of tensors that a record may keep alive, by the memory that is free now."""
    return max(LEAST_RECORD, min(MOST_RECORD, _free_memory(meminfo) // PART_OF_MEMORY))


def _free_memory(meminfo: Path) -> int:
    try:
        if found := _AVAILABLE.search(meminfo.read_text()):
            return int(found[1]) << 10
    except OSError:
        pass
    # Where the system does not say what it could free, half of all memory.
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


say = Wording("worker/program-run")

ROOT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""What lies in the top folder of a project."""

AGAIN = 0.02
"""Seconds after which a program that could not be stopped where it was is stopped again."""


REFUSED = re.compile("can't allocate memory|not permitted|Permission denied|cannot be opened|[Pp]arent directory")
"""What PyTorch says where the system has refused something."""


FILES = "files"
"""The folder in the temporary one where copies of files lie that a program writes."""

LONGEST_LINE = 1000
"""The most of what a program has written that is said, in characters."""

ERROR_STREAM = 2
"""The descriptor of standard error, which is a file of the worker."""

MOST_WRITTEN = 100
"""Files that a program has written that a report has room for."""

ROOM = 200
"""Calls inside of each other that a program may have more than in Python, for those of the recorder."""

MOST_SOURCE = 1 << 20
"""Characters of source that a report has room for."""


def _recorder() -> Recorder:
    keep = record_size()
    return Recorder(keep=keep, segment=keep // 8)


RECORDERS: Mapping[Purpose, Callable[[], Recorder]] = {
    "questions": _recorder,
    "hunt": HuntingRecorder,
    "trace": TracingRecorder,
}
"""The recorder for each purpose of a run."""


class TimeIsUp(BaseException):
    """The program has run for as long as it may."""


class ProgramEnded(BaseException):
    """The program has done what it was run for."""


def run_program(job: RunProgram, talk: socket.socket) -> None:
    """Run a program, report it with all tensors that its source names, then answer questions until the peer is gone."""
    before, began, process = out_size(), time.perf_counter(), os.getpid()
    program = job.program
    own = tuple(cell for cell in job.cells if not cell.file)
    state = RunState(own, "__main__", RECORDERS[job.purpose]())
    others = [cell for cell in job.cells if cell.file]
    edited = EditedFiles(root_of(Path(program.path)), dict(program.sources), others, state.recorder)
    scratch = Path(os.environ.get("TMPDIR", ""))
    files = ScratchFiles(scratch / FILES, scratch)
    with (
        files.in_place() if program.limited else nullcontext(),
        loaded_batches.copied(),
        _as_own(program, state),
        edited.imported(),
    ):
        known = set(sys.modules)
        failure, place, missing = _run(job, state)
        if os.getpid() != process:
            _end_copy(failure)
        # Now there is nothing left to interrupt.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    seconds = time.perf_counter() - began
    limits.allow_questions()
    asks = job.purpose == "questions"
    names = list_names(state) if asks else NameList([], (), (), 0)
    record, positions = state.explainer.record, state.explainer.names.positions
    found = names.found
    notes = [*state.cell_writer.take_notes(), *edited.take_notes()]
    if names.more > len(found):
        notes.append(
            say(
                "many",
                "{count:,} tensors have names; the first {most:,} are listed.",
                count=names.more,
                most=len(found),
            )
        )
    sources = {positions.file_of(item.file): record.sources[item.file] for item in found if item.file in record.sources}
    sources.pop(PROGRAM.filename, None)
    written = (os.path.relpath(path, program.folder) for path in itertools.islice(files.written, MOST_WRITTEN))
    report = ProgramReport(
        error=failure,
        stdout=(before, out_size()),
        named=names.reports,
        shapes=fitting(state.lines, 3 * SHARE),
        notes=tuple(notes),
        stopped=record.stopped,
        seconds=seconds,
        blob=_packed(sources),
        imported=fitting(_imported(Path(program.path).parent, known), 2 * SHARE),
        inner=names.inner,
        operations=len(record.events),
        failed_at=None if place is None else replace(place, file=positions.file_of(place.file)),
        unlisted=fitting(unlisted(record), SHARE // 2),
        missing=missing,
        written=fitting(written, SHARE // 2),
    )
    channel.send(talk, report)
    tensor_questions.serve(talk, state, HANDLERS)


def _end_copy(failure: Failure | None) -> NoReturn:
    """End a process that the program has forked, where Python would: only the program itself is reported."""
    if failure is not None:
        # The stream may be closed.
        with suppress(OSError, ValueError, AttributeError):
            print(failure.message, file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(int(failure is not None))


def find_nonfinite(run: RunState, question: FindNonfinite) -> NonfiniteFound:
    """Tell the first number that is not finite of a run that has hunted it."""
    if not isinstance(run.recorder, HuntingRecorder):
        raise tensor_questions.QuestionRefused(say("no-hunt", "The program has run without a watch for such numbers."))
    try:
        return NonfiniteFound(run.recorder.report(run.explainer))
    except Exception as error:
        # A bug in the search must not end the child: its numbers can still be explained.
        kind = type(error).__name__
        why = say("search-failed", "The numbers cannot be looked at ({kind}: {error}).", kind=kind, error=error)
        raise tensor_questions.QuestionRefused(why) from error


def trace_part(run: RunState, question: TraceProgram) -> TracePart:
    """Return a part of the intermediate results of a run."""
    gaps, parts = _parts(run)
    if not 0 <= question.part < len(parts):
        raise tensor_questions.QuestionRefused(say("no-part", "no such part"))
    tree, blob = parts[question.part]
    return TracePart(tree, question.part == len(parts) - 1, blob, gaps)


@functools.lru_cache(maxsize=1)
def _parts(run: RunState) -> tuple[Gaps, list[tuple[Any, bytes]]]:
    """Return what is missing in the trace of a run, and the trace in encoded parts."""
    recorder = run.recorder
    trace = recorder.trace() if isinstance(recorder, TracingRecorder) else comparison.trace(run.explainer)
    return trace.gaps, [values.encode(traced_result.plain(part)) for part in traced_result.parts(trace)]


HANDLERS: tensor_questions.Handlers = {
    FindNonfinite: find_nonfinite,
    TraceProgram: trace_part,
    ChooseCall: choose_call,
    DigestValues: digest_values,
}
"""The functions that answer what only a program of one's own is asked."""


def _imported(folder: Path, known: set[str]) -> Iterator[str]:
    """Yield the source files below a folder that were imported, other than the modules `known` before."""
    for name in sorted(sys.modules.keys() - known)[:MOST_NAMED]:
        file = getattr(sys.modules[name], "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and Path(file).is_relative_to(folder):
            yield file


def _packed(sources: dict[str, str]) -> bytes:
    """Return the sources as JSON, without those for which there is no room."""
    kept, size = dict[str, str](), 0
    for file, source in sources.items():
        size += len(source)
        if size <= MOST_SOURCE:
            kept[file] = source
    return json.dumps(kept).encode()


def _run(job: RunProgram, state: RunState) -> tuple[Failure | None, FailedAt | None, str]:
    """Run the code until it ends, fails, or has run for as long as it may.

    Returns the failure, where that was, and which module is missing, "" if none is.
    """
    recorder, program = state.recorder, job.program
    root = str(root_of(Path(program.path)))
    recorder.watch_below(root)
    ended: list[Failure | None] = []
    places: list[FailedAt] = []
    missing: list[str] = []

    def described(error: BaseException, filename: str) -> Failure:
        if isinstance(error, ProgramEnded) or (isinstance(error, SystemExit) and error.code in (None, 0)):
            ended.append(None)
        if module := _missing_module(error):
            missing.append(module)
        if (place := _innermost(error.__traceback__, filename, root)) is not None:
            places.append(place)
        note_failed_statement(recorder, state.explainer.names.positions, error.__traceback__)
        return _described(error, filename, program)

    asks = job.purpose == "questions"
    local_variables = LocalVariables(recorder, every_call=asks)
    # The recorder's own calls come on top of those of the program.
    sys.setrecursionlimit(sys.getrecursionlimit() + ROOM)
    with _stopped_after(program.wall) as stopper, local_variables.noting():
        if isinstance(recorder, HuntingRecorder):

            def found() -> None:
                recorder.naming.name_all(state.namespace)
                local_variables.name_items(state.namespace)
                stopper.soon(ProgramEnded)

            recorder.on_end = found
        failure = state.run(program.code, PROGRAM, described)
        if job.purpose != "trace":
            local_variables.name_items(state.namespace)
    if ended or failure is None:
        return None, None, ""
    return failure, next(iter(places), None), next(iter(missing), "")


def _missing_module(error: BaseException) -> str:
    """Return the module of the top level that is not installed, if a program has failed for that; else ""."""
    if isinstance(error, RuntimeError) and str(error) == "Numpy is not available":
        return "numpy"
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if not name.isidentifier() or name in sys.stdlib_module_names:
        return ""
    with suppress(ImportError, ValueError):
        return "" if importlib.util.find_spec(name) is not None else name
    return ""


@contextmanager
def _as_own(program: OwnProgram, state: RunState) -> Iterator[None]:
    """Let the program find what it would find if Python ran it: arguments, environment, folder, its own file."""
    scratch = os.environ.get("TMPDIR", "")
    os.environ.clear()
    os.environ.update(program.environment)
    if program.limited and scratch:
        # Elsewhere it may not write.
        os.environ["TMPDIR"] = scratch
    os.chdir(program.folder)
    sys.argv[:] = [program.path, *program.arguments]
    sys.path.insert(0, str(Path(program.path).parent))
    course_package.take_away()
    state.namespace["__file__"] = program.path
    # Generators start anywhere in each process: two runs would differ by more than a change between them.
    seed_generators(0)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(0)
    yield


class _Stopper:
    """Raises an exception in the program when its time is up or somebody wants that.

    It is raised neither in the recorder nor after the end of the program.

    Attributes:
        reason: what is raised next.
    """

    def __init__(self, seconds: float | None) -> None:
        self.reason: type[BaseException] = TimeIsUp
        self._until = None if seconds is None else time.monotonic() + seconds

    def start(self) -> None:
        """Wait for the end of the time."""
        if self._until is not None:
            signal.setitimer(signal.ITIMER_REAL, max(AGAIN, self._until - time.monotonic()), AGAIN)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal that the time is up."""
        if not _is_of_program(frame):
            return
        if self.reason is KeyboardInterrupt:
            # A program may catch it and go on.
            self.reason = TimeIsUp
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.start()
            raise KeyboardInterrupt
        raise self.reason

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Handle Ctrl+C."""
        self.soon(KeyboardInterrupt)
        self.stop(number, frame)

    def soon(self, reason: type[BaseException]) -> None:
        """Have something raised as soon as possible."""
        self.reason = reason
        signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)


@contextmanager
def _stopped_after(seconds: float | None) -> Iterator[_Stopper]:
    """Raise `TimeIsUp` in the program when it has run for some seconds, and `KeyboardInterrupt` when it is interrupted.

    What is yielded can have `Ended` raised in the same way.
    """
    stopper = _Stopper(seconds)
    handlers = {signal.SIGALRM: stopper.stop, signal.SIGINT: stopper.interrupt}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    stopper.start()
    try:
        yield stopper
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_of_program(frame: FrameType | None) -> bool:
    """Return whether a frame runs code of the program, or a library that the program has called, and none of ours."""
    while frame is not None and not frame.f_code.co_filename.startswith(OWN):
        if frame.f_code.co_filename == PROGRAM.filename:
            return True
        frame = frame.f_back
    return False


def root_of(path: Path) -> Path:
    """Return the folder whose files belong to a program: that of its project, or else its own."""
    home = Path.home()
    for folder in path.parents:
        if folder in (home, Path(folder.anchor)):
            break
        if any((folder / mark).exists() for mark in ROOT_MARKS):
            return folder
    return path.parent


def _described(error: BaseException, filename: str, program: OwnProgram) -> Failure:
    """Describe how a program failed: also in which other file, and which limit it has met."""
    if isinstance(error, TimeIsUp):
        message = say("stopped", "Stopped after {seconds:g} seconds, as it was still running.", seconds=program.wall)
        report = Failure("error", message, describe(error, filename).line)
    elif isinstance(error, KeyboardInterrupt):
        report = Failure("error", say("interrupted", "Stopped with Ctrl+C."), describe(error, filename).line)
    elif isinstance(error, EOFError) and str(error) == "EOF when reading a line":
        message = say(
            "input",
            "It waits for input, and there is none here. Give it what it needs as arguments, behind --, or in a file.",
        )
        report = Failure("error", message, describe(error, filename).line)
    elif isinstance(error, SystemExit):
        report = Failure("error", _exit_message(error), describe(error, filename).line)
    else:
        report = describe(error, filename)
        root = str(root_of(Path(program.path)))
        other = _innermost(error.__traceback__, filename, root)
        if other is not None and other.file != filename:
            inner, line = other.file, other.line
            there = describe(error, inner)
            where = say("in-file", "In {file}, line {line}: ", file=os.path.relpath(inner, root), line=line)
            symptom = where + there.symptom if there.symptom else ""
            report = replace(there, message=where + there.message, line=report.line, symptom=symptom, names_line=False)
    if isinstance(error, ModuleNotFoundError):
        # The advice for lessons names what lessons may import.
        where = say(
            "not-found",
            "The tutor runs programs with {python}, which finds it neither beside the program nor among the installed "
            "packages.",
            python=sys.executable,
        )
        report = replace(report, message=f"{(report.symptom or report.message).rstrip('.')}. {where}")
    if program.limited and _is_refused(error):
        lifted = (
            say("lifted-time", "--no-limits lets it run to its end.")
            if isinstance(error, TimeIsUp)
            else say("lifted", "A limit of the tutor refused that; --no-limits lifts all of them.")
        )
        # The advice for lessons, whose code starts in another folder, is no advice here.
        report = replace(report, message=f"{(report.symptom or report.message).rstrip('.')}. {lifted}")
    return report


def _exit_message(error: SystemExit) -> str:
    """Say that a program has ended itself, with what it wrote last to standard error, as `argparse` does."""
    if isinstance(error.code, str):
        return say("exit-text", "It ended itself with sys.exit, and says: {text}", text=error.code[:LONGEST_LINE])
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    written = b""
    with suppress(OSError):
        size = os.fstat(ERROR_STREAM).st_size
        written = os.pread(ERROR_STREAM, LONGEST_LINE, max(0, size - LONGEST_LINE))
    lines = written.decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    if not last:
        return say("exit", "It ended itself with sys.exit({code!r}).", code=error.code)
    return say(
        "exit-last", "It ended itself with sys.exit({code!r}). It last wrote: {line}", code=error.code, line=last
    )


def _innermost(trace: TracebackType | None, filename: str, root: str) -> FailedAt | None:
    """Return where the innermost code of the project was: file, line and function; None if there is none."""
    found = None
    while trace is not None:
        code = trace.tb_frame.f_code
        own = code.co_filename == filename
        if own or (code.co_filename.startswith(root + os.sep) and not is_installed(code.co_filename)):
            found = FailedAt(code.co_filename, line_of(trace), "" if own and is_module(code) else scope_of(code))
        trace = trace.tb_next
    return found


def _is_refused(error: BaseException) -> bool:
    """Return whether a limit may be the reason for an exception."""
    if isinstance(error, TimeIsUp | MemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno in (errno.EACCES, errno.EPERM, errno.EFBIG, errno.EAGAIN, errno.EMFILE, errno.ENOSPC)
    return isinstance(error, RuntimeError) and REFUSED.search(str(error)) is not None
