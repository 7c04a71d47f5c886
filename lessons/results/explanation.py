"""The explanation of one number as plain data: the formula, its operands, the line, and notes."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from lessons.results import code_unit
from lessons.results import formula as f
from lessons.results.clean_text import clean
from lessons.results.code_unit import CodeUnit
from lessons.results.floats import exact_number, shortest
from lessons.texts.wording import Wording

say = Wording("explaining/labels")

Index = tuple[int, ...]


def counts_note(*, partly: bool = False) -> str:
    """Say what the counts in labels such as `x#2[0]` mean, also of a run of which only a part was kept."""
    if partly:
        return say(
            "counts-partly",
            "#1, #2, ... count the values that a name has had, or the times that a piece of code has run, in the part "
            "of this run that is kept.",
        )
    return say(
        "counts",
        "#1, #2, ... count the values that a name has had in this run, or the times that a piece of code has run.",
    )


def label(name: str, index: Index) -> str:
    """Write a cell as Python would: `weights[1,0]`, `(a @ b)[0]`."""
    return f"{primary(name)}[{','.join(map(str, index))}]" if index else name


@functools.lru_cache(maxsize=1024)
def primary(name: str) -> str:
    """Return code that an index may follow: an expression with operators gets parentheses."""
    depth = 0
    for character in name:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            return f"({name})"
    return name


@dataclass(frozen=True, slots=True)
class Operand:
    """A cell that a number was computed from.

    Attributes:
        name, index: the cell as the code would write it. If the code has no name for its tensor, `name` is the piece
            of code that made it.
        value: the number, in the precision of its tensor.
        dtype: the name of the type in torch.
        ref: the reference by which the worker explains it in turn.
        leaf: whether it was computed from nothing else: an input, a draw, a constant.
    """

    name: str
    index: Index
    value: float
    dtype: str
    ref: int
    leaf: bool

    @property
    def label(self) -> str:
        """The name with the index."""
        return label(self.name, self.index)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one number.

    Attributes:
        name, index, value, dtype: the number and its cell.
        op: the operation that computed it: `matmul`, `softmax`, `masked_fill`, `dropout`, `draw`, `literal`, ...
        code: the piece of code that computed it, at `line` of `file`.
        file: the form for people of a unit of code, the path of a module of the `attention` package, or "".
        lesson_line: the line of the lesson from which that was called.
        formula: over `operands`; for a leaf its value.
        notes: sentences for people.
        details: rows of numbers that help to follow the formula, such as the exponentials of a softmax.
        lit: the indices of the operands in each tensor that the step shows, by the name of the tensor.
    """

    name: str
    index: Index
    value: float
    dtype: str
    op: str
    code: str
    file: str
    line: int | None
    lesson_line: int | None
    formula: f.Formula
    operands: tuple[Operand, ...]
    notes: tuple[str, ...] = ()
    details: tuple[tuple[str, tuple[float, ...]], ...] = ()
    lit: dict[str, tuple[Index, ...]] | None = None

    @property
    def label(self) -> str:
        """The name with the index."""
        return label(self.name, self.index)

    @property
    def unit(self) -> CodeUnit | None:
        """The unit of code that has `line`; None for a module of the `attention` package, or if it is not known."""
        return code_unit.find(self.file)

    @property
    def values(self) -> list[float]:
        """The values of the operands, with which the formula can be evaluated."""
        return [operand.value for operand in self.operands]

    @property
    def leaf(self) -> bool:
        """Whether it was computed from nothing else."""
        return not self.operands


def of_json(data: dict[str, Any]) -> Explanation:
    """Read an explanation from the worker's reply. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    names, dtypes = ([clean(str(item), keep="") for item in data[key]] for key in ("names", "dtypes"))
    operands = tuple(
        Operand(names[name], _index(index), _number(value), dtypes[name], int(ref), bool(leaf))
        for name, index, value, ref, leaf in data["operands"]
    )
    formula = f.from_json(data["formula"])
    if any(not 0 <= position < len(operands) for position in f.operand_positions(formula)):
        raise ValueError("a formula of operands that are not there")
    return Explanation(
        name=clean(str(data["name"]), keep=""),
        index=_index(data["index"]),
        value=_number(data["value"]),
        dtype=str(data["dtype"]),
        op=clean(str(data["op"]), keep=""),
        code=clean(str(data["code"]), keep=""),
        file=clean(str(data["file"]), keep=""),
        line=_line(data["line"]),
        lesson_line=_line(data["lesson_line"]),
        formula=formula,
        operands=operands,
        notes=tuple(clean(str(note), keep="") for note in data["notes"]),
        details=tuple((clean(str(title), keep=""), tuple(map(float, row))) for title, row in data["details"]),
        lit={str(name): tuple(map(_index, cells)) for name, cells in data["lit"].items()},
    )


def _number(given: Any) -> float:
    number = exact_number(given)
    if type(number) is int and number.bit_length() > 64:
        raise ValueError("no number of a tensor")
    return number


def _index(given: Any) -> Index:
    index = tuple(map(int, given))
    if any(abs(position) >= 1 << 63 for position in index):
        raise ValueError("no index")
    return index


def _line(given: Any) -> int | None:
    return given if isinstance(given, int) else None


def python(explanation: Explanation) -> str:
    """Write the formula in Python's notation with the labels of the operands; for a leaf, the number itself."""
    if explanation.leaf:
        return repr(shortest(explanation.value, explanation.dtype))
    # With a float in between, Python would round whole numbers that are greater than a float can hold.
    is_exact = any(type(number) is int for number in (explanation.value, *explanation.values))
    number = _whole_text if is_exact else repr
    return f.text(explanation.formula, [operand.label for operand in explanation.operands], number)


def _whole_text(value: float) -> str:
    return repr(int(value) if type(value) is int or value.is_integer() else value)
