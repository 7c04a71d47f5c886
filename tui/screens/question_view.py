"""The view of a question about a run: shows it, takes answers, and shows their judgements, hints and explanations."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from lessons.engine.questions import answer_reading, question_facts, question_words
from lessons.engine.questions.question_facts import Pointing
from lessons.format.lesson import ChoiceStep, Lesson, PointStep, Question
from lessons.play.question_state import Phase, QuestionState, answer_cells
from lessons.render.source_text import names_of_steps
from lessons.results.code_unit import CodeUnit
from lessons.results.result import Judgement, StepResult, Tensor, WorkerError
from lessons.texts.wording import Wording
from tui.actions.action_words import hint_of
from tui.actions.bindings import bindings
from tui.actions.hints import hint
from tui.actions.key_names import short_keys
from tui.drawings import question_text
from tui.drawings.marks import Cells, Marks
from tui.drawings.question_text import QuestionText, code_text
from tui.render.code_text import marked
from tui.render.step_layout import CODE
from tui.screens.explaining_view import MATRICES, ExplainingView
from tui.screens.question_panes import QuestionPanes
from tui.tty.terminal import Terminal
from tui.widgets.answer_box import AnswerBox
from tui.widgets.line_widget import set_height
from tui.widgets.matrix import MatrixView
from tui.widgets.text_pane import TextPane

say = Wording("question/view")


class QuestionView(ExplainingView):
    """The view of a question. It posts the learner's answers, and is given the judgements to show."""

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

    class Answered(Message):
        """Posted when the learner has given an answer to be judged."""

        def __init__(self, step: Question, text: str) -> None:
            self.step, self.text = step, text
            super().__init__()

    class HintUsed(Message):
        """Posted when the learner has read a hint; `n` is its number, from 1."""

        def __init__(self, step: Question, n: int) -> None:
            self.step, self.n = step, n
            super().__init__()

    class GaveUp(Message):
        """Posted when the learner has given up and the answer is shown."""

        def __init__(self, step: Question) -> None:
            self.step = step
            super().__init__()

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, self.names, id=id)
        self._code_theme = code_theme
        self._lesson: Lesson | None = None
        self._step: Question | None = None
        self._note = ""
        self._state = QuestionState()
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

    def show_step(
        self,
        lesson: Lesson,
        step: Question,
        result: StepResult,
        note: str,
        passed: bool,
        hints_used: int = 0,
        given_up: bool = False,
    ) -> None:
        """Show a question with recorded or live results; showing the same question again keeps its state.

        Args:
            lesson, step: the question and its lesson.
            result: the results of the code of the step.
            note: the kind of results, such as recorded or live.
            passed: whether the learner has answered the question correctly.
            hints_used: how many hints the learner has read.
            given_up: whether the learner has given up on the question.
        """
        fresh = (lesson.id, CodeUnit.step(step.id)) != (self._lesson.id if self._lesson else "", self.unit)
        self._lesson, self._step, self._result, self._note = lesson, step, result, note
        self._step_names = names_of_steps(lesson)
        if fresh:
            self._state, self._line = QuestionState(), None
            self._answer.clear()
        self._state = self._state.with_earlier_visits(
            len(step.hints), hints_used=hints_used, passed=passed, given_up=given_up
        )
        # The explanation was about the numbers of a different run.
        self._close_explanation()
        had_nothing = not self._tensors
        self._code_plain = code_text(step, result, self._code_theme)
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
    def text_pane(self) -> TextPane:
        """The pane that holds the prose."""
        return self._prose

    @property
    def title(self) -> str:
        """The title of the question."""
        return self._step.title if self._step is not None else ""

    def show_judgement(self, judgement: Judgement, text: str) -> None:
        """Show the judgement of an answer; an answer that could not be read is not counted."""
        if self._step is None or not self._state.is_open:
            return
        if judgement.stopped:
            self._state = replace(self._state, gives_up_next=False)
            # The form of an answer is explained above already.
            self.say(judgement.message.replace(self._answer.form.text, "").strip())
            return
        self._state = self._state.with_answer(text, judgement)
        if self._answer.line.value.strip() == text:
            self._answer.line.value = ""
        if isinstance(self._step, ChoiceStep):
            index = answer_reading.choice_of(self._step, self._result, text)
            self._answer.options.chosen = self._answer.options.chosen if index is None else index
        if judgement.passed:
            self._end("passed")
        else:
            self._show_all()

    def say(self, text: str) -> None:
        """Show a message in place of a judgement, for an answer that could not be judged."""
        self._state = replace(self._state, remark=text)
        self._show_all()

    def _end(self, phase: Phase) -> None:
        """End the question, which was answered or given up, and show all that was hidden."""
        self._state = replace(self._state, phase=phase)
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
        step = self._step
        if step is None:
            return
        self._tensors = question_facts.visible_tensors(step, self._result, answered=not self._state.is_open)[:MATRICES]
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
        name = question_facts.pointed_name(self._step) if self._step is not None else ""
        return next((view for view in self._matrices if view.tensor and view.tensor.name == name), None)

    def _is_hidden(self, tensor: Tensor) -> bool:
        """Return whether the numbers of a tensor are hidden until the question is answered."""
        step = self._step
        return self._state.is_open and isinstance(step, PointStep) and step.blank and tensor.name == step.on

    # The answer --------------------------------------------------------------------------------------------------

    def on_answer_box_given(self, event: AnswerBox.Given) -> None:
        """Post the answer of the answer box to be judged."""
        event.stop()
        self._post_answer(event.text)

    def on_answer_box_typed(self, event: AnswerBox.Typed) -> None:
        """Forget a first request to give up, because the learner is typing an answer."""
        event.stop()
        self._state = replace(self._state, gives_up_next=False)

    def _post_answer(self, text: str) -> None:
        if self._step is not None and self._state.is_open:
            self.post_message(self.Answered(self._step, text))

    def action_enter(self) -> None:
        """Answer with the cell under the cursor, or ask how its number was computed."""
        view = self._pointed
        if self._state.is_open and isinstance(self._step, PointStep) and view is not None and view.has_focus:
            if view.index == self._untouched_cell:
                # The enter that led here, pressed once too often, is no answer.
                self._untouched_cell = None
                self.say(question_text.confirm(view.tensor.name if view.tensor else "", view.index))
                return
            self._post_answer(", ".join(map(str, view.index)))
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
        step = self._step
        if step is None or not self._state.is_open:
            return
        helped = self._state.with_help(len(step.hints))
        if helped.hints > self._state.hints:
            self._state = helped
            self.post_message(self.HintUsed(step, self._state.hints))
            self._show_all()
        elif helped.gives_up_next:
            self._state = helped
            self.say(
                say(
                    "no-more-hints",
                    "There are no more hints. Press {key} again to give up and see the answer, which does not count as "
                    "passed.",
                    key=short_keys("question.hint"),
                )
            )
        else:
            self.give_up()

    def give_up(self) -> None:
        """Show the answer and its explanation, and post that the learner has given up."""
        step = self._step
        if step is None or not self._state.is_open:
            return
        self._state = replace(self._state, gives_up_next=False, remark="")
        try:
            question_words.answer_text(step, self._result)
        except WorkerError as error:
            self.say(str(error))
            return
        self.post_message(self.GaveUp(step))
        self._end("gave-up")

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
            last = question_words.LETTERS[len(self._step.options) - 1] if isinstance(self._step, ChoiceStep) else "b"
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
            if self._state.is_open and isinstance(self._step, PointStep) and view is self._pointed:
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
            if isinstance(self._step, Pointing) and view is self._pointed:
                wrong, right = answer_cells(self._step, self._result, self._state)
                marks = replace(marks, changed=Cells(patterns=wrong), set=Cells(patterns=right))
            view.mark(marks)
        line = None
        if explanation is not None and explanation.unit == self.unit:
            line = explanation.line
        if line != self._line:
            self._line = line
            self._code.show(marked(self._code_plain, line), keep=True)
