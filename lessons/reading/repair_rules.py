"""The rules of repairs: which edits of an expression, or of the statements of a block, undo which kind of mistake."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

Edited = Iterator[tuple[str, ast.expr]]
"""Kinds of mistakes, each with the expression that undoes it."""

Blocks = Iterator[tuple[str, int, list[ast.stmt]]]
"""Kinds of mistakes, each with its line and the statements that undo it."""

MOST_NAMES = 10
AXES = (0, 1, 2, 3, -1, -2)
REDUCING = frozenset(("sum", "mean", "max", "min", "amax", "amin", "norm", "prod", "std", "argmax", "logsumexp"))
ON_AXIS = REDUCING | {
    *(
        "softmax",
        "log_softmax",
        "Softmax",
        "argmin",
        "cumsum",
        "cat",
        "concat",
        "stack",
        "size",
        "unsqueeze",
        "squeeze",
    ),
    *("chunk", "split", "unbind", "flip", "roll", "any", "all", "select"),
}
NEEDING_AXIS = REDUCING | {"softmax", "cat", "stack"}
SWAPPED = ("transpose", "swapaxes", "swapdims")
TURNED = ("T", "mT")
LAID_OUT = ("view", "reshape", "permute")
ALIKE = (
    ("sum", "mean", "max", "amax", "prod"),
    ("tril", "triu"),
    ("zeros", "ones"),
    ("zeros_like", "ones_like"),
    ("rand", "randn"),
    ("cat", "stack"),
    ("softmax", "log_softmax", "sigmoid"),
    ("argmax", "argmin"),
    ("floor", "ceil"),
    ("exp", "log"),
    ("sin", "cos"),
)
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Mult: (ast.Div, ast.MatMult, ast.Add),
    ast.MatMult: (ast.Mult,),
    ast.Div: (ast.Mult, ast.Sub),
    ast.FloorDiv: (ast.Div,),
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Div),
}
PRODUCTS = (ast.Mult, ast.MatMult)
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
DETACHING = ("detach", "item", "data", "tolist", "numpy")
ROUNDING = ("round", "floor", "ceil", "int", "long", "trunc")


class Scope:
    """The names that code at some position can use: of the function around it, and of `self`."""

    def __init__(self, node: ast.AST, attributes: Sequence[str] = (), *, in_function: bool = False) -> None:
        self.attributes = tuple(attributes)
        self.names: dict[str, int] = {}
        """Each name with the line from which on it has a value."""
        self.in_function = in_function
        if not in_function:
            return
        for each in ast.walk(node):
            if isinstance(each, ast.arg) and each.arg != "self":
                self.names.setdefault(each.arg, each.lineno)
            elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                self.names[each.id] = min(each.lineno, self.names.get(each.id, each.lineno))

    def within(self, node: ast.FunctionDef | ast.ClassDef) -> Scope:
        """Return the scope of the code in a function or class."""
        if isinstance(node, ast.FunctionDef):
            return Scope(node, self.attributes, in_function=True)
        kept = dict.fromkeys(
            each.attr
            for each in ast.walk(node)
            if isinstance(each, ast.Attribute) and _is_self(each.value) and isinstance(each.ctx, ast.Store)
        )
        return Scope(node, tuple(kept))

    def names_at(self, line: int) -> list[str]:
        """Return the names with a value on a line, latest first."""
        return [name for name, since in reversed(self.names.items()) if since <= line][:MOST_NAMES]


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _function(node: ast.expr) -> str:
    """Return the last part of the name of what a call calls, "" for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _integer(node: ast.expr) -> int | None:
    """Return the value of a whole number in code, with its sign; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _number(value: int) -> ast.expr:
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def _with_arguments(call: ast.Call, args: list[ast.expr]) -> ast.Call:
    return ast.Call(call.func, args, call.keywords)


def _method(value: ast.expr, name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(value, name, ast.Load()), list(args), [])


def _of_torch(name: str, *args: ast.expr) -> ast.Call:
    # A plain answer may have torch under another name, or not at all; then the repair fails like any other.
    return _method(ast.Name("torch", ast.Load()), name, *args)


# Expressions ---------------------------------------------------------------------------------------------------------


def axes(node: ast.expr, scope: Scope) -> Edited:
    """Exchange the axis that a call is about, or the axes that it exchanges."""
    name = _function(node)
    if not isinstance(node, ast.Call):
        return
    if name in ON_AXIS:
        for index, keyword in enumerate(node.keywords):
            if keyword.arg in ("dim", "axis") and _integer(keyword.value) is not None:
                for axis in AXES:
                    words = list(node.keywords)
                    words[index] = ast.keyword(keyword.arg, _number(axis))
                    yield "axis", ast.Call(node.func, node.args, words)
        if node.args and _integer(node.args[-1]) is not None:
            for axis in AXES:
                yield "axis", _with_arguments(node, [*node.args[:-1], _number(axis)])
        elif name in NEEDING_AXIS and not any(word.arg in ("dim", "axis") for word in node.keywords):
            for axis in (-1, 0, 1):
                words = [*node.keywords, ast.keyword("dim", _number(axis))]
                yield "axis-missing", ast.Call(node.func, node.args, words)
    elif name in SWAPPED and len(node.args) >= 2:
        for pair in ((1, 2), (-2, -1), (0, 1), (2, 3)):
            yield "axes-exchanged", _with_arguments(node, [*node.args[:-2], *map(_number, pair)])
    elif name in LAID_OUT:
        for index in range(len(node.args) - 1):
            args = list(node.args)
            args[index], args[index + 1] = args[index + 1], args[index]
            yield "sizes-in-order", _with_arguments(node, args)


def shape_index(node: ast.expr, scope: Scope) -> Edited:
    """Take another entry of a shape."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute) or node.value.attr != "shape":
        return
    if _integer(node.slice) is not None:
        for axis in AXES:
            yield "other-size", ast.Subscript(node.value, _number(axis), ast.Load())


def transposing(node: ast.expr, scope: Scope) -> Edited:
    """Remove a transposition, or add one to an operand."""
    if isinstance(node, ast.Attribute) and node.attr in TURNED and isinstance(node.ctx, ast.Load):
        yield "transpose-extra", node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in (*SWAPPED, "t", "permute"):
            yield "transpose-extra", node.func.value
        if node.func.attr in LAID_OUT:
            turned = _method(node.func.value, "transpose", _number(1), _number(2))
            yield "transpose-missing", ast.Call(ast.Attribute(turned, node.func.attr, ast.Load()), node.args, [])
            yield "transpose-missing", _method(node, "transpose", _number(1), _number(2))
    if isinstance(node, ast.BinOp) and isinstance(node.op, PRODUCTS):
        for left, right in (
            (node.left, ast.Attribute(node.right, "mT", ast.Load())),
            (ast.Attribute(node.left, "mT", ast.Load()), node.right),
        ):
            yield "transpose-missing", ast.BinOp(left, node.op, right)


def operands(node: ast.expr, scope: Scope) -> Edited:
    """Exchange operands, take another operator, or leave an operand out."""
    if not isinstance(node, ast.BinOp):
        return
    if not isinstance(node.op, ast.Add | ast.Mult):
        yield "operands-exchanged", ast.BinOp(node.right, node.op, node.left)
    for other in OPERATORS.get(type(node.op), ()):
        kind = "times-for-product" if isinstance(node.op, ast.Mult) and other is ast.MatMult else "operator"
        kind = "whole-division" if isinstance(node.op, ast.FloorDiv) else kind
        yield kind, ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, ast.Pow):
        yield "power-extra", node.left
    else:
        yield "operand-extra", node.left
        if not isinstance(node.op, ast.Div):
            yield "operand-extra", node.right
    if isinstance(node.op, ast.Div | ast.Mult) and not isinstance(node.right, ast.Constant):
        yield "root-missing", ast.BinOp(node.left, node.op, ast.BinOp(node.right, ast.Pow(), ast.Constant(0.5)))
    if isinstance(node.op, ast.Pow):
        for power in (0.5, -0.5, 2):
            yield "power", ast.BinOp(node.left, node.op, ast.Constant(power))


def names(node: ast.expr, scope: Scope) -> Edited:
    """Take another name of the function, or another attribute of `self`."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in scope.names:
            for name in scope.names_at(node.lineno):
                yield "other-name", ast.Name(name, ast.Load())
        if node.id in scope.attributes and node.id not in scope.names:
            yield "self-missing", ast.Attribute(ast.Name("self", ast.Load()), node.id, ast.Load())
    if isinstance(node, ast.Attribute) and _is_self(node.value) and isinstance(node.ctx, ast.Load):
        for name in scope.attributes[:MOST_NAMES]:
            yield "other-attribute", ast.Attribute(node.value, name, ast.Load())


def calls(node: ast.expr, scope: Scope) -> Edited:
    """Call a function that is easily mistaken for the one called, or none."""
    if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
        yield "without-gradients", node.value
    if not isinstance(node, ast.Call):
        return
    name = _function(node)
    for group in ALIKE:
        for other in group if name in group else ():
            if isinstance(node.func, ast.Attribute):
                changed: ast.expr = ast.Attribute(node.func.value, other, ast.Load())
            else:
                changed = ast.Name(other, ast.Load())
            yield "other-triangle" if "tril" in group else "other-function", ast.Call(changed, node.args, node.keywords)
    kind = "without-gradients" if name in DETACHING else "rounded" if name in ROUNDING else "call-extra"
    if isinstance(node.func, ast.Attribute) and name not in SWAPPED:
        yield kind, node.func.value
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield kind, node.args[0]
    if name in REDUCING:
        rest = [word for word in node.keywords if word.arg != "keepdim"]
        if len(rest) == len(node.keywords):
            yield "keepdim-missing", ast.Call(node.func, node.args, [*rest, ast.keyword("keepdim", ast.Constant(True))])
        else:
            yield "keepdim-extra", ast.Call(node.func, node.args, rest)
    if name in ("tril", "triu"):
        rest = [word for word in node.keywords if word.arg != "diagonal"]
        for diagonal in (0, 1, -1):
            words = [*rest, ast.keyword("diagonal", _number(diagonal))]
            yield "diagonal", ast.Call(node.func, node.args[: 1 if _is_function(node) else 0], words)
    for index in range(len(node.args) - 1):
        if name not in LAID_OUT:
            args = list(node.args)
            args[index], args[index + 1] = args[index + 1], args[index]
            yield "arguments-exchanged", _with_arguments(node, args)


def _is_function(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) or (
        isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "torch"
    )


def masks(node: ast.expr, scope: Scope) -> Edited:
    """Negate a mask, or fill it with another value."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert | ast.Not):
        yield "negated", node.operand
    name = _function(node)
    if isinstance(node, ast.Call) and name in ("masked_fill", "masked_fill_", "where") and len(node.args) >= 2:
        negated = ast.UnaryOp(ast.Invert(), _method(node.args[0], "bool"))
        yield "not-negated", _with_arguments(node, [negated, *node.args[1:]])
        for value in ("-inf", 0.0):
            filled = ast.Call(ast.Name("float", ast.Load()), [ast.Constant(value)], [])
            yield "fill", _with_arguments(node, [*node.args[:-1], filled])
            if name != "where":
                continue
            yield "fill", _with_arguments(node, [node.args[0], filled, *node.args[2:]])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _integer(node) is None:
        yield "sign", node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield "comparison", ast.Compare(node.left, [other()], node.comparators)


def constants(node: ast.expr, scope: Scope) -> Edited:
    """Take a neighboring whole number, the other truth value, or what is left of one."""
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "flag", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        for name in scope.names_at(node.lineno):
            yield "fixed-number", ast.Name(name, ast.Load())
        for value in dict.fromkeys((node.value - 1, node.value + 1)):
            yield "number", _number(value)
    if isinstance(node, ast.Slice):
        yield "slice", ast.Slice(None, None, node.step)
        for lower, upper in ((node.lower, None), (None, node.upper)):
            yield "slice", ast.Slice(lower, upper, node.step)
        for step in (1, -1):
            if node.upper is not None:
                yield "slice", ast.Slice(node.lower, ast.BinOp(node.upper, ast.Add(), _number(step)), node.step)
            if node.lower is not None:
                yield "slice", ast.Slice(ast.BinOp(node.lower, ast.Add(), _number(step)), node.upper, node.step)
    if isinstance(node, ast.Call) and _function(node) == "range" and len(node.args) in (1, 2):
        for step in (1, -1):
            last = ast.BinOp(node.args[-1], ast.Add(), _number(step))
            yield "range", _with_arguments(node, [*node.args[:-1], last])
        if len(node.args) == 2:
            yield "range", _with_arguments(node, [node.args[1]])


EXPRESSION_RULES: tuple[Callable[[ast.expr, Scope], Edited], ...] = (
    axes,
    shape_index,
    transposing,
    operands,
    names,
    calls,
    masks,
    constants,
)

# Statements ----------------------------------------------------------------------------------------------------------


def results(body: Sequence[ast.stmt], scope: Scope) -> Blocks:
    """Keep the result of a call that only looks as if it changed its tensor; compute anew instead of in place."""
    for index, item in enumerate(body):
        call = item.value if isinstance(item, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            for each in (call.func.value, *call.args[:1]):
                if isinstance(each, ast.Name) and each.id in scope.names:
                    new: ast.stmt = ast.Assign([ast.Name(each.id, ast.Store())], call, lineno=item.lineno)
                    yield "result-dropped", item.lineno, [*body[:index], new, *body[index + 1 :]]
        if isinstance(item, ast.AugAssign) and isinstance(item.target, ast.Name):
            value = ast.BinOp(ast.Name(item.target.id, ast.Load()), item.op, item.value)
            new = ast.Assign([item.target], value, lineno=item.lineno)
            yield "original-changed", item.lineno, [*body[:index], new, *body[index + 1 :]]


def returns(body: Sequence[ast.stmt], scope: Scope) -> Blocks:
    """Return other values, in another order, fewer of them, or a list as one tensor."""
    for index, item in enumerate(body):
        if not isinstance(item, ast.Return) or item.value is None:
            continue
        before = list(body[:index])
        value = item.value
        if isinstance(value, ast.Tuple):
            for other in range(len(value.elts)):
                yield "returned-too-much", item.lineno, [*before, ast.Return(value.elts[other])]
            for first in range(len(value.elts)):
                for second in range(first + 1, len(value.elts)):
                    elts = list(value.elts)
                    elts[first], elts[second] = elts[second], elts[first]
                    yield "returned-in-order", item.lineno, [*before, ast.Return(ast.Tuple(elts, ast.Load()))]
        elif not isinstance(value, ast.Name):
            for name in scope.names_at(item.lineno):
                yield "returned-other", item.lineno, [*before, ast.Return(ast.Name(name, ast.Load()))]
        for function in ("stack", "cat"):
            yield "list-returned", item.lineno, [*before, ast.Return(_of_torch(function, value))]
        for name in scope.attributes:
            layer = ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load())
            yield "layer-unused", item.lineno, [*before, ast.Return(ast.Call(layer, [value], []))]


def order(body: Sequence[ast.stmt], scope: Scope) -> Blocks:
    """Leave a statement out, exchange two, or move the last one of a loop behind it."""
    for index, item in enumerate(body):
        rest = [*body[:index], *body[index + 1 :]]
        simple = isinstance(item, ast.Assign | ast.AugAssign | ast.Expr | ast.If)
        if simple and rest:
            yield "statement-extra", item.lineno, rest
        if index and simple and isinstance(body[index - 1], ast.Assign | ast.AugAssign | ast.Expr):
            moved = [*body[: index - 1], item, body[index - 1], *body[index + 1 :]]
            yield "statements-in-order", item.lineno, moved
        if isinstance(item, ast.For) and len(item.body) > 1:
            last = item.body[-1]
            loop = ast.For(item.target, item.iter, item.body[:-1], item.orelse, lineno=item.lineno)
            kind = "return-in-loop" if isinstance(last, ast.Return) else "statement-in-loop"
            yield kind, last.lineno, [*body[:index], loop, last, *body[index + 1 :]]
        if isinstance(item, ast.With):
            yield "block-extra", item.lineno, [*body[:index], *item.body, *body[index + 1 :]]


def registering(body: Sequence[ast.stmt], scope: Scope) -> Blocks:
    """Register a tensor of a module as a parameter or as a buffer, or a list as a list of modules."""
    for index, item in enumerate(body):
        if not isinstance(item, ast.Assign) or len(item.targets) != 1:
            continue
        target = item.targets[0]
        if not isinstance(target, ast.Attribute) or not _is_self(target.value):
            continue
        kept = ast.Expr(_method(target.value, "register_buffer", ast.Constant(target.attr), item.value))
        yield "no-buffer", item.lineno, [*body[:index], kept, *body[index + 1 :]]
        nn = ast.Attribute(ast.Name("torch", ast.Load()), "nn", ast.Load())
        for name, kind in (("Parameter", "no-parameter"), ("ModuleList", "no-module-list")):
            new = ast.Assign([target], _method(nn, name, item.value), lineno=item.lineno)
            yield kind, item.lineno, [*body[:index], new, *body[index + 1 :]]


STATEMENT_RULES: tuple[Callable[[Sequence[ast.stmt], Scope], Blocks], ...] = (results, returns, order, registering)
