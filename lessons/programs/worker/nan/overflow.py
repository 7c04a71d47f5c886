"""Numbers that are too large for their type: what cures one, tried on the recorded numbers, and where it became large.

That is mostly far away from the operation that made it infinite.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import torch

from attn_tutor.lessons.programs.worker.nan import tried_in_place
from attn_tutor.lessons.programs.worker.nan.ways_back import Link
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.recording.element_history import Element, ValueLost
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/nonfinite-cures")

HALF = (torch.float16, torch.bfloat16)

LARGE_TENSOR = 1 << 22
"""Elements of the operands of an operation up to which it is computed again in a wider type."""

ROUNDS = 6
"""Earlier times that a piece of code ran of which it is looked at what it made."""

GROWTH = 100
"""By what factor numbers have grown in these that are said to grow."""

SOON = 64
"""Operations after another one among which those that read its result are looked for."""

_PASSING = ("masked_fill", "mul", "where", "index", "index_select", "gather", "clone", "div")

_WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float64}


def of_overflow(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    """Yield what helps against a number that is too large for its type, a sentence each."""
    dtype = first.element.region.dtype
    told = list(of_form(run, first, event))
    yield from told
    sizes = growth(run, event)
    if sizes:
        yield say(
            "grows",
            "Each time that this code ran, its largest number was larger: {numbers}. Look for what makes it grow: "
            "steps that are too long (try a smaller learning rate), or a state that is multiplied again and again "
            "(keep its factors at or below 1, or normalize it).",
            numbers=", ".join(f"{size:.3g}" for size in sizes),
        )  # fmt: skip
        if dtype not in HALF:
            return
    if event.op.strip("_") == "exp" and not told:
        yield _clamped(run, first)
    scaled = _scaled_product(run, first, event)
    if scaled is not None:
        length, smaller = scaled
        yield say(
            "scale-queries",
            "If these are the scores of attention: with queries that were divided by {length} ** 0.5 before the "
            "product, it is {value:.6g}.",
            length=length, value=smaller,
        )  # fmt: skip
    value, wider = in_wider_type(run, first, event), _WIDER.get(dtype)
    if value is None and dtype in HALF:
        value, wider = _in_type(run, first, event, torch.float64), torch.float64
    if value is None or wider is None or not math.isfinite(value):
        if not told and scaled is None and event.op.strip("_") != "exp":
            yield say(
                "far-too-large",
                "Numbers of that size are seldom meant: look at how the operands came to be so large.",
            )
        return
    if dtype in HALF and wider != torch.float64:
        if event.node is None and not _goes_on_wider(run, event, wider):
            # In the next lines, the wider type would meet one that it cannot be computed with.
            return
        yield say(
            "compute-wider",
            "Computed in {wider}, it is {value:.6g}. {dtype} ends at {largest:.6g}: convert with .float() before this "
            "operation.",
            wider=_name(wider), value=value, dtype=_name(dtype), largest=torch.finfo(dtype).max,
        )  # fmt: skip
    elif event.op.strip("_") != "exp" or (wider == torch.float64 and dtype in HALF):
        yield say(
            "much-too-large",
            "Computed in {wider}, it is {value:.6g}. Numbers of that size are seldom meant: look at how the operands "
            "came to be so large.",
            wider=_name(wider), value=value,
        )  # fmt: skip


def growth(run: Explainer, event: Event) -> list[float]:
    """Return the largest numbers that the same code made lately, if they grew until one was too large, else nothing."""
    if event.node is not None:
        return []
    before = [other for other in run.names.repetitions(event) if other.time < event.time and other.op == event.op]
    sizes: list[float] = []
    for other in before[-ROUNDS:]:
        try:
            made = run.history.tensor(other.outs[0], other.time + 1, copy=False)
        except ValueLost:
            continue
        if made.is_floating_point() and made.numel():
            sizes.append(float(made.abs().max()))
    grows = len(sizes) > 1 and all(one < other for one, other in itertools.pairwise(sizes))
    return sizes if grows and math.isfinite(sizes[-1]) and sizes[-1] > GROWTH * sizes[0] else []


def of_form(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    """Yield in what other form the same is computed without a number that is too large."""
    if event.op.strip("_") != "exp":
        return
    operand = _exponent(run, first)
    reading = _reading(run, event)
    readers = {item.op.strip("_") for item in reading}
    sums = [item for item in reading if item.op == "sum"]
    if any(item.op.strip("_") == "log" for summed in sums for item in _reading(run, summed)):
        yield say(
            "logarithm-of-exponentials",
            "The logarithm of a sum of exponentials stays finite with torch.logsumexp(x, dim), which subtracts the "
            "largest x first; log(exp(x) / sum) is x - torch.logsumexp(x, dim), as in torch.log_softmax.",
        )  # fmt: skip
    elif sums:
        yield say(
            "subtract-largest",
            "Subtracting the largest number of the row before exp leaves a softmax as it is, and keeps every "
            "exponential at or below 1: exp({largest:.6g} - {largest:.6g}) is 1. torch.softmax does so itself.",
            largest=operand,
        )  # fmt: skip
    elif "log1p" in readers:
        yield say(
            "softplus",
            "torch.nn.functional.softplus computes log(1 + exp(x)) without the exponential of a large number: it gives "
            "{value:.6g} here.",
            value=float(torch.nn.functional.softplus(torch.tensor(operand, dtype=torch.float64))),
        )  # fmt: skip


def _exponent(run: Explainer, first: Link) -> float:
    return max(run.history.values(first.derived.operands), default=0.0)


def _clamped(run: Explainer, first: Link) -> str:
    limit = math.log(torch.finfo(first.element.region.dtype).max)
    return say(
        "clamp-exponent",
        "In {dtype}, exp is finite up to {limit:.4g}. x.clamp(max={below:.0f}).exp() stays below that; look "
        "also at how its operand came to be {operand:.6g}.",
        dtype=_name(first.element.region.dtype), limit=limit, below=math.floor(limit) - 1,
        operand=_exponent(run, first),
    )  # fmt: skip


def in_wider_type(run: Explainer, first: Link, event: Event) -> float | None:
    """Return what a number is if its operation is computed in a wider type; None if it is not finite there either."""
    wider = _WIDER.get(first.element.region.dtype)
    value = None if wider is None else _in_type(run, first, event, wider)
    return value if value is not None and math.isfinite(value) else None


def _scaled_product(run: Explainer, first: Link, event: Event) -> tuple[int, float] | None:
    """Return the length of the vectors of a product that overflowed, and what it is if one was divided by its root."""
    names = {"mm": ("self", "mat2"), "bmm": ("self", "mat2")}.get(event.op)
    dtype = first.element.region.dtype
    if (
        names is None
        or event.node is not None
        or dtype not in HALF
        or sum(region.size for region in event.operands()) > LARGE_TENSOR
    ):
        return None
    one, other = (run.history.tensor(event.arg(name), event.time).double() for name in names)
    found = event.index_of(first.element.storage, first.element.offset, first.element.size)
    length = one.shape[-1]
    value = None if found is None else float((one @ other)[found[1]]) / length**0.5
    return None if value is None or abs(value) > torch.finfo(dtype).max else (length, value)


def _reading(run: Explainer, event: Event) -> list[Event]:
    """List the operations of a forward pass that read what an operation has written, soon after it.

    What only masks or selects its numbers, or divides them, passes them on.
    """
    events = run.record.events
    start = events.after(event.time + 1)
    memories = [region.memory for region in event.outs]
    found: list[Event] = []
    for position in range(start, min(start + SOON, len(events))):
        if events.node(position) is None and any(memory in memories for memory in events.flow(position)[1]):
            found.append(events[position])
            if found[-1].op.strip("_") in _PASSING:
                memories += [region.memory for region in found[-1].outs]
    return found


def _in_type(run: Explainer, first: Link, event: Event, dtype: torch.dtype) -> float | None:
    """Compute an operation again in another type; return the number at the same index, None if that cannot be done."""
    if sum(region.size for region in event.operands()) > LARGE_TENSOR:
        return None
    formula = first.derived.result.formula
    if event.info.written and formula is not None:
        value = f.evaluate(formula, run.history.values(first.derived.operands))
        return value if abs(value) <= torch.finfo(dtype).max else math.inf

    out = _computed_in(run, event, dtype)
    found = event.index_of(first.element.storage, first.element.offset, first.element.size)
    outs = out if isinstance(out, list | tuple) else (out,)
    return None if found is None else float(outs[found[0]][found[1]])


def _computed_in(run: Explainer, event: Event, dtype: torch.dtype) -> Any:
    """Compute an operation again in another type."""

    def wide(region: Region) -> torch.Tensor:
        tensor = run.history.tensor(region, event.time)
        return tensor.to(dtype) if tensor.is_floating_point() else tensor

    args, kwargs = event.arguments(wide, {"dtype": dtype})
    return event.info.func(*args, **kwargs)


def _goes_on_wider(run: Explainer, event: Event, dtype: torch.dtype) -> bool:
    """Return whether what follows an operation can be computed if that is computed in a wider type."""
    if sum(region.size for region in event.operands()) > LARGE_TENSOR:
        return False
    out = _computed_in(run, event, dtype)
    return isinstance(out, torch.Tensor) and tried_in_place.goes_on(run, event, out)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


LARGE = 1e9
"""A magnitude that numbers of a training seldom have."""

JUMP = 1e5
"""By what factor an operation has to exceed its operands to be where a number became large."""

LONGEST_WAY = 200
"""Operations that are followed back."""


def sudden_growth(run: Explainer, first: Link) -> Link | None:
    """Return the number that an operation made large of ordinary ones, on the way back along the largest operands.

    None if there is none: the numbers grew little by little, or the operation that gave the first number has ordinary
    operands itself. Raises `ValueLost`.
    """
    if first.element.region.dtype in HALF:
        return None
    link = first
    for _ in range(LONGEST_WAY):
        operands = _operands(run, link)
        values = [abs(value) for value in run.history.values(operands)]
        largest = max(values, default=0.0)
        if not largest < float("inf"):
            return None
        if largest < LARGE:
            is_jump = link is not first and abs(link.value) >= LARGE and abs(link.value) > JUMP * largest
            return link if is_jump and link.derived.event is not None else None
        element = operands[values.index(largest)]
        link = Link(element, run.history.value(element), run.derive(element))
    return None


def _operands(run: Explainer, link: Link) -> list[Element]:
    """List the elements that a number was computed from, also those that a formula has as plain numbers."""
    event = link.derived.event
    found = None if event is None else event.index_of(link.element.storage, link.element.offset, link.element.size)
    if event is None or found is None or not event.info.written:
        return link.derived.operands
    index = found[1]
    alike = [
        region for region in event.operands() if region.dtype.is_floating_point and len(region.shape) == len(index)
    ]
    beside = [Element.of(region, index, event.time) for region in alike if region.shape == event.outs[found[0]].shape]
    return [*link.derived.operands, *beside]
