"""Rules for random numbers, which name the draw and its seed so that it can be repeated, and for dropout."""

from __future__ import annotations

import math
from typing import Literal

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RecordedRun, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import leaf, make, ordinal_ending, rule, short
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/random-draws")


@rule("rand", "rand_like", "uniform")
def _uniform(derivation: Derivation, index: Index, value: float) -> RuleResult:
    low, high = 0.0, 1.0
    if derivation.event.op.startswith("uniform"):
        low, high = float(derivation.event.arg("from")), float(derivation.event.arg("to"))
    drawn = _drawn(derivation.event, index, "uniform")
    note = say("between", "{draw}, between {low} and {high}.", draw=drawn, low=short(low), high=short(high))
    return leaf(derivation, "draw", index, note)


@rule("randn", "randn_like", "normal")
def _normal(derivation: Derivation, index: Index, value: float) -> RuleResult:
    mean, std = 0.0, 1.0
    if derivation.event.op.startswith("normal"):
        given = derivation.event.arg("mean"), derivation.event.arg("std")
        mean, std = (float(item) if isinstance(item, int | float) else math.nan for item in given)
    drawn = _drawn(derivation.event, index, "normal")
    if math.isnan(mean + std):
        note = say("own-mean", "{draw}, with a mean and standard deviation of its own.", draw=drawn)
        return leaf(derivation, "draw", index, note)
    note = say(
        "with-mean",
        "{draw}, with mean {mean} and standard deviation {std}.",
        draw=drawn,
        mean=short(mean),
        std=short(std),
    )
    return leaf(derivation, "draw", index, note)


@rule("bernoulli")
def _bernoulli(derivation: Derivation, index: Index, value: float) -> RuleResult:
    chance = derivation.event.arg("p")
    drawn = _drawn(derivation.event, index, "random")
    note = (
        say("with-probability", "{draw}: 1 with probability {chance}, else 0.", draw=drawn, chance=short(chance))
        if isinstance(chance, int | float)
        else say("draw", "{draw}.", draw=drawn)
    )
    return leaf(derivation, "draw", index, note)


@rule("randint", "randint_like", "randperm", "random", "exponential", "multinomial")
def _random(derivation: Derivation, index: Index, value: float) -> RuleResult:
    drawn, op = _drawn(derivation.event, index, "random"), derivation.event.op.strip("_")
    return leaf(derivation, "draw", index, say("by-operation", "{draw} ({operation}).", draw=drawn, operation=op))


Kind = Literal["uniform", "normal", "random"]


def _drawn(event: Event, index: Index, kind: Kind) -> str:
    """Name a draw: `Uniform draw 2 of seed 123` is number 2 of `torch.rand` after that seed.

    If this operation, or one before it, consumes random bits differently, the draw is counted within its operation:
    `Normal draw 2 of the 3rd random operation after seed 123`. Both counts start at 1.
    """
    draw, region = event.draw, event.outs[0]
    if draw is None or draw.call is None:
        return _of_seed(kind, draw.seed) if draw else _unseeded(kind)
    # Numbers are drawn in the order in which they lie in memory.
    order = sorted(range(len(index)), key=lambda axis: (-region.stride[axis], axis))
    flat_index = 0
    for axis in order:
        flat_index = flat_index * region.shape[axis] + index[axis]
    if draw.first is not None:
        return _numbered(kind, draw.first + flat_index + 1, draw.seed)
    return _in_operation(kind, flat_index + 1, _operation_number(draw.call), draw.seed)


def _unseeded(kind: Kind) -> str:
    if kind == "uniform":
        return say("uniform", "Uniform draw")
    return say("normal", "Normal draw") if kind == "normal" else say("random", "Random draw")


def _of_seed(kind: Kind, seed: int) -> str:
    if kind == "uniform":
        return say("uniform-of-seed", "Uniform draw of seed {seed}", seed=seed)
    if kind == "normal":
        return say("normal-of-seed", "Normal draw of seed {seed}", seed=seed)
    return say("random-of-seed", "Random draw of seed {seed}", seed=seed)


def _numbered(kind: Kind, number: int, seed: int) -> str:
    if kind == "uniform":
        return say("uniform-number", "Uniform draw {number} of seed {seed}", number=number, seed=seed)
    if kind == "normal":
        return say("normal-number", "Normal draw {number} of seed {seed}", number=number, seed=seed)
    return say("random-number", "Random draw {number} of seed {seed}", number=number, seed=seed)


def _in_operation(kind: Kind, number: int, nth: str, seed: int) -> str:
    if kind == "uniform":
        return say(
            "uniform-in-operation",
            "Uniform draw {number} of the {nth} random operation after seed {seed}",
            number=number,
            nth=nth,
            seed=seed,
        )
    if kind == "normal":
        return say(
            "normal-in-operation",
            "Normal draw {number} of the {nth} random operation after seed {seed}",
            number=number,
            nth=nth,
            seed=seed,
        )
    return say(
        "random-in-operation",
        "Random draw {number} of the {nth} random operation after seed {seed}",
        number=number,
        nth=nth,
        seed=seed,
    )


def _operation_number(number: int) -> str:
    """Write which random operation it is: `3rd`."""
    ending = ordinal_ending(number)
    if ending == "st":
        return say("1st-operation", "{number}st", number=number)
    if ending == "nd":
        return say("2nd-operation", "{number}nd", number=number)
    return (
        say("3rd-operation", "{number}rd", number=number)
        if ending == "rd"
        else say("nth-operation", "{number}th", number=number)
    )


# Dropout -----------------------------------------------------------------------------------------------------------


def dropout(run: RecordedRun, event: Event) -> tuple[Event, float] | None:
    """Return the draw and the probability of being kept if a product is the last step of dropout, else None.

    On a CPU, dropout is `input * (bernoulli(1 - p) / (1 - p))`.
    """
    noise = event.arg("other")
    if event.op not in ("mul", "mul_") or not isinstance(noise, Region):
        return None
    writes = [item for item in run.record.writes.get(noise.storage, ())[:4] if item.time < event.time]
    if len(writes) != 3 or writes[2].op != "div_" or writes[1].op != "bernoulli_" or writes[2].sites != event.sites:
        return None
    keep = writes[1].arg("p")
    return (writes[1], float(keep)) if isinstance(keep, int | float) else None


def dropped(derivation: Derivation, index: Index, found: tuple[Event, float]) -> RuleResult:
    """Explain a number that went through dropout."""
    draw, keep = found
    noise = derivation.event.arg("other")
    noise_index = broadcast(noise.shape, index)
    survived = derivation.value(noise, noise_index) != 0
    drawn, p = _drawn(draw, noise_index, "random"), short(1 - keep)
    if not keep:
        note = say("dropped-all", "{draw}: dropped (p = {p}, nothing is kept).", draw=drawn, p=p)
    elif survived:
        note = say(
            "kept",
            "{draw}: kept, and divided by 1 - p (p = {p}, kept numbers grow by 1 / (1 - p) = {factor}).",
            draw=drawn,
            p=p,
            factor=short(1 / keep),
        )
    else:
        note = say(
            "dropped",
            "{draw}: dropped (p = {p}, kept numbers grow by 1 / (1 - p) = {factor}).",
            draw=drawn,
            p=p,
            factor=short(1 / keep),
        )
    return make("dropout", _dropout_formula(derivation.operand("self", index), survived, keep), note)


@rule("native_dropout")
def _native_dropout(derivation: Derivation, index: Index, value: float) -> RuleResult:
    keep = 1 - float(derivation.event.arg("p") or 0.0)
    survived = _survived(derivation, index)
    return make("dropout", _dropout_formula(derivation.operand("input", index), survived, keep))


def _survived(derivation: Derivation, index: Index) -> bool:
    """Look a cell up in the mask, which is the second result of this operation."""
    return (
        derivation.run.history.value(derivation.element(derivation.event.outs[1], index, derivation.event.time + 1))
        != 0
    )


def _dropout_formula(cell: f.Formula, survived: bool, keep: float) -> f.Formula:
    masked = f.multiply(cell, f.Number(float(survived)))
    return f.Op("/", (masked, f.Number(keep, "1 - p")))
