"""The view of a lesson step: prose, code, output and matrices; and of a scratch run, which looks like one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.step_content import StepContent, live_note
from attn_tutor.lessons.render.numbers import exact
from attn_tutor.lessons.render.source_text import names_of_steps
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.line_shapes import LineShapes
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import cells
from attn_tutor.lessons.what_if.cells import CellChange
from attn_tutor.lessons.what_if.changes import ChangeHistory, apply
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.actions.table import hint_of
from attn_tutor.tui.drawings import before_after
from attn_tutor.tui.drawings.before_after import MODES, Mode
from attn_tutor.tui.drawings.marks import Cells, Marks
from attn_tutor.tui.render.code_text import GAP, bare_ribbon, code_text, marked, output_text, with_ribbon
from attn_tutor.tui.render.palette import BOLD
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.render.step_layout import CODE, Needs, arrange, panes, text_width, with_gap
from attn_tutor.tui.screens.explaining_view import MATRICES, ExplainingView
from attn_tutor.tui.screens.step_view import QuietStepView, ViewContext
from attn_tutor.tui.state import shown_tensors
from attn_tutor.tui.state.shown_tensors import EarlierTensor
from attn_tutor.tui.state.what_if_rows import Spot
from attn_tutor.tui.tty.terminal import Terminal, in_ascii
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.side_panel import EarlierMatrices
from attn_tutor.tui.widgets.text import TextPane
from attn_tutor.tui.widgets.what_if_panel import WhatIfPanel

say = Wording("screen/lesson")


class LessonView(QuietStepView, ExplainingView):
    """The panes of a lesson step, with the panels of explanations and of what-if changes."""

    @property
    def topic(self) -> str:
        """The topic of the help."""
        return "program" if self._pages else "lesson"

    @property
    def _pages(self) -> bool:
        return self._step is not None and self._step.is_page

    text_gets_older: ClassVar[bool] = True
    """Whether the text describes the lesson without what the learner changes in it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("step")]

    class Changed(Message):
        """Posted when the learner has changed the lesson: the current changes of `history` apply from now on."""

        def __init__(self, lesson: Lesson, history: ChangeHistory) -> None:
            self.lesson, self.history = lesson, history
            super().__init__()

    def __init__(self, terminal: Terminal, code_theme: str, *, most: int = MATRICES, id: str | None = None) -> None:
        super().__init__(terminal, "matrix", most=most, id=id)
        self._code_theme = code_theme
        self._step: Step | None = None
        self._active = 0

        self._prose = TextPane(ellipsis=terminal.ellipsis, id="prose")
        self._code = TextPane(ellipsis=terminal.ellipsis, is_code=True, id="code")
        self._output = TextPane(ellipsis=terminal.ellipsis, id="output")
        self._earlier = EarlierMatrices(terminal, id="earlier")
        self._text = Box(*self._parts(), self._earlier, id="text")
        self._body = Box(self._text, Box(*self._figure_parts(), self._explanation, id="figures"), id="body")
        self._whatif = WhatIfPanel(terminal, beside_older_text=self.text_gets_older, id="whatif")
        self._whatif.display = False
        self._whatif_open = False
        self._lesson: Lesson | None = None
        self._altered: Lesson | None = None
        self._contents: tuple[before_after.MatrixContent, ...] = ()
        self._content = StepContent(self._result)
        self._mode: Mode = "after"
        self._changed_lines: frozenset[int] = frozenset()
        self._line: int | None = None
        self._preferred = ""
        self._code_plain = Text()
        self._panes: tuple[int, ...] = ()
        self._text_layout = (False, 0)

    def _parts(self) -> tuple[Widget, ...]:
        """Return the widgets of the text column, from top to bottom."""
        return self._prose, self._code, self._output

    def compose(self) -> ComposeResult:
        """Compose the text at the top or left, the matrices below or right, and the detail line at the bottom."""
        yield self._whatif
        yield self._body
        yield self._detail

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that does not show a step yet."""
        return cls(context.terminal, context.code_theme, id="lesson")

    @property
    def text_pane(self) -> TextPane:
        """The pane that holds the prose."""
        return self._prose

    @property
    def title(self) -> str:
        """The title of the step."""
        return self._step.title if self._step is not None else ""

    def open_step(self, model: StepModel) -> None:
        """Show a step with the learner's changes to its lesson, and take the focus."""
        self._whatif.history = model.history
        self._show(model.lesson, model.step, model.content)
        self.focus_active()

    def show_result(self, content: StepContent, follows: str = "") -> None:
        """Show what has come of a run of the step that was opened last, and what follows from it."""
        if self._lesson is not None and self._step is not None:
            self._show(self._lesson, self._step, content)
        if follows:
            self.notify(follows, markup=False, timeout=10)

    def _show(self, lesson: Lesson, step: Step, content: StepContent) -> None:
        # The explanation was about the numbers of a different run. It goes while the matrices still show that run.
        self._close_explanation()
        fresh = (lesson, step.id) != (self._lesson, self._step.id if self._step else "")
        altered = apply(lesson, content.changes)
        other_code = fresh or altered is not self._altered
        result = content.result
        self._lesson, self._step, self._content, self._result, self._altered = lesson, step, content, result, altered
        self._step_names = names_of_steps(lesson)
        self._prose.show(self._prose_text(step, result))
        if fresh:
            self._mode = "after"
            # The changes stay, but the panel must not cover the text of a different step.
            self._whatif_open = False
        if other_code:
            # The text does not depend on the result, so it is not highlighted again when the live result arrives.
            self._code_plain = self._code_text(altered.step(step.id))
            self._changed_lines = self._lines_changed(step, altered)
            self._line = None
        self._output.show(self._output_text(result))
        self._show_matrices()
        self._show_code(keep=not fresh)
        before, self._panes = self._panes, panes(self._needs())
        # Without a recorded result, only the code could be looked at until now.
        arrived = 0 in self._panes and 0 not in before
        if fresh or arrived or self._active not in self._panes:
            self._active = self._first_pane()
        if self._whatif_open:
            self._whatif.show(lesson, step.id, self._spot())
        self._arrange()
        if fresh or (arrived and self._text.has_focus_within):
            self.focus_active()
        self._describe()

    def prefer(self, name: str) -> None:
        """Give the focus to the tensor of this name when a step opens that shows it."""
        self._preferred = name

    def _first_pane(self) -> int:
        """Return the index of the pane that gets the focus first."""
        named = [pane for pane, tensor in enumerate(self._result.tensors) if tensor.name == self._preferred]
        return next((pane for pane in (*named, 0) if pane in self._panes), CODE)

    def _show_matrices(self) -> None:
        """Show the matrices before or after the learner's changes, or their difference."""
        contents = before_after.contents(self._content.base, self._result, self._mode, self._cells_shown())
        for index, view in enumerate(self._matrices):
            content = contents[index] if index < len(contents) else None
            view.show(content.tensor if content else None, self._content.note)
            if content is not None:
                view.caption(content.caption)
        self._contents = contents
        self._light()

    def _cells_shown(self) -> list[CellChange]:
        """Return the cells that the learner has set, with the names of the tensors that show them."""
        show = self._step.shown_at_first if self._step is not None else ()
        return [
            replace(cell, name=shown.name)
            for shown in show
            for cell in self._content.changes.cells
            if cells.variable(shown) == cell.name
        ]

    def _lines_changed(self, step: Step, altered: Lesson) -> frozenset[int]:
        """Return the lines of the code that is shown first which the learner's changes have changed."""
        if altered is self._lesson:
            return frozenset()
        codes = zip(step.own_code, altered.step(step.id).own_code, strict=False)
        return next((before_after.changed_lines(before, after) for (_, before), (_, after) in codes), frozenset())

    def _show_code(self, *, keep: bool) -> None:
        """Show the code with its shapes, the explained line, and the changed lines."""
        code = marked(self._code_plain, self._marked_line, self._changed_lines)
        if self.room.width:
            code = with_ribbon(code, self._shapes, self._text_width() - 2, self._terminal.unicode)
        self._code.show(code, keep=keep)

    @property
    def _shapes(self) -> tuple[LineShapes, ...]:
        """The shapes of the lines; empty if the code comes from a source file, where lines have different numbers."""
        numbered = self._step is not None and not self._step.source_name
        return self._result.shapes if numbered else ()

    @property
    def _marked_line(self) -> int | None:
        return self._line or (self._result.error.line if self._result.error is not None else None)

    def _text_width(self) -> int:
        """Return the number of columns for prose and code."""
        return text_width(self.room.width, self._sizes())

    def _sizes(self) -> Needs:
        """Return the widths that code and matrices need, with their heights left open."""
        text = self._code_plain.plain + (f"\n{self._result.stdout}" if self._pages else "")
        lines = [cell_len(line) + 2 for line in text.split("\n")]
        ribbons = [cell_len(bare_ribbon(line, self._terminal.unicode)) + GAP for line in self._shapes]
        indices = range(min(len(self._result.tensors), len(self._matrices)))
        sizes = tuple(self._matrices[index].natural_size() for index in indices)
        rows = tuple(self._matrices[index].rows for index in indices)
        forms = tuple(self._matrices[index].forms() for index in indices)
        # Lessons are written so that shades tell something; of a program, numbers are what was asked for.
        widest = max(lines) + max(ribbons, default=0)
        return Needs(0, 0, 0, sizes, max(lines), widest, rows=rows, forms=forms, digits=self._pages)

    def _code_text(self, step: Step) -> Text:
        return code_text(step, self._code_theme)

    def _output_text(self, result: StepResult) -> Text:
        return output_text(result)

    def _prose_text(self, step: Step, result: StepResult) -> Text:
        prose = template.fill(step.prose, result.text)
        return rich_text(prose if self._terminal.unicode else in_ascii(prose))

    # Layout ------------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        width, height = self.room.width, self.room.height - 1
        if not width or height < 2:
            return
        layout = arrange(width, height, self._needs(), self._active)
        self._body.set_class(layout.wide, "wide")
        if self._whatif_open and self._step is not None:
            text, is_new = self._remark(self._step)
            self._whatif.remark(text, whole=is_new)
        for panel in (self._explanation, self._whatif):
            panel.set_class(layout.wide, "wide")
        set_height(self._explanation, layout.panel if self.explaining else 0)
        self._whatif.take_room(width, 0 if self.explaining else layout.panel)
        if (layout.wide, layout.text_width) != self._text_layout:
            self._text_layout = (layout.wide, layout.text_width)
            self._text.styles.width = layout.text_width
        for widget, lines in ((self._prose, layout.prose), (self._code, layout.code), (self._output, layout.output)):
            set_height(widget, lines)
        left = height - layout.prose - layout.code - layout.output if layout.wide else 0
        least = self._earlier.lines_at(layout.text_width)
        set_height(self._earlier, left if left >= least else 0)
        self._place_matrices(layout, self._ranks)
        shown = self._matrix.tensor if self._matrix and self._shapes else None
        if (line := self._marked_line or self._result.made_at(shown)) and layout.code and self._active != CODE:
            self._code.reveal(line - 1, layout.text_width, layout.code, (self._result.begins_at or line) - 1)

    @property
    def _ranks(self) -> tuple[int, ...]:
        """The matrices that others are made of get lower ranks: they stand to the left of them."""
        code = self._step.run_code if self._step is not None else ""
        return shown_tensors.ranks(code, [tensor.name for tensor in self._result.tensors])

    def show_earlier(self, earlier: Sequence[EarlierTensor]) -> bool:
        """Show earlier tensors below the code, where matrices stand beside it. Returns whether they do."""
        beside = self._body.has_class("wide")
        self._earlier.show(earlier if beside else ())
        self._arrange()
        return beside

    def _needs(self) -> Needs:
        columns, sizes = self._text_width(), self._sizes()
        if (beside := self.room.width - columns) > 0:
            lines = (view.lines_at(beside) for view in self._matrices)
            sizes = replace(sizes, matrices=tuple((cells, next(lines)) for cells, _ in sizes.matrices))
        return replace(
            sizes,
            prose=with_gap(self._prose.lines_at(columns)),
            code=with_gap(self._code.lines_at(columns)),
            output=with_gap(self._output.lines_at(columns)),
            panel=self.explaining or self._whatif_open,
            explained=self._explanation.wanted(beside if beside > 0 else columns) if self.explaining else 0,
            changeable=self._whatif.count if self._whatif_open and not self.explaining else 0,
        )

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the new size of the view."""
        if self._step is not None:
            self._show_code(keep=True)
            self._arrange()
            self._describe()

    # Panes -------------------------------------------------------------------------------------------------------

    def focus_active(self) -> None:
        """Focus the active pane."""
        target = self._matrices[self._active] if self._active >= 0 else self._code
        (target if self._panes else self._prose).focus(scroll_visible=False)

    def move_pane(self, step: int) -> None:
        """Move the focus `step` panes on, and show the new pane if it is hidden."""
        if self._explanation.has_focus or self._whatif.has_focus_within:
            # Leave the panel for the pane that it is about.
            self.focus_active()
            self._describe()
            return
        if not self._panes:
            return
        index = self._panes.index(self._active)
        self._active = self._panes[(index + step) % len(self._panes)]
        self._arrange()
        self.focus_active()
        self._describe()

    # Explanations ------------------------------------------------------------------------------------------------

    @property
    def unit(self) -> CodeUnit | None:
        """The step, as the unit of code that produced the numbers, or None if there is none."""
        return CodeUnit.step(self._step.id) if self._step is not None else None

    def _light(self) -> None:
        """Highlight the operands in their matrices, and mark the line that combined them."""
        explanation = self._explanation.explanation
        lit = (explanation.lit or {}) if explanation is not None else {}
        for view, content in zip(self._matrices, self._contents, strict=False):
            operands = Cells(patterns=lit.get(content.tensor.name, ()))
            view.mark(Marks(operands, content.changed, content.set))
        line = None
        if explanation is not None and self._step is not None:
            if explanation.unit is None:
                line = explanation.lesson_line
            elif explanation.unit == self.unit:
                line = explanation.line
        if line != self._line:
            self._line = line
            self._show_code(keep=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now; if not, its key keeps the meaning that it has elsewhere."""
        if action == "explain_back":
            return self.explaining
        if action == "close":
            return self.explaining or self._whatif_open or bool(self._whatif.history.current)
        return action != "flip" or self._comparable

    def action_close(self) -> None:
        """Close the explanation if one is open, otherwise undo all changes to the lesson."""
        if self.explaining:
            self._close_explanation()
        else:
            self._end_what_if()

    # What if -----------------------------------------------------------------------------------------------------

    def action_what_if(self) -> None:
        """Open the what-if panel, or focus it if it is open."""
        if self._lesson is None or self._step is None or not self._step.runs:
            return
        self._close_explanation()
        self._whatif.show(self._lesson, self._step.id, self._spot())
        self._whatif.choose_spot(if_moved=self._whatif_open)
        self._whatif_open = True
        self._arrange()
        self._whatif.focus_rows()

    def _remark(self, step: Step) -> tuple[Text, bool]:
        """Return the text for the what-if panel, the prose where it is covered, and whether it is to be read whole."""
        return Text() if self._body.has_class("wide") else self._prose_text(step, self._result), False

    def _end_what_if(self) -> None:
        """Undo all changes to the lesson and close the what-if panel."""
        had_focus = self._whatif.has_focus_within
        self._whatif_open = False
        self._arrange()
        if had_focus:
            self.focus_active()
        self._whatif.restore()

    @property
    def _comparable(self) -> bool:
        return self._content.base is not None and before_after.comparable(self._contents)

    def _spot(self) -> Spot | None:
        """Return the cell under the cursor for the what-if panel, None if it cannot be changed."""
        view = self._matrix
        if view is None or view.tensor is None or self._step is None:
            return None
        name = next(
            (cells.variable(shown) for shown in self._step.shown_at_first if shown.name == view.tensor.name), None
        )
        if name is None:
            return None
        # Not the tensor of the view, which may be a difference.
        now = next(tensor for tensor in self._result.tensors if tensor.name == view.tensor.name)
        row, col = (0, 0, *view.index)[-2:]
        values = now.row(view.index[:-2], row, col, col + 1) if now.shape == view.tensor.shape else None
        return Spot(name, view.index, exact(values[0], now.dtype) if values else "")

    def action_flip(self) -> None:
        """Switch between after, difference and before, and skip modes that would look the same."""
        before = self._contents
        for _ in MODES:
            self._mode = MODES[(MODES.index(self._mode) + 1) % len(MODES)]
            self._show_matrices()
            if self._contents != before:
                break
        self._describe()

    def on_what_if_panel_changed(self, event: WhatIfPanel.Changed) -> None:
        """Post the new changes, so that the step runs again."""
        event.stop()
        if self._lesson is not None:
            self.post_message(self.Changed(self._lesson, event.history))

    def on_what_if_panel_closed(self, event: WhatIfPanel.Closed) -> None:
        """Undo all changes and close the what-if panel."""
        event.stop()
        self._end_what_if()

    # Messages of the matrices ------------------------------------------------------------------------------------

    def on_matrix_view_cursor_moved(self, event: MatrixView.CursorMoved) -> None:
        """Show the cell in the detail line; let the open panels follow the cursor."""
        super().on_matrix_view_cursor_moved(event)
        if self._whatif_open:
            self._whatif.set_spot(self._spot())

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Make a matrix that was clicked the active one, and update the keys."""
        # After two quick keys, the event of the first may arrive after the focus has moved on.
        if isinstance(event.widget, MatrixView) and self.screen.focused is event.widget:
            self._active = self._matrices.index(event.widget)
        self._describe()

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self._explanation.has_focus:
            tab = [hint("screen.pane", say("matrix", "matrix"))] if self._active >= 0 else []
            return [*self._explanation.hints, hint("explanation.back"), *tab, hint("explanation.close")]
        flip = [hint("step.flip")] if self._comparable else []
        if self._whatif.has_focus_within:
            others = [] if self._whatif.in_line else [*flip, hint("what-if.undo"), hint("screen.pane")]
            return [*self._whatif.hints, *others]
        panes, explain, next_step = self._pane_keys(), hint("number.explain"), hint("tutor.next")
        others = [next_step, hint("tutor.back"), hint("tutor.help"), hint("tutor.map"), hint("tutor.quit")]
        if self._active >= 0 and self._matrices[self._active].overview:
            return [*panes, hint("matrix.cells"), *others]
        if self.explaining:
            return [*panes, explain, hint("number.back"), hint("step.close"), hint("tutor.help")]
        if self._content.changes:
            change = [hint("step.what-if", say("change", "change")), hint("step.close", say("restore", "restore"))]
            return [*panes, *flip, *change, next_step, hint("tutor.help")]
        if self._step is not None and self._step.runs and self._active >= 0:
            calls = [hint("program.call")] if self._step.function_calls > 1 else []
            return [*panes, explain, *flip, hint("step.what-if"), *calls, *others]
        return [next_step, hint("tutor.back"), *panes, hint("tutor.map"), hint("tutor.help"), hint("tutor.quit")]

    def _pane_keys(self) -> list[str]:
        """Return the hints for the keys that switch panes; a step without panes has none."""
        if not self._panes:
            return []
        following = self._panes[(self._panes.index(self._active) + 1) % len(self._panes)]
        tab = [hint("screen.pane", self._pane_name(following))] if len(self._panes) > 1 else []
        return [*tab, *(self._matrices[self._active].hints if self._active >= 0 else [hint("text.scroll")])]


MOST_MATRICES = 16
"""The maximum number of matrices: arguments and intermediate results, in order; few functions have more."""


def at_line(line: int | None, message: str) -> str:
    """Say in which line of the learner's code something went wrong."""
    return say("at-line", "Line {line}: {message}", line=line, message=message)


class ScratchRunView(LessonView):
    """A view of the learner's own code, which looks like a lesson step but has no what-if changes."""

    class Left(Message):
        """Posted when the learner goes back to the editor."""

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, code_theme, most=MOST_MATRICES, id=id)

    def show_run(self, lesson: Lesson, step: Step, result: StepResult) -> None:
        """Show the results of the code, and mark the line where it failed."""
        self._show(lesson, step, StepContent(result, live_note(result)))
        if result.error is not None:
            self._line = result.error.line
            self._show_code(keep=True)

    def _first_pane(self) -> int:
        """Return the code pane if the run failed, otherwise the pane that any step would focus."""
        return super()._first_pane() if self._result.error is None else CODE

    def _prose_text(self, step: Step, result: StepResult) -> Text:
        """Return the error of the run, in place of the prose of a step."""
        error = result.error
        if error is None:
            return super()._prose_text(step, result)
        line = error.unmentioned_line
        return Text.assemble((error.message if line is None else at_line(line, error.message), BOLD))

    def _output_text(self, result: StepResult) -> Text:
        return super()._output_text(replace(result, error=None))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: what-if never does, because it is for lessons; escape always does."""
        if action in ("what_if", "close"):
            return action == "close"
        return super().check_action(action, parameters)

    def action_close(self) -> None:
        """Close the explanation if one is open, otherwise go back to the editor."""
        if self.explaining:
            self._close_explanation()
        else:
            self.post_message(self.Left())

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self.explaining or (self._active >= 0 and self._matrices[self._active].overview):
            return super().hints
        explain = [hint("number.explain")] if self._active >= 0 else []
        return [
            hint("step.close", hint_of("difference.leave")),
            *self._pane_keys(),
            *explain,
            hint("exercise.check"),
            hint("tutor.help"),
        ]
