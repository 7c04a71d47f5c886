"""Where in watched source something happened: lines, syntax, and the names that it assigns."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from dataclasses import dataclass

from lessons.worker.recording.recorder import Record, Site


@dataclass(slots=True, frozen=True)
class Span:
    """A piece of source: lines from 1, columns in bytes from 0."""

    file: str
    line: int
    end_line: int
    col: int
    end_col: int


class Source:
    """The nodes of a source file by their span, with their parents."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.nodes: dict[tuple[int, int, int, int], ast.AST] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self._segments: dict[ast.AST, str] = {}
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return
        todo: list[ast.AST] = [tree]
        for node in todo:
            if (
                isinstance(node, ast.expr | ast.stmt)
                and node.end_lineno is not None
                and node.end_col_offset is not None
            ):
                # An expression statement has the span of its expression, which comes later and stays.
                self.nodes[node.lineno, node.col_offset, node.end_lineno, node.end_col_offset] = node
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                todo.append(child)

    def segment(self, node: ast.AST) -> str:
        """Return the text of a node, on one line."""
        known = self._segments.get(node)
        if known is None:
            text = " ".join((ast.get_source_segment(self.text, node) or "").split())
            # A call over several lines: no blanks after its bracket, nor the last comma.
            known = re.sub(r",? ([)\]}])", r"\1", re.sub(r"([(\[{]) ", r"\1", text))
            # Each of a thousand operands asks for it, and every time Python would split the whole source into lines.
            self._segments[node] = known
        return known


class SourcePositions:
    """Sites of a record as spans, lines and syntax."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._sources: dict[str, tuple[str, Source]] = {}
        self._names: dict[Site, frozenset[str]] = {}

    @staticmethod
    @functools.lru_cache(maxsize=8192)
    def span(site: Site) -> Span | None:
        """The piece of source that a site is in."""
        code, offset = site
        found = next(itertools.islice(code.co_positions(), offset // 2, None), None)
        if found is None or None in found:
            return None
        line, end_line, col, end_col = (part or 0 for part in found)
        return Span(code.co_filename, line, end_line, col, end_col)

    def source(self, site: Site) -> Source | None:
        """The parsed source that a site is in, if it is watched."""
        file = site[0].co_filename
        text = self._record.sources.get(file)
        if text is None:
            return None
        known = self._sources.get(file)
        if known is None or known[0] is not text:
            known = self._sources[file] = (text, Source(text))
        return known[1]

    def node(self, site: Site) -> ast.AST | None:
        """The node at a site."""
        span, source = self.span(site), self.source(site)
        return source.nodes.get((span.line, span.col, span.end_line, span.end_col)) if span and source else None

    def code(self, site: Site) -> str:
        """The piece of code at a site, on one line."""
        source, node = self.source(site), self.node(site)
        return source.segment(node) if source and node is not None else ""

    def line(self, site: Site) -> int | None:
        """The line of a site."""
        span = self.span(site)
        return span.line if span else None

    def assigned(self, site: Site) -> str:
        """The name that the value of this piece of code is given, if it is."""
        source, node = self.source(site), self.node(site)
        if source is None or node is None:
            return ""
        if isinstance(node, ast.AugAssign):
            return dotted(node.target)
        parent = source.parents.get(node)
        if isinstance(parent, ast.Assign) and parent.value is node:
            return next(filter(None, map(dotted, parent.targets)), "")
        if isinstance(parent, ast.AnnAssign | ast.NamedExpr) and parent.value is node:
            return dotted(parent.target)
        if isinstance(parent, ast.Tuple) and isinstance(node, ast.expr):
            statement = source.parents.get(parent)
            if isinstance(statement, ast.Assign) and statement.value is parent:
                target = statement.targets[0]
                if isinstance(target, ast.Tuple) and len(target.elts) == len(parent.elts):
                    return dotted(target.elts[parent.elts.index(node)])
        return ""

    def statement(self, site: Site) -> str:
        """The whole statement that a site is in, on one line."""
        source, node = self.source(site), self.node(site)
        while source is not None and isinstance(node, ast.expr):
            node = source.parents.get(node)
        return source.segment(node) if source is not None and node is not None else ""

    def names_in(self, site: Site) -> frozenset[str]:
        """Names and dotted paths that occur in the piece of code at a site."""
        found = self._names.get(site)
        if found is None:
            node = self.node(site)
            names = () if node is None else filter(None, map(dotted, ast.walk(node)))
            found = self._names[site] = frozenset(names)
        return found


def dotted(node: ast.AST) -> str:
    """`a` or `a.b.c` as text, nothing for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""
