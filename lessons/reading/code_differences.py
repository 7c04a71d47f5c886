"""Two programs compared: their statements, which may use other names, and the smallest parts that differ."""

from __future__ import annotations

import ast
import copy
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

MOST_STATEMENTS = 300
LONGEST_TEXT = 400
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
NAME = re.compile(r"(?<![.\w\"'])[A-Za-z_]\w*")
"""A name in code that is no attribute."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, or the head of a compound one.

    Attributes:
        line, end: its first and last line, from 1.
        text: its code as Python writes it, whatever the spaces.
        owner: the name of the function around it, "" at the top level; of a function its own name.
        arguments: of a function, the names of its arguments.
    """

    line: int
    end: int
    text: str
    owner: str = ""
    arguments: tuple[str, ...] = ()


def statements_of(source: str) -> tuple[Statement, ...]:
    """Return the statements of a program in the order of its lines; none if it cannot be parsed.

    Imports, docstrings and `pass` compute nothing and are left out.
    """
    try:
        tree = ast.parse(source)
        return tuple(_statements_below(tree.body, ""))[:MOST_STATEMENTS]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _statements_below(body: Sequence[ast.AST], owner: str) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        inner = [child for name in BODIES for child in getattr(node, name, ())]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            names = tuple(item.arg for item in every)
            yield Statement(node.lineno, _end_of_head(node), _head_text(node), node.name, names)
            yield from _statements_below(node.body, node.name)
        elif inner:
            if isinstance(node, ast.stmt):
                yield Statement(node.lineno, _end_of_head(node), _head_text(node), owner)
            yield from _statements_below(inner, owner)
        elif isinstance(node, ast.stmt):
            yield Statement(node.lineno, node.end_lineno or node.lineno, ast.unparse(node)[:LONGEST_TEXT], owner)


def _end_of_head(node: ast.stmt) -> int:
    inner = [child.lineno for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
    return max(node.lineno, min(inner, default=node.lineno) - 1)


def _head_text(node: ast.stmt) -> str:
    decorators = len(getattr(node, "decorator_list", ()))
    return "\n".join(ast.unparse(node).split("\n")[: decorators + 1])[:LONGEST_TEXT]


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return code with other names; attributes and the names of arguments in calls stay as they are."""
    if not names:
        return text

    def other(match: re.Match[str]) -> str:
        rest = text[match.end() :]
        keyword = rest.startswith("=") and not rest.startswith("==")
        return match[0] if keyword else names.get(match[0], match[0])

    return NAME.sub(other, text)


def argument_names(theirs: Sequence[Statement], ours: Sequence[Statement]) -> dict[str, str]:
    """Return how they call the arguments of our functions: their name for an argument, and ours."""
    known = {item.owner: item.arguments for item in ours if item.arguments}
    return {
        one: other
        for item in theirs
        for one, other in zip(item.arguments, known.get(item.owner, ()), strict=False)
        if len(item.arguments) == len(known[item.owner])
    }


def aligned(theirs: Sequence[Statement], ours: Sequence[Statement], names: Mapping[str, str]) -> dict[int, int]:
    """Return which of their statements (an index) is which of ours, in the same order, with names exchanged."""
    return _in_common([renamed(item.text, names) for item in theirs], [item.text for item in ours])


def more_names(theirs: Sequence[Statement], ours: Sequence[Statement], names: Mapping[str, str]) -> dict[str, str]:
    """Return more of their names with ours, where statements differ in names alone that the other program lacks."""
    texts = [renamed(item.text, names) for item in theirs]
    words, known = ({word for text in side for word in NAME.findall(text)} for side in (texts, [i.text for i in ours]))
    found = dict(names)
    blanked = [NAME.sub(lambda match: match[0] if match[0] in known else "_", text) for text in texts]
    expected = [NAME.sub(lambda match: match[0] if match[0] in words else "_", item.text) for item in ours]
    for at, index in _in_common(blanked, expected).items():
        for one, other in zip(NAME.findall(texts[at]), NAME.findall(ours[index].text), strict=False):
            if one not in known and other not in words:
                found.setdefault(one, other)
    return found


def _in_common(one: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return {
        block.a + offset: block.b + offset for block in matcher.get_matching_blocks() for offset in range(block.size)
    }


STATEMENT_LISTS = ("body", "orelse", "finalbody")
ALONE = -1
"""The position of a node that is not in a list."""

INERT = (ast.Import, ast.ImportFrom, ast.Pass)
"""Statements that compute nothing."""

NodePath = tuple[tuple[str, int], ...]
"""Steps from the root of a tree to a node: a field each, and a position in its list."""


@dataclass(frozen=True)
class CodeDifference:
    """Code of one program, and what another one has in its place.

    Attributes:
        path: the way to the first of `theirs`, or to where it would be.
        theirs, ours: statements, which one of the two may lack, or one expression each.
        around: the nodes around `theirs`, outermost first.
        parts: of a statement, the expressions in it that differ, if it has any that differ by themselves.
    """

    path: NodePath
    theirs: tuple[ast.AST, ...]
    ours: tuple[ast.AST, ...]
    around: tuple[ast.AST, ...]
    parts: tuple[CodeDifference, ...] = ()

    @property
    def line(self) -> int:
        """The line of theirs; if they lack something, the last one before it."""
        if self.theirs:
            return int(getattr(self.theirs[0], "lineno", 1))
        field, position = self.path[-1]
        before = getattr(self.around[-1], field)[:position]
        return int(getattr(before[-1], "end_lineno", 1) if before else getattr(self.around[-1], "lineno", 1))

    @property
    def is_simple(self) -> bool:
        """Whether it is a single statement without others in it, the head of one, or an expression."""
        if len(self.theirs) > 1 or len(self.ours) > 1:
            return False
        compound = [type(item) for item in (*self.theirs, *self.ours) if hasattr(item, "body")]
        return not compound or (len(compound) == 2 and compound[0] is compound[1])

    @property
    def is_all_of_body(self) -> bool:
        """Whether the function or block around a simple statement of theirs has no other statement that computes."""
        body = getattr(self.around[-1], self.path[-1][0])
        others = [item for item in body if item not in self.theirs and not isinstance(item, INERT)]
        return not others and not any(hasattr(item, "body") for item in self.theirs)


def parse(source: str) -> ast.Module:
    """Parse a program without its docstrings. Raises what `ast.parse` raises."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            computing = [item for item in body if not _is_text(item)]
            body[:] = computing or [ast.Pass()]
    return tree


def _is_text(item: ast.AST) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)


def names_for(source: str, model: str) -> dict[str, str]:
    """Return the names that a program has for those of a right answer."""
    theirs, ours = statements_of(source), statements_of(model)
    found = more_names(theirs, ours, argument_names(theirs, ours))
    return {ours: theirs for theirs, ours in reversed(found.items())}


def renamed_model(source: str, model: str) -> ast.Module:
    """Return a right answer in the names of a program. Raises what `ast.parse` raises."""
    return renamed_tree(parse(model), names_for(source, model))


def renamed_tree(tree: ast.Module, names: Mapping[str, str]) -> ast.Module:
    """Give variables and arguments other names, and return the program."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
    return tree


def differences(theirs: ast.Module, ours: ast.Module) -> list[CodeDifference]:
    """Find where two programs differ, in the order of theirs."""
    return list(_of_bodies(theirs, ours, (), ()))


def _of_bodies(theirs: ast.AST, ours: ast.AST, path: NodePath, around: tuple[ast.AST, ...]) -> Iterator[CodeDifference]:
    around = (*around, theirs)
    for field in STATEMENT_LISTS:
        one, other = getattr(theirs, field, ()), getattr(ours, field, ())
        if not isinstance(one, list) or not isinstance(other, list):
            continue
        start, first = 0, 0
        for at, index in [*_pairs(one, other), (len(one), len(other))]:
            if start < at or first < index:
                yield CodeDifference((*path, (field, start)), tuple(one[start:at]), tuple(other[first:index]), around)
            if at < len(one):
                yield from _of_statements(one[at], other[index], (*path, (field, at)), around)
            start, first = at + 1, index + 1


def _pairs(theirs: Sequence[ast.stmt], ours: Sequence[ast.stmt]) -> Iterator[tuple[int, int]]:
    """Yield which statement stands for which: the same code, and between these the same kind for the same name."""
    codes = [_head(item) for item in theirs], [_head(item) for item in ours]
    for tag, start, end, first, last in difflib.SequenceMatcher(None, *codes, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(range(start, end), range(first, last), strict=True)
        elif tag == "replace":
            one, other = theirs[start:end], ours[first:last]
            if len(one) == len(other) and all(map(_is_alike, one, other)):
                yield from zip(range(start, end), range(first, last), strict=True)
                continue
            names = [_name(item) for item in one], [_name(item) for item in other]
            for block in difflib.SequenceMatcher(None, *names, autojunk=False).get_matching_blocks():
                for offset in range(block.size):
                    yield start + block.a + offset, first + block.b + offset


def _is_alike(one: ast.stmt, other: ast.stmt) -> bool:
    return type(one) is type(other) or not (hasattr(one, "body") or hasattr(other, "body"))


def _head(item: ast.stmt) -> str:
    if not hasattr(item, "body"):
        return ast.unparse(item)
    alone = copy.copy(item)
    for field in STATEMENT_LISTS:
        if getattr(item, field, None):
            setattr(alone, field, [ast.Pass()])
    return f"{type(item).__name__} {ast.unparse(alone)}"


def _name(item: ast.stmt) -> str:
    """Return what kind of statement this is and what it gives a value to."""
    if isinstance(item, ast.For):
        return "For"
    target: ast.AST | None = getattr(item, "target", None) or next(iter(getattr(item, "targets", ())), None)
    name = ast.unparse(target) if target is not None else getattr(item, "name", "")
    return f"{type(item).__name__} {name}"


def _of_statements(
    one: ast.stmt, other: ast.stmt, path: NodePath, around: tuple[ast.AST, ...]
) -> Iterator[CodeDifference]:
    """Yield the differences of two statements: of what they are themselves, and of what is in them."""
    if _head(one) != _head(other):
        parts = tuple(_of_parts(one, other, path, around) or ())
        ours = copy.copy(other)
        for field in STATEMENT_LISTS:
            if hasattr(one, field) and hasattr(ours, field):
                setattr(ours, field, getattr(one, field))
        yield CodeDifference(path, (one,), (ours,), around, parts)
    if hasattr(one, "body"):
        yield from _of_bodies(one, other, path, around)


def _of_parts(one: ast.AST, other: ast.AST, path: NodePath, around: tuple[ast.AST, ...]) -> list[CodeDifference] | None:
    """Return the smallest expressions in which two nodes differ; None if they differ in something else."""
    here = [CodeDifference(path, (one,), (other,), around)] if isinstance(one, ast.expr) else None
    if isinstance(one, ast.UnaryOp) and isinstance(one.operand, ast.Constant) and ast.dump(one) != ast.dump(other):
        return here if isinstance(other, ast.expr) else None
    if type(one) is not type(other):
        return here if isinstance(other, ast.expr) else None
    found: list[CodeDifference] = []
    for field, value in ast.iter_fields(one):
        if (field in STATEMENT_LISTS and isinstance(one, ast.stmt)) or field == "ctx":
            continue
        rival = getattr(other, field)
        values, rivals = (item if isinstance(item, list) else [item] for item in (value, rival))
        if len(values) != len(rivals):
            return here
        for index, pair in enumerate(zip(values, rivals, strict=True)):
            if not isinstance(pair[0], ast.AST) or not isinstance(pair[1], ast.AST):
                if type(pair[0]) is not type(pair[1]) or pair[0] != pair[1]:
                    return here
                continue
            step = (field, index if isinstance(value, list) else ALONE)
            parts = _of_parts(*pair, (*path, step), (*around, one))
            if parts is None:
                return here
            found += parts
    return found


def smallest(statement: CodeDifference) -> CodeDifference:
    """Return the smallest expression of a statement that contains all that differs; the statement if there is none."""
    paths = [part.path for part in statement.parts]
    if len(paths) == 1:
        return statement.parts[0]
    start = len(statement.path)
    shared = next((length for length, steps in enumerate(zip(*paths, strict=False)) if len(set(steps)) > 1), start)
    for length in range(shared, start, -1):
        one, other = statement.theirs[0], statement.ours[0]
        around = [*statement.around]
        for step in paths[0][start:length]:
            around.append(one)
            one, other = _child(one, step), _child(other, step)
        if isinstance(one, ast.expr):
            return CodeDifference(paths[0][:length], (one,), (other,), tuple(around))
    return statement


def _child(node: ast.AST, step: tuple[str, int]) -> ast.AST:
    field, position = step
    value = getattr(node, field)
    found: ast.AST = value if position == ALONE else value[position]
    return found


def replaced(program: ast.Module, chosen: Iterable[CodeDifference]) -> str:
    """Return the code of a program with what others have in place of its own."""
    tree = copy.deepcopy(program)
    # From the end, so that the positions of the others stay as they are.
    for item in sorted(chosen, key=lambda item: item.path, reverse=True):
        node: ast.AST = tree
        for step in item.path[:-1]:
            node = _child(node, step)
        field, position = item.path[-1]
        new = [copy.deepcopy(each) for each in item.ours]
        if position == ALONE:
            setattr(node, field, new[0])
            continue
        values = getattr(node, field)
        if len(new) == 1 and isinstance(new[0], ast.stmt) and len(item.theirs) == 1 and hasattr(new[0], "body"):
            # What is in it may have been replaced already.
            for body in STATEMENT_LISTS:
                if hasattr(values[position], body):
                    setattr(new[0], body, getattr(values[position], body))
        values[position : position + len(item.theirs)] = new
        if field == "body" and not values:
            values.append(ast.Pass())
    return ast.unparse(ast.fix_missing_locations(tree))
