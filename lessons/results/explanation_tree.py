"""A tree of explanations: each number with its operands, down to the numbers that were not computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from attn_tutor.lessons.format.lesson import Lesson, ShownTensor
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion, FollowQuestion, Refusal, TensorQuestion

MOST_NODES = 20_000
MOST_TOLD = 1000
"""Numbers of a tree that somebody reads."""

MOST_OPERANDS = 200_000
"""Total number of operands in one tree. An explanation in GPT-2 has 1536, and the worker keeps them all."""

MOST_LEVELS = 200
"""Depth of a tree. A loop may compute a number in thousands of rounds, but JSON parsers reject such deep nesting."""


T = TypeVar("T")


class RecordedTensors(Protocol):
    """What answers questions about tensors: a run of a lesson, or the record of a program."""

    def ask(self, question: TensorQuestion[T]) -> T | Refusal | None:
        """Ask a question about a tensor; None if nobody is there any more to answer it."""


@dataclass(slots=True)
class Node:
    """An explanation in the tree.

    Attributes:
        explanation: what the worker says of the number.
        operands: a node for each operand that was chosen; None where the tree was cut off.
        is_too_much: whether it was cut off here because it had too many numbers, and not at its depth.
    """

    explanation: Explanation
    operands: list[Node] | None = field(default=None)
    is_too_much: bool = False


def grow(
    run: RecordedTensors,
    unit: CodeUnit,
    name: str,
    index: tuple[int, ...],
    depth: int | None = None,
    most: int = MOST_NODES,
    choose: Callable[[Explanation], Sequence[int]] | None = None,
    once: bool = False,
) -> Node | str | None:
    """Build the tree for a cell of a tensor that a unit shows, `depth` levels deep (None: down to the leaves).

    `choose` returns the positions of the operands to follow; without it, all are. With `once`, a number that several
    others were computed from is one node below all of these.
    The tree grows level by level, so the deepest levels are the ones that `most` (nodes) and `MOST_LEVELS` cut off.
    Returns a sentence instead if the cell cannot be explained, None if the worker is gone.
    """
    found = run.ask(ExplainQuestion(name, index, unit))
    if not isinstance(found, Explanation):
        return found.reason if found else None
    return grow_below(run, unit, found, depth, most, choose, once)


def grow_below(
    run: RecordedTensors,
    unit: CodeUnit,
    explanation: Explanation,
    depth: int | None = None,
    most: int = MOST_NODES,
    choose: Callable[[Explanation], Sequence[int]] | None = None,
    once: bool = False,
) -> Node | str | None:
    """Build the tree below a number that is explained already, as `grow` does."""
    root = Node(explanation)
    depth = min(depth or MOST_LEVELS, MOST_LEVELS)
    known: dict[str, Node] = {}
    todo, count, operand_count = deque([(root, 1)]), 1, len(explanation.operands)
    while todo:
        node, level = todo.popleft()
        operands = node.explanation.operands
        if choose is not None:
            operands = tuple(operands[position] for position in choose(node.explanation))
        node.is_too_much = level < depth and count + len(operands) > most
        if level >= depth or node.is_too_much:
            continue
        grown: list[Node] = []
        new: list[Node] = []
        for operand in operands:
            if once and operand.label in known:
                grown.append(known[operand.label])
                continue
            # Operands resemble each other, so the first one predicts the size of all of them.
            if operand_count > MOST_OPERANDS or (
                grown and operand_count + len(grown[0].explanation.operands) * len(operands) > MOST_OPERANDS
            ):
                node.is_too_much = True
                break
            found = run.ask(FollowQuestion(operand.ref, unit))
            if not isinstance(found, Explanation):
                return found.reason if found else None
            new.append(Node(found))
            grown.append(new[-1])
            known[operand.label] = new[-1]
            operand_count += len(found.operands)
        else:
            node.operands = grown
            todo.extend((child, level + 1) for child in new)
            count += len(new)
    return root


def walk(node: Node, level: int = 0) -> Iterator[tuple[Node, int]]:
    """Yield all nodes with their level, each node before its operands."""
    yield node, level
    for operand in node.operands or ():
        yield from walk(operand, level + 1)


def identity(node: Node) -> tuple[object, ...]:
    """Return what tells a number from others: its label and value, the operation, and the same of its operands."""
    e = node.explanation
    # As text, because NaN would not be equal to NaN.
    return e.label, repr(e.value), e.op, e.line, tuple((operand.label, repr(operand.value)) for operand in e.operands)


def covers(known: Node, node: Node) -> bool:
    """Return whether everything below a node stands below another node of the same number too.

    Where a tree has too many numbers, each of two may have operands that the other lacks.
    """
    if known is node or node.operands is None:
        return True
    operands = known.operands
    return operands is not None and len(operands) == len(node.operands) and all(map(covers, operands, node.operands))


def with_shown_tensor(lesson: Lesson, step_id: str, name: str) -> Lesson:
    """Return the lesson with a tensor added to those that a step shows; `name` may be any expression.

    A lesson whose step already shows the tensor is returned as it is. Raises `KeyError` if the step does not run code,
    `pydantic.ValidationError` if the name is not an expression.
    """
    step = {step.id: step for step in lesson.running}[step_id]
    if any(shown.name == name for shown in step.show):
        return lesson
    shown = ShownTensor(name=name, kind="vector", expr=name)
    changed = step.model_copy(update={"show": (*step.show, shown)})
    return lesson.model_copy(update={"steps": tuple(changed if item is step else item for item in lesson.steps)})
