"""The results of runs: plain data, without torch, for screens, the plain renderer and JSON alike.

The result of a program of one's own is what a step's run returns, and the tensors that its source names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Annotated, Literal

from attn_tutor.lessons.results.field_bounds import Count, Line, Longest, Name, Sentence, Sizes, whole
from attn_tutor.lessons.results.line_shapes import LineShapes, line_of
from attn_tutor.lessons.results.verdict import Verdict

if TYPE_CHECKING:  # it brings pydantic along
    from attn_tutor.lessons.format.axis_labels import NamesAndLabels
    from attn_tutor.lessons.format.base_steps import Drawing, ShownTensor

WHOLE = 4096
"""Elements of a tensor up to which it travels whole; only windows of a larger one do."""


LONGEST_AXIS, MOST_AXES = 1 << 18, 8
"""The longest axis, and the most axes, of a tensor that can be shown: every row and column has a label.

The largest vocabularies of language models have about as many rows."""


MOST_LABELS = MOST_AXES * LONGEST_AXIS
"""The most labels of all tensors that a child shows at once: as many as a single one may have."""


MOST_SNAPSHOTS, MOST_STEPS = 1000, 10**9
"""Snapshots that one training may take, and steps that it may count: durations are computed from them."""

MOST_KEPT = 4 << 20
"""Bytes of trained state that a training may hand over."""


MOST_RESULTS = 1000
"""The most intermediate results of an answer."""


class WorkerError(Exception):
    """The worker cannot run anything: it did not start, or it ended and could not be restarted."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion of an advice, which can be tried: code in place of other code.

    Attributes:
        text: the advice that makes it.
        code: what it suggests.
        place: where that goes: line and column (in bytes) of its beginning and of its end.
        semantic: whether it may run and still be wrong, as a transposition may.
    """

    text: Sentence
    code: Sentence
    place: tuple[Line, Line, Line, Line]
    semantic: bool

    def apply_to(self, source: bytes) -> bytes | None:
        """Return a program with the code in its place; None if the program has no such place."""
        lines = source.split(b"\n")
        line, column, end_line, end_column = self.place
        if not 1 <= line <= end_line <= len(lines):
            return None
        before = b"\n".join([*lines[: line - 1], lines[line - 1][:column]])
        after = b"\n".join([lines[end_line - 1][end_column:], *lines[end_line:]])
        return before + self.code.encode("utf-8", "surrogatepass") + after


FailureKind = Literal["error", "timeout", "memory", "crash", "stopped"]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a program did not finish: one sentence for people, and the line of their code if it is known.

    Attributes:
        symptom: the message without any advice, if it has advice on an exception.
        names_line: whether the message names the line itself, as that of Python may.
        operation: the operation that failed, with the shapes of its operands, if that is known.
        untried: the message without its suggestions.
        suggestions: what the message suggests, and what it could suggest instead.
        refused: whether the program reached for something that it may not have.
    """

    kind: FailureKind
    message: Sentence
    line: Line | None = None
    symptom: Sentence = ""
    names_line: bool = False
    operation: Sentence = ""
    untried: Sentence = ""
    suggestions: Annotated[tuple[Suggestion, ...], Longest(64)] = ()
    refused: bool = False

    @property
    def unmentioned_line(self) -> int | None:
        """The line of the failure, unless the message names it."""
        return None if self.names_line else self.line


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle of the last two axes of a tensor: rows `top..`, columns `left..`, at the leading indices `lead`."""

    lead: tuple[int, ...]
    top: int
    left: int
    rows: tuple[tuple[float, ...], ...]

    def row(self, row: int, left: int, right: int) -> Sequence[float] | None:
        """Return values `left..right-1` of a row; None if this window does not hold all of them."""
        if not (self.top <= row < self.top + len(self.rows)):
            return None
        values = self.rows[row - self.top]
        if left < self.left or right > self.left + len(values):
            return None
        return values[left - self.left : right - self.left]


@dataclass(frozen=True, slots=True)
class MemoryLayout:
    """The layout of a tensor in its storage, counted in elements.

    Attributes:
        strides: the distance to the next index on each axis, outermost first.
        offset: the position of the first element.
        size: how many elements the storage holds.
        contiguous: whether the elements lie row by row, without gaps.
        storage: a letter for each storage that the tensors of a step use: tensors of one letter share numbers. A child
            sends its address instead.
    """

    strides: Sizes
    offset: Count
    size: Count
    contiguous: bool
    storage: Annotated[str, Longest(20)] = ""

    def check(self) -> None:
        """Raise `ValueError` if a child has sent no address."""
        if str(whole(int(self.storage))) != self.storage:
            raise ValueError("not the address of a storage")


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor with everything that is needed to show it.

    Attributes:
        name: its name in the lesson.
        kind: score, weight, mask or vector.
        dtype: the name of the type in torch: `float32`, `bool`, `int64`, ...
        shape: the sizes of the axes, outermost first; a scalar has none.
        axes, labels: a name and the labels for every axis, outermost first.
        low, high: the least and greatest finite value, None if there is none.
        values: all elements, row by row, if there are at most `WHOLE`; else None.
        window: for a larger tensor, the corner that came with it.
        draw: the kind of drawing.
        layout: the layout in memory, if that is drawn.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    low: float | None
    high: float | None
    values: tuple[float, ...] | None
    window: Window | None = None
    draw: Drawing = "matrix"
    layout: MemoryLayout | None = None

    @classmethod
    def of(
        cls,
        shown: ShownTensor,
        dtype: str,
        shape: tuple[int, ...],
        names_and_labels: NamesAndLabels,
        bounds: tuple[float | None, float | None],
        values: tuple[float, ...] | None,
        window: Window | None = None,
        layout: MemoryLayout | None = None,
    ) -> Tensor:
        """Return a tensor that a lesson shows in its own way, with its least and greatest value and its numbers."""
        layout = layout if shown.draw == "memory" else None
        return cls(shown.name, shown.kind, dtype, shape, *names_and_labels, *bounds, values, window, shown.draw, layout)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Rows and columns of one drawing: a vector is one row, a scalar one cell."""
        rows, cols = ((1, 1, *self.shape))[-2:]
        return rows, cols

    @property
    def lead_shape(self) -> tuple[int, ...]:
        """The sizes of the axes before the last two, such as (batch,) or (batch, heads)."""
        return self.shape[:-2]

    @property
    def row_labels(self) -> tuple[str, ...]:
        """The labels of the drawn rows; empty for a vector or scalar."""
        return self.labels[-2] if len(self.shape) > 1 else ()

    @property
    def col_labels(self) -> tuple[str, ...]:
        """The labels of the drawn columns; empty for a scalar."""
        return self.labels[-1] if self.shape else ()

    def row(self, lead: Sequence[int], row: int, left: int, right: int) -> Sequence[float] | None:
        """Return values `left..right-1` of a row at the leading indices; None if only the worker has them."""
        rows, cols = self.matrix_shape
        if self.values is None:
            if self.window is not None and tuple(lead) == self.window.lead:
                return self.window.row(row, left, right)
            return None
        start = 0
        for index, size in zip(lead, self.lead_shape, strict=True):
            start = start * size + index
        start = (start * rows + row) * cols
        return self.values[start + left : start + right]


Origin = Literal["own", "course", "missing"]
"""The training that a step uses: the learner's own, the one that ships with the course, or none."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step.

    Attributes:
        id: the id of the step.
        stdout: its output.
        error: what went wrong, if anything did.
        tensors: the tensors that it shows.
        text: the values for the fields of its prose, by field.
        seconds: how long it ran.
        notes: sentences about cells that the learner changed although they cannot be.
        shapes: the shapes that its lines took and made.
        trained: the training that it uses, if it uses one.
        named_at: for tensors of a program, the line of its code that named each, by what it is called here.
        begins_at: the line on which the function begins whose tensors they are.
    """

    id: str
    stdout: str = ""
    error: Failure | None = None
    tensors: tuple[Tensor, ...] = ()
    text: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    shapes: tuple[LineShapes, ...] = ()
    trained: Origin | None = None
    named_at: dict[str, int] = field(default_factory=dict)
    begins_at: int | None = None

    def made_at(self, tensor: Tensor | None) -> int | None:
        """Return the line that made a tensor, None if it is not known, or there is none."""
        return None if tensor is None else self.named_at.get(tensor.name) or line_of(self.shapes, tensor.name)


@dataclass(frozen=True, slots=True)
class TrainingSnapshot:
    """A training after `done` of `total` steps: the numbers of its curves by name, and its tensors."""

    done: int
    total: int
    numbers: dict[str, float]
    tensors: tuple[Tensor, ...] = ()


@dataclass(frozen=True, slots=True)
class Training:
    """A training that ended: its snapshots, and why it did not finish, if it did not."""

    snapshots: tuple[TrainingSnapshot, ...]
    error: Failure | None = None
    stopped: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check of an exercise; `message` says what was found if it did not pass."""

    name: Sentence
    passed: bool
    message: Sentence = ""


@dataclass(frozen=True, slots=True)
class NamedMistake:
    """A known mistake that an answer shows, or the kind of edit that makes the answer pass.

    Attributes:
        name: its name in a few words; empty if learners are told nothing of it, and where the judge has found it.
        text: the explanation for the learner.
        line: the line of the answer that makes it, None if it is unknown.
    """

    id: Name
    name: Name
    text: Sentence
    line: Line | None = None


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """The first intermediate result of an answer that differs from the one in its place in the model answer.

    Attributes:
        name: its name in the answer, or the code that computes it.
        line: the line of the answer that computes it.
        yours: the tensor.
        expected: the corresponding result of the model answer.
        agreed: the earlier results that both have, by their names in the answer.
    """

    name: str
    line: int | None
    yours: Tensor
    expected: Tensor
    agreed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement on an answer.

    Attributes:
        message: one sentence that says what is wrong, or that nothing is.
        line: the line of the answer that the message is about, if one is known.
        mistakes: the known mistakes that the answer shows, one or two at once; or the kind of edit that it needs.
        difference: the first result that differs from the model answer, if no known mistake explains it.
        checks: the results of the checks, in the order of the exercise.
        seed: the seed of the hidden inputs, with which the judgement can be repeated.
        stopped: whether the learner stopped the judging, so that nothing was decided.
        crash: what was said of a first run that crashed, if a second one did not; empty otherwise.
        symptom: the message without any advice, if it has advice on an exception; empty otherwise.
        names_line: whether the message names the line itself.
    """

    exercise: str
    verdict: Verdict
    message: str
    line: int | None = None
    mistakes: tuple[NamedMistake, ...] = ()
    difference: AnswerDifference | None = None
    checks: tuple[CheckResult, ...] = ()
    seconds: float = 0.0
    stdout: str = ""
    seed: int | None = None
    stopped: bool = False
    crash: str = ""
    symptom: str = ""
    names_line: bool = False

    @property
    def passed(self) -> bool:
        """Whether the exercise is solved."""
        return self.verdict == "passed"

    @property
    def unmentioned_line(self) -> int | None:
        """The line of the answer, unless the message names it."""
        return None if self.names_line else self.line


@dataclass(frozen=True, slots=True)
class Intermediate:
    """One intermediate result of the model answer, and whether an answer has it too.

    Attributes:
        name, line, shape: the result in the model answer.
        yours, your_line: name and line of the same tensor in the answer; "" and None if it does not have it.
    """

    name: Name
    line: Line | None
    shape: Sizes
    yours: Name = ""
    your_line: Line | None = None


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """An answer compared with the model answer: the intermediates of the latter, and the ones only in the answer."""

    intermediates: Annotated[tuple[Intermediate, ...], Longest(MOST_RESULTS)]
    own: Annotated[tuple[Intermediate, ...], Longest(MOST_RESULTS)] = ()
