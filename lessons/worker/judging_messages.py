"""The messages that judge an answer; `lessons.worker.messages` lists them with all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from attn_tutor.lessons.reading.mistake_edits import KnownMistake
from attn_tutor.lessons.results.field_bounds import Line, Longest, Name, Plain
from attn_tutor.lessons.results.result import MOST_RESULTS, AnswerComparison, CheckResult, NamedMistake
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.worker.message_parts import ChildFailure, TensorReport, check_shown, message

# The child that runs the answer --------------------------------------------------------------------------------------


@message
class RunAnswer:
    """Load an answer, whose source is the blob, then wait for the hidden inputs to probe it with.

    Attributes:
        seed: the seed of the answer's own random numbers.
        defines: the names that the answer has to define.
        without: the packages that the answer may not import.
        trace: whether to reply with intermediate results instead of the values that the probe got.
    """

    probe: str
    seed: int
    defines: tuple[str, ...]
    without: tuple[str, ...]
    trace: bool
    blob: bytes


@message
class AnswerLoaded:
    """The answer has been loaded or has failed; `missing` are the required names that it does not define."""

    error: ChildFailure | None
    missing: Annotated[tuple[Name, ...], Longest(1000)]


@message
class HiddenInputs:
    """Hidden inputs with their seeds, encoded by `jobs.values`. The judge makes them, the answer runs on them.

    `recorded` says for each of them whether gradients are, or the answer is called inside `torch.inference_mode()`.
    """

    inputs: Plain
    seeds: tuple[int, ...]
    recorded: tuple[bool, ...]
    blob: bytes

    def check(self) -> None:
        """Raise `ValueError` if the inputs are no list."""
        if type(self.inputs) is not list:
            raise ValueError("no list of inputs")


@message
class AnswerReport:
    """The values that an answer gave, encoded by `jobs.values` and read by the judge alone, or its failure."""

    error: ChildFailure | None
    actual: Plain
    blob: bytes


@message
class RunRepairs:
    """Run repaired copies of an answer (`sources`), one after the other, on the hidden inputs that follow."""

    probe: str
    seed: int
    defines: tuple[str, ...]
    without: tuple[str, ...]
    sources: tuple[str, ...]


@message
class RepairReport:
    """The values that the next copy gave, None if it failed."""

    actual: Plain
    blob: bytes


# The child that decides ----------------------------------------------------------------------------------------------


@message
class CheckRequest:
    """A check of an exercise: its name, the expression that is true for a right answer, the messages for a wrong one.

    `fail` holds a condition and a template for each case; the first case whose condition is true or empty is said.
    `needs` are the names of the checks that it rests on.
    """

    name: str
    test: str
    fail: tuple[tuple[str, str], ...]
    needs: tuple[str, ...] = ()


@message
class Judge:
    """Make hidden inputs from these seeds, then wait to judge the values that an answer computes from them.

    Attributes:
        defines: the names that an answer has to define.
    """

    seeds: tuple[int, ...]
    defines: tuple[str, ...]
    context: str
    probe: str
    solution: str
    checks: tuple[CheckRequest, ...]


@message
class Decide:
    """Evaluate the checks on the values that an answer gave."""

    actual: Plain
    blob: bytes


@message
class Decision:
    """The result of each check."""

    checks: Annotated[tuple[CheckResult, ...], Longest(1000)]


@message
class MistakeRequest:
    """A known mistake, and the texts for a learner who makes it: what it does to the numbers, and why."""

    mistake: KnownMistake
    seen: str
    why: str


@message
class Recognize:
    """Find the known mistakes that give the same values as a program gave, and what is right of these.

    Attributes:
        actual: the values, encoded (`lessons.worker.jobs.values`).
        mistakes: the known mistakes that the program may make.
    """

    actual: Plain
    blob: bytes
    mistakes: tuple[KnownMistake, ...]


@message
class Recognition:
    """How near the values of a program are to known ones.

    Attributes:
        found: the ids of the mistakes that give the same values.
        right: which of the model answer's results it has right, in number or only in kind and shape, as numbers that
            mean the same for all programs of an exercise.
    """

    found: Annotated[tuple[Name, ...], Longest(1000)]
    right: Annotated[tuple[int, ...], Longest(100_000)]


@message
class Diagnose:
    """Find the known mistakes that give the same values as the answer, or end with the same exception.

    Attributes:
        error: the message of the exception that the answer ended with, without advice; None if it gave values.
        operation: the operation that raised it, empty if that is not known.
        words: the words of the answer's code (`lessons.reading.operations`), none if they are not known.
    """

    error: str | None
    operation: str
    mistakes: tuple[MistakeRequest, ...]
    words: tuple[str, ...]


@message
class DiagnosisReport:
    """The known mistakes found in an answer, without names: none, one, or two that were made together."""

    found: Annotated[tuple[NamedMistake, ...], Longest(2)]


@message
class FindDifference:
    """Find the first intermediate result of an answer, with this trace, that the model answer does not have."""

    results: Plain
    blob: bytes


@message
class DifferingPlace:
    """The place where an answer differs from the model answer; see `lessons.results.result.AnswerDifference`."""

    name: Name
    line: Line | None
    yours: TensorReport
    expected: TensorReport
    agreed: Annotated[tuple[Name, ...], Longest(MOST_RESULTS)]


@message
class DifferenceReport:
    """The difference between an answer and the model answer, None if there is none, and the line to blame."""

    difference: DifferingPlace | None
    line: Line | None
    blob: bytes

    def check(self) -> None:
        """Raise `ValueError` if the numbers of the tensors are not there, or a tensor is too large."""
        if self.difference is not None:
            check_shown((self.difference.yours, self.difference.expected), self.blob)


@message
class CompareResults:
    """Compare the intermediate results of an answer with those of the model answer."""

    results: Plain
    blob: bytes


JUDGING_REPLIES: Mapping[type[Any], tuple[type[Any], ...]] = {
    RunAnswer: (AnswerLoaded,),
    RunRepairs: (RepairReport,),
    HiddenInputs: (AnswerReport, RepairReport),
    Judge: (HiddenInputs,),
    Decide: (Decision, Refusal),
    Recognize: (Recognition,),
    Diagnose: (DiagnosisReport,),
    FindDifference: (DifferenceReport,),
    CompareResults: (AnswerComparison,),
}
"""The possible replies to each of these messages."""
