"""Explanations built by hand in the form in which the worker sends them."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation, Index, Operand


def single(value: float) -> float:
    """Return the float32 nearest to a number."""
    try:
        (found,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(found)


def operand(name: str, index: Index, value: float, dtype: str = "float32", ref: int = 0, leaf: bool = True) -> Operand:
    return Operand(name, index, value, dtype, ref, leaf)


def explanation(
    name: str,
    index: Index,
    value: float,
    formula: f.Formula | None = None,
    operands: Sequence[Operand] = (),
    *,
    op: str = "",
    dtype: str = "float32",
    code: str = "",
    file: str = "",
    line: int | None = None,
    lesson_line: int | None = None,
    notes: tuple[str, ...] = (),
    details: tuple[tuple[str, tuple[float, ...]], ...] = (),
    lit: dict[str, tuple[Index, ...]] | None = None,
) -> Explanation:
    return Explanation(
        name, index, value, dtype, op or ("copy" if operands else "literal"), code, file, line, lesson_line,
        f.Number(value) if formula is None else formula, tuple(operands), notes, details, lit,
    )  # fmt: skip


def leaf(name: str, index: Index, value: float, op: str = "literal", **fields: object) -> Explanation:
    """Build the explanation of a number without operands."""
    return explanation(name, index, value, op=op, **fields)  # type: ignore[arg-type]


def dot(
    name: str,
    index: Index,
    left: Sequence[float],
    right: Sequence[float],
    names: tuple[str, str] = ("queries", "keys"),
    **fields: object,
) -> Explanation:
    """Build the explanation of a dot product, `left[0,:]·right[1,:]`, rounded once."""
    cells = [(operand(names[0], (0, index), a), operand(names[1], (1, index), b))
             for index, (a, b) in enumerate(zip(left, right, strict=True))]  # fmt: skip
    formula = f.add(*(f.multiply(f.OperandRef(2 * index), f.OperandRef(2 * index + 1)) for index in range(len(cells))))
    value = single(f.total([a * b for a, b in zip(left, right, strict=True)]))
    return explanation(name, index, value, formula, [cell for pair in cells for cell in pair], op="matmul", **fields)  # type: ignore[arg-type]


def softmax(scores: Sequence[float], index: int) -> Explanation:
    """Build the explanation of one weight of a softmax, with the exponentials and their sum as details."""
    top = scores.index(max(scores))
    cells = [operand("scores", (1, at), score) for at, score in enumerate(scores)]
    exps = [f.call("exp", f.Op("-", (f.OperandRef(at), f.OperandRef(top)))) for at in range(len(scores))]
    values = tuple(math.exp(score - scores[top]) for score in scores)
    formula = f.Op("/", (exps[index], f.add(*exps)))
    return explanation(
        "weights", (1, index), single(f.evaluate(formula, scores)), formula, cells, op="softmax",
        details=(("exp", values), ("sum of exp", (math.fsum(values),))),
    )  # fmt: skip


def long(terms: int = 768) -> Explanation:
    """Build the explanation of a dot product as long as those of GPT-2."""
    values = [single((-1) ** index * (index % 97) / 1000) for index in range(terms)]
    return dot("scores", (0, 0), values, list(reversed(values)))


VARIED = [
    dot("scores", (1, 2), [0.5512, 0.87], [0.57, -0.85], code="queries @ keys.T", file="product", line=4),
    softmax([0.9995, 1.4754, -0.8434], 1),
    explanation("flat", (3,), 0.5, f.OperandRef(0), [operand("scores", (1, 0), 0.5)]),
    explanation(
        "masked", (0, 1), -math.inf, f.choose(f.OperandRef(0), f.Number(-math.inf, "float('-inf')"), f.OperandRef(1)),
        [operand("mask", (0, 1), 1, "bool"), operand("scores", (0, 1), 0.5)], op="masked_fill",
        notes=("Masked on line 3: the mask is True here.",),
    ),
    explanation(
        "scaled", (0, 0), 0.5, f.Op("/", (f.OperandRef(0), f.Op("**", (f.Number(4.0, "d_out"), f.Number(0.5))))),
        [operand("scores", (0, 0), 1.0)], op="div",
    ),
    explanation("mean", (), 2.0, f.Op("/", (f.add(*map(f.OperandRef, range(3))), f.Number(3.0))),
                [operand("x", (index,), index + 1.0) for index in range(3)], op="mean"),
    explanation("norm", (), 5.0, f.call("sqrt", f.add(*(f.multiply(ref, ref) for ref in map(f.OperandRef, range(2))))),
                [operand("x", (0,), 3.0), operand("x", (1,), 4.0)], op="norm"),
    explanation("untold", (), 0.5, None, [operand("x", (0,), 3.0)], op="cumprod"),
    leaf("inputs", (1, 0), 0.55, line=3, file="inputs", code="torch.tensor([[0.55]])"),
    leaf("W_query", (0, 0), 0.2961, "draw", notes=("The first draw after the seed 123.",)),
]  # fmt: skip
"""One explanation of each kind."""
