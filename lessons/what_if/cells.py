"""A cell of a tensor that the learner changes: which one, and after which statement. Pure text.

A cell is written as in code, `inputs[1,0]` or `v2.W_query.weight[0,2]`, and belongs to a step. The change is made
right after the **last** top-level statement, up to the end of that step, that binds the variable or writes into it
(`scores[i] = ...` in a loop, `+=`, or a method such as `zero_()`): after it nothing in the step would undo the change,
and everything below follows from it. What is computed earlier from the old number stays as it is, and a later
step that binds the name again starts from its own value.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from attn_tutor.lessons.format.knobs import ChangeError
from attn_tutor.lessons.format.lesson import SETUP, Lesson, ShownTensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.name_use import LOOPS, changed_names, root

say = Wording("change/cells")

Value = bool | int | float

PATH = r"[^\W\d]\w*(?:(?:\[\d+\])?\.\w+)*"
ITEM = r"(?:\[\d+\](?=\[))?"
"""An index that is not that of the cell, which follows it: `hidden[0][2,3]`."""
FORM = re.compile(
    rf"\s*(?:(?P<step>[a-z0-9-]+)\s*:)?\s*(?P<name>{PATH}{ITEM})\s*(?:\[(?P<index>[^\[\]]*)\])?\s*=(?P<value>.*)"
)
TRUTH_VALUES: dict[str, Value] = {"true": True, "false": False}
MOST_DIGITS = 40


@dataclass(frozen=True, slots=True)
class CellChange:
    """A new value for one cell of a variable, as a step leaves it.

    Attributes:
        step: the id of a step, or `setup`.
        name: a variable, or a path that starts at one: `inputs`, `attention.mask`, `wrapper.heads[0].W_query.weight`.
        index: one integer for each axis; none for a tensor that is a single number. Negative ones count from the end.
        value: the new value; a tensor of booleans takes True and False, or 1 and 0.
    """

    step: str
    name: str
    index: tuple[int, ...]
    value: Value

    def __str__(self) -> str:
        return f"{self.label} = {self.value}"

    @property
    def label(self) -> str:
        """What the cell is called on a page of its step."""
        return self.name + (f"[{','.join(map(str, self.index))}]" if self.index else "")

    @property
    def target(self) -> tuple[str, str, tuple[int, ...]]:
        """The cell, whatever its value: step, name and index."""
        return self.step, self.name, self.index


@dataclass(frozen=True, slots=True)
class StatementPosition:
    """The start of a statement: its part of the lesson (`setup` or a step), line and column.

    If it defines a function, what is meant is the moment at which that begins to run; for a variable of a loop, that at
    which a round begins.
    """

    part: str
    line: int
    column: int
    variable: str = ""
    """What the code there calls the tensor, if that is not what the learner calls it: it is in a function."""


def parse(lesson: Lesson, text: str) -> CellChange:
    """Parse `NAME[I,J]=VALUE` or `STEP:NAME[I,J]=VALUE`; without a step, the one that first binds the variable.

    Raises `ChangeError`, also for a variable that the lesson does not have.
    """
    match = FORM.fullmatch(text)
    if match is None or (match["name"].endswith("]") and lesson.variable(match["name"]) is None):
        raise ChangeError(
            say(
                "no-change",
                "'{text}' does not say which cell to change. Write it like 'inputs[1,0]=0.9' or 'STEP:weights[0,2]=0'.",
                text=_abbreviated(text),
            )
        )
    try:
        index = tuple(_integer(part) for part in (match["index"] or "").split(",") if part.strip())
    except ValueError:
        raise ChangeError(
            say(
                "no-index",
                "'[{text}]' is not an index. Write whole numbers with commas between them.",
                text=_abbreviated(match["index"]),
            )
        ) from None
    step = match["step"] or first_part_with(lesson, match["name"])
    cell = CellChange(step, match["name"], index, _value(match["value"].strip()))
    statement_before(lesson, cell)
    return cell


def variable(shown: ShownTensor) -> str | None:
    """Return the name by which cells of a shown tensor can be changed; None if it is computed and not a variable.

    Where a program shows an item of a list under its own name, that is one too.
    """
    name = shown.expression
    form = PATH if shown.name != name else rf"{PATH}(?:\[\d+\])?"
    return name if re.fullmatch(form, name) else None


def first_part_with(lesson: Lesson, name: str) -> str:
    """Return the part of the lesson that first binds the variable of a path. Raises `ChangeError` if none does."""
    for part, code in lesson.parts:
        if any(root(name) in names for _, names in statements(code)):
            return part
    raise _unknown(lesson, name)


def statement_before(lesson: Lesson, cell: CellChange) -> StatementPosition:
    """Find the statement after which a cell changes. Raises `ChangeError` if there is none, or no such step."""
    inner = lesson.variable(cell.name)
    if inner is None and not re.fullmatch(PATH, cell.name):
        raise ChangeError(
            say(
                "computed",
                "'{name}' is not a variable, so it cannot be changed. Change what it is computed from.",
                name=cell.name,
            )
        )
    try:
        parts = lesson.parts_until(cell.step)
    except KeyError:
        known = ", ".join((SETUP, *(step.id for step in lesson.steps)))
        raise ChangeError(
            say(
                "no-step",
                "Lesson '{lesson}' has no step '{step}'. Its steps are: {known}.",
                lesson=lesson.id,
                step=cell.step,
                known=known,
            )
        ) from None
    found = None
    for part, code in () if inner is not None and inner[0] else parts:
        for (line, column), names in statements(code):
            if root(cell.name) in names:
                found = StatementPosition(part, line, column)
    if found is None:
        found = _in_function(parts, cell, inner)
    if found is None:
        raise _unknown(lesson, cell.name, cell.step)
    return found


def _in_function(
    parts: Sequence[tuple[str, str]], cell: CellChange, known: tuple[str, str, int | None] | None
) -> StatementPosition | None:
    """Find the last statement of a function that binds a variable: `scores` for `Attention.forward.scores`.

    Function and variable are `known`, or found by the name. If the line is known too that named the variable, it is the
    statement there: a later one may be in a branch that was not taken. A name without its function, as that of a
    parameter, is that of the function that binds its variable last.
    """
    found, last_line = None, None
    for part, code in parts:
        for scope, (line, column), names in inner_statements(code):
            name = cell.name.removeprefix(f"{scope}.")
            named = name != cell.name or cell.name.startswith(f"{root(cell.name)}.")
            if known is not None:
                name, named, last_line = known[1], scope == known[0], known[2]
            beyond = found is not None and last_line is not None and line > last_line
            if named and root(name) in names and not beyond:
                found = StatementPosition(part, line, column, name)
    return found


@functools.lru_cache(64)
def inner_statements(code: str) -> tuple[tuple[str, tuple[int, int], frozenset[str]], ...]:
    """List the statements of functions: the function, line and column, and the variables that it binds or writes into.

    Of a statement that contains others, only these count, and the variables that a loop binds in each round. The
    definition of a function binds its arguments.
    """
    found: list[tuple[str, tuple[int, int], frozenset[str]]] = []

    def walk(body: list[ast.stmt], scope: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inside = f"{scope}.{node.name}".removeprefix(".")
                if not isinstance(node, ast.ClassDef):
                    given = (each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg))
                    found.append((inside, (node.lineno, node.col_offset), frozenset(given)))
                walk(node.body, inside)
                continue
            if scope and isinstance(node, LOOPS):
                found.append((scope, (node.lineno, node.col_offset), frozenset(changed_names(node.target))))
            bodies = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
            bodies += [handler.body for handler in getattr(node, "handlers", [])]
            for inner in bodies:
                walk(inner, scope)
            if scope and not any(bodies):
                found.append((scope, (node.lineno, node.col_offset), frozenset(changed_names(node))))

    walk(ast.parse(code).body, "")
    return tuple(found)


def _unknown(lesson: Lesson, name: str, step: str = "") -> ChangeError:
    known = dict.fromkeys(
        name
        for part, code in (lesson.parts_until(step) if step else lesson.parts)
        for _, names in statements(code)
        for name in sorted(names)
    )
    wanted = root(name)
    start = say("unknown", "There is no variable '{name}'.", name=wanted)
    if step:
        start = say("unknown-so-far", "There is no variable '{name}' up to '{step}'.", name=wanted, step=step)
    there = (
        say("known", "These exist: {names}.", names=", ".join(known))
        if known
        else say("none", "No variables exist yet.")
    )
    return ChangeError(f"{start} {there}")


def _value(text: str) -> Value:
    if text.lower() in TRUTH_VALUES:
        return TRUTH_VALUES[text.lower()]
    for kind in (_integer, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if math.isinf(value) and "inf" not in text.lower():
            raise ChangeError(
                say(
                    "beyond-largest",
                    "'{text}' is too large for a number. Write inf if you mean infinity.",
                    text=_abbreviated(text),
                )
            )
        return value
    raise ChangeError(
        say(
            "no-number",
            "'{text}' is not a number. Write a number, or one of inf, -inf, nan, true, and false.",
            text=_abbreviated(text),
        )
    )


def _integer(text: str) -> int:
    """Parse an integer of ordinary length. Raises `ValueError`."""
    if len(text) > MOST_DIGITS:
        raise ValueError
    return int(text)


def _abbreviated(text: str) -> str:
    """Shorten typed text so that it fits into a sentence."""
    text = " ".join(text.split())
    return text if len(text) <= MOST_DIGITS else text[:MOST_DIGITS] + "…"


@functools.lru_cache(256)
def statements(code: str) -> tuple[tuple[tuple[int, int], frozenset[str]], ...]:
    """List line and column of every top-level statement, and the variables that it binds or writes into."""
    return tuple(((node.lineno, node.col_offset), frozenset(changed_names(node))) for node in ast.parse(code).body)
