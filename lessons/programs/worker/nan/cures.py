"""What cures a number that is not finite; it was tried on the recorded numbers wherever that can be done.

`find` tells the kinds of origins apart, and each has a function: divisions by 0, logarithms, exponentials, numbers
computed from too few, ... What cures an overflow has a module of its own (`overflow`).
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from attn_tutor.lessons.programs.worker.nan import overflow, tried_in_place
from attn_tutor.lessons.programs.worker.nan.finite_scan import UNSCALE, UPDATE
from attn_tutor.lessons.programs.worker.nan.ways_back import Link
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import nonfinite_origin
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.recording.element_history import Element, ValueLost
from attn_tutor.lessons.worker.recording.event import Event, tensors_of
from attn_tutor.lessons.worker.recording.optimizer_steps import Step
from attn_tutor.lessons.worker.recording.regions import Region

BESIDE_DIVISORS = ("1e-8", "1e-6", "1e-4")
BESIDE_LOGARITHMS = ("1e-12", "1e-6")
BESIDE_EDGES = ("1e-6", "1e-3", "1e-2")
BESIDE_SLOPES = ("1e-8", "1e-4", "1e-2")


def first_that_helps(
    event: Event, result: Callable[[torch.Tensor], torch.Tensor], numbers: Sequence[str] = BESIDE_DIVISORS
) -> tuple[str, float] | None:
    """Return the first small number with which a result is finite in the type of an operation, and that result.

    `result` computes it, given the small number in that type. None if no number helps.
    """
    dtype = event.outs[0].dtype
    for text in numbers if dtype.is_floating_point else ():
        value = result(torch.tensor(float(text), dtype=dtype)).item() + 0.0
        if math.isfinite(value):
            return text, value
    return None


def maker_of(run: Explainer, region: Any, time: int) -> Event | None:
    """Return the operation that computed a tensor; None if nothing recorded did."""
    if not isinstance(region, Region) or not region.size:
        return None
    element = run.through(Element.of(region, (0,) * len(region.shape), time))
    return run.history.writer(element)


def number_at(again: torch.Tensor, operand: Region, event: Event, first: Link) -> float | None:
    """Return the number at the index of the first number, in a tensor that has the shape of the operand."""
    found = event.index_of(first.element.storage, first.element.offset, first.element.size)
    if found is None or tuple(again.shape) != operand.shape:
        return None
    return float(again[found[1]])


say = Wording("explaining/nonfinite-cures")


def _of_division(run: Explainer, first: Link, event: Event) -> Iterator[str]:
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
        if small := first_that_helps(event, _divided(1.0, 0.5), BESIDE_DIVISORS[1:]):
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


def _of_too_few(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    tensor = event.arg("self")
    if (
        event.op.startswith("nll_loss")
        and isinstance(event.arg("weight"), Region)
        and _is_any_target_counted(run, event)
    ):
        yield say(
            "weigh-targets",
            "The mean divides by the weights of the targets that are there, and these are all 0. Give each class a "
            "weight above 0, or leave out batches that have only others.",
        )  # fmt: skip
    elif event.op.startswith("nll_loss"):
        yield say(
            "count-targets",
            "No target counts: all are ignore_index. With reduction='sum', divided by "
            "(target != ignore_index).sum().clamp(min=1), the loss is 0 here.",
        )  # fmt: skip
    elif "batch_norm" in event.op:
        yield say(
            "batch-of-one",
            "In training, batch normalization needs more than one value for each channel. Is this a last batch of one? "
            "drop_last=True leaves it out.",
        )  # fmt: skip
        if tried_in_place.helps(run, event, functools.partial(_in_evaluation, run, event), "input"):
            yield say(
                "batch-in-evaluation",
                "After eval(), it takes the running mean and variance, and what follows is finite here.",
            )
    elif (
        event.op.startswith(("std", "var"))
        and isinstance(tensor, Region)
        and tensor.size
        and tried_in_place.helps(run, event, functools.partial(_without_correction, event), "self")
    ):
        yield say(
            "correction",
            "One number has no spread to estimate: {operation}(correction=0) gives 0 here.",
            operation=event.op.partition("_")[0],
        )  # fmt: skip
    elif event.op.startswith(("std", "var")) and isinstance(tensor, Region) and tensor.size:
        yield say("take-two", "One number has no spread to estimate. Should there be more than one here?")
    else:
        yield say("nothing-selected", "Nothing was selected to take the mean of: look at that first, if x.numel() > 0.")


def _is_any_target_counted(run: Explainer, event: Event) -> bool:
    """Return whether a loss has a target that is not ignored."""
    target = event.arg("target")
    return isinstance(target, Region) and bool(
        (run.history.tensor(target, event.time) != event.arg("ignore_index")).any()
    )


def _without_correction(event: Event, tensor: torch.Tensor) -> torch.Tensor:
    again = event.info.func(tensor, *event.args[1:], **{**event.kwargs, "correction": 0})
    return next(iter(tensors_of(again)))


def _in_evaluation(run: Explainer, event: Event, tensor: torch.Tensor) -> torch.Tensor:
    weight, bias, mean, variance = (
        run.history.tensor(item, event.time) if isinstance(item := event.arg(name), Region) else None
        for name in ("weight", "bias", "running_mean", "running_var")
    )
    return torch.nn.functional.batch_norm(tensor, mean, variance, weight, bias, False, eps=event.arg("eps"))


def _of_zero_times(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    if event.op.strip("_") != "mul" or not _helps_to_choose(run, event):
        return
    if nonfinite_origin.names_infinity(first.derived):
        yield say(
            "fill-instead",
            "Multiplying a mask by infinity gives NaN where the mask is 0. scores.masked_fill(hidden, float('-inf')) "
            "changes only the numbers that are to be hidden.",
        )  # fmt: skip
        return
    yield say(
        "choose-instead",
        "Multiplying by 0 does not remove an infinity. torch.where(keep, x, 0) chooses 0 in its place.",
    )


def _helps_to_choose(run: Explainer, event: Event) -> bool:
    """Return whether 0 helps in the place of what is multiplied by 0."""
    names = ["self", "other"]
    given = [event.arg(name) for name in names]
    tensors = [
        run.history.tensor(item, event.time) if isinstance(item, Region) else torch.tensor(item) for item in given
    ]
    infinite = next((at for at, tensor in enumerate(tensors) if bool(tensor.isinf().any())), None)
    if infinite is None or not isinstance(given[1 - infinite], Region):
        return False
    if isinstance(given[infinite], Region):
        kept, mask = names[infinite], names[1 - infinite]
        return tried_in_place.helps(run, event, lambda x, keep: torch.where(keep != 0, x, 0) * keep, kept, mask)
    number = float(given[infinite])
    filled = lambda hidden: torch.zeros_like(hidden).masked_fill(hidden > 0, number)  # noqa: E731
    return tried_in_place.helps(run, event, filled, names[1 - infinite])


GROWTH = 100
"""By what factor a loss has grown that is said to explode."""

LOGARITHMS = {"log": torch.log, "log2": torch.log2, "log10": torch.log10}
"""The logarithms that end at 0."""

ROOTS = {"sqrt": torch.sqrt, "rsqrt": torch.rsqrt}
"""The roots that begin at 0."""

LATELY = 4
"""Losses before the end among which the largest one is, if they explode."""


def find(run: Explainer, first: Link, kind: str, losses: list[float], told: Event | None = None) -> list[str]:
    """Return what helps against the first number of a chain that is not finite, a sentence each.

    What helps against an operation that was `told` before is not said of its derivative once more.
    """
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        try:
            return list(_cures(run, first, kind, losses, told))
        except (ValueLost, RuntimeError, TypeError, ValueError, IndexError, OverflowError):
            # A cure that cannot be tried is none.
            return []


def _cures(run: Explainer, first: Link, kind: str, losses: list[float], told: Event | None) -> Iterator[str]:
    event = first.derived.event
    is_exploding = kind in ("result-beyond", "exponential-beyond", "infinities") and explodes(losses)
    if is_exploding:
        finite = [loss for loss in losses if math.isfinite(loss)]
        yield say(
            "explodes",
            "Before, the loss grew from {least:.4g} to {last:.4g}: each step goes too far. Does it still grow with a "
            "smaller learning rate, or with torch.nn.utils.clip_grad_norm_ before each step? Both make steps shorter.",
            least=min(finite, key=abs), last=max(finite[-LATELY:], key=abs),
        )  # fmt: skip
    if event is None:
        if kind == "from-data":
            yield from _of_data(run, first)
        return
    step = run.optimizers.step_at(event.time)
    small = None if step is None else _eps_that_vanishes(step, first.element.region.dtype)
    if step is not None and small is not None:
        dtype = str(first.element.region.dtype).removeprefix("torch.")
        yield say(
            "half-eps",
            "{optimizer} adds its eps to a root so as not to divide by 0, but in {dtype}, {eps:.4g} is 0, and so are "
            "the squares of small gradients. Keep the parameters in float32, and compute in {dtype} inside of "
            "torch.autocast; or give the optimizer eps=0.0001.",
            optimizer=step.kind.__name__, dtype=dtype, eps=small,
        )  # fmt: skip
        return
    if is_exploding:
        # The number that is too large is the last of many. What changes it alone only moves the end.
        yield from overflow.of_form(run, first, event)
        return
    if event.node is not None and not event.direct:
        # What a hook or the `backward` of a function computes itself is code as any other.
        yield from _of_derivative(run, first, event, kind, told)
        return
    cure = _BY_KIND.get(kind)
    if cure is not None:
        yield from cure(run, first, event)


def _eps_that_vanishes(step: Step, dtype: torch.dtype) -> float | None:
    """Return the eps of an optimizer that is 0 in the type of its parameters; None if it is not."""
    every = [settings.get("eps") for settings in step.settings.values()]
    return next((eps for eps in every if isinstance(eps, float) and eps and not torch.tensor(eps, dtype=dtype)), None)


def explodes(losses: list[float]) -> bool:
    """Return whether the losses of a training have grown again and again until they ceased to be finite."""
    sizes = [abs(loss) for loss in losses if math.isfinite(loss)]
    if len(sizes) < 3:
        return False
    # Losses of single batches go up and down.
    least, last = min(sizes), max(sizes[-LATELY:])
    return last > GROWTH * max(least, 1e-30) and last == max(sizes)


# Numbers of the forward pass ----------------------------------------------------------------------------------------


def _of_logarithm_of_0(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    operand = event.arg("self")
    maker = maker_of(run, operand, event.time)
    stable = None if maker is None else _logarithm_of(run, maker)
    value = None if stable is None else number_at(stable, operand, event, first)
    if maker is not None and value is not None and math.isfinite(value):
        if maker.op == "sigmoid":
            yield say(
                "log-sigmoid",
                "torch.nn.functional.logsigmoid in place of sigmoid and log gives {value:.6g} here. "
                "binary_cross_entropy_with_logits does the same, and takes the scores themselves.",
                value=value,
            )  # fmt: skip
        else:
            yield say(
                "log-softmax",
                "The probability is too small for its type, but its logarithm is not: torch.log_softmax in place of "
                "softmax and log gives {value:.6g} here. cross_entropy does the same, and takes the scores themselves.",
                value=value,
            )  # fmt: skip
        return
    if maker is not None and (largest := _of_exponentials(run, maker, operand, event, first)) is not None:
        yield say(
            "logsumexp",
            "Every exponential of the sum is too small for its type. torch.logsumexp(x, dim) subtracts the largest x "
            "first: it gives {value:.6g} here.",
            value=largest,
        )  # fmt: skip
        return
    if maker is not None and maker.op == "rsub" and event.op == "log":
        inner = maker_of(run, maker.arg("self"), maker.time)
        if inner is not None and inner.op == "sigmoid":
            yield say(
                "binary-cross-entropy",
                "log(1 - p) is -inf where the probability p is 1. torch.nn.functional.binary_cross_entropy stops its "
                "logarithms at -100; binary_cross_entropy_with_logits takes the scores themselves, and stays exact.",
            )  # fmt: skip
            return
    matrix = event.arg("A") if event.op.strip("_") == "linalg_slogdet" else None
    if isinstance(matrix, Region) and matrix.size <= overflow.LARGE_TENSOR:
        tensor = run.history.tensor(matrix, event.time).double()
        value = float((tensor + 1e-6 * torch.eye(tensor.shape[-1])).logdet().flatten()[0])
        yield say(
            "jitter",
            "Rows that depend on each other make the determinant 0. With a small number on the diagonal, as in "
            "x + 1e-6 * torch.eye(n), its logarithm is {value:.6g} here.",
            value=value,
        )  # fmt: skip
    elif maker is not None and maker.op.startswith(("std", "var")):
        # A small number in its place would soon be divided by, and give a large one.
        if not tried_in_place.helps(run, event, lambda x: event.info.func(torch.where(x > 0, x, 1)), "self"):
            return
        yield say(
            "spread-of-equals",
            "The numbers whose spread this is are all equal. Leave them out, or take 1 as their spread, which has the "
            "logarithm 0: torch.where(x > 0, x, 1).log().",
        )  # fmt: skip
    elif (logarithm := LOGARITHMS.get(name := event.op.strip("_"))) and (
        small := first_that_helps(event, logarithm, BESIDE_LOGARITHMS)
    ):
        yield say(
            "clamp-log",
            "x.clamp(min={eps}).{name}() stays finite: {value:.4g} at the least. For p * log(p), where 0 should count "
            "as 0, torch.xlogy(p, p) does.",
            name=name, eps=small[0], value=small[1],
        )  # fmt: skip
    else:
        yield say("keep-away", "The operand has to be kept away from the edge where the logarithm ends.")


def _logarithm_of(run: Explainer, maker: Event) -> torch.Tensor | None:
    """Return the logarithms of probabilities, computed without these; None if they are of something else."""
    if maker.op not in ("_softmax", "sigmoid"):
        return None
    scores = run.history.tensor(maker.arg("self"), maker.time).double()
    if maker.op == "sigmoid":
        return torch.nn.functional.logsigmoid(scores)
    return torch.log_softmax(scores, int(maker.arg("dim")))


def _of_exponentials(run: Explainer, maker: Event, operand: Region, event: Event, first: Link) -> float | None:
    """Return the logarithm of a sum of exponentials, computed without these; None if it is of something else."""
    inner = maker_of(run, maker.arg("self"), maker.time) if maker.op == "sum" else None
    if inner is None or inner.op.strip("_") != "exp":
        return None
    scores = run.history.tensor(inner.arg("self"), inner.time).double()
    axes = maker.arg("dim")
    again = torch.logsumexp(scores, axes if isinstance(axes, list) and axes else list(range(scores.dim())))
    value = number_at(again.reshape(operand.shape), operand, event, first)
    return value if value is not None and math.isfinite(value) else None


def _of_negative(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    if event.op == "where":
        yield say(
            "slogdet",
            "torch.linalg.slogdet gives the sign, and the logarithm of the absolute value. If the matrix is a "
            "covariance, it has lost that: symmetrize it, or add a small number to its diagonal.",
        )  # fmt: skip
        return
    if root := ROOTS.get(event.op.strip("_")):
        values = run.history.values(first.derived.operands)
        is_rounding = -1e-2 < values[0] < 0 or _is_difference(run, event)
        if is_rounding and tried_in_place.helps(run, event, lambda x: root(x.clamp(min=0)), "self"):
            yield say(
                "clamp-root",
                "If rounding made it negative, x.clamp(min=0) before the root gives 0 here. For a variance, "
                "torch.var does not subtract two large numbers, and never comes out negative.",
            )  # fmt: skip
            return
    yield say("look-at-operand", "Look at how the operand was computed: it should not have come out negative.")


def _is_difference(run: Explainer, event: Event) -> bool:
    maker = maker_of(run, event.arg("self"), event.time)
    return maker is not None and maker.op.strip("_") == "sub"


def _of_empty_row(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    if not _is_finite_with_least(run, event):
        yield say(
            "unmask-only",
            "Leave each query at least one key. scaled_dot_product_attention gives zeros for a row without keys.",
        )
        return
    yield say(
        "unmask-one",
        "Leave each query at least one key, or mask with torch.finfo(dtype).min in place of -inf: then a row without "
        "keys gets equal weights. scaled_dot_product_attention gives zeros for such a row.",
    )  # fmt: skip


def _is_finite_with_least(run: Explainer, event: Event) -> bool:
    """Return whether scores are finite if their mask has the least number of its type in place of -inf.

    One that is added to the scores goes beyond that number with scores below 0, or with another mask.
    """
    operand = event.arg("self")
    if not isinstance(operand, Region):
        return False
    maker = maker_of(run, operand, event.time)
    parts = [maker.arg("self"), maker.arg("other")] if maker is not None and maker.op.strip("_") == "add" else []
    if maker is not None and parts and all(isinstance(part, Region) for part in parts):
        one, other = (_with_least(run.history.tensor(part, maker.time)) for part in parts)
        scores = (one + other).reshape(operand.shape)
    else:
        scores = _with_least(run.history.tensor(operand, event.time))
    if not bool(scores.isfinite().all()):
        return False
    again = tried_in_place.run_again(run, event, {tried_in_place.key(operand): scores})
    return bool(again[0].isfinite().all()) and tried_in_place.goes_on(run, event, again[0])


def _with_least(scores: torch.Tensor) -> torch.Tensor:
    return scores.masked_fill(scores == -math.inf, torch.finfo(scores.dtype).min)


def _of_infinities(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    small = first_that_helps(event, lambda small: 0 / small, BESIDE_LOGARITHMS)
    if small and tried_in_place.subtracts_largest(run, event):
        yield say(
            "row-of-infinities",
            "This subtracts the largest number of a row, and all of the row is -inf: nothing in it is left. Leave "
            "at least one, or subtract highest.masked_fill(highest.isinf(), 0): then each exp of the row is 0, and so "
            "is their sum, which needs clamp(min={eps}) before anything is divided by it.",
            eps=small[0],
        )  # fmt: skip


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


def _of_data(run: Explainer, first: Link, *_: object) -> Iterator[str]:
    if _is_parameter(run, first.element.storage):
        yield say(
            "damaged-checkpoint",
            "If this came from a checkpoint, the training that wrote it had failed by then: take an earlier one. "
            "x.isfinite().all() for each tensor of a state_dict tells whether it may be saved.",
        )  # fmt: skip
        return
    if math.isinf(first.value):
        yield say(
            "infinite-data",
            "Look at the data before they are used: x.isinf() tells where they are infinite, and what made them, such "
            "as a Dataset in another process, divided by 0 or took a logarithm of 0 there.",
        )  # fmt: skip
        return
    yield say(
        "clean-data",
        "Look at the data before they are used: x.isnan() tells where it has gaps. torch.nan_to_num fills them, and "
        "torch.nanmean leaves them out.",
    )


def _is_parameter(run: Explainer, storage: int) -> bool:
    """Return whether a storage holds a parameter or a buffer of a module that is a variable of the program."""
    return any(item.leaf or "." in item.name for item in run.record.bindings.get(storage, ()))


def _of_setting(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    yield say(
        "schedule",
        "Look at what sets it: if a schedule of the learning rate does, print get_last_lr() in each step.",
    )


def _of_no_alignment(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    yield say(
        "zero-infinity",
        "With zero_infinity=True, ctc_loss counts such a sample as 0, and so is its gradient. If many are too short, "
        "make inputs longer (less subsampling), or leave these samples out.",
    )  # fmt: skip


# Numbers of the backward pass ---------------------------------------------------------------------------------------


def _of_derivative(run: Explainer, first: Link, event: Event, kind: str, told: Event | None) -> Iterator[str]:
    node = event.node.name if event.node is not None else ""
    maker = run.gradients.maker(event)
    if maker is not None and any(_is_chosen(run, out, maker.time) for out in maker.outs):
        yield say(
            "choose-before",
            "torch.where hides a number, but not its derivative: that is multiplied by 0, and 0 times infinity is not "
            "a number. Choose before computing: torch.where(ok, x, 1) as the operand keeps both finite.",
        )  # fmt: skip
        return
    if maker is not None and maker is told:
        return
    if node.startswith("Sqrt") or (node.startswith("Pow") and kind in ("divided-by-0", "infinities")):
        if small := first_that_helps(event, lambda small: 0.5 / small.sqrt(), BESIDE_LOGARITHMS):
            yield say(
                "eps-under-root",
                "The slope of a root at 0 is infinite. With a small number under it, (x + {eps}).sqrt(), the slope at "
                "0 is {slope:.6g}.",
                eps=small[0], slope=small[1],
            )  # fmt: skip
    elif node.startswith("Log"):
        if small := first_that_helps(event, torch.log, BESIDE_LOGARITHMS):
            yield say(
                "eps-in-log",
                "The slope of a logarithm at 0 is infinite. x.clamp(min={eps}).log() has the slope 0 there.",
                eps=small[0],
            )
    elif node.startswith(("Acos", "Asin", "Atanh", "Acosh")):
        if small := first_that_helps(event, lambda small: 1 / (1 - (1 - small)), BESIDE_EDGES):
            yield say(
                "inside-domain",
                "The slope is infinite at the edge of where the function is defined. x.clamp(-1 + {eps}, 1 - {eps}) as "
                "its operand has the slope 0 there.",
                eps=small[0],
            )
    elif node.startswith("Atan2"):
        yield say("atan2", "The angle of a vector of length 0 has no derivative. Leave such vectors out before.")
    elif node.startswith(("Div", "Rsqrt", "Reciprocal")):
        if small := first_that_helps(event, lambda small: 1 / small**2, BESIDE_SLOPES):
            yield say(
                "eps-in-divisor",
                "A small number in the divisor, as in x / (y + {eps}), keeps the slope finite.",
                eps=small[0],
            )
    elif node.startswith(("LinalgEigh", "LinalgEig", "LinalgSvd")):
        yield say(
            "equal-eigenvalues",
            "The derivative of eigenvectors divides by the differences of eigenvalues, and two of these are equal "
            "here. That of the eigenvalues alone is finite.",
        )  # fmt: skip
    elif kind in ("result-beyond", "exponential-beyond"):
        yield from overflow.of_overflow(run, first, event)
    if first.element.region.dtype in overflow.HALF and kind in ("result-beyond", "exponential-beyond"):
        if _steps_without_scaler(run, maker):
            yield say(
                "step-of-scaler",
                "GradScaler has multiplied this loss, but the optimizer took its step without it. "
                "scaler.step(optimizer) in place of optimizer.step(), then scaler.update(), divides gradients by the "
                "factor, and skips steps like this one.",
            )  # fmt: skip
            return
        yield say(
            "loss-scale",
            "If the loss was multiplied to keep small gradients, a smaller factor keeps large ones: "
            "torch.amp.GradScaler skips such a step, and halves its factor.",
        )  # fmt: skip


def _steps_without_scaler(run: Explainer, maker: Event | None) -> bool:
    """Return whether a loss was multiplied by a `GradScaler` that took part in no step of an optimizer."""
    events = run.record.events
    return (
        maker is not None
        and run.names.function_of(maker) == "scale"
        and run.optimizers.count_before(run.record.time) > 0
        and not any(events.info(position).op in (UNSCALE, UPDATE) for position in range(len(events)))
    )


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


_BY_KIND: dict[str, Callable[[Explainer, Link, Event], Iterator[str]]] = {
    "logarithm-of-0": _of_logarithm_of_0,
    "logarithm-of-negative": _of_negative,
    "root-of-negative": _of_negative,
    "zero-by-zero": _of_division,
    "divided-by-0": _of_division,
    "exponential-beyond": overflow.of_overflow,
    "result-beyond": overflow.of_overflow,
    "nothing-left": _of_empty_row,
    "infinity-times-0": _of_zero_times,
    "infinities": _of_infinities,
    "too-few": _of_too_few,
    "power-of-negative": _of_power,
    "uninitialized": _of_uninitialized,
    "from-data": _of_data,
    "endless-setting": _of_setting,
    "no-alignment": _of_no_alignment,
}
"""What helps in a forward pass, by the kind of the reason."""
