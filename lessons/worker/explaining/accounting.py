"""Whether a formula accounts for a number, and what may be said where it does not.

Evaluated over its operands, a formula may differ from the number by rounding only. If it differs by more, the operation
runs again on what it took, and what that gives decides. Data that came from outside were kept; but a tensor may change
without an operation that PyTorch dispatches: by `apply_`, through its storage, in another thread.
"""

from __future__ import annotations

import math
import warnings
from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Any

import torch

from attn_tutor.lessons.results import exact_formula
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.floats import exact_number
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.narrow_types import dtype_name
from attn_tutor.lessons.worker.explaining.recorded_run import DerivedCell, Index, RuleResult
from attn_tutor.lessons.worker.recording.element_history import Element, ElementHistory, ValueLost
from attn_tutor.lessons.worker.recording.event import Event, contents, tensors_of
from attn_tutor.lessons.worker.recording.regions import Region

LONG = 64
"""Terms of a sum beyond which rounding errors are assumed to average out, as in the blocked sums of the kernels."""

_EXACT = {"<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "argmax", "argmin", "isnan", "isinf"}
_FLAT = {"tanh", "erf", "sin", "cos"}
"""Functions whose slope never exceeds 1.2."""


def formula_agrees(
    formula: f.Formula,
    values: Sequence[float],
    value: float,
    dtype: torch.dtype,
    wider: Collection[int] = (),
) -> bool:
    """Return whether a formula, computed in the precision of `dtype`, can have given this value.

    `wider` are the positions of operands in a higher precision, which the kernel did not have.
    """
    # Integers may have been computed from floating-point numbers.
    info = torch.finfo(dtype if dtype.is_floating_point else torch.float32)
    got = f.evaluate(formula, values)
    if is_close(got, value, info.eps * abs(value)):
        return True
    bound = rounding_error(formula, values, info.eps, wider)[1] + 2.0**-52 * abs(value)
    if not dtype.is_floating_point:
        return is_close(got, value, bound)
    if math.isinf(value) and math.isfinite(got):
        return abs(got) + bound >= info.max and (got > 0) == (value > 0)
    return is_close(got, value, bound + info.eps * abs(value) + 4 * info.tiny)


def is_close(got: float, value: float, bound: float) -> bool:
    """Return whether two numbers are equal up to a bound; NaN equals NaN."""
    if math.isnan(got) or math.isnan(value):
        return math.isnan(got) and math.isnan(value)
    return got == value or (math.isfinite(got) and abs(got - value) <= 2 * bound)


def rounding_error(
    formula: f.Formula, values: Sequence[float], eps: float, wider: Collection[int] = ()
) -> tuple[float, float]:
    """Return the value of a formula and a bound of its error if each operation rounds to a relative `eps`.

    Errors are propagated to first order: Higham, Accuracy and Stability of Numerical Algorithms, chapters 2 to 4.
    """
    if isinstance(formula, f.OperandRef):
        number = values[formula.position]
        return number, eps * abs(number) if formula.position in wider else 0.0
    if isinstance(formula, f.Number):
        return formula.value, eps * abs(formula.value)
    op = formula.op
    if op == "if":
        test, yes, no = formula.parts
        return rounding_error(yes if f.evaluate(test, values) else no, values, eps, wider)
    parts = [rounding_error(part, values, eps, wider) for part in formula.parts]
    numbers, errors = [part[0] for part in parts], [part[1] for part in parts]
    refs = tuple(f.OperandRef(position) for position in range(len(parts)))
    result = f.evaluate(f.Op(op, refs), numbers)
    if not math.isfinite(result):
        return result, 0.0
    slack = eps * abs(result)
    if op == "+":
        return result, sum(errors) + eps * min(len(parts), LONG) * sum(map(abs, numbers))
    if op == "-":
        return result, sum(errors) + slack
    if op == "*":
        bound, product = 0.0, 1.0
        for number, wrong in parts:
            bound = bound * (abs(number) + wrong) + abs(product) * wrong + eps * abs(product * number)
            product *= number
        return result, bound
    if op == "/":
        left = abs(numbers[1]) - errors[1]
        return result, (errors[0] + abs(result) * errors[1]) / left + slack if left > 0 else math.inf
    if op == "**":
        spread = abs(numbers[1] * result / numbers[0]) * errors[0] if numbers[0] else errors[0]
        return result, spread + abs(result) * abs(math.log(abs(numbers[0]) or 1)) * errors[1] + 4 * slack
    if op == "exp":
        return result, result * math.expm1(min(errors[0], 700.0)) + 4 * slack
    if op == "log":
        return result, errors[0] / abs(numbers[0]) + 4 * slack + eps * errors[0]
    if op == "sqrt":
        return result, (errors[0] / result if result else math.sqrt(errors[0])) + slack
    if op in _FLAT:
        return result, 1.2 * errors[0] + 4 * eps
    if op in _EXACT or op in exact_formula.STEPS:
        # A function that jumps has to be told with arguments at which it gives what the kernel gave.
        return result, 0.0 if op in _EXACT else slack
    return result, max(errors, default=0.0)


CONSTANTS = frozenset(
    {
        *("ones", "zeros", "full", "ones_like", "zeros_like", "full_like", "new_ones", "new_zeros", "new_full"),
        *("eye", "arange", "linspace", "logspace", "scalar_tensor", "tril_indices", "triu_indices", "zero", "fill"),
    }
)
"""Operations that give the same numbers each time."""

DRAWS = frozenset(
    {
        *("rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm", "uniform", "normal"),
        *("random", "bernoulli", "exponential", "multinomial"),
    }
)
"""Operations that give the same numbers each time when the generator is in the same state."""

MOST_TAKEN = 1 << 22
"""Elements of all operands up to which an operation runs again."""

MOST_KEPT = 1 << 25
"""Elements of repeated results that are kept for the next question."""


MOST_PLACES = 4096
"""Elements of a tensor that is written to up to which their places are compared."""


def _overlaps(region: Region) -> bool:
    """Return whether an element may be written several times at once, so that a copy of the tensor is no stand-in."""
    outline = torch.empty_strided(region.shape, region.stride, device="meta")
    if not torch._debug_has_internal_overlap(outline):
        return False
    return region.size > MOST_PLACES or len(set(region.offsets())) < region.size


class Replay:
    """Runs recorded operations again that depend on nothing but their arguments and the state of a generator."""

    def __init__(self, history: ElementHistory) -> None:
        self._history = history
        self._results: OrderedDict[int, torch.Tensor | None] = OrderedDict()
        self._size = 0

    def result(self, event: Event) -> torch.Tensor | None:
        """Return what an event gave when it ran; None if that cannot be known."""
        if event.initial is not None:
            return contents(event.initial)
        if event.time not in self._results:
            result = self._run(event)
            self._results[event.time] = result
            self._size += 0 if result is None else result.numel()
            while self._size > MOST_KEPT and len(self._results) > 1:
                _, oldest = self._results.popitem(last=False)
                self._size -= 0 if oldest is None else oldest.numel()
        return self._results[event.time]

    def number(self, event: Event, output: int, index: Index, *, wide: bool = False) -> float | None:
        """Return what an operation gives at an index of a result if it runs again; None if that cannot be known.

        With `wide`, it computes in double precision.
        """
        region = event.outs[output]
        if event.initial is not None or event.info.random:
            made = None if wide else self.result(event)
        elif event.info.func is None or not self._is_repeatable(event):
            return None
        else:
            made = self._again(event, output, wide)
        if made is None or made.is_complex() or tuple(made.shape) != region.shape:
            return None
        return exact_number(made[index].item())

    @staticmethod
    def _is_repeatable(event: Event) -> bool:
        """Return whether an operation can run again on copies of what it took, and does so soon."""
        size = sum(operand.size for operand in event.operands())
        return size <= MOST_TAKEN and not any(map(_overlaps, event.written))

    def _again(self, event: Event, output: int, wide: bool) -> torch.Tensor | None:
        """Run an operation on copies of what it took, and return one of its results."""

        def taken(region: Region) -> torch.Tensor:
            copy = self._history.tensor(region, event.time)
            return copy.double() if wide and copy.is_floating_point() else copy

        def widened(value: Any) -> Any:
            is_float = wide and isinstance(value, torch.dtype) and value.is_floating_point
            return torch.float64 if is_float else value

        try:
            given, named = event.arguments(taken)
            args, kwargs = list(map(widened, given)), {name: widened(value) for name, value in named.items()}
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out = event.info.func(*args, **kwargs)
        except (ValueLost, RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
            return None
        written = list(event.info.targets(args, kwargs)) if event.info.written else []
        memories = {item.untyped_storage()._cdata for item in written}
        outs = [*written, *(item for item in tensors_of(out) if item.untyped_storage()._cdata not in memories)]
        return outs[output] if len(outs) == len(event.outs) else None

    def _run(self, event: Event) -> torch.Tensor | None:
        op, state = event.op.removesuffix("_"), event.draw.state if event.draw is not None else None
        if op not in CONSTANTS and (op not in DRAWS or state is None):
            return None
        try:
            args, kwargs = event.arguments(lambda region: self._history.tensor(region, event.time), _blank(event))
            with torch.random.fork_rng(devices=[]):
                if state is not None:
                    torch.set_rng_state(state)
                    if event.kwargs.get("generator") is not None:
                        kwargs["generator"] = torch.Generator()
                        kwargs["generator"].set_state(state)
                result = event.info.func(*args, **kwargs)
        except (ValueLost, RuntimeError, TypeError):
            return None
        fits = isinstance(result, torch.Tensor) and tuple(result.shape) == event.outs[0].shape
        return result if fits else None


def _blank(event: Event) -> dict[str, torch.Tensor]:
    """Return what an operation may write to in the place of a tensor that it overwrites, whatever that held."""
    region = event.args[0] if event.info.written and event.args else None
    if not isinstance(region, Region):
        return {}
    # Numbers are drawn in the order of memory.
    return {"self": torch.empty_strided(region.shape, region.stride, dtype=region.dtype)}


say = Wording("explaining/accounting")

FEW = 4
"""Roundings by which an operation may differ from itself when it runs again, on memory that lies elsewhere."""


def unexplained(note: str, event: Event | None = None) -> DerivedCell:
    """Return what is said of a number about which only a note can be told."""
    return DerivedCell(event, "", [], frozenset(), RuleResult("unrecorded", notes=[note]))


def checked(
    replay: Replay, derived: DerivedCell, element: Element, value: float, values: Sequence[float]
) -> DerivedCell:
    """Return an explanation of an element if its formula gives its value; else one without it, and with what is known.

    `values` are those of the operands.
    """
    result, dtype = derived.result, element.region.dtype
    if result.formula is None or agrees(result.formula, derived.operands, values, value, dtype):
        return derived
    formula, got = result.formula, f.evaluate(result.formula, values) + 0.0
    again, wide = (_run_again(replay, derived, wide=wide) for wide in (False, True))
    is_as_recorded = again is not None and _is_same(again, value, dtype)
    if again is not None and not is_as_recorded and agrees(formula, derived.operands, values, again, dtype):
        # What the record holds gives another number, by the formula and by the operation itself.
        return unexplained(_changed(again, is_leaf=not derived.operands), derived.event)
    result.formula = None
    if not is_as_recorded or wide is None or not formula_agrees(formula, values, wide, torch.float64):
        note = say(
            "not-exact",
            "The formula for this operation comes to {number}, which is not this value, so it is left out.",
            number=_written(got, value),
        )
    elif math.isfinite(got) and not math.isfinite(value):
        note = say(
            "overflowed",
            "Computed with more room it would be {number}: on the way, a number was beyond the largest one of {dtype}.",
            number=_written(got, value),
            dtype=dtype_name(dtype),
        )
    else:
        note = say(
            "without-rounding",
            "Without rounding, these numbers would give {number}, which the operation gives in double precision.",
            number=_written(got, value),
        )
    result.notes.append(note)
    return derived


def agrees(
    formula: f.Formula, operands: Sequence[Element], values: Sequence[float], value: float, dtype: torch.dtype
) -> bool:
    """Return whether a formula over operands can have given a value of a type."""
    types = [operand.region.dtype for operand in operands]
    wider = {
        position for position, one in enumerate(types) if one == torch.float64 != dtype and dtype.is_floating_point
    }
    # The formula of a double may contain steps that were computed in the type of its operands.
    floating = [one for one in types if one.is_floating_point] if dtype == torch.float64 else []
    precision = max((dtype, *floating), key=lambda one: torch.finfo(one).eps) if floating else dtype
    return formula_agrees(formula, values, value, precision, wider)


def _run_again(replay: Replay, derived: DerivedCell, *, wide: bool) -> float | None:
    """Return what the operation behind an explanation gives when it runs again; None if that cannot be known."""
    event, element = derived.event, derived.element
    found = event.index_of(element.storage, element.offset, element.size) if event and element else None
    return None if event is None or found is None else replay.number(event, *found, wide=wide)


def _is_same(one: float, other: float, dtype: torch.dtype) -> bool:
    eps = torch.finfo(dtype).eps if dtype.is_floating_point else 0.0
    return is_close(one, other, FEW * eps * abs(other))


def _changed(made: float, *, is_leaf: bool) -> str:
    if is_leaf:
        return say(
            "changed-since",
            "Something that was not recorded has changed this number. Here it was made {number:.6g}.",
            number=made,
        )
    return say(
        "not-accounted",
        "The record does not account for this value: what it holds comes to {number:.6g}. "
        "Something that was not recorded has changed this number, or one that it was computed from.",
        number=made,
    )


def _written(number: float, other: float) -> str:
    """Write a number with six digits, or with as many as tell it from another one."""
    digits = next((count for count in range(6, 17) if f"{number:.{count}g}" != f"{other:.{count}g}"), 17)
    return f"{number:.{digits}g}"
