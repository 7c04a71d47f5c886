"""What a run gives back: plain data, without torch, for screens, the plain renderer and JSON alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal

from lessons.results.line_shapes import LineShapes

if TYPE_CHECKING:  # it brings pydantic along
    from lessons.format.steps import Drawing

WHOLE = 4096
"""Tensors of up to this many elements travel whole; of larger ones only windows do."""


LONGEST_AXIS, MOST_AXES = 100_000, 8
"""Longer axes, and more of them, are not shown: every row and column has a label."""


MOST_PICTURES, MOST_STEPS = 1000, 10**9
"""Pictures that one training may take, and steps that it may count: times are worked out with them."""

MOST_KEPT = 4 << 20
"""Bytes that a training may keep."""


class WorkerError(Exception):
    """The worker cannot run anything: it did not start, or it is gone and did not come back."""


FailureKind = Literal["error", "timeout", "memory", "crash", "stopped"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program did not come to its end: one sentence for people, and the line of their code if it is known."""

    kind: FailureKind
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle of a tensor's last two axes: rows `top..`, columns `left..`, at the leading indices `lead`."""

    lead: tuple[int, ...]
    top: int
    left: int
    rows: tuple[tuple[float, ...], ...]

    def row(self, row: int, left: int, right: int) -> Sequence[float] | None:
        """Values `left..right-1` of a row, or None if this window does not hold them all."""
        if not (self.top <= row < self.top + len(self.rows)):
            return None
        values = self.rows[row - self.top]
        if left < self.left or right > self.left + len(values):
            return None
        return values[left - self.left : right - self.left]


@dataclass(frozen=True, slots=True)
class MemoryLayout:
    """Where the elements of a tensor lie in its storage, counted in elements.

    Attributes:
        strides: how far it is to the next index of each axis, outermost first.
        offset: where the first element lies.
        size: how many elements the storage holds.
        contiguous: whether they lie row by row, without gaps.
        storage: a letter for each storage that the tensors of a step lie in: equal letters share their numbers.
    """

    strides: tuple[int, ...]
    offset: int
    size: int
    contiguous: bool
    storage: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as it is shown.

    Attributes:
        name, kind: as the lesson names it; `kind` is score, weight, mask or vector.
        dtype: `float32`, `bool`, `int64`, ... as torch calls it.
        shape: sizes, outermost first; a scalar has none.
        axes, labels: a name and the labels for every axis, outermost first.
        low, high: the least and greatest finite value, None if there is none.
        values: all elements, row by row, if there are at most `WHOLE`; else None.
        window: of a larger tensor, the corner that came with it.
        draw: how it is drawn, unless as a matrix.
        layout: where its elements lie, if that is what is drawn.
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

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Rows and columns of what is drawn at once: a vector is one row, a scalar one cell."""
        rows, cols = ((1, 1, *self.shape))[-2:]
        return rows, cols

    @property
    def lead_shape(self) -> tuple[int, ...]:
        """Sizes of the axes before the last two: (batch,) or (batch, heads), say."""
        return self.shape[:-2]

    @property
    def row_labels(self) -> tuple[str, ...]:
        """Labels of the drawn rows; empty for a vector or scalar."""
        return self.labels[-2] if len(self.shape) > 1 else ()

    @property
    def col_labels(self) -> tuple[str, ...]:
        """Labels of the drawn columns; empty for a scalar."""
        return self.labels[-1] if self.shape else ()

    def row(self, lead: Sequence[int], row: int, left: int, right: int) -> Sequence[float] | None:
        """Values `left..right-1` of one row at the leading indices; None if they are not here but in the worker."""
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
"""Whose training a step rests on: the learner's own, the one that ships with the course, or none."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step gave: its output, the tensors it shows, the values for its prose, and what went wrong if it did.

    `notes` are sentences about cells that the learner changed and that could not be; `shapes` are those of its lines;
    `trained` says whose training it rests on, if it rests on one.
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


@dataclass(frozen=True, slots=True)
class TrainingSnapshot:
    """A moment of a training: after `done` of `total` steps, the numbers of its curves by name, its tensors."""

    done: int
    total: int
    numbers: dict[str, float]
    tensors: tuple[Tensor, ...] = ()


@dataclass(frozen=True, slots=True)
class Training:
    """How a training ended: what was seen of it, and why it did not come to its end, if it did not."""

    pictures: tuple[TrainingSnapshot, ...]
    error: Failure | None = None
    stopped: bool = False
    seconds: float = 0.0


Verdict = Literal["passed", "failed", "error", "timeout", "memory", "crash"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of an exercise: `message` says what was found when it did not pass."""

    name: str
    passed: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class NamedMistake:
    """A known mistake that an answer shows: its id, its name in a few words, what to tell the learner about it."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """The first intermediate result of an answer that the model answer does not have.

    Attributes:
        name: what the answer calls it, or the code that makes it.
        line: the line of the answer that makes it.
        yours: the tensor.
        expected: what the model answer has at this place, None if it has nothing of that shape there.
        agreed: what both have before that, by the names of the model answer.
    """

    name: str
    line: int | None
    yours: Tensor
    expected: Tensor | None
    agreed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge says of an answer.

    Attributes:
        message: one sentence: what is wrong, or that nothing is.
        line: the line of the answer that it is about, if one is known.
        mistakes: the known mistakes that the answer shows: one, or two that were made together.
        difference: where the answer leaves the way of the model answer, if no known mistake tells it.
        checks: in the order of the exercise.
        seed: what the hidden inputs were made from; with it, the same check can be made again.
        stopped: the learner stopped the judging, so that nothing was decided.
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

    @property
    def passed(self) -> bool:
        """Whether the exercise is solved."""
        return self.verdict == "passed"

    @property
    def untold_line(self) -> int | None:
        """The line, unless the message names it already."""
        if self.line is None or re.search(rf"\bline {self.line}\b", self.message):
            return None
        return self.line


@dataclass(frozen=True, slots=True)
class Intermediate:
    """One intermediate result of the model answer, and whether an answer has it too.

    Attributes:
        name, line, shape: in the model answer.
        yours, your_line: what the answer calls the same tensor and where it makes it; empty and None if it does not.
    """

    name: str
    line: int | None
    shape: tuple[int, ...]
    yours: str = ""
    your_line: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """An answer beside the model answer: the intermediates of the latter, and those that only the answer has."""

    intermediates: tuple[Intermediate, ...]
    own: tuple[Intermediate, ...] = ()
