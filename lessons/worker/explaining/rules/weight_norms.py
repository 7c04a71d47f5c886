"""Rules for weight normalization, and for the factor that `GradScaler` multiplies a loss by, and its way back."""

from __future__ import annotations

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import MOST_TERMS, ONE, ZERO, make, region, rule, too_many
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/weight-norms")


def _norm_index(derivation: Derivation, index: Index) -> Index:
    """Return where the norm stands that belongs to a cell of the weight: all axes but one have one number there."""
    axis = int(derivation.event.arg("dim")) % len(index)
    return tuple(position if at == axis else 0 for at, position in enumerate(index))


def _of_norm(derivation: Derivation, tensor: Region, index: Index) -> list[Index]:
    """Return the cells of the weight that a norm belongs to."""
    axis = int(derivation.event.arg("dim")) % len(index)
    return [at for at in tensor.indices() if at[axis] == index[axis]]


@rule("_weight_norm_interface")
def _weight_norm(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `weight_norm`: v * g / norm(v), with the norm of a row or of a column (Salimans and Kingma 2016)."""
    weight = region(derivation, "v")
    if derivation.output == 0:
        at = _norm_index(derivation, index)
        size = f.Op("/", (derivation.cell(region(derivation, "g"), at), derivation.result(1, at)))
        note = say("direction-size", "The direction of v, by the norm of v, times the size g.")
        return make("weight_norm", f.multiply(derivation.cell(weight, index), size), note)
    indices = _of_norm(derivation, weight, index)
    if len(indices) > MOST_TERMS:
        return too_many(derivation, len(indices))
    squares = [f.Op("**", (derivation.cell(weight, at), f.Number(2.0))) for at in indices]
    return make("norm", f.call("sqrt", f.add(*squares)))


@rule("_weight_norm_interface_backward")
def _weight_norm_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain the gradients of v and g, given that of the weight, w = v * g / norm."""
    gradient, weight = region(derivation, "grad_w"), region(derivation, "saved_v")
    if derivation.output == 1:
        indices = _of_norm(derivation, weight, index)
        if len(indices) > MOST_TERMS:
            return too_many(derivation, len(indices))
        products = [f.multiply(derivation.cell(gradient, at), derivation.cell(weight, at)) for at in indices]
        norm = derivation.cell(region(derivation, "saved_norms"), index)
        return make("gradient", f.Op("/", (f.add(*products), norm)))
    at = _norm_index(derivation, index)
    norm, size = (derivation.cell(region(derivation, name), at) for name in ("saved_norms", "saved_g"))
    along = f.Op("/", (f.multiply(derivation.cell(weight, index), derivation.result(1, at)), norm))
    across = f.Op("-", (derivation.cell(gradient, index), along))
    return make("gradient", f.multiply(f.Op("/", (size, norm)), across))


@rule("_pack_padded_sequence")
def _packed_lengths(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain how many sequences of a batch are longer than a number of steps: packing lays these side by side."""
    lengths = region(derivation, "lengths")
    longer = [f.Op(">", (derivation.cell(lengths, at), f.Number(float(index[0])))) for at in lengths.indices()]
    return make("count", f.add(*longer), say("packed", "How many sequences still have a number at this step."))


@rule("_amp_foreach_non_finite_check_and_unscale")
def _unscale(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain how `GradScaler` divides gradients by the factor of the loss, and looks whether they are finite."""
    event = derivation.event
    if derivation.output < len(event.arg("self")):
        factor = derivation.operand("inv_scale", ())
        note = say("unscale", "GradScaler multiplies by 1 over the factor that it had multiplied the loss by.")
        return make("unscale", f.multiply(derivation.cell(event.arg("self")[derivation.output], index), factor), note)
    return make("found_inf", None, say("found-inf", "1 if any of these gradients is not finite; else as it was."))


@rule("_amp_update_scale")
def _update_scale(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain how `GradScaler` changes its factor, and counts the steps that it has taken since."""
    event = derivation.event
    factor, steps = derivation.operand("self", ()), derivation.operand("growth_tracker", ())
    is_skipped = derivation.value(region(derivation, "found_inf"), ()) > 0
    count = derivation.value(region(derivation, "growth_tracker"), ()) + 1
    is_grown = not is_skipped and count == event.arg("growth_interval")
    if derivation.output == 1:
        return make("count", ZERO if is_skipped or is_grown else f.add(steps, ONE))
    if is_skipped:
        note = say("backed-off", "A gradient was not finite: the step is skipped, and the factor is made smaller.")
        return make("scale", f.multiply(factor, f.Number(float(event.arg("scale_backoff_factor")))), note)
    if is_grown:
        note = say("grown", "After so many steps with finite gradients, the factor is made larger.")
        return make("scale", f.multiply(factor, f.Number(float(event.arg("scale_growth_factor")))), note)
    return make("copy", factor)
