"""What people call a number: the name that a source line gives its tensor, or the piece of code that made it."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from lessons.worker.record import Binding, Event, Record, Region, Site

LONGEST = 60


@dataclass(slots=True, frozen=True)
class Span:
    """A piece of source: lines from 1, columns in bytes from 0."""

    file: str
    line: int
    end_line: int
    col: int
    end_col: int


class _Source:
    """The nodes of a source file by their span, with their parents."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.nodes: dict[tuple[int, int, int, int], ast.AST] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
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
        """The text of a node, on one line."""
        return " ".join((ast.get_source_segment(self.text, node) or "").split())


class Places:
    """Sites of a record as spans, lines and syntax."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._sources: dict[str, tuple[str, _Source]] = {}

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

    def node(self, site: Site) -> ast.AST | None:
        """The node at a site."""
        span = self.span(site)
        source = self.source(span.file) if span else None
        return source.nodes.get((span.line, span.col, span.end_line, span.end_col)) if span and source else None

    def source(self, file: str) -> _Source | None:
        """The parsed source of a watched file."""
        text = self._record.sources.get(file)
        if text is None:
            return None
        known = self._sources.get(file)
        if known is None or known[0] is not text:
            known = self._sources[file] = (text, _Source(text))
        return known[1]

    def code(self, site: Site) -> str:
        """The piece of code at a site, on one line."""
        span, node = self.span(site), self.node(site)
        source = self.source(span.file) if span else None
        return source.segment(node) if source and node is not None else ""

    def line(self, site: Site) -> int | None:
        """The line of a site."""
        span = self.span(site)
        return span.line if span else None

    def assigned(self, site: Site) -> str:
        """The name that the value of this piece of code is given, if it is."""
        span, node = self.span(site), self.node(site)
        source = self.source(span.file) if span else None
        if source is None or node is None:
            return ""
        if isinstance(node, ast.AugAssign):
            return _name(node.target)
        parent = source.parents.get(node)
        if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
            return _name(parent.targets[0])
        if isinstance(parent, ast.AnnAssign | ast.NamedExpr) and parent.value is node:
            return _name(parent.target)
        if isinstance(parent, ast.Tuple):
            statement = source.parents.get(parent)
            if isinstance(statement, ast.Assign) and statement.value is parent:
                target = statement.targets[0]
                if isinstance(target, ast.Tuple) and len(target.elts) == len(parent.elts):
                    return _name(target.elts[parent.elts.index(node)])  # type: ignore[arg-type]
        return ""

    def words(self, site: Site) -> frozenset[str]:
        """Names and dotted paths that occur in the piece of code at a site."""
        node = self.node(site)
        if node is None:
            return frozenset()
        return frozenset(filter(None, (_name(item) for item in ast.walk(node))))


def _name(node: ast.AST) -> str:
    """`a` or `a.b.c` as text, nothing for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = _name(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


@dataclass(slots=True, frozen=True)
class Called:
    """A cell by name: `name` and `index`; `proper` if the code gives its tensor this name, else `name` is code."""

    name: str
    index: tuple[int, ...]
    proper: bool


class Names:
    """Finds names for elements of storages. Built once a record is complete; `update` takes in what came later."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.places = Places(record)
        self._inner: dict[int, list[Binding]] = {}
        self._seen = 0

    def update(self) -> None:
        """Name what has been recorded since the last time by the assignments in its source."""
        events = self._record.events
        for place in range(self._seen, len(events)):
            event = events[place]
            if not event.outs or not event.sites:
                continue
            later = events[place + 1] if place + 1 < len(events) else None
            if later is not None and later.sites == event.sites and later.op != event.op:
                continue  # the value of this piece of code is still being made
            name = self.places.assigned(event.sites[0])
            # `self.W_query` in a constructor: outside it is known by the name of the module.
            if name and not name.startswith("self."):
                region = event.outs[0]
                self._inner.setdefault(region.storage, []).append(Binding(event.time, name, region, False))
        self._seen = len(events)

    def of(self, storage: int, offset: int, time: int, words: frozenset[str] = frozenset()) -> Called | None:
        """What the element is called in code that names `words`, at a time; None if nothing names its storage."""
        best: tuple[tuple[bool, bool, bool, int, int], Called] | None = None
        for binding in self._bindings(storage):
            index = binding.region.find(offset)
            if index is None:
                continue
            before = binding.time <= time
            age = binding.time if before else -binding.time
            rank = (before, binding.name in words, binding.top, _extent(binding.region), age)
            if best is None or rank > best[0]:
                best = rank, Called(binding.name, index, True)
        return best[1] if best else None

    def _bindings(self, storage: int) -> Iterator[Binding]:
        yield from self._record.bindings.get(storage, ())
        yield from self._inner.get(storage, ())

    def code_of(self, event: Event) -> str:
        """The piece of code that made an unnamed tensor, in brackets if it is more than a call or a name."""
        text = self.places.code(event.sites[0]) if event.sites else ""
        node = self.places.node(event.sites[0]) if event.sites else None
        if not text or isinstance(node, ast.stmt):
            return f"({event.op.strip('_')})"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            return f"({event.op.strip('_')} in {text})"
        if len(text) > LONGEST:
            text = text[: LONGEST - 3] + "..."
        return text if isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.Subscript) else f"({text})"


def _extent(region: Region) -> int:
    """Number of different elements of a region: a broadcast view repeats some."""
    count = 1
    for length, step in zip(region.shape, region.stride, strict=True):
        count *= length if step else 1
    return count
