"""Small edits of expressions and calls, as a learner might make them when they look for a mistake.

Another axis, another function, no transpose, more or fewer arguments, one call less. Nothing here knows a right answer.
Whether an edit is a repair, a run decides.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attn_tutor.lessons.reading.operations import name_of
from attn_tutor.lessons.reading.repair_kinds import AXES, BUILTINS, ELSEWHERE, LIBRARIES, ON_AXES, TURNING


@dataclass(frozen=True, slots=True)
class Change:
    """What to put in place of an expression.

    Attributes:
        rank: how far it is from what learners usually get wrong; smaller numbers are tried first.
        kind: the id of its kind (`repair_kinds`).
        about: the code that a sentence about it quotes.
        new: the new expression.
        at: the part of the expression in whose place it goes; None for all of it.
        line: the line that it is about, if that is not the one of its place.
    """

    rank: int
    kind: str
    about: ast.AST
    new: ast.expr
    at: ast.expr | None = None
    line: int | None = None


def inner_of(node: ast.Call) -> ast.expr | None:
    """Return what a call of a method or of a function of a library computes with, None if it is not known."""
    receiver = receiver_of(node)
    if receiver is not None and not is_own(node):
        return receiver
    given = node.args[_first(node) :] if isinstance(node.func, ast.Attribute) else []
    return given[0] if given and not isinstance(given[0], ast.Starred) else None


def with_inner(node: ast.Call, inner: ast.expr) -> ast.Call:
    """Return the same call, computing with something else."""
    if receiver_of(node) is not None and not is_own(node) and isinstance(node.func, ast.Attribute):
        return ast.Call(attribute(inner, node.func.attr), node.args, node.keywords)
    first = _first(node)
    return ast.Call(node.func, [*node.args[:first], inner, *node.args[first + 1 :]], node.keywords)


def _first(node: ast.Call) -> int:
    """Return the position of the first argument that is computed with; `einsum` has its subscripts before it."""
    return 1 if name_of(node.func) == "einsum" else 0


def is_own(node: ast.Call) -> bool:
    """Return whether a call is one of the module's own layers or methods, or of a method of a type, `dict.fromkeys`."""
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(base, ast.Name) and (base.id == "self" or base.id in BUILTINS)


def exchanged(items: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield a list with two of its items exchanged, for every two."""
    for one, other in itertools.combinations(range(len(items)), 2):
        if isinstance(items[one], ast.Starred) or isinstance(items[other], ast.Starred):
            continue
        found = [*items]
        found[one], found[other] = found[other], found[one]
        yield found


def receiver_of(node: ast.Call) -> ast.expr | None:
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


def integer_of(node: ast.AST) -> int | None:
    """Return a whole number that code writes out, None for anything else."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


def same(one: ast.AST, other: ast.AST) -> bool:
    """Return whether two pieces of code are the same."""
    return ast.dump(one) == ast.dump(other)


def number(value: int) -> ast.expr:
    """Return a whole number as code."""
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def attribute(value: ast.expr, name: str) -> ast.Attribute:
    """Return an attribute of an expression."""
    return ast.Attribute(value, name, ast.Load())


def shares_of(node: ast.expr) -> ast.expr:
    """Return numbers divided by their sum along the last axis."""
    # The same node twice, so that an edit of a part of it is made in both places.
    return ast.BinOp(node, ast.Div(), method_of(node, "sum(-1, keepdim=True)"))


def expression(text: str) -> ast.expr:
    """Parse an expression."""
    return ast.parse(text, mode="eval").body


def method_of(node: ast.expr, method: str) -> ast.expr:
    """Return the call of a method, given as code, on an expression."""
    name, _, rest = method.partition("(")
    given = expression(f"f({rest}" if rest else "f()")
    assert isinstance(given, ast.Call)
    return ast.Call(attribute(node, name), given.args, given.keywords)


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
    ("sum", "mean", "median", "prod", "max", "amax", "min", "amin"),
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
    ("add", "mul", "sub", "div"),
    ("lt", "le", "gt", "ge", "eq", "ne"),
)
"""Functions that are taken for one another."""

WITH_PLACES = ("max", "min", "median")
"""Functions that return, along an axis, the places beside the values."""

VIEWS = ("view", "reshape")

FILLS = ("masked_fill", "masked_fill_", "where", "full", "full_like")

MAKERS = frozenset(("rand", "randn", "zeros", "ones", "full", "arange", "empty", "eye", "Parameter", "Linear"))

KEPT = frozenset(("keys", "values", "items", "append", "parameters", "register_buffer"))
"""Methods without which nothing is left."""

SOLID = (ast.Constant, ast.Starred)
"""Arguments that do not stand for the call that they are given to."""

TRIANGLES = ("tril", "triu", "tril_", "triu_")

HIDING = (*TRIANGLES, "masked_fill", "where")
"""Functions that may set some of the weights of a row to 0."""

MOST_ORDERS = 6


def changes_of_call(node: ast.Call) -> Iterator[Change]:
    name = name_of(node.func)
    receiver = receiver_of(node)
    if name in ON_AXES:
        yield from _of_axes(node, name)
    if name in REDUCING and not isinstance(node.func, ast.Name):
        yield from _of_reduction(node)
    for position, word in enumerate(node.keywords):
        rest = [*node.keywords[:position], *node.keywords[position + 1 :]]
        yield Change(2, "argument-extra", node, ast.Call(node.func, node.args, rest), line=word.value.lineno)
        if "mask" in (word.arg or ""):
            yield Change(1, "opposite", word.value, ast.UnaryOp(ast.Invert(), word.value), word.value)
            yield Change(1, "mask-of-numbers", word.value, method_of(word.value, "bool()"), word.value)
        if word.arg == "dropout_p" and not isinstance(word.value, ast.Constant):
            only = ast.IfExp(expression("self.training"), word.value, ast.Constant(0.0))
            yield Change(1, "in-training-only", word.value, only, word.value)
        if isinstance(word.value, ast.Constant) and isinstance(word.value.value, bool):
            yield Change(1, "other-value", word, ast.Constant(not word.value.value), word.value)
    for group in RIVALS:
        for other in group if name in group else ():
            if other != name:
                yield Change(
                    1 if name in ("sum", "mean") else 2, "other-function", node.func, *_in_its_place(node, other)
                )
    if name == "einsum":
        yield from _of_subscripts(node)
    if name.endswith("_") and not name.startswith("_") and receiver is not None:
        yield Change(1, "in-place", node, _called(node, name[:-1]))
    if name == "dropout" and receiver is None:
        trained = ast.keyword("training", expression("self.training"))
        yield Change(1, "argument-missing", node, ast.Call(node.func, node.args, [*node.keywords, trained]))
    if name == "scaled_dot_product_attention":
        yield from _of_causal(node)
        for rank, option, value in ((3, "scale", 1.0), (1, "is_causal", True)):
            if option not in {item.arg for item in node.keywords}:
                more = [*node.keywords, ast.keyword(option, ast.Constant(value))]
                yield Change(rank, "argument-missing", node, ast.Call(node.func, node.args, more))
    if name == "linear" and len(node.args) == 2 and isinstance(node.args[1], ast.Attribute):
        bias = attribute(node.args[1].value, "bias")
        yield Change(1, "argument-missing", node, ast.Call(node.func, [*node.args, bias], node.keywords))
    if name in VIEWS and receiver is not None:
        yield from _of_view(node, receiver)
    for values in exchanged(node.args) if len(node.args) > 1 and name not in ON_AXES | {"einsum"} else ():
        yield Change(3, "order", node, ast.Call(node.func, values, node.keywords))
    if receiver is not None and not is_own(node) and name not in KEPT:
        turned = name in TURNING or name == "permute"
        yield Change(0 if turned else 1, "transpose-extra" if turned else "too-much", *_left(node, receiver))
    elif node.args and name not in MAKERS | KEPT and not isinstance(node.args[0], SOLID):
        turned = name in TURNING
        yield Change(0 if turned else 1, "transpose-extra" if turned else "too-much", *_left(node, node.args[0]))
    if name in TRIANGLES:
        yield from _of_triangle(node, name)
    if name in HIDING:
        yield Change(1, "not-shared-out", node, shares_of(node))
    if name == "roll":
        yield from _of_roll(node)
    if name == "unflatten":
        yield from _of_unflatten(node)
    counted = node.args[:1] if receiver is None else [receiver]
    if name in ("len", "numel") and counted:
        for axis in (-1, 1):
            width = ast.Subscript(attribute(counted[0], "shape"), number(axis), ast.Load())
            yield Change(1, "other-value", node, width)
    if name == "softmax" and (inner := inner_of(node)) is not None:
        yield Change(2, "exponentials-extra", node, shares_of(inner))
    if name == "cosine_similarity" and len(node.args) >= 2:
        product = ast.BinOp(node.args[0], ast.Mult(), node.args[1])
        axes = [word for word in node.keywords if word.arg in AXES]
        yield Change(1, "lengths-divided", node, ast.Call(attribute(product, "sum"), node.args[2:], axes))
    if name in ("set", "fromkeys") and len(node.args) == 1:
        yield Change(1, "each-once", node, ast.Call(ast.Name("list", ast.Load()), node.args, []))
    match node:
        case ast.Call(func=ast.Attribute(value=ast.DictComp() as made, attr="values" | "keys" as part)):
            one = made.value if part == "values" else made.key
            yield Change(1, "each-once", made, ast.ListComp(one, made.generators))
    if name == "where" and len(node.args) == 3:
        for kept in node.args[1:]:
            yield Change(1, "too-much", ast.Call(node.func, [ELSEWHERE, *node.args[1:]], []), kept)
    if name == "Parameter" and node.args:
        copied = method_of(method_of(node.args[0], "detach()"), "clone()")
        yield Change(2, "shared", node.args[0], copied, node.args[0])
    for listed, every in (("parameters", "values"), ("named_parameters", "items")):
        if name == listed and receiver is not None and not node.args:
            state = ast.Call(attribute(receiver, "state_dict"), [], [])
            yield Change(2, "buffers-left-out", node, ast.Call(attribute(state, every), [], []))
    if name == "Linear" and len(node.args) == 2 and not {"bias", None} & {word.arg for word in node.keywords}:
        for code in ("False", "qkv_bias"):
            words = [*node.keywords, ast.keyword("bias", expression(code))]
            yield Change(2, "argument-missing", node, ast.Call(node.func, node.args, words))
    if name == "append" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
        for op in (ast.Add(), ast.Sub()):
            near = ast.BinOp(node.args[0], op, ast.Constant(1))
            yield Change(3, "other-value", node.args[0], near, node.args[0])
    if name == "exp" and (inner := inner_of(node)) is not None:
        yield Change(3, "opposite", inner, ast.UnaryOp(ast.USub(), inner), inner)
    if name == "normalize":
        power = ast.keyword("p", ast.Constant(1))
        yield Change(2, "argument-missing", node, ast.Call(node.func, node.args, [*node.keywords, power]))
    if name == "range":
        yield from _of_range(node)
    if name in FILLS:
        for fill in node.args[1 if receiver is not None or name == "full" else 2 :]:
            yield Change(1, "other-value", fill, expression("float('-inf')"), fill)
    yield from _moved(node)
    if name in ("masked_fill", "masked_fill_", "where"):
        at = 1 if receiver is None and name != "where" else 0
        if at < len(node.args):
            inverted = ast.UnaryOp(ast.Invert(), node.args[at])
            yield Change(0, "opposite", node.args[at], inverted, node.args[at])


def _moved(node: ast.Call) -> Iterator[Change]:
    """Yield two operations, of which one computes with the result of the other, in the opposite order."""
    inner = inner_of(node)
    if isinstance(inner, ast.Call) and (innermost := inner_of(inner)) is not None:
        yield Change(2, "operation-moved", with_inner(node, ELSEWHERE), with_inner(inner, with_inner(node, innermost)))
    elif isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div | ast.Mult | ast.MatMult):
        outside = ast.BinOp(with_inner(node, inner.left), inner.op, inner.right)
        product = isinstance(inner.op, ast.MatMult)
        about = with_inner(node, ELSEWHERE) if product else ast.BinOp(ELSEWHERE, inner.op, inner.right)
        yield Change(2, "operation-moved", about, outside)
    if isinstance(inner, ast.BinOp):
        each = ast.BinOp(with_inner(node, inner.left), inner.op, with_inner(node, inner.right))
        yield Change(2, "operation-moved", with_inner(node, ELSEWHERE), each)


def _left(node: ast.Call, inner: ast.expr) -> tuple[ast.AST, ast.expr]:
    """Return what a sentence quotes of a call that is left out, and what is left of it."""
    if name_of(node.func) in (*TURNING, "permute"):
        return inner, inner
    if isinstance(node.func, ast.Attribute) and node.func.value is inner:
        return ast.Call(attribute(ELSEWHERE, node.func.attr), node.args, node.keywords), inner
    return ast.Call(node.func, [ELSEWHERE, *node.args[1:]], node.keywords), inner


def _in_its_place(node: ast.Call, other: str) -> tuple[ast.expr, ast.expr]:
    """Return what calls another function with the same arguments, and the expression in whose place it goes."""
    called = _called(node, other)
    along = node.keywords or len(node.args) > (receiver_of(node) is None)
    if other in WITH_PLACES and name_of(node.func) not in WITH_PLACES and along:
        return attribute(called, "values"), node
    return called.func, node.func


def _of_axes(node: ast.Call, name: str) -> Iterator[Change]:
    """Yield calls with other axes."""
    if name in ("transpose", "permute"):
        given = node.args[0 if receiver_of(node) is not None else 1 :]
        count = 2 if name == "transpose" else len(given)
        known = [item for item in given if integer_of(item) is not None]
        if len(known) != len(given) or not given:
            return
        now = [integer_of(item) for item in given]
        orders: Iterator[Sequence[int]] = (
            iter(((1, 2), (-2, -1), (0, 1), (0, 2), (2, 3), (1, 3)))
            if name == "transpose"
            else (order for order in itertools.permutations(range(count)))
        )
        others = (order for order in orders if list(order) != now)
        for order in itertools.islice(others, MOST_ORDERS if name == "transpose" else 23):
            args = [*node.args[: len(node.args) - len(given)], *map(number, order)]
            yield Change(0, "axis", node, ast.Call(node.func, args, node.keywords))
        return
    for item in (*node.args, *(word.value for word in node.keywords if word.arg in AXES)):
        if (now_at := integer_of(item)) is not None:
            for axis in (-1, 0, 1, -2, 2):
                if axis != now_at:
                    yield Change(0, "axis", node, number(axis), item)


def _of_reduction(node: ast.Call) -> Iterator[Change]:
    words = {word.arg for word in node.keywords}
    given = node.args[1:] if receiver_of(node) is None else node.args
    if not words & set(AXES) and not given:
        for axis in (-1, 0, 1):
            for kept in ([], [ast.keyword("keepdim", ast.Constant(True))]):
                more = [*node.keywords, ast.keyword("dim", number(axis)), *kept]
                yield Change(1, "argument-missing", node, ast.Call(node.func, node.args, more))
    elif "keepdim" not in words and "softmax" not in name_of(node.func):
        more = [*node.keywords, ast.keyword("keepdim", ast.Constant(True))]
        yield Change(1, "argument-missing", node, ast.Call(node.func, node.args, more))


def _of_subscripts(node: ast.Call) -> Iterator[Change]:
    """Yield calls of `einsum` with two letters of one term exchanged, or another letter in place of one."""
    match node.args:
        case [ast.Constant(value=str(text)), *_]:
            terms = text.replace(" ", "")
            for at, old in enumerate(terms):
                for letter in dict.fromkeys(filter(str.isalpha, terms)) if old.isalpha() else ():
                    if letter != old:
                        changed = ast.Constant(f"{terms[:at]}{letter}{terms[at + 1 :]}")
                        yield Change(1, "subscripts", node, changed, node.args[0])
            for one, other in itertools.combinations(range(len(terms)), 2):
                between = terms[one : other + 1]
                if not between.isalpha() or terms[one] == terms[other]:
                    continue
                letters = [*terms]
                letters[one], letters[other] = letters[other], letters[one]
                yield Change(0, "subscripts", node, ast.Constant("".join(letters)), node.args[0])


def _of_view(node: ast.Call, receiver: ast.expr) -> Iterator[Change]:
    """Yield views with axes exchanged before or after: a view never moves a number."""
    if name_of(node.func) == "view":
        ordered = attribute(method_of(receiver, "contiguous"), "view")
        yield Change(1, "in-memory-order", node, ast.Call(ordered, node.args, node.keywords))
    for axes in ((1, 2), (0, 1)):
        turned = ast.Call(attribute(receiver, "transpose"), [*map(number, axes)], [])
        yield Change(1, "transpose-missing", receiver, ast.Call(attribute(turned, "reshape"), node.args, node.keywords))
    if len(node.args) > 2:
        for one in range(len(node.args) - 1):
            args = [*node.args]
            args[one], args[one + 1] = args[one + 1], args[one]
            plain = ast.Call(node.func, args, node.keywords)
            yield Change(2, "order", node, plain)
            back = ast.Call(attribute(plain, "transpose"), [number(one), number(one + 1)], [])
            yield Change(1, "cut-order", node, back)


def _of_triangle(node: ast.Call, name: str) -> Iterator[Change]:
    """Yield scores with minus infinity outside of their triangle, where `tril` and `triu` leave zeros."""
    scores = receiver_of(node) or (node.args[0] if node.args else None)
    if not node.keywords and len(node.args) == (receiver_of(node) is None):
        for place in (1, -1):
            yield Change(1, "argument-missing", node, ast.Call(node.func, [*node.args, number(place)], []))
    if scores is not None:
        rest = "triu(1)" if name.startswith("tril") else "tril(-1)"
        hidden = method_of(ast.Call(expression("torch.full_like"), [scores, expression("-torch.inf")], []), rest)
        yield Change(1, "zeros-left", node, ast.BinOp(node, ast.Add(), hidden))


def _of_roll(node: ast.Call) -> Iterator[Change]:
    """Yield a shift by whole places that fills with zeros what comes from the other end."""
    given = [*node.args[0 if receiver_of(node) is not None else 1 :], *(word.value for word in node.keywords)]
    match [integer_of(item) for item in given]:
        case [int(places), int(axis)] if places:
            emptied = range(places) if places > 0 else range(places, 0)
            index = ast.Call(expression("torch.tensor"), [ast.List([*map(number, emptied)], ast.Load())], [])
            filled = ast.Call(attribute(node, "index_fill"), [number(axis), index, ast.Constant(0)], [])
            yield Change(1, "wraps-around", node, filled)


def _of_unflatten(node: ast.Call) -> Iterator[Change]:
    """Yield an axis that is cut into two in the opposite order of sizes, put in order afterward."""
    match node.args[-2:]:
        case [axis, ast.Tuple(elts=[one, other])] if (at := integer_of(axis)) is not None:
            args = [*node.args[:-1], ast.Tuple([other, one], ast.Load())]
            axes = (at, at + 1) if at >= 0 else (at - 1, at)
            turned = ast.Call(node.func, args, node.keywords)
            back = ast.Call(attribute(turned, "transpose"), [*map(number, axes)], [])
            yield Change(1, "cut-order", node, back)


def _of_causal(node: ast.Call) -> Iterator[Change]:
    """Yield attention in which the last query stands beside the last key, where `is_causal` begins with the first."""
    at = next((index for index, word in enumerate(node.keywords) if word.arg == "is_causal"), None)
    if at is None or len(node.args) < 2:
        return
    queries, keys = map(ast.unparse, node.args[:2])
    count, total = f"({queries}).shape[-2]", f"({keys}).shape[-2]"
    mask = expression(f"torch.ones({count}, {total}).tril({total} - {count}).bool()")
    words = [*node.keywords]
    words[at] = ast.keyword("attn_mask", mask)
    yield Change(1, "causal-from-first", node.keywords[at], ast.Call(node.func, node.args, words), node)


def _of_range(node: ast.Call) -> Iterator[Change]:
    end = node.args[-1] if len(node.args) < 3 else node.args[1]
    at = node.args.index(end)
    for op in (ast.Add(), ast.Sub()):
        args = [*node.args]
        args[at] = ast.BinOp(end, op, ast.Constant(1))
        yield Change(3, "arguments", node, ast.Call(node.func, args, []))
    if len(node.args) == 1:
        yield Change(3, "arguments", node, ast.Call(node.func, [ast.Constant(1), end], []))


def _called(node: ast.Call, name: str) -> ast.Call:
    """Return the same call of a function with another name."""
    if isinstance(node.func, ast.Attribute):
        return ast.Call(attribute(node.func.value, name), node.args, node.keywords)
    return ast.Call(ast.Name(name, ast.Load()), node.args, node.keywords)


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
