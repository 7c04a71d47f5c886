"""The messages about programs and files of one's own, which are added to those of `lessons.worker.messages`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from attn_tutor.lessons.programs.results import nonfinite
from attn_tutor.lessons.programs.results.comparison import NO_GAPS, Gaps, RunComparison
from attn_tutor.lessons.programs.results.program_result import FailedAt, Named, OwnProgram
from attn_tutor.lessons.programs.results.tensor_file import TensorList, TensorStatistics
from attn_tutor.lessons.results.field_bounds import (
    Bytes,
    Count,
    Line,
    Longest,
    Name,
    Plain,
    PrintedLines,
    ReadBy,
    Seconds,
    Sentence,
    Sizes,
    check_range,
)
from attn_tutor.lessons.results.line_shapes import LineReport
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.worker import messages
from attn_tutor.lessons.worker.message_parts import CellWrite, ChildFailure, TensorReport, check_in_blob, message

Purpose = Literal["questions", "hunt", "trace"]

MOST_NAMED = 2000
"""The most items of one kind in a report."""

Inner = tuple[PrintedLines, Line, PrintedLines, Sizes]
"""What an assignment in a function has bound: file, line, name, and the shape of the tensor."""

PrintedTexts = Annotated[tuple[PrintedLines, ...], Longest(MOST_NAMED)]
NamedTensors = Annotated[tuple[Named, ...], Longest(MOST_NAMED)]
Inners = Annotated[tuple[Inner, ...], Longest(MOST_NAMED)]


@message
class RunProgram:
    """Run a program of one's own as Python would, report it, then answer questions until the connection is closed.

    Attributes:
        cells: the numbers that were changed in it.
        purpose: what will be asked about it: questions about its tensors; where a number came from that is not
            finite; what it has computed, to compare it.
    """

    program: OwnProgram
    cells: tuple[CellWrite, ...]
    purpose: Purpose


@message
class FindNonfinite:
    """Tell the first number that is not finite of a run that has hunted it."""


@message
class NonfiniteFound:
    """Where numbers came from that are not finite: plain data, of which the receiver makes a `NonfiniteReport`."""

    report: Annotated[Any, ReadBy(nonfinite.of_json)]


@message
class TraceProgram:
    """Ask for a part of the intermediate results of a run, by its number from 0."""

    part: int


@message
class TracePart:
    """A part of a trace, which the screen passes on unread.

    Attributes:
        last: whether no other part follows.
        gaps: what is missing in the whole trace.
    """

    results: Plain
    last: bool
    blob: bytes
    gaps: Gaps = NO_GAPS


@message
class CompareTraces:
    """Compare two traces, whose parts follow: first all of the one, then all of the other.

    Attributes:
        rtol, atol: the relative and the absolute tolerance; None for that of the types of the numbers.
    """

    rtol: float | None
    atol: float | None


@message
class ProgramReport:
    """The result of a program. `stdout` is the range of the output file that it printed, in bytes.

    Attributes:
        named: the tensors that its source names, which can be asked for by their labels.
        stopped: why recording stopped before the program ended; "" if it did not.
        blob: the source of each other file that names a tensor, as it was when it ran, as a JSON object.
        imported: the files below the folder of the program that it imported, as absolute paths.
        inner: what assignments in functions have bound last: file, line, name, and the shape of the tensor.
        operations: how many operations are recorded.
        failed_at: where the program failed; None if it did not, or not in a file of its own.
        written: the files that it wrote as copies in its temporary folder, as paths that it would call them.
        unlisted: the variables that are tensors of another kind, such as sparse ones, which have no page.
        missing: the module that it failed for, because it is not installed; "" if it did not.
    """

    error: ChildFailure | None
    stdout: tuple[Bytes, Bytes]
    named: NamedTensors
    shapes: Annotated[tuple[LineReport, ...], Longest(MOST_NAMED)]
    notes: Annotated[tuple[Sentence, ...], Longest(10_000)]
    stopped: PrintedLines
    seconds: Seconds
    blob: bytes
    imported: Annotated[tuple[Name, ...], Longest(MOST_NAMED)]
    inner: Inners = ()
    operations: Count = 0
    failed_at: FailedAt | None = None
    written: PrintedTexts = ()
    unlisted: PrintedTexts = ()
    missing: PrintedLines = ""

    def check(self) -> None:
        """Raise `ValueError` if it printed less than nothing."""
        check_range(*self.stdout)


@message
class ChooseCall:
    """Let the variables of a function be those of another call: of this number, or the nearest one before or after.

    Attributes:
        scope, file: the function, as its named tensors have them.
    """

    scope: str
    file: str
    call: int
    past: Literal["at", "before", "after"]


@message
class DigestValues:
    """Ask for digests of named tensors from a position on, in the order in which they were computed.

    Attributes:
        seconds: after which no further tensor is looked at.
    """

    start: int
    seconds: float


Digest = tuple[PrintedLines, PrintedLines, PrintedLines, Count, Name]
"""Scope, file, name and call of a named tensor, and the digest of its values, "" if that is not known."""


@message
class DigestReport:
    """Digests of named tensors; `last` if no others follow."""

    values: Annotated[tuple[Digest, ...], Longest(MOST_NAMED)]
    last: bool


@message
class CallReport:
    """The named tensors of a program, with the variables of a function as another call of it left them.

    Attributes:
        named, inner: as in `ProgramReport`.
        call, calls: which call that is, and of how many.
        forgotten: how many tensors it had of which nothing is recorded any more.
    """

    named: NamedTensors
    inner: Inners
    call: Count
    calls: Count
    forgotten: Count


@message
class ReadTensorFile:
    """List the tensors of a file, then show some of them until the connection is closed."""

    path: str


@message
class ShowStoredTensor:
    """Show a tensor of the file; its statistics may take so many seconds."""

    name: str
    seconds: float


@message
class StoredTensorReport:
    """The statistics of a tensor in a file, and its corner, of complex numbers that of their absolute values."""

    statistics: TensorStatistics
    tensor: TensorReport
    blob: bytes

    def check(self) -> None:
        """Raise `ValueError` if the numbers of the tensor are not there. It may be of any size."""
        check_in_blob((self.tensor,), self.blob)


messages.add(
    {
        RunProgram: (ProgramReport,),
        FindNonfinite: (NonfiniteFound, Refusal),
        TraceProgram: (TracePart, Refusal),
        ChooseCall: (CallReport, Refusal),
        DigestValues: (DigestReport, Refusal),
        CompareTraces: (RunComparison, Refusal),
        ReadTensorFile: (TensorList, Refusal),
        ShowStoredTensor: (StoredTensorReport, Refusal),
    }
)
