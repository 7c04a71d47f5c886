"""The part of a tensor that fits on a page: some matrices of it, with rows, columns and their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, product

from attn_tutor.lessons.render.numbers import number_format, visible
from attn_tutor.lessons.results.result import Tensor

MOST_ROWS, MOST_COLUMNS, MOST_MATRICES = 16, 16, 4


@dataclass(frozen=True, slots=True)
class MatrixPart:
    """One matrix of a tensor, or its corner.

    Attributes:
        lead: its index on the leading axes.
        columns: the labels of its columns, which a scalar does not have.
        rows: for each row its label, which is empty in a vector, and its numbers.
    """

    lead: tuple[int, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, Sequence[float]], ...]


@dataclass(frozen=True, slots=True)
class TensorPart:
    """What is shown of a tensor: its matrices, and whether that is all of it."""

    matrices: tuple[MatrixPart, ...]
    is_all: bool


def of_tensor(
    tensor: Tensor, rows: int = MOST_ROWS, columns: int = MOST_COLUMNS, matrices: int = MOST_MATRICES
) -> TensorPart:
    """Return at most so many rows and columns of so many matrices of a tensor, as far as its numbers are here."""
    all_rows, all_columns = tensor.matrix_shape
    right = min(all_columns, columns)
    leads = [tensor.window.lead] if tensor.window is not None else product(*map(range, tensor.lead_shape))
    found: list[MatrixPart] = []
    for lead in islice(leads, matrices):
        lines: list[tuple[str, Sequence[float]]] = []
        for row in range(min(all_rows, rows)):
            values = tensor.row(lead, row, 0, right)
            if values is not None:
                label = visible(tensor.row_labels[row]) if tensor.row_labels else ""
                lines.append((label, values))
        labels = tuple(map(visible, tensor.col_labels[:right]))
        found.append(MatrixPart(tuple(lead), labels, tuple(lines)))
    shown = sum(len(values) for each in found for _, values in each.rows)
    return TensorPart(tuple(found), shown == tensor.size)


def digits_of(tensor: Tensor) -> Callable[[float], str]:
    """Return what writes a number of a tensor as it stands in its matrix."""
    form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values)
    return lambda value: form.text(value).strip()


def lead_text(tensor: Tensor, lead: Sequence[int]) -> str:
    """Return what tells a matrix from the others of its tensor: `batch 0, head 1`."""
    return ", ".join(f"{axis} {index}" for axis, index in zip(tensor.axes, lead, strict=False))
