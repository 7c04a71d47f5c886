"""The top level of a program: its statements, each with its text, their global names, and the code with other names.

Positions come from Python's own parser, so that the code keeps its form and its comments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Binding = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

Found = tuple[str, ast.AST]
"""A name, and the part of the code in which it stands."""


class NameNotFound(ValueError):
    """A name stands where it cannot be replaced."""


@dataclass(frozen=True, slots=True)
class GlobalNames:
    """The global names of a piece of code: those that it reads, and those that it binds other than by imports."""

    reads: frozenset[str]
    binds: frozenset[str]


def global_names_of(statement: ast.stmt) -> GlobalNames:
    """Return the global names of a statement that stands at the top level of a program."""
    reads, binds = set[str](), set[str]()
    for name, node in _names([statement], []):
        binding = isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping | Binding)
        binding = binding or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
        (binds if binding else reads).add(name)
        if isinstance(node, ast.Global):
            binds.add(name)
    return GlobalNames(frozenset(reads), frozenset(binds))


def renamed(source: str, names: Mapping[str, str]) -> str:
    """Return code in which global names are replaced by others. Raises `SyntaxError`, `NameNotFound`."""
    if not names:
        return source
    lines = source.splitlines(keepends=True)
    edits: set[tuple[int, int, str, str]] = set()
    for name, node in _names(ast.parse(source).body, []):
        if name in names:
            edits.add((*_position(node, name, lines), name, names[name]))
    for line, column, old, new in sorted(edits, reverse=True):
        text = lines[line]
        lines[line] = text[:column] + new + text[column + len(old) :]
    return "".join(lines)


def _position(node: ast.AST, name: str, lines: Sequence[str]) -> tuple[int, int]:
    """Return the line, from 0, and the column, in characters, at which a name stands in its node."""
    assert isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.pattern)
    line = node.lineno - 1
    column = len(lines[line].encode()[: node.col_offset].decode())
    if isinstance(node, ast.Name) and lines[line].startswith(name, column):
        return line, column
    if isinstance(node, Binding):
        # Decorators stand before the keyword, which is where the node begins.
        keyword = "class" if isinstance(node, ast.ClassDef) else r"(?:async\s+)?def"
        found = re.compile(rf"{keyword}\s+({re.escape(name)})\b").match(lines[line], column)
        if found is not None:
            return line, found.start(1)
    if isinstance(node, ast.Global):
        found = re.compile(rf"\b({re.escape(name)})\b").search(lines[line], column + len("global"))
        if found is not None:
            return line, found.start(1)
    raise NameNotFound(name)


# Scopes --------------------------------------------------------------------------------------------------------------


def _names(nodes: Sequence[ast.AST], local: list[set[str]]) -> Iterator[Found]:
    """Yield the global names in nodes of one scope; `local` are the names of the scopes around, innermost last."""
    for node in nodes:
        match node:
            case ast.Name(name):
                if not _is_local(name, local):
                    yield name, node
            case ast.Global(names):
                yield from ((name, node) for name in names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                yield from _of_scope(node, local)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                yield from _of_comprehension(node, local)
            case ast.Import() | ast.ImportFrom() | ast.Nonlocal():
                pass
            case _:
                for name in _bound_by_text(node):
                    if not _is_local(name, local):
                        yield name, node
                yield from _names(list(ast.iter_child_nodes(node)), local)


def _is_local(name: str, local: list[set[str]]) -> bool:
    return any(name in names for names in local)


def _of_scope(node: Scope, local: list[set[str]]) -> Iterator[Found]:
    """Yield the global names in a function, a lambda or a class; its head belongs to the scope around."""
    if not isinstance(node, ast.Lambda) and not _is_local(node.name, local):
        yield node.name, node
    types = [part for part in getattr(node, "type_params", ()) if isinstance(part, ast.AST)]
    around = [*local, {str(getattr(part, "name", "")) for part in types}] if types else local
    if isinstance(node, ast.ClassDef):
        yield from _names([*node.decorator_list, *node.bases, *node.keywords, *types], around)
        # What a class binds is seen in its body alone, and not in its methods.
        bound = _bound(node.body)
        methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
        rest = [part for part in node.body if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
        yield from _names(rest, [*around, bound])
        for method in methods:
            yield from ((name, found) for name, found in _of_scope(method, around) if found is not method)
        return
    arguments = node.args
    defaults = [each for each in (*arguments.defaults, *arguments.kw_defaults) if each is not None]
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    annotations: list[ast.AST] = [each.annotation for each in every if each.annotation is not None]
    own = {each.arg for each in every}
    if isinstance(node, ast.Lambda):
        yield from _names(defaults, around)
        yield from _names([node.body], [*around, own])
        return
    annotations += [node.returns] if node.returns is not None else []
    yield from _names([*node.decorator_list, *defaults, *annotations, *types], around)
    declared = _declared_global(node.body)
    hidden = [*around, own | _bound(node.body)]
    yield from _names(node.body, [names - declared for names in hidden])


def _of_comprehension(node: Comprehension, local: list[set[str]]) -> Iterator[Found]:
    """Yield the global names in a comprehension, whose first iterable belongs to the scope around."""
    first, *_ = node.generators
    yield from _names([first.iter], local)
    own = {
        part.id
        for generator in node.generators
        for part in ast.walk(generator.target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    parts: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for generator in node.generators:
        parts += [generator.target, *generator.ifs]
        parts += [generator.iter] if generator is not first else []
    yield from _names(parts, [*local, own])


def _bound(body: Sequence[ast.AST]) -> set[str]:
    """Return the names that the body of a function or class binds for itself."""
    found = set[str]()
    for node in _of_one_scope(body):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found.add(name)
            case ast.Import(names) | ast.ImportFrom(names=names):
                found |= {each.asname or each.name.partition(".")[0] for each in names}
            case _:
                found |= set(_bound_by_text(node))
    return found - _declared_global(body)


def _bound_by_text(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds without a node of their own."""
    match node:
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def _declared_global(body: Sequence[ast.AST]) -> set[str]:
    return {name for node in _of_one_scope(body) if isinstance(node, ast.Global) for name in node.names}


def _of_one_scope(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of a body that belong to its own scope.

    A walrus in a comprehension binds in the scope around it, so the parts of comprehensions count, but for their
    targets.
    """
    for node in body:
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                pass
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                yield from (part for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
                walrus = [part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
                yield from walrus
            case _:
                yield from _of_one_scope(list(ast.iter_child_nodes(node)))


@dataclass(frozen=True, slots=True)
class TopLevelStatement:
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


def statements(source: str) -> list[TopLevelStatement]:
    """Return the statements of a program, but for its imports and its docstring. Raises `SyntaxError`."""
    body = ast.parse(source).body
    lines = source.splitlines()
    found: list[TopLevelStatement] = []
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
        names = global_names_of(node)
        found.append(TopLevelStatement(node, text, names.reads, names.binds, frozenset(_changes(node))))
    return found


def imports(source: str) -> list[Import]:
    """Return what a program imports at its top level, in order. Raises `SyntaxError`."""
    return [each for node in ast.parse(source).body for each in _imports_of(node)]


def inner_imports(source: str) -> list[Import]:
    """Return what the functions and classes of a program import. Raises `SyntaxError`."""
    body = ast.parse(source).body
    top = {id(node) for node in body}
    return [each for node in body for part in ast.walk(node) if id(part) not in top for each in _imports_of(part)]


def needed(found: list[TopLevelStatement], names: Iterable[str]) -> list[TopLevelStatement]:
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
