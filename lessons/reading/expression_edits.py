"""Small edits of expressions, as a learner might make them when they look for a mistake: another axis, no transpose.

Nothing here knows a right answer. Whether an edit is a repair, a run decides.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lessons.reading.repair_kinds import AXES, ELSEWHERE, LIBRARIES, ON_AXES, TURNING

LAST_TWO = "transpose(-2, -1)"
REDUCING = frozenset(
    (
        "sum",
        "mean",
        "softmax",
        "log_softmax",
        "max",
        "min",
        "amax",
        "amin",
        "argmax",
        "std",
        "var",
        "all",
        "any",
        "norm",
    )
)
"""Functions of torch that may be given an axis."""

RIVALS = (
    ("sum", "mean", "prod"),
    ("max", "amax", "min", "amin"),
    ("softmax", "log_softmax", "sigmoid"),
    ("triu", "tril"),
    ("ones", "zeros"),
    ("ones_like", "zeros_like"),
    ("stack", "cat"),
    ("tensor", "stack"),
    ("exp", "log"),
    ("sqrt", "square", "rsqrt"),
    ("isqrt", "sqrt"),
    ("ceil", "floor", "round"),
    ("argmax", "argmin"),
    ("cumsum", "cumprod"),
    ("all", "any"),
    ("repeat", "repeat_interleave"),
    ("rand", "randn"),
    ("fill_", "add_", "copy_"),
)
"""Functions that are taken for one another."""

PRODUCTS = ("matmul", "mm", "bmm", "einsum", "dot", "mv")
VIEWS = ("view", "reshape")
FILLS = ("masked_fill", "masked_fill_", "where", "full", "full_like")
SIZES = ("in_features", "out_features")
MAKERS = frozenset(("rand", "randn", "zeros", "ones", "full", "arange", "empty", "eye", "Parameter", "Linear"))
OPERATORS: dict[type[ast.operator], tuple[ast.operator, ...]] = {
    ast.Mult: (ast.MatMult(), ast.Div()),
    ast.MatMult: (ast.Mult(),),
    ast.Div: (ast.Mult(), ast.FloorDiv()),
    ast.FloorDiv: (ast.Div(),),
    ast.Mod: (ast.FloorDiv(),),
    ast.Add: (ast.Sub(), ast.Mult()),
    ast.Sub: (ast.Add(),),
    ast.BitAnd: (ast.BitOr(),),
    ast.BitOr: (ast.BitAnd(),),
}
COMPARISONS = (ast.Lt(), ast.LtE(), ast.Gt(), ast.GtE(), ast.Eq(), ast.NotEq())
ORDERED = (ast.MatMult, ast.Sub, ast.Div, ast.FloorDiv, ast.Pow)
"""Operators whose two sides may not change places."""

SOLID = (ast.Constant, ast.Starred)
"""Arguments that do not stand for the call that they are given to."""

MOST_ORDERS = 6


@dataclass(frozen=True, slots=True)
class Change:
    """What to put in place of an expression.

    Attributes:
        rank: how far it is from what learners usually get wrong; smaller numbers are tried first.
        kind: the id of its kind (`repair_kinds`).
        about: the code that a sentence about it quotes.
        new: the new expression.
        at: the part of the expression in whose place it goes; None for all of it.
    """

    rank: int
    kind: str
    about: ast.AST
    new: ast.expr
    at: ast.expr | None = None


def changes_of(node: ast.expr, parent: ast.AST) -> Iterator[Change]:
    """Yield the changes of one expression, which is a part of `parent`."""
    match node:
        case ast.Call():
            yield from _of_call(node)
        case ast.BinOp():
            yield from _of_operation(node)
        case ast.Compare(ops=[op]):
            for other in COMPARISONS:
                if type(other) is not type(op):
                    yield Change(2, "operator", node, ast.Compare(node.left, [other], node.comparators))
        case ast.UnaryOp():
            yield Change(1, "opposite", node, node.operand)
        case ast.Attribute(attr=name) if name in TURNING and isinstance(node.ctx, ast.Load):
            yield Change(0, "transpose-extra", node.value, node.value)
        case ast.Attribute(attr=name) if name in SIZES:
            for size in SIZES:
                if size != name:
                    yield Change(1, "other-attribute", node, _attribute(node.value, size))
        case ast.Attribute(attr="data"):
            yield Change(1, "too-much", ast.Attribute(ELSEWHERE, "data", ast.Load()), node.value)
        case ast.Subscript():
            yield from _of_subscript(node)
        case ast.Tuple() if isinstance(node.ctx, ast.Load) and isinstance(parent, ast.Return | ast.Assign | ast.Call):
            for values in _exchanged(node.elts):
                yield Change(1, "order", node, ast.Tuple(values, ast.Load()))
        case ast.IfExp():
            yield Change(2, "opposite", node.test, ast.IfExp(node.test, node.orelse, node.body))
        case ast.Constant():
            yield from _of_constant(node)
        case ast.Name(id="int" | "float"):
            return
    yield from _in_product(node, parent)


def _of_call(node: ast.Call) -> Iterator[Change]:
    name = _name(node.func)
    receiver = _receiver(node)
    if name in ON_AXES:
        yield from _of_axes(node, name)
    if name in REDUCING and not isinstance(node.func, ast.Name):
        yield from _of_reduction(node)
    for position, word in enumerate(node.keywords):
        rest = [*node.keywords[:position], *node.keywords[position + 1 :]]
        yield Change(2, "argument-extra", node, ast.Call(node.func, node.args, rest))
        if isinstance(word.value, ast.Constant) and isinstance(word.value.value, bool):
            yield Change(1, "other-value", word, ast.Constant(not word.value.value), word.value)
    for group in RIVALS:
        if name in group:
            for other in group:
                if other != name:
                    yield Change(
                        1 if name in ("sum", "mean") else 2,
                        "other-function",
                        node.func,
                        _called(node, other).func,
                        node.func,
                    )
    if name == "einsum":
        yield from _of_subscripts(node)
    if name.endswith("_") and not name.startswith("_") and receiver is not None:
        yield Change(1, "in-place", node, _called(node, name[:-1]))
    if name == "dropout" and receiver is None:
        trained = ast.keyword("training", _code("self.training"))
        yield Change(1, "argument-missing", node, ast.Call(node.func, node.args, [*node.keywords, trained]))
    if name == "scaled_dot_product_attention":
        for option, value in (("scale", 1.0), ("is_causal", True)):
            if option not in {item.arg for item in node.keywords}:
                more = [*node.keywords, ast.keyword(option, ast.Constant(value))]
                yield Change(1, "argument-missing", node, ast.Call(node.func, node.args, more))
    if name == "linear" and len(node.args) == 2 and isinstance(node.args[1], ast.Attribute):
        bias = _attribute(node.args[1].value, "bias")
        yield Change(1, "argument-missing", node, ast.Call(node.func, [*node.args, bias], node.keywords))
    if name in VIEWS and receiver is not None:
        yield from _of_view(node, receiver)
    for values in _exchanged(node.args) if len(node.args) > 1 and name not in ON_AXES | {"einsum"} else ():
        yield Change(3, "order", node, ast.Call(node.func, values, node.keywords))
    if receiver is not None and name not in ("keys", "values", "items", "append", "parameters", "register_buffer"):
        turned = name in TURNING or name == "permute"
        yield Change(0 if turned else 1, "transpose-extra" if turned else "too-much", *_left(node, receiver))
    elif receiver is None and node.args and name not in MAKERS and not isinstance(node.args[0], SOLID):
        turned = name in TURNING
        yield Change(0 if turned else 1, "transpose-extra" if turned else "too-much", *_left(node, node.args[0]))
    if name == "range":
        yield from _of_range(node)
    if name in FILLS:
        for fill in node.args[1 if receiver is not None or name == "full" else 2 :]:
            yield Change(1, "other-value", fill, _code("float('-inf')"), fill)
    yield from _moved(node)
    if name in ("masked_fill", "masked_fill_", "where"):
        at = 1 if receiver is None and name != "where" else 0
        if at < len(node.args):
            inverted = ast.UnaryOp(ast.Invert(), node.args[at])
            yield Change(0, "opposite", node.args[at], inverted, node.args[at])


def _inner(node: ast.Call) -> ast.expr | None:
    """Return what a call of a method or of a function of a library computes with, None if it is not known."""
    receiver = _receiver(node)
    if receiver is not None:
        return None if isinstance(receiver, ast.Name) and receiver.id == "self" else receiver
    given = node.args[0] if node.args and isinstance(node.func, ast.Attribute) else None
    return None if isinstance(given, ast.Starred) else given


def _around(node: ast.Call, inner: ast.expr) -> ast.Call:
    """Return the same call, computing with something else."""
    if _receiver(node) is not None and isinstance(node.func, ast.Attribute):
        return ast.Call(_attribute(inner, node.func.attr), node.args, node.keywords)
    return ast.Call(node.func, [inner, *node.args[1:]], node.keywords)


def _moved(node: ast.Call) -> Iterator[Change]:
    """Yield two operations, of which one computes with the result of the other, in the opposite order."""
    inner = _inner(node)
    if isinstance(inner, ast.Call) and (innermost := _inner(inner)) is not None:
        yield Change(2, "operation-moved", _around(node, ELSEWHERE), _around(inner, _around(node, innermost)))
    elif isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div | ast.Mult):
        outside = ast.BinOp(_around(node, inner.left), inner.op, inner.right)
        yield Change(2, "operation-moved", ast.BinOp(ELSEWHERE, inner.op, inner.right), outside)


def _left(node: ast.Call, inner: ast.expr) -> tuple[ast.AST, ast.expr]:
    """Return what a sentence quotes of a call that is left out, and what is left of it."""
    if _name(node.func) in (*TURNING, "permute"):
        return inner, inner
    if isinstance(node.func, ast.Attribute) and node.func.value is inner:
        return ast.Call(_attribute(ELSEWHERE, node.func.attr), node.args, node.keywords), inner
    return ast.Call(node.func, [ELSEWHERE, *node.args[1:]], node.keywords), inner


def _of_axes(node: ast.Call, name: str) -> Iterator[Change]:
    """Yield calls with other axes."""
    if name in ("transpose", "permute"):
        given = node.args[0 if _receiver(node) is not None else 1 :]
        count = 2 if name == "transpose" else len(given)
        known = [item for item in given if _integer(item) is not None]
        if len(known) != len(given) or not given:
            return
        now = [_integer(item) for item in given]
        orders: Iterator[Sequence[int]] = (
            iter(((1, 2), (-2, -1), (0, 1), (0, 2), (2, 3), (1, 3)))
            if name == "transpose"
            else (order for order in itertools.permutations(range(count)))
        )
        others = (order for order in orders if list(order) != now)
        for order in itertools.islice(others, MOST_ORDERS if name == "transpose" else 23):
            args = [*node.args[: len(node.args) - len(given)], *map(_number, order)]
            yield Change(0, "axis", node, ast.Call(node.func, args, node.keywords))
        return
    for item in (*node.args, *(word.value for word in node.keywords if word.arg in AXES)):
        if (now_at := _integer(item)) is not None:
            for axis in (-1, 0, 1, -2, 2):
                if axis != now_at:
                    yield Change(0, "axis", node, _number(axis), item)


def _of_reduction(node: ast.Call) -> Iterator[Change]:
    words = {word.arg for word in node.keywords}
    given = node.args[1:] if _receiver(node) is None else node.args
    if not words & set(AXES) and not given:
        for axis in (-1, 0, 1):
            for kept in ([], [ast.keyword("keepdim", ast.Constant(True))]):
                more = [*node.keywords, ast.keyword("dim", _number(axis)), *kept]
                yield Change(1, "argument-missing", node, ast.Call(node.func, node.args, more))
    elif "keepdim" not in words and "softmax" not in _name(node.func):
        more = [*node.keywords, ast.keyword("keepdim", ast.Constant(True))]
        yield Change(1, "argument-missing", node, ast.Call(node.func, node.args, more))


def _of_subscripts(node: ast.Call) -> Iterator[Change]:
    """Yield calls of `einsum` with two letters of one term exchanged."""
    match node.args:
        case [ast.Constant(value=str(text)), *_]:
            terms = text.replace(" ", "")
            for one, other in itertools.combinations(range(len(terms)), 2):
                between = terms[one : other + 1]
                if not between.isalpha() or terms[one] == terms[other]:
                    continue
                letters = [*terms]
                letters[one], letters[other] = letters[other], letters[one]
                yield Change(0, "subscripts", node, ast.Constant("".join(letters)), node.args[0])


def _of_view(node: ast.Call, receiver: ast.expr) -> Iterator[Change]:
    """Yield views with axes exchanged before or after: a view never moves a number."""
    if _name(node.func) == "view":
        ordered = _attribute(_code_of(receiver, "contiguous"), "view")
        yield Change(1, "in-memory-order", node, ast.Call(ordered, node.args, node.keywords))
    for axes in ((1, 2), (0, 1)):
        turned = ast.Call(_attribute(receiver, "transpose"), [*map(_number, axes)], [])
        yield Change(
            1, "transpose-missing", receiver, ast.Call(_attribute(turned, "reshape"), node.args, node.keywords)
        )
    if len(node.args) > 2:
        for one in range(len(node.args) - 1):
            args = [*node.args]
            args[one], args[one + 1] = args[one + 1], args[one]
            plain = ast.Call(node.func, args, node.keywords)
            yield Change(2, "order", node, plain)
            back = ast.Call(_attribute(plain, "transpose"), [_number(one), _number(one + 1)], [])
            yield Change(1, "cut-order", node, back)


def _of_range(node: ast.Call) -> Iterator[Change]:
    end = node.args[-1] if len(node.args) < 3 else node.args[1]
    at = node.args.index(end)
    for op in (ast.Add(), ast.Sub()):
        args = [*node.args]
        args[at] = ast.BinOp(end, op, ast.Constant(1))
        yield Change(3, "arguments", node, ast.Call(node.func, args, []))
    if len(node.args) == 1:
        yield Change(3, "arguments", node, ast.Call(node.func, [ast.Constant(1), end], []))


def _of_operation(node: ast.BinOp) -> Iterator[Change]:
    if isinstance(node.op, ORDERED):
        yield Change(0, "sides-exchanged", node, ast.BinOp(node.right, node.op, node.left))
    for other in OPERATORS.get(type(node.op), ()):
        kind = "place-by-place" if isinstance(node.op, ast.Mult) and isinstance(other, ast.MatMult) else "operator"
        yield Change(1, kind, node, ast.BinOp(node.left, other, node.right))
    if not isinstance(node.op, ast.MatMult):
        yield Change(2, "too-much", ast.BinOp(ELSEWHERE, node.op, node.right), node.left)
        if not isinstance(node.right, ast.Constant):
            yield Change(3, "too-much", ast.BinOp(node.left, node.op, ELSEWHERE), node.right)
    if isinstance(node.op, ast.Div | ast.Mult):
        root = ast.BinOp(node.right, ast.Pow(), ast.Constant(0.5))
        yield Change(1, "too-little", node.right, ast.BinOp(node.left, node.op, root))
        if not isinstance(node.right, ast.Constant):
            rest = ast.BinOp(ast.Constant(1), ast.Sub(), node.right)
            yield Change(3, "too-little", node.right, ast.BinOp(node.left, node.op, rest))
    for call, factor, turned in ((node.left, node.right, False), (node.right, node.left, True)):
        if isinstance(call, ast.Call) and isinstance(node.op, ast.Mult if turned else ast.Mult | ast.Div):
            inner = _inner(call)
            if inner is not None:
                about = ast.BinOp(factor, node.op, ELSEWHERE) if turned else ast.BinOp(ELSEWHERE, node.op, factor)
                yield Change(1, "operation-moved", about, _around(call, ast.BinOp(inner, node.op, factor)))
    match node:
        case ast.BinOp(ast.BinOp(one, first, two), last, three) if isinstance(last, ast.Div | ast.Mult):
            if not isinstance(first, ast.MatMult | ast.Pow):
                yield Change(3, "brackets", node, ast.BinOp(one, first, ast.BinOp(two, last, three)))
        case ast.BinOp(one, first, ast.BinOp(two, last, three)) if isinstance(first, ast.Add | ast.Sub):
            yield Change(3, "brackets", node, ast.BinOp(ast.BinOp(one, first, two), last, three))


def _in_product(node: ast.expr, parent: ast.AST) -> Iterator[Change]:
    """Yield changes of a matrix product, and of a part of one."""
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    product = product or (isinstance(node, ast.Call) and _name(node.func) in PRODUCTS)
    match node:
        case ast.BinOp(
            left=given, right=ast.Attribute(value=ast.Attribute(attr="weight", value=layer), attr="T" | "mT")
        ):
            yield Change(1, "too-little", node, ast.Call(layer, [given], []))
    if product:
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else _operands(node)
        for operand in operands[:1]:
            width = ast.Subscript(ast.Attribute(operand, "shape", ast.Load()), _number(-1), ast.Load())
            root = ast.BinOp(width, ast.Pow(), ast.Constant(0.5))
            yield Change(1, "too-little", node, ast.BinOp(node, ast.Div(), root))
        yield Change(2, "transpose-missing", node, _code_of(node, LAST_TWO))
    inside = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult)
    inside = inside or (isinstance(parent, ast.Call) and _name(parent.func) in PRODUCTS and node is not parent.func)
    if inside and not isinstance(node, ast.Constant | ast.Starred) and _name(node) not in LIBRARIES:
        yield Change(0, "transpose-missing", node, _code_of(node, LAST_TWO))


def _operands(node: ast.expr) -> list[ast.expr]:
    assert isinstance(node, ast.Call)
    receiver = _receiver(node)
    given = [item for item in node.args if not isinstance(item, ast.Constant | ast.Starred)]
    return given if receiver is None else [receiver, *given]


def _of_subscript(node: ast.Subscript) -> Iterator[Change]:
    if not isinstance(node.ctx, ast.Load):
        return
    sizes = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if sizes and (now := _integer(node.slice)) is not None:
        for axis in (-1, 0, 1, -2, 2):
            if axis != now:
                yield Change(1, "index", node, ast.Subscript(node.value, _number(axis), ast.Load()))
        return
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for position, entry in enumerate(entries):
        for other in _other_entries(entry):
            changed = [*entries]
            changed[position] = other
            index = ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else other
            yield Change(2, "index", node, ast.Subscript(node.value, index, ast.Load()))
    yield Change(3, "too-much", ast.Subscript(ELSEWHERE, node.slice, ast.Load()), node.value)


def _other_entries(entry: ast.expr) -> Iterator[ast.expr]:
    if isinstance(entry, ast.Slice):
        lower, upper = entry.lower, entry.upper
        for bound in filter(None, (lower, upper)):
            for op in (ast.Add(), ast.Sub()):
                moved = ast.BinOp(bound, op, ast.Constant(1))
                yield ast.Slice(moved if bound is lower else lower, moved if bound is upper else upper, entry.step)
        if lower is None and upper is not None:
            yield ast.Slice(upper, None, entry.step)
        if upper is None and lower is not None:
            yield ast.Slice(None, lower, entry.step)
            yield ast.Slice(ast.UnaryOp(ast.USub(), lower), None, entry.step)
        if lower is None and upper is None and entry.step is None:
            yield _number(-1)
    elif not isinstance(entry, ast.Constant):
        for op in (ast.Add(), ast.Sub()):
            yield ast.BinOp(entry, op, ast.Constant(1))


def _of_constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield Change(2, "other-value", node, ast.Constant(not value))
    elif isinstance(value, int):
        for other in (value + 1, value - 1):
            yield Change(3, "other-value", node, _number(other))
        if value:
            yield Change(3, "opposite", node, _number(-value))
    elif isinstance(value, float):
        yield Change(3, "opposite", node, ast.UnaryOp(ast.USub(), node))
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1:
        yield Change(2, "other-value", node, _code("float('-inf')"))


def _exchanged(items: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    for one, other in itertools.combinations(range(len(items)), 2):
        if isinstance(items[one], ast.Starred) or isinstance(items[other], ast.Starred):
            continue
        found = [*items]
        found[one], found[other] = found[other], found[one]
        yield found


def _called(node: ast.Call, name: str) -> ast.Call:
    """Return the same call of a function with another name."""
    if isinstance(node.func, ast.Attribute):
        return ast.Call(_attribute(node.func.value, name), node.args, node.keywords)
    return ast.Call(ast.Name(name, ast.Load()), node.args, node.keywords)


def _receiver(node: ast.Call) -> ast.expr | None:
    """Return what a method is called on; None for a function, also of a library or a module."""
    if not isinstance(node.func, ast.Attribute):
        return None
    base = node.func.value
    root = base
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(base, ast.Name) and base.id in LIBRARIES:
        return None
    if isinstance(root, ast.Name) and root.id in LIBRARIES - {"self"}:
        return None
    return base


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _integer(node: ast.AST) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


def _number(value: int) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _attribute(value: ast.expr, name: str) -> ast.Attribute:
    return ast.Attribute(value, name, ast.Load())


def _code(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _code_of(node: ast.expr, method: str) -> ast.expr:
    """Return the call of a method, given as code, on an expression."""
    name, _, rest = method.partition("(")
    given = _code(f"f({rest}" if rest else "f()")
    assert isinstance(given, ast.Call)
    return ast.Call(_attribute(node, name), given.args, [])
