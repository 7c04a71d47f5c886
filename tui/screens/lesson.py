"""One step of a lesson: prose, code, what it printed, and its matrices."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.message import Message

from lessons import source, template
from lessons.model import Lesson, ReadStep, RunStep
from lessons.result import StepResult
from tui.arrange import CODE, Needs, arrange, panes, text_width
from tui.code import rich_code
from tui.plain import clean
from tui.prose import in_ascii, rich_text
from tui.terminal import Terminal
from tui.widgets.drawn import Box, set_height
from tui.widgets.line import Line
from tui.widgets.matrix import MatrixView
from tui.widgets.pane import TextPane

MATRICES = 4
DIM, BOLD = Style(dim=True), Style(bold=True)


class LessonView(Box):
    """The panes of a step. It is told what to show, and posts which numbers it misses."""

    class PanesChanged(Message):
        """Another pane has the keys, or other panes are hidden."""

    class Missing(Message):
        """Values of a large tensor are wanted for a matrix."""

        def __init__(self, step: str, wanted: MatrixView.WindowWanted) -> None:
            self.step, self.wanted = step, wanted
            super().__init__()

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._code_theme = code_theme
        self._step: ReadStep | RunStep | None = None
        self._result = StepResult("")
        self._active = 0

        self._prose = TextPane(ellipsis=terminal.ellipsis, id="prose")
        self._code = TextPane(ellipsis=terminal.ellipsis, id="code")
        self._output = TextPane(ellipsis=terminal.ellipsis, id="output")
        self._matrices = [MatrixView(terminal, id=f"matrix{place}") for place in range(MATRICES)]
        self._text = Box(self._prose, self._code, self._output, id="text")
        self._body = Box(self._text, Box(*self._matrices, id="figures"), id="body")
        self._detail = Line(ellipsis=terminal.ellipsis, id="detail")
        self._panes: tuple[int, ...] = ()
        self._text_place = (False, 0)

    def compose(self) -> ComposeResult:
        """Text at the top or left, matrices below or right, the detail of the cursor's cell at the bottom."""
        yield self._body
        yield self._detail

    def show_step(self, lesson: Lesson, step: ReadStep | RunStep, result: StepResult, note: str) -> None:
        """Show a step with results, which may be recorded ones; `note` says of what sort they are."""
        fresh = step is not self._step
        self._step, self._result = step, result
        prose = template.fill(step.prose, result.text)
        self._prose.show(rich_text(prose if self._terminal.unicode else in_ascii(prose)))
        if fresh:
            # The same with every result: it is not coloured again when the live one comes.
            self._code.show(self._code_text(step))
        self._output.show(self._output_text(result))
        for place, view in enumerate(self._matrices):
            view.show(result.tensors[place] if place < len(result.tensors) else None, note)
        self._panes = panes(self._needs(self.room.width))
        if fresh or self._active not in self._panes:
            self._active = 0 if 0 in self._panes else CODE
        self._arrange()
        if fresh:
            self.focus_active()
        self._describe()

    def _code_text(self, step: ReadStep | RunStep) -> Text:
        text = Text()
        if step.source:
            module, _, name = step.source.partition(":")
            text.append(f"# {name}, in {module.replace('.', '/')}.py\n", DIM)
            text.append_text(rich_code(source.read(step.source), self._code_theme, numbered=False))
        if isinstance(step, RunStep):
            if text.plain:
                text.append("\n\n")
            text.append_text(rich_code(step.code, self._code_theme))
        return text

    def _output_text(self, result: StepResult) -> Text:
        text = Text(clean(result.stdout).rstrip("\n"))
        if result.error is not None:
            if text.plain:
                text.append("\n")
            text.append(clean(result.error.message), BOLD)
        return text

    # Places ------------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        width, height = self.room.width, self.room.height - 1
        if not width or height < 2:
            return
        plan = arrange(width, height, self._needs(width), self._active)
        self._body.set_class(plan.wide, "wide")
        if (plan.wide, plan.text_width) != self._text_place:
            self._text_place = (plan.wide, plan.text_width)
            self._text.styles.width = plan.text_width
        for widget, lines in ((self._prose, plan.prose), (self._code, plan.code), (self._output, plan.output)):
            set_height(widget, lines)
        for place, view in enumerate(self._matrices):
            set_height(view, plan.matrices[place] if place < len(plan.matrices) else 0)

    def _needs(self, width: int) -> Needs:
        tensors = self._result.tensors[:MATRICES]
        widest = self._code.widest
        columns = text_width(width, widest) if tensors else width
        return Needs(
            prose=self._gap(self._prose.lines_at(columns)),
            code=self._gap(self._code.lines_at(columns)),
            output=self._gap(self._output.lines_at(columns)),
            matrices=tuple(self._matrices[place].natural_size() for place in range(len(tensors))),
            widest=widest,
        )

    def _gap(self, lines: int) -> int:
        """Lines with an empty one below, nothing for nothing."""
        return lines + 1 if lines else 0

    def on_resize(self, event: events.Resize) -> None:
        """Arrange again."""
        if self._step is not None:
            self._arrange()
            self._describe()

    # Panes -------------------------------------------------------------------------------------------------------

    def focus_active(self) -> None:
        """Give the keys to the active pane."""
        target = self._matrices[self._active] if self._active >= 0 else self._code
        (target if self._panes else self._prose).focus(scroll_visible=False)

    def move_pane(self, step: int) -> None:
        """Give the keys to the next pane, and show it if it is not shown."""
        if not self._panes:
            return
        place = self._panes.index(self._active)
        self._active = self._panes[(place + step) % len(self._panes)]
        self._arrange()
        self.focus_active()
        self._describe()

    # Messages of the matrices ------------------------------------------------------------------------------------

    def on_matrix_view_cursor_moved(self, event: MatrixView.CursorMoved) -> None:
        """Read the cell out."""
        event.stop()
        self._describe()

    def on_matrix_view_window_wanted(self, event: MatrixView.WindowWanted) -> None:
        """Pass it on with the step that it belongs to."""
        event.stop()
        if self._step is not None:
            self.post_message(self.Missing(self._step.id, event))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click may have moved the focus."""
        if isinstance(event.widget, MatrixView):
            self._active = self._matrices.index(event.widget)
            self._describe()

    @property
    def pane_keys(self) -> str:
        """What the keys of the panes do here, for the line of keys: nothing to say of a step without panes."""
        if not self._panes:
            return ""
        hidden = [place for place in self._panes if not (self._matrices[place] if place >= 0 else self._code).display]
        to = "code" if CODE in hidden else "more" if hidden else "pane"
        tab = f"tab {to}   " if len(self._panes) > 1 else ""
        return tab + ("arrows cell   " if self._active >= 0 else "arrows scroll   ")

    def _describe(self) -> None:
        self._detail.set(" " + self._matrices[self._active].describe() if self._active >= 0 else "")
        self.post_message(self.PanesChanged())
