"""Files of tensors as plain text: a list of what they hold, and the statistics of one tensor."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace

from rich.cells import cell_len

from lessons.render import linear_matrix
from lessons.render.numbers import readable, truncated, visible
from lessons.results.result import Tensor, Window
from lessons.results.tensor_file import ListedTensor, TensorList, TensorStatistics
from lessons.texts.wording import Wording

say = Wording("linear/tensor-file")

WIDTH = 80
NAME_WIDTH = 60
"""Columns of a name in a list; longer ones push the rest to the right, since a cut name cannot be typed."""
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


def about(file: str, listed: ListedTensor, found: TensorStatistics) -> str:
    """Describe a tensor of a file of this name in a paragraph of prose."""
    said = [
        say(
            "tensor-of", "`{name}` of {file}: {shape} numbers of type {type}, {size}.",
            name=visible(listed.name), file=file, shape=_shape(listed), type=listed.dtype, size=size(listed.nbytes),
        )
    ]  # fmt: skip
    if found.seen < found.count:
        share = found.seen / found.count
        said.append(say("share", "Only {share:.2%} of them, spread over all, were looked at for this:", share=share))
    if found.low is not None and found.high is not None:
        low, high = readable(found.low), readable(found.high)
        said.append(say("between", "They lie between {low} and {high}.", low=low, high=high))
    if found.mean is not None and found.std is not None:
        mean, std = readable(found.mean), readable(found.std)
        said.append(say("spread", "Their mean is {mean}, their standard deviation {std}.", mean=mean, std=std))
    said.append(
        say(
            "special", "{zeros} of them are zero, {nans} NaN, {infinities} infinite.",
            zeros=found.zeros, nans=found.nans, infinities=found.infinities,
        )
    )  # fmt: skip
    return " ".join(said)


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
