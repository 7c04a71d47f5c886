"""Rules for numbers that were not computed from others: constants, literals, values that the learner set."""

from __future__ import annotations

import ast
import math

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.python_numbers import computed_by_python, item_at
from attn_tutor.lessons.worker.explaining.rules.registry import (
    ZERO,
    given_by_python,
    initial,
    leaf,
    make,
    rule,
    set_here,
    short,
    stored,
)
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/constants")

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
    if before is None:
        return make("set", None, say("you-set", "You set this to {value}.", value=short(value)))
    was = short(float(before[index].item()))
    note = say("you-set-from", "You set this to {value}. Before, it was {before}.", value=short(value), before=was)
    return make("set", None, note)


@rule("ones", "zeros", "full", "ones_like", "zeros_like", "full_like", "new_ones", "new_zeros", "new_full", "zero")
def _constant(derivation: Derivation, index: Index, value: float) -> RuleResult:
    number = short(initial(derivation, index, value))
    note = say("every-element", "Every element was made {number} here.", number=number)
    return leaf(derivation, "constant", index, note)


@rule("fill")
def _fill(derivation: Derivation, index: Index, value: float) -> RuleResult:
    fill = derivation.event.arg("value")
    cell = derivation.cell(fill, ()) if isinstance(fill, Region) else ZERO
    if isinstance(cell, f.Number):
        return set_by_statement(derivation, index, value)
    return make("fill", stored(cell, derivation.event.outs[0].dtype))


def set_by_statement(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a number that a statement such as `x[0] = 7` set."""
    sites, positions = derivation.event.sites, derivation.run.names.positions
    code = positions.statement(sites[0]) if sites else ""
    return leaf(derivation, "constant", index, set_here(initial(derivation, index, value)), code=code)


@rule("empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted")
def _empty(derivation: Derivation, index: Index, value: float) -> RuleResult:
    note = say("only-reserved", "Memory that was only reserved here; no recorded operation has written to it.")
    return make("uninitialized", None, note)


@rule("eye")
def _eye(derivation: Derivation, index: Index, value: float) -> RuleResult:
    number = short(initial(derivation, index, value))
    note = (
        say("on-diagonal", "{number}, because it is on the diagonal.", number=number)
        if index[0] == index[1]
        else say("off-diagonal", "{number}, because it is off the diagonal.", number=number)
    )
    return leaf(derivation, "constant", index, note)


@rule("scalar_tensor")
def _scalar(derivation: Derivation, index: Index, value: float) -> RuleResult:
    return leaf(derivation, "constant", index, given_by_python())


@rule("arange", "linspace")
def _counted(derivation: Derivation, index: Index, value: float) -> RuleResult:
    note = say("of-sequence", "Element {number} of the sequence that starts here.", number=index[-1])
    return leaf(derivation, "constant", index, note)


@rule("tril_indices", "triu_indices")
def _listed(derivation: Derivation, index: Index, value: float) -> RuleResult:
    note = (
        say("row-of-cell", "The row of cell {number} in the list.", number=index[1])
        if index[0] == 0
        else say("column-of-cell", "The column of cell {number} in the list.", number=index[1])
    )
    return leaf(derivation, "constant", index, note)


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
        note = (
            say("computed-number", "A number that Python computed: {code}.", code=code)
            if code
            else say("computed-somewhere", "A number that Python computed.")
        )
        return leaf(derivation, "given", index, note)
    if not derivation.event.direct:
        # What the code gave to the function that made it may be anything.
        return leaf(derivation, "given", index, given_by_python())
    item, left = item_at(node.args[0], index)
    code = source.segment(item)
    if not left and isinstance(item.operand if isinstance(item, ast.UnaryOp) else item, ast.Constant):
        note = (
            say(
                "written-beyond",
                "Written in the code. It is beyond the largest number of {dtype}, so it becomes {value}.",
                dtype=str(derivation.event.outs[0].dtype).removeprefix("torch."),
                value=value,
            )
            if _is_beyond(item, value)
            else say("written", "Written in the code.")
        )
        return leaf(derivation, "literal", index, note, code=code, line=item.lineno)
    formula = computed_by_python(derivation, source, item, left, value)
    if isinstance(formula, f.OperandRef):
        return make("item", formula, say("read", "Python read it: {code}.", code=code))
    if formula is not None or not left:
        computed = say("computed", "Computed by Python: {code}.", code=code)
        if formula is not None:
            return make("python", formula, computed)
        return leaf(derivation, "given", index, computed, code=code, line=item.lineno)
    note = say("given-as", "A number that Python gave to PyTorch here: {code}.", code=code)
    return leaf(derivation, "given", index, note)


def _is_beyond(item: ast.expr, value: float) -> bool:
    """Return whether a number is written that is too large for its type, so that its value is an infinity."""
    try:
        number = ast.literal_eval(item)
    except ValueError:
        return False
    return math.isinf(value) and isinstance(number, int | float) and not math.isinf(number)
