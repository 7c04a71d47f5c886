"""What the main path of a lesson takes from side steps, which a learner may leave out: it must be nothing.

The code of side steps runs in order with all other code. So a later main step would show what a learner has not seen
being made, if it used a variable that a side step has bound, or changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import replace

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.learner_texts import Path
from attn_tutor.lessons.format.lesson import ExerciseStep, FilledStep, Lesson, RunningStep, Step, TrainStep
from attn_tutor.lessons.what_if import name_use
from attn_tutor.lessons.what_if.name_use import NameUse

REMEDY = "Let a main step make it, or give the variable of the side step another name."


def complaints(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    """Yield main steps that use variables of side steps, as path, problem and remedy."""
    if not any(step.side for step in lesson.steps):
        return
    setup = name_use.of_program(lesson.setup)
    modules, known = set(setup.imports), set(setup.binds | setup.imports)
    # The side step that has bound or changed a variable last.
    owners: dict[str, str] = {}
    for position, step in enumerate(lesson.steps):
        said: set[str] = set()
        for path, use in _uses(step, modules):
            if step.side:
                owners |= dict.fromkeys(use.binds | use.changes | (use.imports - known), step.id)
            else:
                for name in sorted(use.reads & owners.keys() - said):
                    how = "has changed" if name in known else "alone has made"
                    yield ("steps", position, *path), f"'{name}' is what the side step '{owners[name]}' {how}", REMEDY
                    said.add(name)
                for name in use.binds | use.imports:
                    owners.pop(name, None)
                known |= use.binds | use.imports
            modules |= use.imports


def _uses(step: Step, modules: Set[str]) -> Iterator[tuple[Path, NameUse]]:
    """Yield how each piece of code of a step uses the variables of the lesson, with its path in the step."""
    if isinstance(step, ExerciseStep):
        use = name_use.of_program(step.attempt, modules)
        # It runs apart from the lesson, after the answer.
        yield ("attempt",), NameUse(reads=use.reads - set(step.defines))
    for field, code in step.programs:
        yield (field,), name_use.of_program(code, modules)
    for path, expression in _expressions(step):
        yield path, NameUse(reads=name_use.of_expression(expression).reads)


def _expressions(step: Step) -> Iterator[tuple[Path, str]]:
    """Yield the expressions that a run evaluates for a step, with their paths in it."""
    if isinstance(step, RunningStep):
        yield from ((path, shown.expression) for path, shown in step.tensors_with_paths)
        yield from ((("claims", number), claim) for number, claim in enumerate(step.claims))
    if isinstance(step, TrainStep):
        for number, curve in enumerate(step.curves):
            yield ("curves", number, "expr"), curve.expr
            if curve.level is not None:
                yield ("curves", number, "level", "expr"), curve.level.expr
        yield from ((("watch", number), shown.expression) for number, shown in enumerate(step.watch))
        yield ("keep",), step.keep
    if isinstance(step, FilledStep):
        texts = {field: text.path for text in reversed(step.learner_texts) for field in _fields(text.text)}
        yield from ((texts.get(replace(field, optional=False), ()), field.expression) for field in step.fields)


def _fields(text: str) -> list[template.Field]:
    """Return the fields of a text; none if it is not a template."""
    with suppress(template.TemplateError):
        return template.fields(text)
    return []
