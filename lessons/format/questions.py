"""Questions about what a run shows: choices, predictions, and something to point at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from attn_tutor.lessons.format.base_steps import (
    Complaint,
    LearnerText,
    Option,
    Path,
    RunningStep,
    ShownTensor,
    with_paths,
)
from attn_tutor.lessons.format.exercises import BaseExercise
from attn_tutor.lessons.format.fields import Expression, Model, Name, OptionalName, Real, Template


class Wrong(Model):
    """The feedback on one wrong answer."""

    answer: Annotated[Expression, Field(alias="is")]
    """An expression for the wrong answer, over the variables of the run."""
    why: Template
    """What leads to it, and what to look at."""


def _texts_of_wrong(wrong: tuple[Wrong, ...]) -> Iterator[LearnerText]:
    for number, item in enumerate(wrong):
        yield LearnerText(("wrong", number, "why"), item.why)


def _complaints_of_wrong(facts: Sequence[str]) -> Iterator[Complaint]:
    """Yield what is wrong in the wrong answers; the first of `facts` is the right answer."""
    right_answer, *wrong = map(str.strip, facts)
    for number, answer in enumerate(wrong):
        if answer == right_answer:
            yield ("wrong", number, "is"), "this is the right answer", "Give what a learner may answer instead."
        elif answer in wrong[:number]:
            yield ("wrong", number, "is"), "this wrong answer stands here twice", "Keep one of the two."


Entry = Literal["options", "line", "cursor", "search"]
"""Where a learner answers: with one of the options, on a line, with the cursor, or at the end of a search."""


class BaseQuestion(BaseExercise, RunningStep):
    """A question about a run, whose `code` and `show` are visible from the start.

    Attributes:
        entry: where a learner answers.
    """

    entry: ClassVar[Entry]

    is_question: ClassVar[bool] = True
    noun: ClassVar[str] = "question"

    reveal: tuple[ShownTensor, ...] = ()
    """The tensors to draw once the question is answered."""

    @property
    def starting_cell(self) -> tuple[str, tuple[int, ...]] | None:
        """The tensor and the index of the number at which explaining begins; None if it is not given."""
        return None

    @property
    def is_pointed(self) -> bool:
        """Whether the learner answers by pointing."""
        return self.entry in ("cursor", "search")

    @property
    def tensors_with_paths(self) -> list[tuple[Path, ShownTensor]]:
        """All tensors that the run shows, with their paths; the ones that are visible from the start come first."""
        return [*super().tensors_with_paths, *with_paths("reveal", self.reveal)]

    @property
    def tensor_fields(self) -> dict[str, tuple[ShownTensor, ...]]:
        """All tensors that the step shows at any time, by the name of the field in the file."""
        return {**super().tensor_fields, "reveal": self.reveal}

    def is_visible(self, tensor: str, *, answered: bool) -> bool:
        """Return whether a learner may see a tensor of the run: those of `reveal` only once they have answered."""
        return any(shown.name == tensor for shown in (self.tensors if answered else self.show))


class ChoiceStep(BaseQuestion):
    """Multiple choice: one option is right."""

    entry: ClassVar[Entry] = "options"

    kind: Literal["choice"]
    options: Annotated[tuple[Option, ...], Field(min_length=2, max_length=8)]
    """The answers to choose from, two to eight. They are shown in this order."""

    @property
    def answer_form(self) -> str:
        """What an answer is."""
        return "option"

    @property
    def offered_options(self) -> tuple[Option, ...]:
        """The answers to choose from."""
        return self.options

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (
            self.prose,
            self.why,
            *self.hints,
            *(text for option in self.options for text in (option.text, option.why)),
        )

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the options, and in the tensors that are shown."""
        yield from super().complaints()
        right = sum(option.right for option in self.options)
        if right != 1:
            problem = f"{right} options are right" if right else "no option is right"
            yield ("options",), problem, "Give exactly one of them 'right: true'."
        texts = [option.text for option in self.options]
        for number, text in enumerate(texts):
            if text in texts[:number]:
                yield ("options", number, "text"), "two options say the same", "Give one of them another text."

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order: also the options, and what is said of each."""
        options = (
            text
            for number, option in enumerate(self.options)
            for text in (
                LearnerText(("options", number, "text"), option.text, is_sentence=False),
                LearnerText(("options", number, "why"), option.why),
            )
        )
        return (*super().learner_texts, *options)


class AnsweredQuestion(BaseQuestion):
    """The fields of questions whose right answer is an expression."""

    wrong: tuple[Wrong, ...] = ()
    """The wrong answers that learners tend to give, each with its own feedback."""

    @property
    def right_with_path(self) -> tuple[Path, str]:
        """The path and the expression of the right answer."""
        raise NotImplementedError

    @property
    def facts_with_paths(self) -> list[tuple[Path, str]]:
        """The right answer, then the wrong answers that have feedback, each with its path."""
        wrong = [(("wrong", number, "is"), item.answer) for number, item in enumerate(self.wrong)]
        return [self.right_with_path, *wrong]

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose, self.why, *self.hints, *(item.why for item in self.wrong))

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the wrong answers, and in the tensors that are shown."""
        yield from super().complaints()
        yield from _complaints_of_wrong(self.facts)

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order: also what is said of wrong answers."""
        return (*super().learner_texts, *_texts_of_wrong(self.wrong))


class PredictStep(AnsweredQuestion):
    """A prediction before something is shown: a number, a shape, or an order."""

    entry: ClassVar[Entry] = "line"

    kind: Literal["predict"]
    asks: Literal["number", "shape", "order"]
    """What is typed: a number, a shape such as `4, 9`, or an order (numbers from 1, best first)."""
    answer: Expression
    """An expression for the right answer, over the variables of the run: a number, a shape such as `table.shape`, or
    for an order the places, best first, such as `chances.argsort(descending=True) + 1`.
    """
    within: Annotated[Real, Field(ge=0)] = 0.00005
    """How far a number may be away and still be right."""

    @property
    def answer_form(self) -> str:
        """What an answer is."""
        return self.asks

    @property
    def right_with_path(self) -> tuple[Path, str]:
        """The path and the expression of the right answer."""
        return ("answer",), self.answer


class PointStep(AnsweredQuestion):
    """A question that is answered by pointing at a cell of a shown tensor.

    The `is` of a wrong answer is an expression for its cells.
    """

    entry: ClassVar[Entry] = "cursor"

    kind: Literal["point"]
    on: Name
    """The name of the shown tensor."""
    cells: Expression
    """An expression for a tensor of the same shape that is true at the right cells."""
    blank: bool = False
    """Whether its numbers are hidden until the question is answered."""

    @property
    def answer_form(self) -> str:
        """What an answer is."""
        return "cell"

    @property
    def right_with_path(self) -> tuple[Path, str]:
        """The path and the expression of the right answer."""
        return ("cells",), self.cells

    @property
    def pointed_at(self) -> str:
        """The name of the shown tensor."""
        return self.on

    @property
    def blank_tensor(self) -> str:
        """The name of the shown tensor if its numbers are hidden until the question is answered."""
        return self.on if self.blank else ""

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the wrong answers, in the tensors that are shown, and in which is pointed at."""
        yield from super().complaints()
        if self.on not in (names := [shown.name for shown in self.show]):
            remedy = f"Use one of: {', '.join(names)}." if names else "Add it to 'show'."
            yield ("on",), f"'{self.on}' is not shown in this step", remedy


class FindStep(AnsweredQuestion):
    """A task that is solved by explaining: to find a cell or a row of a shown tensor, or a box of the flow.

    The `is` of a wrong answer has the form of `answer`.
    """

    entry: ClassVar[Entry] = "search"
    noun: ClassVar[str] = "find"

    kind: Literal["find"]
    target: Literal["cell", "row", "box"]
    """What is to be found."""
    on: OptionalName = ""
    """The name of the shown tensor in which it is found."""
    answer: Expression
    """An expression for what is right: for a cell a tensor with the shape of `on`, true at the right cells; for a row
    one truth value for each row; for a box a list of names.
    """
    start: OptionalName = ""
    """The number at which explaining begins, such as `context[1, 0]`. Lint proves that it leads to a right cell."""

    @property
    def answer_form(self) -> str:
        """What an answer is."""
        return self.target

    @property
    def right_with_path(self) -> tuple[Path, str]:
        """The path and the expression of the right answer."""
        return ("answer",), self.answer

    @property
    def pointed_at(self) -> str:
        """The name of the shown tensor, "" if a box is to be found."""
        return self.on

    @property
    def explained_from(self) -> str:
        """The number at which explaining begins."""
        return self.start

    def own_data(self, trained: str | None) -> dict[str, object]:
        """Return what a document has of this kind of step alone."""
        return {"target": self.target, "on": self.on, "start": self.start}

    @property
    def starting_cell(self) -> tuple[str, tuple[int, ...]] | None:
        """The tensor and the index of the number at which explaining begins; None if it is not given."""
        match = STARTING_CELL.fullmatch(self.start)
        return (match["name"], tuple(map(int, match["index"].split(",")))) if match else None

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the wrong answers, in the tensors that are shown, and in what is to be found."""
        yield from super().complaints()
        names = [shown.name for shown in self.show]
        if self.target == "box" and self.on:
            yield ("on",), "a box is found in the flow, not in a tensor", "Take 'on' away."
        elif self.target != "box" and self.on not in names:
            remedy = f"Use one of: {', '.join(names)}." if names else "Add it to 'show'."
            yield ("on",), f"'{self.on}' is not shown in this step", remedy
        start = self.starting_cell
        if self.start and start is None:
            yield ("start",), f"'{self.start}' is not a cell", "Write it like 'context[1, 0]'."
        elif start is not None and start[0] not in names:
            yield ("start",), f"'{start[0]}' is not shown in this step", "Begin at a tensor that is."
        if self.target == "cell" and not self.start:
            yield ("target",), "nothing says where explaining begins", "Add 'start', such as 'context[1, 0]'."


STARTING_CELL = re.compile(r"(?P<name>[^\W\d]\w*)\[(?P<index>\s*\d+\s*(?:,\s*\d+\s*)*)\]")

Question = ChoiceStep | PredictStep | PointStep | FindStep
