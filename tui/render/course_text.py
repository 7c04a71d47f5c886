"""Courses as text: what they say about themselves, what of them runs, and the list of all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

from attn_tutor.lessons.courses.course_code import CodePiece, WhatRuns
from attn_tutor.lessons.format.lesson import CourseFile
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording

say = Wording("courses/text")

Row = tuple[str, str, str, str]
"""A course in the list: its id, its title, how far the learner is, and where it comes from."""


def about(course: CourseFile, width: int) -> Iterator[str]:
    """Yield what a course says about itself."""
    parts = [f"{course.title}  [{course.id}]"]
    if course.authors:
        parts.append(say("by", "by {names}", names=", ".join(course.authors)))
    parts += filter(None, (course.license, course.language if course.language != "en" else ""))
    yield from textwrap.wrap(", ".join(parts), width)
    yield from textwrap.wrap(course.about, width, initial_indent="  ", subsequent_indent="  ")


def runs(found: WhatRuns, digest: str, width: int) -> Iterator[str]:
    """Yield what of a course runs, and what keeps it from doing harm."""
    yield say("code", "Lines of code in it: {count}", count=found.lines)
    yield say(
        "running", "  Steps that run when you open them: {count} of {steps}", count=found.running, steps=found.steps
    )
    yield say(
        "exercises",
        "  Exercises that run your answer and code of their own when you check it: {count}",
        count=found.exercises,
    )
    yield say("trainings", "  Steps that train a model when you start it: {count}", count=found.trainings)
    if found.asks_for_more:
        yield say(
            "limits",
            "  It asks for more than is usual: up to {cpu:g} s of processor time, {wall:g} s in all, {memory} MiB",
            cpu=found.limits.cpu,
            wall=found.limits.wall,
            memory=found.limits.memory,
        )
    fence = say(
        "fence",
        "All of it runs as your own answers do: each time in a new process, with limits on time, memory and files, and "
        "behind the layers that 'attn-tutor doctor' names. Where none is missing, it cannot write your files or use "
        "the network. It may read whatever you may read.",
    )
    yield from textwrap.wrap(fence, width)
    yield f"sha256: {digest}"


def code(pieces: Iterable[CodePiece]) -> Iterator[str]:
    """Yield all code of a course: where each piece stands, then its lines. No character commands the terminal."""
    for piece in pieces:
        yield clean(f"{piece.where}: {piece.what}", keep="", escape=True)
        for line in piece.code.split("\n"):
            yield f"    {clean(line, keep='', escape=True)}".rstrip()
        yield ""


def listed(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each course."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
