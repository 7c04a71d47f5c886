"""The tensors beside a step: inputs before results, those of earlier steps, and those of a flow with their axes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from attn_tutor.lessons.format import axis_labels, main_path
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.result import StepResult, Tensor


def names_read(code: str) -> frozenset[str]:
    """Return the names that code reads; none if it is not Python."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return _read(tree)


def ranks(code: str, names: Sequence[str]) -> tuple[int, ...]:
    """Return for each name how many of the others the code needs before it can make that one; 0 for all inputs.

    A statement makes the names that it assigns from those that it reads, and from what these were made of.
    """
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (0,) * len(names)
    made_of: dict[str, frozenset[str]] = {}
    for statement in body:
        read = _read(statement)
        sources = read.union(*(made_of[name] for name in read if name in made_of))
        for name in _assigned(statement):
            made_of[name] = made_of.get(name, frozenset()) | (sources - {name})
    return tuple(len(made_of.get(name, frozenset()) & (set(names) - {name})) for name in names)


def _read(tree: ast.AST) -> frozenset[str]:
    nodes = ast.walk(tree)
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _assigned(statement: ast.stmt) -> frozenset[str]:
    nodes = ast.walk(statement)
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


@dataclass(frozen=True, slots=True)
class EarlierTensor:
    """A tensor that a step has shown.

    Attributes:
        tensor: with all of its values, or with a window of them.
        where: the step, or the lesson, for people.
    """

    tensor: Tensor
    where: str


def shown_before(
    lesson: Lesson, index: int, result_of: Callable[[str], StepResult | None]
) -> tuple[EarlierTensor, ...]:
    """List the tensors that the steps behind a learner have shown, the latest first.

    Each name is listed once, and none that the step itself shows. What questions show is left out: some of it is hidden
    until they are answered.

    Args:
        lesson: the lesson.
        index: of the step.
        result_of: returns the result of a step of the lesson, None if there is none.
    """
    own = result_of(lesson.steps[index].id)
    names = {tensor.name for tensor in own.tensors} if own is not None else set()
    found: list[EarlierTensor] = []
    for step in reversed(main_path.steps_behind(lesson.steps, lesson.steps[index].id)):
        result = result_of(step.id) if step.shows_results else None
        for tensor in result.tensors if result is not None else ():
            if tensor.name not in names and _is_drawn(tensor):
                names.add(tensor.name)
                found.append(EarlierTensor(tensor, main_path.name_of(lesson.steps, step.id)))
    return tuple(found)


def emblem(lesson: Lesson, result_of: Callable[[str], StepResult | None], where: str) -> tuple[EarlierTensor, ...]:
    """Return the tensor that stands for a lesson on the map; none if the lesson has none.

    Args:
        lesson: the lesson.
        result_of: returns the result of a step of the lesson, None if there is none.
        where: what to say of where it comes from.
    """
    step, _, name = lesson.thumbnail.partition("/")
    result = result_of(step)
    tensors = result.tensors if result is not None else ()
    return tuple(EarlierTensor(tensor, where) for tensor in tensors if tensor.name == name and _is_drawn(tensor))


def _is_drawn(tensor: Tensor) -> bool:
    return tensor.size > 1 and (tensor.values is not None or tensor.window is not None)


def labeled_of_flow(lesson: Lesson, step: str, tensor: Tensor) -> Tensor:
    """Return a tensor with the names and labels of axes that the lesson gives to a tensor of its name and rank."""
    shown = axis_labels.drawn_as(lesson, step, tensor.name, len(tensor.shape), tensor.dtype)
    axes, labels = axis_labels.names_and_labels(lesson, shown, tensor.shape)
    return replace(tensor, kind=shown.kind, axes=axes, labels=labels)
