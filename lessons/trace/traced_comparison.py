"""Two traces compared: what agrees, and the first result that differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attn_tutor.lessons.render import html_pieces as html
from attn_tutor.lessons.render import run_comparison_text
from attn_tutor.lessons.render.source_text import source
from attn_tutor.lessons.results.run_comparison import Agreement, ComparedResult, RunComparison, RunDifference
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.trace.harmless_text import harmless
from attn_tutor.lessons.trace.trace_errors import Incomplete

say = Wording("trace/comparison")


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedComparison:
    """Two traces compared by the values of their results, whatever these are called; true if they agree.

    Where no difference was found, but not everything was compared, it is neither true nor false: `bool` raises
    `Incomplete`.

    Attributes:
        comparison: what both have, and the first difference, as plain data.
    """

    comparison: RunComparison

    @property
    def agreed(self) -> tuple[Agreement, ...]:
        """The results that both have, in the order of this trace: `one` is of this trace, `other` of the other one."""
        return self.comparison.agreed

    @property
    def first(self) -> RunDifference | None:
        """The first result that one of the traces lacks, beside the one in its place; None if none was found."""
        return self.comparison.difference

    def __bool__(self) -> bool:
        if (agree := self.comparison.agree) is None:
            raise Incomplete(run_comparison_text.summary(self.comparison, _names(), traces=True))
        return agree

    def __str__(self) -> str:
        return "\n".join(run_comparison_text.lines(self.comparison, _names(), traces=True))

    def __repr__(self) -> str:
        summary = run_comparison_text.summary(self.comparison, _names(), traces=True)
        first = self.first.one or self.first.other if self.first is not None else None
        at = say("first", "The first difference: {code}", code=_where(first)) if first is not None else ""
        return f"<{type(self).__name__}: {' '.join(filter(None, (summary, at)))}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return html.page(html.lines(str(self)))


def _where(result: ComparedResult) -> str:
    at = source(result.file, result.line)
    return f"{result.code} ({at})" if at else result.code


def _names() -> tuple[str, str]:
    return say("this", "this trace"), say("other", "the other trace")
