"""Files of tensors as plain text: a list of what they hold, and the statistics of one tensor."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len

from attn_tutor.lessons.programs.results.tensor_file import ListedTensor, TensorList, TensorStatistics
from attn_tutor.lessons.render import linear_matrix
from attn_tutor.lessons.render.numbers import readable, truncated, visible
from attn_tutor.lessons.results.result import Tensor, Window
from attn_tutor.lessons.texts.wording import Wording

say = Wording("linear/tensor-file")

WIDTH = 80
NAME_WIDTH = 60
"""Columns of a name in a list; longer ones push the rest to the right, since a cut name cannot be typed."""
LONGEST = 24
"""Columns of a name in a table of statistics."""
MOST_OTHERS = 20
MOST_NUMBERS = 256
"""Numbers of a tensor up to which all of them are printed."""


def listing(path: str, found: TensorList) -> Iterator[str]:
    """Yield the tensors of a file, one per line, and what else it holds."""
    count = len(found.tensors) + found.more_tensors
    facts = say.count("tensors", count, "{count} tensor", "{count} tensors")
    yield f"{path}  {found.kind}, {size(found.size)}, {facts}"
    if found.tensors:
        yield ""
        rows = [
            (visible(item.name), _shape(item), item.dtype, item.problem or size(item.nbytes)) for item in found.tensors
        ]
        names, shapes, types = (min(NAME_WIDTH, max(cell_len(row[column]) for row in rows)) for column in (0, 1, 2))
        for name, shape, dtype, rest in rows:
            yield f"  {_left(name, names)}  {_left(shape, shapes)}  {_left(dtype, types)}  {rest}".rstrip()
    if found.more_tensors:
        yield "  " + say.count(
            "more-tensors", found.more_tensors, "and {count} more tensor", "and {count} more tensors"
        )
    others = found.others[:MOST_OTHERS]
    if others:
        yield ""
        yield say("others", "Besides tensors:")
        for name, text in others:
            yield f"  {truncated(visible(f'{name} = {text}'), WIDTH - 2)}"
    if more := len(found.others) - len(others) + found.more_others:
        yield "  " + say.count("more-others", more, "and {count} more value", "and {count} more values")


def tensor_lines(
    path: str, listed: ListedTensor, tensor: Tensor, statistics: TensorStatistics, width: int = WIDTH
) -> Iterator[str]:
    """Yield a tensor of a file: its statistics, then its numbers, of a large one the corner."""
    where = say("in-file", "{size} of {path}", size=size(listed.nbytes), path=path)
    if listed.offset is not None:
        where = say("from-byte", "{where}, from byte {offset} on", where=where, offset=listed.offset)
    yield from textwrap.wrap(f"{visible(listed.name)}  {_shape(listed)}  {listed.dtype}", width)
    yield from textwrap.wrap(where, width)
    yield ""
    yield from statistic_lines(statistics)
    yield ""
    # The whole name stands above already.
    tensor = replace(tensor, name=visible(tensor.name.rpartition(".")[2]) or tensor.name)
    yield from linear_matrix.matrix(tensor if tensor.size <= MOST_NUMBERS else _corner(tensor), width)


def _corner(tensor: Tensor) -> Tensor:
    """Return a tensor of which only the first rows can be seen."""
    if tensor.values is None:
        return tensor
    lead = (0,) * len(tensor.lead_shape)
    rows, columns = tensor.matrix_shape
    seen = tuple(tuple(tensor.row(lead, row, 0, columns) or ()) for row in range(rows))
    return replace(tensor, values=None, window=Window(lead, 0, 0, seen))


def statistic_lines(found: TensorStatistics) -> Iterator[str]:
    """Yield what the numbers of a tensor amount to, and how many of them were looked at if not all were."""
    if found.seen < found.count:
        share = found.seen / found.count
        yield say(
            "partly",
            "Of {count} numbers, {seen} were looked at ({share:.2%}), spread over all of them:",
            count=found.count,
            seen=found.seen,
            share=share,
        )
    lines = _facts(found)
    name_width = max(cell_len(name) for name, _ in lines)
    for name, text in lines:
        yield f"  {_left(name, name_width)}  {text}"


def table(found: Sequence[tuple[str, TensorStatistics]]) -> Iterator[str]:
    """Yield the statistics of some tensors, a line for each under a heading, and how much was looked at.

    Zeros, and numbers that are not finite, have columns only if there are some.
    """
    columns = [
        (say("low", "least"), [_number(item.low) for _, item in found]),
        (say("high", "greatest"), [_number(item.high) for _, item in found]),
        (say("mean", "mean"), [_number(item.mean) for _, item in found]),
        (say("std-short", "std"), [_number(item.std) for _, item in found]),
    ]
    said: list[str] = []
    if any(item.zeros for _, item in found):
        columns.append((say("zeros", "zeros"), [str(item.zeros) for _, item in found]))
    else:
        said.append(say("no-zeros", "No number is zero."))
    if any(item.nans or item.infinities for _, item in found):
        columns.append((say("nan-short", "NaN"), [str(item.nans) for _, item in found]))
        columns.append((say("infinite-short", "infinite"), [str(item.infinities) for _, item in found]))
    else:
        said.append(say("all-finite", "All are finite."))
    names = ["", *(_end(visible(name)) for name, _ in found)]
    width = max(map(cell_len, names))
    texts = [[head, *cells] for head, cells in columns]
    widths = [max(map(cell_len, column)) for column in texts]
    for row, name in enumerate(names):
        cells = (" " * (wide - cell_len(each[row])) + each[row] for each, wide in zip(texts, widths, strict=True))
        yield "  ".join([_left(name, width), *cells]).rstrip()
    if said:
        yield " ".join(said)
    for name, item in found:
        if item.seen < item.count:
            share = item.seen / item.count
            yield say(
                "share-of",
                "Of {name}, {share:.2%} of the numbers were looked at, spread over all of it.",
                name=visible(name),
                share=share,
            )


def _number(value: float | None) -> str:
    return "-" if value is None else readable(value)


def _end(name: str) -> str:
    """Return the end of a long name, which tells it from others."""
    return name if cell_len(name) <= LONGEST else f"...{name[-(LONGEST - 3) :]}"


def _facts(found: TensorStatistics) -> list[tuple[str, str]]:
    nonfinite = found.nans + found.infinities
    bad = (
        say("nans", "{all} ({nans} NaN, {infinities} infinite)", all=nonfinite, nans=found.nans,
            infinities=found.infinities)
        if nonfinite
        else "0"
    )  # fmt: skip
    rows = [
        (say("low", "least"), found.low),
        (say("high", "greatest"), found.high),
        (say("mean", "mean"), found.mean),
        (say("std", "standard deviation"), found.std),
    ]
    lines = [(name, readable(value)) for name, value in rows if value is not None]
    return [
        *lines,
        (say("zeros", "zeros"), say("of", "{part} of {all}", part=found.zeros, all=found.seen)),
        (say("nonfinite", "not finite"), bad),
    ]


def size(nbytes: int) -> str:
    """Return a number of bytes as people read it."""
    if nbytes < 1024:
        return say.count("bytes", nbytes, "{count} byte", "{count} bytes")
    units = ("KiB", "MiB", "GiB", "TiB")
    step = min(len(units), (nbytes.bit_length() - 1) // 10)
    return f"{nbytes / 1024**step:.1f} {units[step - 1]}"


def _shape(item: ListedTensor) -> str:
    return "×".join(map(str, item.shape)) or ("" if item.problem else say("scalar", "one number"))


def _left(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
