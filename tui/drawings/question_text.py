"""The texts of a question: the task with its hints, how to answer, and the verdicts on the answers."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.engine.questions import answer_reading, question_facts, question_words
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ChoiceStep, FindStep, PointStep, PredictStep, Question
from attn_tutor.lessons.play.question_state import QuestionState
from attn_tutor.lessons.reading import package_source
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import StepResult, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import mention
from attn_tutor.tui.actions.key_names import short_keys
from attn_tutor.tui.render.ascii_text import in_ascii
from attn_tutor.tui.render.code_text import rich_code
from attn_tutor.tui.render.prose import rich_text

say = Wording("question/text")

BOLD, DIM = Style(bold=True), Style(dim=True)
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
        form = ""
        if self.state.is_open and isinstance(self.step, PredictStep):
            form = question_words.form(self.step, self.result)
        elif self.state.is_open and isinstance(self.step, FindStep):
            form = how_to_find(self.step)
        elif self.state.is_open and isinstance(self.step, PointStep):
            key = short_keys("question.enter")
            form = say("point", "Move the cursor to the cell in {name} and press {key}.", name=self.step.on, key=key)
        return Text(form, DIM)

    @property
    def options(self) -> tuple[tuple[str, Text, Text | None], ...]:
        """The letter and text of each option, and if it has been tried, why it is wrong."""
        step = self.step
        if not isinstance(step, ChoiceStep):
            return ()
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
        answers = self.state.answers[::-1] if not isinstance(self.step, ChoiceStep) else ()
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
            is_prose = isinstance(step, ChoiceStep)
            said = self._prose(answer) if is_prose else Text(self._listed(state.answers[-1][0]))
            text.append_text(said).append(go_on, DIM)
        text.append("\n").append_text(self._prose(question_words.why(step, self.result)))
        if isinstance(step, ChoiceStep):
            for each in question_words.choices(step, self.result):
                text.append(f"\n{self._yes if each.right else self._no} ", GOOD if each.right else BAD)
                text.append(f"{each.letter}) ").append_text(self._prose(each.text))
                text.append("  ").append_text(self._prose(each.why))
        return text

    def _prose(self, prose: str) -> Text:
        return rich_text(prose if self.unicode else in_ascii(prose))

    def _listed(self, answer: str) -> str:
        """Return an answer the way it is listed."""
        match question_facts.target_of(self.step):
            case "cell":
                return f"{question_facts.pointed_name(self.step)}[{answer}]"
            case "row":
                return f"{question_facts.pointed_name(self.step)}[{answer.rpartition(',')[0] or answer}]"
            case _:
                return answer

    @property
    def _right_answer(self) -> str:
        try:
            return question_words.answer_text(self.step, self.result)
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
    if isinstance(step, FindStep):
        if number:
            return say("numbered-find", "Find {number}: {title}", number=number, title=title)
        return say("find", "Find: {title}", title=title)
    if number:
        return say("numbered-question", "Question {number}: {title}", number=number, title=title)
    return say("question", "Question: {title}", title=title)


def how_to_find(step: FindStep) -> str:
    """Say how to point at what is to be found."""
    if step.target == "box":
        return say(
            "find-box",
            "To answer, open the flow with {flow}, choose the box, and press {point}.",
            flow=short_keys("tutor.flow"),
            point=short_keys("flow.point"),
        )
    explain, point = short_keys("question.enter"), short_keys("find.point")
    how = say("explain", "Press {explain} to explain a number.", explain=explain)
    if step.target == "row":
        to_answer = say(
            "find-row", "To answer, go to a cell of the row in {name} and press {point}.", name=step.on, point=point
        )
    else:
        to_answer = say(
            "find-cell", "To answer, go to the cell in {name} and press {point}.", name=step.on, point=point
        )
    return f"{how} {to_answer}"


def confirm(name: str, index: tuple[int, ...]) -> str:
    """Ask for a second key before a cell on which the cursor stood from the start is taken as the answer."""
    return say(
        "confirm",
        "{key} again: answer with {cell}. Arrows: another cell.",
        key=short_keys("question.enter"),
        cell=label(name, index),
    )
