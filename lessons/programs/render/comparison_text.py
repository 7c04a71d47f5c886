"""Two runs beside each other as lines of text: what they have in common, and the first thing that differs."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from attn_tutor.lessons.programs.results.comparison import ComparedResult, Gaps, IndexSpan, RunComparison, RunDifference
from attn_tutor.lessons.render.flow_text import shape_text
from attn_tutor.lessons.render.numbers import readable, short, truncated
from attn_tutor.lessons.render.source_text import source
from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/comparison")

WIDE = 120
"""Columns from which on the two runs stand beside each other."""

WIDTH = 80
MOST_AGREED = 12
LEAST_FILE = 6
"""Columns of the end of a file's name that are worth showing."""
GAP = 3


def lines(
    comparison: RunComparison, names: tuple[str, str], here: str = "", width: int = WIDTH, *, traces: bool = False
) -> Iterator[str]:
    """Yield a comparison of two runs with these names, which may be traces of blocks instead of whole programs.

    Lines of the code `here` are called by their number alone.
    """
    yield from _wrapped(summary(comparison, names, traces=traces), width)
    agreed = [item for item in comparison.agreed if item.one.named or item.other.named]
    if agreed:
        yield ""
        yield say("agreed", "Both have:")
        shown = agreed if len(agreed) <= MOST_AGREED else agreed[-MOST_AGREED:]
        if len(shown) < len(agreed):
            yield "  " + say("earlier", "({count} before these)", count=len(agreed) - len(shown))
        # Two columns, unless they would be too narrow.
        is_narrow = width < WIDTH
        room = width - 4 if is_narrow else (width - 5) // 2
        rows = [
            (_result(item.one, here, room), _result(item.other, here, room, item.how == "arranged")) for item in shown
        ]
        half = max(cell_len(left) for left, _ in rows)
        for left, right in rows:
            yield from (f"  {left}", f"    {right}") if is_narrow else (f"  {_padded(left, half)}   {right}",)
    if comparison.difference is not None:
        yield ""
        has_holes = bool(comparison.gaps_of_one.unread or comparison.gaps_of_other.unread)
        yield from _difference(
            comparison.difference, names, here, width, has_holes=has_holes, is_more=_is_more(comparison)
        )


def summary(comparison: RunComparison, names: tuple[str, str], *, traces: bool = False) -> str:
    """Say in one line whether two runs with these names agree, and how many results they have in common."""
    head = _head(comparison, names, traces)
    is_empty = not comparison.of_one and not comparison.of_other
    counts = "" if is_empty else say(
        "counts", "{matched} of {of_one} results of {one} are among the {of_other} of {other}.",
        matched=comparison.matched, of_one=comparison.of_one, of_other=comparison.of_other,
        one=names[0], other=names[1],
    )  # fmt: skip
    gaps = (gap_lines(comparison.gaps_of_one, names[0]), gap_lines(comparison.gaps_of_other, names[1]))
    return " ".join(filter(None, (head, counts, _types(comparison, names), *itertools.chain.from_iterable(gaps))))


def _types(comparison: RunComparison, names: tuple[str, str]) -> str:
    """Say which numbers that both have are of different types; "" if none are."""
    pair = comparison.other_type
    if pair is None:
        return ""
    return say.count(
        "types", comparison.of_other_types,
        "One of these has another type: {name} is {one_type} in {one}, and {other_type} in {other}.",
        "{count} of these have other types: the first is {name}, {one_type} in {one} and {other_type} in {other}.",
        name=pair.one.name, one_type=pair.one.dtype, other_type=pair.other.dtype, one=names[0], other=names[1],
    )  # fmt: skip


def gap_lines(gaps: Gaps, name: str) -> Iterator[str]:
    """Yield sentences on what is not compared of a run with this name."""
    if gaps.unfinished:
        yield say("unfinished", "{name} did not come to its end. What it had computed by then is compared.", name=name)
    if gaps.many:
        yield say("many", "Only the first results of {name} are compared, because there are so many.", name=name)
    if gaps.stopped:
        yield say(
            "stopped", "Recording of {name} stopped, because {why}; nothing after that is compared.",
            name=name, why=gaps.stopped.rstrip("."),
        )  # fmt: skip
    if gaps.unread:
        yield say.count(
            "unread", gaps.unread,
            "What {count:,} operation of {name} computed is not compared, because its numbers are not kept.",
            "What {count:,} operations of {name} computed is not compared, because their numbers are not kept.",
            name=name,
        )  # fmt: skip


def _head(comparison: RunComparison, names: tuple[str, str], traces: bool) -> str:
    difference = comparison.difference
    has_gaps = bool(comparison.gaps_of_one or comparison.gaps_of_other)
    if not (comparison.of_one or comparison.of_other or has_gaps):
        if traces:
            return say("empty-traces", "There is nothing to compare: neither block computes anything with PyTorch.")
        return say("no-results", "There is nothing to compare: neither program computes anything with PyTorch.")
    if comparison.agree is None:
        return say("no-difference", "No difference was found, but not everything was compared.")
    if difference is None:
        return say("traces-agree", "The two traces agree.") if traces else say("agree", "The two programs agree.")
    if not _is_more(comparison):
        return say("traces-differ", "The two traces differ.") if traces else say("differ", "The two programs differ.")
    less, more = names if difference.one is None else reversed(names)
    return say("more", "{more} computes all that {less} does, and more.", more=more, less=less)


def _is_more(comparison: RunComparison) -> bool:
    """Return whether one run has all results of the other one, and one that the other one lacks."""
    difference = comparison.difference
    if difference is None or difference.apart or (difference.one is not None and difference.other is not None):
        return False
    if difference.one is None:
        return comparison.matched == comparison.of_one
    return comparison.matched_of_other == comparison.of_other


def _difference(
    value: RunDifference, names: tuple[str, str], here: str, width: int, *, has_holes: bool, is_more: bool
) -> Iterator[str]:
    yield (
        say("more-first", "First of that:")
        if is_more
        else say("some", "A difference (what is not compared may differ before it):")
        if has_holes
        else say("first", "The first difference:")
    )
    yield ""
    # Where both have the same code, it matters who called it.
    is_same = value.one is not None and value.other is not None and value.one.code == value.other.code
    blocks = [
        list(_side(name, result, here, (width - GAP - 2) // 2 if width >= WIDE else width - 2, is_same))
        for name, result in zip(names, (value.one, value.other), strict=True)
    ]
    if width >= WIDE:
        half = (width - GAP - 2) // 2
        for left, right in itertools.zip_longest(*blocks, fillvalue=""):
            yield f"  {_padded(left, half)}{' ' * GAP}{right}".rstrip()
    else:
        for block in blocks:
            yield from (f"  {line}" for line in block)
    if value.one is None or value.other is None:
        return
    yield ""
    if value.unlike:
        yield from _wrapped(
            say(
                "unlike",
                "Neither stands in the place of the other: each is only the first result that the other one lacks.",
            ),
            width,
        )
    elif value.permuted:
        yield from _wrapped(_order(value.one, value.other), width)
    elif value.spans:
        yield from _wrapped(_piece(value, names), width)
    elif value.one.shape != value.other.shape:
        yield from _wrapped(say("shapes", "Their shapes differ, and so do the numbers in any order."), width)
    if value.cells:
        kind = say("sampled", " that were compared one by one") if value.sampled else ""
        yield from _wrapped(
            say("number", "They differ by {largest}:", largest=short(value.largest))
            if value.size == 1
            else say.count(
                "cells", value.count,
                "One of {size:,} numbers{kind} differs, by {largest}:",
                "{count:,} of {size:,} numbers{kind} differ, by up to {largest}:",
                size=value.size, kind=kind, largest=short(value.largest),
            ),
            width,
        )  # fmt: skip
        yield from _cells(value, names, width)
    elif value.stretch is not None:
        yield from _wrapped(
            say(
                "stretch",
                "The {size:,} numbers that were compared one by one agree. The first difference is among the "
                "{length:,} numbers from [{index}] on.",
                size=value.size, length=value.stretch.length, index=",".join(map(str, value.stretch.index)),
            ),
            width,
        )  # fmt: skip


def _side(name: str, result: ComparedResult | None, here: str, width: int, with_callers: bool) -> Iterator[str]:
    if result is None:
        yield from _wrapped(say("nothing", "{name}: nothing in this place", name=name), width)
        return
    where = source(result.file, result.line, here)
    yield from _wrapped(f"{name}, {where}" if where else name, width)
    code = f"{result.name} = {result.code}" if result.named and result.code else result.code or result.name
    yield from (f"  {line}" for line in _wrapped(code, width - 2))
    if with_callers and result.callers:
        places = ", ".join(source(file, line, here) for file, line in result.callers)
        yield from (f"  {line}" for line in _wrapped(say("called", "called from {places}", places=places), width - 2))
    yield f"  {shape_text(result.shape)} {result.dtype}"


def _cells(value: RunDifference, names: tuple[str, str], width: int) -> Iterator[str]:
    assert value.one is not None
    assert value.other is not None
    rows = [
        (
            "[" + ",".join(map(str, cell.index)) + "]" if cell.index else "",
            readable(cell.one, value.one.dtype),
            readable(cell.other, value.other.dtype),
        )
        for cell in value.cells
    ]
    if any(one == other for _, one, other in rows):
        # With as many digits as it takes to see the difference.
        rows = [(row[0], f"{cell.one:.9g}", f"{cell.other:.9g}") for row, cell in zip(rows, value.cells, strict=True)]
    heads = ("", *(truncated(name, min(30, (width - 10) // 3)) for name in names))
    widths = [max(cell_len(row[column]) for row in (heads, *rows)) for column in range(3)]
    for row in (heads, *rows):
        yield "  " + "   ".join(_right(text, size) for text, size in zip(row, widths, strict=True))


def _piece(value: RunDifference, names: tuple[str, str]) -> str:
    assert value.one is not None
    assert value.other is not None
    is_first = math.prod(value.one.shape) > math.prod(value.other.shape)
    whole, piece = names if is_first else reversed(names)
    return say(
        "piece", "{whole} computes all of it at once. What {piece} computes here should be its part [{part}].",
        whole=whole, piece=piece, part=",".join(map(_span, value.spans)),
    )  # fmt: skip


def _span(span: IndexSpan) -> str:
    if span.size == span.full:
        return ":" if span.full > 1 else "0"
    return str(span.start) if span.size == 1 else f"{span.start}:{span.start + span.size}"


def _order(one: ComparedResult, other: ComparedResult) -> str:
    if one.shape != other.shape:
        return say("other-order", "Both hold the same numbers, in another order, and in another shape.")
    return say("reordered", "Both hold the same numbers in another order.")


def _result(result: ComparedResult, here: str, width: int, view: bool = False) -> str:
    """Name a result in so many columns.

    Of what does not fit, the beginning of the file goes first, then the end of the name; shape and line stay.
    """
    shape = f" {shape_text(result.shape)}"
    # A unit of code has no file whose name could be cut: it is a part of what is said of the line.
    file = result.file if code_unit.find(result.file) is None else ""
    line = "".join(f", {at}" for at in (source("" if file else result.file, result.line, here),) if at)
    where = (f", {file}" if file else "") + line
    for note in (f"  {say('view', '(as a view with other axes)')}", f"  {_short_view()}") if view else ("",):
        text = f"{result.name}{shape}{where}{note}"
        if cell_len(text) <= width:
            return text
    note = f"  {_short_view()}" if view else ""
    room = width - cell_len(shape + line + note)
    # What is left is for the name and the file, half of it each, or more if the other one is short.
    name = truncated(result.name, max(room // 2, room - cell_len(file) - 2))
    left = room - cell_len(name) - 2
    tail = "" if left < LEAST_FILE and cell_len(file) > left else file if cell_len(file) <= left else _end(file, left)
    return truncated(f"{name}{shape}{f', {tail}' if tail else ''}{line}{note}", width)


def _short_view() -> str:
    return say("short-view", "(view)")


def _end(text: str, width: int) -> str:
    return "…" + text[len(text) - width + 1 :]


def _padded(text: str, width: int) -> str:
    text = truncated(text, width)
    return text + " " * (width - cell_len(text))


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text


def _wrapped(text: str, width: int) -> Sequence[str]:
    return textwrap.wrap(text, width, subsequent_indent="", break_on_hyphens=False)
