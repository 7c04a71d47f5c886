"""Questions and finds in the dialogue: answers, hints, giving up, and what is revealed then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import replace

from attn_tutor.lessons.engine.questions import answer_forms, question_words
from attn_tutor.lessons.format.lesson import Question, Step
from attn_tutor.lessons.play.question_state import pointed_cell
from attn_tutor.lessons.play.task import QuestionModel
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import Judgement, StepResult, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.command_table import Handlers, as_typed
from attn_tutor.tui.plain.matrix_commands import drawer
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.step_dialogue import StepDialogue
from attn_tutor.tui.plain.subject import DialogueSubject
from attn_tutor.tui.plain.waiting_session import PlainState
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.render.prose import plain_lines

say = Wording("plain/question")


class QuestionDialogue(StepDialogue):
    """A question about a run, or a find."""

    _model: QuestionModel

    def __init__(self, state: PlainState, model: QuestionModel) -> None:
        super().__init__(state, model)
        self._question = model.task

    @property
    def handlers(self) -> Handlers:
        """The commands that apply at the question now."""
        return super().handlers | self._offered(
            {
                "answer": {"answer": self.answer},
                "point": {"point": self.point},
                "hint": {"hint": self.hint},
                "give-up": {"solution": self.solution},
            }
        )

    @property
    def subject(self) -> DialogueSubject:
        """What can be shown and explained: what the question shows, and what it reveals once it is answered."""
        return DialogueSubject(self._model.tensors, CodeUnit.step(self.step.id), self._model.hidden)

    @property
    def _is_answered(self) -> bool:
        return not self._model.state.is_open

    def why_not(self, word: str) -> str:
        """See `StepDialogue`."""
        if word in ("answer", "point", "hint", "solution") and not self._model.state.is_open:
            return say("is-over", "You have done this task. Type next to go on.")
        return super().why_not(word)

    def command_for(self, line: str) -> str:
        """See `StepDialogue`. A number or a shape alone is meant as the answer."""
        if re.match(r"[-+(\[.]*\d", line) and "answer" in self.handlers:
            return as_typed("answer", line)
        return super().command_for(line)

    @property
    def _hints_read(self) -> tuple[str, ...]:
        return self._model.hints_read

    @property
    def _target(self) -> str:
        on = self._question.pointed_at
        tensor = next((tensor for tensor in self.content.result.tensors if tensor.name == on), None)
        return f"{on}[{','.join('0' for _ in tensor.shape)}]" if tensor is not None else ""

    def _below(self) -> Iterator[str]:
        state, step, result = self._model.state, self._question, self.content.result
        for number in range(state.hints if state.is_open else 0):
            yield ""
            yield from self._hint_lines(self._question.hints, number)
        yield ""
        if state.is_open:
            yield from self._console.wrapped(self._form())
            return
        passed = state.phase == "passed"
        yield from self._console.wrapped(
            say("passed", "You have answered this.") if passed else say("gave-up", "You gave up on this one.")
        )
        yield from self._answer_lines(step, result)

    def _form(self) -> str:
        """Say how to answer."""
        form = answer_forms.how_to_answer(self._question, self.content.result)
        typed = say("typed", "Type the word answer before it.")
        if self._question.pointed_at:
            typed = say(
                "typed-or-pointed",
                "Type the word answer before it; or point and a cell: point {cell}",
                cell=self._target,
            )
        elif self._question.answer_form == "box":
            typed = say("typed-or-flow", "Type the word answer before it; flow lists the boxes.")
        return f"{form}. {typed}"

    def _answer_lines(self, step: Question, result: StepResult) -> Iterator[str]:
        """Yield the right answer and why it is right."""
        try:
            right = answer_forms.answer_text(step, result)
        except WorkerError as error:
            yield from self._console.wrapped(str(error))
            return
        yield from self._console.wrapped(say("right", "The answer: {answer}", answer=right))
        yield from plain_lines(question_words.why(step, result), self._console.width)

    # Answers ---------------------------------------------------------------------------------------------------------

    def answer(self, text: str) -> Iterator[str]:
        """Have an answer judged and recorded, and yield the verdict."""
        if not text:
            raise Refused(self._form())
        before = self._names_shown()
        try:
            judgement, more = self._model.answer(text)
        except WorkerError as error:
            raise Refused(str(error)) from None
        if judgement.stopped:
            yield from self._console.wrapped(judgement.message)
            return
        yield from self._verdict(judgement, before)
        yield from self._console.wrapped(more)

    def _verdict(self, judgement: Judgement, before: Set[str]) -> Iterator[str]:
        width = self._console.width
        if not judgement.passed:
            yield from self._console.wrapped(say("not-yet", "Not yet."))
            yield from plain_lines(judgement.message, width)
            return
        yield from self._console.wrapped(say("done", "Right."))
        yield from plain_lines(judgement.message, width)
        yield from self._revealed(before)

    def _names_shown(self) -> Set[str]:
        """Return the names of the tensors whose numbers can be seen."""
        return {tensor.name for tensor in self.subject.tensors} - {self.subject.hidden}

    def _revealed(self, before: Set[str]) -> Iterator[str]:
        """Yield what the end of the question has revealed; `before` are the names that were shown."""
        result = self.content.result
        revealed = tuple(tensor for tensor in self.subject.tensors if tensor.name not in before)
        shown = replace(result, stdout="", error=None, notes=(), tensors=revealed)
        yield from linear_text.result_lines(
            self.step, shown, self._console.width, answered=True, draw=drawer(self._console)
        )

    def point(self, text: str) -> Iterator[str]:
        """Answer with a cell, or with a numbered operand of the last explanation."""
        step = self._question
        on = step.pointed_at
        if step.answer_form == "box":
            if not text:
                raise Refused(say("name-box", "The answer is a box of the flow. Type point and its name."))
            yield from self.answer(text)
            return
        last = self._explaining.last
        if text.isdecimal() and last is not None:
            if not 1 <= int(text) <= len(last.operands):
                raise Refused(
                    say("no-operand", "The explanation has no number {number}.", number=text)
                    if last.operands
                    else say(
                        "no-operands",
                        "This number was computed from nothing else. To answer with it, type point alone.",
                    )
                )
            cell = pointed_cell(step, last, int(text) - 1)
        elif not text and last is not None:
            cell = pointed_cell(step, last, None)
        else:
            name = re.split(r"[\[\s]", text, maxsplit=1)[0]
            if name != on:
                raise Refused(
                    say(
                        "in", "The answer is in {name}. Point at a cell of it: point {cell}", name=on, cell=self._target
                    )
                )
            yield from self.answer(text[len(name) :].strip())
            return
        if cell is None:
            raise Refused(say("elsewhere", "That number is not in {name}, where the answer is.", name=on))
        yield from self.answer(", ".join(map(str, cell)))

    # Help ------------------------------------------------------------------------------------------------------------

    def hint(self, _: str) -> Iterator[str]:
        """Yield the next hint, or say that there are none left."""
        if not self._model.take_hint():
            yield from self._console.wrapped(
                say("no-more-hints", "There are no more hints. Type solution to give up and see the answer.")
                if self._question.hints
                else say("no-hints", "There are no hints here. Type solution to give up and see the answer.")
            )
            return
        yield from self._hint_lines(self._question.hints, self._model.state.hints - 1)

    def solution(self, _: str) -> Iterator[str]:
        """Give up, when that is asked for twice, and yield the answer."""
        before = self._names_shown()
        try:
            has_given_up = self._model.give_up()
        except WorkerError as error:
            raise Refused(str(error)) from None
        if not has_given_up:
            yield from self._console.wrapped(
                say(
                    "give-up",
                    "This gives up, which does not count as passed. Type solution again to see the answer.",
                )
            )
            return
        yield from self._answer_lines(self._question, self.content.result)
        yield from self._revealed(before)


def letters(step: Step) -> str:
    """Return the letters of the options of a step, "" if it has none."""
    return question_words.LETTERS[: len(step.offered_options)]
