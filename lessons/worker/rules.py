"""The rule of each operation: which elements a cell of its result is made from, and how.

A rule gets the work (the event and its operands so far), the index of the cell in the result and its value, and returns
a formula. Formulas follow the definitions in the documentation of PyTorch. Only operations below autograd are here,
since all others are made of them: `x @ y` arrives as `mm` or `bmm`, `nn.Linear` as `addmm`, `einsum` as `bmm`.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from lessons import formula as f
from lessons.worker.record import Event, Info, Region
from lessons.worker.work import Element, Index, Made, Work, broadcast

if TYPE_CHECKING:
    from lessons.worker.explain import Explainer

Rule = Callable[[Work, Index, float], Made]

NO_INFO = Info(None, "", {}, {}, (), False)
CHAIN = 5000
MOST_TERMS = 4096
"""Elements of a reduction that are listed."""

MOST_MOVED = 1 << 20
"""Elements up to which a rearrangement is followed by rearranging places; above, it is only named."""

RULES: dict[str, Rule] = {}


def rule(*ops: str) -> Callable[[Rule], Rule]:
    """Register the rule of these operations, and of the same in place."""

    def register(function: Rule) -> Rule:
        for op in ops:
            RULES[op] = RULES[op + "_"] = function
        return function

    return register


def make(op: str, formula: f.Formula | None = None, *notes: str, **more: Any) -> Made:
    """What a rule returns."""
    return Made(op, formula, list(notes), **more)


def apply(work: Work, element: Element, index: Index, value: float) -> Made:
    """Explain an element, which is at `index` of a result of the event."""
    source = copied(work.explainer, work.event, element)
    if source is not None:
        return make("copy", source=source)
    return RULES.get(work.event.op, _unknown)(work, index, value)


def by_hand(work: Work, index: Index, value: float) -> Made:
    """A value that the learner set."""
    before = work.event.before
    was = f" Before, it was {_short(float(before[index].item()))}." if before is not None else ""
    return make("set", None, f"You set this to {_short(value)}.{was}")


def _short(value: float) -> str:
    return f"{value:.6g}"


# Numbers that nothing was computed from ----------------------------------------------------------------------------

LEAVES = frozenset(
    [
        "lift_fresh",
        "ones",
        "zeros",
        "full",
        "empty",
        "ones_like",
        "zeros_like",
        "full_like",
        "empty_like",
        "new_ones",
        "new_zeros",
        "new_full",
        "new_empty",
        "new_empty_strided",
        "empty_strided",
        "eye",
        "arange",
        "linspace",
        "scalar_tensor",
        "zero",
        "zero_",
        "fill",
        "fill_",
        "rand",
        "randn",
        "randint",
        "rand_like",
        "randn_like",
        "randint_like",
        "randperm",
        "uniform",
        "uniform_",
        "normal",
        "normal_",
        "random_",
        "bernoulli",
        "bernoulli_",
        "exponential_",
        "multinomial",
        "empty_permuted",
        "tril_indices",
        "triu_indices",
    ]
)


@rule("ones", "zeros", "full", "ones_like", "zeros_like", "full_like", "new_ones", "new_zeros", "new_full", "zero")
def _constant(work: Work, index: Index, value: float) -> Made:
    return make("constant", None, f"Every element was made {_short(value)} here.")


@rule("fill")
def _fill(work: Work, index: Index, value: float) -> Made:
    given = work.event.arg("value")
    if isinstance(given, Region):
        return make("fill", work.cell(given, ()))
    return make("constant", None, f"Set to {_short(value)} here.")


@rule("empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted")
def _empty(work: Work, index: Index, value: float) -> Made:
    return make("uninitialised", None, "Memory that was only reserved: this is what happened to be in it.")


@rule("eye")
def _eye(work: Work, index: Index, value: float) -> Made:
    where = "on" if index[0] == index[1] else "off"
    return make("constant", None, f"{_short(value)}, because it is {where} the diagonal.")


@rule("arange", "linspace", "scalar_tensor", "tril_indices", "triu_indices")
def _counted(work: Work, index: Index, value: float) -> Made:
    if work.event.op == "scalar_tensor":
        return make("constant", None)
    return make("constant", None, f"Element {index[-1]} of the sequence that starts here.")


@rule("lift_fresh")
def _literal(work: Work, index: Index, value: float) -> Made:
    sites = work.event.sites
    places = work.explainer.names.places
    node = places.node(sites[0]) if sites else None
    span = places.span(sites[0]) if sites else None
    source = places.source(span.file) if span else None
    if source is not None and isinstance(node, ast.Call) and node.args:
        item: ast.expr = node.args[0]
        for place in index:
            if not isinstance(item, ast.List | ast.Tuple) or place >= len(item.elts):
                return make("given", None, "A number that Python gave to PyTorch here.")
            item = item.elts[place]
        code = source.segment(item)
        written = isinstance(item, ast.Constant | ast.UnaryOp)
        note = "Written in the code." if written else f"Computed by Python: {code}."
        return make("literal" if written else "given", None, note, code=code, line=item.lineno)
    return make("given", None, "A number that Python computed.")


# Random numbers ----------------------------------------------------------------------------------------------------


@rule("rand", "rand_like", "uniform")
def _uniform(work: Work, index: Index, value: float) -> Made:
    low, high = 0.0, 1.0
    if work.event.op.startswith("uniform"):
        low, high = float(work.event.arg("from")), float(work.event.arg("to"))
    return make("draw", None, f"{_drawn(work, index, 'Uniform')}, between {_short(low)} and {_short(high)}.")


@rule("randn", "randn_like", "normal")
def _normal(work: Work, index: Index, value: float) -> Made:
    mean, std = 0.0, 1.0
    if work.event.op.startswith("normal"):
        given = work.event.arg("mean"), work.event.arg("std")
        mean, std = (float(item) if isinstance(item, int | float) else math.nan for item in given)
    text = f"{_drawn(work, index, 'Normal')}, with mean {_short(mean)} and standard deviation {_short(std)}."
    return make("draw", None, text)


@rule("bernoulli")
def _bernoulli(work: Work, index: Index, value: float) -> Made:
    chance = work.event.arg("p")
    text = _drawn(work, index, "Random")
    if isinstance(chance, int | float):
        text += f": 1 with probability {_short(chance)}, else 0"
    return make("draw", None, f"{text}.")


@rule("randint", "randint_like", "randperm", "random", "exponential", "multinomial")
def _random(work: Work, index: Index, value: float) -> Made:
    return make("draw", None, f"{_drawn(work, index, 'Random')} ({work.event.op.strip('_')}).")


def _drawn(work: Work, index: Index, kind: str) -> str:
    """`Uniform draw 2 of seed 123`: the count of numbers that the generator has given since it was seeded, from 1."""
    draw = work.event.draw
    if draw is None:
        return f"{kind} draw"
    if draw.first is None:
        return f"{kind} draw of seed {draw.seed}"
    flat = 0
    for place, size in zip(index, work.event.outs[0].shape, strict=True):
        flat = flat * size + place
    return f"{kind} draw {draw.first + flat + 1} of seed {draw.seed}"


# Element by element ------------------------------------------------------------------------------------------------


@rule("add", "sub", "rsub")
def _add(work: Work, index: Index, value: float) -> Made:
    event = work.event
    op = event.op.strip("_")
    terms = _accumulated(work, index) if op == "add" else None
    if terms is not None:
        return make("sum", f.add(*terms), f"Added up by a loop, {len(terms) - 1} times.")
    first, second = work.operand("self", index), work.operand("other", index)
    alpha = event.arg("alpha")
    if alpha is not None and alpha != 1:
        second = f.multiply(f.Number(float(alpha)), second)
    if op == "rsub":
        first, second = second, first
    return make("add", f.add(first, second)) if op == "add" else make("subtract", f.Op("-", (first, second)))


def _accumulated(work: Work, index: Index) -> list[f.Formula] | None:
    """The terms of `total += term` in a loop, the start first; None if this is no loop.

    Followed back as long as what was added to was itself written by the same piece of code.
    """
    explainer = work.explainer
    rounds: list[Event] = []
    step: Event = work.event
    for _ in range(CHAIN):
        base = step.arg("self")
        if not isinstance(base, Region) or step.arg("alpha") not in (None, 1) or len(base.shape) > len(index):
            return None
        rounds.append(step)
        start = work.element(base, broadcast(base.shape, index), step.time)
        earlier = explainer.writer(start)
        if earlier is None or earlier.hand or not step.sites or (earlier.sites, earlier.op) != (step.sites, step.op):
            break
        if earlier.outs[0].find(start.offset) != index:
            return None
        step = earlier
    if len(rounds) < 2:
        return None
    terms = [_inlined(work, one, one.arg("other"), index) for one in reversed(rounds)]
    return [work.of(explainer.through(start)), *terms]


def _inlined(work: Work, step: Event, given: Any, index: Index) -> f.Formula:
    """An operand of a step of a loop; an unnamed product or quotient is written out."""
    if not isinstance(given, Region):
        return work.number(given)
    return _term(work, work.element(given, broadcast(given.shape, index), step.time))


def _term(work: Work, element: Element) -> f.Formula:
    """A term of a sum; an unnamed product or quotient is written out."""
    explainer = work.explainer
    element = explainer.through(element)
    writer = explainer.writer(element)
    if writer is None or writer.op not in ("mul", "div") or _dropout(explainer, writer) is not None:
        return work.of(element)
    if explainer.names.of(element.storage, element.offset, element.time, work.words) is not None:
        return work.of(element)
    inner = replace(work, event=writer)
    _, index = explainer.output(writer, element)
    parts = inner.operand("self", index), inner.operand("other", index)
    return f.Op("*" if writer.op == "mul" else "/", parts)


@rule("mul")
def _mul(work: Work, index: Index, value: float) -> Made:
    keep = _dropout(work.explainer, work.event)
    if keep is not None:
        return _dropped(work, index, keep)
    return make("multiply", f.multiply(work.operand("self", index), work.operand("other", index)))


def _dropout(explainer: Explainer, event: Event) -> tuple[Event, float] | None:
    """If this product is the last step of dropout: the draw, and the probability of being kept.

    On a CPU dropout is `input * (bernoulli(1 - p) / (1 - p))`.
    """
    noise = event.arg("other")
    if event.op not in ("mul", "mul_") or not isinstance(noise, Region):
        return None
    writes = [item for item in explainer.record.writes.get(noise.storage, ()) if item.time < event.time]
    if len(writes) < 3 or writes[-1].op != "div_" or writes[-2].op != "bernoulli_" or writes[-1].sites != event.sites:
        return None
    keep = writes[-2].arg("p")
    return (writes[-2], float(keep)) if isinstance(keep, int | float) else None


def _dropped(work: Work, index: Index, dropout: tuple[Event, float]) -> Made:
    draw, keep = dropout
    noise: Region = work.event.arg("other")
    survived = work.value(noise, broadcast(noise.shape, index)) != 0
    text = _drawn(Work(work.explainer, draw, work.words), broadcast(noise.shape, index), "Random")
    word = "kept, and divided by 1 - p" if survived else "dropped"
    note = f"{text}: {word} (p = {_short(1 - keep)}, kept numbers grow by 1 / (1 - p) = {_short(1 / keep)})."
    kept = f.Number(1.0 if survived else 0.0, "kept" if survived else "dropped")
    product = f.multiply(work.operand("self", index), kept)
    return make("dropout", f.Op("/", (product, f.Number(keep, "1 - p"))), note)


@rule("native_dropout")
def _native_dropout(work: Work, index: Index, value: float) -> Made:
    chance = float(work.event.arg("p") or 0.0)
    survived = work.value(work.event.outs[1], index) != 0 if len(work.event.outs) > 1 else value != 0
    product = f.multiply(work.operand("input", index), f.Number(float(survived), "kept" if survived else "dropped"))
    return make("dropout", f.Op("/", (product, f.Number(1 - chance, "1 - p"))))


@rule("div", "true_divide", "floor_divide")
def _div(work: Work, index: Index, value: float) -> Made:
    parts = work.operand("self", index), work.operand("other", index)
    mode = work.event.arg("rounding_mode")
    if mode == "floor" or work.event.op.startswith("floor"):
        return make("divide", f.Op("//", parts))
    quotient = f.Op("/", parts)
    return make("divide", f.call("trunc", quotient) if mode == "trunc" else quotient)


def _binary(op: str, name: str) -> Rule:
    def function(work: Work, index: Index, value: float) -> Made:
        return make(name, f.Op(op, (work.operand("self", index), work.operand("other", index))))

    return function


for _ops, _sign, _name in (
    ("remainder fmod", "%", "remainder"),
    ("eq", "==", "compare"),
    ("ne", "!=", "compare"),
    ("lt", "<", "compare"),
    ("le", "<=", "compare"),
    ("gt", ">", "compare"),
    ("ge", ">=", "compare"),
    ("maximum", "max", "maximum"),
    ("minimum", "min", "minimum"),
    ("logical_and bitwise_and", "and", "and"),
    ("logical_or bitwise_or", "or", "or"),
    ("logical_xor", "!=", "xor"),
):
    rule(*_ops.split())(_binary(_sign, _name))


def _unary(build: Callable[[f.Formula], f.Formula], name: str) -> Rule:
    def function(work: Work, index: Index, value: float) -> Made:
        return make(name, build(work.operand("self", index)))

    return function


_ONE, _HALF = f.Number(1.0), f.Number(0.5)
for _op in ("exp", "log", "sqrt", "abs", "tanh", "erf", "sin", "cos", "floor", "ceil", "round", "trunc", "isnan"):
    rule(_op)(_unary(lambda x, name=_op: f.call(name, x), _op))  # type: ignore[misc]
for _op, _build in {
    "neg": lambda x: f.Op("neg", (x,)),
    "logical_not": lambda x: f.Op("not", (x,)),
    "rsqrt": lambda x: f.Op("/", (_ONE, f.call("sqrt", x))),
    "reciprocal": lambda x: f.Op("/", (_ONE, x)),
    "square": lambda x: f.multiply(x, x),
    "relu": lambda x: f.call("max", x, f.Number(0.0)),
    "sigmoid": lambda x: f.Op("/", (_ONE, f.add(_ONE, f.call("exp", f.Op("neg", (x,)))))),
    "silu": lambda x: f.Op("/", (x, f.add(_ONE, f.call("exp", f.Op("neg", (x,)))))),
    "log2": lambda x: f.Op("/", (f.call("log", x), f.call("log", f.Number(2.0)))),
    "log1p": lambda x: f.call("log", f.add(_ONE, x)),
    "expm1": lambda x: f.Op("-", (f.call("exp", x), _ONE)),
    "isinf": lambda x: f.call("isinf", x),
    "isfinite": lambda x: f.Op("not", (f.Op("or", (f.call("isinf", x), f.call("isnan", x))),)),
    "sign": lambda x: f.Op("-", (f.Op(">", (x, f.Number(0.0))), f.Op("<", (x, f.Number(0.0))))),
    "sgn": lambda x: f.Op("-", (f.Op(">", (x, f.Number(0.0))), f.Op("<", (x, f.Number(0.0))))),
}.items():
    rule(_op)(_unary(_build, _op))


@rule("bitwise_not")
def _bitwise_not(work: Work, index: Index, value: float) -> Made:
    given: Region = work.event.arg("self")
    cell = work.operand("self", index)
    if given.tensor.dtype == torch.bool:
        return make("not", f.Op("not", (cell,)))
    return make("not", f.Op("-", (f.Op("neg", (cell,)), _ONE)))


@rule("gelu")
def _gelu(work: Work, index: Index, value: float) -> Made:
    x = work.operand("self", index)
    if work.event.arg("approximate") == "tanh":
        inner = f.add(x, f.multiply(f.Number(0.044715), f.Op("**", (x, f.Number(3.0)))))
        bent = f.call("tanh", f.multiply(f.Number(math.sqrt(2 / math.pi), "sqrt(2/pi)"), inner))
    else:
        bent = f.call("erf", f.Op("/", (x, f.Number(math.sqrt(2), "sqrt(2)"))))
    return make("gelu", f.multiply(_HALF, x, f.add(_ONE, bent)))


@rule("pow")
def _pow(work: Work, index: Index, value: float) -> Made:
    return make("power", f.Op("**", (work.operand("self", index), work.operand("exponent", index))))


@rule("clamp", "clamp_min", "clamp_max")
def _clamp(work: Work, index: Index, value: float) -> Made:
    formula = work.operand("self", index)
    if work.event.arg("min") is not None:
        formula = f.call("max", formula, work.operand("min", index))
    if work.event.arg("max") is not None:
        formula = f.call("min", formula, work.operand("max", index))
    return make("clamp", formula)


@rule("lerp")
def _lerp(work: Work, index: Index, value: float) -> Made:
    start, end, weight = (work.operand(name, index) for name in ("self", "end", "weight"))
    return make("lerp", f.add(start, f.multiply(weight, f.Op("-", (end, start)))))


@rule("addcmul", "addcdiv")
def _addc(work: Work, index: Index, value: float) -> Made:
    first, second = work.operand("tensor1", index), work.operand("tensor2", index)
    joined = f.multiply(first, second) if "mul" in work.event.op else f.Op("/", (first, second))
    factor = work.event.arg("value")
    if factor not in (None, 1):
        joined = f.multiply(f.Number(float(factor)), joined)
    return make("add", f.add(work.operand("self", index), joined))


@rule("_to_copy")
def _converted(work: Work, index: Index, value: float) -> Made:
    cell = work.operand("self", index)
    dtype = work.event.outs[0].tensor.dtype
    if dtype == torch.bool:
        return make("convert", f.Op("!=", (cell, f.Number(0.0))))
    if not dtype.is_floating_point:
        return make("convert", f.call("trunc", cell))
    return make("convert", cell, f"Rounded to {str(dtype).removeprefix('torch.')}.")


# Choosing ----------------------------------------------------------------------------------------------------------


@rule("masked_fill")
def _masked_fill(work: Work, index: Index, value: float) -> Made:
    mask: Region = work.event.arg("mask")
    place = broadcast(mask.shape, index)
    hidden = work.value(mask, place) != 0
    test, given, original = work.cell(mask, place), work.operand("value", index), work.operand("self", index)
    if hidden:
        note = f"Masked: the mask is {_short(work.value(mask, place))} here, so the value is replaced."
    else:
        note = f"Not masked: the mask is {_short(work.value(mask, place))} here, so the value stays."
    return make("masked_fill", f.choose(test, given, original), note)


@rule("where")
def _where(work: Work, index: Index, value: float) -> Made:
    test = work.operand("condition", index)
    return make("where", f.choose(test, work.operand("self", index), work.operand("other", index)))


@rule("triu", "tril")
def _triangle(work: Work, index: Index, value: float) -> Made:
    diagonal = int(work.event.arg("diagonal") or 0)
    row, col = index[-2:]
    op = work.event.op.strip("_")
    kept = col - row >= diagonal if op == "triu" else col - row <= diagonal
    side = "above" if op == "triu" else "below"
    where = f"row {row}, column {col}"
    if kept:
        return make(op, work.operand("self", index), f"Kept: {where} is on or {side} the diagonal {diagonal}.")
    note = f"Set to 0: {where} is not on or {side} the diagonal {diagonal}."
    return make(op, f.multiply(work.operand("self", index), f.Number(0.0, "outside")), note)


# Products ----------------------------------------------------------------------------------------------------------


def _dot(work: Work, left: Region, right: Region, pairs: Iterator[tuple[Index, Index]]) -> f.Formula:
    terms = [f.multiply(work.cell(left, a), work.cell(right, b)) for a, b in pairs]
    return f.add(*terms) if terms else f.Number(0.0)


@rule("dot", "vdot", "mv", "mm", "bmm", "matmul")
def _product(work: Work, index: Index, value: float) -> Made:
    left: Region = work.event.arg("self")
    right = next(
        item for name in ("tensor", "vec", "mat2", "other") if isinstance(item := work.event.arg(name), Region)
    )
    return make("matmul", _dot(work, left, right, _pairs(left.shape, right.shape, index)))


def _pairs(left: Index, right: Index, index: Index) -> Iterator[tuple[Index, Index]]:
    """Indices of the factors of each term of a product of tensors of these shapes."""
    rows = () if len(left) == 1 else (index[-2] if len(right) > 1 else index[-1],)
    cols = () if len(right) == 1 else (index[-1],)
    lead = index[: len(index) - len(rows) - len(cols)]
    first, second = broadcast(left[:-2], lead), broadcast(right[:-2], lead)
    for k in range(left[-1]):
        yield (*first, *rows, k), (*second, k, *cols)


@rule("addmm", "addmv", "baddbmm", "addbmm", "addr")
def _add_product(work: Work, index: Index, value: float) -> Made:
    event = work.event
    names = {"addmv": ("mat", "vec"), "baddbmm": ("batch1", "batch2")}.get(event.op.strip("_"), ("mat1", "mat2"))
    left, right = event.arg(names[0]), event.arg(names[1])
    if not isinstance(left, Region) or not isinstance(right, Region) or event.op.strip("_") in ("addbmm", "addr"):
        return _unknown(work, index, value)
    product = _dot(work, left, right, _pairs(left.shape, right.shape, index))
    alpha, beta = event.arg("alpha"), event.arg("beta")
    if alpha not in (None, 1):
        product = f.multiply(f.Number(float(alpha)), product)
    if beta == 0:
        return make("matmul", product)
    added = work.operand("self", index)
    if beta not in (None, 1):
        added = f.multiply(f.Number(float(beta)), added)
    terms = product.parts if isinstance(product, f.Op) and product.op == "+" else (product,)
    return make("linear", f.add(*terms, added))


# Along an axis -----------------------------------------------------------------------------------------------------


def _axes(dim: Any, rank: int) -> tuple[int, ...]:
    if dim is None or dim == []:
        return tuple(range(rank))
    given = dim if isinstance(dim, list | tuple) else [dim]
    return tuple(sorted(axis % rank for axis in given)) if rank else ()


def _along(work: Work, index: Index, name: str = "self") -> list[Index]:
    """Indices of the elements that a reduction joins in the cell at `index`."""
    region: Region = work.event.arg(name)
    shape = region.shape
    axes = _axes(work.event.arg("dim"), len(shape))
    kept = bool(work.event.arg("keepdim"))
    others = [axis for axis in range(len(shape)) if axis not in axes]
    fixed = dict(zip(others, [index[axis] for axis in others] if kept else index, strict=True))
    ranges = [range(shape[axis]) if axis in axes else (fixed[axis],) for axis in range(len(shape))]
    return list(itertools.product(*ranges))


def _cells(work: Work, index: Index, name: str = "self") -> list[f.Formula]:
    region: Region = work.event.arg(name)
    return [work.cell(region, place) for place in _along(work, index, name)]


@rule("sum", "mean", "prod", "nansum")
def _sum(work: Work, index: Index, value: float) -> Made:
    op = work.event.op
    given: Region = work.event.arg("self")
    if given.size > MOST_TERMS:
        return _too_many(work, op, given.size)
    if op == "prod":
        cells = _cells(work, index)
        return make("product", f.multiply(*cells) if cells else _ONE)
    terms = [_term(work, work.element(given, place)) for place in _along(work, index)]
    added = f.add(*terms) if terms else f.Number(0.0)
    if op == "mean":
        return make("mean", f.Op("/", (added, f.Number(float(len(terms))))))
    return make("sum", added)


def _too_many(work: Work, op: str, count: int) -> Made:
    return make(op, None, f"Made from {count:,} numbers, too many to list.")


@rule("amax", "amin", "max", "min", "median", "mode", "kthvalue", "cummax", "cummin", "nanmedian")
def _extreme(work: Work, index: Index, value: float) -> Made:
    event, op = work.event, work.event.op
    if isinstance(event.arg("other"), Region):
        return make(op, f.call(op, work.operand("self", index), work.operand("other", index)))
    if op not in ("amax", "amin", "max", "min"):
        return _unknown(work, index, value)
    if work.event.arg("self").size > MOST_TERMS and work.event.arg("dim") in (None, []):
        return _too_many(work, op, work.event.arg("self").size)
    cells = _cells(work, index)
    name = op.removeprefix("a")
    if work.output == 1:
        return _position(work, name, cells)
    return make("greatest" if name == "max" else "least", f.call(name, *cells))


def _position(work: Work, name: str, cells: list[f.Formula]) -> Made:
    where = "largest" if name == "max" else "smallest"
    return make(f"arg{name}", f.call(f"arg{name}", *cells), f"The place of the {where} of {len(cells)} numbers.")


@rule("argmax", "argmin")
def _arg(work: Work, index: Index, value: float) -> Made:
    if work.event.arg("self").size > MOST_TERMS and work.event.arg("dim") is None:
        return _too_many(work, work.event.op, work.event.arg("self").size)
    return _position(work, work.event.op.removeprefix("arg"), _cells(work, index))


@rule("sort", "topk")
def _sort(work: Work, index: Index, value: float) -> Made:
    region: Region = work.event.arg("self")
    axis = int(work.event.arg("dim")) % len(region.shape)
    line = [(*index[:axis], place, *index[axis + 1 :]) for place in range(region.shape[axis])]
    if work.output == 1:
        for place in line:
            work.cell(region, place)
        return make(work.event.op, None, f"The place of the number that came {index[axis] + 1}. in this order.")
    came_from = int(work.value(work.event.outs[1], index))
    return make(work.event.op, work.cell(region, line[came_from]), f"Number {came_from} came {index[axis] + 1}.")


@rule("cumsum")
def _cumsum(work: Work, index: Index, value: float) -> Made:
    region: Region = work.event.arg("self")
    axis = _axes(work.event.arg("dim"), len(region.shape))[0]
    cells = [work.cell(region, (*index[:axis], place, *index[axis + 1 :])) for place in range(index[axis] + 1)]
    return make("sum", f.add(*cells))


@rule("any", "all")
def _any(work: Work, index: Index, value: float) -> Made:
    if work.event.arg("self").size > MOST_TERMS and work.event.arg("dim") in (None, []):
        return _too_many(work, work.event.op, work.event.arg("self").size)
    cells = _cells(work, index)
    tests = tuple(f.Op("!=", (cell, f.Number(0.0))) for cell in cells)
    return make(work.event.op, f.Op("or" if work.event.op == "any" else "and", tests) if len(tests) > 1 else tests[0])


@rule("std", "var")
def _spread(work: Work, index: Index, value: float) -> Made:
    if work.event.arg("self").size > MOST_TERMS and work.event.arg("dim") in (None, []):
        return _too_many(work, work.event.op, work.event.arg("self").size)
    region: Region = work.event.arg("self")
    places = _along(work, index)
    correction = work.event.arg("correction")
    if correction is None:
        correction = 0 if work.event.arg("unbiased") is False else 1
    mean = f.total([work.value(region, place) for place in places]) / len(places)
    centre = f.Number(mean, "mean")
    squares = [f.Op("**", (f.Op("-", (work.cell(region, place), centre)), f.Number(2.0))) for place in places]
    variance = f.Op("/", (f.add(*squares), f.Number(float(len(places) - correction))))
    note = f"Divided by {len(places)} - {correction}."
    return make("std", f.call("sqrt", variance), note) if work.event.op == "std" else make("var", variance, note)


@rule("linalg_vector_norm", "norm")
def _norm(work: Work, index: Index, value: float) -> Made:
    order = work.event.arg("ord" if "linalg" in work.event.op else "p")
    if order not in (2, 2.0, None):
        return _unknown(work, index, value)
    cells = _cells(work, index)
    return make("norm", f.call("sqrt", f.add(*(f.Op("**", (cell, f.Number(2.0))) for cell in cells))))


@rule("_softmax", "_log_softmax", "softmax", "log_softmax")
def _softmax(work: Work, index: Index, value: float) -> Made:
    region: Region = work.event.arg("self")
    if not region.shape:
        return make("softmax", f.Number(1.0))
    axis = int(work.event.arg("dim")) % len(region.shape)
    places = [(*index[:axis], place, *index[axis + 1 :]) for place in range(region.shape[axis])]
    cells = [work.cell(region, place) for place in places]
    values = [work.value(region, place) for place in places]
    top = max(range(len(values)), key=lambda place: -math.inf if math.isnan(values[place]) else values[place])
    largest = cells[top]
    exps = [f.call("exp", f.Op("-", (cell, largest))) for cell in cells]
    shifted = [f.evaluate(f.call("exp", f.Op("-", (f.Number(one), f.Number(values[top])))), ()) for one in values]
    where = "row" if axis == len(region.shape) - 1 else "column" if axis == len(region.shape) - 2 else f"axis {axis}"
    notes = [f"The largest of the {where}, {_short(values[top])}, is subtracted first, so that no exp overflows."]
    details = [("exp", shifted), ("sum of exp", [f.total(shifted)])]
    if "log" in work.event.op:
        mine = f.Op("-", (cells[index[axis]], largest))
        return make("log_softmax", f.Op("-", (mine, f.call("log", f.add(*exps)))), *notes, details=details)
    return make("softmax", f.Op("/", (exps[index[axis]], f.add(*exps))), *notes, details=details)


@rule("_softmax_backward_data")
def _softmax_backward(work: Work, index: Index, value: float) -> Made:
    gradient, output = work.event.arg("grad_output"), work.event.arg("output")
    axis = int(work.event.arg("dim")) % len(output.shape)
    places = [(*index[:axis], place, *index[axis + 1 :]) for place in range(output.shape[axis])]
    terms = [f.multiply(work.cell(gradient, place), work.cell(output, place)) for place in places]
    inner = f.Op("-", (work.cell(gradient, index), f.add(*terms)))
    note = "The derivative of softmax: a weight times how much its gradient exceeds the weighted mean of all."
    return make("softmax backward", f.multiply(work.cell(output, index), inner), note)


@rule("native_layer_norm")
def _layer_norm(work: Work, index: Index, value: float) -> Made:
    region: Region = work.event.arg("input")
    width = len(work.event.arg("normalized_shape"))
    lead = index[: len(region.shape) - width]
    places = [(*lead, *rest) for rest in itertools.product(*map(range, region.shape[len(lead) :]))]
    values = [work.value(region, place) for place in places]
    mean = f.total(values) / len(values)
    variance = f.total([(one - mean) ** 2 for one in values]) / len(values)
    spread = f.call("sqrt", f.add(f.Number(variance, "variance"), f.Number(float(work.event.arg("eps")), "eps")))
    formula: f.Formula = f.Op("/", (f.Op("-", (work.cell(region, index), f.Number(mean, "mean"))), spread))
    for name, join in (("weight", f.multiply), ("bias", f.add)):
        given = work.event.arg(name)
        if isinstance(given, Region):
            formula = join(formula, work.cell(given, index[len(lead) :]))
    return make("layer norm", formula)


# Copies and rearrangements -----------------------------------------------------------------------------------------

_COPIES = {"clone": "self", "contiguous": "self", "alias_copy": "self", "detach_copy": "self", "lift": "self"}
_MOVES = {
    **dict.fromkeys(
        [
            "index",
            "index_select",
            "gather",
            "flip",
            "roll",
            "repeat",
            "take",
            "masked_select",
            "constant_pad_nd",
            "repeat_interleave",
            "rot90",
            "unfold",
            "diag",
            "diagonal_copy",
            "expand_copy",
            "permute_copy",
            "_reshape_copy",
            "view_copy",
            "select_copy",
            "slice_copy",
            "transpose_copy",
            "t_copy",
            "squeeze_copy",
            "unsqueeze_copy",
        ],
        ("self", ""),
    ),
    "embedding": ("weight", ""),
    "index_put": ("self", "values"),
    "scatter": ("self", "src"),
    "index_copy": ("self", "source"),
    "masked_scatter": ("self", "source"),
    "slice_scatter": ("self", "src"),
    "select_scatter": ("self", "src"),
}
"""Operations that only move elements: the argument that they come from, and another from which some of them come."""

Moves = tuple[torch.Tensor, tuple[Region, ...]]
"""For each element of a result where it comes from: in the first argument counted 1, 2, ..., in the second -1, -2, ..."""


def copied(explainer: Explainer, event: Event, element: Element) -> Element | None:
    """The element that an event copied to this one unchanged, None if it did something else."""

    def source(region: Any, index: Index) -> Element | None:
        if not isinstance(region, Region):
            return None
        return Element(region.storage, region.at(index), event.time, region.tensor)

    if event.hand:
        return None
    place, index = explainer.output(event, element)
    out, op = event.outs[place], event.op
    if op in _COPIES:
        return source(event.arg(_COPIES[op]), index)
    if op == "copy_":
        given = event.arg("src")
        if isinstance(given, Region) and _keeps(given.tensor.dtype, out.tensor.dtype):
            return source(given, broadcast(given.shape, index))
        return None
    if op == "_to_copy":
        given = event.arg("self")
        return source(given, index) if _same(explainer, source(given, index), element) else None
    if op == "cat":
        return _from_cat(event, index, source)
    if op == "stack":
        axis = int(event.arg("dim") or 0) % len(out.shape)
        return source(event.arg("tensors")[index[axis]], (*index[:axis], *index[axis + 1 :]))
    if op.removesuffix("_") in _MOVES:
        return _moved(explainer.moves(event), index, source)
    return None


def _same(explainer: Explainer, before: Element | None, after: Element) -> bool:
    """Whether a conversion left the value as it was."""
    if before is None:
        return False
    was, now = explainer.value(before), explainer.value(after)
    return was == now or (math.isnan(was) and math.isnan(now))


def _keeps(before: torch.dtype, after: torch.dtype) -> bool:
    return before == after or torch.promote_types(before, after) == after


def _from_cat(event: Event, index: Index, source: Callable[[Any, Index], Element | None]) -> Element | None:
    parts = [item for item in event.arg("tensors") if isinstance(item, Region) and item.shape != (0,)]
    axis = int(event.arg("dim") or 0) % len(index)
    place = index[axis]
    for part in parts:
        if place < part.shape[axis]:
            return source(part, (*index[:axis], place, *index[axis + 1 :]))
        place -= part.shape[axis]
    return None


def moves(event: Event) -> Moves | None:
    """Do to the places of elements what an operation did to the elements. None if that cannot be known."""
    names = _MOVES[event.op.removesuffix("_")]
    regions = [event.arg(name) for name in names if name]
    if not all(isinstance(region, Region) and region.size <= MOST_MOVED for region in regions):
        return None
    stand_ins = {}
    for sign, name, region in zip((1, -1), names, regions, strict=False):
        stand_ins[name] = sign * torch.arange(1, region.size + 1).reshape(region.shape)
    return None if not stand_ins else (_replay(event, stand_ins), tuple(regions))


def _replay(event: Event, stand_ins: dict[str, torch.Tensor]) -> torch.Tensor:
    """Run an operation again with other tensors for some of its arguments."""

    def plain(value: Any) -> Any:
        if isinstance(value, Region):
            return value.tensor.detach()
        return [plain(item) for item in value] if isinstance(value, list) else value

    at = {place: name for name, place in event.info.names.items()}
    args = [stand_ins.get(at.get(place, ""), plain(value)) for place, value in enumerate(event.args)]
    kwargs = {name: stand_ins.get(name, plain(value)) for name, value in event.kwargs.items()}
    out: torch.Tensor = event.info.func(*args, **kwargs)
    return out


def _moved(found: Moves | None, index: Index, source: Callable[[Any, Index], Element | None]) -> Element | None:
    """The element that arrives at an index."""
    if found is None or found[0].dim() != len(index):
        return None
    moved, regions = found
    place = int(moved[index].item())
    # 0 is what an operation put there itself, such as padding.
    if place == 0 or abs(place) > regions[place < 0].size:
        return None
    region, flat = regions[place < 0], abs(place) - 1
    start: list[int] = []
    for size in reversed(region.shape):
        start.insert(0, flat % size)
        flat //= size
    return source(region, tuple(start))


# What has no rule --------------------------------------------------------------------------------------------------

MOST_UNKNOWN = 64


def _unknown(work: Work, index: Index, value: float) -> Made:
    """An operation outside the list says its name and shows its operands."""
    left = MOST_UNKNOWN
    for region in work.event.operands():
        same = region.shape == work.event.outs[work.output].shape
        wanted = [index] if same else itertools.islice(itertools.product(*map(range, region.shape)), left)
        for place in wanted:
            work.cell(region, place)
            left -= 1
    note = f"The operation {work.event.op.strip('_')} has no rule here: these are its operands, not its formula."
    return make(work.event.op.strip("_"), None, note)
