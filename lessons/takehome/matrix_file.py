"""One tensor as a file: as text, as a table for spreadsheets (CSV), or as a picture (SVG)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from html import escape
from itertools import product

from rich.cells import cell_len

from attn_tutor.lessons.render import linear_matrix, matrix_part
from attn_tutor.lessons.render.html_pieces import color
from attn_tutor.lessons.render.matrix_part import MatrixPart
from attn_tutor.lessons.render.numbers import exact
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import Tensor

WIDTH = 10_000
"""Columns of text: no matrix is folded in a file, where lines have no end."""

LINE, GAP, CHARACTER = 22, 2, 7.8
"""Of the picture: the height of a row, what separates cells, and the width of a character."""


def as_text(tensor: Tensor) -> str:
    """Return a tensor as lines, as `attn-tutor run` prints it."""
    return "\n".join(linear_matrix.tensor_lines(tensor, WIDTH)) + "\n"


def as_csv(tensor: Tensor) -> str:
    """Return a tensor as a table: a line for each row, with all digits; its indices on other axes stand before it."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    leading = [clean(axis, keep="") for axis in tensor.axes[:-2]]
    has_rows = len(tensor.shape) > 1
    rows = [clean(tensor.axes[-2], keep="")] if has_rows else []
    writer.writerow([*leading, *rows, *(map(_cell, tensor.col_labels) if tensor.shape else [tensor.name])])
    for part in _parts(tensor):
        for label, values in part.rows:
            numbers = [exact(value, tensor.dtype) for value in values]
            writer.writerow([*part.lead, *([_cell(label)] if has_rows else []), *numbers])
    return file.getvalue()


def _cell(label: str) -> str:
    """Return a label that no spreadsheet takes for a formula."""
    text = clean(label, keep="")
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def as_svg(tensor: Tensor) -> str:
    """Return a tensor as a picture in the colors of the tutor, on a ground that may be light or dark."""
    parts = _parts(tensor)
    labels = [label for part in parts for label, _ in part.rows]
    side = max(map(cell_len, labels), default=0) * CHARACTER + 10
    digits = matrix_part.digits_of(tensor)
    texts = [*parts[0].columns, *map(digits, tensor.values or ())]
    width = max(map(cell_len, texts), default=1) * CHARACTER + 12
    columns = tensor.matrix_shape[1]
    shapes = [_line(0, LINE * 0.7, f"{tensor.name}  {linear_matrix.shape_text(tensor)}", "start", bold=True)]
    top = LINE * 1.2
    for part in parts:
        shapes += _matrix(tensor, part, top, side, width, digits)
        top += LINE * (len(part.rows) + 1 + bool(part.lead)) + LINE * 0.6
    total = side + columns * width
    total = max(total, (cell_len(tensor.name) + 12) * CHARACTER)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -4 {total + 16:.0f} {top + 4:.0f}" '
        f'width="{total + 16:.0f}" height="{top + 4:.0f}" font-family="monospace" font-size="13">'
    )
    style = "<style>text{fill:#22252a}@media(prefers-color-scheme:dark){text{fill:#dfe2e6}}</style>"
    return "\n".join([head, style, *shapes, "</svg>"]) + "\n"


def _matrix(
    tensor: Tensor, part: MatrixPart, top: float, side: float, width: float, digits: Callable[[float], str]
) -> Iterator[str]:
    """Yield the shapes of one matrix: its labels, and its numbers on their colors."""
    if part.lead:
        yield _line(0, top + LINE * 0.7, matrix_part.lead_text(tensor, part.lead), "start")
        top += LINE
    for column, label in enumerate(part.columns):
        yield _line(side + (column + 1) * width - 6, top + LINE * 0.7, label, "end", soft=True)
    furthest = max(abs(tensor.low or 0.0), abs(tensor.high or 0.0))
    for row, (label, values) in enumerate(part.rows):
        y = top + LINE * (row + 1)
        yield _line(side - 8, y + LINE * 0.7, label, "end", soft=True)
        for column, value in enumerate(values):
            x = side + column * width
            fill = color(value, tensor.dtype, furthest).partition(";")[0].removeprefix("background:")
            if fill:
                yield (
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{width - GAP:.1f}" height="{LINE - GAP}" rx="3" '
                    f'style="fill:{fill}"/>'
                )
            yield _line(x + width - 6, y + LINE * 0.65, digits(value), "end")


def _line(x: float, y: float, text: str, anchor: str, *, bold: bool = False, soft: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    opacity = ' opacity="0.65"' if soft else ""
    shown = escape(clean(text, keep=""))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}{opacity}>{shown}</text>' if shown else ""


def _parts(tensor: Tensor) -> tuple[MatrixPart, ...]:
    """Return all matrices of a tensor, of which each number is here."""
    rows, columns = tensor.matrix_shape
    leads = sum(1 for _ in product(*map(range, tensor.lead_shape)))
    return matrix_part.of_tensor(tensor, rows, columns, leads).matrices


WRITERS: Mapping[str, Callable[[Tensor], str]] = {".txt": as_text, ".csv": as_csv, ".svg": as_svg}
"""The writers, by the ending of the file."""
