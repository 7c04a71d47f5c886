"""The view of a question about a run, and of a find: shows it, takes answers, and shows their judgements and hints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget

from attn_tutor.lessons.engine.questions import answer_reading, question_words
from attn_tutor.lessons.format.lesson import Lesson, Question
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.play.question_state import QuestionState, answer_cells, pointed_cell
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.task import FindModel, QuestionModel
from attn_tutor.lessons.render.source_text import names_of_steps
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import Judgement, Tensor, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, short_keys
from attn_tutor.tui.actions.table import hint_of
from attn_tutor.tui.drawings import question_drawing
from attn_tutor.tui.drawings.marks import Cells, Marks
from attn_tutor.tui.drawings.question_drawing import QuestionLayout, QuestionText, code_text
from attn_tutor.tui.render.code_text import marked
from attn_tutor.tui.render.step_layout import CODE, WIDE, Needs, text_width, with_gap
from attn_tutor.tui.screens.explaining_view import MATRICES, ExplainingView, fill_slot, fill_slots
from attn_tutor.tui.screens.step_view import FlowSubject, QuietStepView, ViewContext
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.answer_box import AnswerBox
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.text import AFTER_F4, TextPane


class QuestionPanes(Box):
    """The panes of a question, one below the other, or with the matrices at the right on a wide screen."""

    DEFAULT_CSS = """
    QuestionPanes {
        layout: vertical;
        height: 1fr;
    }

    QuestionPanes.wide {
        layout: grid;
        grid-size: 2 2;
    }

    QuestionPanes #asked-text {
        layout: vertical;
        height: auto;
    }

    QuestionPanes #asked-figures {
        layout: vertical;
        height: 1fr;
    }

    QuestionPanes.wide #asked-text {
        height: 1fr;
    }

    QuestionPanes.wide #asked-figures {
        row-span: 2;
    }

    QuestionPanes.wide #asked-answer {
        height: 1fr;
    }
    """

    def __init__(self, terminal: Terminal, matrices: Sequence[MatrixView], *, id: str | None = None) -> None:
        self.prose = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="question")
        self.code = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, is_code=True, id="asked-code")
        self.answer = AnswerBox(terminal, id="asked-answer")
        self._matrices = matrices
        self._text = Box(self.prose, self.code, id="asked-text")
        self._figures = Box(*matrices, id="asked-figures")
        super().__init__(self._text, self._figures, self.answer, id=id)

    def lay_out(
        self, width: int, height: int, matrices: int, active: int, *, panel: bool, remark: bool, answered: bool
    ) -> QuestionLayout:
        """Give each pane its room, and return the layout, which also says what is left for the explanation.

        Args:
            width, height: the columns and lines for the panes and the explanation.
            matrices: how many matrices are in use.
            active: the pane that the learner has chosen, as in `Needs`.
            panel: whether an explanation is open.
            remark: whether the answer box must show at least one line of its verdict.
            answered: whether the question is answered or given up.
        """
        needs = self._needs(width, matrices, panel=panel)
        wanted = self.answer.lines_at(text_width(width, needs))
        layout = question_drawing.lay_out(width, height, needs, wanted, active, answered=answered)
        if layout.wide:
            self.styles.grid_columns = f"{layout.text_width} 1fr"
            self.styles.grid_rows = f"{max(1, layout.prose + layout.code)} 1fr"
        self.set_class(layout.wide, "wide")
        set_height(self.prose, layout.prose)
        set_height(self.code, layout.code)
        self._figures.display = matrices > 0
        fill_slots(self._matrices, layout.matrices, layout.tall, layout.places, layout.widths)
        self.answer.display = layout.answer > 0
        self._figures.styles.height = "1fr" if layout.wide else layout.figures
        self.answer.styles.height = "1fr" if layout.wide else max(1, layout.answer)
        self.answer.give_lines(wanted.within(layout.answer, remark=remark))
        return layout

    def make_room(self, height: int, explained: int, matrices: int, active: int) -> int:
        """Share `height` lines with an explanation that would like `explained` of them; return how many it gets."""
        wanted = [view.natural_size()[1] for view in self._matrices[:matrices]]
        task = with_gap(self.prose.lines_at(self.size.width))
        explained, task, lines = question_drawing.beside_explanation(height, explained, task, wanted, active)
        set_height(self.prose, task)
        set_height(self.code, 0)
        for view, each in zip(self._matrices, lines, strict=False):
            fill_slot(view, each)
        self._figures.styles.height = max(1, sum(lines))
        return explained

    def _needs(self, width: int, matrices: int, *, panel: bool) -> Needs:
        """Return the room that text and matrices need at this width."""
        sizes = tuple(view.natural_size() for view in self._matrices[:matrices])
        widest = self.code.widest
        columns = text_width(width, Needs(0, 0, 0, sizes, widest, widest))
        prose, code = with_gap(self.prose.lines_at(columns)), with_gap(self.code.lines_at(columns))
        rows = tuple(view.rows for view in self._matrices[:matrices])
        # On a wide screen they stand beside the text. A question needs their digits, so shades are no choice.
        forms = () if width >= WIDE else tuple(view.forms()[:-1] for view in self._matrices[:matrices])
        return Needs(prose, code, 0, sizes, widest, widest, panel=panel, rows=rows, forms=forms)


say = Wording("question/view")


class QuestionView(QuietStepView, ExplainingView):
    """The view of a question."""

    topic = "question"
    names: ClassVar[str] = "asked"
    """The prefix of the ids of the matrices."""

    DEFAULT_CSS = """
    QuestionView {
        height: 1fr;
        width: 1fr;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("question")]

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, self.names, id=id)
        self._code_theme = code_theme
        self._lesson: Lesson | None = None
        self._step: Question | None = None
        self._note = ""
        self._model: QuestionModel | None = None
        self._line: int | None = None
        self._aside: bool | None = None
        self._code_plain = Text()
        self._tensors: tuple[Tensor, ...] = ()
        self._focused: Widget | None = None
        # The cell under the cursor when the question was opened, until the learner does something about it.
        self._untouched_cell: tuple[int, ...] | None = None

        self._body = QuestionPanes(terminal, self._matrices, id="asked")
        self._prose, self._code, self._answer = self._body.prose, self._body.code, self._body.answer

    def compose(self) -> ComposeResult:
        """Compose the panel of explanations, the panes of the question, and the detail line."""
        yield self._explanation
        yield self._body
        yield self._detail

    # Contents ----------------------------------------------------------------------------------------------------

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that does not show a question yet."""
        return cls(context.terminal, context.code_theme, id=cls.topic)

    def open_step(self, model: StepModel) -> None:
        """Show a question with the learner's progress, and take the focus; one that was left is shown as it was."""
        assert isinstance(model, QuestionModel)
        same = self._model is not None and (model.lesson, model.step) == (self._model.lesson, self._model.step)
        self._model, self._lesson, self._step = model, model.lesson, model.task
        self._show_content(model.content, fresh=not same or model.purpose is Purpose.REVIEW)
        self._go_to(self._first_pane())

    def show_result(self, content: StepContent, follows: str = "") -> None:
        """Show the results of a run of the question that was opened last."""
        if self._model is not None:
            self._show_content(content, fresh=False)

    def _show_content(self, content: StepContent, *, fresh: bool) -> None:
        """Show a question with recorded or live results, `fresh` if another one was shown before."""
        assert self._lesson is not None
        assert self._step is not None
        self._result, self._note = content.result, content.note
        self._step_names = names_of_steps(self._lesson)
        if fresh:
            self._line = None
            self._answer.clear()
        # The explanation was about the numbers of a different run.
        self._close_explanation()
        had_nothing = not self._tensors
        self._code_plain = code_text(self._step, self._result, self._code_theme)
        if fresh:
            self._active = CODE
        self._show_all()
        # Without a recorded result, there was nothing to look at until now.
        if fresh or (had_nothing and self._tensors and self._prose.has_focus):
            self._begin()

    def _begin(self) -> None:
        """Focus the first pane of a question that was opened."""
        self._untouched_cell = self._pointed.index if self._pointed is not None else None
        self._go_to(self._first_pane())

    @property
    def _state(self) -> QuestionState:
        """The learner's progress on the question."""
        return self._model.state if self._model is not None else QuestionState()

    @property
    def text_pane(self) -> TextPane:
        """The pane that holds the prose."""
        return self._prose

    @property
    def title(self) -> str:
        """The title of the question."""
        return self._step.title if self._step is not None else ""

    def _show_judgement(self, judgement: Judgement, text: str) -> None:
        """Show the judgement of an answer; an answer that could not be read is not counted."""
        if judgement.stopped:
            # The form of an answer is explained above already.
            self.say(judgement.message.replace(self._answer.form.text, "").strip())
            return
        if self._answer.line.value.strip() == text:
            self._answer.line.value = ""
        if self._step is not None and self._step.offered_options:
            index = answer_reading.choice_of(self._step, self._result, text)
            self._answer.options.chosen = self._answer.options.chosen if index is None else index
        if judgement.passed:
            self._show_end()
        else:
            self._show_all()

    def say(self, text: str) -> None:
        """Show a message in place of a judgement, for an answer that could not be judged."""
        if self._model is not None:
            self._model.remark(text)
        self._show_all()

    def _show_end(self) -> None:
        """Show all that was hidden, once the question was answered or given up."""
        before = len(self._tensors)
        self._close_explanation()
        self._show_all()
        if before < len(self._tensors):
            self._active = before
        self._go_to(self._first_pane())

    def _show_all(self) -> None:
        if self._step is None:
            return
        text = QuestionText(self._step, self._result, self._state, self._terminal.unicode)
        self._aside = None
        self._show_task(aside=False)
        self._code.show(marked(self._code_plain, self._line), keep=True)
        self._show_matrices()
        self._answer.show(text)
        self._arrange()
        self._describe()

    def _show_task(self, *, aside: bool) -> None:
        """Show the task with its hints or, `aside` of an explanation, what it needs of them; as it is, if it is so."""
        if self._step is None or aside == self._aside:
            return
        self._aside = aside
        text = QuestionText(self._step, self._result, self._state, self._terminal.unicode)
        # The newest hint is the last line.
        at_end = self._state.is_open and self._state.hints > 0 and not aside
        self._prose.show(text.aside if aside else text.task, at_end=at_end)

    def _show_matrices(self) -> None:
        if self._model is None:
            return
        self._tensors = self._model.tensors[:MATRICES]
        for index, view in enumerate(self._matrices):
            tensor = self._tensors[index] if index < len(self._tensors) else None
            view.show(tensor, self._note, blank=tensor is not None and self._is_hidden(tensor))
        if self._active >= len(self._tensors):
            self._active = CODE
        if self._active == CODE and self._tensors:
            on = self._pointed
            self._active = self._matrices.index(on) if on is not None else 0
        self._light()

    @property
    def _pointed(self) -> MatrixView | None:
        """The matrix in which the learner points at a cell, None if the question does not ask for one."""
        name = self._step.pointed_at if self._step is not None else ""
        return next((view for view in self._matrices if view.tensor and view.tensor.name == name), None)

    @property
    def _answers_with_cursor(self) -> bool:
        """Whether Enter on the matrix in question gives an answer."""
        return self._state.is_open and self._step is not None and self._step.entry == "cursor"

    def _is_hidden(self, tensor: Tensor) -> bool:
        """Return whether the numbers of a tensor are hidden until the question is answered."""
        return self._model is not None and tensor.name == self._model.hidden

    # The answer --------------------------------------------------------------------------------------------------

    def on_answer_box_given(self, event: AnswerBox.Given) -> None:
        """Have the answer of the answer box judged."""
        event.stop()
        self._give_answer(event.text)

    def on_answer_box_typed(self, event: AnswerBox.Typed) -> None:
        """Forget a first request to give up, because the learner is typing an answer."""
        event.stop()
        if self._model is not None:
            self._model.go_on()

    def _give_answer(self, text: str) -> None:
        """Have an answer judged and recorded, and show the judgement."""
        if self._model is None or not self._state.is_open:
            return
        try:
            judgement, more = self._model.answer(text)
        except WorkerError as error:
            self.say(str(error))
            return
        self._show_judgement(judgement, text)
        if more:
            self.notify(more, markup=False, timeout=10)

    def action_enter(self) -> None:
        """Answer with the cell under the cursor, or ask how its number was computed."""
        view = self._pointed
        if self._answers_with_cursor and view is not None and view.has_focus:
            if view.index == self._untouched_cell:
                # The enter that led here, pressed once too often, is no answer.
                self._untouched_cell = None
                self.say(question_drawing.confirm(view.tensor.name if view.tensor else "", view.index))
                return
            self._give_answer(", ".join(map(str, view.index)))
        else:
            self.action_explain()

    def on_click(self, event: events.Click) -> None:
        """Answer with the cell that was double-clicked."""
        view = self._pointed
        if event.chain == 2 and view is not None and view.has_focus and not view.overview:
            event.stop()
            self._untouched_cell = None
            self.action_enter()

    # Hints and giving up -----------------------------------------------------------------------------------------

    def action_hint(self) -> None:
        """Show one more hint; without hints left, give up when the key is pressed twice."""
        model = self._model
        if model is None or not model.state.is_open:
            return
        if model.take_hint():
            self._show_all()
            return
        try:
            has_given_up = model.give_up()
        except WorkerError as error:
            self.say(str(error))
            return
        if has_given_up:
            self._show_end()
            return
        self.say(
            say(
                "no-more-hints",
                "There are no more hints. Press {key} again to give up and see the answer, which does not count as "
                "passed.",
                key=short_keys("question.hint"),
            )
        )

    # Layout ------------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        width, height = self.room
        if self._step is None or not width or height < 2:
            return
        matrices, remark = len(self._tensors), bool(self._state.remark)
        self._detail.display = matrices > 0
        lines = height - 1 if matrices else height
        facts = {"panel": self.explaining, "remark": remark, "answered": not self._state.is_open}
        layout = self._body.lay_out(width, lines, matrices, self._active, **facts)
        self._explanation.set_class(layout.wide, "wide")
        panel = layout.panel if self.explaining else 0
        self._show_task(aside=panel > 0 and self._state.is_open and not layout.wide and not layout.answer)
        if self._aside:
            wanted = self._explanation.wanted(width) + self._explanation.gutter.height
            panel = self._body.make_room(lines, wanted, len(self._tensors), self._active)
        elif panel and not layout.wide:
            # What the explanation leaves goes to the task.
            wanted = min(panel, self._explanation.wanted(width) + self._explanation.gutter.height)
            task = min(panel - wanted, self._prose.lines_at(width))
            set_height(self._prose, task)
            panel -= task
        set_height(self._explanation, panel)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the new size of the view."""
        self._arrange()
        self._describe()

    # Panes -------------------------------------------------------------------------------------------------------

    def _first_pane(self) -> Widget:
        """Return the pane that gets the focus first: the one to answer in, otherwise one to look at."""
        if self._answer.first_pane is not None:
            return self._answer.first_pane
        if self._tensors:
            return self._matrices[max(self._active, 0)]
        return self._answer.word if self._answer.word.text else self._prose

    def _panes(self) -> list[Widget]:
        """Return the visible panes in the order of the tab key."""
        first = self._first_pane()
        figures: list[Widget] = [*self._matrices[: len(self._tensors)]]
        code = [self._code] if self._code_plain.plain else []
        if self.explaining:
            return [*figures, *code, self._explanation]
        # The end of a task that is cut off is what the learner wants to see next.
        task = [self._prose] if self._prose.longer else []
        order = [first, *task, *figures, *code]
        if self._answer.word.text and (not self._state.is_open or self._answer.word.longer):
            order.append(self._answer.word)
        return list(dict.fromkeys(order))

    def focus_active(self) -> None:
        """Focus the active matrix, or the answer box if no matrix is active."""
        self._go_to(self._matrices[self._active] if self._active >= 0 else self._first_pane())

    def move_pane(self, step: int) -> None:
        """Move the focus `step` panes on, and show the new pane if it is hidden."""
        if self._explanation.has_focus:
            # Leave the panel for the pane that it is about.
            self.focus_active()
            return
        order = self._panes()
        index = order.index(self._focused) if self._focused in order else 0
        self._go_to(order[(index + step) % len(order)])

    def _go_to(self, pane: Widget) -> None:
        # Set here already, because the focus itself moves later.
        self._focused = pane
        if isinstance(pane, MatrixView):
            self._active = self._matrices.index(pane)
        elif pane is self._code:
            self._active = CODE
        self._arrange()
        pane.focus(scroll_visible=False)
        self._describe()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Make a matrix that was clicked the active one, and update the keys."""
        self._focused = event.widget
        if isinstance(event.widget, MatrixView) and self._active != self._matrices.index(event.widget):
            self._active = self._matrices.index(event.widget)
            self._arrange()
        self._describe()

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        tab = [hint("screen.pane")] if len(self._panes()) > 1 else []
        ask = [hint("question.hint", self._help)] if self._state.is_open else []
        rest = [*ask, *tab, *map(hint, ("tutor.next", "tutor.back", "tutor.help", "tutor.map", "tutor.quit"))]
        if self._explanation.has_focus:
            return [*self._explanation.hints, hint("explanation.back"), *tab, hint("explanation.close")]
        if self._answer.options.has_focus:
            options = self._step.offered_options if self._step is not None else ()
            last = question_words.LETTERS[: len(options)][-1:]
            choose = [hint("options.choose"), hint("options.take"), f"a-{last}"]
            # Not `b`, which chooses an option.
            steps = [hint("tutor.next"), hint("tutor.back-anywhere")]
            return [*choose, *ask, *tab, *steps, hint("tutor.help"), hint("tutor.map")]
        if self._answer.line.has_focus:
            steps = [hint("tutor.next-anywhere"), hint("tutor.back-anywhere")]
            leave = [hint("question.leave"), hint("tutor.help-anywhere")]
            return [hint("answer-line.check"), *ask, *tab, *steps, *leave]
        view = self._matrix
        if view is not None and view.has_focus:
            if self.explaining:
                return [
                    *tab,
                    *view.hints,
                    hint("number.back"),
                    hint("question.leave", say("close", "close")),
                    hint("tutor.help"),
                ]
            explain = [hint("question.enter", say("explain", "explain"))]
            if self._answers_with_cursor and view is self._pointed:
                explain = [hint("question.enter"), *([hint("question.explain")] if self._can_explain(view) else [])]
            return [*view.hints, *explain, *rest]
        return [hint("text.scroll"), *rest]

    @property
    def _help(self) -> str:
        """The hint for f3, which depends on how many hints are left."""
        more = self._step is not None and self._state.hints < len(self._step.hints)
        return hint_of("question.hint") if more else say("give-up", "give up")

    # Explanations ------------------------------------------------------------------------------------------------

    @property
    def unit(self) -> CodeUnit | None:
        """The step, as the unit of code that produced the numbers, or None if there is none."""
        return CodeUnit.step(self._step.id) if self._step is not None else None

    def _can_explain(self, view: MatrixView) -> bool:
        return view.tensor is not None and not self._is_hidden(view.tensor)

    def action_explain(self) -> None:
        """Ask how the number under the cursor was computed, unless it is hidden."""
        if self._matrix is not None and self._can_explain(self._matrix):
            super().action_explain()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now; if not, its key keeps the meaning that it has elsewhere."""
        if action == "explain_back":
            return self.explaining
        if action == "leave":
            return self.explaining or self._answer.line.has_focus
        return True

    def action_leave(self) -> None:
        """Close the explanation if one is open, otherwise leave the answer line, so that keys work as in a lesson."""
        if self.explaining:
            self._close_explanation()
        else:
            self._go_to(self._matrices[max(self._active, 0)] if self._tensors else self._prose)

    def _light(self) -> None:
        """Highlight operands and answers in their matrices, and the line of code that combined the operands."""
        explanation = self._explanation.explanation
        lit = (explanation.lit or {}) if explanation is not None else {}
        for view, tensor in zip(self._matrices, self._tensors, strict=False):
            marks = Marks(Cells(patterns=lit.get(tensor.name, ())))
            if self._step is not None and view is self._pointed:
                wrong, right = answer_cells(self._step, self._result, self._state)
                marks = replace(marks, changed=Cells(patterns=wrong), set=Cells(patterns=right))
            view.mark(marks)
        line = None
        if explanation is not None and explanation.unit == self.unit:
            line = explanation.line
        if line != self._line:
            self._line = line
            self._code.show(marked(self._code_plain, line), keep=True)


class FindView(QuestionView):
    """The view of a step of the kind `find`: enter explains as in a lesson, and a key of its own answers."""

    topic = "find"
    names = "find"

    _model: FindModel | None

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("find")]

    def _begin(self) -> None:
        """Put the cursor on the number at which explaining begins."""
        start = self._model.task.starting_cell if self._model is not None else None
        view = next((view for view in self._matrices if start and view.tensor and view.tensor.name == start[0]), None)
        if start is not None and view is not None:
            self._active = self._matrices.index(view)
            view.go_to(start[1])
        super()._begin()

    @property
    def flow_subject(self) -> FlowSubject | None:
        """What a flow can be shown of; if a box is to be found, the learner answers there."""
        subject = super().flow_subject
        if subject is None or not self._state.is_open or self._question.answer_form != "box":
            return subject
        return replace(subject, point=self._give_answer)

    @property
    def _question(self) -> Question:
        assert self._step is not None
        return self._step

    def action_enter(self) -> None:
        """Ask how the number under the cursor was computed."""
        self.action_explain()

    def action_point(self) -> None:
        """Answer with what is under the cursor: an operand of the explanation, or a cell."""
        if not self._state.is_open:
            return
        if self._question.answer_form == "box":
            self.say(
                say(
                    "answer-is-a-box",
                    "The answer is a box of the flow. Press {key} to open the flow.",
                    key=short_keys("tutor.flow"),
                )
            )
            return
        index = self._chosen_cell()
        if index is None:
            on = self._question.pointed_at
            # The line for remarks is hidden while an explanation is open.
            self.notify(
                say("answer-is-in", "The answer is in {name}. Move the cursor to a number there first.", name=on),
                markup=False,
            )
        else:
            self._give_answer(", ".join(map(str, index)))

    def _chosen_cell(self) -> tuple[int, ...] | None:
        """Return the cell of the tensor in question that is under the cursor, None if the cursor is elsewhere."""
        explanation, operand = self._explanation.explanation, self._explanation.operand
        if self._explanation.has_focus and explanation is not None:
            position = None if operand is None else explanation.operands.index(operand)
            return pointed_cell(self._question, explanation, position)
        view = self._matrix
        return view.index if view is not None and view.has_focus and view is self._pointed else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now; if not, its key keeps the meaning that it has elsewhere."""
        return self._state.is_open if action == "point" else super().check_action(action, parameters)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if not self._state.is_open:
            return super().hints
        if self._question.answer_form == "box":
            return [hint("tutor.flow"), *super().hints]
        on_target = isinstance(self.screen.focused, MatrixView) and self.screen.focused is self._pointed
        first = [hint("find.point")] if on_target or self._explanation.has_focus else []
        return [*first, *super().hints]
