"""The operations of a record in groups, one for each box: a statement, or the parts of one that has been opened.

They are grouped by the code that they ran in, from the outside in: statement, expression, the function called there,
...
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.worker.recording.event import Event, Site
from attn_tutor.lessons.worker.recording.names import LONGEST
from attn_tutor.lessons.worker.recording.source_positions import ParsedSource, SourcePositions, SourceSpan, dotted

LIBRARIES = frozenset(("torch", "nn", "init", "F"))
"""What code calls PyTorch and its parts, which no operation changes."""

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
    span: SourceSpan | None
    number: int = 0
    op: str = ""


CodePath = tuple[CodePart, ...]


class CodePaths:
    """Finds paths and names of code; each is looked up once."""

    def __init__(self, positions: SourcePositions) -> None:
        self._positions = positions
        self._paths: dict[tuple[Site, ...], CodePath] = {}
        self._nodes: dict[SourceSpan, tuple[Site, ast.AST | None]] = {}

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

    def _statement(self, site: Site) -> SourceSpan | None:
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
        found = SourceSpan(span.file, node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
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
        return source.segment(node)


def short(code: str) -> str:
    """Shorten code to what a box can hold."""
    return code if len(code) <= LONGEST else code[: LONGEST - 3] + "..."


def _element_target(source: ParsedSource, node: ast.AST) -> ast.expr | None:
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

    A call such as `scores.masked_fill_(...)` changes what it is called on, one such as `torch.relu_(scores)` what it is
    given first, and one with `out=scores` that.
    """
    if isinstance(node, ast.Assign):
        return _names(node.targets[0])
    if isinstance(node, ast.AugAssign | ast.AnnAssign):
        return _names(node.target)
    call = node.value if isinstance(node, ast.Expr) else None
    given = (
        next((word.value for word in call.keywords if word.arg == "out"), None) if isinstance(call, ast.Call) else None
    )
    if given is not None:
        return _names(given)
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
        is_function = dotted(call.func.value).partition(".")[0] in LIBRARIES and call.args
        return _names(call.args[0] if is_function else call.func.value)
    return ""


def _names(target: ast.expr) -> str:
    if isinstance(target, ast.Tuple | ast.List):
        return ", ".join(filter(None, map(_names, target.elts)))
    while isinstance(target, ast.Subscript | ast.Starred):
        target = target.value
    return dotted(target)


ASIDE = frozenset({"detach", "alias"})
"""Operations by which autograd keeps a tensor: they compute nothing."""


@dataclass(slots=True, eq=False)
class BoxGroup:
    """Operations that one box stands for.

    Attributes:
        id: the depth of its code and the time of its first operation.
        part: the innermost piece of code that all its operations ran in.
        parent: the id of the open group that it is in; "" if it is in none.
        events: its operations, in order.
        opens: whether its code has parts of its own.
        name: as the source calls its result; "" if it has no name.
        rounds: for each of its operations, by time, how often its code had begun to run before.
        times: how often its code ran; None if that is not known.
        order: the time by which boxes are sorted.
    """

    id: str
    part: CodePart
    parent: str
    events: list[Event]
    opens: bool
    name: str
    rounds: dict[int, int]
    times: int | None
    order: int

    @property
    def computes(self) -> bool:
        """Whether it does more than look at tensors in another shape, or gives such a view a name."""
        return bool(self.name) or any(not event.view and event.op not in ASIDE for event in self.events)


@dataclass(slots=True, frozen=True)
class OpenGroup:
    """A group that is open: in its place stand the parts of its code. The fields are those of `Group`."""

    id: str
    part: CodePart
    parent: str


def group(events: list[Event], paths: CodePaths, opened: Collection[str]) -> tuple[list[BoxGroup], list[OpenGroup]]:
    """Group operations by their code.

    The groups with ids in `opened` are replaced by the parts of their code. Returns the groups, and those replaced.
    """
    located = list(_with_operations(events, paths))
    replaced: list[OpenGroup] = []
    return list(_split(located, 0, "", paths, opened, replaced)), replaced


def _with_operations(events: list[Event], paths: CodePaths) -> Iterator[tuple[Event, CodePath]]:
    """Yield each operation with its path, which ends with the operation itself."""
    last, number = None, 0
    for event in events:
        number = number + 1 if event.sites is last else 0
        last = event.sites
        path = paths.of(event.sites)
        span = path[-1].span
        yield event, (*path, CodePart("operation", span, number, event.op))


Located = tuple[Event, CodePath]


def _split(
    located: list[Located],
    depth: int,
    parent: str,
    paths: CodePaths,
    opened: Collection[str],
    replaced: list[OpenGroup],
) -> Iterator[BoxGroup]:
    for part, members in _by_part(located, depth).items():
        at, part = _skip(members, depth, part, named=bool(paths.name(part)))
        id = f"{at}.{members[0][0].time}"
        opens = len(_shown_parts(_by_part(members, at + 1))) > 1
        if opens and id in opened:
            replaced.append(OpenGroup(id, part, parent))
            yield from _split(members, at + 1, id, paths, opened, replaced)
        else:
            events = [event for event, _ in members]
            rounds, times = _rounds(members, at)
            yield BoxGroup(id, part, parent, events, opens, paths.name(part), rounds, times, events[0].time)


def _rounds(members: list[Located], depth: int) -> tuple[dict[int, int], int | None]:
    """Return in which round of a loop each operation ran, and how often the code ran; None if that is not known.

    A round begins where the first operation runs again. Code that only calls a function may call it several times in
    one round, as a module does whose layers are alike: then a round ends where other code runs.
    """
    paths = [path for _, path in members]
    own = [path for path in paths if all(part.kind != "statement" for part in path[depth + 1 :])]
    again = paths.count(paths[0])
    times = own.count(own[0]) if own else None
    rounds: dict[int, int] = {}
    count, last = -1, -2
    for event, path in members:
        count += path == paths[0] and (times == again or event.time > last + 1)
        rounds[event.time] = count
        last = event.time
    return rounds, times if times is not None else count + 1 if count or again == 1 else None


def _skip(members: list[Located], depth: int, part: CodePart, *, named: bool) -> tuple[int, CodePart]:
    """Return the depth and the part to which all members go down together.

    A part that has a name keeps it: the expression inside says no more.
    """
    at = depth
    while len(parts := _by_part(members, at + 1)) == 1:
        (inner,) = parts
        if inner.kind == "operation":
            break
        at += 1
        if not named:
            part = inner
    return at, part


def _by_part(located: list[Located], depth: int) -> dict[CodePart, list[Located]]:
    """Divide operations by the part of their path at a depth, in the order of time."""
    found: dict[CodePart, list[Located]] = {}
    for event, path in located:
        if depth < len(path):
            found.setdefault(path[depth], []).append((event, path))
    return found


def _shown_parts(parts: dict[CodePart, list[Located]]) -> list[CodePart]:
    """Leave out parts that only look at a tensor in another shape."""
    return [
        part for part, members in parts.items() if any(not event.view and event.op not in ASIDE for event, _ in members)
    ]
