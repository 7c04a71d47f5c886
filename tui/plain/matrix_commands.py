"""Commands that show numbers: as aligned tables, as sentences, a row in summary, a large matrix in blocks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterator, Sequence

from attn_tutor.lessons.render import linear_matrix
from attn_tutor.lessons.render.matrix_part import lead_text
from attn_tutor.lessons.render.numbers import number_format, visible
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.summaries import row_stats
from attn_tutor.lessons.results.tensor_questions import BlocksQuestion, RowQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.drawings.tensor_words import row_text
from attn_tutor.tui.plain import subject as subjects
from attn_tutor.tui.plain.command_table import Handlers
from attn_tutor.tui.plain.console import KEPT_SPACE, Console
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.subject import DialogueSubject, Part
from attn_tutor.tui.plain.waiting_session import WaitingSession
from attn_tutor.tui.render import linear_text

say = Wording("plain/matrix")

MOST_LINES = 40
"""Lines of a tensor that nobody has asked for in particular."""

MOST_ASKED = 120
"""Lines of a tensor that a learner has asked for."""

BLOCKS = 8
"""Rows and columns of blocks in an overview."""

LONG_RUN = 8
"""How often a number has to come in a row without labels for that to be said at once."""

ROOM = 400
"""Characters of the summary of a row, which is wrapped."""


def drawer(console: Console) -> linear_text.Drawer:
    """Return what draws the tensors of a step: see `drawn`."""
    return lambda tensor, width: drawn(console, tensor)


def drawn(console: Console, tensor: Tensor, most: int = MOST_LINES) -> Iterator[str]:
    """Yield a tensor as a table or in sentences, whichever the learner wants, but at most so many lines of it."""
    lines = spoken(console, tensor) if console.sentences else tables(console, tensor)
    yield from cut_off(console, tensor, lines, most, "read" if console.sentences else "show")


def tables(console: Console, tensor: Tensor) -> Iterator[str]:
    """Yield a tensor as aligned tables, in which nothing is drawn."""
    return linear_matrix.tensor_lines(tensor, console.width, with_bars=False)


def cut_off(console: Console, tensor: Tensor, lines: Iterator[str], most: int, word: str) -> Iterator[str]:
    """Yield at most so many lines of a tensor, and which command goes on."""
    for number, line in enumerate(lines):
        if number == most:
            more = say("more", "{name} goes on. Type {word} and a part of it: {word} {example}", name=tensor.name,
                       word=word, example=f"{tensor.name}[{'0, ' * len(tensor.lead_shape)}0:8]")  # fmt: skip
            yield from console.wrapped(more)
            return
        yield line


def spoken(console: Console, tensor: Tensor) -> Iterator[str]:
    """Yield a tensor in sentences, as far as its numbers are known."""
    if tensor.shape:
        yield from console.wrapped(heading(tensor, tensor.name))
    rows, columns = tensor.matrix_shape
    window = tensor.window
    if tensor.values is None and window is not None:
        for row, values in enumerate(window.rows, window.top):
            yield from console.wrapped(row_sentence(tensor, window.lead, row, window.left, tuple(values)))
        yield from console.wrapped(say("corner", "Those are the first numbers of it. read and a part reads others."))
        return
    for lead in itertools.product(*map(range, tensor.lead_shape)):
        for row in range(rows):
            yield from console.wrapped(
                row_sentence(tensor, lead, row, 0, tuple(tensor.row(lead, row, 0, columns) or ()))
            )


def heading(tensor: Tensor, label: str) -> str:
    """Return what a tensor is called, and what its axes count: `weights has 6 rows (query) and 6 columns (key).`"""
    counted = [
        (size, f" ({axis})" if axis != "index" else "")
        for size, axis in zip(tensor.shape, (*tensor.axes, *["index"] * len(tensor.shape)), strict=False)
    ]
    match counted:
        case []:
            return say("reading-number", "{name} is a single number.", name=label)
        case [(size, axis)]:
            text = say("vector", "{size} numbers{axis}", size=size, axis=axis)
        case [(rows, row_axis), (columns, column_axis)]:
            text = say("matrix", "{rows} rows{row_axis} and {columns} columns{column_axis}",
                       rows=rows, row_axis=row_axis, columns=columns, column_axis=column_axis)  # fmt: skip
        case _:
            axes = ", ".join(axis for axis in tensor.axes if axis != "index")
            text = say("more-axes", "the shape {shape}", shape=linear_matrix.shape_text(tensor))
            text += f" ({axes})" if axes else ""
    if label != tensor.name:
        return say("part-has", "{label}. {name} has {what}.", label=label, name=tensor.name, what=text)
    return say("has", "{name} has {what}.", name=tensor.name, what=text)


class MatrixCommands:
    """The commands that show the numbers of a subject."""

    def __init__(
        self,
        console: Console,
        session: WaitingSession,
        subject: Callable[[], DialogueSubject],
        prepare: Callable[[], Iterator[str]],
    ) -> None:
        """Initialize; `prepare` runs what has not run yet, since only a run has all numbers of a large tensor."""
        self._console, self._session, self._subject, self._prepare = console, session, subject, prepare

    @property
    def handlers(self) -> Handlers:
        """The commands that apply now."""
        shown = self._subject().tensors
        if not shown:
            return {}
        found: Handlers = {"show": self.show, "read": self.read, "row": self.row}
        if any(max(tensor.matrix_shape) > BLOCKS for tensor in shown):
            found["overview"] = self.overview
        return found

    def _prepared(self, text: str) -> Iterator[str]:
        """Run what has not run yet, if a text names a large tensor."""
        subject = self._subject()
        tensor, _ = subject.read(text)
        if tensor.values is None and subject.unit_of(tensor) is not None:
            yield from self._prepare()

    def _part(self, text: str) -> tuple[DialogueSubject, Part]:
        subject = self._subject()
        tensor, texts = subject.read(text)
        return subject, subjects.part(tensor, texts)

    def show(self, text: str) -> Iterator[str]:
        """Yield a tensor, or the part that an index names, as aligned tables."""
        subject, part = self._part(text)
        tensor = part.tensor
        if part.is_all:
            yield from cut_off(self._console, tensor, tables(self._console, tensor), MOST_ASKED, "show")
            return
        yield from self._prepared(text)
        lines = self._tables(subject, part)
        for _, line in zip(range(MOST_ASKED), lines, strict=False):
            yield line
        if next(lines, None) is not None:
            yield from self._console.wrapped(say("less", "There is more of it. Ask for a smaller part."))

    def _tables(self, subject: DialogueSubject, part: Part) -> Iterator[str]:
        tensor = part.tensor
        for lead in part.leads:
            matrix = subjects.cut(tensor, part, lead, subjects.values(self._session, subject, part, lead))
            if lead:
                yield f"{lead_text(tensor, lead)}:"
            yield from linear_matrix.matrix(matrix, self._console.width)

    def taken(self, text: str) -> Generator[str, None, Tensor]:
        """Return a tensor with all its numbers, or a matrix of it, to be written to a file. Raises `Refused`.

        Yields what is said if it has to be run for that.
        """
        subject, part = self._part(text)
        if part.is_all and part.tensor.values is not None:
            return part.tensor
        leads = list(part.leads)
        if len(leads) != 1:
            example = f"{part.tensor.name}[{', '.join(['0'] * len(part.tensor.lead_shape))}]"
            raise Refused(say("one-matrix", "Take one matrix of it, such as {example}.", example=example))
        yield from self._prepared(text)
        subject, part = self._part(text)
        return subjects.cut(part.tensor, part, leads[0], subjects.values(self._session, subject, part, leads[0]))

    def read(self, text: str) -> Iterator[str]:
        """Yield a tensor, or the part that an index names, in sentences: one for each row."""
        yield from self._prepared(text)
        subject, part = self._part(text)
        tensor, left = part.tensor, MOST_ASKED
        yield from self._console.wrapped(heading(tensor, part.label))
        for lead in part.leads:
            numbers = subjects.values(self._session, subject, part, lead)
            for row, values in zip(part.rows, numbers, strict=True):
                lines = list(self._console.wrapped(row_sentence(tensor, lead, row, part.columns.start, values)))
                left -= len(lines)
                if left < 0:
                    yield from self._console.wrapped(say("less", "There is more of it. Ask for a smaller part."))
                    return
                yield from lines

    def row(self, text: str) -> Iterator[str]:
        """Yield what a row amounts to: its largest values, and its entropy or its sum."""
        yield from self._prepared(text)
        subject = self._subject()
        tensor, texts = subject.read(text)
        axes = len(tensor.shape)
        if not axes:
            raise Refused(say("no-row", "{name} is a single number and has no rows.", name=tensor.name))
        if len(texts) not in (axes - 1, axes):
            example = f"{tensor.name}[{', '.join(['0'] * (axes - 1))}]" if axes > 1 else tensor.name
            raise Refused(say("which-row", "Say which row: row {example}", example=example))
        index = tuple(subjects.position(tensor, axis, each) for axis, each in enumerate(texts[: axes - 1]))
        lead, row = index[:-1], index[-1] if index else 0
        values = tensor.row(lead, row, 0, tensor.matrix_shape[1])
        if values is not None:
            stats = row_stats(lead, row, values, 5)
        elif (unit := subject.unit_of(tensor)) is not None:
            stats = self._session.ask(RowQuestion(tensor.name, lead, row, 5, unit, tensor.matrix_shape))
        else:
            raise Refused(say("row-gone", "The numbers of this row are not kept."))
        before = f"{lead_text(tensor, lead)}, " if lead else ""
        said = row_text(tensor, stats, ROOM, self._console.unicode).replace("   ", "; ")
        yield from self._console.wrapped(f"{tensor.name}, {before}{said}.")

    def overview(self, text: str) -> Iterator[str]:
        """Yield the greatest numbers of the blocks of a large matrix."""
        # Also of a smaller one only the run makes blocks.
        yield from self._prepare()
        subject = self._subject()
        tensor, texts = subject.read(text)
        lead = tuple(subjects.position(tensor, axis, each) for axis, each in enumerate(texts))
        lead = (*lead, *(0 for _ in range(len(tensor.lead_shape) - len(lead))))[: len(tensor.lead_shape)]
        rows, columns = tensor.matrix_shape
        high, wide = math.ceil(rows / BLOCKS), math.ceil(columns / BLOCKS)
        if (unit := subject.unit_of(tensor)) is None:
            raise Refused(say("no-blocks", "There is no overview of {name} here.", name=tensor.name))
        blocks = self._session.ask(BlocksQuestion(tensor.name, lead, high, wide, "max", unit, (rows, columns)))
        at = f", {lead_text(tensor, lead)}" if lead else ""
        yield from self._console.wrapped(
            say(
                "overview",
                "{name}{at}: the greatest number of each block of {rows} by {columns} cells.",
                name=tensor.name,
                at=at,
                rows=high,
                columns=wide,
            )
        )
        form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high)
        for number, line in enumerate(blocks.grid):
            last = min(rows, (number + 1) * high) - 1
            start = say("block-rows", "rows {first} to {last}:", first=number * high, last=last)
            yield from self._console.wrapped(f"{start} {', '.join(form.text(value).strip() for value in line)}")


def row_sentence(tensor: Tensor, lead: subjects.Index, row: int, left: int, values: tuple[float, ...]) -> str:
    """Return a row in words, with its label and those of its columns: `row 1, have: I 0.14, have 0.61.`"""
    form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values)
    if not tensor.shape:
        return f"{tensor.name}: {form.text(values[0]).strip()}."
    columns = tensor.col_labels[left : left + len(values)]
    bare = all(text == str(left + at) for at, text in enumerate(columns))
    numbers = [_spoken(tensor, form.text(value).strip()) for value in values]
    cells = (
        list(_in_runs(numbers))
        if bare
        else [f"{visible(text)}{KEPT_SPACE}{number}" for text, number in zip(columns, numbers, strict=True)]
    )
    words = ", ".join(cells)
    start = [lead_text(tensor, lead)] if lead else []
    if len(tensor.shape) == 1:
        return f"{tensor.name}: {words}."
    label = visible(tensor.row_labels[row]) if row < len(tensor.row_labels) else ""
    name = say("row", "row {row}", row=row)
    start += [name] if label in ("", str(row)) else [name, label]
    # A label keeps its letters.
    start[0] = start[0][:1].upper() + start[0][1:]
    if tensor.kind == "weight" and tensor.axes[-2:] == ("query", "key") and not bare:
        return say("gives", "{start} gives: {cells}.", start=", ".join(start), cells=words)
    return f"{', '.join(start)}: {words}."


def _in_runs(numbers: Sequence[str]) -> Iterator[str]:
    """Yield numbers, and instead of a long run of the same number how often it comes."""
    for number, run in itertools.groupby(numbers):
        count = len(list(run))
        if count >= LONG_RUN:
            yield say("times", "{count} times{space}{number}", count=count, space=KEPT_SPACE, number=number)
        else:
            yield from [number] * count


def _spoken(tensor: Tensor, number: str) -> str:
    """Return a number of a mask of truth values as a word."""
    if tensor.dtype != "bool":
        return number
    return say("true", "true") if number == "1" else say("false", "false")
