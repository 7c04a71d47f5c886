"""The statements at the top level of a program, each with its text, and those that some of its names need."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from attn_tutor.lessons.takehome import global_names


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, with the comments above it.

    Attributes:
        node: what Python reads.
        text: its lines.
        reads, binds: its global names; those of an import are not among them.
        changes: the global names whose attributes or elements it sets.
    """

    node: ast.stmt
    text: str
    reads: frozenset[str]
    binds: frozenset[str]
    changes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Import:
    """One name that a program imports.

    Attributes:
        bound: the name that it binds, `*` for all of a module.
        target: what that is, with the names of its packages.
        module: the module that is imported from, or that is imported itself.
        name: what is imported from it; "" for the module itself.
    """

    bound: str
    target: str
    module: str
    name: str

    def statement(self, bound: str) -> str:
        """Return the statement that imports it under a name."""
        if self.name:
            return f"from {self.module} import {self.name}" + (f" as {bound}" if bound != self.name else "")
        plain = self.module if self.bound == self.target else self.module.partition(".")[0]
        if bound == plain:
            return f"import {self.module}"
        return f"import {self.target} as {bound}"


def statements(source: str) -> list[Statement]:
    """Return the statements of a program, but for its imports and its docstring. Raises `SyntaxError`."""
    body = ast.parse(source).body
    lines = source.splitlines()
    found: list[Statement] = []
    end = 0
    for number, node in enumerate(body):
        start, end_before = _first_line(node) - 1, end
        end = node.end_lineno or node.lineno
        if isinstance(node, ast.Import | ast.ImportFrom) or (number == 0 and _is_docstring(node)):
            continue
        # What stands in one line with other code has no lines of its own.
        shares = start < end_before or (number + 1 < len(body) and _first_line(body[number + 1]) <= end)
        text = (
            ast.unparse(node) if shares else "\n".join([*_comments_above(lines, end_before, start), *lines[start:end]])
        )
        names = global_names.of_statement(node)
        found.append(Statement(node, text, names.reads, names.binds, frozenset(_changes(node))))
    return found


def imports(source: str) -> list[Import]:
    """Return what a program imports at its top level, in order. Raises `SyntaxError`."""
    return [each for node in ast.parse(source).body for each in _imports_of(node)]


def inner_imports(source: str) -> list[Import]:
    """Return what the functions and classes of a program import. Raises `SyntaxError`."""
    body = ast.parse(source).body
    top = {id(node) for node in body}
    return [each for node in body for part in ast.walk(node) if id(part) not in top for each in _imports_of(part)]


def needed(found: list[Statement], names: Iterable[str]) -> list[Statement]:
    """Return the statements that names depend on, in order: not those that only try out what they define."""
    wanted = set(names)
    kept = set[int]()
    while True:
        new = {
            number
            for number, each in enumerate(found)
            if number not in kept and (each.binds | each.changes) & wanted and not _only_runs(each.node)
        }
        if not new:
            return [found[number] for number in sorted(kept)]
        kept |= new
        for number in new:
            wanted |= found[number].reads


def _only_runs(node: ast.stmt) -> bool:
    """Return whether a statement is there for a program that is run, and not for one that is imported."""
    return isinstance(node, ast.If) and "__name__" in {
        part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)
    }


def _imports_of(node: ast.AST) -> Iterator[Import]:
    match node:
        case ast.Import(names):
            for each in names:
                target = each.name if each.asname else each.name.partition(".")[0]
                yield Import(each.asname or target, target, each.name, "")
        case ast.ImportFrom(module, names, level):
            source = "." * level + (module or "")
            for each in names:
                yield Import(each.asname or each.name, f"{source}.{each.name}", source, each.name)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _comments_above(lines: list[str], start: int, end: int) -> list[str]:
    """Return the comments right above a statement; those before an empty line belong to nothing."""
    first = end
    while first > start and lines[first - 1].startswith("#"):
        first -= 1
    return lines[first:end]


def _changes(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose attributes or elements a statement sets: `Layer.forward = forward`."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign(found):
            targets = found
        case ast.AugAssign() | ast.AnnAssign():
            targets = [node.target]
    for target in targets:
        if isinstance(target, ast.Attribute | ast.Subscript) and isinstance(root := _root(target), ast.Name):
            yield root.id


def _root(node: ast.expr) -> ast.expr:
    """Return what a chain of attributes and indices begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node
