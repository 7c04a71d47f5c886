"""What a dialogue can show and explain: the tensors of a run, and how a learner names their cells and parts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attn_tutor.lessons.engine.questions.question_facts import normalize_text
from attn_tutor.lessons.render.cell_index import why_no_cell
from attn_tutor.lessons.render.numbers import visible
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import Tensor, Window
from attn_tutor.lessons.results.tensor_questions import WindowQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.waiting_session import WaitingSession
from attn_tutor.tui.state.typed_names import listed, typed

say = Wording("plain/subject")

Index = tuple[int, ...]

LARGEST_PART = 4096
"""The most numbers that are fetched at once."""


@dataclass(frozen=True, slots=True)
class DialogueSubject:
    """The tensors that a learner can ask about.

    Attributes:
        tensors: the tensors, in the order in which they are shown.
        unit: the step or input that shows them; None if nothing is recorded of how they were computed.
        hidden: the name of a tensor whose numbers must not be seen yet; "" for none.
        boxes: the units of tensors that the unit does not show itself, by their names: boxes of its flow.
    """

    tensors: tuple[Tensor, ...]
    unit: CodeUnit | None = None
    hidden: str = ""
    boxes: tuple[tuple[str, CodeUnit | None], ...] = ()

    def unit_of(self, tensor: Tensor) -> CodeUnit | None:
        """Return the unit that questions about a tensor name."""
        return dict(self.boxes).get(tensor.name, self.unit)

    def tensor(self, name: str) -> Tensor:
        """Return the tensor of a name. Raises `Refused`."""
        found = next((tensor for tensor in self.tensors if tensor.name == name), None)
        if found is None:
            raise Refused(self._no_tensor(name))
        if name == self.hidden:
            raise Refused(say("hidden", "The numbers of {name} are hidden until you have answered.", name=name))
        return found

    def _no_tensor(self, name: str) -> str:
        names = [tensor.name for tensor in self.tensors]
        if not names:
            return say("nothing-shown", "This step shows no numbers.")
        close = difflib.get_close_matches(name, names, 1)
        if close:
            return say("similar", "Nothing here is called {name}. Do you mean {similar}?", name=name, similar=close[0])
        return say("names", "Nothing here is called {name}. There is: {names}.", name=name, names=", ".join(names))

    def read(self, text: str) -> tuple[Tensor, list[str]]:
        """Return the tensor that a text such as `weights[1, have]` names, and the parts of its index.

        A text without a name means the only tensor, if there is one. Raises `Refused`.
        """
        text = text.strip()
        known = [each.name for each in self.tensors]
        names, inner = typed(text, known)
        if len(names) > 1:
            raise Refused(several(text, names))
        if names:
            return self.tensor(names[0]), [part.strip() for part in inner.split(",")] if inner else []
        if not text and len(self.tensors) == 1:
            return self.tensor(self.tensors[0].name), []
        if not text:
            raise Refused(say("which", "Which of these: {names}?", names=", ".join(known)))
        raise Refused(self._no_tensor(re.split(r"[\[\s]", text, maxsplit=1)[0]))

    def cell(self, text: str) -> tuple[Tensor, Index]:
        """Return the tensor and the cell that a text such as `weights[1,0]` names, by index or label.

        Raises `Refused`.
        """
        tensor, parts = self.read(text)
        if len(parts) != len(tensor.shape):
            raise Refused(str(why_no_cell(tensor.name, tensor.shape, (0,) * len(parts))))
        return tensor, tuple(position(tensor, axis, part) for axis, part in enumerate(parts))


def position(tensor: Tensor, axis: int, text: str) -> int:
    """Return the position along an axis that a text names: an index, also from the end, or a label.

    Raises `Refused`.
    """
    size, labels = tensor.shape[axis], tensor.labels[axis] if axis < len(tensor.labels) else ()
    if re.fullmatch(r"-?\d{1,9}", text):
        index = int(text)
        if not -size <= index < size:
            last = size - 1
            raise Refused(
                say(
                    "beyond",
                    "{name} has no {index} along its axis {axis}: that goes from 0 to {last}.",
                    name=tensor.name,
                    index=index,
                    axis=axis,
                    last=last,
                )
            )
        return index % size
    wanted = text.strip("'\"")
    same = [at for at, each in enumerate(labels) if normalize_text(each) == normalize_text(wanted)]
    if len(same) != 1:
        raise Refused(
            say(
                "twice",
                '"{label}" is there {count} times. Type one of these numbers instead: {numbers}.',
                label=wanted,
                count=len(same),
                numbers=", ".join(map(str, same)),
            )
            if same
            else say("no-label", "{name} has nothing called {label} along that axis.", name=tensor.name, label=wanted)
        )
    return same[0]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a tensor: for each axis the positions from `start` on, or one position alone."""

    tensor: Tensor
    spans: tuple[tuple[int, int], ...]
    single: tuple[bool, ...]

    @property
    def label(self) -> str:
        """The part as Python would write it: `weights[0,1:3]`."""
        sizes = self.tensor.shape
        texts = [
            str(start) if one else ":" if (start, stop) == (0, size) else f"{start}:{stop}"
            for (start, stop), one, size in zip(self.spans, self.single, sizes, strict=True)
        ]
        while texts and texts[-1] == ":":
            texts.pop()
        return f"{self.tensor.name}[{','.join(texts)}]" if texts else self.tensor.name

    @property
    def is_all(self) -> bool:
        """Whether the part is the whole tensor."""
        return self.spans == tuple((0, size) for size in self.tensor.shape)

    @property
    def leads(self) -> Iterator[Index]:
        """The indices of the matrices that the part reaches into."""
        return _products([range(start, stop) for start, stop in self.spans[:-2]])

    @property
    def rows(self) -> range:
        """The rows of each matrix that are part of it; one of a vector or a number."""
        return range(*self.spans[-2]) if len(self.spans) > 1 else range(1)

    @property
    def columns(self) -> range:
        """The columns of each matrix that are part of it."""
        return range(*self.spans[-1]) if self.spans else range(1)


def part(tensor: Tensor, texts: Sequence[str]) -> Part:
    """Return the part of a tensor that an index with slices names: `1`, `0:3`, `:`, a label. Raises `Refused`."""
    if len(texts) > len(tensor.shape):
        raise Refused(str(why_no_cell(tensor.name, tensor.shape, (0,) * len(texts))))
    spans: list[tuple[int, int]] = []
    single: list[bool] = []
    for axis, size in enumerate(tensor.shape):
        text = texts[axis] if axis < len(texts) else ":"
        first, colon, last = text.partition(":")
        if not colon:
            at = position(tensor, axis, text)
            spans.append((at, at + 1))
        else:
            start, stop = (_bound(tensor, axis, each, default) for each, default in ((first, 0), (last, size)))
            if stop <= start:
                raise Refused(say("empty", "{text} is empty along the axis {axis}.", text=text, axis=axis))
            spans.append((start, stop))
        single.append(not colon)
    return Part(tensor, tuple(spans), tuple(single))


def _bound(tensor: Tensor, axis: int, text: str, default: int) -> int:
    size, text = tensor.shape[axis], text.strip()
    if not text:
        return default
    if not re.fullmatch(r"-?\d{1,9}", text):
        raise Refused(say("no-slice", "{text} is not a number, so it cannot begin or end a slice.", text=text))
    return max(0, min(size, int(text) + (size if text.startswith("-") else 0)))


def values(session: WaitingSession, subject: DialogueSubject, of: Part, lead: Index) -> tuple[tuple[float, ...], ...]:
    """Return the numbers of a part in the matrix at leading indices, row by row.

    Those of a large tensor are asked of the run. Raises `Refused`.
    """
    tensor, rows, columns = of.tensor, of.rows, of.columns
    if len(rows) * len(columns) > LARGEST_PART:
        raise Refused(
            say("too-many", "These are too many numbers. Ask for a part, such as {name}.", name=_example(tensor))
        )
    found = [tensor.row(lead, row, columns.start, columns.stop) for row in rows]
    if all(row is not None for row in found):
        return tuple(tuple(row) for row in found if row is not None)
    if (unit := subject.unit_of(tensor)) is None:
        raise Refused(say("not-kept", "Only the numbers that are shown above are kept of {name}.", name=tensor.name))
    question = WindowQuestion(
        tensor.name, lead, rows.start, columns.start, len(rows), len(columns), unit, tensor.matrix_shape
    )
    window: Window = session.ask(question)
    return window.rows


def _example(tensor: Tensor) -> str:
    """Return a part of a large tensor that can be shown."""
    slices = ["0:8"] * min(2, len(tensor.shape))
    return f"{tensor.name}[{', '.join(['0'] * (len(tensor.shape) - 2) + slices)}]"


def cut(tensor: Tensor, of: Part, lead: Index, numbers: Sequence[Sequence[float]]) -> Tensor:
    """Return a matrix of a part as a tensor of its own, with the labels of its rows and columns."""
    flat = tuple(value for row in numbers for value in row)
    finite = [value for value in flat if value - value == 0]
    axes = min(2, len(tensor.shape))
    labels = tuple(
        tuple(tensor.labels[axis - axes + len(tensor.shape)][slice(*of.spans[axis - axes])]) for axis in range(axes)
    )
    return replace(
        tensor,
        name=of.label,
        shape=(len(of.rows), len(of.columns))[2 - axes :],
        axes=tensor.axes[len(tensor.axes) - axes :],
        labels=labels,
        low=min(finite, default=None),
        high=max(finite, default=None),
        values=flat,
        window=None,
        draw="matrix",
        layout=None,
    )


def several(text: str, names: Sequence[str]) -> str:
    """Say that a text may mean each of several names."""
    return say("several", "{name} may be each of these: {names}. Type more of it.", name=text, names=listed(names))


def cell_words(tensor: Tensor, index: Index) -> str:
    """Return a cell with its labels in brackets, except bare numbers: `weights[1,0] (have, I)`."""
    words = [
        visible(tensor.labels[axis][at])
        for axis, at in enumerate(index)
        if axis < len(tensor.labels) and at < len(tensor.labels[axis]) and tensor.labels[axis][at] != str(at)
    ]
    return label(tensor.name, index) + (f" ({', '.join(words)})" if words else "")


def _products(ranges: Sequence[range]) -> Iterator[Index]:
    if not ranges:
        yield ()
        return
    for first in ranges[0]:
        for rest in _products(ranges[1:]):
            yield (first, *rest)
