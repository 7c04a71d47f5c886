"""The shapes of the tensors that each line of a step's own code took and made.

Shapes of names come from the namespace, shapes of views (`keys.T`, `queries[0]`) from the operation that was recorded
at that piece of code. A name counts only where PyTorch did something with it: `len(inputs)` took nothing.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import torch

from attn_tutor.lessons.results.line_shapes import MOST_TENSORS, Joint, LineReport, ShapeReport
from attn_tutor.lessons.worker.recording.event import Event, Site
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.source_positions import Lines, SourcePositions, start_of

LONGEST = 40
"""Characters of a name, at most; a longer one is left out."""

Extent = tuple[int, int, int, int]
"""The extent of a piece of code: line, column, end line, end column."""

_CONSUMERS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.JoinedStr)


@dataclass(frozen=True, slots=True)
class Seen:
    """A tensor in a line; `axes` holds for each of its axes the matching axis of the tensor called `base`."""

    name: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    base: str = ""
    dims: int = 0
    axes: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, name: str, tensor: torch.Tensor) -> Seen:
        """Return a tensor that has a name of its own."""
        axes = tuple(range(tensor.dim()))
        strides = tensor.stride() if tensor.layout == torch.strided else ()
        return cls(name, tuple(tensor.shape), strides, name, len(axes), axes)

    def view(self, name: str, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Seen:
        """Return a view of this tensor. Axes are matched by stride and size; a slice changes sizes only."""
        if strides == self.strides:
            return Seen(name, sizes, strides, self.base, self.dims, self.axes)
        left = dict(enumerate(zip(self.strides, self.sizes, strict=False)))
        axes: list[int | None] = []
        for here in zip(strides, sizes, strict=True):
            axis = next((axis for axis, there in left.items() if there == here), None)
            axes.append(self.axes[axis] if axis is not None else None)
            if axis is not None:
                del left[axis]
        return Seen(name, sizes, strides, self.base, self.dims, tuple(axes))

    def report(self) -> ShapeReport:
        """Return the tensor as it is sent."""
        axes = self.axes or (None,) * len(self.sizes)
        return ShapeReport(self.name, tuple(map(int, self.sizes)), self.base, self.dims, axes)


@dataclass(slots=True)
class _At:
    """The operations at a piece of code: the last one, and whether all were views."""

    last: Event | None = None
    views: bool = True


class _Called:
    """The pieces of code that some operations were called from.

    Attributes:
        sites: where they are; kept, so that no others get the same identity.
        extents: those in the source that is looked at, with their depth in the calls.
        inner: the innermost one; None if that is in another source.
    """

    __slots__ = ("extents", "inner", "sites")

    def __init__(self, sites: tuple[Site, ...], extents: list[tuple[int, Extent]], at: dict[Extent, _At]) -> None:
        self.sites, self.extents = sites, extents
        self.inner: _At | None = None
        for depth, extent in extents:
            found = at.setdefault(extent, _At())
            if depth == 0:
                self.inner = found
            else:
                found.views = False


@dataclass(slots=True)
class _Taken:
    """The tensors that a line took, and the joints between them."""

    items: list[Seen] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)

    def add(self, item: Seen, joint: Joint) -> None:
        """Add a tensor after a joint, unless there are too many already."""
        if len(self.items) < MOST_TENSORS:
            if self.items:
                self.joints.append(joint)
            self.items.append(item)


class ShapeCollector:
    """Collects the shapes of one piece of code while it runs; call `note` after each statement."""

    def __init__(self, record: Record, namespace: Mapping[str, Any], file: str, source: str) -> None:
        self.lines: list[LineReport] = []
        self._record, self._namespace = record, namespace
        self._file, self._source = file, Lines(source)
        self._seen = record.time
        self._at: dict[Extent, _At] = {}
        self._called: dict[int, _Called] = {}
        self._before: dict[str, Seen] = {}
        self._look_at(list(namespace))

    def note(self, statement: ast.stmt) -> None:
        """Collect the shapes of a statement that has just run. Never raises: shapes must not make a step fail."""
        try:
            self._read_events()
            self.lines += _Reader(self._at, self._namespace, self._before, self._source).lines(statement)
            # Only the names of the statement: a prompt may have thousands.
            self._look_at(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
        except Exception:
            return

    def _look_at(self, names: Iterable[str]) -> None:
        for name in names:
            value = self._namespace.get(name)
            if _has_sizes(value):
                self._before[name] = Seen.of(name, value)
            else:
                self._before.pop(name, None)

    def _read_events(self) -> None:
        events = self._record.events
        latest: dict[int, int] = {}
        for position in range(events.after(self._seen), len(events)):
            sites = events.sites(position)
            # By identity: the same code is a thousand operations of a loop, and the hash of a code object takes long.
            known = self._called.get(id(sites))
            if known is None:
                known = self._called[id(sites)] = _Called(sites, self._extents(sites), self._at)
            latest[id(sites)] = position
            if known.inner is not None and known.inner.views and not events.is_view(position):
                known.inner.views = False
        last: dict[Extent, int | None] = {}
        for identity, position in sorted(latest.items(), key=operator.itemgetter(1)):
            for depth, extent in self._called[identity].extents:
                # A function of the lesson need not return what it computes last.
                last[extent] = position if depth == 0 else None
        for extent, final in last.items():
            self._at[extent].last = None if final is None else events[final]
        self._seen = self._record.time

    def _extents(self, sites: tuple[Site, ...]) -> list[tuple[int, Extent]]:
        """Return the extents in the collector's own source, with their depth in the calls."""
        spans = [(depth, SourcePositions.span(site)) for depth, site in enumerate(sites) if self._is_own(site)]
        return [(depth, (at.line, at.col, at.end_line, at.end_col)) for depth, at in spans if at is not None]

    def _is_own(self, site: Site) -> bool:
        return site[0].co_filename == self._file


@dataclass(slots=True)
class _Reader:
    """Reads one statement that has run.

    Attributes:
        at: the recorded operations, by piece of code.
        now, before: the namespace after the statement, and the tensors in it before.
        source: the code that the statement is part of.
        inside: whether it is part of a compound statement, in which names were bound before their last use.
        hidden: names that a comprehension binds itself.
    """

    at: Mapping[Extent, _At]
    now: Mapping[str, Any]
    before: Mapping[str, Seen]
    source: Lines
    inside: bool = False
    hidden: frozenset[str] = frozenset()

    def lines(self, statement: ast.stmt) -> Iterator[LineReport]:
        """Yield the shapes of a statement and of the statements in it, in order; nothing for one without tensors."""
        if isinstance(statement, _SCOPES) or (self.inside and not self._ran(statement)):
            return
        taken = _Taken()
        made = list(self._outputs(statement))[:MOST_TENSORS]
        whole = isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr)
        for part in _heads(statement):
            if whole:
                self._take_whole(part, taken, bool(made))
            else:
                self._take(part, taken, ",", True)
        if taken.items or made:
            took, results = (tuple(item.report() for item in items) for items in (taken.items, made))
            yield LineReport(statement.lineno, took, tuple(taken.joints), results)
        inner = replace(self, inside=True)
        for child in _bodies(statement):
            yield from inner.lines(child)

    def _ran(self, statement: ast.stmt) -> bool:
        """Return whether PyTorch was called in a statement, which shows that its branch was taken."""
        last = statement.end_lineno or statement.lineno
        return any(statement.lineno <= extent[0] <= last for extent in self.at)

    # Tensors that a line took -------------------------------------------------------------------------------------

    def _take_whole(self, node: ast.expr, taken: _Taken, gives_tensor: bool) -> None:
        """Add the tensors on the right of a `=`; `gives_tensor` says whether the statement binds a tensor."""
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._take_whole(part, taken, gives_tensor)
        elif isinstance(node, ast.Call) and self._at_node(node) is None and gives_tensor:
            # The call returned its argument, as dropout does in eval mode.
            self._take_parts(node, taken, ",", True)
        else:
            # A view that gets a name is what the line made; it took the tensor behind the view.
            while self._term(node) is not None and self._at_node(node) is not None:
                inner = node.func if isinstance(node, ast.Call) else node
                assert isinstance(inner, ast.Attribute | ast.Subscript)
                node = inner.value
            self._take(node, taken, ",", True)

    def _take(self, node: ast.AST, taken: _Taken, joint: Joint, used: bool) -> None:
        """Add the tensors of an expression; `used` says whether its value is known to be used."""
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
            # What is left here of a tensor are attributes such as `shape`, which do not take it.
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

    def _take_parts(self, node: ast.AST, taken: _Taken, joint: Joint, used: bool) -> None:
        for part in ast.iter_child_nodes(node):
            if isinstance(node, ast.Call) and part is node.func and isinstance(part, ast.Attribute):
                part = part.value
            if isinstance(part, ast.expr | ast.keyword | ast.comprehension):
                self._take(part, taken, joint, used)
                joint = ","

    def _operand(self, node: ast.expr, taken: _Taken, joint: Joint) -> None:
        """Add one side of a product: as a whole where its shape is known, since the whole is multiplied."""
        at = self._at_node(node)
        product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        if product or at is None or at.last is None or not at.last.outs or self._term(node) is not None:
            self._take(node, taken, joint, True)
        else:
            taken.add(Seen("", at.last.outs[0].shape, ()), joint)

    def _term(self, node: ast.AST) -> Seen | None:
        """Return the tensor that a name or a view of a name stands for; None for any other expression."""
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if not isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            return None
        inner = node.func if isinstance(node, ast.Call) else node
        base = self._term(inner.value) if isinstance(inner, ast.Attribute | ast.Subscript) else None
        if base is None:
            value = self._look(node)
            return Seen.of(self._text(node), value) if _has_sizes(value) else None
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
        return Seen.of(name, value) if _has_sizes(value) else None

    def _several(self, name: str) -> list[Seen]:
        """Return the tensors of a variable that is a short list of tensors; [] if it is anything else."""
        value = None if name in self.hidden else self.now.get(name)
        items = value if _is_plain(value) and len(value) <= MOST_TENSORS else ()
        tensors = [item for item in items if _has_sizes(item)]
        return [replace(Seen.of("", item), base="") for item in tensors] if len(tensors) == len(items) else []

    def _look(self, node: ast.AST) -> object:
        """Return the value of a name, or of a path to a parameter, buffer or list item; runs no code of the program."""
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

    # Tensors that a line made -------------------------------------------------------------------------------------

    def _outputs(self, statement: ast.stmt) -> Iterator[Seen]:
        """Yield the tensors that a statement binds or writes."""
        if isinstance(statement, ast.Expr):
            yield from self._written_by(statement.value)
        for target in _targets(statement):
            if isinstance(target, ast.Name):
                value = self.now.get(target.id)
                if _has_sizes(value):
                    yield Seen.of(target.id, value)
                yield from self._several(target.id)
            else:
                at = self._at_node(target)
                if at is not None and at.last is not None and at.last.outs:
                    yield Seen(self._text(target), at.last.outs[0].shape, ())

    def _written_by(self, node: ast.expr) -> Iterator[Seen]:
        """Yield the tensor that a call such as `x.zero_()` writes, or gives another layout."""
        at = self._at_node(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and at is not None:
            last, owner = at.last, self._term(node.func.value)
            if last is None or not node.func.attr.endswith("_"):
                return
            if last.info.reshaping:
                yield Seen(self._text(node.func.value), last.outs[0].shape, ())
            elif last.info.written:
                yield owner or Seen(self._text(node.func.value), last.outs[0].shape, ())

    def _at_node(self, node: ast.AST) -> _At | None:
        if not isinstance(node, ast.expr) or node.end_lineno is None or node.end_col_offset is None:
            return None
        return self.at.get((*start_of(node), node.end_lineno, node.end_col_offset))

    def _text(self, node: ast.AST) -> str:
        text = " ".join(self.source.text(node).split())
        return text if len(text) <= LONGEST else ""


def _heads(statement: ast.stmt) -> list[ast.expr]:
    """Return the expressions of a statement in reading order, without the statements in it."""
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
    """Yield the statements in a statement."""
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(statement, name, ())
    if isinstance(statement, ast.Try):
        for handler in statement.handlers:
            yield from handler.body


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Assign):
        targets: Sequence[ast.expr] = statement.targets
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.For):
        targets = [statement.target]
    else:
        targets = ()
    for target in targets:
        yield from _flat(target)


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _flat(part)
    elif isinstance(target, ast.Starred):
        yield from _flat(target.value)
    else:
        yield target


def _has_sizes(value: object) -> TypeGuard[torch.Tensor]:
    """Return whether a value is a tensor with a size for each axis, which a nested tensor does not have."""
    return isinstance(value, torch.Tensor) and not value.is_nested


def _is_plain(value: object) -> TypeGuard[Sequence[object]]:
    """Return whether a value is exactly a list or tuple: reading a subclass would run code of the program."""
    return type(value) in (list, tuple)


def _constant(node: ast.expr) -> object:
    """Return the value of a literal; None if the node is not one."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
