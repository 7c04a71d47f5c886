"""The flow of a trace: which tensors were computed from which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attn_tutor.lessons.render import flow_graph, flow_text
from attn_tutor.lessons.render import html_pieces as html
from attn_tutor.lessons.results.flow import Flow, FlowBox
from attn_tutor.lessons.trace.harmless_text import harmless

WIDTH = 100


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedFlow:
    """The tensors of a trace in the order of computation, and which of them were computed from which.

    Attributes:
        flow: the boxes and the arrows between them, as plain data.
    """

    flow: Flow

    @property
    def boxes(self) -> tuple[FlowBox, ...]:
        """The boxes: tensors, each with the code that computed it."""
        return self.flow.boxes

    @property
    def arrows(self) -> tuple[tuple[str, str], ...]:
        """The arrows as pairs of names: the second was computed from the first."""
        names = flow_text.numbered(self.flow)
        return tuple((names[arrow.source], names[arrow.target]) for arrow in self.flow.arrows)

    def dot(self) -> str:
        """Return the flow in the language of Graphviz."""
        return "\n".join(flow_graph.dot(self.flow))

    def __str__(self) -> str:
        return "\n".join(flow_text.lines(self.flow, WIDTH))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(flow_text.numbered(self.flow).values())}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return html.page(html.flow(self.flow))
