"""Repairs of a wrong answer without a right one: small edits of the learner's own code, likelier ones first.

An edit takes a line out, chooses another axis, exchanges two sides, keeps a tensor in another way. Each may make the
answer pass, which only a run tells; so an answer in a style of its own can be repaired as well as one in ours.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from attn_tutor.lessons.reading.code_differences import NAME, parse
from attn_tutor.lessons.reading.expression_edits import PRODUCTS, Change, changes_of, expression
from attn_tutor.lessons.reading.operations import name_of
from attn_tutor.lessons.reading.repair_kinds import BUILTINS, LIBRARIES, shortened
from attn_tutor.lessons.reading.repairs import Repair

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Assert)
MOST_NAMES, MOST_REPEATED, MOST_FACTORS, MOST_GROUPS = 8, 4, 4, 30
LAST_RANK = 5

NOWHERE = 0
"""The line of an edit that is not about a single one."""

SHARES = "{} / {}.sum(-1, keepdim=True)"
AXES_OF_ONE = ("{}.squeeze(-1)", "{}.unsqueeze(-1)", "{}.squeeze(0)", "{}.unsqueeze(0)", "{}.unsqueeze(1)")
CONVERSIONS = ("float({})", "int({})", "{}.item()", "{}.float()", "{}.bool()", "{}.long()", "{}.tolist()")
TENSORS = (ast.Call, ast.BinOp, ast.Subscript, ast.Attribute)
"""Expressions that may compute a tensor."""

COPY = "__import__('copy').deepcopy({})"


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a node is in a tree, and the statement and the function that it is in."""

    parent: ast.AST
    field: str
    index: int | None
    statement: ast.stmt
    function: ast.AST | None
    owner: ast.ClassDef | None


@dataclass(frozen=True, slots=True)
class _Draft:
    """An edit that is not written out yet: `new` in place of `count` nodes from a spot on."""

    rank: int
    kind: str
    about: str
    line: int
    spot: _Spot
    new: Sequence[ast.AST]
    count: int = 1

    @property
    def at(self) -> int:
        """The position of the spot among those of its parent."""
        return self.spot.index or 0

    def overlaps(self, other: _Draft) -> bool:
        """Return whether another edit is of the same nodes."""
        if self.spot.parent is not other.spot.parent or self.spot.field != other.spot.field:
            return False
        first, second = sorted((self, other), key=lambda item: (item.at, item.count))
        return first.at + first.count > second.at


class OwnEdits:
    """The edits of a program, at most `most`, likelier ones first; none if it cannot be parsed.

    The same program has the same edits.

    Attributes:
        repairs: the program with one edit each, or with the same one on several lines.
    """

    def __init__(self, source: str, most: int) -> None:
        self.repairs: list[Repair] = []
        self._drafts: list[tuple[_Draft, ...]] = []
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
            self._tree = parse(source)
            known = {ast.unparse(self._tree)}
            single = sorted(_drafts(self._tree), key=lambda item: item.rank)
            groups = itertools.islice(_repeated(single), MOST_GROUPS)
            edits = sorted((*((draft,) for draft in single), *groups), key=lambda edit: edit[0].rank)
            for edit in edits:
                if len(self.repairs) == most:
                    break
                code = self._with(*edit)
                if code not in known:
                    known.add(code)
                    self._drafts.append(edit)
                    self.repairs.append(_repair(edit, code))

    def together(self, chosen: Iterable[tuple[int, ...]]) -> list[tuple[tuple[int, ...], tuple[Repair, ...]]]:
        """Return edits that are made together, given by their indices: each of them has the code with all edits.

        There are none for two edits of which one undoes the other, or that cannot be made together.
        """
        found: dict[str, tuple[tuple[int, ...], tuple[Repair, ...]]] = {}
        alone = {item.code for item in self.repairs} | {ast.unparse(self._tree)}
        for indices in chosen:
            edits = [self._drafts[index] for index in indices]
            drafts = [draft for edit in edits for draft in edit]
            if any(one.overlaps(other) for one, other in itertools.combinations(drafts, 2)):
                continue
            code = self._with(*drafts)
            if code not in alone:
                found.setdefault(code, (indices, tuple(_repair(edit, code) for edit in edits)))
        return [*found.values()]

    def _with(self, *drafts: _Draft) -> str:
        """Return the code of the program with edits in it; the tree is left as it is."""
        undo: list[tuple[_Spot, object]] = []
        try:
            # From the end of a list on, so that no edit moves the place of the next one.
            for draft in sorted(drafts, key=lambda item: (-item.at, -item.count)):
                spot = draft.spot
                old = getattr(spot.parent, spot.field)
                undo.append((spot, old))
                # `ast.unparse` asks every statement for its line.
                new = [_located(item, spot.statement) for item in draft.new]
                rest = new[0] if spot.index is None else [*old[: spot.index], *new, *old[spot.index + draft.count :]]
                setattr(spot.parent, spot.field, rest)
            return ast.unparse(self._tree)
        finally:
            for spot, old in reversed(undo):
                setattr(spot.parent, spot.field, old)


def _repair(edit: Sequence[_Draft], code: str) -> Repair:
    """Return an edit, made on one line or in the same way on several ones, with the program that has it."""
    first, lines = edit[0], tuple(dict.fromkeys(draft.line for draft in edit))
    places = tuple(shortened(draft.about) for draft in edit) if len(edit) > 1 else ()
    return Repair(first.kind, shortened(first.about), lines, None, True, code, rank=first.rank, places=places)


def _repeated(drafts: Sequence[_Draft]) -> Iterator[tuple[_Draft, ...]]:
    """Yield edits that are the same in several places, except for the names."""
    alike: dict[tuple[str, str], list[_Draft]] = {}
    for draft in drafts:
        if draft.rank < LAST_RANK and all(isinstance(item, ast.expr) for item in draft.new):
            text = " ".join((draft.about, *map(ast.unparse, draft.new)))
            alike.setdefault((draft.kind, NAME.sub("_", text)), []).append(draft)
    for group in alike.values():
        apart = not any(one.overlaps(other) for one, other in itertools.combinations(group, 2))
        if 1 < len(group) <= MOST_REPEATED and apart:
            yield tuple(group)


def _located(node: ast.AST, beside: ast.stmt) -> ast.AST:
    return ast.fix_missing_locations(node if hasattr(node, "lineno") else ast.copy_location(node, beside))


def _drafts(tree: ast.Module) -> Iterator[_Draft]:
    names = _Names(tree)
    unused = {node: [*_unused_layers(node)] for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found = [*_spots(tree, None, None, None)]
    spots = {id(node): spot for node, spot in found}
    for node, spot in found:
        line = getattr(node, "lineno", spot.statement.lineno)
        if isinstance(node, ast.stmt):
            yield from _of_statement(node, spot)
            if spot.owner is not None and getattr(spot.function, "name", "") != "__init__":
                yield from _with_layers(node, spot, unused[spot.owner])
                yield from _forgetting_more(node, spot, _attributes_of(spot.owner))
        elif isinstance(node, ast.expr):
            for change in changes_of(node, spot.parent):
                at = spot if change.at is None else spots[id(change.at)]
                where = _line(node, change)
                yield _Draft(change.rank, change.kind, ast.unparse(change.about), where, at, [change.new])
            for rank, kind, other in names.instead_of(node, spot):
                yield _Draft(rank, kind, ast.unparse(node), line, spot, [other])


def _line(node: ast.expr, change: Change) -> int:
    """Return the line of what a change of an expression, which may have several lines, is about."""
    if change.line is not None:
        return change.line
    if change.at is not None:
        return change.at.lineno
    if isinstance(node, ast.Call):
        return node.func.end_lineno or node.lineno
    apart = isinstance(node, ast.BinOp) and change.kind in ("too-much", "operation-moved")
    return node.right.lineno if apart and isinstance(node, ast.BinOp) else node.lineno


def _spots(
    node: ast.AST, statement: ast.stmt | None, function: ast.AST | None, owner: ast.ClassDef | None
) -> Iterator[tuple[ast.AST, _Spot]]:
    """Yield all statements and expressions of a program, each with its spot."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "ctx"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST) or isinstance(child, ast.Import | ast.ImportFrom):
                continue
            inside = child if isinstance(child, ast.stmt) else statement
            if inside is not None and isinstance(child, ast.stmt | ast.expr) and hasattr(child, "lineno"):
                # A `pass` in place of a docstring is no code of the learner.
                yield child, _Spot(node, field, index, inside, function, owner)
            yield from _spots(
                child,
                inside,
                child if isinstance(child, FUNCTIONS) else function,
                child if isinstance(child, ast.ClassDef) else owner,
            )


# Statements ----------------------------------------------------------------------------------------------------------


def _of_statement(node: ast.stmt, spot: _Spot) -> Iterator[_Draft]:
    """Yield the edits of a statement."""
    if spot.index is None:
        return

    def draft(rank: int, kind: str, about: ast.AST | str, *new: ast.AST, count: int = 1) -> _Draft:
        code = about if isinstance(about, str) else ast.unparse(about)
        return _Draft(rank, kind, code, node.lineno, spot, new, count)

    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self")) as target], value=value):
            for new in _ways_to_keep(target.attr, value):
                yield draft(1, "kept", target, new)
            if isinstance(value, ast.Attribute):
                yield draft(2, "shared", value, ast.Assign([target], _more_of(value, COPY)))
        case ast.Assign(targets=[ast.Attribute() as target], value=ast.Attribute() as value):
            yield draft(2, "shared", value, ast.Assign([target], _more_of(value, COPY)))
        case ast.Assign(targets=[ast.Name() | ast.Subscript() | ast.Attribute() as target], value=value):
            if not isinstance(value, ast.Constant):
                yield draft(3, "added-up", target, ast.AugAssign(target, ast.Add(), value))
                if isinstance(value, ast.Name):
                    yield draft(LAST_RANK - 1, "shared", value, ast.Assign([target], _more_of(value, "{}.clone()")))
                for more in ("{}.clone()", "{}.contiguous()", "{}.softmax(-1)", "{}.exp()", SHARES):
                    yield draft(LAST_RANK, "too-little", value, ast.Assign([target], _more_of(value, more)))
                for more in AXES_OF_ONE if isinstance(value, TENSORS) else ():
                    yield draft(LAST_RANK - 1, "axis-of-one", value, ast.Assign([target], _more_of(value, more)))
        case ast.AugAssign(target=target, op=op, value=value):
            both = ast.BinOp(expression(ast.unparse(target)), op, value)
            yield draft(1, "in-place", node, ast.Assign([target], both))
            yield draft(2, "added-up", node, ast.Assign([target], value))
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="register_buffer"), args=[name, value]) as call):
            attribute = f"self.{ast.literal_eval(name)}"
            yield draft(1, "kept", attribute, _assigned(attribute, _call("torch.nn.Parameter", value)))
            unsaved = ast.keyword("persistent", ast.Constant(False))
            yield draft(1, "kept", attribute, ast.Expr(ast.Call(call.func, call.args, [unsaved])))
            match _after(spot):
                case ast.Assign(targets=[ast.Attribute(attr=other) as target], value=same) if (
                    ast.unparse(same) == attribute and ast.unparse(target) == f"self.{other}"
                ):
                    named = ast.Expr(ast.Call(call.func, [ast.Constant(other), value], call.keywords))
                    yield draft(1, "kept", target, named, count=2)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=target), attr=name)) as call):
            if name.endswith("_") and not name.endswith("__"):
                pure = ast.Call(
                    ast.Attribute(ast.Name(target, ast.Load()), name[:-1], ast.Load()), call.args, call.keywords
                )
                yield draft(1, "in-place", node, _assigned(target, pure))
        case ast.Return(value=ast.Call(func=ast.Name(id=name)) as made) if name.endswith("Error"):
            yield draft(0, "not-raised", made, ast.Raise(made))
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Tuple | ast.Constant):
            turned = (f"{{}}.transpose{axes}" for axes in ((-2, -1), (0, 1), (1, 2)))
            for more in ("{}.clone()", "{}.contiguous()", *turned, SHARES, "2 * {}"):
                yield draft(LAST_RANK, "too-little", value, ast.Return(_more_of(value, more)))
            for more in AXES_OF_ONE if isinstance(value, TENSORS) else ():
                yield draft(LAST_RANK - 1, "axis-of-one", value, ast.Return(_more_of(value, more)))
            for more in CONVERSIONS:
                yield draft(LAST_RANK - 1, "other-type", value, ast.Return(_more_of(value, more)))
            yield draft(LAST_RANK, "too-little", value, ast.Return(_more_of(value, "{}.detach()")))
            if isinstance(value, ast.Call | ast.GeneratorExp):
                yield draft(LAST_RANK, "too-little", value, ast.Return(_call("list", value)))
            if isinstance(value, ast.Call | ast.Name):
                yield draft(3, "values-extra", value, ast.Return(_more_of(value, "{}[0]")))
        case ast.Return(value=ast.Tuple(elts=values) as whole):
            for one in values:
                yield draft(2, "values-extra", whole, ast.Return(one))
        case ast.If():
            opposite = ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
            yield draft(1, "opposite", node.test, opposite)
            yield draft(2, "condition-extra", node.test, *node.body)
            if spot.owner is not None:
                yield draft(2, "condition", node.test, ast.If(expression("self.training"), node.body, node.orelse))
        case ast.With():
            code = "with " + ", ".join(ast.unparse(item) for item in node.items)
            yield draft(1, "block-extra", code, *node.body)
        case ast.For():
            yield from _of_loop(node, spot)
        case ast.FunctionDef():
            yield from _of_function(node, spot)
    if isinstance(node, SIMPLE):
        if spot.owner is not None and _changes_module(node) and getattr(spot.function, "name", "") != "__init__":
            yield draft(1, "condition-missing", node, ast.If(expression("self.training"), [node], []))
        yield draft(2, "statement-extra", "", ast.Pass())
        after = _after(spot)
        if isinstance(after, SIMPLE):
            yield draft(3, "statement-moved", "", after, node, count=2)


def _after(spot: _Spot) -> ast.stmt | None:
    """Return the next statement of the same body, None if there is none."""
    following: list[ast.stmt] = getattr(spot.parent, spot.field)[(spot.index or 0) + 1 :]
    return following[0] if following else None


def _unused_layers(owner: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes of a module that hold a layer and are read nowhere."""
    read = {node.attr for node in ast.walk(owner) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    for node in ast.walk(owner):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Call(func=function)) if name not in read:
                if ast.unparse(function).startswith(("nn.", "torch.nn.")) and name_of(function) != "Parameter":
                    yield name


def _with_layers(node: ast.stmt, spot: _Spot, layers: Sequence[str]) -> Iterator[_Draft]:
    """Yield a statement that puts what it computes through a layer, for each of some layers."""
    for name in layers:
        match node:
            case ast.Assign(targets=[ast.Name()] as targets, value=value):
                through: ast.stmt = ast.Assign(targets, _call(f"self.{name}", value))
            case ast.Return(value=value) if value is not None:
                through = ast.Return(_call(f"self.{name}", value))
            case _:
                return
        yield _Draft(3, "layer-unused", f"self.{name}", NOWHERE, spot, [through])


def _forgetting_more(node: ast.stmt, spot: _Spot, attributes: Sequence[str]) -> Iterator[_Draft]:
    """Yield a statement that empties an attribute of a module, and one that empties another attribute after it."""
    match node:
        case ast.Assign(targets=[ast.Attribute(attr=emptied)], value=ast.Constant(None) as nothing):
            for name in attributes[:MOST_NAMES]:
                if name != emptied:
                    yield _Draft(
                        2, "statement-missing", "", node.lineno, spot, [node, _assigned(f"self.{name}", nothing)]
                    )


def _changes_module(node: ast.stmt) -> bool:
    """Return whether a statement changes what a module holds: `self.count += 1`, `self.count.add_(1)`."""
    match node:
        case ast.AugAssign(target=held) | ast.Assign(targets=[held]):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr=name))) if name.endswith("_"):
            pass
        case _:
            return False
    return isinstance(held, ast.Attribute) and isinstance(held.value, ast.Name) and held.value.id == "self"


def _of_loop(node: ast.For, spot: _Spot) -> Iterator[_Draft]:
    """Yield a loop with its last statement after it, or its first one before it."""
    first, *rest = node.body
    if rest and isinstance(first, ast.Assign):
        loop = ast.For(node.target, node.iter, rest, node.orelse)
        yield _Draft(2, "statement-moved", "", first.lineno, spot, [first, loop])
    *rest, last = node.body
    if rest:
        kind = "return-in-loop" if isinstance(last, ast.Return) else "statement-moved"
        loop = ast.For(node.target, node.iter, rest, node.orelse)
        yield _Draft(1, kind, "", last.lineno, spot, [loop, last])


def _of_function(node: ast.FunctionDef, spot: _Spot) -> Iterator[_Draft]:
    """Yield a function with a statement more at its beginning."""
    begin = _Spot(node, "body", 0, node.body[0], node, spot.owner)

    def more(rank: int, kind: str, about: str, line: int, code: str) -> _Draft:
        return _Draft(rank, kind, about, line, begin, ast.parse(code).body, count=0)

    if node.name == "__init__" and "super().__init__" not in ast.unparse(node):
        yield more(0, "super-missing", "", node.lineno, "super().__init__()")
    given = [item.arg for item in node.args.args if item.arg != "self"]
    if node.name == "__init__":
        for heads in (name for name in given if "head" in name):
            for width in (name for name in given if name != heads):
                code = f"if isinstance({width}, int) and {width} % {heads}:\n    raise ValueError('a remainder')"
                yield more(2, "remainder", f"{width} / {heads}", NOWHERE, code)
    elif any(isinstance(item, ast.Subscript | ast.AugAssign) for item in node.body) or "copy_(" in ast.unparse(node):
        whole = ast.With([ast.withitem(expression("__import__('torch').no_grad()"))], [*node.body])
        yield _Draft(2, "recorded", node.name, NOWHERE, begin, [whole], count=len(node.body))
    for name in given:
        yield more(LAST_RANK, "not-copied", name, node.lineno, f"{name} = {name}.clone()")
    for name, empty, line in _containers(spot.owner) if node.name != "__init__" and spot.owner is not None else ():
        yield more(2, "kept-between-calls", f"self.{name}", line, f"self.{name} = {empty}")
    if spot.owner is None and spot.function is None and given:
        yield _Draft(LAST_RANK, "each-alone", node.name, NOWHERE, spot, [*_each_alone(node, given)])


def _containers(owner: ast.ClassDef) -> Iterator[tuple[str, str, int]]:
    """Yield the empty lists and dictionaries that a class is set up with: name, code and line of each."""
    for node in ast.walk(owner):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.List(elts=[]) | ast.Dict(keys=[]) as empty):
                yield name, ast.unparse(empty), node.lineno


def _each_alone(node: ast.FunctionDef, given: Sequence[str]) -> Iterator[ast.stmt]:
    """Yield a function, and one in its place that calls it with each item of the first axis alone."""
    inner = copy.copy(node)
    inner.name = f"{node.name}_of_one"
    yield inner
    items = ", ".join(f"({name}.split(1) if hasattr({name}, 'split') else [{name}] * count)" for name in given)
    yield from ast.parse(
        f"def {node.name}({', '.join(given)}):\n"
        f"    count = len({given[0]})\n"
        f"    import torch\n"
        f"    return torch.cat([{inner.name}(*each) for each in zip({items})])\n"
    ).body


def _ways_to_keep(name: str, value: ast.expr) -> Iterator[ast.stmt]:
    """Yield the other ways in which a module can keep what a line assigns to an attribute."""
    function = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    tensor = value
    if function.endswith("Parameter") and isinstance(value, ast.Call) and value.args:
        tensor = value.args[0]
        yield _assigned(f"self.{name}", tensor)
    elif function.startswith(("nn.", "torch.nn.")):
        return
    elif isinstance(value, ast.List | ast.ListComp) or function in ("tuple", "list", "map"):
        yield _assigned(f"self.{name}", _call("torch.nn.ModuleList", value))
        return
    else:
        yield _assigned(f"self.{name}", _call("torch.nn.Parameter", value))
    tensor = _call("torch.tensor", tensor) if isinstance(tensor, ast.Constant) else tensor
    for rest in ("", ", persistent=False"):
        yield from ast.parse(f"self.register_buffer({name!r}, {ast.unparse(tensor)}{rest})").body


def _assigned(target: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.parse(f"{target} = 0").body[0].targets[0]], value)  # type: ignore[attr-defined]


def _call(function: str, value: ast.expr) -> ast.expr:
    return ast.Call(expression(function), [value], [])


def _more_of(value: ast.expr, more: str) -> ast.expr:
    """Return an expression with another one, in parentheses, in place of each `{}` in it."""
    return expression(more.replace("{}", f"({ast.unparse(value)})"))


# Names ---------------------------------------------------------------------------------------------------------------


class _Names:
    """The names of a program that a learner may have meant by another one."""

    def __init__(self, tree: ast.Module) -> None:
        self._locals: dict[ast.AST, list[str]] = {}
        self._factors: dict[ast.AST, list[str]] = {}
        self._attributes: dict[ast.ClassDef, list[str]] = {}
        self._used = [*dict.fromkeys(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))]
        self._of_base: dict[str, list[str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                self._locals[node] = _bound_in(node)
                self._factors[node] = _factors_in(node)
            elif isinstance(node, ast.ClassDef):
                self._attributes[node] = _attributes_of(node)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                names = self._of_base.setdefault(node.value.id, [])
                if node.attr not in names:
                    names.append(node.attr)

    def instead_of(self, node: ast.expr, spot: _Spot) -> Iterator[tuple[int, str, ast.expr]]:
        """Yield what a name, an attribute of the module, or a fixed size may stand for, each with rank and kind."""
        if spot.function is None:
            return
        known = [ast.Name(name, ast.Load()) for name in self._locals[spot.function][:MOST_NAMES]]
        given = [*map(ast.unparse, known[: len(_given_to(spot.function))])]
        rank = LAST_RANK - 1
        if _is_under_root(node, spot):
            for width in (f"{name}.shape[-1]" for name in self._factors[spot.function]):
                yield 1, "other-value", expression(width)
        if isinstance(node, ast.Call):
            for code in _drawn(node, given):
                yield 2, "drawn-anew", expression(code)
        if _is_mask(node, spot):
            for size in (f"{name}.shape[{axis}]" for name in given for axis in (1, -2)):
                yield rank - 1, "not-cut", expression(f"{ast.unparse(node)}[:{size}, :{size}]")
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name not in LIBRARIES | BUILTINS and name != "self":
                others = [other for other in known if other.id != name]
                for other in others:
                    yield rank, "other-name", other
                    if isinstance(spot.parent, ast.Slice | ast.AugAssign) or _is_added(spot):
                        yield rank, "too-little", ast.BinOp(node, ast.Mult(), other)
                if isinstance(spot.parent, ast.keyword) and "mask" in (spot.parent.arg or ""):
                    for other in others:
                        yield rank, "other-name", ast.UnaryOp(ast.Invert(), other)
                if "bias" in name:
                    for has_bias in (True, False):
                        yield rank, "other-value", ast.Constant(has_bias)
                if spot.owner is not None and name not in self._locals[spot.function]:
                    likely = 0 if name in self._attributes[spot.owner] else rank
                    yield likely, "self-missing", ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load())
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()) if spot.owner is not None:
                for attribute in self._attributes[spot.owner][:MOST_NAMES]:
                    if attribute != name:
                        yield rank, "other-attribute", ast.Attribute(node.value, attribute, ast.Load())
            case ast.Attribute(value=ast.Name(id=base), attr=name, ctx=ast.Load()) if base not in LIBRARIES:
                alike = [other for other in self._used if other.partition("_")[0] == name.partition("_")[0]]
                for attribute in dict.fromkeys((*alike, *self._of_base[base][:MOST_NAMES])):
                    if attribute != name:
                        yield rank, "other-attribute", ast.Attribute(node.value, attribute, ast.Load())
            case ast.Call(func=ast.Attribute(attr="arange"), args=[_]):
                for other in known:
                    yield rank, "too-little", ast.BinOp(node, ast.Add(), other)
            case ast.Constant(value=value) if type(value) in (int, float):
                if value not in (0, 1) or (isinstance(spot.parent, ast.Subscript) and spot.field == "slice"):
                    for other in known:
                        yield rank, "fixed-value", other
                if type(value) is int and value > 1 and isinstance(spot.parent, ast.AugAssign | ast.BinOp):
                    for other in known:
                        yield rank, "too-little", ast.BinOp(node, ast.Mult(), other)
                if type(value) is int and value > 1:
                    for name in given:
                        yield rank, "fixed-value", expression(f"{name}.shape[-1]")


def _is_added(spot: _Spot) -> bool:
    """Return whether an expression is added to a tensor in place: `total.add_(count)`."""
    return isinstance(spot.parent, ast.Call) and spot.field == "args" and name_of(spot.parent.func) == "add_"


def _is_under_root(node: ast.expr, spot: _Spot) -> bool:
    """Return whether the root of an expression is taken: `math.sqrt(x)`, `x ** 0.5`."""
    match spot.parent:
        case ast.Call(func=function, args=[_]):
            return name_of(function) in ("sqrt", "rsqrt", "isqrt") and spot.field == "args"
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(0.5) | ast.UnaryOp(ast.USub(), ast.Constant(0.5))):
            return spot.field == "left"
    return False


def _factors_in(function: ast.AST) -> list[str]:
    """Return the names and attributes that a function uses in a matrix product, at most `MOST_FACTORS`."""
    found: dict[str, None] = {}
    for node in ast.walk(function):
        factors: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            factors = [node.left, node.right]
        elif isinstance(node, ast.Call) and name_of(node.func) in PRODUCTS:
            factors = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
        for item in factors:
            if isinstance(item, ast.Name | ast.Attribute) and ast.unparse(item).partition(".")[0] not in LIBRARIES:
                found.setdefault(ast.unparse(item))
    return [*found][:MOST_FACTORS]


def _drawn(node: ast.Call, given: Sequence[str]) -> Iterator[str]:
    """Yield what may stand in place of random numbers that are drawn although a function is given some."""
    for name in given:
        if name_of(node.func) == "bernoulli" and node.args:
            chance = ast.unparse(node.args[0])
            yield f"({name} < {chance})"
            yield f"({name} >= 1 - ({chance}))"
        elif name_of(node.func) == "dropout" and len(node.args) > 1:
            kept, rate = map(ast.unparse, node.args[:2])
            yield f"({kept}) / (1 - ({rate}))"
            return
        elif name_of(node.func) in ("rand", "rand_like", "randn", "randn_like"):
            yield name


def _is_mask(node: ast.expr, spot: _Spot) -> bool:
    """Return whether code reads the mask of a module as a whole."""
    called_or_cut = isinstance(spot.parent, ast.Call | ast.Subscript) and spot.field in ("func", "value")
    return isinstance(node, ast.Attribute) and not called_or_cut and "mask" in node.attr


def _given_to(function: ast.AST) -> list[str]:
    """Return the arguments of a function, without `self`."""
    return [node.arg for node in ast.walk(function) if isinstance(node, ast.arg) and node.arg != "self"]


def _bound_in(function: ast.AST) -> list[str]:
    """Return the names that a function binds: its arguments, then the others in the order of the code."""
    found: dict[str, None] = dict.fromkeys(_given_to(function))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id)
    return [*found]


def _attributes_of(owner: ast.ClassDef) -> list[str]:
    """Return the attributes that the methods of a class set."""
    found: dict[str, None] = {}
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                found.setdefault(name)
            case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=str(name)), *_]):
                found.setdefault(name)
    return [*found]
