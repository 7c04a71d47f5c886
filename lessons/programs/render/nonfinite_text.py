"""Where the first numbers of a run came from that are not finite, as lines of text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from attn_tutor.lessons.programs.results.nonfinite import NonfiniteOrigin, NonfiniteReport, NotableTensor
from attn_tutor.lessons.render import explanation_lines, explanation_text
from attn_tutor.lessons.render.numbers import nonfinite, short
from attn_tutor.lessons.render.source_text import NO_NAMES, source
from attn_tutor.lessons.results.explanation_tree import Node
from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/nonfinite")

WIDTH = 80
MOST_LOSSES = 6
MOST_REACHED = 5


def lines(
    report: NonfiniteReport,
    here: str = "",
    steps: Mapping[str, str] = NO_NAMES,
    width: int = WIDTH,
    *,
    failed: bool = False,
) -> Iterator[str]:
    """Yield what a search for numbers that are not finite has found, and what it has looked at.

    Lines of the code `here` are called by their number alone; `steps` are the names of other pieces of code. A program
    that has `failed` was looked at up to there.
    """
    for count, origin in enumerate(report.origins):
        if count:
            yield ""
        earlier = report.origins[0] if count else None
        yield from _origin(origin, earlier, here, steps, width)
    if report.origins:
        yield ""
        # Of a program that was stopped somewhere, not all variables are known.
        if report.reached or not (failed or report.is_over):
            yield from _wrapped(_reached(report.reached, ended=report.is_over), width)
    else:
        for item in report.reached:
            # They were not looked at as they were made.
            yield from _wrapped(say("is-not-finite", "In the end, {what}.", what=_not_finite(item)), width)
    yield from _wrapped(looked_at(report, failed=failed), width)
    for item in () if report.origins else report.large:
        yield from _wrapped(_large(item, here, steps), width)


def _origin(
    origin: NonfiniteOrigin, earlier: NonfiniteOrigin | None, here: str, steps: Mapping[str, str], width: int
) -> Iterator[str]:
    yield from _wrapped(headline(origin, earlier), width)
    code, file, line = origin.forward
    if code:
        where = source(file, line, here, steps)
        text = (
            say("derivative-at", "It is part of the derivative of {code} ({where}).", code=code, where=where)
            if where
            else say("derivative", "It is part of the derivative of {code}.", code=code)
        )
        yield from _wrapped(text, width)
    yield ""
    first = Node(origin.first, [Node(item) for item in origin.operands] or None)
    for text in explanation_lines.lines(first, here=here, steps=steps, width=width - 2, in_shell=False):
        yield f"  {text}"
    # What a fused kernel computes inside is on no line.
    later = [item for item in origin.chain[1:] if item.line is not None]
    if later:
        yield ""
        yield from _wrapped(say("from-there", "From there it went on:"), width)
        for item in later:
            where = explanation_text.where(item, here, steps)
            text = f"{item.label} = {nonfinite(item.value)}   {where}: {item.code}"
            yield from textwrap.wrap(
                text, width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
            )
    if origin.afterwards:
        yield ""
        yield from _wrapped(say("out-of-sight", "How it got out of sight:"), width)
        yield from _indented(origin.afterwards, width)
    if origin.grown is not None:
        yield ""
        yield from _wrapped(say("grown", "Numbers of this size began here:"), width)
        grown = Node(origin.grown, None)
        for text in explanation_lines.lines(grown, here=here, steps=steps, width=width - 2, in_shell=False):
            yield f"  {text}"
    losses = [loss for loss in origin.losses if math.isfinite(loss)]
    if len(losses) > 1:
        yield ""
        numbers = "  ".join(short(loss) for loss in losses[-MOST_LOSSES:])
        yield from _wrapped(say("losses", "The last losses before: {numbers}", numbers=numbers), width)
    if origin.cures:
        yield ""
        yield from _wrapped(say("helps", "What helps:"), width)
        yield from _indented(origin.cures, width)


def _indented(sentences: Iterable[str], width: int) -> Iterator[str]:
    for text in sentences:
        yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def headline(origin: NonfiniteOrigin, earlier: NonfiniteOrigin | None = None) -> str:
    """Say which number is the first, and in which part of the program; of a NaN, the infinity that came `earlier`."""
    number = nonfinite(origin.first.value)
    name = origin.first.label
    if earlier is not None and origin.kind == "unrecorded-operands":
        head = say(
            "first-nan-unrecorded",
            "The first NaN that the record shows is {name}. Not all of what it was computed from is recorded, so it "
            "may have come from this infinity.",
            name=name,
        )
    elif earlier is not None and origin.forward == (earlier.first.code, earlier.first.file, earlier.first.line):
        head = say("first-nan-derivative", "The first NaN came from the derivative of the same: {name}.", name=name)
    elif earlier is not None and not origin.is_apart:
        # Numbers that have become finite on the way may have led there.
        head = (
            say("first-nan-itself", "The first NaN is {name}.", name=name)
            if number == "nan"
            else say("first-nan-from", "The first NaN came from {name}, which is {number}.", name=name, number=number)
        )
    elif earlier is not None:
        head = say(
            "first-nan",
            "As far as the record shows, the first NaN came from elsewhere: {name} is {number}.",
            name=name,
            number=number,
        )
    else:
        head = say("first", "The first number that is not finite: {name} is {number}.", name=name, number=number)
    parts = [head]
    if origin.phase == "backward":
        parts.append(say("in-backward", "The forward pass was finite up to there; this is the backward pass."))
    elif origin.phase == "optimizer":
        parts.append(say("in-optimizer", "This is step {step} of the optimizer.", step=origin.step))
    if origin.phase != "optimizer" and origin.step > 1:
        count_before = origin.step - 1
        parts.append(
            say.count(
                "after-steps",
                count_before,
                "Before, the optimizer had taken {count} step.",
                "Before, the optimizer had taken {count} steps.",
            )
        )
    elif 1 < origin.times == origin.of:
        # How often it would have run is not known of a program that was ended.
        parts.append(
            say.count("before", origin.times - 1, "Before, this code had run once.",
                "Before, this code had run {count} times.")
        )  # fmt: skip
    elif origin.times > 0:
        parts.append(say("round", "This code ran {of} times; this was run {times}.", times=origin.times, of=origin.of))
    if origin.size > 1:
        parts.append(
            say.count(
                "count",
                origin.count,
                "Of the {size} numbers made there, one is not finite.",
                "Of the {size} numbers made there, {count} are not finite.",
                size=origin.size,
            )
        )
    return " ".join(parts)


def _reached(reached: Iterable[NotableTensor], *, ended: bool) -> str:
    items = list(reached)
    if not items:
        return say(
            "reached-nothing",
            "At the end, all numbers of the variables are finite. Those that were computed from it may be wrong all "
            "the same.",
        )
    names = ", ".join(_not_finite(item) for item in items[:MOST_REACHED])
    left = len(items) - MOST_REACHED
    if left > 0:
        names = say.count(
            "more", left,
            "{names}, and so is one more variable or parameter",
            "{names}, and so are {count} more variables and parameters",
            names=names,
        )  # fmt: skip
    if ended:
        return say("reached-then", "When the program was ended, {names}.", names=names)
    return say("reached", "In the end, {names}.", names=names)


def _not_finite(item: NotableTensor) -> str:
    if item.count == item.size:
        return say("all-of", "{name} is not finite", name=item.name)
    return say.count(
        "part-of",
        item.count,
        "one of the {size} numbers of {name} is not finite",
        "{count} of the {size} numbers of {name} are not finite",
        name=item.name,
        size=item.size,
    )


def looked_at(report: NonfiniteReport, *, failed: bool = False) -> str:
    """Say how much was looked at, and what was not."""
    if not report.operations and failed:
        return say("nothing-computed", "No number was computed before the program stopped.")
    is_empty = not (report.operations or report.origins or report.reached or report.stopped or report.unseen)
    if is_empty:
        return say("nothing-at-all", "The program computed nothing with PyTorch, so nothing was looked at.")
    parts = []
    if not report.origins:
        parts.append(
            say("all-seen-finite", "Everything that was looked at is finite.")
            if not report.is_complete
            else say("all-finite-until-failure", "Everything is finite up to where the program stopped.")
            if failed
            else say("none-computed", "No operation computed a number that is not finite.")
            if report.reached
            else _all_but_marks(report.marks)
            if report.marks
            else say("all-finite", "Everything is finite.")
        )
    parts.append(
        say("looked-at", "Looked at: {operations:,} operations, which wrote {numbers:,} numbers.",
            operations=report.operations, numbers=report.numbers)
    )  # fmt: skip
    if report.stopped:
        why = report.stopped
        parts.append(
            say("stopped-at", "Recording stopped at line {line}, because {why}; nothing after that was looked at.",
                line=report.stopped_line, why=why)
            if report.stopped_line
            else say("stopped", "Recording stopped, because {why}; nothing after that was looked at.", why=why)
        )  # fmt: skip
    if report.is_over:
        parts.append(
            say("is-over", "Soon after the first NaN the program was ended: nothing of what comes later is needed.")
        )
    if report.unkept:
        parts.append(
            say("unkept", "The record holds the last of them; the others were looked at as they ran, and forgotten.")
        )
    if report.skipped:
        parts.append(
            say.count(
                "skipped", report.skipped,
                "GradScaler skipped one step, because a gradient was not finite. That is how it finds its factor, "
                "unless all later steps are skipped too.",
                "GradScaler skipped {count} steps, because a gradient was not finite. That is how it finds its factor, "
                "unless all later steps are skipped too.",
            )
        )  # fmt: skip
    if report.forgotten:
        parts.append(
            say.count(
                "forgotten", report.forgotten,
                "Not looked at: {count:,} operation on which nothing depends any more.",
                "Not looked at: {count:,} operations on which nothing depends any more.",
            )
        )  # fmt: skip
    if report.lost:
        parts.append(
            say.count(
                "lost",
                report.lost,
                "Not looked at: {count:,} number of which no copy was kept.",
                "Not looked at: {count:,} numbers of which no copy was kept.",
            )
        )
    if report.unseen:
        parts.append(
            say.count(
                "unseen",
                report.unseen,
                "{count:,} sparse or nested tensor may hold numbers that are not finite: they are not recorded.",
                "{count:,} sparse or nested tensors may hold numbers that are not finite: they are not recorded.",
            )
        )
    if report.unjudged:
        parts.append(
            say.count(
                "unjudged",
                report.unjudged,
                "Of {count:,} tensor with infinities it was not looked at whether the code had set them.",
                "Of {count:,} tensors with infinities it was not looked at whether the code had set them.",
            )
        )
    return " ".join((*parts, *report.unfollowed))


def _all_but_marks(marks: tuple[str, ...]) -> str:
    places = "; ".join(place for place in marks if place)
    if not places:
        return say("all-finite-but-marks", "Everything is finite, but for what the code itself set or left out.")
    return say(
        "all-finite-but-marks-at", "Everything is finite, but for what the code itself set or left out: {places}.",
        places=places,
    )  # fmt: skip


def _large(item: NotableTensor, here: str, steps: Mapping[str, str]) -> str:
    where = source(item.file, item.line, here, steps)
    return say(
        "large", "Close to the largest number of {dtype}: {value} in {name} ({where}).",
        dtype=item.dtype, value=short(item.largest or 0.0), name=item.name, where=where,
    )  # fmt: skip


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False)
