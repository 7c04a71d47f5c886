"""The pane in which a number explains itself: its formula, its digits, what each term contributes, and its operands.

`lines` lays an explanation out in a given number of lines; the widget holds the path that the learner has taken and the
chosen operand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from attn_tutor.lessons.render import explanation_text, formula_digits
from attn_tutor.lessons.render.numbers import readable, truncated
from attn_tutor.lessons.render.source_text import NO_NAMES
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation, Operand
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, name_of
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import LineWidget

say = Wording("explanation/pane")

STRONG, DIM, CHOSEN = Style(bold=True), Style(dim=True), Style(reverse=True)
NAME = Style(color="cyan")
MOST_ARITHMETIC = 3
MOST_ROWS = 4
TERMS = (12, 8, 6, 4, 3, 2, 1)
PIECE = re.compile(r"\([^()]* [^()]*: [^()]*\)\S*|\S+")
"""A word, or the rest of a sum in brackets, which is not divided."""


@dataclass(frozen=True, slots=True)
class ChosenOperand:
    """The chosen operand: the row of operands, and the index within it."""

    row: int = 0
    index: int = 0


@dataclass(frozen=True)
class PathStop:
    """One stop on the path: an explanation, and the operand that is chosen in it."""

    explanation: Explanation
    choice: ChosenOperand = ChosenOperand()
    written: dict[tuple[int, int, bool], list[Text]] = field(default_factory=dict, compare=False, repr=False)
    """Return the arithmetic for this many columns and lines. Cached, since long sums take a while."""

    @cached_property
    def rows(self) -> tuple[explanation_text.OperandGroup, ...]:
        """The rows of operands."""
        return explanation_text.groups(self.explanation)

    @property
    def row(self) -> explanation_text.OperandGroup:
        """The row of the chosen operand; an error if there are no operands."""
        return self.rows[self.choice.row]

    @property
    def operand(self) -> Operand | None:
        """The chosen operand, None if there is none."""
        return None if self.explanation.leaf else self.explanation.operands[self.row.positions[self.choice.index]]

    def moved(self, rows: int, columns: int) -> PathStop:
        """Return the stop with a different operand chosen; the choice stops at the edges."""
        known = self.rows
        if not known:
            return self
        row = min(max(self.choice.row + rows, 0), len(known) - 1)
        index = min(max(self.choice.index + columns, 0), len(known[row].positions) - 1)
        found = replace(self, choice=ChosenOperand(row, index))
        # Reuse the rows: finding them again takes time.
        found.__dict__["rows"] = known
        return found


ALL = 1000
"""More lines than any explanation has."""


def lines(
    path: tuple[PathStop, ...],
    width: int,
    height: int,
    here: str = "",
    unicode: bool = True,
    tail: bool = False,
    steps: Mapping[str, str] = NO_NAMES,
) -> list[Text]:
    """Lay out the last stop of a path in at most `height` lines; `tail` selects the last lines instead of the first.

    `steps` are names of steps by their ids. If lines are left, bars show what the terms of a sum contribute. The least
    helpful parts are left out first: notes and details, the path, all but the chosen row of operands, digits.
    """
    if not path or height < 1:
        return []
    if tail:
        return lines(path, width, ALL, here, unicode, steps=steps)[-height:]
    stop = path[-1]
    explanation = stop.explanation
    if height == 1:
        return [_clipped(Text(explanation_text.one_line(explanation, width, here, unicode, steps)), width, unicode)]
    head = _head(explanation, width, explanation_text.where(explanation, here, steps), unicode)
    aligned = _aligned(stop)
    grid = _rows(stop, width, unicode, aligned)
    rows, below = grid[: len(stop.rows)], grid[len(stop.rows) :]
    key = (width, min(MOST_ARITHMETIC, max(1, height - 2)), unicode)
    if key not in stop.written:
        stop.written[key] = _arithmetic(explanation, *key)
    arithmetic = stop.written[key]
    group = stop.row.pattern if rows else ""
    crumbs = Text(explanation_text.crumbs([item.explanation for item in path], group, unicode, width), DIM)
    extra = [*below, *_details(explanation, width, len(aligned)), *_notes(explanation, width)]
    left = height - 1
    shown_rows = _around(stop.choice.row, len(rows), min(MOST_ROWS, left))
    if len(arithmetic) + len(shown_rows) > left:
        shown_rows = _around(stop.choice.row, len(rows), max(1, left - len(arithmetic)))
    left -= len(shown_rows)
    arithmetic = arithmetic[: max(0, left)]
    left -= len(arithmetic)
    with_crumbs = left > 0
    left -= with_crumbs
    found = [
        *([crumbs] if with_crumbs else []),
        head,
        *arithmetic,
        *(rows[number] for number in shown_rows),
        *_cut(extra, max(0, left), unicode),
        *contribution_lines(explanation, width, left - len(extra), unicode),
    ]
    return [_clipped(text, width, unicode) for text in found]


def _cut(extra: list[Text], room: int, unicode: bool) -> list[Text]:
    """Cut a list of lines; the last line says how many are missing."""
    if len(extra) <= room or not room:
        return extra[:room]
    return [*extra[: room - 1], Text(f"  {_dots(unicode)} {_more_lines(len(extra) - room + 1)}", DIM)]


def _more_lines(count: int) -> str:
    """Say how many lines are missing, and which key shows them."""
    key = name_of("pagedown")
    return say.count("more-lines", count, "{count} more line: {key}", "{count} more lines: {key}", key=key)


def wanted(path: tuple[PathStop, ...], width: int, unicode: bool = True) -> int:
    """Return the number of lines that show everything."""
    return len(lines(path, width, ALL, unicode=unicode))


def _dots(unicode: bool) -> str:
    return "…" if unicode else "~"


def _clipped(text: Text, width: int, unicode: bool) -> Text:
    """Cut a text to at most `width` columns, ending in an ellipsis if anything was cut."""
    if text.cell_len > width:
        text.truncate(width - 1)
        text.append(_dots(unicode))
    return text


def _head(explanation: Explanation, width: int, source: str, unicode: bool) -> Text:
    """Return the line with the number in symbols and, on the right, `source`, its line of code."""
    e = explanation
    result = readable(e.value, e.dtype)
    symbols = explanation_text.symbols(e, unicode)
    if e.leaf:
        symbols = f"{result}   {symbols}"
    text = Text.assemble((e.label, STRONG), f" = {symbols}")
    room = width - cell_len(source) - 2
    if source and text.cell_len <= room:
        text.append(" " * (width - text.cell_len - cell_len(source)) + source, DIM)
    return text


def _arithmetic(explanation: Explanation, width: int, most: int, unicode: bool) -> list[Text]:
    """Return the formula in digits, with as many terms as fit into the lines."""
    e = explanation
    if e.leaf:
        return []
    for terms in TERMS:
        found = formula_digits.digits(e, terms, unicode)
        body = f"= {found.text} {found.sign} {found.result}" if found.text != found.result else f"= {found.result}"
        wrapped = _wrapped(body, width - 2, "  ")
        if len(wrapped) <= most and max(map(cell_len, wrapped)) <= width - 2:
            return [Text(f"  {line}") for line in wrapped]
    return [Text(f"  {found.sign} {found.result}")]


def _wrapped(text: str, width: int, hanging: str) -> list[str]:
    """Wrap a text before the signs that join terms."""
    pieces = PIECE.findall(text)
    found, line = [], ""
    for number, piece in enumerate(pieces):
        # A sign stays with the term that follows it.
        sign = piece in ("+", "-", "/", "=", "≈", "~") and number + 1 < len(pieces)
        length = cell_len(piece) + (1 + cell_len(pieces[number + 1]) if sign else 0)
        if line.strip() and cell_len(line) + 1 + length > width:
            found.append(line)
            line = hanging + piece
        else:
            line = f"{line} {piece}" if line else piece
    return [*found, line]


Values = tuple[str, tuple[float, ...]]
"""A title, and a number for each operand."""


def _aligned(stop: PathStop) -> tuple[Values, ...]:
    """Return the details at the beginning that have a number for each operand, such as the exponentials of scores."""
    if len(stop.rows) != 1:
        return ()
    size = len(stop.row.positions)
    return tuple(takewhile(lambda detail: len(detail[1]) == size > 1, stop.explanation.details))


def _rows(stop: PathStop, width: int, unicode: bool, aligned: Sequence[Values] = ()) -> list[Text]:
    """Lay out the rows of operands, each with as many as fit around the chosen one, and the `aligned` values below.

    Factors are aligned vertically.
    """
    operands, dots = stop.explanation.operands, _dots(unicode)
    # Format only operands that may fit: there may be a thousand.
    rows: list[tuple[str, int, dict[int, str]]] = []
    for row in stop.rows:
        middle = min(stop.choice.index, len(row.positions) - 1)
        near = range(max(0, middle - width), min(middle + width, len(row.positions)))
        rows.append((row.pattern, len(row.positions), {at: _number(operands[row.positions[at]]) for at in near}))
        rows += [(title, len(values), {at: readable(values[at]) for at in near}) for title, values in aligned]
    if not rows:
        return []
    cell = max(len(text) for *_, texts in rows for text in texts.values()) + 2
    # Showing the chosen operand matters more than the end of a long name.
    longest = max(0, min(max(12, width // 2), width - 5 - cell))
    names = [truncated(name, longest, dots) for name, *_ in rows]
    indent = max(map(cell_len, names))
    found = []
    for number, (_, size, texts) in enumerate(rows):
        count = f" {dots} {size}"
        room = width - 4 - indent
        fit = size if size * cell <= room else max(1, (room - 1 - len(count)) // cell)
        first = max(0, min(stop.choice.index - fit // 2, size - fit))
        name = names[number]
        text = Text("  ").append(name, NAME if number < len(stop.rows) else DIM)
        text.append(" " * (indent - cell_len(name) + 1)).append(dots if first else " ", DIM)
        for index in range(first, min(first + fit, size)):
            chosen = ChosenOperand(number, index) == stop.choice
            text.append(" ").append(f"{texts[index].rjust(cell - 2)} ", CHOSEN if chosen else None)
        text.append(count if first + fit < size else "", DIM)
        found.append(text)
    return found


def _number(operand: Operand) -> str:
    return readable(operand.value, operand.dtype)


def _around(chosen: int, count: int, room: int) -> range:
    """Return as many rows as fit, including the chosen one."""
    first = max(0, min(chosen - room + 1, count - room))
    return range(first, min(first + room, count))


def _details(explanation: Explanation, width: int, first: int) -> list[Text]:
    found = []
    for title, row in explanation.details[first:]:
        text = Text.assemble((f"  {title}  ", DIM))
        for index, value in enumerate(row):
            shown = readable(value)
            if text.cell_len + len(shown) + 12 > width and index + 1 < len(row):
                text.append(" " + say.count("more", len(row) - index, "({count} more)", "({count} more)"), DIM)
                break
            text.append(f" {shown}")
        found.append(text)
    return found


def _notes(explanation: Explanation, width: int) -> list[Text]:
    found = []
    word = explanation_text.leaf_word(explanation.op).capitalize() + "." if explanation.leaf else ""
    for note in explanation.notes:
        if word and note.startswith(word):
            # The first line says so.
            note = note.removeprefix(word).strip()
            if not note:
                continue
        found += [Text(f"  {line}", DIM) for line in _wrapped(note, width - 2, "  ")]
    return found


NOTHING_DRAWN: tuple[tuple[PathStop, ...], Size, list[Text]] = ((), Size(0, 0), [])


class ExplanationPane(LineWidget, can_focus=True):
    """The explanation of a number. The arrows choose an operand, Enter follows it, Backspace goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("explanation")]

    DEFAULT_CSS = """
    ExplanationPane {
        width: 1fr;
        height: auto;
    }
    """

    class Follow(Message):
        """Posted when the learner wants the chosen operand explained."""

        def __init__(self, operand: Operand) -> None:
            self.operand = operand
            super().__init__()

    class Changed(Message):
        """Posted when a different number is explained, or a different operand chosen."""

    class Closed(Message):
        """Posted when the learner closes the pane."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._path: tuple[PathStop, ...] = ()
        self._here, self._steps = "", NO_NAMES
        self._drawn = NOTHING_DRAWN
        self._tail = False

    @property
    def explanation(self) -> Explanation | None:
        """The explanation that is shown, None if there is none."""
        return self._path[-1].explanation if self._path else None

    @property
    def operand(self) -> Operand | None:
        """The chosen operand, None if there is none."""
        return self._path[-1].operand if self._path else None

    @property
    def references(self) -> tuple[int, ...]:
        """The references of the operands that the path leads through, and of all operands of its last stop."""
        chosen = [stop.operand for stop in self._path[:-1]]
        last = self._path[-1].explanation.operands if self._path else ()
        return tuple(operand.ref for operand in (*chosen, *last) if operand is not None)

    @property
    def hints(self) -> list[str]:
        """What the keys do with the operands, for the line of keys."""
        return [hint("explanation.choose"), hint("explanation.follow")] if self.operand is not None else []

    def show(self, explanation: Explanation, here: str, steps: Mapping[str, str] = NO_NAMES) -> None:
        """Explain a number and start a new path; `here` is the learner's step, `steps` what others are called."""
        self._here, self._steps = here, steps
        self._drawn = NOTHING_DRAWN
        self._tail = False
        self._go((PathStop(explanation),))

    def go_on(self, explanation: Explanation) -> None:
        """Add the explanation of an operand to the path."""
        self._go((*self._path, PathStop(explanation)))

    def clear(self) -> None:
        """Remove the explanation."""
        self._path = ()

    def wanted(self, width: int) -> int:
        """Return the number of lines that show everything at a width."""
        return wanted(self._path, max(20, width - 2), self._terminal.unicode)

    def _go(self, path: tuple[PathStop, ...]) -> None:
        before = self._drawn[2] if self._drawn[:2] == (self._path, self.size) else None
        self._path, self._tail, self._drawn = path, False, NOTHING_DRAWN
        self._repaint(before)
        self.post_message(self.Changed())

    def _repaint(self, before: list[Text] | None) -> None:
        """Repaint the lines that differ."""
        if before is None or not self.size:
            self.refresh()
            return
        found = self._lines()
        for y in range(self.size.height):
            old, new = (texts[y] if y < len(texts) else Text() for texts in (before, found))
            # Rich considers texts equal that differ only in style.
            if (old, old.spans, old.style) != (new, new.spans, new.style):
                self.refresh_line(y)

    def _lines(self) -> list[Text]:
        """Return the lines to draw."""
        if self._drawn[:2] != (self._path, self.size):
            # Laying out a sum of hundreds of terms takes a while: do not repeat it for each line.
            width, height = self.size
            names = (self._here, self._terminal.unicode, self._tail, self._steps)
            found = lines(self._path, max(1, width - 2), height, *names)
            self._drawn = (self._path, self.size, found)
        return self._drawn[2]

    def render_line(self, y: int) -> Strip:
        """Render one line."""
        width, found = self.size.width, self._lines()
        text = Text(" ").append_text(found[y]) if y < len(found) else Text()
        return Strip(self.pieces(text)).adjust_cell_length(width, self.ground).simplify()

    def action_choose(self, rows: int, columns: int) -> None:
        """Choose a different operand."""
        if self._path:
            moved = self._path[-1].moved(rows, columns)
            if moved != self._path[-1]:
                self._go((*self._path[:-1], moved))

    def action_page(self, tail: bool) -> None:
        """Show the end of the explanation, or its beginning."""
        self._tail, self._drawn = tail, NOTHING_DRAWN
        self.refresh()

    def action_follow(self) -> None:
        """Follow the chosen operand."""
        if self.operand is not None:
            self.post_message(self.Follow(self.operand))

    def action_back(self) -> None:
        """Go back to the previous number, or close the pane."""
        if len(self._path) > 1:
            self._go(self._path[:-1])
        else:
            self.action_close()

    def action_close(self) -> None:
        """Close the pane."""
        self.post_message(self.Closed())


MOST = 8
LONGEST = 32
FEWEST = 3
"""Of fewer terms the digits say enough."""


def contribution_lines(explanation: Explanation, width: int, room: int, unicode: bool = True) -> list[Text]:
    """Return a line with a bar for each of the largest terms of a sum, and one for all others.

    There are at most `room` lines of `width` columns; nothing if the number is no sum, or if there is too little room.
    """
    e = explanation
    terms = f.terms(e.formula)
    room = min(room, MOST)
    if len(terms) < FEWEST or room < FEWEST:
        return []
    values = [f.evaluate(term, e.values) for term in terms]
    largest = max(map(abs, values))
    if not largest or not math.isfinite(largest):
        return []
    ranked = sorted(range(len(terms)), key=lambda at: -abs(values[at]))
    shown = ranked if len(ranked) <= room else ranked[: room - 1]
    rest = ranked[len(shown) :]
    dots = "…" if unicode else "~"
    longest = max(8, width // 2)
    rows = [(truncated(explanation_text.part_text(terms[at], e, unicode), longest, dots), values[at]) for at in shown]
    if rest:
        more = say.count("rest", len(rest), "{count} more, together", "{count} more, together")
        rows.append((more, math.fsum(values[at] for at in rest)))
    names = max(cell_len(name) for name, _ in rows)
    digits = max(len(readable(value)) for _, value in rows)
    cells = min(LONGEST, width - names - digits - 6)
    if cells < 4:
        return []
    largest = max(abs(value) for _, value in rows)
    found = []
    for name, value in rows:
        bar = ("█" if unicode else "#") if value >= 0 else ("▒" if unicode else "-")
        text = Text("  ").append(name + " " * (names - cell_len(name)), DIM)
        found.append(text.append(f"  {readable(value):>{digits}}  {bar * round(cells * abs(value) / largest)}"))
    return found
