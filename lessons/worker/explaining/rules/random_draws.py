"""Rules for random numbers, which name the draw and its seed so that it can be repeated, and for dropout."""

from __future__ import annotations

import math

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, broadcast
from lessons.worker.explaining.recorded_run import Index, RecordedRun, RuleResult
from lessons.worker.explaining.rules.registry import leaf, make, ordinal, rule, short
from lessons.worker.recording.record import Event
from lessons.worker.recording.regions import Region


@rule("rand", "rand_like", "uniform")
def _uniform(derivation: Derivation, index: Index, value: float) -> RuleResult:
    low, high = 0.0, 1.0
    if derivation.event.op.startswith("uniform"):
        low, high = float(derivation.event.arg("from")), float(derivation.event.arg("to"))
    return leaf(
        derivation,
        "draw",
        index,
        f"{_drawn(derivation.event, index, 'Uniform')}, between {short(low)} and {short(high)}.",
    )


@rule("randn", "randn_like", "normal")
def _normal(derivation: Derivation, index: Index, value: float) -> RuleResult:
    mean, std = 0.0, 1.0
    if derivation.event.op.startswith("normal"):
        given = derivation.event.arg("mean"), derivation.event.arg("std")
        mean, std = (float(item) if isinstance(item, int | float) else math.nan for item in given)
    drawn = _drawn(derivation.event, index, "Normal")
    if math.isnan(mean + std):
        return leaf(derivation, "draw", index, f"{drawn}, with a mean and standard deviation of its own.")
    return leaf(derivation, "draw", index, f"{drawn}, with mean {short(mean)} and standard deviation {short(std)}.")


@rule("bernoulli")
def _bernoulli(derivation: Derivation, index: Index, value: float) -> RuleResult:
    chance = derivation.event.arg("p")
    text = _drawn(derivation.event, index, "Random")
    if isinstance(chance, int | float):
        text += f": 1 with probability {short(chance)}, else 0"
    return leaf(derivation, "draw", index, f"{text}.")


@rule("randint", "randint_like", "randperm", "random", "exponential", "multinomial")
def _random(derivation: Derivation, index: Index, value: float) -> RuleResult:
    return leaf(
        derivation, "draw", index, f"{_drawn(derivation.event, index, 'Random')} ({derivation.event.op.strip('_')})."
    )


def _drawn(event: Event, index: Index, kind: str) -> str:
    """Name a draw: `Uniform draw 2 of seed 123` is number 2 of `torch.rand` after that seed.

    If this operation, or one before it, consumes random bits differently, the draw is counted within its operation:
    `Normal draw 2 of the 3rd random operation after seed 123`. Both counts start at 1.
    """
    draw, region = event.draw, event.outs[0]
    if draw is None or draw.call is None:
        return f"{kind} draw" + (f" of seed {draw.seed}" if draw else "")
    # Numbers are drawn in the order in which they lie in memory.
    order = sorted(range(len(index)), key=lambda axis: (-region.stride[axis], axis))
    flat_index = 0
    for axis in order:
        flat_index = flat_index * region.shape[axis] + index[axis]
    if draw.first is not None:
        return f"{kind} draw {draw.first + flat_index + 1} of seed {draw.seed}"
    return f"{kind} draw {flat_index + 1} of the {ordinal(draw.call)} random operation after seed {draw.seed}"


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
    word = "kept, and divided by 1 - p" if survived else "dropped"
    grow = f"kept numbers grow by 1 / (1 - p) = {short(1 / keep)}" if keep else "nothing is kept"
    note = f"{_drawn(draw, noise_index, 'Random')}: {word} (p = {short(1 - keep)}, {grow})."
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
