"""A reader of explanations as JSON: each formula is computed with the values of its operands."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from typing import Any

from tests.exam.explanations.reader import evaluate, stored

Json = dict[str, Any]

PRECISION = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
JUMPS = re.compile(r"\b(floor|ceil|round|trunc|fmod|float16|float32|bfloat16|argmax|argmin)\(|//|%|[<>]|==|!=")
TRIALS = 8
WITHOUT = ("has no rule here", "too many to list", "so it is left out", "which the operation gives in double precision")
"""Words of notes that say why there is no formula."""

EARLY = ("unrecorded", "view", "given")
"""Ends of numbers that something computed, which the record does not follow."""


def walk(node: Json) -> Iterator[Json]:
    """Yield a number and all that it was computed from."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(current["operands"])


def label(node: Json) -> str:
    """Return the label by which formulas refer to a number."""
    if not node["index"]:
        return str(node["tensor"])
    name, depth = str(node["tensor"]), 0
    for character in name:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            name = f"({name})"
            break
    return f"{name}[{','.join(map(str, node['index']))}]"


def with_names(node: Json) -> tuple[str, dict[str, float]]:
    """Return the formula of a number with a name in the place of each operand, and the numbers of these names."""
    names: dict[str, float] = {}
    formula = str(node["formula"])
    for count, operand in enumerate(sorted(node["operands"], key=lambda item: -len(label(item)))):
        formula = formula.replace(label(operand), f"_{count}_")
        names[f"_{count}_"] = stored(float(operand["value"]), str(operand["dtype"]))
    return formula, names


def problem(node: Json) -> str:
    """Return what is wrong with the arithmetic of a number; "" if it comes out."""
    value = float(node["value"])
    formula, names = with_names(node)
    if not names:
        return "" if _same(float(formula), value, 0.0) else f"{formula} is printed for {value}"
    try:
        got = float(evaluate(formula, names))
    except (SyntaxError, NameError, TypeError) as error:
        return f"unreadable: {node['formula']!r} ({error})"
    if _same(got, value, _tolerance(node, formula, names, got)):
        return ""
    if any("Without rounding, these numbers" in note for note in node["notes"]):
        return ""
    return f"{node['formula']} comes to {got!r}, not to {value!r}"


def _tolerance(node: Json, formula: str, names: dict[str, float], got: float) -> float:
    """Return how far the rounding of a kernel may lead: as far as that of the operands, if nothing jumps."""
    precision = PRECISION.get(str(node["dtype"]), 2.0**-23)
    tolerance = 8 * precision * abs(got) if math.isfinite(got) else 0.0
    if JUMPS.search(formula):
        return tolerance
    chance = random.Random(len(formula))
    for _ in range(TRIALS):
        shaken = {name: number * (1 + chance.choice((-1, 1)) * precision) for name, number in names.items()}
        other = float(evaluate(formula, shaken))
        if math.isfinite(other) and math.isfinite(got):
            tolerance = max(tolerance, 8 * abs(other - got))
    return tolerance


def _same(got: float, value: float, tolerance: float) -> bool:
    if math.isnan(value) or math.isnan(got):
        return math.isnan(value) and math.isnan(got)
    if math.isinf(value):
        return got == value or abs(got) > 6e4
    return abs(got - value) <= tolerance + 1e-37


def ends_early(node: Json) -> bool:
    """Return whether something computed a number that is not followed to what it was computed from."""
    return node["op"] in EARLY


def has_no_formula(node: Json) -> bool:
    """Return whether only the operation and the operands of a number are told."""
    return any(words in note for note in node["notes"] for words in WITHOUT)


def is_told(node: Json) -> bool:
    """Return whether a number is explained here; the tree was cut off above one that is not."""
    return bool(node["op"])


def is_explained(node: Json) -> bool:
    """Return whether an end says what it is: an input, a constant, a draw, or why it is not followed."""
    return bool(node["operands"] or node["more"] or node["notes"]) or not is_told(node)
