"""The named tensors of a trace, as they were when their names were bound last."""

from __future__ import annotations

import difflib
import itertools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsIndex

from attn_tutor.lessons.render import cell_index, linear_matrix
from attn_tutor.lessons.render import html_pieces as html
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.trace.harmless_text import harmless
from attn_tutor.lessons.trace.trace_errors import NoCell, NoTensor, NotKept
from attn_tutor.lessons.trace.traced_number import TracedNumber
from attn_tutor.lessons.worker.programs.named_tensors import NamedTensor
from attn_tutor.lessons.worker.recording.element_history import ValueLost

if TYPE_CHECKING:
    import torch

    from attn_tutor.lessons.results.result import Tensor
    from attn_tutor.lessons.worker.programs.record_questions import RecordQuestions

say = Wording("trace/tensors")

MOST_OPENED = 24
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

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

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

    def __init__(self, tensors: list[TracedTensor]) -> None:
        self._by_label = {item.label: item for item in tensors}

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

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def html(self) -> str:
        """Return the tensors as a piece of HTML, each with its numbers where they are few."""
        parts = []
        for count, tensor in enumerate(self._by_label.values()):
            if count >= MOST_LISTED:
                left = len(self) - MOST_LISTED
                parts.append(say.count("more", left, "and {count} more", "and {count} more"))
                break
            head = f"{html.code(tensor.label)} {html.facts(tensor.facts())}"
            small = count < MOST_OPENED and tensor.size <= LARGEST_OPENED
            parts.append(html.opened(head, tensor.html()) if small else html.leaf(head))
        return "".join(parts) or say("no-names", "No tensor has a name here.")

    def _repr_html_(self) -> str:
        return html.page(self.html())


def _in_class(label: str) -> str:
    """Return a label without the name of the method: `Attention.scores` for `Attention.forward.scores`."""
    parts = label.split(".")
    return ".".join((*parts[:-2], parts[-1]))
