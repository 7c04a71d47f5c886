"""Commands that change a run: numbers and knobs, undone and made again, and what came of them."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from attn_tutor.lessons.format.knobs import Knob, LiteralKnob
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.render import linear_matrix
from attn_tutor.lessons.render.numbers import readable, truncated, visible
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import cells, changes, knobs
from attn_tutor.lessons.what_if.changes import ChangeHistory, Changes
from attn_tutor.tui.plain.command_table import Handlers
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.subject import DialogueSubject, Index, cell_words
from attn_tutor.tui.state import what_if_rows
from attn_tutor.tui.state.typed_names import typed

say = Wording("plain/change")

MOST_LISTED = 20
"""Knobs that are listed when nobody has asked for all of them."""

QUOTED = re.compile(r'"([^"]+)"\s*(.*)')
"""A label in quotes, and what follows it."""

ALL = "all"
"""What a learner types to have all of them listed."""


class KnobCommands:
    """Lists the knobs of a step, and finds the one that a learner means."""

    def __init__(
        self,
        console: Console,
        step: Callable[[], tuple[Lesson, Step]],
        knobs: Callable[[], Sequence[Knob]],
        history: Callable[[], ChangeHistory],
    ) -> None:
        self._console, self._step, self._knobs, self._history = console, step, knobs, history

    def listed(self, text: str) -> Iterator[str]:
        """Yield the knobs that have these words, of many the nearest ones; with `ALL` all. Raises `Refused`."""
        lesson, step = self._step()
        there = what_if_rows.knobs_in_order(self._knobs(), step.id)
        if text.casefold() in ("", ALL):
            yield from self._lines(there, len(there) if text else MOST_LISTED)
            return
        found, word = what_if_rows.knobs_having(lesson, there, text), text.partition(" ")[0]
        if not found and word != text and (found := what_if_rows.knobs_having(lesson, there, word)):
            yield from self._console.wrapped(say("which-knob", "Type the name of one of these, and then the value:"))
        if not found:
            raise Refused(self._none(text))
        yield from self._lines(found, MOST_LISTED, with_code=True)

    def _lines(self, knobs: Sequence[Knob], most: int, *, with_code: bool = False) -> Iterator[str]:
        """Yield a line for each knob, up to so many, and how to see the rest; literals also `with_code`."""
        # One that is left out takes the room that saying so takes.
        shown = knobs[: most + int(len(knobs) == most + 1)]
        for knob in shown:
            yield from self._line(knob)
            if with_code and isinstance(knob, LiteralKnob):
                yield "    " + truncated(
                    what_if_rows.line_of_knob(self._step()[0], knob), self._console.width - 4, "..."
                )
        left = len(knobs) - len(shown)
        if left and with_code:
            yield from self._console.wrapped(
                say("more-found", "{count} more are found. Type more words to see fewer.", count=left)
            )
        elif left:
            yield from self._console.wrapped(
                say(
                    "more-knobs",
                    "{count} more: knob {all} lists all, and knob WORD those with that word in their name or their "
                    "line of code.",
                    count=left,
                    all=ALL,
                )
            )

    def _line(self, knob: Knob) -> Iterator[str]:
        """Yield what a knob is called, what it is now, and what it takes."""
        lesson, _ = self._step()
        setting = self._history().current.settings.get(knob.name, knob.initial(lesson))
        now = say("each-own", "each step its own") if setting is None else knob.say(setting)
        line = say("knob", "{name}: {label}, now {now}.", name=knob.name, label=knob.label, now=now)
        limits = knob.limits()
        if "values" in limits:
            line += " " + say("values", "It takes: {values}.", values=", ".join(map(str, limits["values"])))
        else:
            line += " " + say("accepts", "It takes: {accepts}.", accepts=knob.accepts)
        yield from self._console.wrapped(line)

    def meant(self, text: str) -> tuple[Knob | None, str]:
        """Return the knob that a text begins with, and the rest.

        It is found by its name, by its label, which may be in quotes, or as the only one that the code calls so.

        Names of several words, such as those of another file, are read whole. Returns None if there is no such knob.
        """
        if (quoted := QUOTED.fullmatch(text)) is not None:
            text = f"{quoted[1]} {quoted[2]}"
        names = [(knob, knob.name) for knob in self._knobs()]
        labels = [(knob, knob.label) for knob in self._knobs()]
        literals = [knob for knob in self._knobs() if isinstance(knob, LiteralKnob)]
        called = [(knob, knob.called) for knob in literals if what_if_rows.is_all_of_knob(self._step()[0], knob)]
        for among in (names, called, labels):
            found = [(len(name), knob) for knob, name in among if name and _follows(name, text) is not None]
            longest = [knob for length, knob in found if length == max(length for length, _ in found)]
            if len(longest) == 1:
                name = next(name for knob, name in among if knob is longest[0])
                return longest[0], str(_follows(name, text)).removeprefix("=").strip()
        return None, ""

    def _none(self, text: str) -> str:
        """Say that there is no such knob, and which there are."""
        knobs, name = self._knobs(), text.partition(" ")[0]
        names = [knob.called if isinstance(knob, LiteralKnob) else knob.name for knob in knobs]
        if close := difflib.get_close_matches(name, names, 1):
            return say("similar-knob", "There is no knob {name}. Do you mean {similar}?", name=name, similar=close[0])
        if len(knobs) > MOST_LISTED:
            return say(
                "not-found", "No knob has {text} in its name or its line of code. Type knob to list them.", text=text
            )
        return say("no-knob", "There is no knob {name}. There is: {names}.", name=name,
                   names=", ".join(knob.name for knob in knobs))  # fmt: skip


def _follows(name: str, text: str) -> str | None:
    """Return what follows a name at the beginning of a text; None if the text begins with something else."""
    rest = text[len(name) :]
    begins = text[: len(name)].casefold() == name.casefold() and (not rest or rest[0] in " =")
    return rest.strip() if begins else None


MOST_CELLS = 10
"""Changed numbers of a tensor that are listed one by one."""


class ChangeCommands:
    """The commands that change the run of a step.

    `history` and `replace` read and set the learner's changes; `rerun` runs the step with them and yields what is to
    be said of that.
    """

    def __init__(
        self,
        console: Console,
        step: Callable[[], tuple[Lesson, Step]],
        subject: Callable[[], DialogueSubject],
        content: Callable[[], StepContent],
        history: Callable[[], ChangeHistory],
        apply: Callable[[ChangeHistory], Iterator[str]],
    ) -> None:
        """Initialize; `apply` runs the step with other changes and yields what came of it."""
        self._console, self._step, self._subject, self._content = console, step, subject, content
        self._history, self._apply = history, apply
        self._knobs: dict[str, tuple[Knob, ...]] = {}
        self._listing = KnobCommands(console, step, lambda: self.knobs, history)

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """The knobs that matter to the step, and all that are turned."""
        lesson, step = self._step()
        if step.id not in self._knobs:
            self._knobs[step.id] = knobs.relevant_to_step(lesson, step.id)
        settings = self._history().current.settings
        return tuple(knob for knob in lesson.knobs if knob in self._knobs[step.id] or knob.name in settings)

    @property
    def handlers(self) -> Handlers:
        """The commands that apply now."""
        history = self._history()
        found: Handlers = {"set": self.set}
        if self.knobs:
            found["knob"] = self.knob
        if history.current:
            found |= {"changes": self.changes, "compare": self.compare, "reset": self.reset}
        if history.position > 0:
            found["undo"] = self.undo
        if history.position + 1 < len(history.states):
            found["redo"] = self.redo
        return found

    def set(self, text: str) -> Iterator[str]:
        """Change a number, and yield what came of it."""
        lesson, step = self._step()
        left, equals, value = text.partition("=")
        if self.names_knob(text):
            # What the screen has in one list is told apart here, by the name alone.
            yield from self.knob(text)
            return
        if not equals:
            raise Refused(
                say("no-value", "Write the number and its value like this: set {cell} = 0.5", cell=self._cell)
            )
        made = self._history().current
        altered = changes.apply(lesson, made)
        try:
            written = cells.parse(altered, f"{self._target(left.strip(), step)} = {value.strip()}")
            yield from self._apply(self._history().do(made.with_cell(altered, written)))
        except changes.ChangeError as error:
            raise Refused(str(error)) from None

    @property
    def _cell(self) -> str:
        """A cell that can be named as an example."""
        for tensor in self._subject().tensors:
            return label(tensor.name, (0,) * len(tensor.shape))
        return "NAME[0,0]"

    def _target(self, text: str, step: Step) -> str:
        """Return a cell as `cells.parse` reads it: one that the step shows is meant as this step leaves it."""
        if not step.runs:
            return text
        names, inner = typed(text, [shown.name for shown in step.tensors])
        if len(names) != 1:
            return text
        (name,) = names
        text = f"{name}[{inner}]" if inner else name
        shown = next(shown for shown in step.tensors if shown.name == name)
        if not any(tensor.name == name for tensor in self._subject().tensors):
            return text
        variable = cells.variable(shown)
        if variable is None:
            raise Refused(
                say(
                    "computed",
                    "{name} is computed when it is shown, so it cannot be changed. Change what it is computed from.",
                    name=name,
                )
            )
        _, index = self._subject().cell(text)
        return f"{step.id}:{variable}" + (f"[{','.join(map(str, index))}]" if index else "")

    def knob(self, text: str) -> Iterator[str]:
        """Turn a knob, and yield what came of it; without a value, yield those that are called so."""
        lesson, _ = self._step()
        knob, value = self._listing.meant(text)
        if knob is None or not value:
            yield from self._listing.listed(text)
            return
        try:
            yield from self._apply(self._history().do(self._history().current.with_knob(lesson, knob.name, value)))
        except changes.ChangeError as error:
            raise Refused(str(error)) from None

    def names_knob(self, text: str) -> bool:
        """Return whether a text begins with the name of a knob."""
        return self._listing.meant(text)[0] is not None

    def changes(self, _: str) -> Iterator[str]:
        """Yield what the learner has changed."""
        lesson, _step = self._step()
        for line in changes.describe(lesson, self._history().current):
            yield from self._console.wrapped(line)

    def compare(self, text: str) -> Iterator[str]:
        """Yield what the changes have changed in all tensors, or in one."""
        content = self._content()
        only = self._subject().read(text)[0].name if text else ""
        yield from difference(self._console, content, only)

    def undo(self, _: str) -> Iterator[str]:
        """Undo the last change, and yield what came of it."""
        yield from self._apply(self._history().undo())

    def redo(self, _: str) -> Iterator[str]:
        """Make the last change again, and yield what came of it."""
        yield from self._apply(self._history().redo())

    def reset(self, _: str) -> Iterator[str]:
        """Undo all changes, and yield what came of it."""
        yield from self._apply(self._history().do(changes.UNCHANGED))


def described(console: Console, lesson: Lesson, made: Changes) -> Iterator[str]:
    """Yield the changes that hold now."""
    if not made:
        yield from console.wrapped(say("unchanged", "Nothing is changed now."))
        return
    yield from console.wrapped(say("changed", "Changed: {changes}.", changes="; ".join(changes.describe(lesson, made))))


def difference(console: Console, content: StepContent, only: str = "") -> Iterator[str]:
    """Yield what changes have changed in the tensors of a step, with the numbers before and after."""
    before, after = content.base, content.result
    if before is None:
        yield from console.wrapped(say("nothing", "Nothing is changed, so there is nothing to compare."))
        return
    for tensor in after.tensors:
        if only in ("", tensor.name):
            yield from _of_tensor(console, before, tensor)
    if not only and after.stdout != before.stdout:
        yield from console.wrapped(say("output", "It prints something else now:"))
        yield from (f"    {line}" for line in after.stdout.splitlines())


def _of_tensor(console: Console, before: StepResult, tensor: Tensor) -> Iterator[str]:
    earlier = next((each for each in before.tensors if each.name == tensor.name), None)
    if earlier is None or earlier.shape != tensor.shape:
        sizes = {"now": linear_matrix.shape_text(tensor)}
        if earlier is None:
            yield from console.wrapped(say("new", "{name} is new: {now}.", name=tensor.name, **sizes))
        else:
            sizes["was"] = linear_matrix.shape_text(earlier)
            yield from console.wrapped(say("reshaped", "{name} was {was}, is {now}.", name=tensor.name, **sizes))
        return
    pairs = list(_pairs(earlier, tensor))
    changed = [(index, was, now) for index, was, now in pairs if was != now and not (was != was and now != now)]
    count, compared = len(changed), len(pairs)
    if compared < tensor.size:
        said = say("count-shown", "{name} has {all:,} numbers. Of the {shown} shown here, {count} changed.",
                   name=tensor.name, all=tensor.size, shown=compared, count=count)  # fmt: skip
        yield from console.wrapped(f"{said} {_bounds(earlier, tensor)}")
    elif not changed:
        yield from console.wrapped(say("same", "{name}: nothing changed.", name=tensor.name))
    else:
        yield from console.wrapped(
            say("count", "{name}: {count} of {all} numbers changed.", name=tensor.name, count=count, all=compared)
        )
    for index, *values in changed[:MOST_CELLS]:
        was, now = _told_apart(values, (earlier.dtype, tensor.dtype))
        cell = cell_words(tensor, index)
        yield from console.wrapped(say("cell", "{cell} was {was}, is {now}.", cell=cell, was=was, now=now))
    if count > MOST_CELLS:
        rows = dict.fromkeys(visible(_row_name(tensor, index)) for index, _, _ in changed)
        where = ", ".join(list(rows)[:MOST_CELLS]) + (", ..." if len(rows) > MOST_CELLS else "")
        yield from console.wrapped(
            say("more", "Those are the first {most}. Rows with changes: {rows}.", most=MOST_CELLS, rows=where)
            if len(tensor.shape) > 1
            else say("first", "Those are the first {most}.", most=MOST_CELLS)
        )


def _bounds(earlier: Tensor, tensor: Tensor) -> str:
    """Say between which numbers those of a tensor lie, and lay before."""
    if (earlier.low, earlier.high) == (tensor.low, tensor.high):
        return say("same-bounds", "The least and the greatest of all are as before.")
    if earlier.low is None or earlier.high is None or tensor.low is None or tensor.high is None:
        return say("not-finite", "None of them is finite now, or none was before.")
    dtypes = earlier.dtype, tensor.dtype
    low, new_low = _told_apart((earlier.low, tensor.low), dtypes)
    high, new_high = _told_apart((earlier.high, tensor.high), dtypes)
    return say("bounds", "All of them lay from {low} to {high}, and lie from {new_low} to {new_high}.",
               low=low, high=high, new_low=new_low, new_high=new_high)  # fmt: skip


def _told_apart(values: Sequence[float], dtypes: Sequence[str]) -> tuple[str, str]:
    """Return two numbers as text, with all their digits if they would look the same otherwise."""
    was, now = (readable(value, dtype) for value, dtype in zip(values, dtypes, strict=True))
    return (was, now) if was != now or values[0] == values[1] else (f"{values[0]:.9g}", f"{values[1]:.9g}")


def _pairs(earlier: Tensor, tensor: Tensor) -> Iterator[tuple[Index, float, float]]:
    """Yield the numbers that are known of a tensor, before and after: all of them, or those of its corner."""
    if tensor.values is not None and earlier.values is not None:
        yield from zip(itertools.product(*map(range, tensor.shape)), earlier.values, tensor.values, strict=True)
        return
    before, after = earlier.window, tensor.window
    if before is None or after is None or (before.lead, before.top, before.left) != (after.lead, after.top, after.left):
        return
    for row, (was, now) in enumerate(zip(before.rows, after.rows, strict=False), after.top):
        for column, values in enumerate(zip(was, now, strict=False), after.left):
            yield ((*after.lead, row, column) if len(tensor.shape) > 1 else (column,), *values)


def _row_name(tensor: Tensor, index: Index) -> str:
    """Return the row of a cell by its label, if it is not a bare number."""
    row, labels = index[-2] if len(index) > 1 else 0, tensor.row_labels
    lead = f"{','.join(map(str, index[:-2]))}," if len(index) > 2 else ""
    return f"{lead}{labels[row] if row < len(labels) else row}"
