"""Writing the cells that the learner has changed, while a lesson runs, right after the statement that computes them.

A change that is impossible does not end the run: it becomes a sentence for the learner, in `notes`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.name_use import LOOPS, is_bound_in_rounds, root
from attn_tutor.lessons.what_if.refused_cells import not_made, why_missing
from attn_tutor.lessons.worker.message_parts import CellWrite

say = Wording("worker/cells")

PART = re.compile(r"\[(\d+)\]|\.?(\w+)")


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

WRITER = "__write_cell_{}__"
"""The name of what inserted code calls; a class does not change a name with such an end."""

MISSING: Any = object()
"""Stands for no local variable."""


class CellRefused(Exception):
    """A cell that cannot be changed; the message says why."""


class CellWriter:
    """A writer of changed cells into the namespace of a run.

    `take_notes` returns sentences about cells that could not be changed.
    """

    def __init__(
        self,
        cells: Sequence[CellWrite],
        namespace: dict[str, Any],
        by_hand: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Initialize; what is written meanwhile in the context `by_hand` counts as set by the learner."""
        self._cells = cells
        self._namespace = namespace
        self._by_hand = by_hand
        self._notes: list[tuple[int, str]] = []
        self._written: set[int] = set()

    def insert(self, unit: CodeUnit, tree: ast.Module) -> None:
        """Insert calls into functions of a unit of code, which write the cells that are due there each time."""
        places = {(cell.line, cell.column): number for number, cell in enumerate(self._cells) if cell.unit == unit}
        for statement in tree.body:
            number = places.get((statement.lineno, statement.col_offset))
            if (
                number is not None
                and not isinstance(statement, FUNCTIONS)
                and not self._is_in_rounds(statement, number)
            ):
                places.pop((statement.lineno, statement.col_offset))
        self._insert(tree, places)

    def insert_everywhere(self, tree: ast.Module) -> None:
        """Insert calls into a whole file, also outside of its functions."""
        self._insert(tree, {(cell.line, cell.column): number for number, cell in enumerate(self._cells)})

    def _insert(self, tree: ast.Module, places: Mapping[tuple[int, int], int]) -> None:
        for node in list(ast.walk(tree)) if places else ():
            if isinstance(node, FUNCTIONS) and (number := places.get((node.lineno, node.col_offset))) is not None:
                # An argument is changed as soon as the function begins, after its docstring.
                node.body.insert(int(ast.get_docstring(node) is not None), self._call(number, node.body[0]))
            bodies = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
            for body in (each for each in bodies if isinstance(each, list)):
                for position, statement in reversed(list(enumerate(body))):
                    number = places.get((statement.lineno, statement.col_offset))
                    if number is None or isinstance(statement, FUNCTIONS):
                        continue
                    if isinstance(statement, LOOPS) and self._is_in_rounds(statement, number):
                        statement.body.insert(0, self._call(number, statement.body[0]))
                    else:
                        body.insert(position + 1, self._call(number, statement))

    def _is_in_rounds(self, statement: ast.stmt, number: int) -> bool:
        """Return whether a cell is of a variable that a loop binds in each round."""
        return is_bound_in_rounds(statement, root(self._cells[number].name))

    def _call(self, number: int, statement: ast.stmt) -> ast.stmt:
        """Return a statement that writes a cell after another statement."""
        writer = WRITER.format(id(self))
        self._namespace[writer] = self._write_inside
        variable = ast.Name(PART.match(self._cells[number].name)[0], ast.Load())  # type: ignore[index]
        call = ast.Call(ast.Name(writer, ast.Load()), [ast.Constant(number), variable], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), statement))

    def _write_inside(self, number: int, variable: object) -> None:
        with self._by_hand():
            self._try(number, variable)

    def apply(self, unit: CodeUnit, statement: ast.stmt) -> None:
        """Write the cells that are due after a top-level statement of a unit of code. Never raises."""
        here = (unit, statement.lineno, statement.col_offset)
        for number, cell in enumerate(self._cells) if not isinstance(statement, FUNCTIONS) else ():
            if (cell.unit, cell.line, cell.column) == here and not self._is_in_rounds(statement, number):
                with self._by_hand():
                    self._try(number)

    def _try(self, number: int, variable: object = MISSING) -> None:
        """Write a cell, or note why it cannot be written; `variable` is where its name starts, if that is a local."""
        cell = self._cells[number]
        try:
            self._write(cell, variable)
            self._written.add(number)
        except CellRefused as error:
            self._note(number, str(error))
        except BaseException as error:
            why = str(error).partition("\n")[0] or type(error).__name__
            self._note(number, say("pytorch-refuses", "PyTorch refuses it ({why})", why=why))

    def take_notes(self) -> list[str]:
        """Return the notes since the last call, and clear them."""
        # A function may run many times, with tensors of different shapes.
        notes = [note for number, note in self._notes if number not in self._written]
        self._notes = []
        return list(dict.fromkeys(notes))

    def _note(self, number: int, why: str) -> None:
        cell = self._cells[number]
        note = number, not_made(cell.name, cell.index, cell.value, why)
        if note not in self._notes:
            self._notes.append(note)

    def _write(self, cell: CellWrite, variable: object = MISSING) -> None:
        tensor = self._find(cell.name, variable)
        index = cell.index
        if not isinstance(tensor, torch.Tensor):
            raise CellRefused(_no_tensor(cell.name, tensor))
        if tensor.is_complex() and not tensor.is_conj():
            # It is shown with its parts along one more axis.
            tensor = torch.view_as_real(tensor.detach())
        if (missing := why_missing(cell.name, index, tuple(tensor.shape))) is not None:
            raise CellRefused(missing)
        if any(step == 0 and size > 1 for step, size in zip(tensor.stride(), tensor.shape, strict=True)):
            raise CellRefused(say("repeats", "{name} shows one number in several cells", name=cell.name))
        value = _fitting(cell.name, tensor.dtype, cell.value)
        # Not the tensor itself: a backward pass that needs it would refuse what has been changed since.
        tensor.data[index] = value

    def _find(self, name: str, variable: object = MISSING) -> object:
        """Return the value of a path such as `a.b[0].c`, which may start at a local variable. Raises `CellRefused`."""
        path = PART.match(name)[0]  # type: ignore[index]  # names are checked before they come here
        if variable is MISSING and path not in self._namespace:
            raise CellRefused(say("no-name", "there is no {name}", name=path))
        found: Any = self._namespace[path] if variable is MISSING else variable
        for match in PART.finditer(name, len(path)):
            item, attribute = match.groups()
            try:
                found = getattr(found, attribute) if attribute else found[int(item)]
            except (KeyError, AttributeError, IndexError, TypeError):
                part = match[0].removeprefix(".")
                raise CellRefused(say("no-part", "{name} has no {part}", name=path, part=part)) from None
            path += match[0]
        return found


def _no_tensor(name: str, value: object) -> str:
    """Say what a value is that should be a tensor."""
    if value is None:
        return say("none", "{name} is None, not a tensor", name=name)
    if type(value) in (int, float):
        return say("number", "{name} is a number, not a tensor", name=name)
    if type(value) is bool:
        return say("truth-value", "{name} is a truth value, not a tensor", name=name)
    if type(value) is list:
        return say("list", "{name} is a list, not a tensor", name=name)
    if type(value) is tuple:
        return say("tuple", "{name} is a tuple, not a tensor", name=name)
    return say("other-type", "{name} is a {type}, not a tensor", name=name, type=type(value).__name__)


def _fitting(name: str, dtype: torch.dtype, value: bool | int | float) -> bool | int | float:
    """Convert a value to what a tensor of this dtype holds. Raises `CellRefused` if that would change its meaning."""
    if dtype == torch.bool:
        if value not in (0, 1):
            raise CellRefused(say("truth-values", "{name} holds only True and False", name=name))
        return bool(value)
    if dtype.is_floating_point or dtype.is_complex:
        largest = torch.finfo(dtype).max
        # A tensor would hold infinity instead, which the learner has not written.
        if largest < abs(value) < float("inf"):
            raise CellRefused(
                say(
                    "too-large",
                    "{name} holds numbers up to {largest:.3g}: write inf if you mean infinity",
                    name=name,
                    largest=largest,
                )
            )
        return float(value)
    bounds = torch.iinfo(dtype)
    if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
        raise CellRefused(say("whole-numbers", "{name} holds whole numbers only", name=name))
    if not bounds.min <= value <= bounds.max:
        raise CellRefused(
            say(
                "out-of-range",
                "{name} holds whole numbers from {least} to {most}",
                name=name,
                least=bounds.min,
                most=bounds.max,
            )
        )
    return int(value)
