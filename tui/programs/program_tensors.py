"""The tensors of a program or a file: the lines of their list, and the calls of functions that a learner chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attn_tutor.lessons.programs.engine.pages import TensorGroup
from attn_tutor.lessons.programs.engine.session import LAST, ProgramRun, ProgramSession
from attn_tutor.lessons.programs.engine.tensor_file import TensorFileSession
from attn_tutor.lessons.programs.render.tensor_file_text import size
from attn_tutor.lessons.programs.results.program_result import Named
from attn_tutor.lessons.programs.results.tensor_file import ListedTensor
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.sources.source import TensorRow, Which

say = Wording("screen/program-rows")


def rows_of(run: ProgramRun) -> Iterator[TensorRow]:
    """Yield the tensors in the order of the pages; of a program without tensors, its page."""
    marked = any(item.nonfinite not in (None, (0, 0)) for item in run.whole.named)
    for group, step in zip(run.groups, run.lesson.steps, strict=False):
        for item in group.items:
            yield TensorRow(step.id, item.label, _columns(item, marked), item.label, _about(item, run))
    if not run.groups:
        (step,) = run.lesson.steps
        none = say("none", "This program names no tensor.")
        yield TensorRow(step.id, step.title, about=none)


def rows_of_file(session: TensorFileSession) -> Iterator[TensorRow]:
    """Yield the tensors of a file, then what else is in it."""
    found, pages = session.found, session.pages
    for item in found.tensors:
        page, name = pages.page_of(item.name)
        columns = (shape(item.shape) if not item.problem or item.shape else "", item.dtype, size(item.nbytes))
        yield TensorRow(page, item.name, columns, name, _about_stored(item))
    for name, text in found.others:
        about = say("no-tensor", "This is no tensor: {text}", text=clean(text, keep=""))
        yield TensorRow("", name, about=about)
    if more := found.more_tensors + found.more_others:
        yield TensorRow("", say.count("more", more, "{count} more is not listed", "{count} more are not listed"))


def _about_stored(item: ListedTensor) -> str:
    if item.problem:
        return item.problem
    what = say("stored", "{shape}, {type}, {size}.", shape=shape(item.shape), type=item.dtype, size=size(item.nbytes))
    if item.offset is None:
        return what
    where = say("first-byte", "Its first number lies at byte {offset} of the file.", offset=item.offset)
    return f"{what} {where}"


def shape(sizes: tuple[int, ...]) -> str:
    """Return a shape as the pages write it."""
    return "×".join(map(str, sizes)) or say("scalar", "one number")


def _columns(item: Named, marked: bool) -> tuple[str, ...]:
    """Return what stands beside a name; where some tensors have numbers that are not finite, how many there are."""
    if item.line is None:
        where = ""
    elif item.file in ("", PROGRAM.filename):
        where = say("line", "line {line}", line=item.line)
    else:
        where = say("line-of-file", "{file} line {line}", file=item.file, line=item.line)
    marks = (_not_finite(item),) if marked else ()
    return shape(item.shape), *marks, item.dtype, where


def _not_finite(item: Named) -> str:
    """Say in a few words how many numbers are not finite; "" if all are, or that is not known."""
    nan, infinite = item.nonfinite or (0, 0)
    found = (
        say("nan", "{count:,} NaN", count=nan) if nan else "",
        say("infinite", "{count:,} inf", count=infinite) if infinite else "",
    )
    return ", ".join(filter(None, found))


def _about(item: Named, run: ProgramRun) -> str:
    """Say in sentences what is known of a tensor."""
    said = [say("what", "{shape} of type {type}.", shape=_numbers(item), type=item.dtype)]
    file = run.program.name if item.file in ("", PROGRAM.filename) else item.file
    match item.kind:
        case "parameter":
            said.append(say("parameter", "A parameter or buffer of a module."))
        case "local":
            if 0 < item.call < item.count:
                said.append(
                    say(
                        "variable-of-call", "A variable of {scope}, as it was when call {call} of {count} returned.",
                        scope=item.scope, call=item.call, count=item.count,
                    )
                )  # fmt: skip
            else:
                said.append(_variable(item))
        case "variable":
            # How often it was bound is not known of a loop, which is one statement.
            said.append(say("variable", "A variable of the program, as it was at its end."))
    if item.line is not None:
        said.append(say("where", "It was named in {file}, line {line}.", file=file, line=item.line))
    if marks := _not_finite(item):
        said.append(say("not-finite", "Not all of its numbers are finite: {marks}.", marks=marks))
    elif item.nonfinite is None:
        said.append(say("uncounted", "Its numbers were not searched for NaN."))
    return " ".join(said)


def _numbers(item: Named) -> str:
    return say("numbers", "{shape} numbers", shape=shape(item.shape)) if item.shape else shape(item.shape).capitalize()


def _variable(item: Named) -> str:
    """Say that a tensor is a variable of a function, as its last call left it."""
    return say.count(
        "variable-of-function",
        item.count,
        "A variable of {scope}, which has run once, as it was when that returned.",
        "A variable of {scope}, which has run {count} times, as it was when that last returned.",
        scope=item.scope,
    )


def choose_call(session: ProgramSession, page: str, which: Which | int) -> int | Refusal:
    """Show another call of the function of a page, by its place or number. Return the page, or why there is none."""
    match which:
        case "before" | "after":
            return session.choose_call(page, None, which)
        case "first":
            return session.choose_call(page, 0, "after")
        case "last":
            return session.choose_call(page, LAST, "before")
        case _:
            return session.choose_call(page, which)


def are_alike(before: Sequence[TensorGroup], after: Sequence[TensorGroup]) -> bool:
    """Return whether pages are about the same functions and modules as before, so that changes of cells still hold.

    A cell is known by the number of its page.
    """
    return [(group.title, group.file) for group in before] == [(group.title, group.file) for group in after]
