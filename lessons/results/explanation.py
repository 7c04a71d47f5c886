"""The explanation of one number as plain data: the formula, its operands, the line, and notes."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.field_bounds import LARGEST_LINE, LEAST_INTEGER, entries, items, real, text, whole
from attn_tutor.lessons.results.floats import exact_number, shortest
from attn_tutor.lessons.texts.wording import Wording

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
        name, index, value, dtype: the number and its cell; the value is None if nobody knows it any more.
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
    value: float | None
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


MOST_OPERANDS = 30_000
"""The most operands of an explanation, and the most numbers of a detail."""

MOST_NAMES = 5000

LONGEST_TEXT = 1 << 22
"""The most characters of a formula with the labels of all its operands."""


def of_json(data: Any) -> Explanation:
    """Read an explanation from the worker's reply. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    names, dtypes = ([_text(item) for item in items(data[key], MOST_NAMES)] for key in ("names", "dtypes"))
    operands = tuple(_operand(names, dtypes, *items(row, 5)) for row in items(data["operands"], MOST_OPERANDS))
    formula = f.from_json(data["formula"])
    positions = f.all_positions(formula)
    if any(not 0 <= position < len(operands) for position in set(positions)):
        raise ValueError("a formula of operands that are not there")
    lit = entries(data["lit"], MOST_NAMES)
    lengths = [len(operand.label) for operand in operands]
    if sum(lengths) + sum(lengths[position] for position in positions) > LONGEST_TEXT:
        raise ValueError("a formula that is too long")
    return Explanation(
        name=_text(data["name"]),
        index=_index(data["index"]),
        value=None if data["value"] is None else _number(data["value"]),
        dtype=_text(data["dtype"]),
        op=_text(data["op"]),
        code=_text(data["code"]),
        file=_text(data["file"]),
        line=line_of_json(data["line"]),
        lesson_line=line_of_json(data["lesson_line"]),
        formula=formula,
        operands=operands,
        notes=tuple(map(_text, items(data["notes"], 1000))),
        details=tuple(_detail(*items(row, 2)) for row in items(data["details"], 100)),
        lit={_text(name): tuple(map(_index, items(cells, MOST_OPERANDS))) for name, cells in lit.items()},
    )


def _operand(names: list[str], dtypes: list[str], name: Any, index: Any, value: Any, ref: Any, leaf: Any) -> Operand:
    at = whole(name, 0, min(len(names), len(dtypes)) - 1)
    return Operand(names[at], _index(index), _number(value), dtypes[at], whole(ref), bool(whole(leaf, 0, 1)))


def _detail(title: Any, row: Any) -> tuple[str, tuple[float, ...]]:
    return _text(title), tuple(map(real, items(row, MOST_OPERANDS)))


def _text(given: Any) -> str:
    return clean(text(given), keep="")


def _number(given: Any) -> float:
    return exact_number(whole(given, LEAST_INTEGER) if type(given) is int else real(given))


def _index(given: Any) -> Index:
    return tuple(whole(position, LEAST_INTEGER) for position in items(given, 64))


def line_of_json(given: Any) -> int | None:
    """Read the number of a line. Raises `ValueError` for anything else but None."""
    return None if given is None else whole(given, 0, LARGEST_LINE)


def python(explanation: Explanation) -> str:
    """Write the formula in Python's notation with the labels of the operands; for a leaf, the number itself.

    "" for a number that nobody knows.
    """
    if explanation.value is None:
        return ""
    if explanation.leaf:
        return repr(shortest(explanation.value, explanation.dtype))
    # With a float in between, Python would round whole numbers that are greater than a float can hold.
    is_exact = any(type(number) is int for number in (explanation.value, *explanation.values))
    number = _whole_text if is_exact else repr
    return f.text(explanation.formula, [operand.label for operand in explanation.operands], number)


def _whole_text(value: float) -> str:
    return repr(int(value) if type(value) is int or value.is_integer() else value)
