"""A question drawn: its task, hints and verdicts as text, and their layout on a screen of a given size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.engine.questions import answer_forms, answer_reading, question_words
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import Question
from attn_tutor.lessons.format.questions import Entry
from attn_tutor.lessons.play.question_state import QuestionState
from attn_tutor.lessons.reading import package_source
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import StepResult, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import mention, short_keys
from attn_tutor.tui.render.code_text import rich_code
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.render.step_layout import WIDE, Needs, arrange, fewest_lines, stacked, text_width
from attn_tutor.tui.tty.terminal import in_ascii

BESIDE = 4
"""Lines that the matrices keep beside an explanation and the task: two rows below the names of the columns."""

LEAST_ASIDE = 5
"""Lines that the task keeps beside a long explanation, which scrolls."""

LEAST_TASK = 3
"""Lines that the task keeps beside the answer."""

LEAST_ANSWER = 6
"""Lines that the answer keeps beside the matrix that shows it: that it is right, and why."""

ROOMY = 24
"""Beside an explanation, the answer box is shown too if there are this many lines."""


@dataclass(frozen=True, slots=True)
class AnswerLines:
    """The heights, in lines, of the parts of the answer box.

    Attributes:
        form: the text on how to answer.
        options: what there is to choose from.
        entry: the line to type in.
        word: the verdicts on the answers.
    """

    form: int
    options: int
    entry: int
    word: int

    @property
    def total(self) -> int:
        """Lines of all parts together."""
        return self.form + self.options + self.entry + self.word

    def within(self, room: int, *, remark: bool) -> AnswerLines:
        """Cut the parts to fit: the entry line comes first, then the options, the word, and the form.

        With a `remark`, at least one line goes to the word, so that it is not missed.
        """
        entry = min(self.entry, room)
        options = min(self.options, room - entry)
        word = min(self.word, room - entry - options)
        if options and remark and not word:
            word, options = 1, options - 1
        return AnswerLines(min(self.form, room - entry - options - word), options, entry, word)


@dataclass(frozen=True, slots=True)
class QuestionLayout:
    """The height of each part in lines; 0 for parts that are not shown.

    Attributes:
        wide: whether matrices stand at the right.
        text_width: columns of the text; all columns if not `wide`.
        panel: lines of the explanation.
        widths: columns of the matrices if some stand beside each other, otherwise nothing.
        places: x and y of these matrices, counted from the first.
        figures: lines of all matrices together; if `wide`, they get what there is.
        answer: lines of the answer box; if `wide`, it gets what the text leaves.
        tall: lines of a row of a matrix.
    """

    wide: bool
    text_width: int
    panel: int
    prose: int
    code: int
    matrices: tuple[int, ...]
    figures: int
    answer: int
    tall: int = 1
    widths: tuple[int, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


def lay_out(
    width: int, height: int, needs: Needs, answer: AnswerLines, active: int, *, answered: bool = False
) -> QuestionLayout:
    """Divide `height` lines among the parts of a question.

    Once it is `answered`, the matrix that shows the answer is whole if possible: it comes before the texts, which the
    learner has read or can scroll.

    Args:
        width: columns of the screen.
        height: lines of the screen.
        needs: what task, code and matrices would like, and whether a number is explained.
        answer: what the answer box would like.
        active: the pane that the learner has chosen.
        answered: whether the answer is given, and shown.
    """
    wanted = answer.total
    wide = width >= WIDE and bool(needs.matrices)
    if wide:
        lay = arrange(width, height, needs, active)
        body = height - lay.panel
        lines = min(wanted, max(body * 3 // 5, body - needs.prose - needs.code))
        beside = arrange(width, body - lines, replace(needs, panel=False), active)
        lay = replace(lay, prose=beside.prose, code=beside.code)
    else:
        lines = _below(width, height, wanted, needs)
        if answered and needs.matrices and not needs.panel:
            figure = needs.matrices[max(active, 0)][1]
            lines = min(lines, max(LEAST_ANSWER, height - figure - LEAST_TASK))
            prose = min(needs.prose, max(LEAST_TASK, height - lines - figure))
            code = needs.code if height - lines - figure - prose >= needs.code else 0
            needs = replace(needs, prose=prose, code=code)
        lay = arrange(width, height - lines, needs, active)
    figures = lay.figure_lines
    # Leave an empty line below the matrices if there is room.
    spare = height - lay.panel - lay.prose - lay.code - figures - lines
    figures += int(spare > 0)
    columns = text_width(width, needs)
    places = lay.places() if lay.widths else ()
    return QuestionLayout(
        wide, columns, lay.panel, lay.prose, lay.code, lay.matrices, figures, lines, lay.tall, lay.widths, places
    )


def beside_explanation(
    height: int, explained: int, task: int, matrices: Sequence[int], active: int
) -> tuple[int, int, tuple[int, ...]]:
    """Divide `height` lines among an explanation, the task that it helps with, and the matrices, which are read last.

    Args:
        height: lines of the screen.
        explained, task, matrices: the lines that each would like.
        active: the matrix that the learner has chosen.

    Returns:
        The lines of the explanation, of the task, and of each matrix.
    """
    figures = min(sum(matrices), BESIDE)
    explained = max(0, min(explained, height - figures - min(task, LEAST_ASIDE)))
    task = max(0, min(task, height - explained - figures))
    return explained, task, stacked(height - explained - task, matrices, active, in_part=True)


def _below(width: int, height: int, wanted: int, needs: Needs) -> int:
    """Return the lines for the answer box below the rest: all it wants if the rest fits, otherwise about half."""
    if needs.panel:
        return wanted if height - wanted >= ROOMY else 0
    rest = needs.prose + needs.code + fewest_lines(width, needs)
    return min(wanted, max(height // 2, height - rest), max(0, height - 2))


say = Wording("question/text")

GOOD, BAD = Style(bold=True, color="green"), Style(bold=True, color="red")


def code_text(step: Question, result: StepResult, theme: str) -> Text:
    """Return the code of a question and, below it, its output or the error that ended it."""
    text = Text()
    if step.source:
        text.append_text(rich_code(package_source.read(step.source), theme, numbered=False)).append("\n")
    if step.code.strip():
        text.append_text(rich_code(step.code, theme)).append("\n")
    text.append(result.stdout)
    if result.error is not None:
        text.append(result.error.message, BOLD)
    text.rstrip()
    return text


@dataclass(frozen=True, slots=True)
class QuestionText:
    """The texts of a question in its current state.

    Attributes:
        step, result: the question, and what its run gave.
        state: how far the learner is with it.
        unicode: whether the terminal shows more than ASCII.
    """

    step: Question
    result: StepResult
    state: QuestionState
    unicode: bool = True

    @property
    def task(self) -> Text:
        """The question, and the hints that have been read."""
        step = self.step
        text = Text.assemble((_title(step), BOLD), "\n")
        text.append_text(self._question)
        for index in range(self.state.hints):
            text.append("\n").append_text(self._hint(index))
        return text

    @property
    def aside(self) -> Text:
        """What the learner needs of the task beside an explanation: the latest hint and verdict, then the question."""
        latest = self._of_tries(1)
        hint = self._hint(self.state.hints - 1) if self.state.hints else Text()
        return Text("\n").join(each for each in (hint, latest, self._question) if each)

    @property
    def _question(self) -> Text:
        return self._prose(template.fill(self.step.prose, self.result.text))

    def _hint(self, index: int) -> Text:
        hint = say("hint", "Hint {number} of {all}:", number=index + 1, all=len(self.step.hints))
        text = Text(f"{hint} ", BOLD)
        return text.append_text(self._prose(template.fill(self.step.hints[index], self.result.text)))

    @property
    def form(self) -> Text:
        """How to answer, where the options or the line to type in do not make it obvious."""
        return Text(HOW[self.step.entry](self.step, self.result) if self.state.is_open else "", DIM)

    @property
    def options(self) -> tuple[tuple[str, Text, Text | None], ...]:
        """The letter and text of each option, and if it has been tried, why it is wrong."""
        step = self.step
        tried = {answer_reading.choice_of(step, self.result, text) for text, _ in self.state.answers}
        return tuple(
            (each.letter, self._prose(each.text), self._prose(each.why) if index in tried else None)
            for index, each in enumerate(question_words.choices(step, self.result))
        )

    @property
    def judgement(self) -> Text:
        """The verdicts on the answers so far, or on the outcome."""
        return self._of_tries() if self.state.is_open else self._of_outcome()

    def _of_tries(self, most: int | None = None) -> Text:
        """Return the verdicts on the wrong answers, latest first; options carry theirs themselves."""
        text = Text(self.state.remark, BOLD)
        answers = self.state.answers[::-1] if not self.step.offered_options else ()
        for answer, judgement in answers[:most]:
            text.append("\n" if text else "")
            text.append(f"{self._no} ", BAD).append(self._listed(answer), BOLD).append("   ")
            text.append_text(self._prose(judgement.message))
        return text

    def _of_outcome(self) -> Text:
        step, state = self.step, self.state
        text = Text()
        answer = self._right_answer
        go_on = "   " + mention("tutor.next", say("go-on", "go on"))
        if state.phase == "gave-up":
            text.append(say("gave-up", "You gave up, so this does not count as passed.") + go_on, DIM)
            text.append("\n" + say("answer", "The answer:") + " ", BOLD).append_text(self._prose(answer))
        elif state.answered_before:
            text.append(f"{self._yes} {say('answered-before', 'Answered before:')} ", GOOD)
            text.append_text(self._prose(answer)).append(go_on, DIM)
        else:
            text.append(f"{self._yes} {say('right', 'Right:')} ", GOOD)
            # What a learner has typed is no prose: in 12*1024*1024, the stars are products.
            is_prose = bool(step.offered_options)
            said = self._prose(answer) if is_prose else Text(self._listed(state.answers[-1][0]))
            text.append_text(said).append(go_on, DIM)
        text.append("\n").append_text(self._prose(question_words.why(step, self.result)))
        for each in question_words.choices(step, self.result):
            text.append(f"\n{self._yes if each.right else self._no} ", GOOD if each.right else BAD)
            text.append(f"{each.letter}) ").append_text(self._prose(each.text))
            text.append("  ").append_text(self._prose(each.why))
        return text

    def _prose(self, prose: str) -> Text:
        return rich_text(prose if self.unicode else in_ascii(prose))

    def _listed(self, answer: str) -> str:
        """Return an answer the way it is listed."""
        match self.step.answer_form:
            case "cell":
                return f"{self.step.pointed_at}[{answer}]"
            case "row":
                return f"{self.step.pointed_at}[{answer.rpartition(',')[0] or answer}]"
            case _:
                return answer

    @property
    def _right_answer(self) -> str:
        try:
            return answer_forms.answer_text(self.step, self.result)
        except WorkerError:
            return "…" if self.unicode else "..."

    @property
    def _yes(self) -> str:
        return "✓" if self.unicode else "+"

    @property
    def _no(self) -> str:
        return "✗" if self.unicode else "x"


def _title(step: Question) -> str:
    """Return the title of a question, with its number if it has one."""
    title, number = step.title, step.number
    if step.entry == "search":
        if number:
            return say("numbered-find", "Find {number}: {title}", number=number, title=title)
        return say("find", "Find: {title}", title=title)
    if number:
        return say("numbered-question", "Question {number}: {title}", number=number, title=title)
    return say("question", "Question: {title}", title=title)


def how_to_find(step: Question) -> str:
    """Say how to point at what is to be found."""
    if step.answer_form == "box":
        return say(
            "find-box",
            "To answer, open the flow with {flow}, choose the box, and press {point}.",
            flow=short_keys("tutor.flow"),
            point=short_keys("flow.point"),
        )
    explain, point, name = short_keys("question.enter"), short_keys("find.point"), step.pointed_at
    how = say("explain", "Press {explain} to explain a number.", explain=explain)
    if step.answer_form == "row":
        to_answer = say(
            "find-row", "To answer, go to a cell of the row in {name} and press {point}.", name=name, point=point
        )
    else:
        to_answer = say("find-cell", "To answer, go to the cell in {name} and press {point}.", name=name, point=point)
    return f"{how} {to_answer}"


def _how_to_point(step: Question) -> str:
    key, name = short_keys("question.enter"), step.pointed_at
    return say("point", "Move the cursor to the cell in {name} and press {key}.", name=name, key=key)


HOW: Mapping[Entry, Callable[[Question, StepResult], str]] = {
    "options": lambda step, result: "",
    "line": answer_forms.how_to_answer,
    "cursor": lambda step, result: _how_to_point(step),
    "search": lambda step, result: how_to_find(step),
}
"""What is said of how to answer, by where a learner does."""


def confirm(name: str, index: tuple[int, ...]) -> str:
    """Ask for a second key before a cell on which the cursor stood from the start is taken as the answer."""
    return say(
        "confirm",
        "{key} again: answer with {cell}. Arrows: another cell.",
        key=short_keys("question.enter"),
        cell=label(name, index),
    )
