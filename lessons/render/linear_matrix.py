"""Tensors as linear text: aligned tables, bars with their numbers, and the numbers of a storage."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator

from rich.cells import cell_len

from attn_tutor.lessons.render import memory_text
from attn_tutor.lessons.render.numbers import number_format, short, truncated, visible
from attn_tutor.lessons.render.ruler import Ruler
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording

WIDTH = 80
MOST_ROWS = 24

say = Wording("linear/matrix")


def shape_text(tensor: Tensor) -> str:
    """Return the shape of a tensor in words: `6×3`, or that it is a single number."""
    return "×".join(map(str, tensor.shape)) or say("scalar", "a single number")


def tensor_lines(tensor: Tensor, width: int = WIDTH, *, with_bars: bool = True) -> Iterator[str]:
    """Yield a tensor drawn the way its lesson asks for: as bars, or as a matrix with or without its storage.

    Without `with_bars`, what is drawn as bars is listed in the same way, one line per number, but nothing is drawn.
    """
    if tensor.draw == "bars" and tensor.values:
        yield from bars(tensor, width, drawn=with_bars)
        return
    yield from matrix(tensor, width)
    if tensor.draw == "memory" and memory_text.drawable(tensor):
        yield from storage_lines(tensor)


def bars(tensor: Tensor, width: int = WIDTH, *, drawn: bool = True) -> Iterator[str]:
    """Yield a tensor as bars, one line per number: label, number, and the bar if it is to be `drawn`."""
    yield f"{tensor.name}  {shape_text(tensor)}"
    form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values)
    groups, labels = [[visible(text) for text in texts] for texts in (tensor.row_labels, tensor.col_labels)]
    group_width, label_width = (max(map(cell_len, texts), default=0) for texts in (groups, labels))
    group_width, label_width = min(16, group_width), min(32, label_width)
    ruler = Ruler.of(tensor.low, tensor.high, max(8, width - group_width - label_width - form.width - 8), unicode=False)
    rows, cols = tensor.matrix_shape
    for lead in itertools.product(*map(range, tensor.lead_shape)):
        yield from _lead_line(tensor, lead)
        for row in range(rows):
            for col, value in enumerate(tensor.row(lead, row, 0, cols) or ()):
                group = _right(groups[row] if groups and col == 0 else "", group_width)
                label = _right(labels[col] if labels else "", label_width)
                below, above = ruler.bar(value)
                bar = "" if not drawn else f"{below}|{above}" if ruler.left else above
                yield f"  {group}{'  ' if groups else ''}{label}  {form.text(value)}  {bar}".rstrip()


def storage_lines(tensor: Tensor) -> Iterator[str]:
    """Yield the storage of a tensor: its numbers in memory order, each with its index in the tensor."""
    yield "  " + say("in-memory", "in memory: {facts}", facts=", ".join(memory_text.facts(tensor)))
    assert tensor.layout is not None
    form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values)
    found = memory_text.elements(tensor)
    for position in range(tensor.layout.size):
        index = found.get(position)
        if index is None:
            yield f"  {position:4}  " + say("not-in-tensor", "not in {name}", name=tensor.name)
        else:
            text = form.text(memory_text.value(tensor, index) or 0.0)
            yield f"  {position:4}  {text}  {tensor.name}[{','.join(map(str, index))}]"


def matrix(tensor: Tensor, width: int = WIDTH) -> Iterator[str]:
    """Yield a tensor as aligned tables, one per leading index; of a large tensor only the corner that is loaded."""
    facts = [tensor.name, shape_text(tensor)]
    if len(tensor.shape) > 1:
        rows, columns = tensor.axes[-2:]
        facts.append(say("rows-and-columns", "rows: {rows}, columns: {columns}", rows=rows, columns=columns))
    elif tensor.shape:
        facts.append(say("columns", "columns: {columns}", columns=tensor.axes[-1]))
    if tensor.shape and tensor.low is not None and tensor.high is not None:
        low, high = (short(bound, tensor.dtype) for bound in (tensor.low, tensor.high))
        facts.append(say("bounds", "from {low} to {high}", low=low, high=high))
    yield from textwrap.wrap("  ".join(facts), width, subsequent_indent="  ")
    if tensor.values is None:
        yield from _table(tensor, (0,) * len(tensor.lead_shape), width)
        return
    for lead in itertools.product(*map(range, tensor.lead_shape)):
        yield from _lead_line(tensor, lead)
        yield from _table(tensor, lead, width)


def _lead_line(tensor: Tensor, lead: tuple[int, ...]) -> Iterator[str]:
    """Yield the leading index that the following lines belong to, if the tensor has leading axes."""
    if lead:
        yield "  " + ", ".join(f"{axis} {index}" for axis, index in zip(tensor.axes, lead, strict=False)) + ":"


def _table(tensor: Tensor, lead: tuple[int, ...], width: int) -> Iterator[str]:
    rows, cols = tensor.matrix_shape
    if tensor.window is not None:
        here_rows, here_cols = len(tensor.window.rows), len(tensor.window.rows[0]) if tensor.window.rows else 0
    else:
        here_rows, here_cols = rows, cols
    form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values)
    head = [visible(label) for label in tensor.row_labels[:here_rows]]
    tops = [visible(label) for label in tensor.col_labels[:here_cols]]
    label_width = min(16, max(map(cell_len, head), default=0))
    cell = max(form.width, min(10, max(map(cell_len, tops), default=0))) + 2
    fit = max(1, (width - label_width - 2) // cell)
    shown_rows = min(here_rows, MOST_ROWS) if tensor.window is not None else here_rows
    # Columns that do not fit side by side continue in a table below.
    for left in range(0, here_cols if tensor.window is None else min(here_cols, fit), fit):
        right = min(left + fit, here_cols)
        if tops:
            yield (
                "  " + " " * label_width + "".join(_right(truncated(text, cell - 2), cell) for text in tops[left:right])
            )
        for row in range(shown_rows):
            values = tensor.row(lead, row, left, right) or ()
            label = _right(head[row], label_width) if head else " " * label_width
            yield "  " + label + "".join(form.text(value).rjust(cell) for value in values)
    if tensor.values is None:
        yield f"  ({_corner(tensor, shown_rows, min(here_cols, fit))})"


def _corner(tensor: Tensor, rows: int, columns: int) -> str:
    """Say which part of a large tensor is shown: so many rows and columns from the first ones on."""
    all_rows, all_columns = tensor.matrix_shape
    if len(tensor.shape) < 2:
        return say("first-columns", "the first {columns} of {all} columns", columns=columns, all=all_columns)
    said = say(
        "corner",
        "the first {rows} of {all_rows} rows and {columns} of {all_columns} columns",
        rows=rows,
        all_rows=all_rows,
        columns=columns,
        all_columns=all_columns,
    )
    lead = ", ".join(f"{axis} 0" for axis in tensor.axes[:-2])
    return say("corner-of", "{lead}: {corner}", lead=lead, corner=said) if lead else said


def _right(text: str, width: int) -> str:
    """Right-justify a text in exactly `width` cells, cutting it if necessary."""
    text = truncated(text, width)
    return " " * (width - cell_len(text)) + text
