"""A question about a run: what there is to see, where to answer, and what is said of the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from lessons.engine import answer_reading, question_facts, question_words
from lessons.format import template
from lessons.format.lesson import ChoiceStep, Lesson, PointStep, PredictStep, Question
from lessons.reading import package_source
from lessons.results.clean_text import clean
from lessons.results.result import Judgement, StepResult, Tensor, WorkerError
from tui.actions.bindings import bindings
from tui.actions.hints import hint, key_line, mention
from tui.actions.naming import short_keys
from tui.drawings.marks import Cells, Marks
from tui.render.code_text import marked, rich_code
from tui.render.prose import in_ascii, rich_text
from tui.render.step_layout import CODE, WIDE, Needs, arrange, text_width
from tui.screens.explaining_view import MATRICES, ExplainingView
from tui.tty.terminal import Terminal
from tui.widgets.line_widget import Box, set_height
from tui.widgets.matrix import MatrixView
from tui.widgets.options import OptionRow, Options
from tui.widgets.text_line import TextLine
from tui.widgets.text_pane import AFTER_F4, TextPane

BOLD, DIM = Style(bold=True), Style(dim=True)
GOOD, BAD = Style(bold=True, color="green"), Style(bold=True, color="red")
ROOMY = 24
"""Lines beside an explanation from which the place for the answer is shown as well."""

GO_ON = "   " + mention("tutor.next", "go on")

State = Literal["open", "passed", "given up"]


class QuestionView(ExplainingView):
    """A question. It posts the learner's answers, and is told what to say of them."""

    topic = "question"

    DEFAULT_CSS = """
    QuestionView {
        height: 1fr;
        width: 1fr;
    }

    QuestionView #asked {
        layout: vertical;
        height: 1fr;
    }

    QuestionView #asked.wide {
        layout: grid;
        grid-size: 2 2;
    }

    QuestionView #asked-text {
        layout: vertical;
        height: auto;
    }

    QuestionView #asked-figures {
        layout: vertical;
        height: 1fr;
    }

    QuestionView #asked.wide #asked-text {
        height: 1fr;
    }

    QuestionView #asked.wide #asked-figures {
        row-span: 2;
    }

    QuestionView #asked-answer {
        layout: vertical;
    }

    QuestionView #asked.wide #asked-answer {
        height: 1fr;
    }

    QuestionView #entry {
        layout: horizontal;
        height: 1;
    }

    QuestionView #entry TextLine {
        width: 3;
    }

    QuestionView Input, QuestionView Input:focus {
        border: none;
        height: 1;
        width: 1fr;
        padding: 0;
        background: $background;

        &:ansi {
            background: ansi_default;
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("question")]

    class Answered(Message):
        """The learner's answer, which is to be judged."""

        def __init__(self, step: Question, text: str) -> None:
            self.step, self.text = step, text
            super().__init__()

    class HintUsed(Message):
        """The learner has read the hints up to the `n`-th, from 1."""

        def __init__(self, step: Question, n: int) -> None:
            self.step, self.n = step, n
            super().__init__()

    class GaveUp(Message):
        """The learner has given up, and sees the answer."""

        def __init__(self, step: Question) -> None:
            self.step = step
            super().__init__()

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, "asked", id=id)
        self._code_theme = code_theme
        self._lesson: Lesson | None = None
        self._step: Question | None = None
        self._note = ""
        self._state: State = "open"
        # Solved at an earlier visit, so that nothing is known of the answers.
        self._before = False
        self._hints = 0
        # f3 was pressed with all hints used up: once more gives up.
        self._armed = False
        self._answers: list[tuple[str, Judgement]] = []
        self._remark = ""
        self._line: int | None = None
        self._code_plain = Text()
        self._shown: tuple[Tensor, ...] = ()
        self._focused: Widget | None = None

        self._prose = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="question")
        self._code = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="asked-code")
        self._form = TextPane(ellipsis=terminal.ellipsis, id="form")
        self._options = Options(terminal, id="options")
        self._input = Input(compact=True, select_on_focus=False, id="line")
        self._input.cursor_blink = False
        self._entry = Box(TextLine(Text(" > ", BOLD)), self._input, id="entry")
        self._word = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="word")
        self._text = Box(self._prose, self._code, id="asked-text")
        self._figures = Box(*self._matrices, id="asked-figures")
        self._answer = Box(self._form, self._options, self._entry, self._word, id="asked-answer")
        self._body = Box(self._text, self._figures, self._answer, id="asked")
        self._detail = TextLine(ellipsis=terminal.ellipsis, id="asked-detail")

    def compose(self) -> ComposeResult:
        """The question and the matrices, below them the answer; on a wide screen the matrices at the right."""
        yield self._explanation
        yield self._body
        yield self._detail

    # What is shown -----------------------------------------------------------------------------------------------

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
        """Show a question with results, which may be recorded ones; again with live ones, and nothing is lost.

        Args:
            lesson, step: what is shown.
            result: what the code of the step gave.
            note: of what sort the results are.
            passed: the question has been answered.
            hints_used: how many hints the learner has read.
            given_up: the learner has given up on it.
        """
        fresh = (lesson.id, step.id) != (self._lesson.id if self._lesson else "", self.place)
        self._lesson, self._step, self._result, self._note = lesson, step, result, note
        if fresh:
            self._state, self._before = "open", False
            self._answers, self._remark, self._armed, self._hints, self._line = [], "", False, 0, None
            self._input.value = ""
        self._hints = max(self._hints, min(hints_used, len(step.hints)))
        if self._state == "open" and (passed or given_up):
            self._state, self._before = "passed" if passed else "given up", True
        # It was about the numbers of another run.
        self._close_explanation()
        self._code_plain = self._code_text(step, result)
        if fresh:
            self._active = CODE
            self._options.chosen = 0
        self._show_all()
        if fresh:
            self._go_to(self._first_pane())

    @property
    def title(self) -> str:
        """The title of the question."""
        return self._step.title if self._step is not None else ""

    @property
    def hints_used(self) -> int:
        """How many hints are shown."""
        return self._hints

    @hints_used.setter
    def hints_used(self, hints: int) -> None:
        self._hints = max(0, min(hints, len(self._step.hints) if self._step else 0))
        self._show_all()

    def show_judgement(self, judgement: Judgement, text: str) -> None:
        """Say what became of an answer; one that could not be read is not counted."""
        if self._step is None or self._state != "open":
            return
        self._armed = False
        if judgement.stopped:
            # How to answer stands above already.
            self.say(judgement.message.replace(self._form.text, "").strip())
            return
        self._remark = ""
        self._answers = [*(answer for answer in self._answers if answer[0] != text), (text, judgement)]
        if self._input.value.strip() == text:
            self._input.value = ""
        if isinstance(self._step, ChoiceStep):
            place = answer_reading.choice_of(self._step, self._result, text)
            self._options.chosen = self._options.chosen if place is None else place
        if judgement.passed:
            self._end("passed")
        else:
            self._show_all()

    def say(self, text: str) -> None:
        """Say something where judgements stand, until the next answer: this one could not be judged."""
        self._remark = text
        self._show_all()

    def _end(self, state: State) -> None:
        """The question is answered, or given up: show what there is to see."""
        self._state = state
        before = len(self._shown)
        self._close_explanation()
        self._show_all()
        if before < len(self._shown):
            self._active = before
        self._go_to(self._first_pane())

    @property
    def _open(self) -> bool:
        """Whether it is still to be answered."""
        return self._state == "open"

    def _show_all(self) -> None:
        self._show_prose()
        self._code.show(marked(self._code_plain, self._line), keep=True)
        self._show_matrices()
        self._show_answer()
        self._arrange()
        self._describe()

    def _show_prose(self) -> None:
        step = self._step
        if step is None:
            return
        number = f"Question {step.number}: " if step.number else "Question: "
        text = Text.assemble((number + step.title, BOLD), "\n")
        text.append_text(self._prose_of(template.fill(step.prose, self._result.text)))
        for place in range(self._hints):
            text.append(f"\nHint {place + 1} of {len(step.hints)}: ", BOLD)
            text.append_text(self._prose_of(step.hints[place]))
        # The newest hint is the last line.
        self._prose.show(text, at_end=self._open and self._hints > 0)

    def _prose_of(self, prose: str) -> Text:
        return rich_text(prose if self._terminal.unicode else in_ascii(prose))

    def _code_text(self, step: Question, result: StepResult) -> Text:
        """The code, and below it what it printed, or why it did not come to its end."""
        text = Text()
        if step.source:
            text.append_text(rich_code(package_source.read(step.source), self._code_theme, numbered=False)).append("\n")
        if step.code.strip():
            text.append_text(rich_code(step.code, self._code_theme)).append("\n")
        text.append(clean(result.stdout))
        if result.error is not None:
            text.append(clean(result.error.message), BOLD)
        text.rstrip()
        return text

    def _show_matrices(self) -> None:
        step = self._step
        if step is None:
            return
        self._shown = question_facts.visible_tensors(step, self._result, answered=not self._open)[:MATRICES]
        for place, view in enumerate(self._matrices):
            tensor = self._shown[place] if place < len(self._shown) else None
            view.show(tensor, self._note, blank=tensor is not None and self._is_hidden(tensor))
        if self._active >= len(self._shown):
            self._active = CODE
        if self._active == CODE and self._shown:
            on = self._pointed
            self._active = self._matrices.index(on) if on is not None else 0
        self._light()

    @property
    def _pointed(self) -> MatrixView | None:
        """The matrix in which a cell is to be pointed at."""
        name = self._step.on if isinstance(self._step, PointStep) else None
        return next((view for view in self._matrices if view.tensor and view.tensor.name == name), None)

    def _is_hidden(self, tensor: Tensor) -> bool:
        """Whether the numbers of a tensor are not to be seen yet."""
        step = self._step
        return self._open and isinstance(step, PointStep) and step.blank and tensor.name == step.on

    # The answer --------------------------------------------------------------------------------------------------

    def _show_answer(self) -> None:
        """The place for the answer, and what has been said."""
        step = self._step
        if step is None:
            return
        form = ""
        if self._open and isinstance(step, PredictStep):
            form = question_words.form(step, self._result)
        elif self._open and isinstance(step, PointStep):
            form = f"Put the cursor on the cell in {step.on}, then {short_keys('question.enter')}."
        self._form.show(Text(form, DIM))
        if isinstance(step, ChoiceStep):
            self._show_options(step)
        self._word.show(self._word_text(step))

    def _show_options(self, step: ChoiceStep) -> None:
        tried = {answer_reading.choice_of(step, self._result, text) for text, _ in self._answers}
        self._options.show(
            [
                OptionRow(each.letter, self._prose_of(each.text), self._prose_of(each.why) if place in tried else None)
                for place, each in enumerate(question_words.choices(step, self._result))
            ]
        )

    def _word_text(self, step: Question) -> Text:
        if self._open:
            return self._word_of_open(step)
        text = Text()
        answer = self._right_answer(step)
        if self._state == "given up":
            text.append(f"You gave up, so this does not count as passed.{GO_ON}", DIM)
            text.append("\nThe answer: ", BOLD).append_text(self._prose_of(answer))
        elif self._before:
            text.append(f"{self._yes} Answered before: ", GOOD).append_text(self._prose_of(answer)).append(GO_ON, DIM)
        else:
            said = answer if isinstance(step, ChoiceStep) else self._told(step, self._answers[-1][0])
            text.append(f"{self._yes} Right: ", GOOD).append_text(self._prose_of(clean(said))).append(GO_ON, DIM)
        text.append("\n").append_text(self._prose_of(clean(question_words.why(step, self._result))))
        if isinstance(step, ChoiceStep):
            for each in question_words.choices(step, self._result):
                text.append(f"\n{self._yes if each.right else self._no} ", GOOD if each.right else BAD)
                text.append(f"{each.letter}) ").append_text(self._prose_of(each.text))
                text.append("  ").append_text(self._prose_of(each.why))
        return text

    def _word_of_open(self, step: Question) -> Text:
        """What was said of the answers so far, the last one first."""
        text = Text(self._remark, BOLD)
        for answer, judgement in reversed(self._answers if not isinstance(step, ChoiceStep) else []):
            text.append("\n" if text else "")
            text.append(f"{self._no} ", BAD).append(clean(self._told(step, answer)), BOLD).append("   ")
            text.append_text(self._prose_of(clean(judgement.message)))
        return text

    def _told(self, step: Question, answer: str) -> str:
        """An answer as it is listed."""
        return f"{step.on}[{answer}]" if isinstance(step, PointStep) else answer

    def _right_answer(self, step: Question) -> str:
        try:
            return question_words.answer_text(step, self._result)
        except WorkerError:
            return self._terminal.ellipsis

    @property
    def _yes(self) -> str:
        return "✓" if self._terminal.unicode else "+"

    @property
    def _no(self) -> str:
        return "✗" if self._terminal.unicode else "x"

    def on_options_taken(self, event: Options.Taken) -> None:
        """Pass it on."""
        event.stop()
        self._post_answer(event.text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass on what was typed."""
        event.stop()
        if event.value.strip():
            self._post_answer(event.value.strip())

    def on_input_changed(self, event: Input.Changed) -> None:
        """The learner tries on: giving up is to be asked for anew."""
        event.stop()
        self._armed = False

    def _post_answer(self, text: str) -> None:
        if self._step is not None and self._open:
            self.post_message(self.Answered(self._step, text))

    def action_enter(self) -> None:
        """Answer with the cell under the cursor, or explain its number."""
        view = self._pointed
        if self._open and view is not None and view.has_focus:
            self._post_answer(", ".join(map(str, view.index)))
        else:
            self.action_explain()

    def on_click(self, event: events.Click) -> None:
        """A double click answers with the cell."""
        view = self._pointed
        if event.chain == 2 and view is not None and view.has_focus and not view.overview:
            event.stop()
            self.action_enter()

    # Hints and giving up -----------------------------------------------------------------------------------------

    def action_hint(self) -> None:
        """One hint more."""
        self.hint()

    def hint(self) -> None:
        """Show one hint more; when they are used up, twice gives up."""
        step = self._step
        if step is None or not self._open:
            return
        if self._hints < len(step.hints):
            self._hints += 1
            self.post_message(self.HintUsed(step, self._hints))
            self._show_all()
        elif not self._armed:
            self._armed = True
            again = (
                f"{short_keys('question.hint')} again: give up and see the answer; it does not count as passed then."
            )
            self.say(f"There are no more hints. {again}")
        else:
            self.give_up()

    def give_up(self) -> None:
        """Show the answer and why; the question does not count as passed."""
        step = self._step
        if step is None or not self._open:
            return
        self._armed, self._remark = False, ""
        try:
            question_words.answer_text(step, self._result)
        except WorkerError as error:
            self.say(str(error))
            return
        self.post_message(self.GaveUp(step))
        self._end("given up")

    # Places ------------------------------------------------------------------------------------------------------

    def _needs(self, width: int) -> Needs:
        """What text and matrices would like."""
        code = [cell_len(line) + 2 for line in self._code_plain.plain.split("\n")]
        sizes = tuple(self._matrices[place].natural_size() for place in range(len(self._shown)))
        needs = Needs(0, 0, 0, sizes, max(code), max(code))
        columns = text_width(width, needs)
        return replace(
            needs,
            prose=_gap(self._prose.lines_at(columns)),
            code=_gap(self._code.lines_at(columns)),
            panel=self.explaining,
        )

    def _answer_lines(self, width: int) -> tuple[int, int, int, int]:
        """Lines that form, options, line to type in and word would like."""
        options = self._options.lines_at(width) if self._open and isinstance(self._step, ChoiceStep) else 0
        entry = int(self._open and isinstance(self._step, PredictStep))
        return self._form.lines_at(width), options, entry, self._word.lines_at(width)

    def _arrange(self) -> None:
        width, height = self.room
        if self._step is None or not width or height < 2:
            return
        self._detail.display = bool(self._shown)
        height -= int(bool(self._shown))
        needs = self._needs(width)
        wide = width >= WIDE and bool(needs.matrices)
        columns = text_width(width, needs)
        wanted = self._answer_lines(columns)
        text = needs.prose + needs.code
        if wide:
            plan = arrange(width, height, needs, self._active)
            body = height - plan.panel
            answer = min(sum(wanted), max(body * 3 // 5, body - text))
            beside = arrange(width, body - answer, replace(needs, panel=False), self._active)
            plan = replace(plan, prose=beside.prose, code=beside.code)
            self._body.styles.grid_columns = f"{columns} 1fr"
            self._body.styles.grid_rows = f"{max(1, plan.prose + plan.code)} 1fr"
        else:
            answer = 0 if self.explaining else self._narrow_answer(height, sum(wanted), needs)
            if self.explaining and height - sum(wanted) >= ROOMY:
                answer = sum(wanted)
            plan = arrange(width, height - answer, needs, self._active)
        self._body.set_class(wide, "wide")
        self._explanation.set_class(wide, "wide")
        set_height(self._explanation, plan.panel if self.explaining else 0)
        set_height(self._prose, plan.prose)
        set_height(self._code, plan.code)
        self._figures.display = bool(self._shown)
        for place, view in enumerate(self._matrices):
            set_height(view, plan.matrices[place] if place < len(plan.matrices) else 0)
        self._answer.display = answer > 0
        # Below the matrices, with an empty line between if there is room for it.
        figures = sum(plan.matrices)
        spare = height - plan.panel - plan.prose - plan.code - figures - answer
        self._figures.styles.height = "1fr" if wide else figures + int(spare > 0)
        self._answer.styles.height = "1fr" if wide else max(1, answer)
        self._arrange_answer(answer, wanted)

    def _narrow_answer(self, height: int, wanted: int, needs: Needs) -> int:
        """Lines for the answer on a narrow screen: all it wants if the rest fits, else about half."""
        rest = needs.prose + needs.code + sum(lines for _, lines in needs.matrices)
        return min(wanted, max(height // 2, height - rest), max(0, height - 2))

    def _arrange_answer(self, room: int, wanted: tuple[int, int, int, int]) -> None:
        """What is typed stays; then come options, the word, and last how to answer."""
        form, options, entry, word = wanted
        entry = min(entry, room)
        options = min(options, room - entry)
        word = min(word, room - entry - options)
        if options and self._remark and not word:
            # A word about an answer is not to be missed.
            word, options = 1, options - 1
        form = min(form, room - entry - options - word)
        for widget, lines in ((self._form, form), (self._options, options), (self._entry, entry), (self._word, word)):
            set_height(widget, lines)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange again."""
        self._arrange()
        self._describe()

    # Panes -------------------------------------------------------------------------------------------------------

    def _first_pane(self) -> Widget:
        """Where a learner begins: where they answer, or look."""
        if self._open and isinstance(self._step, ChoiceStep):
            return self._options
        if self._open and isinstance(self._step, PredictStep):
            return self._input
        if self._shown:
            return self._matrices[max(self._active, 0)]
        return self._word if self._word.text else self._prose

    def _panes(self) -> list[Widget]:
        """The panes in the order of tab."""
        first = self._first_pane()
        figures: list[Widget] = [*self._matrices[: len(self._shown)]]
        code = [self._code] if self._code_plain.plain else []
        if self.explaining:
            return [*figures, *code, self._explanation]
        order = [first, *figures, *code]
        if self._word.text and (not self._open or self._word.longer):
            order.append(self._word)
        if self._prose.longer:
            order.append(self._prose)
        return list(dict.fromkeys(order))

    def focus_active(self) -> None:
        """Give the keys to the active matrix, or to the place for the answer."""
        self._go_to(self._matrices[self._active] if self._active >= 0 else self._first_pane())

    def move_pane(self, step: int) -> None:
        """Give the keys to the next pane, and show it if it is not shown."""
        if self._explanation.has_focus:
            # From the panel to what it is about.
            self.focus_active()
            return
        order = self._panes()
        place = order.index(self._focused) if self._focused in order else 0
        self._go_to(order[(place + step) % len(order)])

    def _go_to(self, pane: Widget) -> None:
        # Noted here: the focus itself moves later.
        self._focused = pane
        if isinstance(pane, MatrixView):
            self._active = self._matrices.index(pane)
        elif pane is self._code:
            self._active = CODE
        self._arrange()
        pane.focus(scroll_visible=False)
        self._describe()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click may have moved the focus; the keys depend on it."""
        self._focused = event.widget
        if isinstance(event.widget, MatrixView) and self._active != self._matrices.index(event.widget):
            self._active = self._matrices.index(event.widget)
            self._arrange()
        self._describe()

    @property
    def keys(self) -> str:
        """What keys do here, for the line of keys: as many as fit."""
        return key_line(self._hints_here(), self.size.width)

    def _hints_here(self) -> list[str]:
        tab = [hint("screen.pane")] if len(self._panes()) > 1 else []
        ask = [hint("question.hint", self._help)] if self._open else []
        rest = [*ask, *tab, *map(hint, ("tutor.next", "tutor.back", "tutor.help", "tutor.map", "tutor.quit"))]
        if self._explanation.has_focus:
            return [*self._explanation.hints, hint("explanation.back"), *tab, hint("explanation.close")]
        if self._options.has_focus:
            last = question_words.LETTERS[len(self._step.options) - 1] if isinstance(self._step, ChoiceStep) else "b"
            choose = [hint("options.choose"), hint("options.take"), f"a-{last}"]
            # Not `b`: that is an option.
            steps = [hint("tutor.next"), hint("tutor.back-anywhere")]
            return [*choose, *ask, *tab, *steps, hint("tutor.help"), hint("tutor.map")]
        if self._input.has_focus:
            steps = [hint("tutor.next-anywhere"), hint("tutor.back-anywhere")]
            leave = [hint("question.leave"), hint("tutor.help-anywhere")]
            return [hint("answer-line.check"), *ask, *tab, *steps, *leave]
        view = self._matrix
        if view is not None and view.has_focus:
            if self.explaining:
                return [*tab, *view.hints, hint("number.back"), hint("question.leave", "close"), hint("tutor.help")]
            explain = [hint("question.enter", "explain")]
            if self._open and view is self._pointed:
                explain = [hint("question.enter"), *([hint("question.explain")] if self._can_explain(view) else [])]
            return [*view.hints, *explain, *rest]
        return [hint("text.scroll"), *rest]

    @property
    def _help(self) -> str:
        """What f3 does now."""
        return "hint" if self._step is not None and self._hints < len(self._step.hints) else "give up"

    def _describe(self) -> None:
        self._detail.set(" " + self._matrices[self._active].describe(self.size.width - 2) if self._active >= 0 else "")
        self.post_message(self.PanesChanged())

    # Explanations ------------------------------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """The id of the step."""
        return self._step.id if self._step is not None else ""

    def _can_explain(self, view: MatrixView) -> bool:
        return view.tensor is not None and not self._is_hidden(view.tensor)

    def action_explain(self) -> None:
        """Ask how the number under the cursor was made, if it is to be seen."""
        if self._matrix is not None and self._can_explain(self._matrix):
            super().action_explain()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key means something now; if not, it means what it does elsewhere."""
        if action == "explain_back":
            return self.explaining
        if action == "leave":
            return self.explaining or self._input.has_focus
        return True

    def action_leave(self) -> None:
        """Close the explanation; else leave the line to type in, so that keys work as in a lesson."""
        if self.explaining:
            self._close_explanation()
        else:
            self._go_to(self._matrices[max(self._active, 0)] if self._shown else self._prose)

    def _light(self) -> None:
        """Mark the operands and the answers in their matrices, and the line of the code that joined the operands."""
        explanation = self._explanation.explanation
        lit = (explanation.lit or {}) if explanation is not None else {}
        for view, tensor in zip(self._matrices, self._shown, strict=False):
            wrong, right = self._marked_cells() if view is self._pointed else (Cells(), Cells())
            view.mark(Marks(Cells(patterns=lit.get(tensor.name, ())), wrong, right))
        line = None
        if explanation is not None and explanation.file == self.place:
            line = explanation.line
        if line != self._line:
            self._line = line
            self._code.show(marked(self._code_plain, line), keep=True)

    def _marked_cells(self) -> tuple[Cells, Cells]:
        """The cells that were wrong answers, and the right ones when they may be known."""
        step = self._step
        if not isinstance(step, PointStep):
            return Cells(), Cells()
        try:
            right = () if self._open else question_facts.right_cells(step, self._result)
            tried = [answer_reading.cell_of(step, self._result, text) for text, _ in self._answers]
        except WorkerError:
            return Cells(), Cells()
        wrong = tuple(cell for cell in tried if cell is not None and cell not in right)
        return Cells(patterns=wrong), Cells(patterns=tuple(right))


def _gap(lines: int) -> int:
    """Lines with an empty one below, nothing for nothing."""
    return lines + 1 if lines else 0
