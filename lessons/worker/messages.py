"""All that the screen's process and the worker say to each other: one frozen dataclass a message.

`MESSAGES` is the list, `REPLIES` says what answers what; `channel` sends and receives them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lessons.reading.mistake_edits import KnownMistake
from lessons.results.code_unit import CodeUnit
from lessons.results.result import CheckResult, Intermediate
from lessons.results.tensor_questions import QUESTIONS, Refusal
from lessons.worker.message_parts import ErrorReport, NamedExpression, Program, TensorReport, message

Json = dict[str, Any]
"""An object whose fields are checked by the one module that reads it."""


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
