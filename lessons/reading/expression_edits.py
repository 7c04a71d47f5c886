"""Small edits of expressions, as a learner might make them when they look for a mistake: another axis, no transpose.

Nothing here knows a right answer. Whether an edit is a repair, a run decides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from attn_tutor.lessons.reading.call_edits import RIVALS, changes_of_call
from attn_tutor.lessons.reading.edit_nodes import (
    Change,
    attribute,
    exchanged,
    expression,
    inner_of,
    integer_of,
    is_own,
    method_of,
    name_of,
    number,
    receiver_of,
    same,
    shares_of,
    with_inner,
)
from attn_tutor.lessons.reading.repair_kinds import ELSEWHERE, LIBRARIES, TURNING

LAST_TWO = "transpose(-2, -1)"

PRODUCTS = ("matmul", "mm", "bmm", "einsum", "dot", "mv")

SIZES = ("in_features", "out_features")

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

NAMED_OPERATORS: dict[str, ast.operator] = {
    "add": ast.Add(),
    "sub": ast.Sub(),
    "subtract": ast.Sub(),
    "mul": ast.Mult(),
    "multiply": ast.Mult(),
    "div": ast.Div(),
    "divide": ast.Div(),
    "true_divide": ast.Div(),
    "matmul": ast.MatMult(),
    "mm": ast.MatMult(),
    "bmm": ast.MatMult(),
}
"""Functions and methods of torch that do what an operator does."""

MASK = re.compile(r"mask|tri[lu]|keep|visible|allowed|causal|future")
"""What code that stands for a mask is called."""

LARGE = 1e3
"""From which number on one may stand for infinity."""

MOST_IN_ORDER = 4

COMPARISONS = (ast.Lt(), ast.LtE(), ast.Gt(), ast.GtE(), ast.Eq(), ast.NotEq())

ORDERED = (ast.MatMult, ast.Sub, ast.Div, ast.FloorDiv, ast.Pow)
"""Operators whose two sides may not change places."""


_ALIKE = {name: tuple(other for other in group if other != name) for group in RIVALS for name in group}


def changes_of(node: ast.expr, parent: ast.AST) -> Iterator[Change]:
    """Yield the changes of one expression, which is a part of `parent`."""
    match node:
        case ast.Call():
            yield from changes_of_call(node)
            if (same := as_operation(node)) is not None:
                # The learner reads their own call, not the operator in its place.
                written = ast.unparse(same)
                for change in _of_operation(same):
                    about = node if ast.unparse(change.about) == written else change.about
                    yield replace(change, about=about)
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
                    yield Change(1, "other-attribute", node, attribute(node.value, size))
        case ast.Attribute(attr=name) if isinstance(parent, ast.Call) and node in parent.args and name in _ALIKE:
            for alike in _ALIKE[name]:
                yield Change(1, "other-function", node, attribute(node.value, alike))
        case ast.Attribute(attr="data"):
            yield Change(1, "too-much", ast.Attribute(ELSEWHERE, "data", ast.Load()), node.value)
        case ast.Subscript():
            yield from _of_subscript(node)
        case ast.Tuple() if isinstance(node.ctx, ast.Load) and isinstance(parent, ast.Return | ast.Assign | ast.Call):
            for values in exchanged(node.elts):
                yield Change(1, "order", node, ast.Tuple(values, ast.Load()))
        case ast.List(elts=[one]) if isinstance(parent, ast.Subscript):
            yield Change(1, "index", parent, one)
        case ast.List(elts=elements) if 1 < len(elements) <= MOST_IN_ORDER and isinstance(node.ctx, ast.Load):
            for values in exchanged(elements):
                yield Change(2, "order", node, ast.List(values, ast.Load()))
        case ast.SetComp(elt=one, generators=generators):
            yield Change(1, "each-once", node, ast.ListComp(one, generators))
        case ast.ListComp(elt=ast.ListComp(generators=[inner]) as made, generators=[outer]):
            turned = ast.ListComp(ast.ListComp(made.elt, [outer]), [inner])
            yield Change(1, "order", node, turned)
        case ast.ListComp(
            elt=ast.Call(args=[ast.ListComp(generators=[inner]) as made, *rest]) as call, generators=[outer]
        ):
            turned = ast.ListComp(made.elt, [outer])
            yield Change(1, "order", node, ast.ListComp(ast.Call(call.func, [turned, *rest], call.keywords), [inner]))
        case ast.BoolOp(op=op, values=values):
            rival = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield Change(2, "operator", node, ast.BoolOp(rival, values))
            for at, value in enumerate(values):
                others = [*values[:at], *values[at + 1 :]]
                yield Change(2, "condition-extra", value, others[0] if len(others) == 1 else ast.BoolOp(op, others))
        case ast.ListComp(elt=made, generators=[ast.comprehension(ifs=[_, *_] as conditions) as one]):
            for at, condition in enumerate(conditions):
                kept = [*conditions[:at], *conditions[at + 1 :]]
                every = ast.comprehension(one.target, one.iter, kept, one.is_async)
                yield Change(2, "condition-extra", condition, ast.ListComp(made, [every]))
        case ast.IfExp():
            yield Change(1, "condition", node.test, expression("self.training"), node.test)
            yield Change(2, "opposite", node.test, ast.IfExp(node.test, node.orelse, node.body))
        case ast.Constant():
            yield from _of_constant(node, parent)
        case ast.Name(id="int" | "float"):
            return
    yield from _in_product(node, parent)


def _of_operation(node: ast.BinOp) -> Iterator[Change]:
    if isinstance(node.op, ORDERED):
        yield Change(0, "sides-exchanged", node, ast.BinOp(node.right, node.op, node.left))
    if isinstance(node.op, ast.MatMult):
        yield from _of_transposed(node)
    for other in OPERATORS.get(type(node.op), ()):
        kind = "place-by-place" if isinstance(node.op, ast.Mult) and isinstance(other, ast.MatMult) else "operator"
        yield Change(1, kind, node, ast.BinOp(node.left, other, node.right))
    if not isinstance(node.op, ast.MatMult):
        yield Change(2, "too-much", ast.BinOp(ELSEWHERE, node.op, node.right), node.left)
        if not isinstance(node.right, ast.Constant):
            yield Change(3, "too-much", ast.BinOp(node.left, node.op, ELSEWHERE), node.right)
    if isinstance(node.op, ast.Div | ast.Mult):
        root = ast.BinOp(node.right, ast.Pow(), ast.Constant(0.5))
        yield Change(2, "too-little", node.right, ast.BinOp(node.left, node.op, root))
        for op in (ast.Add(), ast.Sub()) if not isinstance(node.right, ast.Constant | ast.BinOp) else ():
            near = ast.BinOp(node.right, op, ast.Constant(1))
            yield Change(3, "too-little", node.right, ast.BinOp(node.left, node.op, near))
        if not isinstance(node.right, ast.Constant):
            rest = ast.BinOp(ast.Constant(1), ast.Sub(), node.right)
            yield Change(3, "too-little", node.right, ast.BinOp(node.left, node.op, rest))
    if isinstance(node.op, ast.Add | ast.Sub) and (marks := _marked_by_large(node.right)) is not None:
        hidden = f"torch.where(({ast.unparse(marks)}) != 0, -torch.inf, {ast.unparse(node.left)})"
        yield Change(1, "not-infinite", node.right, expression(hidden))
    if isinstance(node.op, ast.Sub) and integer_of(node.left) == 1:
        yield Change(1, "truth-subtracted", node, ast.UnaryOp(ast.Invert(), node.right))
    if isinstance(node.op, ast.Mult):
        for mask, scores in ((node.left, node.right), (node.right, node.left)):
            if MASK.search(ast.unparse(mask)):
                hidden = f"torch.where(({ast.unparse(mask)}) != 0, {ast.unparse(scores)}, -torch.inf)"
                yield Change(2, "zeros-left", node, expression(hidden))
                yield Change(1, "not-shared-out", node, shares_of(node))
    if isinstance(node.op, ast.Div) and _is_sum_of(node.right, node.left):
        yield Change(1, "plain-shares", node, ast.Call(expression("torch.softmax"), [node.left, number(-1)], []))
    match node:
        case ast.BinOp(left=ast.Call() as first_call, right=ast.Call() as second_call):
            inner, second = inner_of(first_call), inner_of(second_call)
            if inner is not None and second is not None and name_of(first_call.func) == name_of(second_call.func):
                whole = with_inner(first_call, ast.BinOp(inner, node.op, second))
                yield Change(1, "operation-moved", with_inner(first_call, ELSEWHERE), whole)
    for call, factor, turned in ((node.left, node.right, False), (node.right, node.left, True)):
        if isinstance(call, ast.Call) and isinstance(node.op, ast.Mult if turned else ast.Mult | ast.Div):
            inner = inner_of(call)
            if inner is not None:
                about = ast.BinOp(factor, node.op, ELSEWHERE) if turned else ast.BinOp(ELSEWHERE, node.op, factor)
                yield Change(1, "operation-moved", about, with_inner(call, ast.BinOp(inner, node.op, factor)))
    match node:
        case ast.BinOp(ast.BinOp(one, first, ast.BinOp(two, ast.Pow(), power)), last, three):
            # `a / b ** 1 / 2` for `a / b ** (1 / 2)`.
            yield Change(
                0, "brackets", node, ast.BinOp(one, first, ast.BinOp(two, ast.Pow(), ast.BinOp(power, last, three)))
            )
        case ast.BinOp(ast.BinOp(two, ast.Pow(), power), last, three):
            yield Change(0, "brackets", node, ast.BinOp(two, ast.Pow(), ast.BinOp(power, last, three)))
    match node:
        case ast.BinOp(ast.BinOp(one, first, two), last, three) if isinstance(last, ast.Div | ast.Mult):
            if not isinstance(first, ast.MatMult | ast.Pow):
                yield Change(3, "brackets", node, ast.BinOp(one, first, ast.BinOp(two, last, three)))
        case ast.BinOp(one, first, ast.BinOp(two, last, three)) if isinstance(first, ast.Add | ast.Sub):
            yield Change(3, "brackets", node, ast.BinOp(ast.BinOp(one, first, two), last, three))


def _of_transposed(node: ast.BinOp) -> Iterator[Change]:
    """Yield a product in which the other side is transposed."""
    left, right = _not_transposed(node.left), _not_transposed(node.right)
    if left is not None and (other := _transposed_as(node.left, node.right)) is not None:
        yield Change(0, "other-side-transposed", node, ast.BinOp(left, node.op, other))
    if right is not None and (other := _transposed_as(node.right, node.left)) is not None:
        yield Change(0, "other-side-transposed", node, ast.BinOp(other, node.op, right))


def _not_transposed(node: ast.expr) -> ast.expr | None:
    """Return what a transposition turns, None if a node is none."""
    match node:
        case ast.Attribute(value=inner, attr=name) if name in TURNING:
            return inner
        case ast.Call() if name_of(node.func) in TURNING:
            return inner_of(node)
    return None


def _transposed_as(turning: ast.expr, other: ast.expr) -> ast.expr | None:
    """Return another expression transposed in the way of a transposition, None if it is transposed already."""
    if _not_transposed(other) is not None:
        return None
    if isinstance(turning, ast.Attribute):
        return attribute(other, turning.attr)
    return with_inner(turning, other) if isinstance(turning, ast.Call) else None


def _in_product(node: ast.expr, parent: ast.AST) -> Iterator[Change]:
    """Yield changes of a matrix product, and of a part of one."""
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    product = product or (isinstance(node, ast.Call) and name_of(node.func) in PRODUCTS)
    match node:
        case ast.BinOp(
            left=given, right=ast.Attribute(value=ast.Attribute(attr="weight", value=layer), attr="T" | "mT")
        ):
            yield Change(1, "too-little", node, ast.Call(layer, [given], []))
    if product:
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else _operands(node)
        for operand in operands[:1]:
            width = ast.Subscript(ast.Attribute(operand, "shape", ast.Load()), number(-1), ast.Load())
            root = ast.BinOp(width, ast.Pow(), ast.Constant(0.5))
            yield Change(1, "too-little", node, ast.BinOp(node, ast.Div(), root))
        yield Change(2, "transpose-missing", node, method_of(node, LAST_TWO))
    inside = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult)
    inside = inside or (isinstance(parent, ast.Call) and name_of(parent.func) in PRODUCTS and node is not parent.func)
    if inside and not isinstance(node, ast.Constant | ast.Starred) and name_of(node) not in LIBRARIES:
        yield Change(0, "transpose-missing", node, method_of(node, LAST_TWO))


def as_operation(node: ast.Call) -> ast.BinOp | None:
    """Return the operation of two sides that a call of torch does, as an operator does it; None for any other call."""
    receiver = receiver_of(node)
    operator = NAMED_OPERATORS.get(name_of(node.func).removesuffix("_"))
    match ([] if receiver is None or is_own(node) else [receiver]) + node.args:
        case [one, other] if operator is not None and not node.keywords and isinstance(node.func, ast.Attribute):
            return ast.BinOp(one, operator, other)
    return None


def _marked_by_large(node: ast.expr) -> ast.expr | None:
    """Return the mask that an expression multiplies by a large number, None if it is something else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for factor, mask in ((node.left, node.right), (node.right, node.left)):
            size = factor.operand if isinstance(factor, ast.UnaryOp) else factor
            if isinstance(size, ast.Constant) and isinstance(size.value, int | float) and size.value >= LARGE:
                return mask
    return None


def _is_sum_of(node: ast.expr, whole: ast.expr) -> bool:
    """Return whether an expression adds up the numbers of another one."""
    if not isinstance(node, ast.Call) or name_of(node.func) != "sum":
        return False
    inner = inner_of(node)
    return inner is not None and same(inner, whole)


def _operands(node: ast.expr) -> list[ast.expr]:
    assert isinstance(node, ast.Call)
    receiver = receiver_of(node)
    given = [item for item in node.args if not isinstance(item, ast.Constant | ast.Starred)]
    return given if receiver is None else [receiver, *given]


def _of_subscript(node: ast.Subscript) -> Iterator[Change]:
    sizes = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if sizes and (now := integer_of(node.slice)) is not None:
        for axis in (-1, 0, 1, -2, 2):
            if axis != now:
                yield Change(1, "index", node, ast.Subscript(node.value, number(axis), ast.Load()))
        yield Change(3, "too-much", ast.Subscript(ELSEWHERE, node.slice, ast.Load()), node.value)
        return
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    ends = [entry.upper for entry in entries if isinstance(entry, ast.Slice) and entry.upper is not None]
    for position, entry in enumerate(entries):
        for other in (*_other_entries(entry), *_last_ones(entry, ends)):
            changed = [*entries]
            changed[position] = other
            index = ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else other
            yield Change(2, "index", node, ast.Subscript(node.value, index, ast.Load()))
    if isinstance(node.ctx, ast.Load):
        yield Change(3, "too-much", ast.Subscript(ELSEWHERE, node.slice, ast.Load()), node.value)


def _last_ones(entry: ast.expr, ends: list[ast.expr]) -> Iterator[ast.expr]:
    """Yield as many places as the first ones up to an end, but the last of those up to another one."""
    if isinstance(entry, ast.Slice) and entry.lower is None and entry.upper is not None:
        for end in ends:
            if not same(end, entry.upper):
                yield ast.Slice(ast.BinOp(end, ast.Sub(), entry.upper), end)


def _other_entries(entry: ast.expr) -> Iterator[ast.expr]:
    if (place := integer_of(entry)) is not None:
        # A slice keeps the axis.
        yield ast.Slice(number(place), None if place == -1 else number(place + 1))
    if isinstance(entry, ast.Slice):
        lower, upper = entry.lower, entry.upper
        match upper:
            case ast.BinOp(left=begin, op=ast.Add(), right=width) if lower is not None and same(begin, lower):
                # The block after as many whole ones.
                first = ast.BinOp(lower, ast.Mult(), width)
                yield ast.Slice(first, ast.BinOp(first, ast.Add(), width))
        if lower is not None and upper is not None:
            yield lower
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
            yield number(-1)
    elif not isinstance(entry, ast.Constant):
        for op in (ast.Add(), ast.Sub()):
            yield ast.BinOp(entry, op, ast.Constant(1))


def _of_constant(node: ast.Constant, parent: ast.AST) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield Change(2, "other-value", node, ast.Constant(not value))
    elif isinstance(value, int):
        for other in (value + 1, value - 1):
            yield Change(3, "other-value", node, number(other))
        if value:
            yield Change(3, "opposite", node, number(-value))
    elif isinstance(value, float):
        power = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow)
        yield Change(1 if power else 3, "opposite", node, ast.UnaryOp(ast.USub(), node))
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1:
        yield Change(2, "other-value", node, expression("float('-inf')"))
