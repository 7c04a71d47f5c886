"""Exercises: what all of them have, and those in code, which are judged by what the code computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from lessons.format.base_steps import BaseStep, Complaint, Limits
from lessons.format.fields import (
    Code,
    Expression,
    Model,
    Name,
    OptionalCode,
    OptionalExpression,
    OptionalName,
    OptionalTemplate,
    Slug,
    Template,
    Text,
)
from lessons.format.learner_texts import LearnerText


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


class MessageCase(Model):
    """A message for one case: `say` is its template, `when` the expression that must be true; the last has none."""

    when: Annotated[OptionalExpression, Field(alias="if")] = ""
    say: Template


def _as_cases(value: Any) -> Any:
    """Accept a single template for a list of one case."""
    return [{"say": value}] if isinstance(value, str) else value


class Check(Model):
    """One test of an answer.

    `test` is a Python expression over `got` (from the learner's code), `want` (from the solution) and `context` (the
    hidden inputs); `fail` is the template of the message if it is not true, or a list of cases, of which the first
    that applies is said.
    """

    name: Text
    test: Expression
    fail: Annotated[tuple[MessageCase, ...], BeforeValidator(_as_cases), Field(min_length=1)]


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
        form: the task: write code, complete it, repair it, make two things agree, choose arguments, or write one line:
            the expression for the one gap `...` of the starter. An exercise in one line is given `probe` and `checks`
            if it has none: its function is called with the context.
        defines: the names that the answer must define.
        without: modules that the answer may not import, because they contain the solution.
        attempt: code that calls the answer on the lesson's own values, so that a learner can look at its matrices.
        sample: code that calls the answer on small inputs and sets `result`. A learner who has taken the answer home
            compares that with what the model answer gave. `wave(2, 3)` is a tensor of numbers that show no pattern,
            `filled(module)` a module whose parameters have such numbers.
        mistakes: the mistakes that a verdict names if an answer shows them, alone or two at once.
        accepted: right answers that differ from the solution.
        cheats: answers that must not pass, in addition to the cheats that no exercise accepts.
    """

    noun: ClassVar[str] = "exercise"

    kind: Literal["exercise"]
    form: Literal["write", "complete", "repair", "agree", "arguments", "line"] = "write"
    defines: Annotated[tuple[Name, ...], Field(min_length=1)]
    starter: Code
    solution: Code
    without: tuple[Name, ...] = ()
    attempt: OptionalCode = ""
    sample: OptionalCode = ""
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
        if self.form == "line":
            yield from _complaints_of_gap(self.starter, self.solution)
        for number, check in enumerate(self.checks):
            for position, case in enumerate(check.fail):
                if bool(case.when) is (position == len(check.fail) - 1):
                    problem = "the last case has a condition" if case.when else "only the last case has no condition"
                    yield ("checks", number, "fail"), problem, "Give every case but the last its 'if'."

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order; the task and why the solution works may be longer."""
        texts = super().learner_texts
        return tuple(replace(text, is_task=text.path in (("prose",), ("why",))) for text in texts)


GAP = "..."
"""The gap in the starter of an exercise in one line."""


def _complaints_of_gap(starter: str, solution: str) -> Iterator[Complaint]:
    """Yield a complaint if a starter does not have one gap, or if the solution differs in more than what fills it."""
    before, gap, after = starter.partition(GAP)
    if not gap or GAP in after:
        yield ("starter",), f"a line to write needs one gap '{GAP}'", f"Write '{GAP}' once, for one expression."
    elif not (solution.startswith(before) and solution.rstrip().endswith(after.rstrip())):
        yield ("solution",), "it differs from the starter in more than its gap", "Take the starter, and fill the gap."


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
