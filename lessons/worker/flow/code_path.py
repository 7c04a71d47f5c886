"""The code that an operation ran in, from the outside in: statement, expression, the function called there, ..."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.worker.recording.event import Site
from attn_tutor.lessons.worker.recording.names import LONGEST
from attn_tutor.lessons.worker.recording.source_positions import Source, SourcePositions, Span, dotted

PartKind = Literal["statement", "expression", "operation"]


@dataclass(frozen=True, slots=True)
class CodePart:
    """A statement, an expression, or one of the operations that an expression runs.

    Attributes:
        span: the piece of source; None for operations that no watched code called.
        number: of an operation: how many of the same run of its expression came before it.
        op: of an operation, its name.
    """

    kind: PartKind
    span: Span | None
    number: int = 0
    op: str = ""


CodePath = tuple[CodePart, ...]


class CodePaths:
    """Finds paths and names of code; each is looked up once."""

    def __init__(self, positions: SourcePositions) -> None:
        self._positions = positions
        self._paths: dict[tuple[Site, ...], CodePath] = {}
        self._nodes: dict[Span, tuple[Site, ast.AST | None]] = {}

    def of(self, sites: tuple[Site, ...]) -> CodePath:
        """Return the path of an operation that was called from these sites, without the operation itself."""
        path = self._paths.get(sites)
        if path is None:
            path = self._paths[sites] = self._find(sites)
        return path

    def _find(self, sites: tuple[Site, ...]) -> CodePath:
        parts: list[CodePart] = []
        for site in reversed(sites):
            for kind, span in (("statement", self._statement(site)), ("expression", self._positions.span(site))):
                # A comprehension may have a frame of its own, in the same statement.
                if span is not None and all(part.span != span for part in parts):
                    parts.append(CodePart("statement" if kind == "statement" else "expression", span))
        return tuple(parts) or (CodePart("operation", None),)

    def _statement(self, site: Site) -> Span | None:
        """Return the span of the innermost statement that a site is in."""
        positions = self._positions
        span, source, node = positions.span(site), positions.source(site), positions.node(site)
        while source is not None and node is not None and not isinstance(node, ast.stmt):
            if _element_target(source, node) is not None:
                # In `a, b = f(x), g(x)` each element is a statement of its own.
                break
            node = source.parents.get(node)
        if span is None:
            return None
        if not isinstance(node, ast.expr | ast.stmt) or node.end_lineno is None or node.end_col_offset is None:
            self._nodes.setdefault(span, (site, positions.node(site)))
            return span
        found = Span(span.file, node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
        self._nodes.setdefault(found, (site, node))
        self._nodes.setdefault(span, (site, positions.node(site)))
        return found

    def name(self, part: CodePart) -> str:
        """Return the name that the source gives to the result of a piece of code; "" if it gives none."""
        if part.span is None or part.kind == "operation":
            return ""
        site, node = self._nodes[part.span]
        source = self._positions.source(site)
        element = _element_target(source, node) if source is not None and node is not None else None
        if element is not None:
            return _names(element)
        return _target(node) if isinstance(node, ast.stmt) else self._positions.assigned(site)

    def is_discarded(self, part: CodePart) -> bool:
        """Return whether a piece of code is a statement by itself, so that nothing is done with its value."""
        unit = code_unit.of_filename(part.span.file) if part.span is not None else None
        if part.span is None or (unit is not None and unit.kind == "expression"):
            return False
        site, node = self._nodes[part.span]
        source = self._positions.source(site)
        if isinstance(node, ast.expr) and source is not None:
            node = source.parents.get(node)
        return isinstance(node, ast.Expr)

    def code(self, part: CodePart) -> str:
        """Return a piece of code on one line; "" if there is none."""
        if part.span is None:
            return ""
        site, node = self._nodes[part.span]
        source = self._positions.source(site)
        if source is None or node is None:
            return ""
        if isinstance(node, ast.Return) and node.value is not None:
            node = node.value
        if isinstance(node, ast.For | ast.While | ast.If | ast.With):
            # Only the head of the statement ran an operation: what is in its body is a statement of its own.
            node = (
                node.iter
                if isinstance(node, ast.For)
                else node.items[0].context_expr
                if isinstance(node, ast.With)
                else node.test
            )
        text = source.segment(node)
        # On one line, a comment would swallow the rest.
        return ast.unparse(node) if "#" in text else text


def short(code: str) -> str:
    """Shorten code to what a box can hold."""
    return code if len(code) <= LONGEST else code[: LONGEST - 3] + "..."


def _element_target(source: Source, node: ast.AST) -> ast.expr | None:
    """Return what an element of a tuple is assigned to: `b` for `y` in `a, b = x, y`; None for any other node."""
    row = source.parents.get(node)
    statement = source.parents.get(row) if isinstance(row, ast.Tuple) else None
    if not isinstance(row, ast.Tuple) or not isinstance(statement, ast.Assign) or statement.value is not row:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Tuple) or len(target.elts) != len(row.elts) or not isinstance(node, ast.expr):
        return None
    return target.elts[row.elts.index(node)]


def _target(node: ast.stmt) -> str:
    """Return the names that a statement assigns to, without indices: `scores` for `scores[i, j] = ...`.

    A call such as `scores.masked_fill_(...)` changes what it is called on.
    """
    if isinstance(node, ast.Assign):
        return _names(node.targets[0])
    if isinstance(node, ast.AugAssign | ast.AnnAssign):
        return _names(node.target)
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
        return _names(call.func.value)
    return ""


def _names(target: ast.expr) -> str:
    if isinstance(target, ast.Tuple | ast.List):
        return ", ".join(filter(None, map(_names, target.elts)))
    while isinstance(target, ast.Subscript | ast.Starred):
        target = target.value
    return dotted(target)
