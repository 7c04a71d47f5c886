"""Copies and rearrangements: where a number was before it was here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, Index, RuleResult, broadcast
from lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ZERO,
    find,
    make,
    region,
    rule,
    short,
    too_many,
    unknown,
)
from lessons.worker.recording.element_history import Element
from lessons.worker.recording.recorder import SNAPSHOT, Event, Region

if TYPE_CHECKING:
    from lessons.worker.explaining.explainer import Explainer

MOST_MOVED = 1 << 22
"""Elements up to which a rearrangement is followed; above, it is only named."""

_COPIES = dict.fromkeys(("clone", "contiguous", "alias_copy", "detach_copy", "lift", "_to_copy"), "self")

_MOVES = {
    **dict.fromkeys(
        (
            "index",
            "index_select",
            "gather",
            "flip",
            "roll",
            "repeat",
            "take",
            "masked_select",
            "constant_pad_nd",
            "index_fill",
            "repeat_interleave",
            "rot90",
            "unfold",
            "diag",
            "diagonal_copy",
            "expand_copy",
            "permute_copy",
            "_reshape_copy",
            "view_copy",
            "select_copy",
            "slice_copy",
            "transpose_copy",
            "t_copy",
            "squeeze_copy",
            "unsqueeze_copy",
        ),
        ("self",),
    ),
    **dict.fromkeys(("select_backward", "slice_backward", "diagonal_backward"), ("grad_output",)),
    "embedding": ("weight",),
    "index_put": ("self", "values"),
    "_index_put_impl": ("self", "values"),
    "scatter": ("self", "src"),
    "index_copy": ("self", "source"),
    "masked_scatter": ("self", "source"),
    "slice_scatter": ("self", "src"),
    "select_scatter": ("self", "src"),
}
"""Operations that only move elements: the argument that they come from, and another from which some of them come."""

Moves = tuple[list[torch.Tensor], tuple[Region, ...]]
"""The arguments, and for each axis a tensor in the shape of the result. It tells where on this axis each element comes
from: in the first argument counted 1, 2, ..., in the second -1, -2, ...; 0 is what the operation put there itself."""


def copied(explainer: Explainer, event: Event, element: Element) -> Element | None:
    """The element that an event copied to this one unchanged, None if it did something else."""
    source = _origin(explainer, event, element)
    return source if source is not None and _same(explainer, source, element) else None


def _origin(explainer: Explainer, event: Event, element: Element) -> Element | None:
    """The element that an event copied to this one, or converted."""

    def source(region: Any, index: Index) -> Element | None:
        return Element.of(region, index, event.time) if isinstance(region, Region) else None

    found = event.index_of(element.storage, element.offset)
    if event.hand or found is None:
        return None
    (place, index), op = found, event.op
    out = event.outs[place]
    if event.info is SNAPSHOT:
        return Element.of(event.args[0], index, event.args[1])
    if op in _COPIES:
        return source(event.arg(_COPIES[op]), index)
    if op == "copy_":
        given = event.arg("src")
        return source(given, broadcast(given.shape, index)) if isinstance(given, Region) else None
    if op == "cat":
        return _from_cat(event, index, source)
    if op == "stack":
        axis = int(event.arg("dim") or 0) % len(out.shape)
        return source(event.arg("tensors")[index[axis]], (*index[:axis], *index[axis + 1 :]))
    if op.removesuffix("_") in _MOVES:
        return _moved(explainer.moves(event), index, source)
    return None


def _same(explainer: Explainer, before: Element, after: Element) -> bool:
    """Whether a conversion left the value as it was."""
    if before.region.dtype == after.region.dtype:
        return True
    was, now = explainer.history.values([before, after])
    return was == now or (math.isnan(was) and math.isnan(now))


def apply(work: Derivation, element: Element, index: Index, value: float) -> RuleResult:
    """Explain an element, which is at `index` of a result of the event."""
    source = _origin(work.explainer, work.event, element)
    if source is None:
        return _wrapped(work, find(work.event.op)(work, index, value), element.region.dtype, value)
    if _same(work.explainer, source, element):
        return make("copy", source=source)
    cell, dtype = work.of(work.explainer.through(source)), element.region.dtype
    if dtype == torch.bool:
        return make("convert", f.Op("!=", (cell, ZERO)))
    if not dtype.is_floating_point:
        if source.region.dtype.is_floating_point:
            whole = make("convert", f.call("trunc", cell), "Cut off to a whole number.")
        else:
            whole = make("convert", cell)
        return _wrapped(work, whole, dtype, value)
    return make("convert", cell, f"Rounded to {str(dtype).removeprefix('torch.')}.")


_NARROW = (torch.uint8, torch.int8, torch.int16, torch.int32)


def _wrapped(work: Derivation, made: RuleResult, dtype: torch.dtype, value: float) -> RuleResult:
    """With whole numbers of few bits: what does not fit starts again at the other end (two's complement)."""
    if made.formula is None or dtype not in _NARROW:
        return made
    info = torch.iinfo(dtype)
    values = work.explainer.history.values(work.elements)
    result = f.evaluate(made.formula, values)
    if not math.isfinite(result) or info.min <= result <= info.max:
        return made
    least, count = f.Number(float(info.min)), f.Number(float(info.max - info.min + 1))
    shifted = f.Op("-", (made.formula, least)) if info.min else made.formula
    formula: f.Formula = f.Op("%", (shifted, count))
    formula = f.add(formula, least) if info.min else formula
    if f.evaluate(formula, values) == value:
        made.formula = formula
        name = str(dtype).removeprefix("torch.")
        made.notes.append(
            f"The type {name} holds {info.min} to {info.max}; what is beyond starts again at the other end."
        )
    return made


def _from_cat(event: Event, index: Index, source: Callable[[Any, Index], Element | None]) -> Element | None:
    parts = [item for item in event.arg("tensors") if isinstance(item, Region) and item.shape != (0,)]
    axis = int(event.arg("dim") or 0) % len(index)
    place = index[axis]
    for part in parts:
        if place < part.shape[axis]:
            return source(part, (*index[:axis], place, *index[axis + 1 :]))
        place -= part.shape[axis]
    return None


def moves(explainer: Explainer, event: Event) -> Moves | None:
    """Do to the places of elements what an operation did to the elements. None if that cannot be known."""
    names = _MOVES[event.op.removesuffix("_")]
    # `scatter` and the like take a number instead of a second tensor, too.
    regions = tuple(event.arg(name) for name in names if name == names[0] or name in event.info.names)
    if not all(isinstance(region, Region) for region in regions) or event.arg("accumulate"):
        return None
    rank = max(len(region.shape) for region in regions)
    if event.outs[0].size * max(rank, 1) > MOST_MOVED:
        return None
    axes = []
    for axis in range(max(rank, 1)):
        # Broadcast from one axis, they take no memory, however large the tensor.
        signs = zip(names, regions, (1, -1), strict=False)
        stand_ins: dict[str, Any] = {name: _coordinates(region, axis, sign) for name, region, sign in signs}
        axes.append(_replay(explainer, event, {"value": 0, **stand_ins}))
    return axes, regions


def _coordinates(region: Region, axis: int, sign: int) -> torch.Tensor:
    """For each element of a region its place on an axis, from 1; 1 for axes that it does not have."""
    if axis >= len(region.shape):
        return torch.full((), sign).expand(region.shape)
    length = region.shape[axis]
    row = torch.arange(1, length + 1) * sign
    return row.reshape(length, *[1] * (len(region.shape) - axis - 1)).expand(region.shape)


def _replay(explainer: Explainer, event: Event, stand_ins: dict[str, Any]) -> torch.Tensor:
    """Run an operation again with other tensors for some of its arguments."""

    def plain(value: Any) -> Any:
        if isinstance(value, Region):
            return explainer.history.tensor(value, event.time)
        return [plain(item) for item in value] if isinstance(value, list) else value

    def stand_in(name: str, value: Any) -> Any:
        given = stand_ins.get(name)
        if given is None:
            return plain(value)
        # What is written to cannot be broadcast.
        return given.clone() if event.info.written and name == "self" else given

    at = {place: name for name, place in event.info.names.items()}
    args = [stand_in(at.get(place, ""), value) for place, value in enumerate(event.args)]
    kwargs = {name: stand_in(name, value) for name, value in event.kwargs.items() if name != "out"}
    out: torch.Tensor = event.info.func(*args, **kwargs)
    return out


def _moved(found: Moves | None, index: Index, source: Callable[[Any, Index], Element | None]) -> Element | None:
    """The element that arrives at an index."""
    if found is None or found[0][0].dim() != len(index):
        return None
    axes, regions = found
    places = [int(axis[index].item()) for axis in axes]
    if 0 in places:
        return None
    region = regions[places[0] < 0]
    return source(region, tuple(abs(place) - 1 for place in places[: len(region.shape)]))


@rule(*_MOVES)
def _put(work: Derivation, index: Index, value: float) -> RuleResult:
    """What a rearrangement did not take from anywhere."""
    if work.event.arg("accumulate"):
        return _added(work, index, value)
    if work.explainer.moves(work.event) is None:
        return unknown(work, index, value)
    return make("constant", None, f"Set to {short(value)} here.")


# Added up where they arrive ----------------------------------------------------------------------------------------


def _destinations(work: Derivation) -> tuple[Region, torch.Tensor]:
    """The numbers that are added to some elements, and to which: their place when all elements are in one row."""
    event, out = work.event, work.event.outs[0]
    places = torch.arange(out.size).reshape(out.shape)

    def given(name: str) -> Any:
        found = event.arg(name)
        items = [
            work.explainer.history.tensor(item, event.time) if isinstance(item, Region) else None
            for item in (found if isinstance(found, list) else [found])
        ]
        return items if isinstance(found, list) else items[0]

    if "index_put" in event.op:
        return region(work, "values"), torch.ops.aten.index.Tensor(places, given("indices"))
    if event.op.startswith("index_add"):
        return region(work, "source"), places.index_select(event.arg("dim"), given("index").reshape(-1))
    return region(work, "src"), places.gather(event.arg("dim"), given("index"))


@rule("index_add", "scatter_add")
def _added(work: Derivation, index: Index, value: float) -> RuleResult:
    """Several numbers may be added to one element: `torch.Tensor.index_add_`, `scatter_add_`, `index_put_`."""
    out = work.event.outs[0]
    if out.size * max(len(out.shape), 1) > MOST_MOVED:
        return unknown(work, index, value)
    source, destinations = _destinations(work)
    # The one place of this element in a row of all.
    mine = 0
    for place, size in zip(index, out.shape, strict=True):
        mine = mine * size + place
    arrived = (destinations == mine).nonzero().tolist()
    if len(arrived) > MOST_TERMS:
        return too_many(work, len(arrived))
    # `scatter_add` may use only a part of its source: that begins where the source does.
    terms = [work.cell(source, broadcast(source.shape, tuple(place))) for place in arrived]
    alpha = work.event.arg("alpha")
    if alpha not in (None, 1):
        terms = [f.multiply(work.number(alpha), term) for term in terms]
    return make("add", f.add(work.operand("self", index), *terms))


@rule("embedding_dense_backward")
def _embedding_backward(work: Derivation, index: Index, value: float) -> RuleResult:
    """A row of the table gets the gradients of all places that looked it up: `nn.Embedding`."""
    indices, (row, *rest) = region(work, "indices"), index
    looked_up = work.explainer.history.tensor(indices, work.event.time)
    places = (looked_up == row).nonzero().tolist()
    if row == work.event.arg("padding_idx") or not places:
        return make("embedding backward", None, f"0: nothing that counts looked up row {row}.")
    if len(places) > MOST_TERMS:
        return too_many(work, len(places))
    gradient = region(work, "grad_output")
    added = f.add(*(work.cell(gradient, (*place, *rest)) for place in places))
    if work.event.arg("scale_grad_by_freq"):
        added = f.Op("/", (added, f.Number(float(len(places)))))
    return make("embedding backward", added, f"The sum over the {len(places)} places that looked up row {row}.")
