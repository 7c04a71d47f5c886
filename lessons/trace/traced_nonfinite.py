"""The first number of a trace that is not finite: where it came from, and what usually cures it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attn_tutor.lessons.engine.explanation_tree import Node
from attn_tutor.lessons.render import explanation_text, nonfinite_text
from attn_tutor.lessons.render import html_pieces as html
from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.results.nonfinite import NonfiniteReport, Origin
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.trace.harmless_text import harmless
from attn_tutor.lessons.trace.trace_errors import Incomplete
from attn_tutor.lessons.trace.traced_number import TracedNumber

if TYPE_CHECKING:
    from attn_tutor.lessons.worker.programs.record_questions import RecordQuestions

say = Wording("trace/nonfinite")


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedNonfinite:
    """What a search for numbers that are not finite has found; false if all numbers are finite.

    Where none was found, but not all were looked at, it is neither true nor false: `bool` raises `Incomplete`.

    >>> if found := trace.first_nan():
    ...     print(found.first.code, *found.cures)

    Attributes:
        report: all that was found, as plain data.
    """

    report: NonfiniteReport
    _questions: RecordQuestions

    def __bool__(self) -> bool:
        if (is_finite := self.report.is_finite) is None:
            raise Incomplete(nonfinite_text.looked_at(self.report))
        return not is_finite

    @property
    def first(self) -> TracedNumber | None:
        """The first number that is not finite, with its explanation; None if none was found."""
        origin = self.report.first
        return TracedNumber(origin.first, self._questions) if origin is not None else None

    @property
    def reason(self) -> str:
        """The reason as a sentence; "" if there is none."""
        return self.report.first.reason if self.report.first is not None else ""

    @property
    def cures(self) -> tuple[str, ...]:
        """What helps, a sentence each."""
        return self.report.first.cures if self.report.first is not None else ()

    def __str__(self) -> str:
        return "\n".join(nonfinite_text.lines(self.report))

    def __repr__(self) -> str:
        found = self.report.first.first if self.report.first is not None else None
        if found is None:
            said = (
                say("none", "all numbers are finite")
                if self.report.is_finite
                else nonfinite_text.looked_at(self.report)
            )
            return f"<{type(self).__name__}: {said}>"
        at = ": ".join(filter(None, (explanation_text.where(found), found.code)))
        value = readable(found.value, found.dtype)
        return f"<{type(self).__name__}: {found.label} = {value}{f' ({at})' if at else ''}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        if self.report.first is None:
            return html.page(*map(html.words, nonfinite_text.lines(self.report, width=1000)))
        origins = self.report.origins
        return html.page(*(_origin(origin, origins[0] if count else None) for count, origin in enumerate(origins)))


def _origin(origin: Origin, earlier: Origin | None) -> str:
    first = Node(origin.first, [Node(item) for item in origin.operands] or None)
    later = "".join(html.line(html.code(item.label), html.code(item.code)) for item in origin.chain[1:])
    return "".join(
        (
            html.words(nonfinite_text.headline(origin, earlier)),
            html.number(first),
            html.opened(html.facts(say("from-there", "From there it went on")), later) if later else "",
            *map(html.words, (*origin.afterwards, *origin.cures)),
        )
    )
