"""Positions of recorded operations in watched source: lines, syntax nodes, and the names that they assign."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from dataclasses import dataclass

from attn_tutor.lessons.worker.recording.event import Site
from attn_tutor.lessons.worker.recording.record import Record


@dataclass(slots=True, frozen=True)
class SourceSpan:
    """A piece of source: lines from 1, columns in bytes from 0."""

    file: str
    line: int
    end_line: int
    col: int
    end_col: int

    def holds(self, other: SourceSpan) -> bool:
        """Return whether another piece of the same file is a part of this one, or all of it."""
        starts_within = (self.line, self.col) <= (other.line, other.col)
        return starts_within and (other.end_line, other.end_col) <= (self.end_line, self.end_col)


class Lines:
    """The lines of a source, to cut the text of syntax nodes out of.

    `ast.get_source_segment` does the same, but splits the whole source each time: 10 ms for a file of PyTorch.
    """

    def __init__(self, text: str) -> None:
        # The ends of lines that Python knows, and columns in bytes, as in the positions of nodes.
        self._lines = re.split(rb"\r\n|\r|\n", text.encode("utf-8", "surrogatepass"))

    def text(self, node: ast.AST) -> str:
        """Return the text of a node; "" for one without a position."""
        if not isinstance(node, ast.expr | ast.stmt) or node.end_lineno is None or node.end_col_offset is None:
            return ""
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        # The end first: it may be on the same line as the start.
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode()


class ParsedSource:
    """The syntax nodes of a source file by their span, with their parents."""

    def __init__(self, text: str) -> None:
        self._lines = Lines(text)
        self.nodes: dict[tuple[int, int, int, int], ast.AST] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self._segments: dict[ast.AST, str] = {}
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        todo: list[ast.AST] = [tree]
        for node in todo:
            if (
                isinstance(node, ast.expr | ast.stmt)
                and node.end_lineno is not None
                and node.end_col_offset is not None
            ):
                # An expression statement has the same span as its expression, which comes later and replaces it.
                self.nodes[*start_of(node), node.end_lineno, node.end_col_offset] = node
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                todo.append(child)

    def segment(self, node: ast.AST) -> str:
        """Return the text of a node, on one line."""
        known = self._segments.get(node)
        if known is None:
            text = self._lines.text(node)
            # On one line, a comment would swallow the rest.
            text = ast.unparse(node) if "#" in text and "\n" in text else text
            # Over several lines: no blank before a point or after a bracket, no backslash and no trailing comma.
            text = re.sub(r"\s*\n\s*\.(?=[^\W\d])", ".", text.replace("\\\n", "\n"))
            text = " ".join(text.split())
            known = re.sub(r",? ([)\]}])", r"\1", re.sub(r"([(\[{]) ", r"\1", text))
            # Each of a thousand operands asks for it.
            self._segments[node] = known
        return known


def start_of(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Return the line and column that Python gives a node when it runs: of `x⏎.sum()` those of `sum`."""
    taken = node.func if isinstance(node, ast.Call) else node
    if not isinstance(taken, ast.Attribute) or taken.end_lineno is None or taken.end_col_offset is None:
        return node.lineno, node.col_offset
    if taken.end_lineno != node.lineno:
        return taken.end_lineno, taken.end_col_offset - len(taken.attr.encode())
    return node.lineno, node.col_offset


parsed = functools.lru_cache(maxsize=64)(ParsedSource)
"""Return the `ParsedSource` of a text. Many records have the same definitions in it."""


class SourcePositions:
    """Converts sites of a record to spans, lines and syntax nodes."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._names: dict[Site, frozenset[str]] = {}

    @staticmethod
    @functools.lru_cache(maxsize=8192)
    def span(site: Site) -> SourceSpan | None:
        """Return the piece of source that a site is in; None if the interpreter does not know it."""
        code, offset = site
        found = next(itertools.islice(code.co_positions(), offset // 2, None), None)
        if found is None or None in found:
            return None
        line, end_line, col, end_col = (part or 0 for part in found)
        return SourceSpan(code.co_filename, line, end_line, col, end_col)

    def file_of(self, filename: str) -> str:
        """Return how people call a file of a program of their own: from its folder on; any other name as it is."""
        title, folder = self._record.titles.get(filename), self._record.folder
        if title is not None:
            return title
        return filename[len(folder) :] if folder and filename.startswith(folder) else filename

    def source(self, site: Site) -> ParsedSource | None:
        """Return the parsed source that a site is in; None if it is not watched."""
        text = self._record.sources.get(site[0].co_filename)
        return parsed(text) if text is not None else None

    def node(self, site: Site) -> ast.AST | None:
        """Return the syntax node at a site; None if there is none."""
        span, source = self.span(site), self.source(site)
        return source.nodes.get((span.line, span.col, span.end_line, span.end_col)) if span and source else None

    def parent(self, site: Site) -> ast.AST | None:
        """Return the syntax node that the one at a site is a part of; None if there is none."""
        source, node = self.source(site), self.node(site)
        return source.parents.get(node) if source is not None and node is not None else None

    def code(self, site: Site) -> str:
        """Return the code at a site on one line; "" if its source is not watched."""
        source, node = self.source(site), self.node(site)
        return source.segment(node) if source and node is not None else ""

    def line(self, site: Site) -> int | None:
        """Return the line of a site; None if it is unknown."""
        span = self.span(site)
        return span.line if span else None

    def assigned(self, site: Site) -> str:
        """Return the name that the value of the code at a site is assigned to; "" if there is none."""
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

    def unpacked(self, site: Site) -> tuple[str, ...]:
        """Return the names that the parts of the value of the code at a site are assigned to: `q, k = x.split(3)`."""
        node, parent = self.node(site), self.parent(site)
        if isinstance(parent, ast.Assign) and parent.value is node and not isinstance(node, ast.Tuple):
            target = parent.targets[0]
            if isinstance(target, ast.Tuple | ast.List):
                return tuple(map(dotted, target.elts))
        return ()

    def statement(self, site: Site) -> str:
        """Return the whole statement that a site is in, on one line."""
        source, node = self.source(site), self._statement(site)
        return source.segment(node) if source is not None and node is not None else ""

    def statement_line(self, site: Site) -> int | None:
        """Return the first line of the statement that a site is in; None if it is unknown."""
        node = self._statement(site)
        return node.lineno if isinstance(node, ast.stmt) else None

    def _statement(self, site: Site) -> ast.AST | None:
        source, node = self.source(site), self.node(site)
        while source is not None and isinstance(node, ast.expr):
            node = source.parents.get(node)
        return node

    def names_in(self, site: Site) -> frozenset[str]:
        """Return the names and dotted paths that occur in the code at a site."""
        found = self._names.get(site)
        if found is None:
            node = self.node(site)
            names = () if node is None else filter(None, map(dotted, ast.walk(node)))
            found = self._names[site] = frozenset(names)
        return found


def span_of(node: ast.expr, site: Site) -> SourceSpan:
    """Return the piece of source that a node in the file of a site is."""
    end_line, end_col = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return SourceSpan(site[0].co_filename, node.lineno, end_line, node.col_offset, end_col)


def dotted(node: ast.AST) -> str:
    """Return the text of a name or dotted path, `a` or `a.b.c`; "" for any other node."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""
