"""What cures a number that is not finite; it was tried on the recorded numbers wherever that can be done."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from lessons.results import formula as f
from lessons.texts.wording import Wording
from lessons.worker.explaining.explainer import Explainer
from lessons.worker.programs.nonfinite_chain import Link
from lessons.worker.recording.element_history import Element, ValueLost
from lessons.worker.recording.record import Event
from lessons.worker.recording.regions import Region

say = Wording("explaining/nonfinite-cures")

HALF = (torch.float16, torch.bfloat16)
LARGE_TENSOR = 1 << 22
"""Elements of the operands of an operation up to which it is computed again in a wider type."""

GROWTH = 1000
"""By what factor a loss has grown that is said to explode."""

_WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float64}


def cures(run: Explainer, first: Link, kind: str, losses: list[float]) -> list[str]:
    """Return what helps against the first number of a chain that is not finite, a sentence each."""
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        try:
            return list(_cures(run, first, kind, losses))
        except (ValueLost, RuntimeError, TypeError, ValueError, IndexError, OverflowError):
            # A cure that cannot be tried is none.
            return []


def _cures(run: Explainer, first: Link, kind: str, losses: list[float]) -> Iterator[str]:
    event = first.derived.event
    if kind in ("result-beyond", "exponential-beyond", "infinities") and explodes(losses):
        finite = [loss for loss in losses if math.isfinite(loss)]
        yield say(
            "explodes",
            "Before, the loss grew from {least:.4g} to {last:.4g}: each step goes too far. A smaller learning rate, or "
            "torch.nn.utils.clip_grad_norm_ before the step, makes the steps shorter.",
            least=min(abs(loss) for loss in finite), last=finite[-1],
        )  # fmt: skip
    if event is None:
        if kind == "from-data":
            yield from _of_data()
        return
    if event.node is not None:
        yield from _of_derivative(run, first, event, kind)
        return
    cure = _BY_KIND.get(kind)
    if cure is not None:
        yield from cure(run, first, event)


def explodes(losses: list[float]) -> bool:
    """Return whether the losses of a training have grown again and again until they ceased to be finite."""
    sizes = [abs(loss) for loss in losses if math.isfinite(loss)]
    return len(sizes) > 2 and sizes[-1] > GROWTH * max(min(sizes), 1e-30) and sizes[-1] == max(sizes)


# Numbers of the forward pass ----------------------------------------------------------------------------------------


def _of_logarithm_of_0(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    operand = event.arg("self")
    maker = _maker(run, operand, event.time)
    if maker is not None and maker.op == "_softmax":
        logits = maker.arg("self")
        again = torch.log_softmax(run.history.tensor(logits, maker.time).double(), int(maker.arg("dim")))
        value = _at(again, operand, event, first)
        if value is not None and math.isfinite(value):
            yield say(
                "log-softmax",
                "The probability is too small for its type, but its logarithm is not: torch.log_softmax in place of "
                "softmax and log gives {value:.6g} here. cross_entropy does the same, and takes the scores themselves.",
                value=value,
            )  # fmt: skip
            return
    if maker is not None and maker.op == "sigmoid":
        again = torch.nn.functional.logsigmoid(run.history.tensor(maker.arg("self"), maker.time).double())
        value = _at(again, operand, event, first)
        if value is not None and math.isfinite(value):
            yield say(
                "log-sigmoid",
                "torch.nn.functional.logsigmoid in place of sigmoid and log gives {value:.6g} here. "
                "binary_cross_entropy_with_logits does the same, and takes the scores themselves.",
                value=value,
            )  # fmt: skip
            return
    if event.op == "log":
        yield say(
            "clamp-log",
            "x.clamp(min=1e-12).log() stays finite: {value:.4g} at the least. For p * log(p), where 0 should count as "
            "0, torch.xlogy(p, p) does.",
            value=math.log(1e-12),
        )  # fmt: skip
    else:
        yield say("keep-away", "The operand has to be kept away from the edge where the logarithm ends.")


def _of_negative(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    if event.op.strip("_") in ("sqrt", "rsqrt"):
        values = run.history.values(first.derived.operands)
        if -1e-2 < values[0] < 0 or _is_difference(run, event):
            yield say(
                "clamp-root",
                "If rounding made it negative, x.clamp(min=0) before the root gives 0 here. For a variance, "
                "torch.var does not subtract two large numbers, and never comes out negative.",
            )  # fmt: skip
            return
    yield say("look-at-operand", "Look at how the operand was computed: it should not have come out negative.")


def _is_difference(run: Explainer, event: Event) -> bool:
    maker = _maker(run, event.arg("self"), event.time)
    return maker is not None and maker.op.strip("_") == "sub"


def _of_division(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    step = run.optimizers.step_at(event.time)
    if step is not None:
        if any(settings.get("eps") == 0 for settings in step.settings.values()):
            yield say(
                "adam-eps",
                "{optimizer} divides by the root of a mean of squared gradients, which is 0 where the gradient always "
                "was 0. Its eps, 1e-08 by default, was set to 0 here: with it, 0 / 1e-08 is 0.",
                optimizer=step.kind.__name__,
            )  # fmt: skip
        return
    values = run.history.values(first.derived.operands)
    maker = _maker(run, event.arg("other"), event.time)
    if maker is not None and _is_norm(run, maker):
        yield say(
            "normalize",
            "torch.nn.functional.normalize divides by the norm, or by 1e-12 where that is less: it gives 0 here. "
            "cosine_similarity does the same for a product of norms.",
        )  # fmt: skip
    elif maker is not None and maker.op.strip("_") in ("sum", "count_nonzero"):
        yield say(
            "clamp-count",
            "The sum that it was divided by counts nothing here. Divided by count.clamp(min=1), it is {value:.6g}.",
            value=values[0],
        )  # fmt: skip
    else:
        yield say(
            "clamp-divisor",
            "A small number in the divisor keeps it from being 0: x / (y + 1e-8) is {value:.6g} here.",
            value=values[0] / 1e-8,
        )  # fmt: skip


def _is_norm(run: Explainer, maker: Event) -> bool:
    """Return whether an operation computed a norm, the product of two, or the root of a sum."""
    if maker.op in ("linalg_vector_norm", "norm"):
        return True
    if maker.op.strip("_") == "sqrt":
        inner = _maker(run, maker.arg("self"), maker.time)
        return inner is not None and inner.op == "sum"
    if maker.op == "mul":
        parts = [_maker(run, maker.arg(name), maker.time) for name in ("self", "other")]
        return any(part is not None and part.op in ("linalg_vector_norm", "norm") for part in parts)
    return False


def _of_overflow(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    dtype = first.element.region.dtype
    wider = _WIDER.get(dtype)
    if event.op.strip("_") == "exp":
        largest = max(run.history.values(first.derived.operands), default=0.0)
        yield say(
            "subtract-largest",
            "Subtracting the largest number of the row before exp leaves a softmax as it is, and keeps every "
            "exponential at or below 1: exp({largest:.6g} - {largest:.6g}) is 1. torch.softmax does so itself.",
            largest=largest,
        )  # fmt: skip
    value = None if wider is None else _in_type(run, first, event, wider)
    if value is None or wider is None or not math.isfinite(value):
        return
    if dtype in HALF:
        yield say(
            "compute-wider",
            "Computed in {wider}, it is {value:.6g}. {dtype} ends at {largest:.6g}: convert with .float() before this "
            "operation, or scale its operands down.",
            wider=_name(wider), value=value, dtype=_name(dtype), largest=torch.finfo(dtype).max,
        )  # fmt: skip
    elif event.op.strip("_") != "exp":
        yield say(
            "much-too-large",
            "Computed in {wider}, it is {value:.6g}. Numbers of that size are seldom meant: look at how the operands "
            "came to be so large.",
            wider=_name(wider), value=value,
        )  # fmt: skip


def _in_type(run: Explainer, first: Link, event: Event, dtype: torch.dtype) -> float | None:
    """Compute an operation again in another type; return the number at the same index, None if that cannot be done."""
    if sum(region.size for region in event.operands()) > LARGE_TENSOR:
        return None
    formula = first.derived.result.formula
    if event.info.written and formula is not None:
        value = f.evaluate(formula, run.history.values(first.derived.operands))
        return value if abs(value) <= torch.finfo(dtype).max else math.inf

    def wide(value: Any) -> Any:
        if isinstance(value, Region):
            tensor = run.history.tensor(value, event.time)
            return tensor.to(dtype) if tensor.is_floating_point() else tensor
        return [wide(item) for item in value] if isinstance(value, list) else value

    named = {key: wide(value) for key, value in event.kwargs.items() if key != "dtype"}
    out = event.info.func(*map(wide, event.args), **named, **({"dtype": dtype} if "dtype" in event.kwargs else {}))
    found = event.index_of(first.element.storage, first.element.offset, first.element.size)
    outs = out if isinstance(out, list | tuple) else (out,)
    return None if found is None else float(outs[found[0]][found[1]])


def _of_empty_row(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    yield say(
        "unmask-one",
        "Leave each query at least one key, or mask with torch.finfo(dtype).min in place of -inf: then a row without "
        "keys gets equal weights. scaled_dot_product_attention gives zeros for such a row.",
    )  # fmt: skip


def _of_zero_times(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    yield say(
        "choose-instead",
        "Multiplying by 0 does not remove an infinity. torch.where(keep, x, 0) chooses 0 in its place.",
    )


def _of_infinities(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    values = run.history.values(first.derived.operands)
    if event.op.strip("_") in ("sub", "add") and any(map(math.isinf, values)):
        yield say(
            "row-of-infinities",
            "If this subtracts the largest number of a row, then all of the row is -inf here. "
            "highest.masked_fill(highest.isinf(), 0) before subtracting leaves such a row at exp(-inf), which is 0.",
        )  # fmt: skip


def _of_too_few(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    tensor = event.arg("self")
    if event.op.startswith(("std", "var")) and isinstance(tensor, Region) and tensor.size:
        yield say(
            "correction",
            "One number has no spread to estimate: {operation}(correction=0) gives 0 here. Or take at least two.",
            operation=event.op.partition("_")[0],
        )  # fmt: skip
    else:
        yield say("nothing-selected", "Nothing was selected to take the mean of: look at that first, if x.numel() > 0.")


def _of_power(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    values = run.history.values(first.derived.operands)
    value = abs(values[0])
    yield say(
        "sign-times-power",
        "x.sign() * x.abs() ** y keeps the sign, if that is meant: the absolute value here is {value:.6g}.",
        value=value,
    )


def _of_uninitialized(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    yield say("zeros", "torch.zeros in place of torch.empty begins with zeros.")


def _of_data(*_: object) -> Iterator[str]:
    yield say(
        "clean-data",
        "Look at the data before they are used: x.isnan() tells where it has gaps. torch.nan_to_num fills them, and "
        "torch.nanmean leaves them out.",
    )


# Numbers of the backward pass ---------------------------------------------------------------------------------------


def _of_derivative(run: Explainer, first: Link, event: Event, kind: str) -> Iterator[str]:
    node = event.node.name if event.node is not None else ""
    maker = run.gradients.maker(event)
    if maker is not None and any(_is_chosen(run, out, maker.time) for out in maker.outs):
        yield say(
            "choose-before",
            "torch.where hides a number, but not its derivative: that is multiplied by 0, and 0 times infinity is not "
            "a number. Choose before computing: torch.where(ok, x, 1) as the operand keeps both finite.",
        )  # fmt: skip
        return
    if node.startswith("Sqrt") or (node.startswith("Pow") and kind in ("divided-by-0", "infinities")):
        yield say(
            "eps-under-root",
            "The slope of a root at 0 is infinite. With a small number under it, (x + 1e-12).sqrt(), the slope at 0 is "
            "{slope:.6g}.",
            slope=0.5 / math.sqrt(1e-12),
        )  # fmt: skip
    elif node.startswith("Log"):
        yield say(
            "eps-in-log",
            "The slope of a logarithm at 0 is infinite. x.clamp(min=1e-12).log() has the slope 0 there.",
        )
    elif node.startswith(("Acos", "Asin", "Atanh", "Acosh")):
        yield say(
            "inside-domain",
            "The slope is infinite at the edge of where the function is defined. x.clamp(-1 + 1e-6, 1 - 1e-6) as its "
            "operand has the slope 0 there.",
        )  # fmt: skip
    elif node.startswith("Atan2"):
        yield say("atan2", "The angle of a vector of length 0 has no derivative. Leave such vectors out before.")
    elif node.startswith(("Div", "Rsqrt", "Reciprocal")):
        yield say("eps-in-divisor", "A small number in the divisor, as in x / (y + 1e-8), keeps the slope finite.")
    elif first.element.region.dtype in HALF and kind in ("result-beyond", "exponential-beyond"):
        yield from _of_overflow(run, first, event)
        yield say(
            "loss-scale",
            "If the loss was multiplied to keep small gradients, a smaller factor keeps large ones: "
            "torch.amp.GradScaler skips such a step, and halves its factor.",
        )  # fmt: skip


def _is_chosen(run: Explainer, made: Region, time: int) -> bool:
    """Return whether `torch.where` later took a tensor as one of the two it chooses from."""
    events = run.record.events
    for position in range(events.after(time), len(events)):
        if events.info(position).op == "where":
            event = events[position]
            options = (event.arg("self"), event.arg("other"))
            if any(isinstance(item, Region) and item.storage == made.storage for item in options):
                return True
    return False


def _maker(run: Explainer, region: Any, time: int) -> Event | None:
    """Return the operation that computed a tensor; None if nothing recorded did."""
    if not isinstance(region, Region) or not region.size:
        return None
    element = run.through(Element.of(region, (0,) * len(region.shape), time))
    return run.history.writer(element)


def _at(again: torch.Tensor, operand: Region, event: Event, first: Link) -> float | None:
    """Return the number at the index of the first number, in a tensor that has the shape of the operand."""
    found = event.index_of(first.element.storage, first.element.offset, first.element.size)
    if found is None or tuple(again.shape) != operand.shape:
        return None
    return float(again[found[1]])


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


_BY_KIND: dict[str, Callable[[Explainer, Link, Event], Iterator[str]]] = {
    "logarithm-of-0": _of_logarithm_of_0,
    "logarithm-of-negative": _of_negative,
    "root-of-negative": _of_negative,
    "zero-by-zero": _of_division,
    "divided-by-0": _of_division,
    "exponential-beyond": _of_overflow,
    "result-beyond": _of_overflow,
    "nothing-left": _of_empty_row,
    "infinity-times-0": _of_zero_times,
    "infinities": _of_infinities,
    "too-few": _of_too_few,
    "power-of-negative": _of_power,
    "uninitialized": _of_uninitialized,
    "from-data": _of_data,
}
"""What helps in a forward pass, by the kind of the reason."""
