"""The origin of an infinity or NaN: the first number on the way back that none of its operands explains."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import source_location
from attn_tutor.lessons.worker.explaining.operand_names import Labels
from attn_tutor.lessons.worker.explaining.recorded_run import DerivedCell, RecordedRun
from attn_tutor.lessons.worker.recording.element_history import Element

say = Wording("explaining/nonfinite")

LONGEST_CHAIN = 5000
"""Steps back from a number that are followed."""

_SETTING = ("masked_fill", "where", "literal", "given", "constant", "set")
"""Operations that do not compute an infinity but set a number to it."""

_OVERFLOWING = (
    *("exp", "mul", "add", "sub", "sum", "square", "mm", "bmm", "mv", "dot", "addmm", "baddbmm"),
    *("exp2", "expm1", "cosh", "sinh", "_to_copy", "addcmul", "foreach_norm", "linalg_vector_norm", "norm"),
)
"""Operations that turn finite numbers into an infinity only if the result is too large for its type."""

_LOGARITHMS = ("log", "log2", "log10", "log1p")
_DIVIDING = ("div", "reciprocal", "rsqrt", "addcdiv")
_OF_SEVERAL = ("mean", "std", "var", "std_mean", "var_mean", "nll_loss_forward", "nll_loss2d_forward")
_MAKING_INFINITIES = ("divided-by-0", "logarithm-of-0")
_BOUNDED = ("acos", "asin", "acosh", "atanh", "erfinv", "logit", "fmod", "remainder", "lgamma", "digamma")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an operation gave a number that is not finite.

    Attributes:
        kind: an id that scripts can rely on, such as `zero-by-zero`.
        text: a sentence for people.
    """

    kind: str
    text: str


def notes(run: RecordedRun, labels: Labels, element: Element, value: float, derived: DerivedCell) -> list[str]:
    """Say where a value that is not finite came from; nothing for finite values and for those that the code gave."""
    if math.isfinite(value):
        return []
    word = "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    source = _nonfinite_operand(run, value, derived)
    if source is None:
        is_chosen = math.isnan(value) and is_chosen_inside(run, derived)
        if (_is_put(value, derived) and not is_chosen) or not derived.operands:
            # Its own note or formula says so already.
            return []
        if derived.event is not None and derived.event.opaque:
            # It may have come with what is not recorded.
            return []
        return [_born_here(word, _text_of(run, element, value, derived))]
    code_names = derived.code_names
    for _ in range(LONGEST_CHAIN):
        earlier = run.derive(source)
        next_source = _nonfinite_operand(run, value, earlier)
        if next_source is None:
            where = source_location.on_line(run.names.positions, earlier.event, derived.event)
            label = labels.name(source, code_names).label
            if _is_put(value, earlier):
                return [_put_in(word, label, where)]
            return [_born_in(word, label, where, _text_of(run, source, value, earlier))]
        source = next_source
    return []


def _text_of(run: RecordedRun, element: Element, value: float, derived: DerivedCell) -> str:
    found = reason(run, element, value, derived)
    return found.text if found is not None else ""


def _born_here(number: str, reason: str) -> str:
    if not reason:
        return say("born-here", "This {number} was born here.", number=number)
    return say("born-here-why", "This {number} was born here. {reason}", number=number, reason=reason)


def _put_in(number: str, cell: str, where: str) -> str:
    if not where:
        return say("put-in", "This {number} was put in {cell}.", number=number, cell=cell)
    return say("put-in-at", "This {number} was put in {cell} {where}.", number=number, cell=cell, where=where)


def _born_in(number: str, cell: str, where: str, reason: str) -> str:
    sentence = (
        say("born-in-at", "This {number} was born in {cell} {where}.", number=number, cell=cell, where=where)
        if where
        else say("born-in", "This {number} was born in {cell}.", number=number, cell=cell)
    )
    return say("born-in-why", "{born_in} {reason}", born_in=sentence, reason=reason) if reason else sentence


def _nonfinite_operand(run: RecordedRun, value: float, derived: DerivedCell) -> Element | None:
    """Find the first operand that is not finite in the same way: NaN for NaN, an infinity for an infinity.

    One that the formula did not choose does not count, and the same infinity comes before the other one.
    """
    values, formula = run.history.values(derived.operands), derived.result.formula
    matches = math.isnan if math.isnan(value) else math.isinf
    chosen = None if formula is None else set(f.operand_positions(f.taken(formula, values)))
    found = [at for at, number in enumerate(values) if matches(number) and (not chosen or at in chosen)]
    first = next((at for at in found if values[at] == value), found[0] if found else None)
    return None if first is None else derived.operands[first]


def _is_put(value: float, derived: DerivedCell) -> bool:
    """Return whether the code gave a number that is not finite, as `-math.inf * torch.ones(3)` does."""
    return derived.result.op in _SETTING or (math.isinf(value) and names_infinity(derived))


def is_set(derived: DerivedCell) -> bool:
    """Return whether a number came from outside, or the code set it instead of computing it."""
    if derived.event is None or derived.result.op in _SETTING:
        return True
    return not derived.operands and derived.result.formula is not None and derived.op not in _OF_SEVERAL


def is_chosen_inside(run: RecordedRun, derived: DerivedCell) -> bool:
    """Return whether a function of PyTorch chose a number, as that of a determinant does for NaN, and not the code."""
    event = derived.event
    return event is not None and event.op == "where" and run.names.function_of(event) not in ("where", event.op)


def names_infinity(derived: DerivedCell) -> bool:
    """Return whether the code itself computes with an infinity, as in `(1 - mask) * -math.inf`."""
    formula = derived.result.formula
    parts = formula.parts if isinstance(formula, f.Op) else ()
    return any(isinstance(part, f.Number) and math.isinf(part.value) for part in parts)


def reason(run: RecordedRun, element: Element, value: float, derived: DerivedCell) -> Reason | None:
    """Return why operands that are finite, or infinite on purpose, gave this value; None if that is not clear."""
    values = run.history.values(derived.operands)
    op = derived.op.strip("_")
    if math.isnan(value) and derived.event is not None and is_chosen_inside(run, derived):
        if run.names.function_of(derived.event) != "logdet":
            return None
        text = say("determinant-below-0", "The determinant is below 0, and has no logarithm.")
        return Reason("logarithm-of-negative", text)
    setting = _endless_setting(run, derived) if all(map(math.isfinite, values)) else None
    if setting is not None:
        return setting
    found = _of_nan(op, values, derived) if math.isnan(value) else _of_infinity(element, op, values, derived)
    formula = derived.result.formula
    if found is not None or formula is None or not values or not all(map(math.isfinite, values)):
        return found
    if math.isfinite(f.evaluate(formula, values)):
        dtype = str(element.region.dtype).removeprefix("torch.")
        return Reason("result-beyond", _beyond_inside(dtype))
    return None


def _endless_setting(run: RecordedRun, derived: DerivedCell) -> Reason | None:
    """Return the reason if an optimizer computed with a setting that is not finite, such as its learning rate."""
    step = None if derived.event is None else run.optimizers.step_at(derived.event.time)
    if step is None:
        return None
    given = (item for settings in step.settings.values() for item in settings.items())
    found = next(((name, item) for name, item in given if isinstance(item, float) and not math.isfinite(item)), None)
    if found is None:
        return None
    text = say(
        "endless-setting", "{optimizer} computed with {setting} = {number}.",
        optimizer=step.kind.__name__, setting=found[0], number=found[1],
    )  # fmt: skip
    return Reason("endless-setting", text)


def _within(formula: f.Formula, values: list[float]) -> Reason | None:
    """Return why a formula is not finite although all its operands are: the first part of it that is not.

    A formula may stand for several operations, such as those of a derivative.
    """
    if not isinstance(formula, f.Op):
        return None
    for part in formula.parts:
        found = _within(part, values)
        if found is not None:
            if found.kind in _MAKING_INFINITIES and math.isnan(f.evaluate(formula, values)):
                return _of_infinite_part(formula.op, found)
            return found
    if math.isfinite(f.evaluate(formula, values)):
        return None
    parts = [f.evaluate(part, values) for part in formula.parts]
    if not all(map(math.isfinite, parts)):
        return None
    if formula.op == "/":
        return _zero_by_zero() if parts[0] == 0 else _divided_by_0()
    if formula.op == "**":
        return _power_of_0() if parts[0] == 0 else _power_of_negative() if parts[0] < 0 else None
    if formula.op in _LOGARITHMS:
        return _logarithm_of_0() if math.isinf(f.evaluate(formula, values)) else _logarithm_of_negative()
    return _root_of_negative() if formula.op == "sqrt" else None


def _of_infinite_part(op: str, found: Reason) -> Reason:
    """Return the reason of an operation that made NaN from an infinity, which is in the same formula."""
    if op == "*":
        return Reason("infinity-times-0", f"{found.text} {_infinity_times_0().text}")
    return Reason("infinities", f"{found.text} {_infinities().text}")


def _of_nan(op: str, values: list[float], derived: DerivedCell) -> Reason | None:
    infinite = any(map(math.isinf, values))
    if "softmax" in op and values and all(item == -math.inf for item in values):
        text = say(
            "nothing-left",
            "Nothing in the row was left: all of it is -inf, and -inf minus the largest of it is not a number.",
        )
        return Reason("nothing-left", text)
    if (op in _OF_SEVERAL or derived.result.op == "running_var") and not infinite:
        return Reason("too-few", say("too-few", "There are too few numbers to divide by their count: 0 / 0."))
    if op == "div" and len(values) > 1 and all(map(math.isinf, values[:2])):
        return Reason("inf-by-inf", say("inf-by-inf", "inf / inf is not a number."))
    if op in ("div", "addcdiv") and values and (_is_zero_by_zero(derived, values) or op == "addcdiv"):
        return _zero_by_zero()
    if op == "mul" and (infinite or names_infinity(derived)):
        return _infinity_times_0()
    if op in _LOGARITHMS and values and min(values) < 0:
        return _logarithm_of_negative()
    if op in ("sqrt", "rsqrt") and values and values[0] < 0:
        return _root_of_negative()
    if op == "pow" and values and values[0] < 0:
        return _power_of_negative()
    if op in _BOUNDED and values and not infinite:
        text = say("outside-domain", "{operation} is not defined for {number:.6g}.", operation=op, number=values[0])
        return Reason("outside-domain", text)
    if op == "weight_norm_interface" and not infinite:
        text = say("zero-by-its-norm", "Numbers that are all 0 were divided by their norm: 0 / 0 is not a number.")
        return Reason("zero-by-zero", text)
    if infinite:
        return _infinities()
    return _within(derived.result.formula, values) if derived.result.formula is not None else None


def _is_zero_by_zero(derived: DerivedCell, values: list[float]) -> bool:
    """Return whether a division divided 0 by 0; what is divided may be a formula itself, as in a derivative."""
    formula = derived.result.formula
    if isinstance(formula, f.Op) and formula.op == "/":
        return all(f.evaluate(part, values) == 0 for part in formula.parts)
    return all(item == 0 for item in values)


def _of_infinity(element: Element, op: str, values: list[float], derived: DerivedCell) -> Reason | None:
    if any(map(math.isinf, values)):
        return None
    dtype = str(element.region.dtype).removeprefix("torch.")
    formula = derived.result.formula
    result = f.evaluate(formula, values) if formula is not None else math.inf
    overflows = math.isfinite(result)
    if derived.result.op == "running_var":
        text = say("variance-beyond", "The variance of the batch is beyond the largest number of {dtype}.", dtype=dtype)
        return Reason("result-beyond", text)
    if op in _DIVIDING and not overflows:
        return _divided_by_0()
    if op == "linalg_slogdet":
        text = say("determinant-of-0", "The determinant is 0, and the logarithm of 0 is -inf.")
        return Reason("logarithm-of-0", text)
    if op in _LOGARITHMS:
        return _logarithm_of_0()
    if op == "pow" and not overflows and 0 in values:
        return _power_of_0()
    if op == "ctc_loss":
        text = say(
            "no-alignment",
            "No alignment is possible, so its probability is 0: an input needs a step for each label of its target, "
            "and one more between two equal labels.",
        )
        return Reason("no-alignment", text)
    within = _within(formula, values) if formula is not None and not overflows else None
    if within is not None:
        return within
    if overflows or op in _OVERFLOWING or (op == "pow" and 0 not in values):
        if op == "exp":
            text = say("exponential-beyond", "The exponential is beyond the largest number of {dtype}.", dtype=dtype)
            return Reason("exponential-beyond", text)
        return beyond(result, element.region.dtype)
    return None


def beyond(result: float, dtype: torch.dtype) -> Reason:
    """Return the reason of an operation that overflowed, given its result in a wider type, or an infinity."""
    name = str(dtype).removeprefix("torch.")
    if abs(result) <= torch.finfo(dtype).max:
        return Reason("result-beyond", _beyond_inside(name))
    text = say("result-beyond", "The result is beyond the largest number of {dtype}.", dtype=name)
    return Reason("result-beyond", text)


def _beyond_inside(dtype: str) -> str:
    return say("beyond-inside", "On the way, a number was beyond the largest one of {dtype}.", dtype=dtype)


# Reasons that an operation may have, or one of those that a formula stands for -------------------------------------


def _zero_by_zero() -> Reason:
    return Reason("zero-by-zero", say("zero-by-zero", "0 / 0 is not a number."))


def _divided_by_0() -> Reason:
    return Reason("divided-by-0", say("divided-by-0", "It was divided by 0."))


def _power_of_0() -> Reason:
    return Reason("divided-by-0", say("power-of-0", "0 to a negative power is 1 divided by 0."))


def _power_of_negative() -> Reason:
    text = say("power-of-negative", "A number below 0 has no real power with an exponent that is not whole.")
    return Reason("power-of-negative", text)


def _logarithm_of_0() -> Reason:
    return Reason("logarithm-of-0", say("logarithm-of-0", "The logarithm of 0 is -inf."))


def _logarithm_of_negative() -> Reason:
    text = say("logarithm-of-negative", "There is no logarithm of a number below 0.")
    return Reason("logarithm-of-negative", text)


def _root_of_negative() -> Reason:
    return Reason("root-of-negative", say("root-of-negative", "There is no square root of a number below 0."))


def _infinity_times_0() -> Reason:
    return Reason("infinity-times-0", say("infinity-times-0", "Infinity times 0 is not a number."))


def _infinities() -> Reason:
    return Reason("infinities", say("infinities", "The arithmetic of infinities has no result here."))
