"""Small edits of calls: other axes, other functions, more or fewer arguments, one call less."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

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
    shares_of,
    with_inner,
)
from attn_tutor.lessons.reading.repair_kinds import AXES, ELSEWHERE, ON_AXES, TURNING

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
    if name == "len" and len(node.args) == 1:
        for axis in (-1, 1):
            width = ast.Subscript(attribute(node.args[0], "shape"), number(axis), ast.Load())
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
