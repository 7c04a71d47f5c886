"""Exercises: what all of them have, those in code, and experiments.

Code is judged by what it computes; an experiment, which is solved by changing a run, by what was changed and what came
of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.base_steps import BaseStep, CodeRole, Complaint, LearnerText, Limits, Path, RunningStep
from attn_tutor.lessons.format.fields import (
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


def _together(value: Any) -> Any:
    """Accept a single edit for a list of one."""
    return [value] if isinstance(value, dict) else value


class Edit(Model):
    """A change of code: every occurrence of the text `find` becomes `replace`."""

    find: Name
    """The text in the code, spaces too."""
    replace: OptionalName
    """The text that replaces it."""


Edits = Annotated[tuple[Edit, ...], BeforeValidator(_together), Field(min_length=1)]
"""Edits that are made together, in order; none is made if one of them finds nothing."""


class Mistake(Model):
    """A mistake that learners make.

    `lessons/mistakes/` is the library of mistakes; an exercise names the ones that can be made in it. The judge makes a
    mistake in a right answer, by the first of `edits` that fits, or replaces the answer by `code`.
    """

    id: Slug
    """The id by which verdicts and exercises refer to it."""
    name: Text
    """A few words for what was done: "softmax over the columns"."""
    seen: OptionalTemplate = ""
    """Its effect on the learner's numbers, over `got`, `want` and `context`; left out where it cannot be filled, and
    beside a second mistake."""
    why: Text
    """What is wrong about it, and what is right."""
    edits: tuple[Edits, ...] = ()
    """Ways to make it in the model answer; the first that fits counts."""
    code: OptionalCode = ""
    """A whole answer that shows it, for an exercise where no edit makes it."""


class Variant(Model):
    """An answer that differs from the model answer: `code`, or the model answer with `edits` made in it."""

    name: Name
    """A few words for it, which only authors read."""
    code: OptionalCode = ""
    """The whole answer."""
    edits: Annotated[tuple[Edit, ...], BeforeValidator(_together)] = ()
    """What makes it of the model answer, in place of `code`."""


class MessageCase(Model):
    """What learners read about an answer in one case."""

    when: Annotated[OptionalExpression, Field(alias="if")] = ""
    """The expression that is true in this case, over `got`, `want` and `context`. Only the last case has none."""
    say: Template
    """The message. Expressions in braces may use `got`, `want` and `context`."""


def _as_cases(value: Any) -> Any:
    """Accept a single template for a list of one case."""
    return [{"say": value}] if isinstance(value, str) else value


def _as_names(value: Any) -> Any:
    """Accept a single name for a list of one."""
    return [value] if isinstance(value, str) else value


class Check(Model):
    """One test of an answer."""

    name: Text
    """A few words for what is right if it holds: "the shape"."""
    needs: Annotated[tuple[Name, ...], BeforeValidator(_as_names)] = ()
    """The names of earlier checks that this one rests on. If one of them fails, it is not made, and says nothing."""
    test: Expression
    """An expression over `got` (from the learner's code), `want` (from the model answer) and `context`."""
    fail: Annotated[tuple[MessageCase, ...], BeforeValidator(_as_cases), Field(min_length=1)]
    """The message if it is not true, or a list of cases. Learners read the first case whose `if` holds."""


Hints = Annotated[tuple[Template, ...], Field(min_length=3)]


class BaseExercise(BaseStep):
    """The fields that all exercises have."""

    is_exercise: ClassVar[bool] = True

    exercise: Slug
    """The id of the exercise in the course, which learners type and answers are kept under: it never changes."""
    number: OptionalName = ""
    """Its number in a book, if it has one."""
    hints: Hints
    """Three or more, from a question to nearly the whole answer, without any of its lines."""
    why: Template
    """What explains the answer once it is found."""
    challenge: bool = False
    """Whether a learner who solves it may skip the rest of the lesson. Each lesson has one such exercise in code."""

    @property
    def exercise_id(self) -> str:
        """The id of the exercise in the course."""
        return self.exercise

    @property
    def exercise_number(self) -> str:
        """The number of the exercise in a book, "" if it has none."""
        return self.number

    @property
    def is_challenge(self) -> bool:
        """Whether a learner who solves it may skip the rest of the lesson."""
        return self.challenge

    @property
    def nameable(self) -> tuple[Mistake | Way, ...]:
        """What a verdict may name in an answer."""
        return ()

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
    """

    answered_in_code: ClassVar[bool] = True
    noun: ClassVar[str] = "exercise"

    kind: Literal["exercise"]
    form: Literal["write", "complete", "repair", "agree", "arguments", "line"] = "write"
    """The task: to write code, complete it, repair it, make two things agree, choose arguments, or write one line.

    With `line`, the starter has one gap `...`, and the answer fills it with an expression. Such an exercise needs
    neither `probe` nor `checks`: its function is called with the context, and the result is compared. A list `again`
    in the context holds inputs for a second call.
    """
    defines: Annotated[tuple[Name, ...], Field(min_length=1)]
    """The names that the answer has to define. The probe sees only these of it."""
    starter: Code
    """The code that the learner begins with. It does not pass."""
    solution: Code
    """The model answer."""
    without: tuple[Name, ...] = ()
    """Modules that the answer may not import, because they contain the solution."""
    attempt: OptionalCode = ""
    """Code that calls the answer on the lesson's own values, so that a learner can look at its matrices."""
    sample: OptionalCode = ""
    """Code that calls the answer on small inputs and sets `result`, for a learner who has taken the answer home.

    They compare it with what the model answer gives. `wave(2, 3)` is a tensor of numbers that show no pattern, and
    `filled(module)` a module whose parameters have such numbers.
    """
    context: Code
    """Code that makes hidden inputs: it sets `context`, a dict. `pick(3, 2, 7)` draws three sizes from 2 to 7, no two
    of which are equal.
    """
    probe: Code
    """Code that calls the answer with `context` and sets `got`, a dict with all that tells right from wrong.

    If the answer is functions, the second time is inside `torch.inference_mode()`, except if the code goes `backward`.
    """
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]
    """The tests of the answer, in order. Learners read the message of the first one that fails."""
    mistakes: Annotated[tuple[Mistake, ...], Field(min_length=1)]
    """The mistakes that a verdict names if an answer shows them: ids from the library, or all of their fields."""
    accepted: tuple[Variant, ...] = ()
    """Right answers that are spelled differently."""
    cheats: tuple[Variant, ...] = ()
    """Answers that must not pass, besides the cheats that no exercise accepts."""
    limits: Limits = Limits()
    """What the answer may take."""

    @property
    def nameable(self) -> tuple[Mistake, ...]:
        """The mistakes that a verdict may name in an answer."""
        return self.mistakes

    @property
    def scratch(self) -> tuple[str, tuple[str, ...]]:
        """Code that tries the answer on the lesson's own values, and the names that an answer defines."""
        return self.attempt, self.defines

    @property
    def message_parts(self) -> list[tuple[Path, str, bool]]:
        """What messages about an answer are made of: path, text, and whether that is a template or else code."""
        parts: list[tuple[Path, str, bool]] = []
        for number, check in enumerate(self.checks):
            for case, message in enumerate(check.fail):
                parts.append((("checks", number, "fail", case, "say"), message.say, True))
                parts.append((("checks", number, "fail", case, "if"), message.when, False))
            parts.append((("checks", number, "test"), check.test, False))
        parts += [(("mistakes", number, "seen"), mistake.seen, True) for number, mistake in enumerate(self.mistakes)]
        return [*parts, (("context",), self.context, False), (("probe",), self.probe, False)]

    @property
    def starts_with_bug(self) -> bool:
        """Whether the learner is given code with a bug, and hunts for it."""
        return self.form == "repair"

    @property
    def own_limits(self) -> Limits:
        """What the answer may take."""
        return self.limits

    @property
    def own_code(self) -> tuple[tuple[CodeRole, str], ...]:
        """The code that an answer starts from."""
        return (("starter", self.starter),)

    def complaints(self) -> Iterator[Complaint]:
        """Yield a complaint if the solution does not define all names of `defines`."""
        missing = set(self.defines) - _defined(self.solution)
        if missing:
            names = ", ".join(sorted(missing))
            yield ("solution",), f"the solution does not define {names}", "Define what 'defines' lists."
        for field, code in (("context", self.context), ("probe", self.probe)):
            name = "got" if field == "probe" else field
            if name not in _assigned(code):
                yield (field,), f"'{field}' does not set '{name}'", f"Set it to a dict, as in '{name} = {{...}}'."
        if self.form == "line":
            yield from _complaints_of_gap(self.starter, self.solution)
        earlier: set[str] = set()
        for number, check in enumerate(self.checks):
            for name in (name for name in check.needs if name not in earlier):
                yield (
                    ("checks", number, "needs"),
                    f"no earlier check is called '{name}'",
                    "Name a check above this one.",
                )
            earlier.add(check.name)
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


def _assigned(code: str) -> set[str]:
    """Return the names to which code gives a value."""
    nodes = ast.walk(ast.parse(code))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


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


class Way(Model):
    """A way in which an experiment may go: right if it reaches the goal, else a known wrong turn."""

    id: Slug
    """Its id in the step."""
    name: Text
    """A few words for what was done: "the score was lowered"."""
    right: bool = False
    """Whether it reaches what the experiment asks for."""
    changed: tuple[Name, ...] = ()
    """The knobs and variables that may be changed: it is this way only if nothing else is. Left out: any."""
    when: Annotated[OptionalExpression, Field(alias="if")] = ""
    """An expression over the variables of the changed run that has to be true. A right way needs one."""
    why: Template
    """What happened and why, which the changed run fills in."""
    proof: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Changes that go this way, for lint: `NAME = VALUE` or `NAME[I,J] = VALUE`; a semicolon joins several."""


class ExperimentStep(BaseExercise, RunningStep):
    """A task that is solved by changing a run: by knobs, words, or numbers of its tensors.

    All texts but the task are filled in by the changed run.
    """

    shows_own_flow: ClassVar[bool] = True
    noun: ClassVar[str] = "experiment"

    kind: Literal["experiment"]
    ways: Annotated[tuple[Way, ...], Field(min_length=1)]
    """What may happen. Every change runs the step again, and the first way that matches it and its effect decides."""
    otherwise: Template
    """What learners read if no way matches."""

    @property
    def nameable(self) -> tuple[Way, ...]:
        """The ways that a verdict may name."""
        return self.ways

    @property
    def templates(self) -> tuple[str, ...]:
        """The texts that every run fills in."""
        return (self.prose, *self.hints)

    @property
    def fields(self) -> tuple[template.Field, ...]:
        """Everything that a run fills in; only the fields of the task can be computed in every run."""
        texts = (self.why, self.otherwise, *(way.why for way in self.ways))
        needed = [*(field for text in texts for field in template.fields(text)), *map(self.condition, self.ways)]
        return (*super().fields, *(replace(field, optional=True) for field in dict.fromkeys(needed)))

    @staticmethod
    def condition(way: Way) -> template.Field:
        """Return the field that says whether the condition of a way holds."""
        return template.fact(f"bool({way.when or True})")

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the ways, and in the tensors that are shown."""
        yield from super().complaints()
        if not any(way.right for way in self.ways):
            yield ("ways",), "no way is right", "Give one of them 'right: true'."
        if not self.show:
            yield ("prose",), "an experiment shows nothing", "Add 'show': the learner watches its effect."
        ids = [way.id for way in self.ways]
        for number, way in enumerate(self.ways):
            if way.id in ids[:number]:
                yield ("ways", number, "id"), f"the id '{way.id}' is used by two ways", "Give one of them another id."
            if way.right and not way.when:
                yield ("ways", number), "a right way needs an effect", "Add 'if', which is true when it is reached."

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order: also what is said of each way."""
        names = (
            LearnerText(("ways", number, "name"), way.name, is_sentence=False) for number, way in enumerate(self.ways)
        )
        whys = (LearnerText(("ways", number, "why"), way.why) for number, way in enumerate(self.ways))
        return (*super().learner_texts, *names, *whys, LearnerText(("otherwise",), self.otherwise))
