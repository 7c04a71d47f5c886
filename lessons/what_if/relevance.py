"""Which knobs matter to a step: those that change something from which its results are computed.

A lesson is one long program, and by its later steps it has made many variables that a step does not look at. A knob
that only changes these would do nothing that a learner could see.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from attn_tutor.lessons.format.axis_labels import LABELED_WITH_WORDS
from attn_tutor.lessons.format.knobs.knob import Knob
from attn_tutor.lessons.format.knobs.literal import LiteralKnob
from attn_tutor.lessons.format.knobs.seed import SeedKnob
from attn_tutor.lessons.format.knobs.words import WordsKnob
from attn_tutor.lessons.format.lesson import Lesson, RunningStep, ShownTensor, Step
from attn_tutor.lessons.what_if import knobs, name_use
from attn_tutor.lessons.what_if.name_use import NameUse

_DRAWS_NOTHING = """
abs all allclose any append arange argmax argmin argsort bool cat clone cumsum detach diag dim dot enumerate exp eye
flatten flip float full int item len linspace list log masked_fill matmul max mean min norm ones ones_like print range
repeat reshape round shape size softmax sort split sqrt stack std str sum tanh tensor tolist topk transpose tril triu
unsqueeze var view where zeros zeros_like zip
"""
DRAWS_NOTHING = frozenset(_DRAWS_NOTHING.split())
"""Functions and methods that draw no random numbers."""

CHANGES_OTHERS = frozenset(("backward", "eval", "load_state_dict", "requires_grad_", "step", "train", "zero_grad"))
"""Methods that change more than what they are called on: gradients, parameters, modes."""

REPLACING = (ast.Assign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
"""Statements that bind their names whatever these were before."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement at the top level of a part of the lesson, and what it does to variables.

    What it calls may draw random numbers, or change others than it is called on. If it `replaces`, what it binds has
    nothing of the earlier values of these names.
    """

    part: str
    code: str
    use: NameUse
    may_draw: bool
    changes_others: bool
    replaces: bool


def to_step(lesson: Lesson, step_id: str) -> tuple[Knob, ...]:
    """Return the knobs that change what a step computes or says, as far as that can be told from its code.

    A knob is left out only if no setting changes a statement that can reach the step through variables. Raises
    `KeyError` for a step that the lesson does not have.
    """
    found, step = knobs.reaching(lesson, step_id), lesson.step(step_id)
    if not isinstance(step, RunningStep) or len(step.programs) > 1:
        return found
    # A program is run as a whole, but it may have thousands of literals.
    literals = {
        knob.name for knob in found if isinstance(knob, LiteralKnob) and (knob.everywhere or step_id in knob.near)
    }
    others = [knob for knob in found if not isinstance(knob, LiteralKnob)]
    needed = _needed(lesson, step) if others else ()
    matter = literals | {knob.name for knob in others if _matters(knob, lesson, step, needed)}
    return tuple(knob for knob in found if knob.name in matter)


def _matters(knob: Knob, lesson: Lesson, step: RunningStep, needed: Sequence[_Statement]) -> bool:
    if isinstance(knob, SeedKnob):
        seeded = knob.changed_parts(lesson)
        return any(statement.part in seeded and statement.may_draw for statement in needed)
    if isinstance(knob, WordsKnob) and _labels_with_words(step):
        return True
    settings = [setting for setting in knob.samples if setting != knob.initial(lesson)]
    altered = [knobs.alter(lesson, {knob.name: setting}) for setting in settings]
    return any(
        _needed(other, other.step(step.id)) != needed or _tensors_of(other, step) != _tensors_of(lesson, step)
        for other in altered
    )


def _labels_with_words(step: RunningStep) -> bool:
    """Return whether axes of what the step shows have no labels of their own, and so those of the lesson's words."""
    shown = [shown for _, shown in step.tensors_with_paths]
    return any(axis in LABELED_WITH_WORDS and axis not in each.labels for each in shown for axis in each.axes)


def _tensors_of(lesson: Lesson, step: RunningStep) -> list[ShownTensor]:
    again = lesson.step(step.id)
    return [*again.tensors]


def _needed(lesson: Lesson, step: Step) -> list[_Statement]:
    """Return the statements from which a step is computed: its own, and those that they go back to."""
    assert isinstance(step, RunningStep)
    statements = list[_Statement]()
    modules = frozenset[str]()
    for part, code in lesson.parts:
        for statement in _statements(part, code, modules):
            statements.append(statement)
            modules |= statement.use.imports
        if part == step.id:
            break
    expressions = [shown.expression for _, shown in step.tensors_with_paths] + [each.expression for each in step.fields]
    wanted = {name for expression in expressions for name in _reads(expression)}
    found = []
    for statement in reversed(statements):
        needed = statement.part == step.id or statement.changes_others
        if needed or wanted & (statement.use.binds | statement.use.changes):
            found.append(statement)
            wanted -= statement.use.binds if statement.replaces else set()
            wanted |= statement.use.reads | statement.use.changes
    return found


@functools.lru_cache(1024)
def _statements(part: str, code: str, modules: frozenset[str]) -> tuple[_Statement, ...]:
    found = []
    for node in ast.parse(code).body:
        text = ast.unparse(node)
        use = name_use.of_program(text, modules)
        called = _called(node)
        may_draw = bool(called - DRAWS_NOTHING)
        if may_draw:
            # It goes on in the stream of random numbers where the statements before it in this part have left it.
            stream = {f"random numbers of {part}"}
            use = replace(use, reads=use.reads | stream, changes=use.changes | stream)
        others, replaces = bool(called & CHANGES_OTHERS), isinstance(node, REPLACING)
        found.append(_Statement(part, text, use, may_draw, others, replaces))
        modules |= use.imports
    return tuple(found)


def _called(node: ast.stmt) -> set[str]:
    """Return the names of the functions and methods that a statement calls."""
    functions = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return {each.attr if isinstance(each, ast.Attribute) else ast.unparse(each) for each in functions}


def _reads(expression: str) -> frozenset[str]:
    with suppress(SyntaxError):
        return name_use.of_expression(expression).reads
    return frozenset()
