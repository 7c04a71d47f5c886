"""Random numbers, told as what can be drawn again: which draw of which seed; and dropout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, Index, RuleResult, broadcast
from lessons.worker.explaining.rules.registry import make, ordinal, rule, short
from lessons.worker.recording.recorder import Event, Region

if TYPE_CHECKING:
    from lessons.worker.explaining.explainer import Explainer


@rule("rand", "rand_like", "uniform")
def _uniform(work: Derivation, index: Index, value: float) -> RuleResult:
    low, high = 0.0, 1.0
    if work.event.op.startswith("uniform"):
        low, high = float(work.event.arg("from")), float(work.event.arg("to"))
    return make("draw", None, f"{_drawn(work.event, index, 'Uniform')}, between {short(low)} and {short(high)}.")


@rule("randn", "randn_like", "normal")
def _normal(work: Derivation, index: Index, value: float) -> RuleResult:
    mean, std = 0.0, 1.0
    if work.event.op.startswith("normal"):
        given = work.event.arg("mean"), work.event.arg("std")
        mean, std = (float(item) if isinstance(item, int | float) else math.nan for item in given)
    drawn = _drawn(work.event, index, "Normal")
    if math.isnan(mean + std):
        return make("draw", None, f"{drawn}, with a mean and standard deviation of its own.")
    return make("draw", None, f"{drawn}, with mean {short(mean)} and standard deviation {short(std)}.")


@rule("bernoulli")
def _bernoulli(work: Derivation, index: Index, value: float) -> RuleResult:
    chance = work.event.arg("p")
    text = _drawn(work.event, index, "Random")
    if isinstance(chance, int | float):
        text += f": 1 with probability {short(chance)}, else 0"
    return make("draw", None, f"{text}.")


@rule("randint", "randint_like", "randperm", "random", "exponential", "multinomial")
def _random(work: Derivation, index: Index, value: float) -> RuleResult:
    return make("draw", None, f"{_drawn(work.event, index, 'Random')} ({work.event.op.strip('_')}).")


def _drawn(event: Event, index: Index, kind: str) -> str:
    """`Uniform draw 2 of seed 123`: number 2 of `torch.rand` after that seed.

    Where an operation before, or this one, uses up random bits in another way, only its count can be told:
    `Normal draw 2 of the 3rd random operation after seed 123`. Both count from 1.
    """
    draw, region = event.draw, event.outs[0]
    if draw is None or draw.call is None:
        return f"{kind} draw" + (f" of seed {draw.seed}" if draw else "")
    # Numbers are drawn in the order in which they lie in memory.
    order = sorted(range(len(index)), key=lambda axis: (-region.stride[axis], axis))
    place = 0
    for axis in order:
        place = place * region.shape[axis] + index[axis]
    if draw.first is not None:
        return f"{kind} draw {draw.first + place + 1} of seed {draw.seed}"
    return f"{kind} draw {place + 1} of the {ordinal(draw.call)} random operation after seed {draw.seed}"


# Dropout -----------------------------------------------------------------------------------------------------------


def dropout(explainer: Explainer, event: Event) -> tuple[Event, float] | None:
    """If this product is the last step of dropout: the draw, and the probability of being kept.

    On a CPU dropout is `input * (bernoulli(1 - p) / (1 - p))`.
    """
    noise = event.arg("other")
    if event.op not in ("mul", "mul_") or not isinstance(noise, Region):
        return None
    writes = [item for item in explainer.record.writes.get(noise.storage, ())[:4] if item.time < event.time]
    if len(writes) != 3 or writes[2].op != "div_" or writes[1].op != "bernoulli_" or writes[2].sites != event.sites:
        return None
    keep = writes[1].arg("p")
    return (writes[1], float(keep)) if isinstance(keep, int | float) else None


def dropped(work: Derivation, index: Index, found: tuple[Event, float]) -> RuleResult:
    """A number that went through dropout."""
    draw, keep = found
    noise = work.event.arg("other")
    place = broadcast(noise.shape, index)
    survived = work.value(noise, place) != 0
    word = "kept, and divided by 1 - p" if survived else "dropped"
    grow = f"kept numbers grow by 1 / (1 - p) = {short(1 / keep)}" if keep else "nothing is kept"
    note = f"{_drawn(draw, place, 'Random')}: {word} (p = {short(1 - keep)}, {grow})."
    return make("dropout", _thinned(work.operand("self", index), survived, keep), note)


@rule("native_dropout")
def _native_dropout(work: Derivation, index: Index, value: float) -> RuleResult:
    keep = 1 - float(work.event.arg("p") or 0.0)
    survived = _was_kept(work, index)
    return make("dropout", _thinned(work.operand("input", index), survived, keep))


def _was_kept(work: Derivation, index: Index) -> bool:
    """What the mask says that this operation returns, too."""
    return work.explainer.history.value(work.element(work.event.outs[1], index, work.event.time + 1)) != 0


def _thinned(cell: f.Formula, survived: bool, keep: float) -> f.Formula:
    kept = f.multiply(cell, f.Number(float(survived)))
    return f.Op("/", (kept, f.Number(keep, "1 - p")))
