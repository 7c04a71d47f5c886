"""What cures a division by 0; it was tried on the recorded numbers wherever that can be done."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.nonfinite.nonfinite_chain import Link
from attn_tutor.lessons.worker.nonfinite.operand_makers import maker_of, number_at
from attn_tutor.lessons.worker.nonfinite.small_numbers import OF_DIVISORS, first_that_helps
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/nonfinite-cures")


def of_division(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    """Say what helps against a division by 0, or a power of it with a negative exponent."""
    step = run.optimizers.step_at(event.time)
    if step is not None:
        if any(settings.get("eps") == 0 for settings in step.settings.values()):
            eps = inspect.signature(step.kind).parameters["eps"].default
            yield say(
                "adam-eps",
                "{optimizer} divides by the root of a mean of squared gradients, which is 0 where the gradient always "
                "was 0. Its eps, {eps:.0e} by default, was set to 0 here: with it, 0 / {eps:.0e} is 0.",
                optimizer=step.kind.__name__, eps=eps,
            )  # fmt: skip
        return
    if event.op.strip("_") in ("pow", "rsqrt", "reciprocal"):
        yield from _of_negative_power(run, first, event)
        return
    if event.op == "_weight_norm_interface":
        yield say(
            "weight-norm",
            "weight_norm divides each row by its norm: begin with a weight that is not 0 before it is applied, and "
            "with g = 0, if the layer is to give 0 at first.",
        )  # fmt: skip
        return
    divisor = event.arg("other")
    maker = maker_of(run, divisor, event.time)
    if event.op.strip("_") == "div" and not isinstance(divisor, Region):
        yield say(
            "divisor-of-python",
            "This divisor is a number of Python. If it counts something, max(count, 1) keeps it above 0; in "
            "1 - beta ** step, the first step is 1.",
        )  # fmt: skip
        return
    if _is_power_of_0(run, maker):
        yield say("first-step", "In 1 - beta ** step, the first step is 1: to the power of 0, each number is 1.")
        return
    values = run.history.values(first.derived.operands)
    softmax = None if maker is None else _softmax_by_hand(run, maker, first, event)
    if softmax is not None:
        yield say(
            "softmax-by-hand",
            "Every exponential of the row is too small for its type. Subtracting the largest number of the row before "
            "exp leaves a softmax as it is, and makes the largest exponential 1; torch.softmax does so itself, and "
            "gives {value:.6g} here.",
            value=softmax,
        )  # fmt: skip
    elif maker is not None and _is_norm(run, maker) and first_that_helps(event, _divided(0.0), ("1e-12",)):
        yield say(
            "normalize",
            "torch.nn.functional.normalize divides by the norm, or by 1e-12 where that is less: it gives 0 here. "
            "cosine_similarity does the same for a product of norms.",
        )  # fmt: skip
    elif (
        maker is not None
        and maker.op.strip("_") == "sqrt"
        and (small := first_that_helps(event, _divided(values[0], 0.5)))
    ):
        yield say(
            "eps-under-divisor",
            "The slope of a root at 0 is infinite, so the small number belongs under it: x / (y + {eps}).sqrt() is "
            "{value:.6g} here, and its gradient is finite too.",
            eps=small[0], value=small[1],
        )  # fmt: skip
    elif not _is_sum_of(maker, event.arg("self")) and _is_count(run, maker, divisor, event.time):
        yield say(
            "clamp-count",
            "What it was divided by counts nothing here. Divided by count.clamp(min=1), it is {value:.6g}.",
            value=values[0],
        )  # fmt: skip
    elif maker is not None and maker.op.startswith(("std", "var")) and values[0]:
        yield say(
            "divisor-of-equals",
            "The numbers whose spread it was divided by are all equal. Leave them out, or take 1 as their spread: "
            "x / torch.where(y > 0, y, 1) is {value:.6g} here.",
            value=values[0],
        )  # fmt: skip
    elif not (small := first_that_helps(event, _divided(values[0]))):
        yield say("divisor", "Look at how the divisor came to be 0.")
    elif values[0]:
        yield say(
            "divisor-of-0",
            "Look at how the divisor came to be 0. A small number in it would keep the result finite, but large: "
            "x / (y + {eps}) is {value:.6g} here.",
            eps=small[0], value=small[1],
        )  # fmt: skip
    else:
        yield say(
            "clamp-divisor",
            "A small number in the divisor keeps it from being 0: x / (y + {eps}) is {value:.6g} here.",
            eps=small[0], value=small[1],
        )  # fmt: skip


def _divided(numerator: float, power: float = 1.0) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the function that divides a number by a power of a small number."""
    return lambda small: torch.tensor(numerator, dtype=small.dtype) / small**power


def _of_negative_power(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    if event.op.strip("_") == "rsqrt":
        if small := first_that_helps(event, _divided(1.0, 0.5), OF_DIVISORS[1:]):
            yield say(
                "eps-in-rsqrt",
                "A small number under the root keeps it from being 0: (x + {eps}).rsqrt() is {value:.6g} here.",
                eps=small[0], value=small[1],
            )  # fmt: skip
    elif event.op.strip("_") == "reciprocal" and _is_count(
        run, maker_of(run, event.arg("self"), event.time), event.arg("self"), event.time
    ):
        yield say(
            "count-in-reciprocal",
            "The sum counts nothing here. 1 / x.clamp(min=1) is 1 then; where(x > 0, 1 / x.clamp(min=1), 0) is 0.",
        )
    elif event.op.strip("_") == "reciprocal":
        if small := first_that_helps(event, _divided(1.0)):
            yield say(
                "eps-in-reciprocal",
                "A small number keeps it from being 0: 1 / (x + {eps}) is {value:.6g} here.",
                eps=small[0], value=small[1],
            )  # fmt: skip
    else:
        if _is_count(run, maker_of(run, event.arg("self"), event.time), event.arg("self"), event.time):
            yield say(
                "count-to-power",
                "The sum counts nothing here. x.clamp(min=1).pow(y) is 1 then; where(x > 0, x.clamp(min=1).pow(y), 0) "
                "is 0.",
            )  # fmt: skip
        elif isinstance(exponent := event.arg("exponent"), int | float) and (
            small := first_that_helps(event, _divided(1.0, -exponent))
        ):
            yield say("clamp-power", "x.clamp(min={eps}) before the power keeps it finite.", eps=small[0])


def _is_power_of_0(run: Explainer, maker: Event | None) -> bool:
    """Return whether an operation took a power with the exponent 0 from 1."""
    if maker is None or maker.op != "rsub":
        return False
    power = maker_of(run, maker.arg("self"), maker.time)
    return power is not None and power.op == "pow" and power.arg("exponent") == 0


def _is_sum_of(maker: Event | None, whole: Any) -> bool:
    """Return whether an operation has added up the tensor itself that is divided by the sum: then it counts nothing."""
    summed = maker.arg("self") if maker is not None and maker.op.strip("_") == "sum" else None
    return isinstance(summed, Region) and isinstance(whole, Region) and summed.storage == whole.storage


def _is_count(run: Explainer, maker: Event | None, counts: Any, time: int) -> bool:
    """Return whether a tensor holds sums that count something: whole numbers, so that none lies between 0 and 1."""
    if not isinstance(counts, Region):
        return False
    if not counts.parts.dtype.is_floating_point:
        return True
    if maker is None or maker.op.strip("_") not in ("sum", "count_nonzero"):
        return False
    counted = maker.arg("self")
    tensor = run.history.tensor(counted if isinstance(counted, Region) else counts, maker.time)
    return bool(((tensor >= 0) & (tensor == tensor.round())).all())


def _softmax_by_hand(run: Explainer, maker: Event, first: Link, event: Event) -> float | None:
    """Return what `torch.softmax` gives if exponentials were divided by their sum; None if it was something else."""
    inner = maker_of(run, maker.arg("self"), maker.time) if maker.op.strip("_") == "sum" else None
    axes = maker.arg("dim")
    if inner is None or inner.op.strip("_") != "exp" or not isinstance(axes, list) or len(axes) != 1:
        return None
    scores = run.history.tensor(inner.arg("self"), inner.time).double()
    return number_at(torch.softmax(scores, axes[0]), event.arg("self"), event, first)


def _is_norm(run: Explainer, maker: Event) -> bool:
    """Return whether an operation computed a norm, the product of two, or the root of a sum."""
    if maker.op in ("linalg_vector_norm", "norm"):
        return True
    if maker.op.strip("_") == "sqrt":
        inner = maker_of(run, maker.arg("self"), maker.time)
        return inner is not None and inner.op == "sum"
    if maker.op == "mul":
        parts = [maker_of(run, maker.arg(name), maker.time) for name in ("self", "other")]
        return any(part is not None and part.op in ("linalg_vector_norm", "norm") for part in parts)
    return False
