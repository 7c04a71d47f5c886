"""The controller of what stands above a step about the files that it was read from."""

from __future__ import annotations

from attn_tutor.tui.controllers.step_controller import StepController
from attn_tutor.tui.sources.source import Source
from attn_tutor.tui.widgets.findings_pane import FindingsPane


class FindingsController:
    """The controller of the findings of a source; without any, its pane stays hidden."""

    def __init__(self, source: Source, steps: StepController, pane: FindingsPane) -> None:
        self._source, self._steps, self.pane = source, steps, pane

    def update(self) -> None:
        """Show what is found in the step that is open."""
        if self._source.findings is not None:
            self.pane.show_findings(self._source.findings(self._steps.lesson, self._steps.index))
