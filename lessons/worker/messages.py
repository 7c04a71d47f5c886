"""All that the screen's process and the worker say to each other: one frozen dataclass a message.

`MESSAGES` is the list, `REPLIES` says what answers what. A message travels as a frame (`wire`): `op` names it, its
other fields are JSON, and a field `blob` is the frame's bytes. `send` and `receive` are the only ways in and out; what
is not a message of the list, field by field, is refused.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, dataclass_transform, overload

from lessons.reading.mistake_edits import KnownMistake
from lessons.results.code_unit import CodeUnit
from lessons.results.result import CheckResult, Intermediate
from lessons.results.tensor_questions import QUESTIONS, Refusal
from lessons.worker import plain_codec, wire

Json = dict[str, Any]
"""An object whose fields are checked by the one module that reads it."""

M = TypeVar("M")
N = TypeVar("N")


@dataclass_transform(frozen_default=True)
def message(kind: type[M]) -> type[M]:
    """Make a class a frozen dataclass, without `__eq__` and `__repr__`: these would take half of the import's time."""
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(kind)


# The fork server, and its end of a child ---------------------------------------------------------------------------


@message
class ServerReady:
    """The fork server has loaded PyTorch; it may fork while it has one thread."""

    threads: int


@message
class SpareReady:
    """A spare process has loaded PyTorch."""


@message
class LoadFailed:
    """The fork server could not load PyTorch."""

    message: str


@message
class Launch:
    """Fork a child, or begin as one, within these limits.

    Attributes:
        cpu: processor seconds for its program.
        memory: MiB.
        question_cpu: processor seconds for questions when its program has run.
    """

    cpu: float
    memory: int
    question_cpu: float


@message
class SetIdle:
    """Say that a child only waits for questions now, or runs a program again."""

    idle: bool


@message
class Kill:
    """Kill a child, but first let it write down the line that it is at."""


@message
class Exited:
    """A child has ended: its exit code (negative: a signal), why it was killed if it was, processor seconds used."""

    code: int
    reason: str
    cpu: float


# What several messages contain -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """A failure as a child tells it: one sentence, and the line of the code that it ran, if one is known."""

    kind: Literal["error", "memory"]
    message: str
    line: int | None = None


@message
class LayoutReport:
    """Where the elements of a tensor lie in its storage, which is known by its address; counted in elements."""

    strides: tuple[int, ...]
    offset: int
    size: int
    contiguous: bool
    storage: int


@message
class TensorReport:
    """A tensor: its numbers are `size` bytes of the blob from `offset` on, in `rows` rows, with an `array` type code.

    `whole` says that they are all of its elements, else they are its first corner.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    low: float | None
    high: float | None
    whole: bool
    rows: int
    code: str
    offset: int
    size: int
    layout: LayoutReport | None


@message
class NamedExpression:
    """An expression over the variables of a run, and what its value is called."""

    name: str
    expression: str


@message
class TemplateField:
    """A field of a text that the run fills in: `{expression!conversion:spec}`."""

    expression: str
    conversion: str
    spec: str


@message
class CellWrite:
    """A number that the learner has changed, and the statement after which it is written."""

    name: str
    index: tuple[int, ...]
    value: bool | int | float
    unit: CodeUnit
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A step to run.

    Attributes:
        trained: where what its training has kept lies in the blob, if it rests on one.
        untrained: what to say if that has not been trained.
    """

    id: str
    code: str
    seed: int
    show: tuple[NamedExpression, ...]
    fields: tuple[TemplateField, ...]
    trained: tuple[int, int] | None = None
    untrained: str | None = None


@message
class Program:
    """The setup of a lesson and steps after it, with the learner's changes."""

    seed: int
    setup: str
    cells: tuple[CellWrite, ...]
    steps: tuple[StepRequest, ...]


# Running a lesson --------------------------------------------------------------------------------------------------


@message
class RunLesson:
    """Run a lesson, report each step, then answer questions until the connection is closed."""

    program: Program
    blob: bytes


@message
class StepReport:
    """What a step gave. `stdout` is what it printed, from byte to byte of the output file."""

    id: str
    error: ErrorReport | None
    stdout: tuple[int, int]
    tensors: tuple[TensorReport, ...]
    text: dict[str, str]
    shapes: tuple[Json, ...]
    notes: tuple[str, ...]
    seconds: float
    blob: bytes


@message
class LessonDone:
    """All steps have run, or one has failed; questions are welcome."""


# Questions to a child that has run a lesson; those about tensors are `lessons.results.tensor_questions` ------------


@message
class WindowReport:
    """The numbers of a window, in `rows` rows, with an `array` type code."""

    rows: int
    code: str
    blob: bytes


@message
class BlocksReport:
    """`rows` rows of blocks of a matrix that is `width` cells wide: a double for each, then its greatest cell."""

    rows: int
    width: int
    blob: bytes


@message
class RowReport:
    """What a row amounts to. The blob has its sum and the values at `cols`, as doubles."""

    low: float | None
    high: float | None
    support: int
    bits: float | None
    cols: tuple[int, ...]
    blob: bytes


@message
class ExplanationReport:
    """How a number was made; `lessons.results.explanation.of_json` reads it."""

    explanation: Json


@message
class RunInput:
    """Run an input of the prompt."""

    unit: CodeUnit
    code: str


@message
class InputReport:
    """What an input gave, how many bytes it printed, and what the next one can use."""

    error: ErrorReport | None
    tensors: tuple[TensorReport, ...]
    value: str
    shapes: tuple[Json, ...]
    names: tuple[tuple[str, str], ...]
    printed: int
    blob: bytes


@message
class RunScratch:
    """Run an answer without judging it, and show the tensors that it makes."""

    unit: CodeUnit
    code: str


@message
class ScratchReport:
    """What a scratch run gave, and how many bytes it printed."""

    error: ErrorReport | None
    tensors: tuple[TensorReport, ...]
    shapes: tuple[Json, ...]
    printed: int
    blob: bytes


@message
class ListNames:
    """List what an input can use."""


@message
class NamesReport:
    """Names, and what each stands for: `(6,3)` or `Linear`."""

    names: tuple[tuple[str, str], ...]


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
    """Run the steps before a training, then train."""

    program: Program
    training: TrainingRequest
    blob: bytes


@message
class Snapshot:
    """A moment of a training. A number that is not finite is a text."""

    done: int
    total: int
    numbers: dict[str, float | str]
    tensors: tuple[TensorReport, ...]
    blob: bytes


@message
class Pause:
    """Wait after the next snapshot."""


@message
class Paused:
    """The training waits."""


@message
class Resume:
    """Go on."""


@message
class Trained:
    """The training has come to its end; the blob is a file of what it keeps."""

    blob: bytes


@message
class TrainingFailed:
    """The training has not come to its end."""

    error: ErrorReport


# Judging: the child that runs the answer ---------------------------------------------------------------------------


@message
class RunAnswer:
    """Load an answer (the blob is its source), then wait for hidden inputs to probe it with.

    Attributes:
        seed: of the answer's own random numbers.
        defines: the names that it has to define.
        without: the packages that it may not import.
        trace: hand back intermediate results instead of what the probe got.
    """

    probe: str
    seed: int
    defines: tuple[str, ...]
    without: tuple[str, ...]
    trace: bool
    blob: bytes


@message
class AnswerLoaded:
    """The answer has run, or failed; `missing` are the names that it does not define."""

    error: ErrorReport | None
    missing: tuple[str, ...]


@message
class HiddenInputs:
    """Hidden inputs with their seeds; `jobs.values` reads them. The judge makes them, the answer is run on them."""

    inputs: Any
    seeds: tuple[int, ...]
    blob: bytes


@message
class AnswerReport:
    """What the answer gave, for the judge alone to read (`jobs.values`), or why it gave nothing."""

    error: ErrorReport | None
    actual: Any
    blob: bytes


# Judging: the child that decides -----------------------------------------------------------------------------------


@message
class CheckRequest:
    """A check of an exercise: its name, the expression that holds of a right answer, what to say of any other."""

    name: str
    test: str
    fail: str


@message
class Judge:
    """Make hidden inputs from these seeds, and be ready to judge what an answer makes of them."""

    seeds: tuple[int, ...]
    context: str
    probe: str
    solution: str
    checks: tuple[CheckRequest, ...]


@message
class Decide:
    """Decide on what an answer gave."""

    actual: Any
    blob: bytes


@message
class Decision:
    """How each check went."""

    checks: tuple[CheckResult, ...]


@message
class MistakeRequest:
    """A known mistake, and what to say to those who make it: what it does to the numbers, and why."""

    mistake: KnownMistake
    seen: str
    why: str


@message
class Diagnose:
    """Name the known mistakes that give the same values, or end with the same error message."""

    error: str | None
    mistakes: tuple[MistakeRequest, ...]


@message
class FoundMistake:
    """The id of a mistake, and what to say about it."""

    id: str
    text: str


@message
class DiagnosisReport:
    """The mistakes that were found: none, one, or two that were made together."""

    found: tuple[FoundMistake, ...]


@message
class FindDifference:
    """Find the first intermediate result of an answer that the model answer does not have."""

    results: Any
    blob: bytes


@message
class Difference:
    """Where an answer differs: see `lessons.results.result.AnswerDifference`."""

    name: str
    line: int | None
    yours: TensorReport
    expected: TensorReport
    agreed: tuple[str, ...]


@message
class DifferenceReport:
    """The difference, None if there is none."""

    difference: Difference | None
    blob: bytes


@message
class CompareResults:
    """Set the intermediate results of an answer beside those of the model answer."""

    results: Any
    blob: bytes


@message
class ComparisonReport:
    """The intermediate results of the model answer, and those that only the answer has."""

    intermediates: tuple[Intermediate, ...]
    own: tuple[Intermediate, ...]


# The list ----------------------------------------------------------------------------------------------------------

REPLIES: Mapping[type[Any], tuple[type[Any], ...]] = {
    Launch: (Exited,),
    RunLesson: (StepReport, LessonDone),
    **{
        kind: (report, Refusal)
        for kind, report in zip(
            QUESTIONS, (WindowReport, BlocksReport, RowReport, ExplanationReport, ExplanationReport), strict=True
        )
    },
    RunInput: (InputReport, Refusal),
    RunScratch: (ScratchReport, Refusal),
    ListNames: (NamesReport, Refusal),
    Train: (Snapshot, Trained, TrainingFailed),
    Pause: (Paused,),
    RunAnswer: (AnswerLoaded,),
    HiddenInputs: (AnswerReport,),
    Judge: (HiddenInputs,),
    Decide: (Decision, Refusal),
    Diagnose: (DiagnosisReport,),
    FindDifference: (DifferenceReport,),
    CompareResults: (ComparisonReport,),
}
"""What may answer a message; one that is not here is not answered."""

UNASKED: tuple[type[Any], ...] = (ServerReady, SpareReady, LoadFailed, SetIdle, Kill, Resume)
"""Messages that are neither answered nor answers."""

MESSAGES: Mapping[str, type[Any]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower(): kind
    for kinds in (UNASKED, REPLIES, *REPLIES.values())
    for kind in kinds
}
"""Every message by its `op`."""

_OPS = {kind: op for op, kind in MESSAGES.items()}
_WITH_BLOB = frozenset(kind for kind in _OPS if any(field.name == "blob" for field in fields(kind)))

# Bound here, before any learner's code runs.
_encode, _decode = plain_codec.encode, plain_codec.decode


def prepare() -> None:
    """Work out how every message travels, before a program runs that may replace what this needs."""
    for kind in _OPS:
        plain_codec.prepare(kind)


def frame_of(message: object) -> wire.Frame:
    """Return a message as it travels."""
    header = _encode(message)
    blob = header.pop("blob", b"")
    return wire.Frame({"op": _OPS[type(message)], **header}, bytes(blob))


def message_of(frame: wire.Frame) -> object:
    """Return the message in a frame. Raises `wire.WireError` if there is none."""
    data = dict(frame.header)
    op = data.pop("op", None)
    kind = MESSAGES.get(op) if isinstance(op, str) else None
    if kind is None or "blob" in data:
        raise wire.WireError("unknown message")
    if kind in _WITH_BLOB:
        data["blob"] = frame.blob
    elif frame.blob:
        raise wire.WireError(f"{op} has no data")
    try:
        return _decode(kind, data)
    except (ValueError, TypeError, RecursionError) as error:
        raise wire.WireError(f"unreadable message: {error}") from None


def send(sock: socket.socket, message: object, fds: Sequence[int] = ()) -> None:
    """Send a message. Raises what `wire.send` does."""
    frame = frame_of(message)
    wire.send(sock, frame.header, frame.blob, fds)


@overload
def receive(sock: socket.socket, kind: type[M], /, *, deadline: float | None = None) -> M: ...
@overload
def receive(sock: socket.socket, kind: type[M], other: type[N], /, *, deadline: float | None = None) -> M | N: ...
@overload
def receive(sock: socket.socket, /, *kinds: type[Any], deadline: float | None = None) -> Any: ...
def receive(sock: socket.socket, /, *kinds: type[Any], deadline: float | None = None) -> Any:
    """Wait for a message of one of these kinds, or of any.

    Raises what `wire.receive` does, `wire.WireError` also for a message of another kind.
    """
    message = message_of(wire.receive(sock, deadline))
    if kinds and type(message) not in kinds:
        raise wire.WireError("unexpected message")
    return message


def receive_launch(sock: socket.socket, fds: int) -> tuple[Launch, tuple[int, ...]]:
    """Wait for a `Launch` that brings so many descriptors; see `receive`."""
    frame = wire.receive(sock, max_fds=fds)
    message = message_of(frame)
    if not isinstance(message, Launch) or len(frame.fds) != fds:
        raise wire.WireError("unexpected message")
    return message, frame.fds
