"""Rules for losses and for the kernels of the backward pass.

The formulas of the losses and activations are those of the documentation of `torch.nn`; the derivatives follow from
them and agree with `tools/autograd/derivatives.yaml` of PyTorch.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.normalization import layer_norm, moments
from attn_tutor.lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ONE,
    ZERO,
    make,
    region,
    rule,
    too_many,
    unknown,
)
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/losses")

TWO = f.Number(2.0)
_HALF = f.Number(0.5)
_NONE, _MEAN = 0, 1
"""Values of `at::Reduction` that say how a loss is reduced; 2 is the sum."""


def _square(x: f.Formula) -> f.Formula:
    return f.Op("**", (x, TWO))


# Losses ------------------------------------------------------------------------------------------------------------


def _class(derivation: Derivation, sample: Index) -> int:
    return int(derivation.value(region(derivation, "target"), sample))


def _weight(derivation: Derivation, target: int) -> tuple[f.Formula, ...]:
    """Return the weight of a class as a tuple of one; an empty tuple if no weights were given."""
    given = derivation.event.arg("weight")
    return (derivation.cell(given, (target,)),) if isinstance(given, Region) else ()


def _class_index(sample: Index, target: int) -> Index:
    """Return the index of a class of a sample; classes are on the second axis, if there are several samples."""
    return (*sample[:1], target, *sample[1:])


@rule("nll_loss_forward", "nll_loss2d_forward")
def _nll_loss(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.NLLLoss`: `-w * x` of the true class of each sample, their sum, or their weighted mean."""
    event, scores, target = derivation.event, region(derivation), region(derivation, "target")
    reduction, ignored = event.arg("reduction"), event.arg("ignore_index")
    samples = [index] if reduction == _NONE and target.shape else list(target.indices())
    if len(samples) > MOST_TERMS:
        return too_many(derivation, len(samples))
    pairs = [(sample, label) for sample in samples if (label := _class(derivation, sample)) != ignored]
    if derivation.output == 1 and reduction != _NONE and isinstance(event.arg("weight"), Region) and pairs:
        return make("sum", f.add(*(_weight(derivation, label)[0] for _, label in pairs)))
    if derivation.output == 1:
        return make("count", None, say("samples", "The number of samples that count in the loss."))
    terms = [
        f.multiply(*_weight(derivation, label), derivation.cell(scores, _class_index(sample, label)))
        for sample, label in pairs
    ]
    note = (
        say(
            "true-classes",
            "Of each sample the number of its true class is taken: {classes}.",
            classes=_listed([label for _, label in pairs]),
        )
        if pairs
        else say("all-ignored", "The target of every sample is {ignored}, which is ignored.", ignored=ignored)
    )
    loss = f.negate(f.add(*terms)) if terms else ZERO
    if reduction == _MEAN:
        weights = [_weight(derivation, label) for _, label in pairs]
        given_weights = [weight[0] for weight in weights if weight]
        loss = f.divide(loss, f.add(*given_weights) if given_weights else f.Number(float(len(pairs))))
    return make("negative_log_likelihood", loss, note)


def _listed(classes: list[int], most: int = 12) -> str:
    return ", ".join(map(str, classes[:most])) + (", ..." if len(classes) > most else "")


@rule("nll_loss_backward", "nll_loss2d_backward")
def _nll_loss_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    name, axis = "nll_loss_backward", min(1, len(index) - 1)
    sample, label = (*index[:axis], *index[axis + 1 :]), index[axis]
    true = _class(derivation, sample)
    if true == derivation.event.arg("ignore_index"):
        return make(name, None, say("not-counted", "This sample does not count in the loss."))
    if true != label:
        note = say("other-class", "0: the loss takes class {number} of this sample, and no other.", number=true)
        return make(name, None, note)
    gradient = f.multiply(*_weight(derivation, true), derivation.operand("grad_output", sample))
    if derivation.event.arg("reduction") == _MEAN:
        gradient = f.divide(gradient, derivation.cell(region(derivation, "total_weight"), ()))
    note = say("this-class", "The loss takes class {number} of this sample, with a minus.", number=true)
    return make(name, f.negate(gradient), note)


def _squared(x: f.Formula, y: f.Formula) -> f.Formula:
    return _square(f.subtract(x, y))


def _cross_entropy(x: f.Formula, y: f.Formula) -> f.Formula:
    """Return `-y * log(p) - (1 - y) * log(1 - p)` with `p = sigmoid(x)`, written so that no exp overflows."""
    soft = f.call("log", f.add(ONE, f.call("exp", f.negate(f.call("abs", x)))))
    return f.add(f.subtract(f.call("max", x, ZERO), f.multiply(x, y)), soft)


_LEAST_LOG = f.Number(-100.0)


def _likelihood(derivation: Derivation, p: f.Formula, y: f.Formula, at: Index) -> f.Formula:
    """Return `-y * log(p) - (1 - y) * log(1 - p)`; no logarithm is taken to be less than -100."""
    yes, no = (f.call("max", f.call("log", x), _LEAST_LOG) for x in (p, f.subtract(ONE, p)))
    return f.subtract(f.multiply(f.subtract(y, ONE), no), f.multiply(y, yes))


def _weighted_entropy(derivation: Derivation, x: f.Formula, y: f.Formula, at: Index) -> f.Formula:
    """Return the cross-entropy of a logit, in which a `pos_weight` counts the ones several times."""
    if derivation.event.arg("pos_weight") is None:
        return _cross_entropy(x, y)
    count = f.add(ONE, f.multiply(f.subtract(derivation.operand("pos_weight", at), ONE), y))
    soft = f.add(f.call("log", f.add(ONE, f.call("exp", f.negate(f.call("abs", x))))), f.call("max", f.negate(x), ZERO))
    return f.add(f.multiply(f.subtract(ONE, y), x), f.multiply(count, soft))


def _huber(derivation: Derivation, x: f.Formula, y: f.Formula, at: Index) -> f.Formula:
    delta, gap = derivation.number(derivation.event.arg("delta")), f.call("abs", f.subtract(x, y))
    far = f.multiply(delta, f.subtract(gap, f.multiply(_HALF, delta)))
    return f.choose(f.Op("<=", (gap, delta)), f.multiply(_HALF, gap, gap), far)


def _smooth(derivation: Derivation, x: f.Formula, y: f.Formula, at: Index) -> f.Formula:
    beta, gap = derivation.number(derivation.event.arg("beta")), f.call("abs", f.subtract(x, y))
    near = f.divide(f.multiply(_HALF, gap, gap), beta)
    return f.choose(f.Op("<", (gap, beta)), near, f.subtract(gap, f.multiply(_HALF, beta)))


_LOSSES: dict[str, Callable[[Derivation, f.Formula, f.Formula, Index], f.Formula]] = {
    "mse_loss": lambda derivation, x, y, at: _squared(x, y),
    "binary_cross_entropy_with_logits": _weighted_entropy,
    "binary_cross_entropy": _likelihood,
    "huber_loss": _huber,
    "smooth_l1_loss": _smooth,
    "soft_margin_loss": lambda derivation, x, y, at: f.call(
        "log", f.add(ONE, f.call("exp", f.negate(f.multiply(y, x))))
    ),
}


@rule(*_LOSSES)
def _loss(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain losses such as `nn.MSELoss`: the loss of each element, their sum, or their mean."""
    inputs, reduction = region(derivation), derivation.event.arg("reduction")
    indices = [index] if reduction == _NONE else list(inputs.indices())
    if len(indices) > MOST_TERMS:
        return too_many(derivation, 2 * len(indices))
    loss_of = _LOSSES[derivation.event.op]
    losses = [loss_of(derivation, *_pair(derivation, at), at) for at in indices]
    if derivation.event.arg("weight") is not None:
        losses = [f.multiply(derivation.operand("weight", at), loss) for at, loss in zip(indices, losses, strict=True)]
    loss = f.add(*losses) if losses else ZERO
    return make(derivation.event.op, f.divide(loss, f.Number(float(len(indices)))) if reduction == _MEAN else loss)


def _pair(derivation: Derivation, at: Index) -> tuple[f.Formula, f.Formula]:
    return derivation.operand("self", at), derivation.operand("target", at)


def _between(gap: f.Formula, limit: f.Formula, middle: f.Formula, size: f.Formula) -> f.Formula:
    """Return `middle` where the gap is within a limit, else `size` with the sign of the gap."""
    outer = f.choose(f.Op(">", (gap, ZERO)), size, f.negate(size))
    return f.choose(f.Op("<=", (f.call("abs", gap), limit)), middle, outer)


def _loss_slope(derivation: Derivation, index: Index) -> f.Formula:
    """Return the derivative of the loss of one element by its input."""
    op, (x, y) = derivation.event.op, _pair(derivation, index)
    gap = f.subtract(x, y)
    if op.startswith("huber"):
        delta = derivation.number(derivation.event.arg("delta"))
        return _between(gap, delta, gap, delta)
    if op.startswith("smooth"):
        beta = derivation.number(derivation.event.arg("beta"))
        return _between(gap, beta, f.divide(gap, beta), ONE)
    if op.startswith("soft_margin"):
        shrunk = f.call("exp", f.negate(f.multiply(y, x)))
        return f.divide(f.negate(f.multiply(y, shrunk)), f.add(ONE, shrunk))
    if op.startswith("binary"):
        slope = f.divide(gap, f.call("max", f.multiply(f.subtract(ONE, x), x), f.Number(1e-12)))
        weight = derivation.event.arg("weight")
        return f.multiply(derivation.operand("weight", index), slope) if isinstance(weight, Region) else slope
    return f.multiply(TWO, gap)


@rule(
    "mse_loss_backward",
    "huber_loss_backward",
    "smooth_l1_loss_backward",
    "binary_cross_entropy_backward",
    "soft_margin_loss_backward",
)
def _loss_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    gradient = f.multiply(_loss_slope(derivation, index), derivation.operand("grad_output", index))
    if derivation.event.arg("reduction") == _MEAN:
        gradient = f.divide(gradient, f.Number(float(region(derivation).size)))
    return make(derivation.event.op, gradient)


# Activations: the gradient times the derivative --------------------------------------------------------------------


def _gelu_slope(x: f.Formula, approximate: str) -> f.Formula:
    """Return the derivative of `x * cdf(x)`, `cdf(x) + x * density(x)`, or that of its approximation by tanh."""
    if approximate != "tanh":
        cdf = f.multiply(_HALF, f.add(ONE, f.call("erf", f.divide(x, f.Number(math.sqrt(2), "sqrt(2)")))))
        bell = f.call("exp", f.divide(f.negate(f.multiply(x, x)), TWO))
        return f.add(cdf, f.divide(f.multiply(x, bell), f.Number(math.sqrt(2 * math.pi), "sqrt(2*pi)")))
    root, cubic = f.Number(math.sqrt(2 / math.pi), "sqrt(2/pi)"), f.Number(0.044715)
    bent = f.call("tanh", f.multiply(root, f.add(x, f.multiply(cubic, f.Op("**", (x, f.Number(3.0)))))))
    inner = f.multiply(root, f.add(ONE, f.multiply(f.Number(3.0), cubic, _square(x))))
    return f.multiply(_HALF, f.add(ONE, bent, f.multiply(x, f.subtract(ONE, _square(bent)), inner)))


def _sigmoid(x: f.Formula) -> f.Formula:
    return f.divide(ONE, f.add(ONE, f.call("exp", f.negate(x))))


def _softplus_slope(derivation: Derivation, x: f.Formula) -> f.Formula:
    scaled = f.multiply(derivation.number(derivation.event.arg("beta")), x)
    return f.choose(f.Op(">", (scaled, derivation.number(derivation.event.arg("threshold")))), ONE, _sigmoid(scaled))


_SLOPES: dict[str, Callable[[Derivation, f.Formula], f.Formula]] = {
    # The derivative of these is a function of the result of the activation, which is what the kernel gets.
    "sigmoid": lambda derivation, y: f.multiply(y, f.subtract(ONE, y)),
    "tanh": lambda derivation, y: f.subtract(ONE, _square(y)),
    # The kernels of the others get the input of the activation.
    "gelu": lambda derivation, x: _gelu_slope(x, str(derivation.event.arg("approximate"))),
    "silu": lambda derivation, x: f.multiply(_sigmoid(x), f.add(ONE, f.multiply(x, f.subtract(ONE, _sigmoid(x))))),
    "softplus": _softplus_slope,
    "threshold": lambda derivation, x: f.choose(
        f.Op(">", (x, derivation.number(derivation.event.arg("threshold")))), ONE, ZERO
    ),
    "leaky_relu": lambda derivation, x: f.choose(
        f.Op(">", (x, ZERO)), ONE, derivation.number(derivation.event.arg("negative_slope"))
    ),
}


@rule(*(f"{name}_backward" for name in _SLOPES))
def _activation_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    name = derivation.event.op.removesuffix("_backward")
    cell = derivation.operand("output" if name in ("sigmoid", "tanh") else "self", index)
    title = "relu" if name == "threshold" else name
    formula = f.multiply(derivation.operand("grad_output", index), _SLOPES[name](derivation, cell))
    note = say("times-derivative", "The gradient times the derivative of {function}.", function=title)
    return make(f"{title}_backward", formula, note)


# Softmax, layer norm -----------------------------------------------------------------------------------------------


@rule("_log_softmax_backward_data")
def _log_softmax_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    gradient, output = region(derivation, "grad_output"), region(derivation, "output")
    axis = int(derivation.event.arg("dim")) % max(len(output.shape), 1)
    indices = [(*index[:axis], k, *index[axis + 1 :]) for k in range(output.shape[axis])] if index else [()]
    if len(indices) > MOST_TERMS:
        return too_many(derivation, len(indices))
    total = f.add(*(derivation.cell(gradient, at) for at in indices))
    formula = f.subtract(
        derivation.cell(gradient, index), f.multiply(f.call("exp", derivation.cell(output, index)), total)
    )
    note = say("log-softmax", "The derivative of log_softmax: exp of it is the softmax.")
    return make("log_softmax_backward", formula, note)


def _normalized_indices(derivation: Derivation, lead: Index) -> list[Index]:
    shape = region(derivation, "input").shape
    return [(*lead, *rest) for rest in itertools.product(*map(range, shape[len(lead) :]))]


def _lead(derivation: Derivation) -> int:
    """Return how many leading axes layer norm does not normalize over."""
    return len(region(derivation, "input").shape) - len(derivation.event.arg("normalized_shape"))


@rule("native_layer_norm")
def _layer_norm(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain the results of `nn.LayerNorm`: the normalized cell, the mean, and 1 over the standard deviation."""
    if derivation.output == 0:
        return layer_norm(derivation, index, value)
    indices = _normalized_indices(derivation, index[: _lead(derivation)])
    return moments(derivation, indices, "mean" if derivation.output == 1 else "rstd")


@rule("native_layer_norm_backward")
def _layer_norm_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain rstd * (h - mean(h) - z * mean(h * z)) with z = (x - mean) * rstd and h = gradient * weight.

    Ba, Kiros, Hinton 2016 (Layer Normalization), differentiated; weight and bias get the sums of gradient * z and of
    gradient over all rows.
    """
    event, gradient = derivation.event, region(derivation, "grad_out")
    lead = _lead(derivation)
    wanted = [output for output, is_wanted in enumerate(event.arg("output_mask")) if is_wanted]
    if len(wanted) != len(event.outs):
        return unknown(derivation, index, value)

    def normalized(at: Index) -> f.Formula:
        mean, rstd = (derivation.operand(name, at) for name in ("mean", "rstd"))
        return f.multiply(f.subtract(derivation.operand("input", at), mean), rstd)

    def weighted(at: Index) -> list[f.Formula]:
        weight = event.arg("weight")
        cell = derivation.cell(gradient, at)
        return [cell, derivation.cell(weight, at[lead:])] if isinstance(weight, Region) else [cell]

    if wanted[derivation.output]:
        indices = [(*first, *index) for first in itertools.product(*map(range, gradient.shape[:lead]))]
        if len(indices) > MOST_TERMS:
            return too_many(derivation, 2 * len(indices))
        factors = [[derivation.cell(gradient, at)] for at in indices]
        if wanted[derivation.output] == 1:
            factors = [[*cell, normalized(at)] for cell, at in zip(factors, indices, strict=True)]
        formula = f.add(*(f.multiply(*item) for item in factors)) if factors else ZERO
        note = say("all-rows", "Summed over all rows, which share this parameter.")
        return make("layer_norm_backward", formula, note)
    indices = _normalized_indices(derivation, index[:lead])
    if len(indices) > MOST_TERMS:
        return too_many(derivation, 2 * len(indices))
    count = f.Number(float(len(indices)))
    mean = f.divide(f.add(*(f.multiply(*weighted(at)) for at in indices)), count)
    slope = f.divide(f.add(*(f.multiply(*weighted(at), normalized(at)) for at in indices)), count)
    inner = f.subtract(f.subtract(f.multiply(*weighted(index)), mean), f.multiply(normalized(index), slope))
    note = say(
        "layer-norm-backward",
        "The gradient without its part that shifts or stretches the whole row, which layer norm takes back.",
    )
    return make("layer_norm_backward", f.multiply(derivation.operand("rstd", index), inner), note)


# Gradient clipping -------------------------------------------------------------------------------------------------


@rule("_foreach_norm")
def _norms(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain the norm of a tensor of a list, which `nn.utils.clip_grad_norm_` computes."""
    tensor = derivation.event.arg("self")[derivation.output]
    if derivation.event.arg("ord") != 2:
        return unknown(derivation, index, value)
    if tensor.size > MOST_TERMS:
        return too_many(derivation, tensor.size)
    squares = [_square(derivation.cell(tensor, at)) for at in tensor.indices()]
    return make("norm", f.call("sqrt", f.add(*squares)) if squares else ZERO)
