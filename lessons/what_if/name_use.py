"""What code does to variables: which it reads, binds, and changes in place.

It needs no lesson, so the worker can ask, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from enum import Enum, auto

GROWING = ("append", "extend", "insert")
"""Methods of lists that add what a cell may be of."""

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

LOOPS = (ast.For, ast.AsyncFor)


def is_bound_in_rounds(node: ast.stmt, variable: str) -> bool:
    """Return whether a statement is a loop that binds a variable in each round, and its body leaves that as it is."""
    if not isinstance(node, LOOPS) or variable not in changed_names(node.target):
        return False
    return not any(variable in changed_names(inner) for inner in (*node.body, *node.orelse))


def root(name: str) -> str:
    """Return the variable that a path starts at: `v2` of `v2.W_query.weight`."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def changed_names(node: ast.AST) -> Iterator[str]:
    """Yield the variables that a statement binds or writes into."""
    match node:
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            yield from _variable_of(node)
        case ast.Call(func=ast.Attribute(attr=method)) if method in GROWING or (
            method.endswith("_") and not method.endswith("__")
        ):
            yield from _variable_of(node.func)
    for child in ast.iter_child_nodes(node):
        # A function, a class and a comprehension have names of their own.
        if not isinstance(node, (*SCOPES, ast.comprehension)):
            yield from changed_names(child)


def _variable_of(node: ast.AST) -> Iterator[str]:
    """Yield the variable that an expression starts from: `split` in `getattr(split, name).weight`."""
    match node:
        case ast.Name():
            yield node.id
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            yield from _variable_of(inner)
        case ast.Call(func=ast.Name(id="getattr"), args=[inner, *_]) | ast.Call(func=ast.Attribute(value=inner)):
            yield from _variable_of(inner)


@dataclass(frozen=True, slots=True)
class NameUse:
    """The names that a program uses outside of its functions, and those that these take from outside.

    Attributes:
        reads: those that it needs from before: read when it has not bound them itself.
        binds: those that it binds, but for imports.
        imports: those that it binds by an import.
        changes: those whose values it changes in place, as far as that can be seen: `x[0] = 1`, `x.add_(1)`, `out=x`.
    """

    reads: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()


def of_program(code: str, modules: Set[str] = frozenset()) -> NameUse:
    """Return how a program uses names; `modules` are those that were imported before. Raises `SyntaxError`."""
    return _collected(ast.parse(code), modules)


def of_expression(code: str) -> NameUse:
    """Return how an expression uses names. Raises `SyntaxError`."""
    return _collected(ast.parse(code.strip(), mode="eval"), frozenset())


class _Use(Enum):
    """What is done to a name. A function that is defined reads later, after all that stands below it."""

    READ, READ_LATER, BIND = auto(), auto(), auto()


def _collected(tree: ast.AST, modules: Set[str]) -> NameUse:
    imports = set(_imported(tree))
    reads, later, binds = set[str](), set[str](), set[str]()
    for use, name in _uses(tree):
        if use is _Use.BIND:
            binds.add(name)
        elif use is _Use.READ_LATER:
            later.add(name)
        elif name not in binds:
            reads.add(name)
    reads |= later - binds
    changes = _changes(tree, modules | imports)
    return NameUse(frozenset(reads - imports), frozenset(binds), frozenset(imports), frozenset(changes))


def _uses(node: ast.AST) -> Iterator[tuple[_Use, str]]:
    """Yield what is done to names, in the order in which Python does it."""
    match node:
        case ast.Name(name, ctx):
            yield _Use.BIND if isinstance(ctx, ast.Store) else _Use.READ, name
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            yield from ((_Use.READ_LATER, name) for name in sorted(_free(node)))
            if not isinstance(node, ast.Lambda):
                yield _Use.BIND, node.name
            return
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from ((_Use.READ, name) for name in sorted(_free(node)))
            return
        case ast.ExceptHandler(name=str(name)):
            yield _Use.BIND, name
    for child in _in_order(node):
        yield from _uses(child)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node in the order in which Python evaluates them."""
    match node:
        case ast.Assign(targets, value):
            yield from (value, *targets)
        case ast.AnnAssign(target, value=value):
            # Without a value nothing is bound.
            yield from (value, target) if value is not None else ()
        case ast.AugAssign(ast.Name(name) as target, value=value):
            yield from (ast.Name(name, ast.Load()), value, target)
        case ast.NamedExpr(target, value):
            yield from (value, target)
        case ast.For(target, iterable) | ast.AsyncFor(target, iterable):
            yield from (iterable, target, *node.body, *node.orelse)
        case _:
            yield from ast.iter_child_nodes(node)


def _free(scope: ast.AST) -> set[str]:
    """Return the names that code with names of its own takes from outside."""
    taken, own = set[str](), set(_imported(scope))
    for node in ast.walk(scope):
        match node:
            case ast.Name(name, ast.Load()):
                taken.add(name)
            case ast.Name(name) | ast.arg(name):
                own.add(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                own.add(name)
    return taken - own


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (each.asname or each.name.partition(".")[0] for each in node.names)


def _changes(tree: ast.AST, modules: Set[str]) -> set[str]:
    """Return the names whose values code changes in place. What a function changes is not looked at."""
    found: set[str | None] = set()
    for node in _outside_functions(tree):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                found.add(_root(node))
            case ast.Call(ast.Attribute(attr=name) as function, arguments) if name.endswith("_") and name[0] != "_":
                # `x.add_(1)` changes x, but `nn.init.zeros_(x)` does not change nn.
                root = _root(function)
                found.add(_root(arguments[0]) if root in modules and arguments else root)
        if isinstance(node, ast.Call):
            found |= {_root(keyword.value) for keyword in node.keywords if keyword.arg == "out"}
    return {name for name in found if name is not None} - modules


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _outside_functions(node)


def _root(node: ast.AST) -> str | None:
    """Return the name that a chain of attributes and indices begins with; None if it begins with none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
