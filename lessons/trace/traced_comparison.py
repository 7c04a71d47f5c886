"""Two traces compared: what agrees, and the first result that differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lessons.render.numbers import readable
from lessons.texts.wording import Wording
from lessons.trace import notebook_html as html
from lessons.worker.programs.record_comparison import ComparedResult, Difference, RecordComparison

say = Wording("trace/comparison")

MOST_LISTED = 40


@dataclass(frozen=True, slots=True, repr=False)
class TracedComparison:
    """Two traces compared by the values of their results, whatever these are called; true if all agree.

    Attributes:
        agreed: the results that both have: in this trace, and in the other one.
        first: the first result of this trace that the other does not have; None if it has all.
    """

    _comparison: RecordComparison

    @property
    def agreed(self) -> tuple[tuple[ComparedResult, ComparedResult], ...]:
        """The results that both have: in this trace, and in the other one."""
        return self._comparison.agreed

    @property
    def first(self) -> Difference | None:
        """The first result of this trace that the other does not have; None if it has all."""
        return self._comparison.first

    def __bool__(self) -> bool:
        return self.first is None

    def __str__(self) -> str:
        return "\n".join([*self._agreeing(), *self._differing()])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {' '.join(self._differing()[:1])}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        head, *lines = self._agreeing()
        listed = html.opened(html.escaped(head), "".join(map(html.words, lines))) if lines else html.words(head)
        return html.page(listed, *map(html.words, self._differing()))

    def _agreeing(self) -> list[str]:
        count = len(self.agreed)
        head = say.count("agreed", count, "{count} result agrees.", "{count} results agree.")
        lines = [f"  {_called(one)}{_also(one, other)}" for one, other in self.agreed[:MOST_LISTED]]
        if (left := count - MOST_LISTED) > 0:
            lines.append("  " + say.count("more", left, "and {count} more", "and {count} more"))
        return [head, *lines]

    def _differing(self) -> list[str]:
        found = self.first
        if found is None:
            return [say("all", "Every result of this trace is in the other one too.")]
        lines = [say("first", "The first result that the other trace does not have: {own}", own=_called(found.own))]
        if found.other is None:
            return lines
        lines.append(say("there", "In its place the other has: {other}", other=_called(found.other)))
        if not found.count:
            return lines
        own, other = (readable(value) for value in found.values)
        index = ",".join(map(str, found.furthest))
        lines.append(
            say.count(
                "numbers",
                found.count,
                "{count} number differs: at [{index}] it is {own} here and {other} there.",
                "{count} numbers differ, most at [{index}]: {own} here, {other} there.",
                index=index,
                own=own,
                other=other,
            )
        )
        return lines


def _called(item: ComparedResult) -> str:
    """Return the name of a result with its shape and line."""
    shape = "×".join(map(str, item.shape))
    at = say("line", "line {line}", line=item.line) if item.line is not None else ""
    return "  ".join(filter(None, (item.name, shape, at)))


def _also(one: ComparedResult, other: ComparedResult) -> str:
    """Say what the other trace calls the same result, if that is another name."""
    return "  " + say("there-called", "(there: {name})", name=other.name) if one.name != other.name else ""
