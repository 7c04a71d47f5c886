"""Names for the numbers inside a call of attention, which the code of a lesson does not name.

In `F.scaled_dot_product_attention` the arguments say which numbers are queries, keys and values. In
`nn.MultiheadAttention` a softmax of products, by which further numbers are weighted, tells the same; how these are put
side by side afterwards tells the number of heads.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.fused_definitions import is_attention
from attn_tutor.lessons.worker.recording.element_history import Element, ElementHistory
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.names import NamedCell
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/attention")

Index = tuple[int, ...]

MOST_AHEAD = 6
"""Operations after a product among which its heads are put side by side."""

_DEFINED = ("weights", "scores", "scaled", "masked")
_DEFINED_BY_HEAD = (*_DEFINED, "queries", "keys", "values")
"""Variables of a definition with a part to play: for one head, and for all heads along the first axis."""

_NAMES: dict[str, Callable[[int], str]] = {
    "weights": lambda head: say("weights", "(weights of head {head})", head=head),
    "scores": lambda head: say("scores", "(scores of head {head})", head=head),
    "scaled": lambda head: say("scaled-scores", "(scaled scores of head {head})", head=head),
    "masked": lambda head: say("masked-scores", "(masked scores of head {head})", head=head),
    "queries": lambda head: say("queries", "(queries of head {head})", head=head),
    "scaled_queries": lambda head: say("scaled-queries", "(scaled queries of head {head})", head=head),
    "keys": lambda head: say("keys", "(keys of head {head})", head=head),
    "values": lambda head: say("values", "(values of head {head})", head=head),
    "context": lambda head: say("context", "(context of head {head})", head=head),
}
"""What the numbers of a head are called, by the parts that they play."""


_WITH_PROJECTIONS = {"_native_multi_head_attention": "num_head", "_transformer_encoder_layer_fwd": "num_heads"}
"""Fused operations that make the queries, keys and values too, with the argument for the number of heads."""


@dataclass(frozen=True, slots=True)
class _Role:
    """A tensor with the part that it plays in a call of attention.

    Attributes:
        call: the time of the call.
        region: the tensor: batch, heads, tokens and one more axis; or batch and heads in one axis.
        part: what its numbers are, one of `_NAMES`.
        heads: the number of heads.
        flips: whether the last two axes are the other way round.
    """

    call: int
    region: Region
    part: str
    heads: int
    flips: bool = False

    def cell(self, index: Index) -> NamedCell:
        """Name a cell; one of a batch has its sample as the first index."""
        *lead, row, column = index
        if self.flips:
            row, column = column, row
        sample, head = divmod(lead[0], self.heads) if len(lead) == 1 else (lead[0], lead[1])
        samples = self.region.shape[0] // (self.heads if len(lead) == 1 else 1)
        return NamedCell(_NAMES[self.part](head), (sample, row, column) if samples > 1 else (row, column), False)


@dataclass(frozen=True, slots=True)
class Expansion:
    """The times at which the definition of a fused operation was computed, and for which cell of its result."""

    first: int
    last: int
    event: Event
    index: Index


class Weighing(Protocol):
    """What is asked of a run to find out which heads stand side by side."""

    @property
    def record(self) -> Record:
        """The operations, in order."""
        ...

    @property
    def history(self) -> ElementHistory:
        """Who wrote each element."""
        ...


@dataclass(slots=True)
class AttentionNames:
    """Finds the parts that numbers play in calls of attention."""

    record: Record
    _expansions: list[Expansion] = field(default_factory=list)
    _roles: dict[int, list[_Role]] = field(default_factory=dict)
    _calls: list[int] = field(default_factory=list)
    _seen: int = 0

    def add_expansion(self, expansion: Expansion) -> None:
        """Take note of a definition that was computed."""
        self._expansions.append(expansion)

    def find(self, element: Element, writer: Event, named: NamedCell | None) -> tuple[NamedCell, int] | None:
        """Return the name of a number inside a call of attention, and which call it was; None for any other number.

        A name that the code gives stays; that of a variable of a definition does not.
        """
        self._update()
        if named is not None:
            defined = self._in_definition(writer, named)
            return None if defined is None else (defined[0], self._count(defined[1]))
        found = [
            (role.call, role.cell(index))
            for storage, offset in (self._copies(element, writer) if self._roles else ())
            for role in self._roles.get(storage, ())
            if (index := role.region.find(offset)) is not None and role.region.dtype == element.region.dtype
        ]
        # The same number may be a query and a key.
        cells = {cell for call, cell in found if call == found[0][0]}
        return (cells.pop(), self._count(found[0][0])) if len(cells) == 1 else None

    def _count(self, call: int) -> int:
        return bisect_left(self._calls, call) + 1 if len(self._calls) > 1 else 0

    def _in_definition(self, writer: Event, named: NamedCell) -> tuple[NamedCell, int] | None:
        """Name a variable of the definition of a fused operation."""
        position = bisect_left(self._expansions, writer.time, key=lambda item: item.last)
        expansion = self._expansions[position] if position < len(self._expansions) else None
        if expansion is None or writer.time < expansion.first or writer.node is not None:
            return None
        event, asked = expansion.event, expansion.index
        if is_attention(event) and len(event.outs[0].shape) == 4 and named.name in _DEFINED and len(named.index) == 2:
            sample, head, row = asked[0], asked[1], asked[2]
            index = (sample, row, named.index[1]) if event.outs[0].shape[0] > 1 else (row, named.index[1])
            return NamedCell(_NAMES[named.name](head), index, False), event.time
        heads = int(event.arg(_WITH_PROJECTIONS[event.op])) if event.op in _WITH_PROJECTIONS else 0
        if not heads:
            return None
        sample, row = asked[0], asked[-2]
        width = int(event.arg("embed_dim")) // heads
        if named.name == "context" and len(named.index) == 2:
            (head, column), token = divmod(named.index[1], width), row
        elif named.name in _DEFINED_BY_HEAD and len(named.index) == 3:
            head, token, column = named.index
            token = row if named.name in _DEFINED else token
        else:
            return None
        index = (sample, token, column) if event.outs[0].shape[0] > 1 else (token, column)
        return NamedCell(_NAMES[named.name](head), index, False), event.time

    def _copies(self, element: Element, writer: Event) -> list[tuple[int, int]]:
        """Return where an element is, and where the call copied it to, as storage and offset."""
        places = [(element.storage, element.offset)]
        events = self.record.events
        start = events.after(writer.time + 1)
        for event in events[start : start + 4 * MOST_AHEAD]:
            if event.sites != writer.sites:
                break
            source = event.arg("self") if event.op == "clone" else None
            if isinstance(source, Region) and source.storage == element.storage:
                index = source.find(element.offset)
                if index is not None:
                    places.append((event.outs[0].storage, event.outs[0].at(index)))
        return places

    # Calls of attention --------------------------------------------------------------------------------------------

    def _update(self) -> None:
        if self._seen == self.record.time:
            return
        events = self.record.events
        start, self._seen = events.after(self._seen), self.record.time
        for position in range(start, len(events)):
            event = events[position]
            if event.node is not None:
                continue
            if is_attention(event):
                self._add_fused(event)
            elif event.op in _WITH_PROJECTIONS:
                insort(self._calls, event.time)
            elif event.op == "_softmax" and not event.direct:
                self._add_steps(position)

    def _add_fused(self, event: Event) -> None:
        query = event.arg("query")
        insort(self._calls, event.time)
        if isinstance(query, Region) and len(query.shape) == 4:
            for argument, part in (("query", "queries"), ("key", "keys"), ("value", "values")):
                region = event.arg(argument)
                self._add(_Role(event.time, region, part, region.shape[1]))
            self._add(_Role(event.time, event.outs[0], "context", event.outs[0].shape[1]))

    def _add_steps(self, position: int) -> None:
        """Find a product before a softmax, and one after it whose heads are put side by side."""
        events, softmax = self.record.events, self.record.events[position]
        before = [event for event in events[max(0, position - 2) : position] if event.sites == softmax.sites]
        after = [event for event in events[position + 1 : position + 3 + MOST_AHEAD] if event.sites == softmax.sites]
        scores = next((event for event in reversed(before) if event.op in ("bmm", "baddbmm")), None)
        context = next((event for event in after if event.op == "bmm"), None)
        if scores is None or context is None or softmax.arg("self").storage != scores.outs[0].storage:
            return
        scaled, keys = (
            scores.arg("self" if scores.op == "bmm" else "batch1"),
            scores.arg("mat2" if scores.op == "bmm" else "batch2"),
        )
        heads = _heads(context, after)
        if context.arg("self").storage != softmax.outs[0].storage or not heads or softmax.arg("dim") not in (-1, 2):
            return
        insort(self._calls, context.time)
        self._add(_Role(context.time, softmax.outs[0], "weights", heads))
        self._add(_Role(context.time, scores.outs[0], "scores", heads))
        self._add(_Role(context.time, context.outs[0], "context", heads))
        self._add(_Role(context.time, context.arg("mat2"), "values", heads))
        self._add(_Role(context.time, keys, "keys", heads, flips=True))
        makers = [event for event in self.record.writes.get(scaled.storage, ()) if event.time < scores.time]
        if len(makers) == 1 and makers[0].op == "mul" and makers[0].sites == softmax.sites:
            self._add(_Role(context.time, scaled, "scaled_queries", heads))
            scaled = makers[0].arg("self")
        self._add(_Role(context.time, scaled, "queries", heads))

    def _add(self, role: _Role) -> None:
        self._roles.setdefault(role.region.storage, []).append(role)


def _heads(context: Event, after: list[Event]) -> int:
    """Return how many heads are put side by side: rows of `heads * width` numbers; 0 if none are."""
    out = context.outs[0]
    later = [event for event in after if event.time > context.time][:3]
    if [event.op for event in later] != ["transpose", "clone", "_unsafe_view"] or later[0].arg("self") is not out:
        return 0
    tokens, width = later[2].outs[0].shape[0], later[2].outs[0].shape[-1]
    both, rows, own = out.shape
    swapped = later[0].outs[0].shape == (rows, both, own) and len(later[2].outs[0].shape) == 2
    heads = width // own if own and width % own == 0 else 0
    return heads if swapped and heads and both % heads == 0 and tokens == rows * (both // heads) else 0


# Heads side by side ---------------------------------------------------------------------------------------------------

_SOFTMAX = frozenset({"_softmax", "_safe_softmax"})
_DROPPING = frozenset({"bernoulli_", "div_"})
"""Operations that make the factors of dropout: 0, or what the others are scaled up by."""


def head_notes(run: Weighing, event: Event, element: Element, asked: Element) -> list[str]:
    """Say to which head a number belongs where the contexts of all heads stand side by side; else nothing.

    `element` is the result of the operation, `asked` what was copied from it.
    """
    if is_attention(event):
        region: Region | None = event.outs[0]
    else:
        region = _context(run, event) if event.op == "bmm" else None
    if region is None or len(region.shape) != 4 or region.shape[1] < 2:
        return []
    inside, beside = region.find(element.offset), asked.region.find(asked.offset)
    if inside is None or beside is None or asked.region.shape[-1:] != (region.shape[1] * region.shape[3],):
        return []
    head, column = inside[1], inside[3]
    fits = beside[-1] == head * region.shape[3] + column
    if not fits:
        return []
    note = say(
        "side-by-side",
        "Column {column} belongs to head {head}: the heads stand side by side.",
        column=beside[-1],
        head=head,
    )
    return [note]


def _context(run: Weighing, event: Event) -> Region | None:
    """Return the result of a product with weights by sample, head, token and column; None if these are no weights."""
    writer = _writer(run, event.arg("self"), event.time)
    if writer is not None and writer.op == "native_dropout":
        writer = _writer(run, writer.arg("input"), writer.time)
    elif writer is not None and writer.op == "mul":
        drawn = _writer(run, writer.arg("other"), writer.time)
        if drawn is not None and drawn.op in _DROPPING:
            writer = _writer(run, writer.arg("self"), writer.time)
    if writer is None or writer.op not in _SOFTMAX:
        return None
    events = run.record.events
    start = events.after(event.time + 1)
    for later in events[start : start + 2]:
        if later.sites == event.sites and later.view and later.outs[0].storage == event.outs[0].storage:
            return later.outs[0]
    return None


def _writer(run: Weighing, region: object, time: int) -> Event | None:
    """Return the operation that wrote the first number of an argument; None if it is no tensor."""
    if not isinstance(region, Region) or not region.size:
        return None
    return run.history.writer(Element.of(region, (0,) * len(region.shape), time))
