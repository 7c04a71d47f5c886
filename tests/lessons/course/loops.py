"""The arithmetic of attention in plain Python numbers, lists and loops: no torch, no tensor algebra, no broadcasting.

`test_oracle` uses it to recompute what the lessons show. A matrix is a list of rows, a batch is a list of matrices. A
wrong axis, transpose or scale in a lesson has nothing to hide behind.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

Vector = list[float]
Matrix = list[Vector]
Batch = list[Matrix]

# Any depth -----------------------------------------------------------------------------------------------------------


def each(work: Callable[..., float], *numbers: Any) -> Any:
    """Apply a function to the numbers at the same index of nested lists, for every index."""
    if isinstance(numbers[0], list):
        return [each(work, *parts) for parts in zip(*numbers, strict=True)]
    return work(*numbers)


def flat(numbers: Any) -> Iterator[float]:
    """Yield all numbers of nested lists, row by row."""
    if isinstance(numbers, list):
        for part in numbers:
            yield from flat(part)
    else:
        yield float(numbers)


def shape_of(numbers: Any) -> tuple[int, ...]:
    """Return the sizes of nested lists, outermost first. Raises `ValueError` if rows differ in length."""
    if not isinstance(numbers, list):
        return ()
    inner = {shape_of(part) for part in numbers}
    if len(inner) > 1:
        raise ValueError("rows of different lengths")
    return (len(numbers), *inner.pop()) if inner else (0,)


def nested(values: Sequence[float], shape: Sequence[int]) -> Any:
    """Reshape a flat sequence of numbers to nested lists, in row-major order."""
    if not shape:
        return values[0]
    size = len(values) // shape[0] if shape[0] else 0
    return [nested(values[size * i : size * (i + 1)], shape[1:]) for i in range(shape[0])]


def scaled(numbers: Any, factor: float) -> Any:
    """Multiply every number by one factor."""
    return each(lambda number: number * factor, numbers)


def add(one: Any, other: Any) -> Any:
    """Add the numbers at the same index."""
    return each(lambda a, b: a + b, one, other)


def product(one: Any, other: Any) -> Any:
    """Multiply the numbers at the same index."""
    return each(lambda a, b: a * b, one, other)


def distance(one: Any, other: Any) -> Any:
    """Return the absolute differences of the numbers at the same index."""
    return each(lambda a, b: abs(a - b), one, other)


# Numbers in single precision -----------------------------------------------------------------------------------------


def single(number: float) -> float:
    """Round to 32 bits: infinite where a number is too large, coarse where it is tiny."""
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        return math.copysign(math.inf, number)
    return float(rounded)


def exp(number: float) -> float:
    """Compute the exponential in 32 bits."""
    try:
        return single(math.exp(number))
    except OverflowError:
        return math.inf


def divide(above: float, below: float) -> float:
    """Divide as IEEE 754 does, with a quotient that may be infinite or nan (for `below` not -0)."""
    if below == 0:
        return math.nan if above == 0 or math.isnan(above) else math.copysign(math.inf, above)
    return above / below


# Vectors and matrices ------------------------------------------------------------------------------------------------


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Add up the products of the numbers at the same index."""
    total = 0.0
    for a, b in zip(one, other, strict=True):
        total += a * b
    return total


def transpose(matrix: Matrix) -> Matrix:
    """Exchange rows and columns."""
    return [list(column) for column in zip(*matrix, strict=True)]


def matmul(left: Matrix, right: Matrix) -> Matrix:
    """Multiply each row on the left by each column on the right."""
    columns = transpose(right)
    return [[dot(row, column) for column in columns] for row in left]


def times(row: Vector, matrix: Matrix) -> Vector:
    """Multiply a row vector by a matrix."""
    return matmul([row], matrix)[0]


def dots(queries: Matrix, keys: Matrix) -> Matrix:
    """Compute the dot product of every query (row) with every key (column)."""
    return [[dot(query, key) for key in keys] for query in queries]


def linear(rows: Matrix, weight: Matrix, bias: Vector) -> Matrix:
    """Compute what `nn.Linear` does: its weight has a row for each number of the result."""
    return [[dot(row, weights) + more for weights, more in zip(weight, bias, strict=True)] for row in rows]


def columns(matrix: Matrix, start: int, stop: int) -> Matrix:
    """Return the columns from `start` to `stop` of a matrix."""
    return [row[start:stop] for row in matrix]


def join_columns(*matrices: Matrix) -> Matrix:
    """Put matrices side by side, row by row."""
    return [[number for row in rows for number in row] for rows in zip(*matrices, strict=True)]


def split_heads(matrix: Matrix, num_heads: int) -> Batch:
    """Split columns into equal blocks, one for each head, each with all rows."""
    width = len(matrix[0]) // num_heads
    return [columns(matrix, h * width, (h + 1) * width) for h in range(num_heads)]


def identity(size: int) -> Matrix:
    """Return the identity matrix."""
    return [[float(i == j) for j in range(size)] for i in range(size)]


def later_keys(size: int, first: int = 1) -> Matrix:
    """Return 1 where the key (column) comes at least `first` positions after the query (row), 0 elsewhere."""
    return [[float(key - query >= first) for key in range(size)] for query in range(size)]


def hide(matrix: Matrix, hidden: Matrix, fill: float = -math.inf) -> Matrix:
    """Replace the numbers wherever `hidden` is 1."""
    return each(lambda number, mark: fill if mark else number, matrix, hidden)  # type: ignore[no-any-return]


def row_sums(matrix: Matrix) -> Vector:
    """Return the sum of each row."""
    return [math.fsum(row) for row in matrix]


def divide_by_row_sums(matrix: Matrix) -> Matrix:
    """Divide every number by the sum of its row."""
    return [[divide(number, total) for number in row] for row, total in zip(matrix, row_sums(matrix), strict=True)]


def softmax(scores: Vector) -> Vector:
    """Compute exponentials divided by their sum; all nan if a score is nan or all are minus infinity."""
    top = max(scores)
    if top == -math.inf or any(map(math.isnan, scores)):
        return [math.nan] * len(scores)
    powers = [math.exp(score - top) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def softmax_rows(scores: Matrix) -> Matrix:
    """Compute the softmax of each row."""
    return [softmax(row) for row in scores]


# Statistics, gradients -----------------------------------------------------------------------------------------------


def mean(numbers: Any) -> float:
    """Compute the mean of all numbers of nested lists."""
    every = list(flat(numbers))
    return math.fsum(every) / len(every)


def std(numbers: Any) -> float:
    """Compute the standard deviation of all numbers, dividing by one less than their count."""
    every = list(flat(numbers))
    center = mean(every)
    return math.sqrt(math.fsum((number - center) ** 2 for number in every) / (len(every) - 1))


def norm(numbers: Any) -> float:
    """Compute the square root of the sum of all squares."""
    return math.sqrt(math.fsum(number**2 for number in flat(numbers)))


def estimate_gradient(work: Callable[[Any], float], at: Any) -> Any:
    """Estimate the gradient of a function by trying each number of nested lists a little above and below."""
    tiny, shape = 1e-5, shape_of(at)
    every = list(flat(at))

    def value_near(position: int, by: float) -> float:
        return work(nested([*every[:position], every[position] + by, *every[position + 1 :]], shape))

    return nested([(value_near(i, tiny) - value_near(i, -tiny)) / (2 * tiny) for i in range(len(every))], shape)


# Attention -----------------------------------------------------------------------------------------------------------


class Head(NamedTuple):
    """The steps of one attention head for one sentence, each a matrix with one row for each query or token."""

    queries: Matrix
    keys: Matrix
    values: Matrix
    scores: Matrix
    scaled: Matrix
    masked: Matrix
    weights: Matrix
    context: Matrix


class Weights(NamedTuple):
    """The three projections of a layer as matrices (in, out): a row of numbers is multiplied from the left."""

    query: Matrix
    key: Matrix
    value: Matrix


def attend(queries: Matrix, keys: Matrix, values: Matrix, *, causal: bool = False) -> Head:
    """Compute scaled dot-product attention; with `causal`, keys after the query are hidden."""
    scores = dots(queries, keys)
    shrunk = scaled(scores, 1 / math.sqrt(len(keys[0])))
    masked = hide(shrunk, later_keys(len(scores))) if causal else shrunk
    weights = softmax_rows(masked)
    context = []
    for given in weights:
        mixed = [0.0] * len(values[0])
        for weight, value in zip(given, values, strict=True):
            mixed = [so_far + weight * number for so_far, number in zip(mixed, value, strict=True)]
        context.append(mixed)
    return Head(queries, keys, values, scores, shrunk, masked, weights, context)


def head(inputs: Matrix, weights: Weights, *, causal: bool = False) -> Head:
    """Compute one head on one sentence."""
    queries, keys, values = (matmul(inputs, matrix) for matrix in weights)
    return attend(queries, keys, values, causal=causal)


def joint_heads(inputs: Matrix, weights: Weights, num_heads: int) -> list[Head]:
    """Compute the causal heads of a layer that projects for all of them at once."""
    projected = [split_heads(matmul(inputs, matrix), num_heads) for matrix in weights]
    return [attend(*parts, causal=True) for parts in zip(*projected, strict=True)]
