"""The messages between the screen's process and the worker, each a frozen dataclass.

`MESSAGES` lists them, `REPLIES` maps each to its possible replies; `channel` sends and receives them. Other modules of
messages `add` theirs, so that the list has those whose modules are imported. A process of the worker that can send none
ends with an exit code instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from attn_tutor.lessons.results import explanation
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.field_bounds import (
    Between,
    Bytes,
    Count,
    Longest,
    Name,
    ReadBy,
    Seconds,
    Sentence,
    Text,
    check_range,
)
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.line_shapes import LineReport
from attn_tutor.lessons.results.result import LONGEST_AXIS, MOST_KEPT, MOST_STEPS, WHOLE
from attn_tutor.lessons.results.summaries import LARGEST_WINDOW, RowStats
from attn_tutor.lessons.results.tensor_questions import QUESTIONS, Refusal
from attn_tutor.lessons.worker.judging_messages import JUDGING_REPLIES
from attn_tutor.lessons.worker.message_parts import (
    BYTES,
    LARGEST_NUMBER,
    ChildFailure,
    Code,
    LessonCode,
    NamedExpression,
    TensorReport,
    are_rows,
    check_shown,
    message,
)

EXIT_CUT_OFF = 97
"""The program in the child has closed the child's connection to the parent."""

EXIT_PARENT_GONE = 98
"""The process that started the child is gone."""

EXIT_NO_PROCESS = 96
"""The system let this account start no further process."""

EXIT_BROKEN = 99
"""The child's own tools no longer work, since its program has changed them."""


MOST_BLOCKS = 1 << 14
"""The most blocks of a matrix."""


@message
class WindowReport:
    """The numbers of a window: `rows` rows with the `array` type code `code`."""

    rows: Annotated[int, Between(0, LARGEST_WINDOW)]
    code: Code
    blob: Annotated[bytes, Longest(LARGEST_WINDOW**2 * LARGEST_NUMBER)]

    def check(self) -> None:
        """Raise `ValueError` if the numbers are no rows."""
        count, rest = divmod(len(self.blob), BYTES[self.code])
        if rest or not are_rows(count, self.rows) or count > self.rows * LARGEST_WINDOW:
            raise ValueError("not the numbers of a window")


@message
class BlocksReport:
    """The blocks of a matrix that is `width` cells wide, in `rows` rows.

    The blob holds a double for each block, then the flat index of the greatest cell of each block, as int64.
    """

    rows: Annotated[int, Between(0, MOST_BLOCKS)]
    width: Annotated[int, Between(0, LONGEST_AXIS)]
    blob: Annotated[bytes, Longest(2 * MOST_BLOCKS * LARGEST_NUMBER)]

    def check(self) -> None:
        """Raise `ValueError` if the numbers are no rows of blocks."""
        count, rest = divmod(len(self.blob), 2 * LARGEST_NUMBER)
        if rest or not are_rows(count, self.rows) or (count and not self.width):
            raise ValueError("not the numbers of blocks")


@message
class ExplanationReport:
    """The explanation of a number: plain data, of which the receiver makes an `Explanation`."""

    explanation: Annotated[Any, ReadBy(explanation.of_json)]


@message
class ShowReport:
    """A tensor that is shown from now on; its numbers are in `blob`."""

    tensor: TensorReport
    blob: bytes

    def check(self) -> None:
        """Raise `ValueError` if the numbers are not there, or the tensor is too large."""
        check_shown((self.tensor,), self.blob)


MOST_SHOWN = 256
"""The most tensors that a step, an input or an answer shows."""

Tensors = Annotated[tuple[TensorReport, ...], Longest(MOST_SHOWN)]

Shapes = Annotated[tuple[LineReport, ...], Longest(5000)]
"""The shapes of the tensors in the lines of a piece of code."""

Names = Annotated[tuple[tuple[Name, Name], ...], Longest(1000)]
"""The names that code can use, each with a summary of its value, such as `(6,3)` or `Linear`."""

Notes = Annotated[tuple[Sentence, ...], Longest(10_000)]


# The fork server, and its end of a child ---------------------------------------------------------------------------


@message
class ServerReady:
    """The fork server has loaded PyTorch, and has this many threads; it may fork only with one."""

    threads: Count


@message
class SpareReady:
    """A spare process has loaded PyTorch."""


@message
class LoadFailed:
    """The fork server could not load PyTorch."""

    message: Sentence


@message
class Launch:
    """Fork a child with these limits; a spare process applies them to itself instead.

    Attributes:
        cpu: processor seconds for its program.
        memory: memory for its program, in MiB.
        question_cpu: processor seconds for questions after its program has run.
        file: the size up to which its program may let the files grow that it writes, in MiB.
    """

    cpu: Seconds
    memory: Count
    question_cpu: Seconds
    file: Count


@message
class SetIdle:
    """Tell the fork server that a child only waits for questions now, or runs a program again."""

    idle: bool


@message
class Kill:
    """Kill a child, after it has written the line that it is at to its error output."""


@message
class Interrupt:
    """Interrupt the program of a child, as Ctrl+C interrupts what Python runs."""


@message
class Exited:
    """A child has ended: its exit code (negative: a signal), why it was killed if it was, processor seconds used."""

    code: int
    reason: Name
    cpu: Seconds


# Running a lesson --------------------------------------------------------------------------------------------------


@message
class RunLesson:
    """Run a lesson, report each step, then answer questions until the connection is closed."""

    program: LessonCode
    blob: bytes


@message
class StepReport:
    """The result of a step. `stdout` is the range of the output file that the step printed, in bytes."""

    id: Name
    error: ChildFailure | None
    stdout: tuple[Bytes, Bytes]
    tensors: Tensors
    text: Annotated[dict[str, Text], Longest(1000)]
    shapes: Shapes
    notes: Notes
    seconds: Seconds
    blob: bytes

    def check(self) -> None:
        """Raise `ValueError` if it printed less than nothing, or as `check_shown` does."""
        check_range(*self.stdout)
        check_shown(self.tensors, self.blob)


@message
class LessonDone:
    """All steps of a lesson have run, or one has failed; from now on the child answers questions."""


# Questions to a child that has run a lesson. Those about tensors are in `lessons.results.tensor_questions`.


@message
class RunInput:
    """Run an input of the prompt."""

    unit: CodeUnit
    code: str


@message
class RunScratch:
    """Run an answer without judging it, and show the tensors that it computes."""

    unit: CodeUnit
    code: str


@message
class CodeReport:
    """The result of an input or a scratch run.

    Attributes:
        printed: how many bytes it printed.
        value, names: of an input, what it gave, unless that is shown, and the names that the next one can use.
    """

    error: ChildFailure | None
    tensors: Tensors
    shapes: Shapes
    printed: Bytes
    blob: bytes
    value: Sentence = ""
    names: Names = ()

    def check(self) -> None:
        """Raise `ValueError` if the numbers of the tensors are not there, or a tensor is too large."""
        check_shown(self.tensors, self.blob)


@message
class BindNamed:
    """Make named tensors of a program variables of its prompt: the labels by the names of the variables."""

    labels: dict[str, str]


@message
class ListNames:
    """List the names that an input can use."""


@message
class NamesReport:
    """The names that an input can use."""

    names: Names


# Training ----------------------------------------------------------------------------------------------------------


@message
class TrainingRequest:
    """The loop of a training step, the numbers and tensors of its snapshots, and what it keeps."""

    id: str
    code: str
    seed: int
    curves: tuple[NamedExpression, ...]
    watch: tuple[NamedExpression, ...]
    keep: str


@message
class Train:
    """Run the steps before a training, then the training itself."""

    program: LessonCode
    training: TrainingRequest
    blob: bytes


@message
class Snapshot:
    """A snapshot of a training, after `done` of `total` steps."""

    done: Count
    total: Annotated[int, Between(0, MOST_STEPS)]
    numbers: Annotated[dict[str, float], Longest(MOST_SHOWN)]
    tensors: Tensors
    blob: bytes

    def check(self) -> None:
        """Raise `ValueError` if it is of no step, or holds more than one that is kept may hold."""
        check_shown(self.tensors, self.blob)
        # All snapshots are held in memory, so no tensor may be larger than one that is sent whole.
        if self.done > self.total or len(self.blob) > WHOLE * LARGEST_NUMBER * len(self.tensors):
            raise ValueError("a snapshot of no step, or too large")


@message
class Pause:
    """Make the training wait after its next snapshot."""


@message
class Paused:
    """The training is waiting."""


@message
class Resume:
    """Let a paused training continue."""


@message
class Trained:
    """The training is complete; the blob is the file of the trained model."""

    blob: Annotated[bytes, Longest(MOST_KEPT)]


@message
class TrainingFailed:
    """The training has not come to its end."""

    error: ChildFailure


# The list ----------------------------------------------------------------------------------------------------------

REPLIES: dict[type[Any], tuple[type[Any], ...]] = {}
"""The possible replies to each message. A message that is not listed here gets no reply."""

MESSAGES: dict[str, type[Any]] = {}
"""Every message by its `op`."""

OPS: dict[type[Any], str] = {}
"""The `op` of every message."""

UNASKED: tuple[type[Any], ...] = (ServerReady, SpareReady, LoadFailed, SetIdle, Kill, Interrupt, Resume)
"""The messages that have no reply and are not a reply."""


def add(replies: Mapping[type[Any], tuple[type[Any], ...]], others: tuple[type[Any], ...] = ()) -> None:
    """List messages with their possible replies, and others, which have none and are none."""
    REPLIES.update(replies)
    for kinds in (others, replies, *replies.values()):
        for kind in kinds:
            op = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()
            MESSAGES[op], OPS[kind] = kind, op


add(
    {
        Launch: (Exited,),
        RunLesson: (StepReport, LessonDone),
        **{
            kind: (report, Refusal)
            for kind, report in zip(
                QUESTIONS,
                (
                    *(WindowReport, BlocksReport, RowStats, ExplanationReport, ExplanationReport),
                    *(Flow, ShowReport, ShowReport),
                ),
                strict=True,
            )
        },
        RunInput: (CodeReport, Refusal),
        RunScratch: (CodeReport, Refusal),
        BindNamed: (NamesReport, Refusal),
        ListNames: (NamesReport, Refusal),
        Train: (Snapshot, Trained, TrainingFailed),
        Pause: (Paused,),
        **JUDGING_REPLIES,
    },
    UNASKED,
)
