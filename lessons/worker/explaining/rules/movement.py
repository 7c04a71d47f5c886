"""Rules for operations that copy or rearrange elements without computing anything."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.floats import exact_number
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.narrow_types import dtype_name, rounded_note
from attn_tutor.lessons.worker.explaining.recorded_run import Index, Movement, RecordedRun, RuleResult
from attn_tutor.lessons.worker.explaining.rules import complex_numbers, optimizers
from attn_tutor.lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ZERO,
    as_stored,
    cut_off,
    find,
    make,
    region,
    rule,
    set_here,
    stored,
    too_many,
    unknown,
    without_storage,
)
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import SNAPSHOT, Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/movement")

MOST_MOVED = 1 << 22
"""Elements of a result up to which a rearrangement is followed; a larger one is only named."""

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
    "_pack_padded_sequence": ("input",),
    "index_put": ("self", "values"),
    "_index_put_impl": ("self", "values"),
    "scatter": ("self", "src"),
    "index_copy": ("self", "source"),
    "masked_scatter": ("self", "source"),
    "slice_scatter": ("self", "src"),
    "select_scatter": ("self", "src"),
}
"""Operations that only move elements, with the argument or the two arguments that the elements come from."""

_ElementAt = Callable[[Any, Index], Element | None]
"""Returns the element at an index of an argument; None if the argument is not a tensor."""


def copied(run: RecordedRun, event: Event, element: Element) -> Element | None:
    """Return the element that an event copied unchanged to the given one; None if it did something else."""
    source = _origin(run, event, element)
    return source if source is not None and _is_unchanged(run, source, element) else None


def _origin(run: RecordedRun, event: Event, element: Element) -> Element | None:
    """Return the element that an event copied to the given one, with or without a conversion; else None."""
    found = event.index_of(element.storage, element.offset, element.size)
    if event.hand or found is None:
        return None
    (output, index), op = found, event.op
    out = event.outs[output]
    start = element.offset - out.at(index)

    def element_at(region: Any, index: Index, time: int = event.time) -> Element | None:
        if not isinstance(region, Region) or (start and region.dtype != out.dtype):
            return None
        source = Element.of(region, index, time)
        # The imaginary part of a complex number lies behind the real one.
        source = replace(source, offset=source.offset + start) if start else source
        return None if region.flips(source.offset) else source

    if event.info is SNAPSHOT:
        return element_at(event.args[0], index, event.args[1])
    if op in _COPIES:
        return element_at(event.arg(_COPIES[op]), index)
    if op == "copy_":
        copied_from = event.arg("src")
        return element_at(copied_from, broadcast(copied_from.shape, index)) if isinstance(copied_from, Region) else None
    if op == "cat":
        return _before_cat(event, index, element_at)
    if op == "stack":
        axis = int(event.arg("dim") or 0) % len(out.shape)
        return element_at(event.arg("tensors")[index[axis]], (*index[:axis], *index[axis + 1 :]))
    # Some return more than what they move.
    if op.removesuffix("_") in _MOVES and output == 0:
        return _before_movement(run.movement(event), index, element_at)
    return None


def _is_unchanged(run: RecordedRun, before: Element, after: Element) -> bool:
    """Return whether a conversion left the value as it was."""
    if before.region.dtype == after.region.dtype:
        return True
    old, new = run.history.values([before, after])
    return old == new or (math.isnan(old) and math.isnan(new))


def apply(derivation: Derivation, element: Element, index: Index, value: float) -> RuleResult:
    """Explain an element, which is at `index` in a result of the event, by the rule of its operation."""
    source = _origin(derivation.run, derivation.event, element)
    if source is None and complex_numbers.concerns(derivation.event):
        part = element.offset - derivation.event.outs[derivation.output].at(index)
        return complex_numbers.explain(derivation, index, int(part > 0))
    if source is None and derivation.event.opaque:
        return without_storage(derivation, index, value)
    if source is None:
        result = optimizers.explain_piece(derivation, index, value)
        result = result or find(derivation.event.op)(derivation, index, value)
        return _with_wraparound(derivation, result, element.region.dtype, value)
    if _is_unchanged(derivation.run, source, element):
        return make("copy", source=source)
    cell, dtype = derivation.operand_for(derivation.run.through(source)), element.region.dtype
    if dtype == torch.bool:
        return make("convert", f.Op("!=", (cell, ZERO)))
    if not dtype.is_floating_point:
        if source.region.dtype.is_floating_point:
            whole = make("convert", f.call("trunc", cell), cut_off())
        else:
            whole = make("convert", cell)
        return _with_wraparound(derivation, whole, dtype, value)
    name = dtype_name(dtype)
    # Written as a function, since what is copied on into a wider type has these digits only. An infinity has a note.
    formula = f.call(name, cell) if name in f.FUNCTIONS and math.isfinite(value) else cell
    return make("convert", formula, rounded_note(dtype))


_WRAPPING = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _with_wraparound(derivation: Derivation, result: RuleResult, dtype: torch.dtype, value: float) -> RuleResult:
    """Reduce the formula of an integer modulo its range if the result did not fit (two's complement)."""
    if result.formula is None or dtype not in _WRAPPING:
        return result
    info = torch.iinfo(dtype)
    values = derivation.run.history.values(derivation.elements)
    exact = f.evaluate(result.formula, values)
    if not math.isfinite(exact) or info.min <= exact <= info.max:
        return result
    least, count = f.Number(exact_number(info.min)), f.Number(exact_number(info.max - info.min + 1))
    shifted = f.Op("-", (result.formula, least)) if info.min else result.formula
    formula: f.Formula = f.Op("%", (shifted, count))
    formula = f.add(formula, least) if info.min else formula
    if f.evaluate(formula, values) == value:
        result.formula = formula
        name = str(dtype).removeprefix("torch.")
        result.notes.append(
            say(
                "wraps-around",
                "The type {dtype} holds {least} to {most}; what is beyond starts again at the other end.",
                dtype=name,
                least=info.min,
                most=info.max,
            )
        )
    return result


@rule(*_COPIES, "copy")
def _flipped(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a copy of a tensor that PyTorch only marked as negative."""
    name = "src" if derivation.event.op.startswith("copy") else _COPIES[derivation.event.op]
    return make("neg", f.Op("neg", (derivation.operand(name, index),)))


def _before_cat(event: Event, index: Index, element_at: _ElementAt) -> Element | None:
    """Return the element that `torch.cat` put at an index."""
    parts = [item for item in event.arg("tensors") if isinstance(item, Region) and item.shape != (0,)]
    axis = int(event.arg("dim") or 0) % len(index)
    position = index[axis]
    for part in parts:
        if position < part.shape[axis]:
            return element_at(part, (*index[:axis], position, *index[axis + 1 :]))
        position -= part.shape[axis]
    return None


def movement_of(run: RecordedRun, event: Event) -> Movement | None:
    """Find where a rearrangement takes its elements from; None if that cannot be known.

    The operation runs again on tensors that hold the indices of their own elements.
    """
    names = _MOVES[event.op.removesuffix("_")]
    # `scatter` and similar operations also accept a number instead of a second tensor.
    regions = tuple(event.arg(name) for name in names if name == names[0] or name in event.info.names)
    if not all(isinstance(region, Region) for region in regions) or event.arg("accumulate"):
        return None
    rank = max(len(region.shape) for region in regions)
    if event.outs[0].size * max(rank, 1) > MOST_MOVED:
        return None
    axes = []
    for axis in range(max(rank, 1)):
        # The indices are broadcast from one axis, so they take no memory, however large the tensor.
        signs = zip(names, regions, (1, -1), strict=False)
        stand_ins: dict[str, Any] = {name: _indices_along(region, axis, sign) for name, region, sign in signs}
        nowhere = torch.zeros((), dtype=torch.int64) if isinstance(event.arg("value"), Region) else 0
        axes.append(_replay(run, event, {"value": nowhere, **stand_ins}))
    return Movement(axes, regions)


def _indices_along(region: Region, axis: int, sign: int) -> torch.Tensor:
    """Return the index of each element of a region on an axis, from 1; 1 for an axis that the region does not have."""
    if axis >= len(region.shape):
        return torch.full((), sign).expand(region.shape)
    length = region.shape[axis]
    row = torch.arange(1, length + 1) * sign
    return row.reshape(length, *[1] * (len(region.shape) - axis - 1)).expand(region.shape)


def _replay(run: RecordedRun, event: Event, stand_ins: dict[str, Any]) -> torch.Tensor:
    """Run an operation again with other tensors for some of its arguments."""
    if event.info.written and "self" in stand_ins:
        # What is written to cannot be broadcast.
        stand_ins = {**stand_ins, "self": stand_ins["self"].clone()}
    args, kwargs = event.arguments(lambda region: run.history.tensor(region, event.time), {"out": None, **stand_ins})
    kwargs.pop("out", None)
    out = event.info.func(*args, **kwargs)
    moved: torch.Tensor = out[0] if isinstance(out, list | tuple) else out
    return moved


def _before_movement(movement: Movement | None, index: Index, element_at: _ElementAt) -> Element | None:
    """Return the element that a rearrangement moved to an index; None if it came from nowhere."""
    if movement is None or movement.axes[0].dim() != len(index):
        return None
    signed = [int(axis[index].item()) for axis in movement.axes]
    if 0 in signed:
        return None
    region = movement.sources[signed[0] < 0]
    return element_at(region, tuple(abs(number) - 1 for number in signed[: len(region.shape)]))


@rule(*_MOVES)
def _set_by_movement(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain an element that a rearrangement did not take from anywhere."""
    if derivation.event.arg("accumulate"):
        return _scatter_add(derivation, index, value)
    if derivation.run.movement(derivation.event) is None:
        return unknown(derivation, index, value)
    given = derivation.event.arg("value")
    if isinstance(given, Region) and not given.shape:
        return make("fill", stored(derivation.cell(given, ()), derivation.event.outs[derivation.output].dtype))
    dtype = derivation.event.outs[derivation.output].dtype
    if isinstance(given, Region):
        # A tensor of one element may stand for a number; it is none of the sources.
        return make("constant", f.Number(value), set_here(value))
    number = stored(f.Number(float(given) if isinstance(given, bool | int | float) else 0.0), dtype)
    return make("constant", number, set_here(f.evaluate(number, [])), *as_stored(number, dtype))


# Movements that add -------------------------------------------------------------------------------------------------


def _destinations(derivation: Derivation) -> tuple[Region, torch.Tensor]:
    """Return the numbers that are added to elements, and the flat index of the element that each is added to."""
    event, out = derivation.event, derivation.event.outs[0]
    flat = torch.arange(out.size).reshape(out.shape)

    def tensor(name: str) -> Any:
        argument = event.arg(name)
        items = [
            derivation.run.history.tensor(item, event.time) if isinstance(item, Region) else None
            for item in (argument if isinstance(argument, list) else [argument])
        ]
        return items if isinstance(argument, list) else items[0]

    if "index_put" in event.op:
        return region(derivation, "values"), torch.ops.aten.index.Tensor(flat, tensor("indices"))
    if event.op.startswith("index_add"):
        return region(derivation, "source"), flat.index_select(event.arg("dim"), tensor("index").reshape(-1))
    return region(derivation, "src"), flat.gather(event.arg("dim"), tensor("index"))


@rule("index_add", "scatter_add")
def _scatter_add(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain an element that several numbers may be added to: `Tensor.index_add_`, `scatter_add_`, `index_put_`."""
    out = derivation.event.outs[0]
    if out.size * max(len(out.shape), 1) > MOST_MOVED:
        return unknown(derivation, index, value)
    source, destinations = _destinations(derivation)
    flat_index = 0
    for position, size in zip(index, out.shape, strict=True):
        flat_index = flat_index * size + position
    arriving = (destinations == flat_index).nonzero().tolist()
    if len(arriving) > MOST_TERMS:
        return too_many(derivation, len(arriving))
    # `scatter_add` may use only a part of its source, which then starts at index 0 of every axis.
    terms = [derivation.cell(source, broadcast(source.shape, tuple(item))) for item in arriving]
    alpha = derivation.event.arg("alpha")
    if alpha not in (None, 1):
        terms = [f.multiply(derivation.number(alpha), term) for term in terms]
    return make("add", f.add(derivation.operand("self", index), *terms))


_JOINS: dict[str, Callable[..., f.Formula]] = {
    "sum": f.add,
    "mean": f.add,
    "prod": f.multiply,
    "amax": lambda *cells: f.call("max", *cells),
    "amin": lambda *cells: f.call("min", *cells),
}


@rule("scatter_reduce", "index_reduce")
def _scatter_reduce(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain an element that several numbers are joined to by a sum, product, mean or extreme."""
    event, out = derivation.event, derivation.event.outs[0]
    if out.size * max(len(out.shape), 1) > MOST_MOVED:
        return unknown(derivation, index, value)
    flat = torch.arange(out.size).reshape(out.shape)
    places = derivation.run.history.tensor(region(derivation, "index"), event.time)
    if event.op.startswith("index"):
        source, destinations = region(derivation, "source"), flat.index_select(event.arg("dim"), places.reshape(-1))
    else:
        source, destinations = region(derivation, "src"), flat.gather(event.arg("dim"), places)
    arriving = (destinations == int(flat[index])).nonzero().tolist()
    if len(arriving) > MOST_TERMS:
        return too_many(derivation, len(arriving))
    cells = [derivation.cell(source, tuple(at)) for at in arriving]
    if event.arg("include_self") or not cells:
        cells.insert(0, derivation.operand("self", index))
    joined = _JOINS[event.arg("reduce")](*cells)
    if event.arg("reduce") == "mean" and len(cells) > 1:
        joined = f.Op("/" if out.dtype.is_floating_point else "//", (joined, f.Number(float(len(cells)))))
    note = say.count(
        "arriving",
        len(arriving),
        "Of {count} number that arrives here.",
        "Of {count} numbers that arrive here.",
    )
    return make(f"scatter_{event.arg('reduce')}", joined, note)


@rule("embedding_dense_backward")
def _embedding_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Add up the gradients of all positions of the input that looked up a row of the table: `nn.Embedding`."""
    indices, (row, *rest) = region(derivation, "indices"), index
    looked_up = derivation.run.history.tensor(indices, derivation.event.time)
    positions = (looked_up == row).nonzero().tolist()
    if row == derivation.event.arg("padding_idx") or not positions:
        note = say("not-looked-up", "0: nothing that counts looked up row {row}.", row=row)
        return make("embedding_backward", ZERO, note)
    if len(positions) > MOST_TERMS:
        return too_many(derivation, len(positions))
    gradient = region(derivation, "grad_output")
    added = f.add(*(derivation.cell(gradient, (*position, *rest)) for position in positions))
    if derivation.event.arg("scale_grad_by_freq"):
        added = f.Op("/", (added, f.Number(float(len(positions)))))
    note = say.count(
        "looked-up",
        len(positions),
        "The sum over the {count} place that looked up row {row}.",
        "The sum over the {count} places that looked up row {row}.",
        row=row,
    )
    return make("embedding_backward", added, note)
