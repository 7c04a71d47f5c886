"""Rules for numbers that were not computed from others: constants, literals, values that the learner set."""

from __future__ import annotations

import ast
import math

import torch

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation
from lessons.worker.explaining.recorded_run import Index, RuleResult
from lessons.worker.explaining.rules.python_numbers import computed_by_python, item_at
from lessons.worker.explaining.rules.registry import ZERO, initial, leaf, make, rule, short
from lessons.worker.recording.regions import Region

LEAVES = frozenset(
    {
        # constants
        "lift_fresh",
        "ones",
        "zeros",
        "full",
        "empty",
        "ones_like",
        "zeros_like",
        "full_like",
        "empty_like",
        "new_ones",
        "new_zeros",
        "new_full",
        "new_empty",
        "new_empty_strided",
        "empty_strided",
        "empty_permuted",
        "eye",
        "arange",
        "linspace",
        "scalar_tensor",
        "zero",
        "zero_",
        "fill",
        "fill_",
        "tril_indices",
        "triu_indices",
        # random numbers
        "rand",
        "randn",
        "randint",
        "rand_like",
        "randn_like",
        "randint_like",
        "randperm",
        "uniform",
        "uniform_",
        "normal",
        "normal_",
        "random_",
        "bernoulli",
        "bernoulli_",
        "exponential_",
        "multinomial",
    }
)
"""Operations whose results do not depend on any other tensor."""


def set_by_hand(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a value that the learner set, and say what it was before."""
    before = derivation.run.history.overwritten(derivation.event)
    was = f" Before, it was {short(float(before[index].item()))}." if before is not None else ""
    return make("set", None, f"You set this to {short(value)}.{was}")


@rule("ones", "zeros", "full", "ones_like", "zeros_like", "full_like", "new_ones", "new_zeros", "new_full", "zero")
def _constant(derivation: Derivation, index: Index, value: float) -> RuleResult:
    number = short(initial(derivation, index, value))
    return leaf(derivation, "constant", index, f"Every element was made {number} here.")


@rule("fill")
def _fill(derivation: Derivation, index: Index, value: float) -> RuleResult:
    fill = derivation.event.arg("value")
    cell = derivation.cell(fill, ()) if isinstance(fill, Region) else ZERO
    return set_by_statement(derivation, index, value) if isinstance(cell, f.Number) else make("fill", cell)


def set_by_statement(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a number that a statement such as `x[0] = 7` set."""
    sites, positions = derivation.event.sites, derivation.run.names.positions
    code = positions.statement(sites[0]) if sites else ""
    return leaf(derivation, "constant", index, f"Set to {short(initial(derivation, index, value))} here.", code=code)


@rule("empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted")
def _empty(derivation: Derivation, index: Index, value: float) -> RuleResult:
    return make("uninitialised", None, "Memory that was only reserved here; no recorded operation has written to it.")


@rule("eye")
def _eye(derivation: Derivation, index: Index, value: float) -> RuleResult:
    where = "on" if index[0] == index[1] else "off"
    number = short(initial(derivation, index, value))
    return leaf(derivation, "constant", index, f"{number}, because it is {where} the diagonal.")


@rule("scalar_tensor")
def _scalar(derivation: Derivation, index: Index, value: float) -> RuleResult:
    return leaf(derivation, "constant", index, "A number that Python gave to PyTorch here.")


@rule("arange", "linspace", "tril_indices", "triu_indices")
def _counted(derivation: Derivation, index: Index, value: float) -> RuleResult:
    return leaf(derivation, "constant", index, f"Element {index[-1]} of the sequence that starts here.")


@rule("lift_fresh")
def _literal(derivation: Derivation, index: Index, value: float) -> RuleResult:
    sites = derivation.event.sites
    positions = derivation.run.names.positions
    node = positions.node(sites[0]) if sites else None
    source = positions.source(sites[0]) if sites else None
    if isinstance(node, ast.Subscript | ast.Assign | ast.AugAssign):
        return set_by_statement(derivation, index, value)
    if source is None or not isinstance(node, ast.Call) or not node.args:
        code = positions.code(sites[0]) if sites else derivation.run.shown_code(derivation.event.outs[0].storage)
        return leaf(derivation, "given", index, f"A number that Python computed{f': {code}' if code else ''}.")
    item, left = item_at(node.args[0], index)
    code = source.segment(item)
    if not left and isinstance(item.operand if isinstance(item, ast.UnaryOp) else item, ast.Constant):
        note = f"Written in the code.{_beyond(item, derivation.event.outs[0].dtype, value)}"
        return leaf(derivation, "literal", index, note, code=code, line=item.lineno)
    formula = computed_by_python(derivation, source, item, left, value)
    if isinstance(formula, f.OperandRef):
        return make("item", formula, f"Python read it: {code}.")
    if formula is not None:
        return make("python", formula, f"Computed by Python: {code}.")
    if not left:
        return leaf(derivation, "given", index, f"Computed by Python: {code}.", code=code, line=item.lineno)
    return leaf(derivation, "given", index, f"A number that Python gave to PyTorch here: {code}.")


def _beyond(item: ast.expr, dtype: torch.dtype, value: float) -> str:
    """Say, after a space, that a number is too large for its type; "" if it is not."""
    try:
        number = ast.literal_eval(item)
    except ValueError:
        return ""
    if not math.isinf(value) or not isinstance(number, int | float) or math.isinf(number):
        return ""
    return f" It is beyond the largest number of {str(dtype).removeprefix('torch.')}, so it becomes {value}."
