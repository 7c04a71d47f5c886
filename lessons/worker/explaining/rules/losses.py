"""Losses and derivatives: what the backward pass computes, where autograd has a kernel for it.

The formulas of the losses and activations are those of the documentation of `torch.nn`; the derivatives follow from
them and agree with `tools/autograd/derivatives.yaml` of PyTorch.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, Index, RuleResult, broadcast
from lessons.worker.explaining.rules.normalization import _layer_norm as _normalized
from lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ONE,
    ZERO,
    make,
    named_only,
    region,
    rule,
    too_many,
    unknown,
)
from lessons.worker.recording.recorder import Region

TWO = f.Number(2.0)
_HALF = f.Number(0.5)
_NONE, _MEAN = 0, 1
"""How a loss is reduced (`at::Reduction`); 2 is the sum."""


def _minus(first: f.Formula, second: f.Formula) -> f.Formula:
    return f.Op("-", (first, second))


def _over(first: f.Formula, second: f.Formula) -> f.Formula:
    return f.Op("/", (first, second))


def _square(x: f.Formula) -> f.Formula:
    return f.Op("**", (x, TWO))


def _negative(x: f.Formula) -> f.Formula:
    return f.Op("neg", (x,))


# Losses ------------------------------------------------------------------------------------------------------------


def _class(work: Derivation, sample: Index) -> int:
    return int(work.value(region(work, "target"), sample))


def _weight(work: Derivation, target: int) -> tuple[f.Formula, ...]:
    """The weight of a class, if weights were given."""
    given = work.event.arg("weight")
    return (work.cell(given, (target,)),) if isinstance(given, Region) else ()


def _of_class(sample: Index, place: int) -> Index:
    """The index of a class of a sample; classes are on the second axis, if there are several samples."""
    return (*sample[:1], place, *sample[1:])


@rule("nll_loss_forward", "nll_loss2d_forward")
def _nll_loss(work: Derivation, index: Index, value: float) -> RuleResult:
    """`-w * x` of the true class of each sample, their sum, or that over the sum of the weights: `nn.NLLLoss`."""
    event, given, target = work.event, region(work), region(work, "target")
    reduction, ignored = event.arg("reduction"), event.arg("ignore_index")
    samples = [index] if reduction == _NONE and target.shape else list(target.indices())
    if len(samples) > MOST_TERMS:
        return too_many(work, len(samples))
    pairs = [(sample, place) for sample in samples if (place := _class(work, sample)) != ignored]
    if work.output == 1 and reduction != _NONE and isinstance(event.arg("weight"), Region) and pairs:
        return make("sum", f.add(*(_weight(work, place)[0] for _, place in pairs)))
    if work.output == 1:
        return make("count", None, "The number of samples that count in the loss.")
    terms = [f.multiply(*_weight(work, place), work.cell(given, _of_class(sample, place))) for sample, place in pairs]
    note = f"Of each sample the number of its true class is taken: {_listed([place for _, place in pairs])}."
    loss = _negative(f.add(*terms)) if terms else ZERO
    if reduction == _MEAN:
        weights = [_weight(work, place) for _, place in pairs]
        given_weights = [weight[0] for weight in weights if weight]
        loss = _over(loss, f.add(*given_weights) if given_weights else f.Number(float(len(pairs))))
    return make("negative log-likelihood", loss, note)


def _listed(classes: list[int], most: int = 12) -> str:
    return ", ".join(map(str, classes[:most])) + (", ..." if len(classes) > most else "")


@rule("nll_loss_backward", "nll_loss2d_backward")
def _nll_loss_backward(work: Derivation, index: Index, value: float) -> RuleResult:
    name, axis = "nll_loss backward", min(1, len(index) - 1)
    sample, place = (*index[:axis], *index[axis + 1 :]), index[axis]
    true = _class(work, sample)
    if true == work.event.arg("ignore_index"):
        return make(name, None, "This sample does not count in the loss.")
    if true != place:
        return make(name, None, f"0: the loss takes class {true} of this sample, and no other.")
    gradient = f.multiply(*_weight(work, true), work.operand("grad_output", sample))
    if work.event.arg("reduction") == _MEAN:
        gradient = _over(gradient, work.cell(region(work, "total_weight"), ()))
    return make(name, _negative(gradient), f"The loss takes class {true} of this sample, with a minus.")


def _squared(x: f.Formula, y: f.Formula) -> f.Formula:
    return _square(_minus(x, y))


def _cross_entropy(x: f.Formula, y: f.Formula) -> f.Formula:
    """`-y * log(p) - (1 - y) * log(1 - p)` with `p = sigmoid(x)`, written so that no exp overflows."""
    soft = f.call("log", f.add(ONE, f.call("exp", _negative(f.call("abs", x)))))
    return f.add(_minus(f.call("max", x, ZERO), f.multiply(x, y)), soft)


_LOSSES = {"mse_loss": _squared, "binary_cross_entropy_with_logits": _cross_entropy}


@rule(*_LOSSES)
def _loss(work: Derivation, index: Index, value: float) -> RuleResult:
    """A loss of each element, or their sum or mean: `nn.MSELoss`, `nn.BCEWithLogitsLoss`."""
    given, reduction = region(work), work.event.arg("reduction")
    if work.event.arg("weight") is not None or work.event.arg("pos_weight") is not None:
        return unknown(work, index, value)
    places = [index] if reduction == _NONE else list(given.indices())
    if len(places) > MOST_TERMS:
        return too_many(work, 2 * len(places))
    of = _LOSSES[work.event.op]
    loss = f.add(*(of(work.operand("self", at), work.operand("target", at)) for at in places)) if places else ZERO
    return make(work.event.op, _over(loss, f.Number(float(len(places)))) if reduction == _MEAN else loss)


@rule("mse_loss_backward")
def _mse_loss_backward(work: Derivation, index: Index, value: float) -> RuleResult:
    difference = _minus(work.operand("self", index), work.operand("target", index))
    gradient = f.multiply(TWO, difference, work.operand("grad_output", index))
    if work.event.arg("reduction") == _MEAN:
        gradient = _over(gradient, f.Number(float(region(work).size)))
    return make("mse_loss backward", gradient)


# Activations: the gradient times the derivative --------------------------------------------------------------------


def _gelu_slope(x: f.Formula, approximate: str) -> f.Formula:
    """Of `x * cdf(x)` it is `cdf(x) + x * density(x)`; with tanh the product rule."""
    if approximate != "tanh":
        cdf = f.multiply(_HALF, f.add(ONE, f.call("erf", _over(x, f.Number(math.sqrt(2), "sqrt(2)")))))
        bell = f.call("exp", _over(_negative(f.multiply(x, x)), TWO))
        return f.add(cdf, _over(f.multiply(x, bell), f.Number(math.sqrt(2 * math.pi), "sqrt(2*pi)")))
    root, cubic = f.Number(math.sqrt(2 / math.pi), "sqrt(2/pi)"), f.Number(0.044715)
    bent = f.call("tanh", f.multiply(root, f.add(x, f.multiply(cubic, f.Op("**", (x, f.Number(3.0)))))))
    inner = f.multiply(root, f.add(ONE, f.multiply(f.Number(3.0), cubic, _square(x))))
    return f.multiply(_HALF, f.add(ONE, bent, f.multiply(x, _minus(ONE, _square(bent)), inner)))


def _sigmoid(x: f.Formula) -> f.Formula:
    return _over(ONE, f.add(ONE, f.call("exp", _negative(x))))


def _softplus_slope(work: Derivation, x: f.Formula) -> f.Formula:
    scaled = f.multiply(work.number(work.event.arg("beta")), x)
    return f.choose(f.Op(">", (scaled, work.number(work.event.arg("threshold")))), ONE, _sigmoid(scaled))


_SLOPES: dict[str, Callable[[Derivation, f.Formula], f.Formula]] = {
    # These are given the result of the activation, which is all that is needed.
    "sigmoid": lambda work, y: f.multiply(y, _minus(ONE, y)),
    "tanh": lambda work, y: _minus(ONE, _square(y)),
    # These its input.
    "gelu": lambda work, x: _gelu_slope(x, str(work.event.arg("approximate"))),
    "silu": lambda work, x: f.multiply(_sigmoid(x), f.add(ONE, f.multiply(x, _minus(ONE, _sigmoid(x))))),
    "softplus": _softplus_slope,
    "threshold": lambda work, x: f.choose(f.Op(">", (x, work.number(work.event.arg("threshold")))), ONE, ZERO),
    "leaky_relu": lambda work, x: f.choose(f.Op(">", (x, ZERO)), ONE, work.number(work.event.arg("negative_slope"))),
}


@rule(*(f"{name}_backward" for name in _SLOPES))
def _activation_backward(work: Derivation, index: Index, value: float) -> RuleResult:
    name = work.event.op.removesuffix("_backward")
    cell = work.operand("output" if name in ("sigmoid", "tanh") else "self", index)
    title = "relu" if name == "threshold" else name
    formula = f.multiply(work.operand("grad_output", index), _SLOPES[name](work, cell))
    return make(f"{title} backward", formula, f"The gradient times the derivative of {title}.")


# Softmax, layer norm -----------------------------------------------------------------------------------------------


@rule("_log_softmax_backward_data")
def _log_softmax_backward(work: Derivation, index: Index, value: float) -> RuleResult:
    gradient, output = region(work, "grad_output"), region(work, "output")
    axis = int(work.event.arg("dim")) % max(len(output.shape), 1)
    places = [(*index[:axis], k, *index[axis + 1 :]) for k in range(output.shape[axis])] if index else [()]
    if len(places) > MOST_TERMS:
        return too_many(work, len(places))
    total = f.add(*(work.cell(gradient, place) for place in places))
    formula = _minus(work.cell(gradient, index), f.multiply(f.call("exp", work.cell(output, index)), total))
    return make("log_softmax backward", formula, "The derivative of log_softmax: exp of it is the softmax.")


def _normalized_places(work: Derivation, lead: Index) -> list[Index]:
    shape = region(work, "input").shape
    return [(*lead, *rest) for rest in itertools.product(*map(range, shape[len(lead) :]))]


def _lead(work: Derivation) -> int:
    """How many axes layer norm does not join."""
    return len(region(work, "input").shape) - len(work.event.arg("normalized_shape"))


@rule("native_layer_norm")
def _layer_norm(work: Derivation, index: Index, value: float) -> RuleResult:
    """Its second and third result: the mean, and 1 over the standard deviation (`nn.LayerNorm`)."""
    if work.output == 0:
        return _normalized(work, index, value)
    given = region(work, "input")
    places = _normalized_places(work, index[: _lead(work)])
    if len(places) > MOST_TERMS:
        return too_many(work, len(places))
    cells, count = [work.cell(given, place) for place in places], f.Number(float(len(places)))
    if work.output == 1:
        return make("mean", _over(f.add(*cells), count))
    mean = f.Number(f.total(work.values(given, places)) / len(places), "mean")
    variance = _over(f.add(*(_square(_minus(cell, mean)) for cell in cells)), count)
    spread = f.call("sqrt", f.add(variance, f.Number(float(work.event.arg("eps")), "eps")))
    return make("rstd", _over(ONE, spread), "1 over the standard deviation.")


@rule("native_layer_norm_backward")
def _layer_norm_backward(work: Derivation, index: Index, value: float) -> RuleResult:
    """With z = (x - mean) * rstd and h = gradient * weight: rstd * (h - mean(h) - z * mean(h * z)).

    Ba, Kiros, Hinton 2016 (Layer Normalization), differentiated; weight and bias get the sums of gradient * z and of
    gradient over all rows.
    """
    event, gradient = work.event, region(work, "grad_out")
    lead = _lead(work)
    wanted = [place for place, asked in enumerate(event.arg("output_mask")) if asked]
    if len(wanted) != len(event.outs):
        return named_only(work)

    def normalized(place: Index) -> f.Formula:
        mean, rstd = (work.operand(name, place) for name in ("mean", "rstd"))
        return f.multiply(_minus(work.operand("input", place), mean), rstd)

    def weighted(place: Index) -> list[f.Formula]:
        weight = event.arg("weight")
        cell = work.cell(gradient, place)
        return [cell, work.cell(weight, place[lead:])] if isinstance(weight, Region) else [cell]

    if wanted[work.output]:
        places = [(*first, *index) for first in itertools.product(*map(range, gradient.shape[:lead]))]
        if len(places) > MOST_TERMS:
            return too_many(work, 2 * len(places))
        factors = [[work.cell(gradient, place)] for place in places]
        if wanted[work.output] == 1:
            factors = [[*cell, normalized(place)] for cell, place in zip(factors, places, strict=True)]
        formula = f.add(*(f.multiply(*item) for item in factors)) if factors else ZERO
        return make("layer norm backward", formula, "Summed over all rows, which share this parameter.")
    places = _normalized_places(work, index[:lead])
    if len(places) > MOST_TERMS:
        return too_many(work, 2 * len(places))
    count = f.Number(float(len(places)))
    mean = _over(f.add(*(f.multiply(*weighted(place)) for place in places)), count)
    slope = _over(f.add(*(f.multiply(*weighted(place), normalized(place)) for place in places)), count)
    inner = _minus(_minus(f.multiply(*weighted(index)), mean), f.multiply(normalized(index), slope))
    note = "The gradient without its part that shifts or stretches the whole row, which layer norm takes back."
    return make("layer norm backward", f.multiply(work.operand("rstd", index), inner), note)


# Gradient clipping -------------------------------------------------------------------------------------------------


@rule("_foreach_norm")
def _norms(work: Derivation, index: Index, value: float) -> RuleResult:
    """The norm of each tensor of a list: `nn.utils.clip_grad_norm_` asks for them."""
    given = work.event.arg("self")[work.output]
    if work.event.arg("ord") != 2:
        return named_only(work)
    if given.size > MOST_TERMS:
        return too_many(work, given.size)
    squares = [_square(work.cell(given, place)) for place in given.indices()]
    return make("norm", f.call("sqrt", f.add(*squares)) if squares else ZERO)


@rule("_foreach_mul")
def _products(work: Derivation, index: Index, value: float) -> RuleResult:
    """Each tensor of a list times a number, or times its own."""
    event = work.event
    factor = next(event.arg(name) for name in ("other", "scalar", "scalars") if name in event.info.names)
    if isinstance(factor, list | tuple):
        factor = factor[work.output]
    if isinstance(factor, Region):
        second: f.Formula = work.cell(factor, broadcast(factor.shape, index))
    else:
        second = work.number(factor)
    return make("multiply", f.multiply(work.cell(event.arg("self")[work.output], index), second))
