"""A lesson with its knobs set, and the knobs that matter to a step. Pure text, without running anything.

All substitutions are made at once in the code as the lesson has it, so that their order does not matter; the linter
makes sure that no two knobs replace the same text. What a knob replaces is up to its kind (`lessons.format.knobs`).

A knob matters to a step if it changes something from which the results of the step are computed. A lesson is one long
program, and by its later steps it has made many variables that a step does not look at. A knob that only changes these
would do nothing that a learner could see.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from attn_tutor.lessons.format.axis_labels import LABELED_WITH_WORDS
from attn_tutor.lessons.format.knobs import (
    ChangeError,
    Knob,
    LiteralKnob,
    Rewrite,
    SeedKnob,
    Setting,
    WordsKnob,
    join_with_or,
)
from attn_tutor.lessons.format.lesson import SETUP, Lesson, ShownTensor, Step
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import name_use
from attn_tutor.lessons.what_if.name_use import NameUse

say = Wording("change/knobs")

Complaint = tuple[tuple[int | str, ...], str, str]
"""A mistake of an author: its path in the lesson file, what is wrong, and what to do about it."""


def find(lesson: Lesson, name: str) -> Knob:
    """Return the knob of that name. Raises `ChangeError`, which lists the knobs that there are."""
    try:
        return lesson.knob(name)
    except KeyError:
        names = ", ".join(knob.name for knob in lesson.knobs)
        known = say("known", "Its knobs are: {names}.", names=names) if names else say("none", "It has no knobs.")
        unknown = say("unknown", "Lesson '{lesson}' has no knob '{name}'.", lesson=lesson.id, name=name)
        raise ChangeError(f"{unknown} {known}") from None


def reaching(lesson: Lesson, step_id: str) -> tuple[Knob, ...]:
    """Return the knobs that change code which has run when a step has: of the setup, earlier steps, or its own.

    Raises `KeyError` for a step that the lesson does not have.
    """
    has_run = {SETUP, *(step.id for step in lesson.steps[: lesson.index(step_id) + 1])}
    return tuple(knob for knob in lesson.knobs if has_run & set(knob.changed_parts(lesson)))


def alter(lesson: Lesson, settings: Mapping[str, Setting]) -> Lesson:
    """Return the lesson with its knobs set. Raises `ChangeError` for a knob or a setting that does not exist."""
    rewrites: list[tuple[Knob, Rewrite]] = []
    for name, value in settings.items():
        knob = find(lesson, name)
        if (setting := knob.read(value)) != knob.initial(lesson):
            rewrites.append((knob, knob.rewrite(setting)))
    if not rewrites:
        return lesson
    tokens = next((rewrite.tokens for _, rewrite in rewrites if rewrite.tokens is not None), lesson.tokens)
    seeds: dict[str, int] = {}
    for knob, rewrite in rewrites:
        if rewrite.seed is not None:
            seeds |= dict.fromkeys(knob.changed_parts(lesson), rewrite.seed)

    def relabeled(shown: Sequence[ShownTensor]) -> tuple[ShownTensor, ...]:
        return tuple(_relabeled(tensor, lesson.tokens, tokens) for tensor in shown)

    # A step that no knob reaches keeps its seed, even if that is the lesson's.
    of_steps = {**lesson.seeds, **seeds} if SETUP in seeds else seeds
    steps = []
    for step in lesson.steps:
        update: dict[str, object] = {field: _rewritten(step.id, code, rewrites) for field, code in step.programs}
        update |= {field: relabeled(shown) for field, shown in step.tensor_fields.items()}
        if step.id in of_steps:
            update["seed"] = of_steps[step.id]
        steps.append(step.model_copy(update=update))
    return lesson.model_copy(
        update={
            "setup": _rewritten(SETUP, lesson.setup, rewrites),
            "seed": seeds.get(SETUP, lesson.seed),
            "tokens": tokens,
            "steps": tuple(steps),
        }
    )


def _rewritten(part: str, code: str, rewrites: Sequence[tuple[Knob, Rewrite]]) -> str:
    edits = sorted((*span, rewrite.code) for knob, rewrite in rewrites for span in knob.spans(part, code))
    for start, end, text in reversed(edits):
        code = code[:start] + text + code[end:]
    return code


def _relabeled(shown: ShownTensor, old: Sequence[str], new: Sequence[str]) -> ShownTensor:
    """Replace the labels of a tensor that are the old words, or these in reverse order, by the new words."""
    if new == old:
        return shown
    labels = dict(shown.labels)
    for axis, words in shown.labels.items():
        if words == tuple(old):
            labels[axis] = tuple(new)
        elif words == tuple(reversed(old)):
            labels[axis] = tuple(reversed(new))
    return shown.model_copy(update={"labels": labels})


# Mistakes of authors -----------------------------------------------------------------------------------------------


def complaints(lesson: Lesson) -> Iterator[Complaint]:
    """Yield what is wrong with the knobs of a lesson whose code is Python."""
    parts = dict(lesson.parts)
    names: set[str] = set()
    for position, knob in enumerate(lesson.knobs):
        path = ("knobs", position)
        is_repeated = knob.name in names
        if is_repeated:
            yield (*path, "name"), f"two knobs are called '{knob.name}'", "Give one of them another name."
        names.add(knob.name)
        for number, part in enumerate(knob.within):
            if part not in parts:
                known = ", ".join(parts)
                yield (*path, "in", number), f"there is no code in '{part}'", f"Use one of: {known}."
        problems = list(knob.problems(lesson, lesson.knobs[:position]))
        if not knob.changed_parts(lesson):
            problems.append(knob.unused(f" of '{join_with_or(knob.within)}'" if knob.within else ""))
        for field, problem, remedy in problems:
            yield (*path, field), problem, remedy
        if not problems and not is_repeated:
            yield from _not_python(lesson, position)
        yield from _overlaps(lesson, position)


def _not_python(lesson: Lesson, position: int) -> Iterator[Complaint]:
    """Yield the first setting of a knob with which the code is no longer Python."""
    knob = lesson.knobs[position]
    known = {code for _, code in lesson.texts}  # most code is left as it is, and that is Python
    for setting in knob.samples:
        for part, code in alter(lesson, {knob.name: setting}).texts:
            if code in known:
                continue
            try:
                compile(code, "lesson", "exec")
            except (SyntaxError, ValueError) as error:
                problem = f"with '{setting}' the code of '{part}' is not Python: {getattr(error, 'msg', error)}"
                yield ("knobs", position, knob.replaced_in), problem, "Mend the text that is put in."
                return


def _overlaps(lesson: Lesson, position: int) -> Iterator[Complaint]:
    """Yield the earlier knobs that replace some of the same text."""
    knob = lesson.knobs[position]
    for other in lesson.knobs[:position]:
        for part, code in lesson.texts:
            pairs = itertools.product(knob.spans(part, code), other.spans(part, code))
            if any(one[0] < two[1] and two[0] < one[1] for one, two in pairs):
                problem = f"'{knob.name}' and '{other.name}' change the same place in '{part}'"
                yield ("knobs", position, "name"), problem, "Let their texts not overlap."
                break


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


def relevant_to_step(lesson: Lesson, step_id: str) -> tuple[Knob, ...]:
    """Return the knobs that change what a step computes or says, as far as that can be told from its code.

    A knob is left out only if no setting changes a statement that can reach the step through variables. Raises
    `KeyError` for a step that the lesson does not have.
    """
    found, step = reaching(lesson, step_id), lesson.step(step_id)
    if not step.runs or len(step.programs) > 1:
        return found
    # A program is run as a whole, but it may have thousands of literals.
    literals = {
        knob.name for knob in found if isinstance(knob, LiteralKnob) and (knob.everywhere or step_id in knob.near)
    }
    others = [knob for knob in found if not isinstance(knob, LiteralKnob)]
    needed = _needed(lesson, step) if others else ()
    matter = literals | {knob.name for knob in others if _matters(knob, lesson, step, needed)}
    return tuple(knob for knob in found if knob.name in matter)


def _matters(knob: Knob, lesson: Lesson, step: Step, needed: Sequence[_Statement]) -> bool:
    if isinstance(knob, SeedKnob):
        seeded = knob.changed_parts(lesson)
        return any(statement.part in seeded and statement.may_draw for statement in needed)
    if isinstance(knob, WordsKnob) and _labels_with_words(step):
        return True
    settings = [setting for setting in knob.samples if setting != knob.initial(lesson)]
    altered = [alter(lesson, {knob.name: setting}) for setting in settings]
    return any(
        _needed(other, other.step(step.id)) != needed or _tensors_of(other, step) != _tensors_of(lesson, step)
        for other in altered
    )


def _labels_with_words(step: Step) -> bool:
    """Return whether axes of what the step shows have no labels of their own, and so those of the lesson's words."""
    shown = [shown for _, shown in step.tensors_with_paths]
    return any(axis in LABELED_WITH_WORDS and axis not in each.labels for each in shown for axis in each.axes)


def _tensors_of(lesson: Lesson, step: Step) -> list[ShownTensor]:
    again = lesson.step(step.id)
    return [*again.tensors]


def _needed(lesson: Lesson, step: Step) -> list[_Statement]:
    """Return the statements from which a step is computed: its own, and those that they go back to."""
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
