"""Exercises: code that is judged by what it computes, and questions about what a run will show."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from lessons.format.base_steps import BaseStep, Complaint, Limits, RunningStep, ShownTensor, with_paths
from lessons.format.fields import (
    Code,
    Expression,
    Model,
    Name,
    OptionalCode,
    OptionalName,
    OptionalTemplate,
    Slug,
    Template,
    Text,
)
from lessons.format.learner_texts import LearnerText, Path


def _together(value: Any) -> Any:
    """Accept a single edit for a list of one."""
    return [value] if isinstance(value, dict) else value


class Edit(Model):
    """A change of code: every occurrence of the text `find` becomes `replace`."""

    find: Name
    replace: OptionalName


Edits = Annotated[tuple[Edit, ...], BeforeValidator(_together), Field(min_length=1)]
"""Edits that are made together, in order; none is made if one of them finds nothing."""


class Mistake(Model):
    """A mistake that learners make.

    `lessons/mistakes/` is the library of mistakes; an exercise names the ones that can be made in it. The judge makes a
    mistake in a right answer, by the first of `edits` that fits, or replaces the answer by `code`.

    Attributes:
        id: the id by which verdicts and exercises refer to it.
        name: a few words for what was done: "softmax over the columns".
        seen: its effect on the learner's numbers, a template over `got`, `want` and `context`; left out where it
            cannot be filled.
        why: what is wrong about it and what is right.
        edits: ways to make it; the first that fits counts.
        code: a whole answer that shows it, for an exercise where no edit makes it.
    """

    id: Slug
    name: Text
    seen: OptionalTemplate = ""
    why: Text
    edits: tuple[Edits, ...] = ()
    code: OptionalCode = ""


class Variant(Model):
    """An answer that differs from the solution: `code`, or the solution with `edits` made in it."""

    name: Name
    code: OptionalCode = ""
    edits: Annotated[tuple[Edit, ...], BeforeValidator(_together)] = ()


class Check(Model):
    """One test of an answer.

    `test` is a Python expression over `got` (from the learner's code), `want` (from the solution) and `context` (the
    hidden inputs); `fail` is the template of the message if it is not true.
    """

    name: Text
    test: Expression
    fail: Template


Hints = Annotated[tuple[Text, ...], Field(min_length=3)]


class BaseExercise(BaseStep):
    """The fields that all exercises have.

    `exercise` is its name in the course, `number` its number in the book, if it has one. `hints` go step by step from a
    nudge to nearly the whole solution; `why` explains the solution once it is found. A learner who solves the
    `challenge` of a lesson may skip the rest of it.
    """

    is_exercise: ClassVar[bool] = True

    exercise: Slug
    number: OptionalName = ""
    hints: Hints
    why: Template
    challenge: bool = False

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order, including the explanation and the hints."""
        hints = (LearnerText(("hints", number), hint) for number, hint in enumerate(self.hints))
        return (*super().learner_texts, LearnerText(("why",), self.why), *hints)


class ExerciseStep(BaseExercise):
    """A task for the learner, and how the answer is judged.

    The judge makes hidden inputs with `context` (code that sets `context`, a dict), runs the learner's code in one
    process and the `solution` in another, puts both through `probe` (code that sets `got`, a dict), and evaluates
    `checks` where the learner's code never ran.

    Attributes:
        form: the task: write code, complete it, repair it, make two things agree, or choose arguments.
        defines: the names that the answer must define.
        without: modules that the answer may not import, because they contain the solution.
        attempt: code that calls the answer on the lesson's own values, so that a learner can look at its matrices.
        mistakes: the mistakes that a verdict names if an answer shows them, alone or two at once.
        accepted: right answers that differ from the solution.
        cheats: answers that must not pass, in addition to the cheats that no exercise accepts.
    """

    noun: ClassVar[str] = "exercise"

    kind: Literal["exercise"]
    form: Literal["write", "complete", "repair", "agree", "arguments"] = "write"
    defines: Annotated[tuple[Name, ...], Field(min_length=1)]
    starter: Code
    solution: Code
    without: tuple[Name, ...] = ()
    attempt: OptionalCode = ""
    context: Code
    probe: Code
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]
    mistakes: Annotated[tuple[Mistake, ...], Field(min_length=1)]
    accepted: tuple[Variant, ...] = ()
    cheats: tuple[Variant, ...] = ()
    limits: Limits = Limits()

    def complaints(self) -> Iterator[Complaint]:
        """Yield a complaint if the solution does not define all names of `defines`."""
        missing = set(self.defines) - _defined(self.solution)
        if missing:
            names = ", ".join(sorted(missing))
            yield ("solution",), f"the solution does not define {names}", "Define what 'defines' lists."

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order; the task and why the solution works may be longer."""
        texts = super().learner_texts
        return tuple(replace(text, is_task=text.path in (("prose",), ("why",))) for text in texts)


def _defined(code: str) -> set[str]:
    """Return the names that a program binds at its top level."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set()
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        for inner in ast.walk(node) if isinstance(node, ast.Assign | ast.AnnAssign) else ():
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                names.add(inner.id)
    return names


class Wrong(Model):
    """The feedback on one wrong answer: `is` (an expression) is that answer, `why` says what led to it."""

    answer: Annotated[Expression, Field(alias="is")]
    why: Template


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


class BaseQuestion(BaseExercise, RunningStep):
    """A question about a run: `code` and `show` are visible from the start, `reveal` once it is answered."""

    noun: ClassVar[str] = "question"

    reveal: tuple[ShownTensor, ...] = ()

    @property
    def tensors_with_paths(self) -> list[tuple[Path, ShownTensor]]:
        """All tensors that the run shows, in order, each with its path in the step."""
        return [*super().tensors_with_paths, *with_paths("reveal", self.reveal)]

    @property
    def tensors(self) -> tuple[ShownTensor, ...]:
        """All tensors that the run shows; the ones that are visible from the start come first."""
        return (*self.show, *self.reveal)


class Option(Model):
    """One of the answers to choose from, and why it is right or wrong."""

    text: Template
    why: Template
    right: bool = False


class ChoiceStep(BaseQuestion):
    """Multiple choice: one option is right."""

    kind: Literal["choice"]
    options: Annotated[tuple[Option, ...], Field(min_length=2, max_length=9)]

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose, self.why, *(text for option in self.options for text in (option.text, option.why)))

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


class PredictStep(BaseQuestion):
    """A prediction before something is shown: a number, a shape, or an order (numbers from 1, best first).

    `answer` is an expression over the variables of the run. A number is right if it is at most `within` away.
    """

    kind: Literal["predict"]
    asks: Literal["number", "shape", "order"]
    answer: Expression
    within: Annotated[float, Field(ge=0)] = 0.00005
    wrong: tuple[Wrong, ...] = ()

    @property
    def facts(self) -> tuple[str, ...]:
        """The right answer, then the wrong answers that have feedback."""
        return (self.answer, *(item.answer for item in self.wrong))

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose, self.why, *(item.why for item in self.wrong))

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the wrong answers, and in the tensors that are shown."""
        yield from super().complaints()
        yield from _complaints_of_wrong(self.facts)

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order: also what is said of wrong answers."""
        return (*super().learner_texts, *_texts_of_wrong(self.wrong))


class PointStep(BaseQuestion):
    """A question that is answered by pointing at a cell of the shown tensor `on`; `blank` hides its numbers until then.

    `cells` is an expression for a tensor of the same shape that is true at the right cells; the `is` of a wrong answer
    is one for its cells.
    """

    kind: Literal["point"]
    on: Name
    cells: Expression
    blank: bool = False
    wrong: tuple[Wrong, ...] = ()

    @property
    def facts(self) -> tuple[str, ...]:
        """The right cells, then the wrong cells that have feedback."""
        return (self.cells, *(item.answer for item in self.wrong))

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose, self.why, *(item.why for item in self.wrong))

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the wrong answers, in the tensors that are shown, and in which is pointed at."""
        yield from super().complaints()
        if self.on not in (names := [shown.name for shown in self.show]):
            remedy = f"Use one of: {', '.join(names)}." if names else "Add it to 'show'."
            yield ("on",), f"'{self.on}' is not shown in this step", remedy
        yield from _complaints_of_wrong(self.facts)

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order: also what is said of wrong answers."""
        return (*super().learner_texts, *_texts_of_wrong(self.wrong))


Question = ChoiceStep | PredictStep | PointStep

Exercise = ExerciseStep | Question
"""A step that asks the learner to do something: write code, or answer a question."""
