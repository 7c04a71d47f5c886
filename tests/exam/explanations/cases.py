"""A sentence about a number, and what can be computed to decide it: the steps of the formula, and pieces of code."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from tests.exam.explanations.documents import Json, label, with_names
from tests.exam.explanations.plain_run import PlainRun


@dataclass(frozen=True)
class Case:
    """A sentence about a number.

    Attributes:
        fields: what stands in the fields of the sentence.
        item: the document of the number.
        code: the program.
        plain: its run without the tutor.
        sentence: the whole of it.
    """

    fields: dict[str, str]
    item: Json
    code: str
    plain: PlainRun | None
    sentence: str = ""

    def number(self, name: str) -> float:
        """Return the number in a field."""
        return float(self.fields[name].replace(",", ""))

    def is_near(self, one: float, other: float) -> bool:
        """Return whether two numbers of the document are the same; those of few digits are right to four decimals."""
        dtypes = [str(item["dtype"]) for item in (self.item, *self.item["operands"])]
        return near(one, other) or (any("float16" in dtype for dtype in dtypes) and abs(one - other) <= 0.6e-4)

    @property
    def value(self) -> float:
        """The number that is explained."""
        return float(self.item["value"])

    @property
    def values(self) -> list[float]:
        """The numbers that it was computed from."""
        return [float(operand["value"]) for operand in self.item["operands"]]

    @property
    def formula(self) -> str:
        """The formula as it is written."""
        return str(self.item["formula"])

    @property
    def has_formula(self) -> bool:
        """Whether there is more than the number itself."""
        return any(label(operand) in self.formula for operand in self.item["operands"])


def near(one: float, other: float, digits: int = 5) -> bool:
    """Return whether two numbers are the same to some significant digits."""
    return one == other or (one != one and other != other) or math.isclose(one, other, rel_tol=10.0**-digits)


# The steps of a formula, in double precision with the rules of IEEE 754 ---------------------------------------------

Step = tuple[str, list[float], float]

_OPERATORS: dict[type[ast.AST], tuple[str, Callable[..., torch.Tensor]]] = {
    ast.Add: ("+", torch.add),
    ast.Sub: ("-", torch.sub),
    ast.Mult: ("*", torch.mul),
    ast.Div: ("/", torch.div),
    ast.Pow: ("**", torch.pow),
    ast.FloorDiv: ("//", torch.floor_divide),
    ast.Mod: ("%", torch.remainder),
}
_FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    **{
        name: getattr(torch, name)
        for name in ("exp", "log", "sqrt", "abs", "tanh", "erf", "sin", "cos", "isnan", "isinf")
    },
    **{name: getattr(torch, name) for name in ("floor", "ceil", "round", "trunc", "atan2", "fmod")},
    "max": lambda *given: torch.stack(given).max(),
    "min": lambda *given: torch.stack(given).min(),
    "float16": lambda x: x.half().double(),
    "bfloat16": lambda x: x.bfloat16().double(),
    "float32": lambda x: x.float().double(),
}


def steps(item: Json) -> list[Step]:
    """Return the operations of a formula with the numbers that they take and give, the inner ones first."""
    formula, names = with_names(item)
    found: list[Step] = []
    try:
        _evaluate(ast.parse(formula, mode="eval").body, names, found)
    except (SyntaxError, KeyError, RecursionError):
        return []
    return found


def _evaluate(node: ast.AST, names: dict[str, float], found: list[Step]) -> torch.Tensor:
    def step(name: str, function: Callable[..., torch.Tensor], parts: list[ast.expr]) -> torch.Tensor:
        given = [_evaluate(part, names, found).double() for part in parts]
        result = function(*given).double()
        found.append((name, [float(one) for one in given], float(result)))
        return result

    match node:
        case ast.Constant(value=int() | float() as value):
            return torch.tensor(float(value), dtype=torch.float64)
        case ast.Name():
            known = {"inf": math.inf, "nan": math.nan, **names}
            return torch.tensor(known[node.id], dtype=torch.float64)
        case ast.UnaryOp(op=ast.USub()):
            return -_evaluate(node.operand, names, found)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            name, function = _OPERATORS[type(node.op)]
            return step(name, function, [node.left, node.right])
        case ast.IfExp():
            return _evaluate(node.body if _evaluate(node.test, names, found) else node.orelse, names, found)
        case ast.Call(func=ast.Name(id="sum"), args=[ast.List(elts=parts)]):
            return step("+", lambda *given: torch.stack(given).sum(), parts)
        case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
            return step(name, _FUNCTIONS[name], node.args)
        case ast.Compare(left=left, comparators=[right]):
            one, other = _evaluate(left, names, found), _evaluate(right, names, found)
            kinds = {ast.Lt: one < other, ast.LtE: one <= other, ast.Gt: one > other, ast.GtE: one >= other}
            return {**kinds, ast.Eq: one == other, ast.NotEq: one != other}[type(node.ops[0])].double()
    raise KeyError(type(node).__name__)


# Code that is run again ---------------------------------------------------------------------------------------------

UNSTEADY = re.compile(r"rand|normal|dropout|bernoulli|poisson|backward|_\(|out=|#|empty|\bbn\b|step|print|\bnext\b")


def names_of(text: str, plain: PlainRun) -> dict[str, Any] | None:
    """Return the values of the names in a piece of code; None if they, or what it gives, differ from time to time."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return None
    found = {node.id: plain.only_value(node.id) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return None if UNSTEADY.search(text) or any(value is None for value in found.values()) else found


def code_value(
    text: str, index: list[int], plain: PlainRun, *, wide: bool = False, given: Mapping[str, torch.Tensor] | None = None
) -> float | None:
    """Return what a piece of code gives at an index, with these values of names; None if that cannot be known."""
    found = names_of(text, plain)
    if found is None:
        return None
    found |= given or {}
    if wide:
        found = {
            name: value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
            for name, value in found.items()
        }
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(text, {"__builtins__": {}, "len": len}, found)
            return float(result[tuple(index)]) if isinstance(result, torch.Tensor) else math.nan
    except Exception:
        # The label has an index that the code does not have: then it is no code.
        return None
