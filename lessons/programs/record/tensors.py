"""The named tensors of a trace, as they were when their names were bound last, and their numbers with explanations.

An explanation is text, and for notebooks HTML that opens on a click.
"""

from __future__ import annotations

import difflib
import itertools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, SupportsIndex

from attn_tutor.lessons.programs.record.errors import NoCell, NoTensor, NotKept
from attn_tutor.lessons.programs.record.harmless_text import harmless
from attn_tutor.lessons.programs.record.questions import UNIT
from attn_tutor.lessons.programs.worker.named_tensors import NamedTensor
from attn_tutor.lessons.render import cell_index, explanation_lines, explanation_text, linear_matrix
from attn_tutor.lessons.render import html_pieces as html
from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.results import explanation as e
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.explanation import Explanation, Operand
from attn_tutor.lessons.results.explanation_tree import Node
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording.element_history import ValueLost

if TYPE_CHECKING:
    import torch

    from attn_tutor.lessons.programs.record.questions import RecordQuestions
    from attn_tutor.lessons.results.result import Tensor


LEVELS = 2
"""Levels of numbers that the text of a number shows, as `attn-tutor explain` does."""

OPENED_NUMBERS, MOST_OPENED_NUMBERS = 4, 150
"""Levels and numbers that can be opened in HTML."""


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedOperand:
    """A number that another one was computed from."""

    _operand: Operand
    _questions: RecordQuestions

    @property
    def label(self) -> str:
        """The cell as the code would write it: `weights[1,0]`."""
        return self._operand.label

    @property
    def value(self) -> float:
        """The number."""
        return self._operand.value

    @property
    def is_leaf(self) -> bool:
        """Whether it was computed from nothing else: an input, a random draw, a constant."""
        return self._operand.leaf

    def explain(self) -> TracedNumber:
        """Explain how this number was computed in turn."""
        return TracedNumber(self._questions.follow(self._operand.ref), self._questions)

    def __repr__(self) -> str:
        return f"<{self.label} = {readable(self.value, self._operand.dtype)}>"


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedNumber:
    """A number, and how it was computed: `print` it, or look at it in a notebook.

    >>> number = trace.explain("context", 1, 0)
    >>> print(number)
    >>> number.operands[0].explain()
    """

    _explanation: Explanation
    _questions: RecordQuestions

    @property
    def label(self) -> str:
        """The cell as the code would write it: `context[1,0]`."""
        return self._explanation.label

    @property
    def value(self) -> float | None:
        """The number; None if the record no longer has it."""
        return self._explanation.value

    @property
    def dtype(self) -> str:
        """The type of the number in PyTorch, such as `float32`."""
        return self._explanation.dtype

    @property
    def operation(self) -> str:
        """The operation that computed it: `matmul`, `softmax`, `draw`, ..."""
        return self._explanation.op

    @property
    def formula(self) -> str:
        """The formula in Python's notation, over the labels of the operands; a leaf is the number itself.

        "" for a number that is unknown.
        """
        return e.python(self._explanation)

    @property
    def code(self) -> str:
        """The piece of code that computed it; "" if that is not known."""
        return self._explanation.code

    @property
    def file(self) -> str:
        """The file or cell of that code; "" if it is not known."""
        return self._explanation.file

    @property
    def line(self) -> int | None:
        """The line of that code; None if it is not known."""
        return self._explanation.line

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the number."""
        return self._explanation.notes

    @property
    def is_leaf(self) -> bool:
        """Whether it was computed from nothing else: an input, a random draw, a constant."""
        return self._explanation.leaf

    @property
    def operands(self) -> tuple[TracedOperand, ...]:
        """The numbers that it was computed from, each of which can be explained in turn."""
        return tuple(TracedOperand(operand, self._questions) for operand in self._explanation.operands)

    def text(self, depth: int = LEVELS) -> str:
        """Return how it was computed as text, with `depth` levels of numbers."""
        return "\n".join(explanation_lines.lines(self._tree(depth, explanation_tree.MOST_TOLD), in_shell=False))

    def _tree(self, depth: int, most: int) -> Node:
        found = explanation_tree.grow_below(
            self._questions,
            UNIT,
            self._explanation,
            depth,
            most,
            lambda item: explanation_lines.choose_operands(item).positions,
            once=True,
        )
        return found if isinstance(found, Node) else Node(self._explanation)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{explanation_text.one_line(self._explanation, 78)}>"

    def _repr_html_(self) -> str:
        return html.page(html.number(self._tree(OPENED_NUMBERS, MOST_OPENED_NUMBERS)))


say = Wording("trace/tensors")

MOST_OPENED_TENSORS = 24
"""Tensors of a list whose numbers can be opened in HTML."""

LARGEST_OPENED = 4096
"""Elements up to which they can."""

MOST_LISTED = 200


@harmless
class TracedTensor:
    """A tensor of a trace with its name.

    >>> scores = trace.tensors["scores"]
    >>> scores.shape, scores.value.max()
    >>> scores.explain(1, 0)
    """

    def __init__(self, named: NamedTensor, questions: RecordQuestions) -> None:
        self._named, self._questions = named, questions

    @property
    def label(self) -> str:
        """What tells it from all other tensors: `scores`, `model.weight`, `Attention.forward.scores`."""
        return self._named.label

    @property
    def name(self) -> str:
        """What its code calls it: `scores`."""
        return self._named.name

    @property
    def scope(self) -> str:
        """The function whose variable it is, such as `Attention.forward`; "" for a variable of the block."""
        return self._named.scope

    @property
    def line(self) -> int | None:
        """The line where its name was bound last; None if that is not known."""
        return self._named.line

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes."""
        return self._named.region.shape

    @property
    def size(self) -> int:
        """The number of its elements."""
        return self._named.region.size

    @property
    def dtype(self) -> torch.dtype:
        """The type of its numbers."""
        return self._named.region.dtype

    @property
    def count(self) -> int:
        """How often its name was bound to a tensor."""
        return self._named.count

    @property
    def value(self) -> torch.Tensor:
        """A copy of it, as it was. Raises `NotKept` if the record no longer has its numbers."""
        try:
            return self._questions.value(self._named)
        except ValueLost as lost:
            raise NotKept(str(lost)) from None

    @property
    def real(self) -> TracedTensor:
        """The real parts of a complex tensor."""
        return self._part("real", 0)

    @property
    def imag(self) -> TracedTensor:
        """The imaginary parts of a complex tensor."""
        return self._part("imag", 1)

    def _part(self, name: str, position: int) -> TracedTensor:
        named = self._named
        if not self.dtype.is_complex:
            raise NoTensor(say("not-complex", "{label} is not complex, so it has no parts.", label=self.label))
        part = replace(
            named, label=f"{named.label}.{name}", name=f"{named.name}.{name}", region=named.region.half(position)
        )
        return TracedTensor(part, self._questions)

    def explain(self, *index: SupportsIndex) -> TracedNumber:
        """Explain how the number at an index was computed. Raises `NoCell` if there is none."""
        if self.dtype.is_complex:
            raise NoCell(
                say(
                    "complex",
                    "{label} is complex. Ask for one of its parts, {label}.real or {label}.imag.",
                    label=self.label,
                )
            )
        shape = self.shape
        given = tuple(map(operator.index, index))
        at = tuple(
            part + size if -size <= part < 0 else part for part, size in zip(given, shape, strict=False)
        ) + given[len(shape) :]  # fmt: skip
        why = cell_index.why_no_cell(self.label, shape, at)
        if why is not None:
            raise NoCell(why)
        region = self._named.region
        if region.flips(region.at(at)):
            raise NoCell(
                say(
                    "flipped",
                    "{label} only marks its numbers as having the other sign. Explain a copy, "
                    "`{label}.resolve_conj().resolve_neg()`, or the tensor that it was made from.",
                    label=self.label,
                )
            )
        return TracedNumber(self._questions.explain(self._named, at), self._questions)

    def facts(self) -> str:
        """Return its shape, type and count in a few words."""
        shape = "×".join(map(str, self.shape)) or say("scalar", "number")
        times = say("times", "bound {count} times", count=self.count) if self.count > 1 else ""
        return ", ".join(filter(None, (shape, str(self.dtype).removeprefix("torch."), times)))

    def _plain(self) -> list[Tensor]:
        """Return it as plain data; a complex one as its two parts; nothing if its numbers are gone."""
        parts = [self.real, self.imag] if self.dtype.is_complex else [self]
        try:
            return [part._questions.plain(part._named) for part in parts]
        except ValueLost:
            return []

    def __str__(self) -> str:
        lines = itertools.chain.from_iterable(map(linear_matrix.matrix, self._plain()))
        return "\n".join(lines) or f"{self.label}  {self.facts()}"

    def __repr__(self) -> str:
        return f"<{self.label}: {self.facts()}>"

    def html(self) -> str:
        """Return its matrices as a piece of HTML."""
        shown = self._plain()
        if len(shown) > 1:
            return "".join(html.line(html.code(part.name)) + html.tensor(part) for part in shown)
        return html.tensor(shown[0]) if shown else html.escaped(say("gone", "Its numbers are gone."))

    def _repr_html_(self) -> str:
        head = html.line(html.code(self.label), html.facts(self.facts()))
        return html.page(head, self.html())


@harmless
class TracedTensors(Mapping[str, TracedTensor]):
    """The named tensors of a trace by their labels.

    A name is enough where only one tensor has it: `trace.tensors["scores"]` also finds `Attention.forward.scores`.
    """

    def __init__(self, tensors: list[TracedTensor], unlisted: Mapping[str, str]) -> None:
        self._by_label = {item.label: item for item in tensors}
        self._unlisted = unlisted

    def __getitem__(self, label: str) -> TracedTensor:
        found = self._by_label.get(label)
        if found is not None:
            return found
        whole, _, part = label.rpartition(".")
        if part in ("real", "imag") and whole:
            found = self[whole]
            return found.real if part == "real" else found.imag
        ends = [item for item in self if item.endswith(f".{label}") or _in_class(item) == label]
        if len(ends) == 1:
            return self._by_label[ends[0]]
        if ends:
            names = ", ".join(ends)
            raise NoTensor(say("several", "Several tensors are called '{label}': {names}.", label=label, names=names))
        if (kind := self._unlisted.get(label)) is not None:
            raise NoTensor(
                say("other-kind", "'{label}' is {kind}, and no plain table of numbers.", label=label, kind=kind)
            )
        near = difflib.get_close_matches(label, self, 3) or list(self)[:12]
        if not near:
            raise NoTensor(say("none", "There is no tensor '{label}': no tensor has a name here.", label=label))
        raise NoTensor(
            say("unknown", "There is no tensor '{label}'. There are: {names}.", label=label, names=", ".join(near))
        )

    def __contains__(self, label: object) -> bool:
        return label in self._by_label

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_label)

    def __len__(self) -> int:
        return len(self._by_label)

    def __str__(self) -> str:
        width = max(map(len, [*self][:MOST_LISTED]), default=0)
        lines = [f"{label:{width}}  {self._by_label[label].facts()}" for label in [*self][:MOST_LISTED]]
        if (left := len(self) - MOST_LISTED) > 0:
            lines.append(say.count("more", left, "and {count} more", "and {count} more"))
        return "\n".join(lines) if lines else say("no-names", "No tensor has a name here.")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join([*self][:8])}{', ...' if len(self) > 8 else ''}>"

    def html(self) -> str:
        """Return the tensors as a piece of HTML, each with its numbers where they are few."""
        parts = []
        for count, tensor in enumerate(self._by_label.values()):
            if count >= MOST_LISTED:
                left = len(self) - MOST_LISTED
                parts.append(say.count("more", left, "and {count} more", "and {count} more"))
                break
            head = f"{html.code(tensor.label)} {html.facts(tensor.facts())}"
            small = count < MOST_OPENED_TENSORS and tensor.size <= LARGEST_OPENED
            parts.append(html.opened(head, tensor.html()) if small else html.leaf(head))
        return "".join(parts) or say("no-names", "No tensor has a name here.")

    def _repr_html_(self) -> str:
        return html.page(self.html())


def _in_class(label: str) -> str:
    """Return a label without the name of the method: `Attention.scores` for `Attention.forward.scores`."""
    parts = label.split(".")
    return ".".join((*parts[:-2], parts[-1]))
