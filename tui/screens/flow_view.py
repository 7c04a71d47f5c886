"""The view of the flow of a run: the chart, and the matrix of the chosen box, beside it or in its place."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.render.flow_text import again_text, box_facts, where
from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.render.source_text import names_of_steps
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.flow import Flow, FlowBox
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.lessons.results.tensor_questions import BoxQuestion, FlowQuestion, box_unit
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, short_keys
from attn_tutor.tui.drawings.marks import Cells, Marks
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.render.step_layout import WIDE
from attn_tutor.tui.screens.explaining_view import ExplainingView
from attn_tutor.tui.screens.step_view import FlowSubject
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.explanation_pane import ExplanationPane
from attn_tutor.tui.widgets.flow_chart import FlowChart
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.text import TextPane

say = Wording("screen/flow")

MOST_CODE = 4
"""Lines for the code of the chosen box, beside the chart."""


class FlowView(ExplainingView):
    """The chart of a flow with the matrix of the chosen box. On a narrow screen one of them is shown at a time."""

    topic = "flow"

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("flow-matrix")]

    DEFAULT_CSS = """
    FlowView #flow-body {
        layout: horizontal;
        height: 1fr;
    }

    FlowView #flow-side {
        layout: vertical;
        width: 1fr;
        height: 1fr;
    }
    """

    class Wanted(Message):
        """Posted when the view needs a flow: at the start, with other boxes open, or for another explanation."""

        def __init__(self, question: FlowQuestion) -> None:
            self.question = question
            super().__init__()

    class BoxWanted(Message):
        """Posted when the view needs the tensor of a box."""

        def __init__(self, question: BoxQuestion) -> None:
            self.question = question
            super().__init__()

    class Closed(Message):
        """Posted when the learner goes back to where they were."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(terminal, "flow-matrix", most=1, id=id)
        self._subject = FlowSubject("", FlowQuestion())
        self._chart = FlowChart(terminal, id="chart")
        self._code = TextPane(ellipsis=terminal.ellipsis, is_code=True, id="flow-code")
        self._side = Box(self._code, *self._matrices, id="flow-side")
        self._body = Box(self._chart, self._side, id="flow-body")
        self._loaded = False
        self._in_matrix = False
        self._box = ""
        self._why_not = ""

    def compose(self) -> ComposeResult:
        """Compose the chart, the code and the matrix of the chosen box, the explanation, and the detail line."""
        yield self._explanation
        yield self._body
        yield self._detail

    # Contents ----------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The text of the title line."""
        return say("title", "Flow: {title}", title=self._subject.title)

    @property
    def question(self) -> FlowQuestion:
        """The question whose reply the view shows, or waits for."""
        return self._subject.question

    @property
    def loaded(self) -> bool:
        """Whether a flow has been shown since the view was opened."""
        return self._loaded

    def ask_again(self) -> None:
        """Ask once more for the flow that could not be drawn yet."""
        self._why_not = ""
        self._ask(self.question)

    def open(self, subject: FlowSubject, lesson: Lesson) -> None:
        """Clear the view, and ask for a flow of a run of a lesson."""
        self._step_names = names_of_steps(lesson)
        self._subject, self._loaded, self._in_matrix = subject, False, False
        self._chart.show(Flow((), ()))
        self._chart.answers = subject.point is not None
        self._show_tensor(None)
        self.focus_active()
        self._ask(subject.question)

    def show_flow(self, flow: Flow) -> None:
        """Show the reply to the question that was asked last."""
        was_loaded, opened = self._loaded, tuple(item.id for item in flow.opened)
        if self.question.references:
            # The path begins where the learner asked.
            start = [box.id for box in flow.boxes if self._subject.tensor in box.shown] if not self._loaded else []
            flow = replace(flow, path=(*flow.path, *(start[-1:] or [self._box])))
        if not self._loaded:
            named = [box.id for box in flow.boxes if self._subject.tensor in box.shown]
            self._loaded = True
            self._chart.show(flow, named[-1] if named else "")
        else:
            self._chart.show(flow)
        stays = was_loaded and self.question.opened != opened
        # A box that is the only one is opened without being asked for; questions about boxes have to name it.
        self._subject = replace(self._subject, question=replace(self.question, opened=opened))
        self._show_box()
        if stays:
            self.refuse(say("stays-open", "This box stays open: there is nothing beside it."))

    def show_tensor(self, question: BoxQuestion, tensor: Tensor) -> None:
        """Show the tensor of a box, if it is still the chosen one."""
        if question.box == self._box:
            self._show_tensor(tensor)
            self._arrange()
            self._describe()
            if self._in_matrix:
                self.focus_active()

    def refuse(self, why: str) -> None:
        """Say why there is no matrix, or no flow."""
        self._why_not, self._in_matrix = why, False
        self._arrange()
        self.focus_active()
        self._describe()

    def _ask(self, question: FlowQuestion) -> None:
        self._subject = replace(self._subject, question=question)
        self.post_message(self.Wanted(question))

    def _show_tensor(self, tensor: Tensor | None) -> None:
        self._result = StepResult("flow", tensors=() if tensor is None else (tensor,))
        self._active = -1 if tensor is None else 0
        self._close_explanation()
        self._matrices[0].show(tensor)
        self._light()

    def _show_box(self) -> None:
        """Show the code of the chosen box, and ask for its tensor where there is room for it."""
        box = self._chart.box
        changed = box is None or box.id != self._box
        self._box = "" if box is None else box.id
        self._code.show(_code_text(box, self._where(box), self._terminal.unicode) if box is not None else Text())
        if changed:
            self._why_not = ""
            self._show_tensor(None)
        if box is not None and box.shape is not None and self._active < 0 and (self._wide or self._in_matrix):
            self.post_message(self.BoxWanted(self._box_question()))
        self._arrange()
        self._describe()

    def _box_question(self) -> BoxQuestion:
        return BoxQuestion(self._box, self.question.opened, self.question.unit)

    @property
    def flow_subject(self) -> FlowSubject | None:
        """None: this view is the flow."""
        return None

    # What the base asks ------------------------------------------------------------------------------------------

    @property
    def unit(self) -> CodeUnit | None:
        """The unit that shows the tensor of the chosen box."""
        return box_unit(self.question.unit, self._box) if self.question.unit is not None and self._box else None

    @property
    def _here(self) -> str:
        return str(self.question.unit)

    @property
    def _wide(self) -> bool:
        return self.room.width >= WIDE

    def _arrange(self) -> None:
        width, height = self.room.width, self.room.height
        if not width or height < 4:
            return
        has_matrix = self._active >= 0
        chart = self._wide or not self._in_matrix or not has_matrix
        side = self._wide or (self._in_matrix and has_matrix)
        self._chart.display, self._side.display = chart, side
        self._explanation.set_class(True, "wide")
        room = height - 1
        panel = min(self._explanation.wanted(width), max(4, room // 3)) if self.explaining else 0
        set_height(self._explanation, panel)
        if self._wide and chart:
            natural = self._chart.natural_size("full")[0] + 2
            matrix = self._matrices[0].natural_size()[0] if has_matrix else 40
            self._chart.styles.width = max(width // 3, min(natural, width - min(matrix + 2, width // 2)))
        else:
            self._chart.styles.width = "1fr"
        beside = width - int(self._chart.styles.width.value) if self._wide and self._chart.styles.width else width
        code = min(self._code.lines_at(max(10, beside)), MOST_CODE) if side else 0
        set_height(self._code, code + 1 if code else 0)
        set_height(self._matrices[0], max(1, room - panel - (code + 1 if code else 0)) if has_matrix and side else 0)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the new size of the view."""
        self._show_box() if self._loaded else self._arrange()

    def _read_out(self) -> None:
        """Describe the chosen box, or the cell under the cursor, in the detail line."""
        if self._in_matrix and self._matrix is not None:
            super()._read_out()
            return
        box = self._chart.box
        if self._why_not:
            self._detail.set(Text(f" {self._why_not}", DIM))
        elif box is None:
            nothing = say("nothing", "Nothing was computed here.")
            loading = f"{say('loading', 'Loading')}{self._terminal.ellipsis}"
            self._detail.set(Text(f" {nothing if self._loaded else loading}", DIM))
        else:
            self._detail.set(Text(f" {_line(box, self._where(box), self._terminal, self.size.width - 2)}"))

    def _where(self, box: FlowBox) -> str:
        """Say where the code of a box stands, and what it goes on from in a loop."""
        flow = self._chart.flow
        later = [source.name for id in flow.sources_again(box.id) if (source := flow.box(id)) is not None]
        return "   ".join(filter(None, (where(box, self._here, self._step_names), visible(again_text(later)))))

    def _light(self) -> None:
        """Highlight the operands of the explanation in the matrix."""
        explanation = self._explanation.explanation
        lit = (explanation.lit or {}) if explanation is not None else {}
        tensor = self._matrices[0].tensor
        self._matrices[0].mark(Marks(Cells(patterns=lit.get(tensor.name, ()) if tensor is not None else ())))

    def focus_active(self) -> None:
        """Focus the chart or the matrix, whichever the learner is in."""
        inside = self._in_matrix and self._active >= 0
        (self._matrices[0] if inside else self._chart).focus(scroll_visible=False)

    def move_pane(self, step: int) -> None:
        """Move the focus between chart and matrix."""
        if self._explanation.has_focus:
            self.focus_active()
        elif self._in_matrix:
            self._leave_matrix()
        else:
            self._enter_matrix()
        self._describe()

    # Messages ----------------------------------------------------------------------------------------------------

    def on_flow_chart_chosen(self, event: FlowChart.Chosen) -> None:
        """Show the box that was chosen."""
        event.stop()
        self._show_box()

    def on_flow_chart_entered(self, event: FlowChart.Entered) -> None:
        """Go to the matrix of the chosen box."""
        event.stop()
        self._enter_matrix()

    def _enter_matrix(self) -> None:
        box = self._chart.box
        if box is None:
            return
        if box.shape is None:
            name = visible(box.name)
            self.refuse(
                say(
                    "not-single-opens",
                    "{name} is not a single tensor. Press {key} to open it.",
                    name=name,
                    key=short_keys("flow.toggle"),
                )
                if box.opens
                else say("not-single", "{name} is not a single tensor.", name=name)
            )
            return
        self._in_matrix = True
        if self._active < 0:
            self.post_message(self.BoxWanted(self._box_question()))
            return
        self._arrange()
        self.focus_active()
        self._describe()

    def _leave_matrix(self) -> None:
        self._in_matrix = False
        self._close_explanation()
        self._arrange()
        self.focus_active()
        self._describe()

    def on_flow_chart_toggled(self, event: FlowChart.Toggled) -> None:
        """Ask for the flow with other boxes open."""
        event.stop()
        self._ask(replace(self.question, opened=event.opened))

    def on_flow_chart_pointed(self, event: FlowChart.Pointed) -> None:
        """Close the view, and answer with the chosen box."""
        event.stop()
        box = self._chart.box
        if box is not None and self._subject.point is not None:
            self.post_message(self.Closed())
            self._subject.point(box.name)

    def on_flow_chart_left(self, event: FlowChart.Left) -> None:
        """Close the view."""
        event.stop()
        self.post_message(self.Closed())

    def on_explanation_pane_changed(self, event: ExplanationPane.Changed) -> None:
        """Highlight the operands, and draw the path of the explanation."""
        super().on_explanation_pane_changed(event)
        references = self._explanation.references
        if references != self.question.references:
            self._ask(replace(self.question, references=references))

    def action_flow(self) -> None:
        """Close the view: the key that opened it."""
        self.post_message(self.Closed())

    def action_leave(self) -> None:
        """Close the explanation, or go back to the chart."""
        if self.explaining:
            self._close_explanation()
        else:
            self._leave_matrix()

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self._explanation.has_focus:
            return [*self._explanation.hints, hint("explanation.back"), hint("explanation.close")]
        if self._in_matrix and self._active >= 0:
            return [*self._matrices[0].hints, hint("number.explain"), hint("flow-matrix.leave"), hint("tutor.help")]
        box = self._chart.box
        toggle = []
        if box is not None and box.opens:
            toggle = [hint("flow.toggle")]
        elif box is not None and box.parent:
            toggle = [hint("flow.toggle", say("close", "close"))]
        matrix = [hint("flow.matrix")] if box is not None and box.shape is not None else []
        point = [hint("flow.point")] if self._subject.point is not None else []
        return [hint("flow.move"), *point, *matrix, *toggle, hint("flow.leave"), hint("tutor.next"), hint("tutor.help")]


def _code_text(box: FlowBox, at: str, unicode: bool) -> Text:
    """Return the code of a box, with where it stands."""
    text = Text.assemble((visible(box.name), BOLD), f"   {box_facts(box, unicode)}\n")
    if box.code:
        text.append(visible(box.code))
        text.append(f"   {at}", DIM)
    return text


def _line(box: FlowBox, at: str, terminal: Terminal, width: int) -> str:
    """Describe a box in one line."""
    parts = [f"{visible(box.name)} {box_facts(box, terminal.unicode)}".strip(), at, visible(box.code)]
    return truncated("   ".join(filter(None, parts)), width, terminal.ellipsis)
