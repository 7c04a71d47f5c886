"""What a learner has to do: code that is judged by what it does, and questions about what a run will show."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from lessons.format.fields import Code, Expression, Model, OptionalCode, OptionalTemplate, Slug, Template, Text
from lessons.format.steps import BaseStep, Limits, RunningStep, ShownTensor


def _together(value: Any) -> Any:
    """One edit stands for a list of one."""
    return [value] if isinstance(value, dict) else value


class Edit(Model):
    """Code is changed: the text `find`, wherever it stands, becomes `replace`."""

    find: Text
    replace: str


Edits = Annotated[tuple[Edit, ...], BeforeValidator(_together), Field(min_length=1)]
"""Edits that are made together, in order; none is made if one of them finds nothing."""


class Mistake(Model):
    """A mistake that learners make.

    `lessons/mistakes/` holds the library of them; an exercise names those that can be made in it. A mistake is made
    in a right answer: by the first of `edits` that fits, or by writing `code` in its place.

    Attributes:
        id: under this name an answer is said to show it.
        name: in a few words, what was done: "softmax over the columns".
        seen: what it did to the learner's numbers: a template over `got`, `want` and `context`, left out where it
            cannot be filled.
        why: what is wrong about it and what is right.
        edits: ways to make it; the first that fits counts.
        code: a whole answer that shows it, in an exercise where no edit makes it.
    """

    id: Slug
    name: Text
    seen: OptionalTemplate = ""
    why: Text
    edits: tuple[Edits, ...] = ()
    code: OptionalCode = ""


class Variant(Model):
    """Another answer than the solution: `code`, or the solution with `edits` made in it."""

    name: Text
    code: OptionalCode = ""
    edits: Annotated[tuple[Edit, ...], BeforeValidator(_together)] = ()


class Check(Model):
    """One thing that an answer is judged by.

    `test` is a Python expression over `got` (what the learner's code gave), `want` (what the solution gave) and
    `context` (the hidden inputs); `fail` is the template of the message when it is not true.
    """

    name: Text
    test: Expression
    fail: Template


Hints = Annotated[tuple[Text, ...], Field(min_length=3)]


class _Asked(Model):
    """What all exercises have.

    `exercise` is their name in the course, `number` the one in the book's numbering if they have one. `hints` lead on
    step by step: a nudge, where, nearly all; `why` says, when it is solved, why that is so. Whoever solves the
    `challenge` of a lesson may pass over the rest of it.
    """

    exercise: Slug
    number: str = ""
    hints: Hints
    why: Template
    challenge: bool = False


class ExerciseStep(_Asked, BaseStep):
    """A task for the learner, and how the answer is judged.

    The judge makes hidden inputs with `context` (code that sets `context`, a dict), runs the learner's code in one
    process and the `solution` in another, puts both through `probe` (code that sets `got`, a dict), and evaluates
    `checks` where the learner's code never ran.

    Attributes:
        form: what the learner does: writes code, completes it, repairs it, makes two things agree, chooses arguments.
        defines: the names that the answer must define.
        without: modules that the answer may not import, because they hold what is to be written.
        attempt: code that calls the answer on the lesson's own values, so that a learner can look at its matrices.
        mistakes: those that are named when an answer shows them, alone or two at once.
        accepted: other right answers.
        cheats: answers that must not pass, beside those that no exercise accepts.
    """

    kind: Literal["exercise"]
    form: Literal["write", "complete", "repair", "agree", "arguments"] = "write"
    defines: Annotated[tuple[str, ...], Field(min_length=1)]
    starter: Code
    solution: Code
    without: tuple[Text, ...] = ()
    attempt: OptionalCode = ""
    context: Code
    probe: Code
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]
    mistakes: Annotated[tuple[Mistake, ...], Field(min_length=1)]
    accepted: tuple[Variant, ...] = ()
    cheats: tuple[Variant, ...] = ()
    limits: Limits = Limits()


class Wrong(Model):
    """What is said of one wrong answer: `is` (an expression) gives that answer, `why` says what led to it."""

    answer: Annotated[Expression, Field(alias="is")]
    why: Template


class _Question(_Asked, RunningStep):
    """A question about a run: `code` and `show` are there from the start, `reveal` is shown when it is answered."""

    reveal: tuple[ShownTensor, ...] = ()

    @property
    def tensors(self) -> tuple[ShownTensor, ...]:
        """All tensors that the run gives: those that are shown from the start come first."""
        return (*self.show, *self.reveal)


class Option(Model):
    """One of the answers to choose from, and why it is right or wrong."""

    text: Template
    why: Template
    right: bool = False


class ChoiceStep(_Question):
    """Multiple choice: one option is right."""

    kind: Literal["choice"]
    options: Annotated[tuple[Option, ...], Field(min_length=2, max_length=9)]

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose, self.why, *(text for option in self.options for text in (option.text, option.why)))


class PredictStep(_Question):
    """Something to predict before it is shown: a number, a shape, or an order (numbers from 1, best first).

    `answer` is an expression over the run's variables. A number is right if it is no further than `within` away.
    """

    kind: Literal["predict"]
    asks: Literal["number", "shape", "order"]
    answer: Expression
    within: Annotated[float, Field(ge=0)] = 0.00005
    wrong: tuple[Wrong, ...] = ()

    @property
    def facts(self) -> tuple[str, ...]:
        """The right answer, then the wrong ones of which something is said."""
        return (self.answer, *(item.answer for item in self.wrong))

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose, self.why, *(item.why for item in self.wrong))


class PointStep(_Question):
    """A cell to be pointed at in the shown tensor `on`. `blank` hides its numbers until then.

    `cells` is an expression that gives a tensor of the same shape, true where the right cells are; so is the `is` of
    a wrong answer.
    """

    kind: Literal["point"]
    on: Text
    cells: Expression
    blank: bool = False
    wrong: tuple[Wrong, ...] = ()

    @property
    def facts(self) -> tuple[str, ...]:
        """The right cells, then the wrong ones of which something is said."""
        return (self.cells, *(item.answer for item in self.wrong))

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose, self.why, *(item.why for item in self.wrong))


Question = ChoiceStep | PredictStep | PointStep
