"""Rules for normalization: of a row (softmax and its derivative, layer norm), over channels, and over groups of
them.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.linear_maps import positions_of
from attn_tutor.lessons.worker.explaining.rules.masking import masked_on
from attn_tutor.lessons.worker.explaining.rules.registry import MOST_TERMS, make, region, rule, short, too_many, unknown
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/normalization")


def _row(tensor: Region, dim: Any, index: Index) -> tuple[int, int, list[Index]]:
    """Return the line of cells along an axis through `index`: the axis, the position of `index` in it, its indices."""
    if not tensor.shape:
        return 0, 0, [()]
    axis = int(dim) % len(tensor.shape)
    return axis, index[axis], [(*index[:axis], position, *index[axis + 1 :]) for position in range(tensor.shape[axis])]


def _largest(rank: int, axis: int, number: float) -> str:
    """Say what softmax subtracts first along an axis of a tensor with so many axes."""
    largest = short(number)
    if rank - axis == 2:
        return say(
            "largest-of-column",
            "The largest of the column, {number}, is subtracted first, so that no exp overflows.",
            number=largest,
        )
    if rank - axis > 2:
        return say(
            "largest-of-line",
            "The largest of the line along axis {axis}, {number}, is subtracted first, so that no exp overflows.",
            axis=axis,
            number=largest,
        )
    return say(
        "largest-of-row",
        "The largest of the row, {number}, is subtracted first, so that no exp overflows.",
        number=largest,
    )


def _own_score(score: float, where: str, is_zero: bool) -> str:
    """Say that a score was masked, where if that is known, and whether that makes the result 0."""
    if is_zero:
        return (
            say("minus-inf-masked-at", "Its own score is -inf (masked {where}), and exp(-inf) is 0.", where=where)
            if where
            else say("minus-inf-masked", "Its own score is -inf (masked), and exp(-inf) is 0.")
        )
    return (
        say("masked-at", "Its own score is {score} (masked {where}).", score=short(score), where=where)
        if where
        else say("masked", "Its own score is {score} (masked).", score=short(score))
    )


@rule("_softmax", "_log_softmax", "softmax", "log_softmax", "_safe_softmax")
def _softmax(derivation: Derivation, index: Index, value: float) -> RuleResult:
    scores, op = region(derivation), derivation.event.op.strip("_")
    axis, own, indices = _row(scores, derivation.event.arg("dim"), index)
    if len(indices) > MOST_TERMS:
        return too_many(derivation, len(indices))
    cells = [derivation.cell(scores, at) for at in indices]
    values = derivation.values(scores, indices)
    top = max(range(len(values)), key=lambda position: -math.inf if math.isnan(values[position]) else values[position])
    exps = [f.call("exp", f.Op("-", (cell, cells[top]))) for cell in cells]
    shifted = [f.evaluate(f.call("exp", f.Number(one - values[top])), ()) for one in values]
    notes = []
    if math.isfinite(values[top]) and not any(map(math.isnan, values)):
        notes.append(_largest(len(scores.shape), axis, values[top]))
    where = masked_on(derivation, scores, indices[own])
    is_zero = value == 0 and values[own] == -math.inf
    if where is not None:
        notes.append(_own_score(values[own], where, is_zero))
    elif is_zero:
        notes.append(say("minus-inf", "Its own score is -inf, and exp(-inf) is 0."))
    details = [("exp", shifted), (say("sum-of-exp", "sum of exp"), [f.total(shifted)])]
    if op == "log_softmax":
        shifted_cell = f.Op("-", (cells[own], cells[top]))
        return make(op, f.Op("-", (shifted_cell, f.call("log", f.add(*exps)))), *notes, details=details)
    if op == "safe_softmax" and all(one == -math.inf for one in values):
        note = say("nothing-left", "Nothing in the row was left; this kernel makes such a row 0.")
        return make("softmax", f.Number(0.0), note)
    return make("softmax", f.Op("/", (exps[own], f.add(*exps))), *notes, details=details)


@rule("_softmax_backward_data")
def _softmax_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    gradient, output = region(derivation, "grad_output"), region(derivation, "output")
    _, _, indices = _row(output, derivation.event.arg("dim"), index)
    if len(indices) > MOST_TERMS:
        return too_many(derivation, 2 * len(indices))
    terms = [f.multiply(derivation.cell(gradient, at), derivation.cell(output, at)) for at in indices]
    inner = f.Op("-", (derivation.cell(gradient, index), f.add(*terms)))
    note = say(
        "derivative",
        "The derivative of softmax: a weight times how much its gradient exceeds the weighted mean of all.",
    )
    return make("softmax_backward", f.multiply(derivation.cell(output, index), inner), note)


@rule("native_layer_norm")
def layer_norm(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a normalized cell by the mean and the variance of its row."""
    if derivation.output:
        return unknown(derivation, index, value)
    inputs = region(derivation, "input")
    lead = index[: len(inputs.shape) - len(derivation.event.arg("normalized_shape"))]
    indices = [(*lead, *rest) for rest in itertools.product(*map(range, inputs.shape[len(lead) :]))]
    cell = derivation.cell(inputs, index)
    mean, variance = derivation.moments(inputs, indices)
    spread = f.call("sqrt", f.add(variance, f.Number(float(derivation.event.arg("eps")), "eps")))
    formula: f.Formula = f.Op("/", (f.Op("-", (cell, mean)), spread))
    for name, join in (("weight", f.multiply), ("bias", f.add)):
        if isinstance(derivation.event.arg(name), Region):
            formula = join(formula, derivation.cell(region(derivation, name), index[len(lead) :]))
    note = say.count(
        "moments",
        len(indices),
        "The mean and the variance are those of {count} number.",
        "The mean and the variance are those of {count} numbers.",
    )
    return make("layer_norm", formula, note)


def _scaled(derivation: Derivation, cell: f.Formula, mean: f.Formula, rstd: f.Formula, channel: int) -> f.Formula:
    """Return the normalized cell, times a weight and plus a bias if there are any.

    The kernels multiply before they subtract, which rounds like this formula and not like a product of a difference.
    """
    given = {name: derivation.event.arg(name) for name in ("weight", "bias")}
    parts = {
        name: [derivation.cell(tensor, (channel,))] for name, tensor in given.items() if isinstance(tensor, Region)
    }
    factors = [rstd, *parts.get("weight", [])]
    scaled = f.Op("-", (f.multiply(cell, *factors), f.multiply(mean, *factors)))
    return f.add(scaled, *parts.get("bias", []))


def moments(derivation: Derivation, indices: list[Index], wanted: str) -> RuleResult:
    """Explain the mean of numbers, their variance, or 1 over their standard deviation."""
    inputs = region(derivation, "input")
    if len(indices) > MOST_TERMS:
        return too_many(derivation, len(indices))
    cells, count = [derivation.cell(inputs, at) for at in indices], f.Number(float(len(indices)))
    mean = f.Op("/", (f.add(*cells), count))
    if wanted == "mean":
        return make("mean", mean)
    center = f.Number(f.total(derivation.values(inputs, indices)) / len(indices), "mean")
    squares = [f.Op("**", (f.Op("-", (cell, center)), f.Number(2.0))) for cell in cells]
    variance = f.Op("/", (f.add(*squares), count))
    spread = f.call("sqrt", f.add(variance, f.Number(float(derivation.event.arg("eps")), "eps")))
    return make("rstd", f.Op("/", (f.Number(1.0), spread)), say("rstd", "1 over the standard deviation."))


def _of_channel(tensor: Region, channel: int) -> list[Index]:
    return [(sample, channel, *at) for sample, at in positions_of(tensor)]


@rule("native_batch_norm")
def _batch_norm(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.BatchNorm1d` and its siblings: a cell, the moments of its channel, or their running averages."""
    event, inputs = derivation.event, region(derivation, "input")
    # In training the running averages are written too: they come first.
    running = len(event.outs) - 3 if event.arg("training") else 0
    output = derivation.output - running
    if output < 0:
        return _running_average(derivation, index, derivation.output, running)
    if output == 0:
        channel = index[1]
        cell = derivation.cell(inputs, index)
        if not event.arg("training"):
            mean, variance = (derivation.operand(name, (channel,)) for name in ("running_mean", "running_var"))
            spread = f.call("sqrt", f.add(variance, f.Number(float(event.arg("eps")), "eps")))
            formula = _scaled(derivation, cell, mean, f.Op("/", (f.Number(1.0), spread)), channel)
            return make("batch_norm", formula, say("running", "By the running mean and variance."))
        mean, rstd = (derivation.result(running + at, (channel,)) for at in (1, 2))
        formula = _scaled(derivation, cell, mean, rstd, channel)
        return make("batch_norm", formula, say("channel", "By the mean and the spread of its channel."))
    if not event.arg("training"):
        return unknown(derivation, index, value)
    return moments(derivation, _of_channel(inputs, index[0]), "mean" if output == 1 else "rstd")


def _running_average(derivation: Derivation, index: Index, which: int, running: int) -> RuleResult:
    event, inputs = derivation.event, region(derivation, "input")
    names = [name for name in ("running_mean", "running_var") if isinstance(event.arg(name), Region)]
    old, momentum = derivation.operand(names[which], index), f.Number(float(event.arg("momentum")), "momentum")
    kept = f.multiply(f.Op("-", (f.Number(1.0), momentum)), old)
    if names[which] == "running_mean":
        new = derivation.result(running + 1, index)
    else:
        rstd = derivation.result(running + 2, index)
        count = math.prod(inputs.shape) // inputs.shape[1]
        biased = f.Op(
            "-", (f.Op("/", (f.Number(1.0), f.multiply(rstd, rstd))), f.Number(float(event.arg("eps")), "eps"))
        )
        new = f.Op("/", (f.multiply(biased, f.Number(float(count))), f.Number(float(count - 1))))
        if count == 1:
            note = say("one-number", "One number has no variance: it is divided by its count less 1, which is 0.")
            zero = f.Number(0.0)
            return make(names[which], f.add(kept, f.multiply(momentum, f.Op("/", (zero, zero)))), note)
    note = say("moved-toward-batch", "Moved toward this batch by the momentum.")
    return make(names[which], f.add(kept, f.multiply(momentum, new)), note)


@rule("native_batch_norm_backward")
def _batch_norm_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain weight * rstd * (g - mean(g) - z * mean(g * z)) with z = (x - mean) * rstd, over a channel."""
    event, gradient, inputs = derivation.event, region(derivation, "grad_out"), region(derivation, "input")
    wanted = [output for output, is_wanted in enumerate(event.arg("output_mask")) if is_wanted]
    if len(wanted) != len(event.outs):
        return unknown(derivation, index, value)
    output = wanted[derivation.output]
    channel = index[1] if output == 0 else index[0]
    cells = _of_channel(inputs, channel)
    if len(cells) > MOST_TERMS:
        return too_many(derivation, 2 * len(cells))
    mean, rstd = _moments_of_channel(derivation, channel)

    def normalized(at: Index) -> f.Formula:
        return f.multiply(f.Op("-", (derivation.cell(inputs, at), mean)), rstd)

    total = f.add(*(derivation.cell(gradient, at) for at in cells))
    if output == 2:
        return make("batch_norm_backward", total, _summed_over_channel())
    slope = f.add(*(f.multiply(derivation.cell(gradient, at), normalized(at)) for at in cells))
    if output == 1:
        return make("batch_norm_backward", slope, _summed_over_channel())
    scale = (
        [derivation.cell(region(derivation, "weight"), (channel,))] if isinstance(event.arg("weight"), Region) else []
    )
    if not event.arg("train"):
        return make("batch_norm_backward", f.multiply(derivation.cell(gradient, index), rstd, *scale))
    count = f.Number(float(len(cells)))
    inner = f.Op("-", (derivation.cell(gradient, index), f.Op("/", (total, count))))
    inner = f.Op("-", (inner, f.multiply(normalized(index), f.Op("/", (slope, count)))))
    note = say(
        "batch-norm-backward",
        "The gradient without its part that shifts or stretches the whole channel, which batch norm takes back.",
    )
    return make("batch_norm_backward", f.multiply(*scale, rstd, inner), note)


def _summed_over_channel() -> str:
    return say("summed-over-channel", "Summed over the channel, which shares this parameter.")


def _moments_of_channel(derivation: Derivation, channel: int) -> tuple[f.Formula, f.Formula]:
    """Return the mean and 1 over the standard deviation by which a channel was normalized."""
    event = derivation.event
    names = ("save_mean", "save_invstd") if event.arg("train") else ("running_mean", "running_var")
    mean, spread = (derivation.operand(name, (channel,)) for name in names)
    if event.arg("train"):
        return mean, spread
    root = f.call("sqrt", f.add(spread, f.Number(float(event.arg("eps")), "eps")))
    return mean, f.Op("/", (f.Number(1.0), root))


def _group_cells(derivation: Derivation, sample: int, group: int) -> list[Index]:
    inputs = region(derivation, "input")
    size = inputs.shape[1] // int(derivation.event.arg("group"))
    positions = list(itertools.product(*map(range, inputs.shape[2:])))
    return [(sample, channel, *at) for channel in range(group * size, (group + 1) * size) for at in positions]


@rule("native_group_norm")
def _group_norm(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.GroupNorm`: a cell, or the mean or 1 over the standard deviation of its group of channels."""
    inputs = region(derivation, "input")
    if derivation.output:
        sample, group = index
        return moments(
            derivation, _group_cells(derivation, sample, group), "mean" if derivation.output == 1 else "rstd"
        )
    group = index[1] * int(derivation.event.arg("group")) // inputs.shape[1]
    mean, rstd = (derivation.result(at, (index[0], group)) for at in (1, 2))
    formula = _scaled(derivation, derivation.cell(inputs, index), mean, rstd, index[1])
    return make("group_norm", formula, say("group", "By the mean and the spread of its group of channels."))


@rule("native_group_norm_backward")
def _group_norm_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain rstd * (h - mean(h) - z * mean(h * z)) with h = gradient * weight, over the cells of a group."""
    event, gradient, inputs = derivation.event, region(derivation, "grad_out"), region(derivation, "input")
    wanted = [output for output, is_wanted in enumerate(event.arg("output_mask")) if is_wanted]
    if len(wanted) != len(event.outs):
        return unknown(derivation, index, value)
    groups = int(event.arg("group"))
    size = inputs.shape[1] // groups

    def normalized(at: Index) -> f.Formula:
        mean, rstd = (derivation.cell(region(derivation, name), (at[0], at[1] // size)) for name in ("mean", "rstd"))
        return f.multiply(f.Op("-", (derivation.cell(inputs, at), mean)), rstd)

    def weighted(at: Index) -> list[f.Formula]:
        cell = [derivation.cell(gradient, at)]
        return (
            [*cell, derivation.cell(region(derivation, "weight"), (at[1],))]
            if isinstance(event.arg("weight"), Region)
            else cell
        )

    output = wanted[derivation.output]
    cells = _of_channel(inputs, index[0]) if output else _group_cells(derivation, index[0], index[1] // size)
    if len(cells) > MOST_TERMS:
        return too_many(derivation, 2 * len(cells))
    if output:
        factors = [[derivation.cell(gradient, at), *([normalized(at)] if output == 1 else [])] for at in cells]
        formula = f.add(*(f.multiply(*item) for item in factors))
        return make("group_norm_backward", formula, _summed_over_channel())
    count = f.Number(float(len(cells)))
    mean = f.Op("/", (f.add(*(f.multiply(*weighted(at)) for at in cells)), count))
    slope = f.Op("/", (f.add(*(f.multiply(*weighted(at), normalized(at)) for at in cells)), count))
    inner = f.Op("-", (f.Op("-", (f.multiply(*weighted(index)), mean)), f.multiply(normalized(index), slope)))
    rstd = derivation.cell(region(derivation, "rstd"), (index[0], index[1] // size))
    note = say(
        "group-norm-backward",
        "The gradient without its part that shifts or stretches the whole group, which group norm takes back.",
    )
    return make("group_norm_backward", f.multiply(rstd, inner), note)
