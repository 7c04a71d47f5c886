"""The shape ribbon: for each line of a step's own code, the shapes of the tensors that it took and made.

Shapes of names come from the namespace, those of views (`keys.T`, `queries[0]`) from the operation that the recorder
has seen at that piece of code. A name counts only where PyTorch did something with it: `len(inputs)` took nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import torch

from lessons.worker.recording.recorder import Event, Record, Site
from lessons.worker.recording.source_positions import SourcePositions

MOST = 6
"""Tensors of one line, at most."""

LONGEST = 40
Line = dict[str, Any]
"""A line as it travels; see `lessons.results.line_shapes.of_worker`."""

Place = tuple[int, int, int, int]
"""Where a piece of code stands: line, column, end line, end column."""

_CONSUMERS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.JoinedStr)


@dataclass(frozen=True, slots=True)
class Seen:
    """A tensor in a line: `axes` says for each of its axes which one of the tensor called `base` it is."""

    name: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    base: str = ""
    dims: int = 0
    axes: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, name: str, tensor: torch.Tensor) -> Seen:
        """A tensor that has this name."""
        places = tuple(range(tensor.dim()))
        strides = tensor.stride() if tensor.layout == torch.strided else ()
        return cls(name, tuple(tensor.shape), strides, name, len(places), places)

    def view(self, name: str, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Seen:
        """A view of it. An axis is told by its stride and its size; a slice changes only sizes."""
        if strides == self.strides:
            return Seen(name, sizes, strides, self.base, self.dims, self.axes)
        left = dict(enumerate(zip(self.strides, self.sizes, strict=False)))
        axes: list[int | None] = []
        for here in zip(strides, sizes, strict=True):
            place = next((place for place, there in left.items() if there == here), None)
            axes.append(self.axes[place] if place is not None else None)
            if place is not None:
                del left[place]
        return Seen(name, sizes, strides, self.base, self.dims, tuple(axes))

    def told(self) -> dict[str, Any]:
        """As it travels."""
        axes = list(self.axes) or [None] * len(self.sizes)
        return {"name": self.name, "sizes": list(self.sizes), "base": self.base, "dims": self.dims, "axes": axes}


@dataclass(slots=True)
class _At:
    """What was recorded at a piece of code: the last operation there, and whether all were views."""

    last: Event | None = None
    views: bool = True


@dataclass(slots=True)
class _Taken:
    """The tensors that a line took, with what stands between them."""

    items: list[Seen] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)

    def add(self, item: Seen, joint: str) -> None:
        if len(self.items) < MOST:
            if self.items:
                self.joints.append(joint)
            self.items.append(item)


class ShapeCollector:
    """Collects the lines of one piece of code while it runs: `note` is to be called after each statement."""

    def __init__(self, record: Record, namespace: Mapping[str, Any], file: str, source: str) -> None:
        self.lines: list[Line] = []
        self._record, self._namespace = record, namespace
        self._file, self._source = file, source
        self._seen = len(record.events)
        self._at: dict[Place, _At] = {}
        self._places: dict[Site, Place | None] = {}
        self._before: dict[str, Seen] = {}
        self._look_at(list(namespace))

    def note(self, statement: ast.stmt) -> None:
        """Take in a statement that has just run. Never raises: no step shall fail for its ribbon."""
        try:
            self._read_events()
            self.lines += _Reader(self._at, self._namespace, self._before, self._source).lines(statement)
            # Only these: a prompt may have thousands of names.
            self._look_at(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
        except Exception:
            return

    def _look_at(self, names: Iterable[str]) -> None:
        for name in names:
            value = self._namespace.get(name)
            if isinstance(value, torch.Tensor):
                self._before[name] = Seen.of(name, value)
            else:
                self._before.pop(name, None)

    def _read_events(self) -> None:
        for event in self._record.events[self._seen :]:
            for depth, site in enumerate(event.sites):
                if site not in self._places:
                    self._places[site] = self._place(site)
                place = self._places[site]
                if place is not None:
                    at = self._at.setdefault(place, _At())
                    # What a function of the lesson computes last need not be what it returns.
                    at.last = event if depth == 0 else None
                    at.views = at.views and event.view and depth == 0
        self._seen = len(self._record.events)

    def _place(self, site: Site) -> Place | None:
        span = SourcePositions.span(site) if site[0].co_filename == self._file else None
        return (span.line, span.col, span.end_line, span.end_col) if span else None


@dataclass(slots=True)
class _Reader:
    """Reads one statement that has run.

    Attributes:
        at: what was recorded where.
        now, before: the namespace after it, and the tensors that were in it before.
        source: the code that the statement is part of.
        inside: whether it is part of a compound statement, in which names were bound before their last use.
        hidden: names that mean something else in a comprehension.
    """

    at: Mapping[Place, _At]
    now: Mapping[str, Any]
    before: Mapping[str, Seen]
    source: str
    inside: bool = False
    hidden: frozenset[str] = frozenset()

    def lines(self, statement: ast.stmt) -> Iterator[Line]:
        """The statement and those in it, in order; nothing for what touches no tensor."""
        if isinstance(statement, _SCOPES) or (self.inside and not self._ran(statement)):
            return
        taken = _Taken()
        made = list(self._made(statement))[:MOST]
        whole = isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr)
        for part in _heads(statement):
            if whole:
                self._take_whole(part, taken, bool(made))
            else:
                self._take(part, taken, ",", True)
        if taken.items or made:
            told = [[item.told() for item in items] for items in (taken.items, made)]
            yield {"line": statement.lineno, "took": told[0], "joints": taken.joints, "made": told[1]}
        inner = replace(self, inside=True)
        for child in _bodies(statement):
            yield from inner.lines(child)

    def _ran(self, statement: ast.stmt) -> bool:
        """Whether PyTorch was called in it: which branch was taken is not known otherwise."""
        last = statement.end_lineno or statement.lineno
        return any(statement.lineno <= place[0] <= last for place in self.at)

    # What a line took ---------------------------------------------------------------------------------------------

    def _take_whole(self, node: ast.expr, taken: _Taken, kept: bool) -> None:
        """The tensors of all that stands right of a `=`; `kept` says whether a tensor came of it."""
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._take_whole(part, taken, kept)
        elif isinstance(node, ast.Call) and self._at_node(node) is None and kept:
            # It gave what it was given, as dropout does when nothing is trained.
            self._take_parts(node, taken, ",", True)
        else:
            # A view that is given a name is what the line made: it took what that is a view of.
            while self._term(node) is not None and self._at_node(node) is not None:
                inner = node.func if isinstance(node, ast.Call) else node
                assert isinstance(inner, ast.Attribute | ast.Subscript)
                node = inner.value
            self._take(node, taken, ",", True)

    def _take(self, node: ast.AST, taken: _Taken, joint: str, used: bool) -> None:
        """The tensors of an expression; `used` says whether something is known to be done with its value."""
        term = self._term(node)
        if term is not None:
            if used or self._at_node(node) is not None:
                taken.add(term, joint)
            return
        if used and isinstance(node, ast.Name):
            for item in self._several(node.id):
                taken.add(item, joint)
                joint = ","
        if isinstance(node, _SCOPES):
            return
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            if self._at_node(node) is not None:
                self._operand(node.left, taken, joint)
                self._operand(node.right, taken, "@")
            return
        if isinstance(node, ast.Attribute):
            # Of a tensor only `shape` and the like are left here, which take nothing of it.
            if self._term(node.value) is None:
                self._take(node.value, taken, joint, used)
            return
        if isinstance(node, _COMPREHENSIONS):
            targets = (item for part in node.generators for item in ast.walk(part.target))
            hidden = self.hidden | {item.id for item in targets if isinstance(item, ast.Name)}
            replace(self, hidden=hidden)._take_parts(node, taken, joint, used)
            return
        if isinstance(node, _CONSUMERS):
            used = self._at_node(node) is not None
        self._take_parts(node, taken, joint, used)

    def _take_parts(self, node: ast.AST, taken: _Taken, joint: str, used: bool) -> None:
        for part in ast.iter_child_nodes(node):
            if isinstance(node, ast.Call) and part is node.func and isinstance(part, ast.Attribute):
                part = part.value
            if isinstance(part, ast.expr | ast.keyword | ast.comprehension):
                self._take(part, taken, joint, used)
                joint = ","

    def _operand(self, node: ast.expr, taken: _Taken, joint: str) -> None:
        """One side of a product: as a whole where its shape is known, for that is what is multiplied."""
        at = self._at_node(node)
        product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        if product or at is None or at.last is None or not at.last.outs or self._term(node) is not None:
            self._take(node, taken, joint, True)
        else:
            taken.add(Seen("", at.last.outs[0].shape, ()), joint)

    def _term(self, node: ast.AST) -> Seen | None:
        """A name of a tensor, or a view of one."""
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if not isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            return None
        inner = node.func if isinstance(node, ast.Call) else node
        base = self._term(inner.value) if isinstance(inner, ast.Attribute | ast.Subscript) else None
        if base is None:
            value = self._look(node)
            return Seen.of(self._text(node), value) if isinstance(value, torch.Tensor) else None
        at = self._at_node(node)
        if at is None or not at.views or at.last is None or len(at.last.outs) != 1:
            return None
        return base.view(self._text(node), at.last.outs[0].shape, at.last.outs[0].stride)

    def _named(self, name: str) -> Seen | None:
        if name in self.hidden:
            return None
        if name in self.before and not self.inside:
            return self.before[name]
        value = self.now.get(name)
        return Seen.of(name, value) if isinstance(value, torch.Tensor) else None

    def _several(self, name: str) -> list[Seen]:
        """The tensors of a short list of tensors."""
        value = None if name in self.hidden else self.now.get(name)
        items = value if _is_plain(value) and len(value) <= MOST else ()
        tensors = [item for item in items if isinstance(item, torch.Tensor)]
        return [replace(Seen.of("", item), base="") for item in tensors] if len(tensors) == len(items) else []

    def _look(self, node: ast.AST) -> object:
        """The value of a name or a path to a parameter, a buffer, an item of a list; runs no code of the program."""
        if isinstance(node, ast.Name):
            return None if node.id in self.hidden else self.now.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._look(node.value)
            if isinstance(owner, torch.nn.Module):
                parts = (owner.__dict__, owner._parameters, owner._buffers, owner._modules)
                return next((part[node.attr] for part in parts if node.attr in part), None)
            return None
        if isinstance(node, ast.Subscript):
            owner, index = self._look(node.value), _constant(node.slice)
            if _is_plain(owner) and isinstance(index, int) and -len(owner) <= index < len(owner):
                return owner[index]
        return None

    # What a line made ---------------------------------------------------------------------------------------------

    def _made(self, statement: ast.stmt) -> Iterator[Seen]:
        """The tensors that a statement binds, or writes."""
        if isinstance(statement, ast.Expr):
            yield from self._written_by(statement.value)
        for target in _targets(statement):
            if isinstance(target, ast.Name):
                value = self.now.get(target.id)
                if isinstance(value, torch.Tensor):
                    yield Seen.of(target.id, value)
                yield from self._several(target.id)
            else:
                at = self._at_node(target)
                if at is not None and at.last is not None and at.last.outs:
                    yield Seen(self._text(target), at.last.outs[0].shape, ())

    def _written_by(self, node: ast.expr) -> Iterator[Seen]:
        """`x.zero_()` as a statement makes what it writes."""
        at = self._at_node(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and at is not None:
            last, owner = at.last, self._term(node.func.value)
            if last is not None and last.info.written and node.func.attr.endswith("_"):
                yield owner or Seen(self._text(node.func.value), last.outs[0].shape, ())

    def _at_node(self, node: ast.AST) -> _At | None:
        if not isinstance(node, ast.expr) or node.end_lineno is None or node.end_col_offset is None:
            return None
        return self.at.get((node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))

    def _text(self, node: ast.AST) -> str:
        text = " ".join((ast.get_source_segment(self.source, node) or "").split())
        return text if len(text) <= LONGEST else ""


def _heads(statement: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement without the statements in it, in reading order."""
    if isinstance(statement, ast.AugAssign):
        return [statement.target, statement.value]
    if isinstance(statement, ast.For):
        return [statement.iter]
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    if isinstance(statement, ast.With):
        return [item.context_expr for item in statement.items]
    value = getattr(statement, "value", None)
    return [value] if isinstance(value, ast.expr) else []


def _bodies(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements in a statement."""
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(statement, name, ())
    if isinstance(statement, ast.Try):
        for handler in statement.handlers:
            yield from handler.body


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Assign):
        given: Sequence[ast.expr] = statement.targets
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.For):
        given = [statement.target]
    else:
        given = ()
    for target in given:
        yield from _flat(target)


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _flat(part)
    elif isinstance(target, ast.Starred):
        yield from _flat(target.value)
    else:
        yield target


def _is_plain(value: object) -> TypeGuard[Sequence[object]]:
    """Whether it is a list or tuple itself: to look into one of the program's own classes would run its code."""
    return type(value) in (list, tuple)


def _constant(node: ast.expr) -> object:
    """A literal index, with its sign."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
