"""Rules for sums of products: matrix products, linear layers."""

from __future__ import annotations

from collections.abc import Iterator

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import MOST_TERMS, ZERO, make, region, rule, too_many, unknown
from attn_tutor.lessons.worker.recording.regions import Region


def _dot(derivation: Derivation, left: Region, right: Region, found: Iterator[tuple[Index, Index]]) -> f.Formula:
    terms = [f.multiply(derivation.cell(left, a), derivation.cell(right, b)) for a, b in found]
    return f.add(*terms) if terms else ZERO


@rule("dot", "vdot", "mv", "mm", "bmm", "matmul")
def _product(derivation: Derivation, index: Index, value: float) -> RuleResult:
    left, right = factors(derivation)
    if left.shape[-1] > MOST_TERMS:
        return too_many(derivation, 2 * left.shape[-1])
    return make("matmul", _dot(derivation, left, right, pairs(left.shape, right.shape, index)))


def factors(derivation: Derivation) -> tuple[Region, Region]:
    """Return the two tensors that a product multiplies."""
    others = (derivation.event.arg(name) for name in ("tensor", "vec", "mat2", "other"))
    return region(derivation), next(item for item in others if isinstance(item, Region))


def pairs(left: Index, right: Index, index: Index) -> Iterator[tuple[Index, Index]]:
    """Yield the indices of the two factors of each term of a product of tensors of these shapes."""
    rows = () if len(left) == 1 else (index[-2] if len(right) > 1 else index[-1],)
    cols = () if len(right) == 1 else (index[-1],)
    lead = index[: len(index) - len(rows) - len(cols)]
    first, second = broadcast(left[:-2], lead), broadcast(right[:-2], lead)
    for k in range(left[-1]):
        yield (*first, *rows, k), (*second, k, *cols)


_FACTORS = {
    "addmv": ("mat", "vec"),
    "baddbmm": ("batch1", "batch2"),
    "addbmm": ("batch1", "batch2"),
    "addr": ("vec1", "vec2"),
}
"""The names of the arguments that are multiplied, for operations that do not call them `mat1` and `mat2`."""


@rule("addmm", "addmv", "baddbmm", "addbmm", "addr")
def _add_product(derivation: Derivation, index: Index, value: float) -> RuleResult:
    event = derivation.event
    op = event.op.strip("_")
    names = _FACTORS.get(op, ("mat1", "mat2"))
    left, right = event.arg(names[0]), event.arg(names[1])
    if not isinstance(left, Region) or not isinstance(right, Region):
        return unknown(derivation, index, value)
    if op == "addr":
        found: Iterator[tuple[Index, Index]] = iter([(index[:1], index[1:])])
    elif op == "addbmm":
        leads = range(left.shape[0])
        found = (pair for lead in leads for pair in pairs(left.shape, right.shape, (lead, *index)))
    else:
        found = pairs(left.shape, right.shape, index)
    if left.shape[-1] * (left.shape[0] if op == "addbmm" else 1) > MOST_TERMS and op != "addr":
        return too_many(derivation, 2 * left.shape[-1])
    product = _dot(derivation, left, right, found)
    alpha, beta = event.arg("alpha"), event.arg("beta")
    if alpha not in (None, 1):
        product = f.multiply(f.Number(float(alpha)), product)
    if beta == 0:
        return make("matmul", product)
    added = derivation.operand("self", index)
    if beta not in (None, 1):
        added = f.multiply(f.Number(float(beta)), added)
    terms = product.parts if isinstance(product, f.Op) and product.op == "+" else (product,)
    return make("linear", f.add(*terms, added))
