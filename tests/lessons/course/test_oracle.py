"""A second oracle for the core lessons: every tensor that they show is computed again by plain Python loops.

The first oracle is the printed numbers of the book (`test_course.KNOWN`, `tests/attention/golden.json`). Here, a
function for each lesson computes with `loops` what each shown tensor must contain, as `"step/name": numbers`. It starts
from the toy inputs and from what loops cannot make: random draws, such as the weights of a layer. The test reads those
from the run itself (the second argument of `oracle` lists, for each step, the expressions to evaluate after it), or, if
they are too many or gone, draws them again with the seed of the step (`Given.redraw`).

A new shown tensor needs a line here. If no loop can compute its numbers, the line is a `Property`: what must be true of
them, and why they are not computed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import nn

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson, RunningStep, ShownTensor
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Tensor
from tests.course import COURSE
from tests.lessons.course.loops import (
    Matrix,
    Vector,
    Weights,
    add,
    attend,
    distance,
    divide,
    divide_by_row_sums,
    dot,
    dots,
    each,
    estimate_gradient,
    exp,
    flat,
    head,
    hide,
    join_columns,
    joint_heads,
    later_keys,
    linear,
    matmul,
    mean,
    nested,
    norm,
    product,
    row_sums,
    scaled,
    shape_of,
    single,
    softmax,
    softmax_rows,
    split_heads,
    std,
    times,
    transpose,
)
from tests.lessons.run_questions import explain
from tests.toy_inputs import TOY_INPUTS

FIRST, LAST = COURSE.lesson("one-query"), COURSE.lesson("multi-head-class")
CORE = tuple(lesson for lesson in COURSE.lessons if FIRST.number <= lesson.number <= LAST.number)
TOLERANCE = 1e-5
"""The absolute and the relative difference that is allowed. The runs compute with 32 bits, the loops with 64."""

INPUTS: Matrix = TOY_INPUTS

NAMES = ("W_query", "W_key", "W_value")


# Operands, and what is expected of them ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Property:
    """A property of numbers that no loop can compute: the reason why not, and what must be true of them."""

    why: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Within:
    """Numbers that are compared more or less strictly than usual: the reason, and the difference that is allowed."""

    why: str
    numbers: Any
    absolute: float = TOLERANCE
    relative: float = TOLERANCE


def only(*numbers: float, why: str) -> Property:
    """Expect that each of these numbers occurs, and no other."""
    return Property(why, lambda found: set(flat(found)) == set(numbers))


def drawn(low: float, high: float) -> Property:
    """Expect random numbers between these bounds, no two of them equal."""

    def holds(found: Any) -> bool:
        every = list(flat(found))
        return len(set(every)) == len(every) and all(low <= number <= high for number in every)

    return Property("drawn at random", holds)


class Given:
    """The random draws of a run, from which the arithmetic of a lesson starts, besides the toy inputs."""

    def __init__(self, lesson: Lesson, operands: Mapping[tuple[str, str], Any]) -> None:
        self.lesson = lesson
        self.operands = operands

    def __call__(self, step: str, expression: str) -> Any:
        """Return the value of an expression after a step."""
        return self.operands[step, expression]

    def matrices(self, step: str, layer: str) -> Weights:
        """Return the projections of a layer that has `nn.Linear`, which stores them transposed."""
        return Weights(*(transpose(self(step, expression)) for expression in projections(layer)))

    def redraw(self, step_id: str, draw: Callable[[], Any]) -> Any:
        """Call `draw` with the seed of a step. It gives what the step drew if both draw the same in the same order."""
        step = self.lesson.step(step_id)
        assert isinstance(step, RunningStep)
        with torch.random.fork_rng():
            torch.manual_seed(self.lesson.seed if step.seed is None else step.seed)
            return plain(draw())


def plain(drawn: Any) -> Any:
    """Convert a tensor, or lists and tuples of tensors, to lists of numbers."""
    return drawn.tolist() if isinstance(drawn, torch.Tensor) else [plain(part) for part in drawn]


def draw_matrices(d_in: int, d_out: int, count: int) -> list[torch.Tensor]:
    """Draw the matrices (in, out) of new linear layers."""
    return [nn.Linear(d_in, d_out, bias=False).weight.detach().T for _ in range(count)]


def projections(layer: str) -> tuple[str, ...]:
    """Return the expressions for the weights of the three `nn.Linear` of a layer."""
    return tuple(f"{layer}.{name}.weight" for name in NAMES)


Table = dict[str, Any]
Oracle = Callable[[Given], Table]

ORACLES: dict[str, Oracle] = {}
OPERANDS: dict[str, Mapping[str, Sequence[str]]] = {}


def oracle(lesson: str, operands: Mapping[str, Sequence[str]] | None = None) -> Callable[[Oracle], Oracle]:
    """Register the function that computes what a lesson shows, and the operands that it needs, by step."""

    def register(table: Oracle) -> Oracle:
        ORACLES[lesson], OPERANDS[lesson] = table, operands or {}
        return table

    return register


# Lessons -------------------------------------------------------------------------------------------------------------


@oracle("one-query")
def one_query(given: Given) -> Table:
    query, starts = INPUTS[1], INPUTS[2]
    scores = [dot(x, query) for x in INPUTS]
    weights = softmax(scores)
    parts = [[weight * number for number in x] for weight, x in zip(weights, INPUTS, strict=True)]
    so_far = [[math.fsum(column) for column in zip(*parts[: i + 1], strict=True)] for i in range(len(parts))]
    context = so_far[-1]

    a, b = [2.0, 1.0], [-1.0, 2.0]
    others = [[1.0, 0.0], [2.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]]
    mixed = [[1.0, -1.0, 0.5], [1.0, -0.99, 0.0], [1.0, -1.0, 0.0]]
    big = [89.0, 88.0, 0.0]
    powers = [exp(score) for score in big]
    edges = each(single, [[88, 87, 0], [88.7, 87.7, 0], [89, 88, 0], [-100, -101, -102], [-200, -201, -202]])
    grown = each(exp, edges)
    sums = [single(total) for total in row_sums(grown)]
    naive = [[divide(power, total) for power in row] for row, total in zip(grown, sums, strict=True)]
    lists = [[1.0, 2.0, 3.0], [1.0, -1.0, 0.5], [1.0, -0.9, 0.0]]
    leftover = [7.0, -2.0, 0.5]

    def share(numbers: Vector) -> Vector:
        return [number / math.fsum(numbers) for number in numbers]

    def steepest(make: Callable[[Vector], Vector], at: Vector) -> float:
        every = [
            estimate_gradient(functools.partial(lambda i, numbers: make(numbers)[i], i), at) for i in range(len(at))
        ]
        return max(abs(slope) for slope in flat(every))

    scores_1 = [dot(x, INPUTS[0]) for x in INPUTS]
    weights_1 = softmax(scores_1)
    beside = [[score, weight, *part] for score, weight, part in zip(scores, weights, parts, strict=True)]
    return {
        "why/goal": [query, context],
        "inputs/inputs": INPUTS,
        "third-row/inputs": INPUTS,
        "one-score/score": dot(query, starts),
        "one-score/products": product(query, starts),
        "right-angle/a": a,
        "right-angle/b": b,
        "right-angle/a_times_b": product(a, b),
        "similarity/overlap": [dot(other, [1.0, 0.0]) for other in others],
        "scores/scores": scores,
        "weights-order/scores": scores,
        "weights-order/softmaxed": weights,
        "softmax/weights": weights,
        "softmax/exps": [math.exp(score) for score in scores],
        "context/context": context,
        "context/inputs": INPUTS,
        "trace/turns": join_columns([[weight] for weight in weights], INPUTS, so_far),
        "leftover/leftover": leftover,
        "leftover/start": add(leftover, context),
        "notation/letters": join_columns(INPUTS, [[score] for score in scores], [[weight] for weight in weights]),
        "largest-part/context": context,
        "largest-part/inputs": INPUTS,
        "largest-part/parts": parts,
        "look-at-one/inputs": INPUTS,
        "look-at-one/weights": weights,
        "overflow/big": big,
        "overflow/powers": powers,
        "overflow/of_powers": divide_by_row_sums([powers])[0],
        "edges/naive_steps": join_columns(grown, [[total] for total in sums], naive),
        "safe-softmax/stable": softmax_rows(edges),
        "safe-softmax/library": weights,
        "slopes/steepest": [[steepest(make, numbers) for numbers in lists] for make in (share, softmax)],
        "shares/shares": share(scores),
        "shares/broken": divide_by_row_sums(mixed),
        "rounding/off": Property("the error of a sum in 32 bits", lambda off: abs(off) < 1e-6),
        "first-token/context_1": times(weights_1, INPUTS),
        "first-token/weights_1": weights_1,
        "remember/table": beside,
        "remember/context": context,
    }


@oracle("all-queries")
def all_queries(given: Given) -> Table:
    scores = dots(INPUTS, INPUTS)
    weights = softmax_rows(scores)
    context = matmul(weights, INPUTS)
    wrong = transpose(softmax_rows(transpose(scores)))
    filled = [[0.0] * 6 if row != 1 else weights[1] for row in range(6)]

    def in_order(inputs: Matrix) -> Matrix:
        """Return the context vectors of a sentence whose words have a tenth of their position added."""
        numbered = [[number + row / 10 for number in x] for row, x in enumerate(inputs)]
        return matmul(softmax_rows(dots(numbered, numbered)), numbered)

    return {
        "why/filled": filled,
        "loops/looped": scores,
        "all-pairs/inputs": INPUTS,
        "all-pairs/turned": transpose(INPUTS),
        "all-pairs/pairs": scores,
        "product/scores": scores,
        "speed/times": Property("milliseconds of a clock", lambda times: min(times) > 0),
        "sums-to-one/scores": scores,
        "sums-to-one/shared": weights,
        "weights/weights": weights,
        "weights/row_sums": [[1.0]] * 6,
        "wrong-axis/wrong": wrong,
        "wrong-axis/row_sums": [[total] for total in row_sums(wrong)],
        "ignore-journey/scores": scores,
        "ignore-journey/weights": weights,
        "context-shape/weights": weights,
        "context-shape/inputs": INPUTS,
        "context-shape/mixed": context,
        "context/context": context,
        "context/inputs": INPUTS,
        "check/one_by_one": context[:2],
        "check/context": context,
        "behind-context/context": context,
        "behind-context/scores": scores,
        # Attention does not see the order: the same rows come out, each at its word's new place.
        "read-backward/context": context,
        "read-backward/context_turned": context[::-1],
        "order/forward": in_order(INPUTS),
        "order/backward": in_order(INPUTS[::-1])[::-1],
        "remember/weights": weights,
        "remember/context": context,
    }


@oracle(
    "trainable-weights",
    {
        "matrices": ["W_query", "W_key", "W_value"],
        "draw-order": ["query_first"],
        "parameter": ["trained"],
        "all-six": ["matrices[0]", "matrices[1]", "matrices[2]"],
    },
)
def trainable_weights(given: Given) -> Table:
    matrices = Weights(*(given("matrices", name) for name in NAMES))
    one = head(INPUTS, matrices)
    query, scores, weights = one.queries[1], one.scores[1], one.weights[1]
    root = math.sqrt(2)
    uniform = drawn(0, 1)

    updated = [[1.0, 4.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    entries, stored = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], [10.0, 20.0, 30.0]
    from_trained = matmul(INPUTS, given("parameter", "trained"))

    def spread(pair: Sequence[Matrix]) -> float:
        return std([dot(first, second) for first, second in zip(*pair, strict=True)])

    def pairs(*widths: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [(torch.randn(2000, width), torch.randn(2000, width)) for width in widths]

    spreads = [spread(pair) for pair in given.redraw("how-far", lambda: pairs(2, 8, 32, 128))]
    widths = (2, 64, 768)
    deviations = [spread(pair) for pair in given.redraw("spread", lambda: pairs(*widths))]
    random_queries, random_keys = given.redraw("saturate", lambda: torch.randn(2, 6, 2))
    random_scores = dots(random_queries, random_keys)

    keys_wide, query_wide = given.redraw("lost-gradient", lambda: (torch.randn(200, 6, 768), torch.randn(768)))
    many = [[dot(key, query_wide) for key in keys] for keys in keys_wide]
    both = [softmax_rows(many), softmax_rows(scaled(many, 768**-0.5))]

    def gradient(weights: Vector) -> Vector:
        """Return how the mean of the values from -1 to 1 changes with each score."""
        values = [-1.0, -0.6, -0.2, 0.2, 0.6, 1.0]
        middle = dot(weights, values)
        return [weight * (value - middle) for weight, value in zip(weights, values, strict=True)]

    def lower_median(numbers: Vector) -> float:
        return sorted(numbers)[(len(numbers) - 1) // 2]

    gaps = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0]
    logistic = [1 / (1 + math.exp(-gap)) for gap in gaps]

    def scores_spread(x: Matrix, query_matrix: Matrix, key_matrix: Matrix) -> float:
        shrunk = [scaled(matmul(x, matrix), len(x[0]) ** -0.5) for matrix in (query_matrix, key_matrix)]
        return std(dots(*shrunk))

    sizes = ((50, 64, 16), (200, 64, 16), (50, 256, 16), (50, 64, 64))
    drafts = given.redraw(
        "which-width",
        lambda: [(torch.randn(n, d_in), torch.randn(d_in, d_k), torch.randn(d_in, d_k)) for n, d_in, d_k in sizes],
    )
    measured = [scores_spread(*draft) for draft in drafts]

    versions = [scores, scaled(scores, root), scaled(scores, 1 / root)]
    six = head(INPUTS, Weights(*(given("all-six", f"matrices[{i}]") for i in range(3))))
    return {
        "why/before": softmax_rows(dots(INPUTS, INPUTS)),
        "why/after": softmax_rows(dots(matmul(INPUTS, updated), INPUTS)),
        "lookup/match": softmax([dot(entry, [0.0, 1.0]) for entry in entries]),
        "lookup/stored": stored,
        "matrices/W_query": uniform,
        "matrices/W_key": uniform,
        "matrices/W_value": uniform,
        "draw-order/query_first": uniform,
        "draw-order/key_second": uniform,
        "draw-order/key_first": given("draw-order", "query_first"),
        "parameter/from_trained": from_trained,
        "parameter/from_frozen": from_trained,
        "query/query": one.queries[1],
        "query/key": one.keys[1],
        "query/value": one.values[1],
        "sides/by_row": query,
        "sides/by_column": query,
        "keys-values/keys": one.keys,
        "keys-values/values": one.values,
        "one-score/score": dot(query, one.keys[1]),
        "one-score/keys": one.keys,
        "scores/scores": scores,
        "scores/W_query": matrices.query,
        "how-far/known": spreads[:3],
        "how-far/spreads": spreads,
        "spread/deviations": deviations,
        "spread/divided": [deviation / math.sqrt(width) for deviation, width in zip(deviations, widths, strict=True)],
        "saturate/random_weights": softmax_rows(scaled(random_scores, 1 / root)),
        "saturate/random_scores": random_scores,
        "saturation/largest": [mean([max(row) for row in rows]) for rows in both],
        "logistic/first": logistic,
        "logistic/slope": [share * (1 - share) for share in logistic],
        "lost-gradient/slopes": Within(
            "how small the first one is matters",
            [lower_median([norm(gradient(row)) for row in rows]) for rows in both],
            absolute=1e-7,
        ),
        "which-width/unchanged": measured[:1],
        "which-width/measured": measured,
        "sharpest-first/versions": versions,
        "sharpest-first/version_weights": softmax_rows(versions),
        "weights/weights": weights,
        "weights/scores": scores,
        "not-a-division/scores": scores,
        "not-a-division/spelled": [one.scaled[1], one.scaled[1], scaled(scores, root), one.scaled[1]],
        "all-to-one/embedding": INPUTS[-1],
        "all-to-one/of-last": [one.keys[-1], one.values[-1], query],
        "all-to-one/handed_over": one.values[-1],
        "context/context": one.context[1],
        "context/parts": [scaled(value, weight) for weight, value in zip(weights, one.values, strict=True)],
        "all-six/all_context": six.context,
        "all-six/weights_3": six.weights,
        "remember/weights": one.weights,
        "remember/context": one.context,
    }


@oracle(
    "attention-classes",
    {
        "v1": ["v1.W_query", "v1.W_key", "v1.W_value"],
        "members": ["holder.marked"],
        "not-a-matrix": ["layer.weight"],
        "one-seed": ["seeded_v1.W_query", "seeded_v1.W_key", "seeded_v1.W_value"],
        "v2": projections("v2"),
        "bias": [*projections("biased"), "biased.W_query.bias", "biased.W_key.bias", "biased.W_value.bias"],
        "linear-shape": ["layer.weight"],
        "silent": ["square.W_query", "square.W_key", "square.W_value"],
    },
)
def attention_classes(given: Given) -> Table:
    v1 = Weights(*(given("v1", f"v1.{name}") for name in NAMES))
    one = head(INPUTS, v1)

    def loss(weights: Weights) -> float:
        return math.fsum(flat(head(INPUTS, weights).context))

    def gradient(place: int) -> Matrix:
        """Return how the loss grows with each number of one of the three matrices."""

        def with_other(matrix: Matrix) -> float:
            return loss(Weights(*(matrix if i == place else own for i, own in enumerate(v1))))

        return estimate_gradient(with_other, v1[place])  # type: ignore[no-any-return]

    gradients = [gradient(place) for place in range(3)]
    steps = scaled(gradients, -0.1)
    moved = Weights(*add(list(v1), steps))

    v2 = given.matrices("v2", "v2")
    two = head(INPUTS, v2)

    seeded = Weights(*(given("one-seed", f"seeded_v1.{name}") for name in NAMES))
    # nn.Linear stretches the same draws from [0, 1) to what its width allows, and fills a matrix (out, in) with them.
    stretched = [nested([(2 * number - 1) / math.sqrt(3) for number in flat(matrix)], (2, 3)) for matrix in seeded]

    def inner_weights(seed: int, draw: Callable[[], Any]) -> Matrix:
        """Return the attention weights of matrices that are drawn after a seed."""
        torch.manual_seed(seed)
        return head(INPUTS, Weights(*plain(draw()))).weights

    with torch.random.fork_rng():
        of_789 = inner_weights(789, lambda: draw_matrices(3, 2, 3))
        of_42 = inner_weights(42, lambda: draw_matrices(3, 2, 3))
        unseeded = inner_weights(123, lambda: (torch.rand(135), *(torch.rand(3, 3) for _ in range(3)))[1:])

    wide, *drafts = given.redraw(
        "first-weights",
        lambda: (torch.randn(6, 768), torch.rand(768, 64), torch.rand(768, 64), *draw_matrices(768, 64, 2)),
    )
    fresh = [attend(matmul(wide, q), matmul(wide, k), wide).scaled for q, k in (drafts[:2], drafts[2:])]
    goal, by_kind = given.redraw(
        "first-gradient",
        lambda: (
            torch.randn(6, 64),
            ([torch.rand(3, 768, 64) for _ in range(6)], [draw_matrices(768, 64, 3) for _ in range(6)]),
        ),
    )

    def reach(weights: Weights) -> float:
        """Return the norm of the gradient of the mean squared error with respect to the query matrix."""
        layer = head(wide, weights)
        size = len(goal) * len(goal[0])
        by_context = each(lambda number, wanted: 2 * (number - wanted) / size, layer.context, goal)
        by_weights = dots(by_context, layer.values)
        by_scores = [
            [
                weight * (slope - dot(row, row_slopes)) / math.sqrt(64)
                for weight, slope in zip(row, row_slopes, strict=True)
            ]
            for row, row_slopes in zip(layer.weights, by_weights, strict=True)
        ]
        return norm(matmul(transpose(wide), matmul(by_scores, layer.keys)))

    weights, biases = zip(
        *((given("bias", f"biased.{name}.weight"), given("bias", f"biased.{name}.bias")) for name in NAMES), strict=True
    )
    queries, keys, values = (linear(INPUTS, weight, bias) for weight, bias in zip(weights, biases, strict=True))
    bare = linear(INPUTS, weights[2], [0.0, 0.0])
    shift = [5.0, -3.0]
    biased_weights = softmax_rows(dots(queries, keys))
    untrained = head(INPUTS, Weights(*given.redraw("carried", lambda: draw_matrices(3, 2, 3))))
    square = Weights(*(given("silent", f"square.{name}") for name in NAMES))
    return {
        "why/loose": one.context,
        "why/weights": one.weights,
        "v1/context": one.context,
        "v1/loose": one.context,
        "find-parameter/context": one.context,
        "find-parameter/W_value": v1.value,
        "members/marked": drawn(0, 1),
        "prepared/marked": given("members", "holder.marked"),
        "gradient/gradient": gradients[0],
        "gradient/W_query": v1.query,
        "gradient/value_gradient": gradients[2],
        "lower-loss/loss": loss(v1),
        "lower-loss/W_query": v1.query,
        "lower-loss/W_value": v1.value,
        "lower-loss/value_gradient": gradients[2],
        "which-way/rising": gradients[0],
        "which-way/W_query": v1.query,
        "which-way/step": steps[0],
        "downhill/losses": [loss(v1), loss(moved)],
        "downhill/W_query": moved.query,
        "grad-fn/weights": softmax_rows(one.scores)[0],
        "last-operation/scores": one.scores,
        "last-operation/mixed": matmul(one.weights, INPUTS),
        "more-names/first_queries": [one.queries[0]] * 2,
        "not-a-matrix/projected": matmul(INPUTS, transpose(given("not-a-matrix", "layer.weight"))),
        "one-seed/W_query_v1": drawn(0, 1),
        "one-seed/W_query_v2": stretched[0],
        "one-seed/context_1": head(INPUTS, seeded).context,
        "one-seed/context_2": head(INPUTS, Weights(*map(transpose, stretched))).context,
        "v2/context": two.context,
        "v2/context_v1": one.context,
        "inner-weights/of_your": [of_789[0], of_42[0], unseeded[0]],
        "inner-weights/weights_789": of_789,
        "inner-weights/weights_42": of_42,
        "inner-weights/unseeded": unseeded,
        "bound/ends": [1.0, math.sqrt(6 / (768 + 64)), 1 / math.sqrt(768)],
        "first-weights/tops": [mean([max(row) for row in softmax_rows(scores)]) for scores in fresh],
        "first-weights/spreads": [std(scores) for scores in fresh],
        "first-gradient/reach": Within(
            "scores of a thousand are rounded to 32 bits, and then they are exponents",
            [[reach(Weights(*matrices)) for matrices in models] for models in by_kind],
            absolute=1e-3,
            relative=1e-3,
        ),
        "bias/row-1": [bare[1], biases[2], values[1]],
        "key-bias/grown": [[dot(query, shift)] * 6 for query in queries],
        "key-bias/weights_before": biased_weights,
        "key-bias/weights_after": biased_weights,
        "linear-shape/inputs": INPUTS,
        "linear-shape/projected": matmul(INPUTS, transpose(given("linear-shape", "layer.weight"))),
        "linear-shape/weight": given("linear-shape", "layer.weight"),
        "linear/weight": transpose(v2.query),
        "linear/queries": two.queries,
        "linear/by_hand": two.queries,
        "carried/row-1": [one.context[1], untrained.context[1], one.context[1]],
        "silent/row-1": [
            head(INPUTS, square).context[1],
            head(INPUTS, Weights(*map(transpose, square))).context[1],
        ],
        "remember/built": one.context,
    }


@oracle("causal-mask", {"open-weights": projections("v2")})
def causal_mask(given: Given) -> Table:
    v2 = given.matrices("open-weights", "v2")
    free, causal = head(INPUTS, v2), head(INPUTS, v2, causal=True)
    scores, root = free.scores, math.sqrt(2)
    above, upper = later_keys(6), later_keys(6, 0)
    keep = each(lambda hidden: 1 - hidden, above)
    zeroed = hide(free.weights, above, 0.0)
    kept = row_sums(zeroed)
    # Without its second axis, the list of sums divides the columns: sum 0 the first, sum 1 the second, ...
    by_columns = [[divide(number, total) for number, total in zip(row, kept, strict=True)] for row in zeroed]

    other_inputs = [*INPUTS[:-1], [0.9, 0.1, 0.9]]
    other = head(other_inputs, v2)
    moved = distance(head(other_inputs, v2, causal=True).context, causal.context)

    def weights_of(scores: Matrix) -> Matrix:
        return softmax_rows(scaled(scores, 1 / root))

    def leak(fill: float) -> float:
        return math.fsum(softmax(scaled([scores[0][0], *[fill] * 5], 1 / root))[1:])

    zeros = hide(scores, above, 0.0)
    masked = hide(scores, above)
    blind = hide(scores, upper)
    return {
        "open-weights/weights": free.weights,
        "copy/copied": [*INPUTS[1:], [0.0] * 3],
        "copy/inputs": INPUTS,
        "copy/peeking": [[float(key == query + 1) for key in range(6)] for query in range(6)],
        "how-many-hidden/weights": free.weights,
        "keep/keep": keep,
        "zeroed/zeroed": zeroed,
        "zeroed/row_sums": kept,
        "certain-weight/divided": causal.weights,
        "certain-weight/zeroed": zeroed,
        "renormalized/renormalized": causal.weights,
        "renormalized/row_sums": [[total] for total in kept],
        "lost-axis/flat_sums": kept,
        "lost-axis/by_columns": by_columns,
        "lost-axis/renormalized": causal.weights,
        "does-it-leak/zeroed": zeroed,
        "does-it-leak/renormalized": causal.weights,
        "does-it-leak/moved_before": distance(hide(other.weights, above, 0.0), zeroed),
        # What is hidden has no part in the rows before the last.
        "does-it-leak/moved_after": [*[[0.0] * 6] * 5, distance(other.weights[5], free.weights[5])],
        "cancels/alone": softmax(free.scaled[2][:3]),
        "cancels/whole_row": causal.weights[2],
        "zero-for-hidden/filled": zeros,
        "zero-for-hidden/filled_weights": weights_of(zeros),
        "minus-inf/masked": masked,
        "minus-inf/mask": above,
        "blind-row/blind": blind,
        "blind-row/blind_weights": weights_of(blind),
        "false-masks/added": weights_of(add(scores, above)),
        "false-masks/multiplied": each(lambda score, hidden: -math.inf if hidden else math.nan, scores, above),
        "causal-weights/weights": causal.weights,
        "causal-weights/renormalized": causal.weights,
        "cost/written": [36 + 6 + 36, 36],
        "scale-order/scale_first": causal.masked,
        "scale-order/mask_first": causal.masked,
        "fill/leaks": [leak(fill) for fill in (0, -1, -10, -1e9, -math.inf)],
        "half-precision/converted": Within("scores rounded to 16 bits", masked, relative=1e-3),
        "open-mask/mask": above,
        "open-mask/weights": causal.weights,
        "context/context": causal.context,
        "context/values": causal.values,
        "lone-value/context": causal.context,
        "lone-value/values": causal.values,
        "last-word/weights": causal.weights,
        "proof/moved": moved,
        "proof/context": causal.context,
        "remember/weights": causal.weights,
        "remember/context": causal.context,
    }


@oracle("dropout", {"weights": projections("v2")})
def dropout(given: Given) -> Table:
    v2 = given.matrices("weights", "v2")
    free, causal = head(INPUTS, v2), head(INPUTS, v2, causal=True)
    weights = causal.weights

    def factors(step: str, *shapes: Sequence[int], rates: Sequence[float] = (0.5,)) -> list[Any]:
        """Return the factor of each number in the dropout of a step: 0, or 1 / (1 - p)."""
        ones = [torch.ones(*shape) for shape in shapes] * len(rates)
        rates = [*rates] * len(shapes)
        found = given.redraw(
            step, lambda: [nn.functional.dropout(one, rate) for one, rate in zip(ones, rates, strict=True)]
        )
        for numbers, rate in zip(found, rates, strict=True):
            assert all(number == 0 or close(number, 1 / (1 - rate)) for number in flat(numbers))
        return list(found)

    def thinned(step: str, numbers: Matrix) -> Matrix:
        (factor,) = factors(step, (len(numbers), len(numbers[0])))
        return product(numbers, factor)  # type: ignore[no-any-return]

    (many,) = factors("counts", (400, 36))
    gone = [sum(number == 0 for number in row) for row in many]
    draws = factors("scale", *[(6, 6)] * 300)
    by_rate = factors("rates", (4000,), rates=(0.1, 0.2, 0.5))
    (thousand,) = factors("not-again", (1000, 6, 6))
    (emptied,) = factors("empty-rows", (1000, 6, 6))
    by_weight, by_output = factors("places", (6, 6), (6, 2))
    (five_hundred,) = factors("positions", (500, 6, 6))
    first, second = factors("train", (6, 6), (6, 6))

    def share(distance: int) -> float:
        return mean([float(rows[key + distance][key] == 0) for rows in five_hundred for key in range(6 - distance)])

    dropped = thinned("dropped-weights", weights)
    mixed_up = thinned("on-scores", free.scaled)
    dropped_scores = thinned("wrong-place", causal.masked)
    fixed = [[2.0 * ((6 * row + column) % 5 > 0) for column in range(6)] for row in range(6)]
    zeros_or_twos = only(0, 2, why="the pattern is drawn at random")
    return {
        "how-many-zeros/square": [[1.0] * 6] * 6,
        "ones/dropped": zeros_or_twos,
        "ones/ones": [[1.0] * 6] * 6,
        "counts/draws": [sum(low <= count <= low + 4 for count in gone) for low in range(0, 36, 5)],
        "survivor/quarters": [[0.25] * 6] * 6,
        "survivor/thinned": only(0, 0.3125, why="the pattern is drawn at random"),
        "scale/average": [[mean([draw[i][j] for draw in draws]) for j in range(6)] for i in range(6)],
        "rates/rates": [[sum(n == 0 for n in ones) / 4000, max(ones), mean(ones)] for ones in by_rate],
        "patterns/here": zeros_or_twos,
        "patterns/intel": pattern("222222 020000 002020 220002 200002 020000"),
        "patterns/amd_arm": pattern("220220 000202 222202 022002 020202 022220"),
        "weights/weights": weights,
        "empty-rows/draw": product(weights, emptied[0]),
        "empty-rows/empty": [
            mean([float(not any(product(weights[row], factor[row]))) for factor in emptied]) for row in range(6)
        ],
        "one-weight-row/weights": weights,
        "dropped-weights/dropped": dropped,
        "dropped-weights/row_sums": row_sums(dropped),
        "not-again/average": product(
            weights, [[mean([factor[i][j] for factor in thousand]) for j in range(6)] for i in range(6)]
        ),
        "not-again/repaired": divide_by_row_sums([product(weights, factor)[0][:1] for factor in thousand[:8]]),
        "unmasked/open_dropped": thinned("unmasked", free.weights),
        "unmasked/open_weights": free.weights,
        "places/on_context": product(causal.context, by_output),
        "places/on_weights": matmul(product(weights, by_weight), causal.values),
        "on-scores/muddled": softmax_rows(hide(mixed_up, later_keys(6))),
        "on-scores/mixed_up": mixed_up,
        "wrong-place/wrong": softmax_rows(dropped_scores),
        "wrong-place/dropped_scores": dropped_scores,
        "positions/by_distance": [share(distance) for distance in range(6)],
        "positions/lost": each(lambda number: float(number == 0), five_hundred[0]),
        "after-training/weights": weights,
        "eval/unchanged": weights,
        "eval/weights": weights,
        "train/one": product(weights, first),
        "train/two": product(weights, second),
        "what-no-grad-does/weights": weights,
        "what-no-grad-does/result": thinned("what-no-grad-does", weights),
        "no-grad/under_no_grad": thinned("no-grad", weights),
        "no-grad/unchanged": weights,
        "erased-row/factors": fixed,
        "erased-row/context": matmul(product(weights, fixed), causal.values),
        "remember/in_training": thinned("remember", weights),
        "remember/in_use": weights,
    }


def pattern(text: str) -> Matrix:
    """Parse rows of one-digit numbers."""
    return [[float(digit) for digit in row] for row in text.split()]


@oracle("causal-class", {"run": projections("attention"), "rate": projections("dropping")})
def causal_class(given: Given) -> Table:
    attention = given.matrices("run", "attention")
    one = head(INPUTS, attention, causal=True)
    masked = hide(one.scores, later_keys(6))
    longer = head([*INPUTS, *INPUTS[:2]], attention)

    thin = head(INPUTS, given.matrices("rate", "dropping"), causal=True)
    # The layer draws its weights first, then the pattern.
    *_, factors = given.redraw("rate", lambda: (*draw_matrices(3, 2, 3), nn.functional.dropout(torch.ones(2, 6, 6))))
    return {
        "stack-shape/inputs": INPUTS,
        "why/weights": one.weights,
        "why/alone": one.context,
        "stack-shape/batch": [INPUTS, INPUTS],
        "transpose-shape/batch": [INPUTS, INPUTS],
        "transpose-shape/turned_inside": [transpose(INPUTS)] * 2,
        "transposes/swapped": [transpose(INPUTS)] * 2,
        "transposes/turned": [[[number, number] for number in column] for column in transpose(INPUTS)],
        "output-shape/batch": [INPUTS, INPUTS],
        "run/context": [one.context] * 2,
        "run/alone": one.context,
        "rate/dropped": [matmul(product(thin.weights, factor), thin.values) for factor in factors],
        "rate/again": [one.context] * 2,
        "ones-42/here": given.redraw("ones-42", lambda: nn.functional.dropout(torch.ones(6, 6), 0.5)),
        "ones-42/intel": pattern("002222 202020 002220 220202 202222 222020"),
        "do-they-mix/context": [one.context] * 2,
        "change-one-row/batch": [INPUTS, INPUTS],
        "change-one-row/moved": [[0.0] * 6] * 2,
        "separate/separate": [one.context, head(INPUTS[::-1], attention, causal=True).context],
        "separate/context": [one.context] * 2,
        "scores/scores": [one.scores] * 2,
        "scores/batch": [INPUTS, INPUTS],
        "in-place/kept_scores": [masked] * 2,
        "in-place/old_scores": [one.scores] * 2,
        "in-place-weights/weights": [one.weights] * 2,
        "whole-mask/fewer": [[row[:5] for row in one.scores[:5]]] * 2,
        "whole-mask/mask": later_keys(6),
        "shorter/shorter": [one.context[:4]] * 2,
        "shorter/corner": later_keys(4),
        "shorter/context": [one.context] * 2,
        "past-the-end/mask": later_keys(6),
        "too-long/cut": later_keys(6),
        "too-long/too_many": [longer.scores] * 2,
        "one-token-mask/open_scores": one.scores,
        "one-token-mask/tiny": [[0.0]],
        "one-token-mask/seeing": [softmax_rows(one.scaled)] * 2,
        "longer/mask": later_keys(6),
        "buffer/mask": later_keys(3),
        "buffer/plain_mask": later_keys(3),
        "trained-mask/mask": later_keys(6),
        "trained-mask/first_mask": later_keys(6),
        "outside/one": softmax_rows(masked),
        "outside/two": softmax_rows(masked),
        "remember/built": [one.context] * 2,
        "remember/alone": one.context,
    }


@oracle(
    "stacked-heads",
    {
        "two-heads": [*projections("head_1"), *projections("head_2")],
        "stacked-shape": [text for i in range(3) for text in projections(f"three.heads[{i}]")],
        "wrapper": [text for i in range(2) for text in projections(f"wrapper.heads[{i}]")],
    },
)
def stacked_heads(given: Given) -> Table:
    one, two = (head(INPUTS, given.matrices("two-heads", name), causal=True) for name in ("head_1", "head_2"))
    three = [head(INPUTS, given.matrices("stacked-shape", f"three.heads[{i}]"), causal=True) for i in range(3)]
    first, last = (head(INPUTS, given.matrices("wrapper", f"wrapper.heads[{i}]"), causal=True) for i in range(2))
    joined = [join_columns(first.context, last.context)] * 2
    looks = [[float(place == word) for place in range(6)] for word in (1, 4)]
    looks.append([(one + two) / 2 for one, two in zip(*looks, strict=True)])
    return {
        "views/weights": looks,
        "views/context": matmul(looks, INPUTS),
        "two-heads/Z_1": [one.context] * 2,
        "two-heads/Z_2": [two.context] * 2,
        "what-a-head-reads/batch": [INPUTS] * 2,
        "what-a-head-reads/weights_2": two.weights,
        "cat-shape/Z_2": [two.context] * 2,
        "cat-shape/side_by_side": [join_columns(one.context, two.context)] * 2,
        "one-column/moved": [0.0] * 4,
        "one-column/W_query": given("two-heads", "head_2.W_query.weight"),
        "one-column/W_value": given("two-heads", "head_2.W_value.weight"),
        "wrapper/context": joined,
        "wrapper/Z_1": [one.context] * 2,
        "concatenate/joined": joined,
        "concatenate/wrong": [[*first.context, *last.context]] * 2,
        "stacked-shape/batch": [INPUTS] * 2,
        "stacked-shape/joined_three": [join_columns(*(part.context for part in three))] * 2,
        "module-list/by_plain": joined,
        "module-list/context": joined,
        # Two heads, each with three matrices of 3 by 2; a plain list hides them all.
        "module-list/parameters": [2 * 3 * 3 * 2, 0],
        "one-head-twice/repeated": [join_columns(first.context, first.context)] * 2,
        "one-head-twice/context": joined,
        "whose-number/context": joined,
        "whose-number/batch": [INPUTS] * 2,
        "head-weights/weights": [first.weights, last.weights],
        "one-after-another/products": [3 * num_heads for num_heads in (1, 2, 4, 12)],
        "remember/built": joined,
        "remember/batch": [INPUTS] * 2,
    }


OUTPUT = ("out_proj.weight", "out_proj.bias")


@oracle(
    "weight-split",
    {
        "project": ["W_query.weight"],
        "who-changes": OUTPUT,
    },
)
def weight_split(given: Given) -> Table:
    a = [
        [[0.2745, 0.6584, 0.2775, 0.8573], [0.8993, 0.0390, 0.9268, 0.7388], [0.7179, 0.7058, 0.9156, 0.4340]],
        [[0.0772, 0.3565, 0.1479, 0.5331], [0.4066, 0.2318, 0.4545, 0.9737], [0.4606, 0.5159, 0.4220, 0.5786]],
    ]
    queries = matmul(INPUTS, transpose(given("project", "W_query.weight")))
    cut = [[row[:2], row[2:]] for row in queries]
    split = split_heads(queries, 2)
    heads = [attend(part, part, part, causal=True) for part in split]
    merged = join_columns(*(part.context for part in heads))
    silent = [[0.0, 0.0, *row[2:]] for row in merged]

    output = given("who-changes", "out_proj.weight"), given("who-changes", "out_proj.bias")

    def project(rows: Matrix) -> Matrix:
        return linear(rows, *output)

    def largest_change(one: Matrix, other: Matrix) -> Vector:
        return [max(column) for column in transpose(distance(one, other))]

    row = [[[float(4 * token + place) for place in range(4)] for token in range(3)]]
    cut_row = [[[token[:2], token[2:]] for token in row[0]]]
    swap_row = [split_heads(row[0], 2)]
    # The seventh of the twelve places was overwritten.
    shared = [[[-1.0 if number == 6 else number for number in token] for token in row[0]]]
    pieces_of = [[[token[:2], token[2:]] for token in shared[0]]]
    written = [
        matmul([line[at : at + 2] for line in merged], transpose([line[at : at + 2] for line in output[0]]))
        for at in (0, 2)
    ]

    many_queries, many_keys = given.redraw("sharpest-divisor", lambda: torch.randn(2, 12, 16, 64))
    many = [dots(*pair) for pair in zip(many_queries, many_keys, strict=True)]
    roots = [math.sqrt(768), 1.0, 8.0]

    def sharpness(root: float) -> float:
        return mean([max(softmax(scaled(scores, 1 / root))) for rows in many for scores in rows])

    return {
        "project/queries": [queries] * 2,
        "project/by_block": [split[0]] * 2,
        "same-product/joined": [queries] * 2,
        "same-product/queries": [queries] * 2,
        "cut-shape/queries": [queries] * 2,
        "cut/cut": [cut] * 2,
        "cut/queries": [queries] * 2,
        "must-divide/left_over": [4 % num_heads for num_heads in (1, 2, 3, 4)],
        "four-axes/a": [a],
        "four-axes/product_of_a": [[dots(part, part) for part in a]],
        "batched/products": [[dots(part, part) for part in a]],
        "batched/first": dots(a[0], a[0]),
        "batched/second": dots(a[1], a[1]),
        "heads-last/cut": [cut] * 2,
        "heads-last/at_once": [[dots(token, token) for token in cut]] * 2,
        "swap-shape/cut": [cut] * 2,
        "split/split": [split] * 2,
        "split/queries": [queries] * 2,
        "where-it-lands/split": [split] * 2,
        "where-it-lands/marked": [
            [[float((b, n, place) == (0, 4, 2)) for place in range(4)] for n in range(6)] for b in range(2)
        ],
        "which-row/split": [split] * 2,
        "double-heads/queries": [queries] * 2,
        "double-heads/W_query": given("project", "W_query.weight"),
        "which-row/W_query": given("project", "W_query.weight"),
        # Head 0 gets the first three tokens, head 1 the others: the numbers are only read in order.
        "wrong-view/wrong": [nested(list(flat(queries)), (2, 6, 2))] * 2,
        "wrong-view/split": [split] * 2,
        "sharpest-divisor/divisors": roots,
        "sharpest-divisor/largest": [sharpness(root) for root in roots],
        "divisors/spread": [std(many) / root for root in (1, math.sqrt(64), math.sqrt(768))],
        "attend/weights": [[part.weights for part in heads]] * 2,
        "attend/contexts": [[part.context for part in heads]] * 2,
        "memory/row": row,
        "memory/swap_row": swap_row,
        "memory-cut/shared": shared,
        "memory-cut/pieces_of": pieces_of,
        "strides/row": row,
        "strides/turned_row": [transpose(row[0])],
        "which-call-fails/parts": [split] * 2,
        "which-call-fails/back": [cut] * 2,
        "merge/merged": [merged] * 2,
        "merge/contexts": [[part.context for part in heads]] * 2,
        "memory-back/back": cut_row,
        "memory-back/copied": cut_row,
        "who-changes/silent": [silent] * 2,
        "who-changes/merged": [merged] * 2,
        "who-changes/moved": [largest_change(merged, silent), largest_change(project(merged), project(silent))],
        "out-proj/written": written,
        "out-proj/output": [project(merged)] * 2,
        "remember/built": [project(merged)] * 2,
        "remember/before": project(merged)[-1],
    }


@oracle(
    "multi-head-class",
    {
        "why": [*(f"layers[{i}].weight" for i in range(3)), *OUTPUT],
        "joint-shape": [*projections("wider"), *(f"wider.{name}" for name in OUTPUT)],
        "run": [*projections("attention"), *(f"attention.{name}" for name in OUTPUT)],
        "forgotten-scaling": [*projections("tiny"), *(f"tiny.{name}" for name in OUTPUT)],
        "blind-spot": ["thin"],
        "drop-in": [
            text
            for layer in ("joint", "above")
            for text in (*projections(layer), *(f"{layer}.{name}" for name in OUTPUT))
        ],
        "hints": [*projections("hinted_layer"), *(f"hinted_layer.{name}" for name in OUTPUT)],
        "one-head": projections("single"),
        "equal": [*projections("stacked.heads[0]"), *projections("stacked.heads[1]")],
    },
)
def multi_head_class(given: Given) -> Table:
    def layer(step: str, name: str, num_heads: int, inputs: Matrix = INPUTS) -> Matrix:
        """Return the result of a layer with joint heads for one sentence."""
        contexts = [part.context for part in joint_heads(inputs, given.matrices(step, name), num_heads)]
        return linear(join_columns(*contexts), *(given(step, f"{name}.{part}") for part in OUTPUT))

    loose_weights = Weights(*(transpose(given("why", f"layers[{i}].weight")) for i in range(3)))
    heads = [part.context for part in joint_heads(INPUTS, loose_weights, 2)]
    merged = join_columns(*heads)
    weight, bias = (given("why", name) for name in OUTPUT)
    loose = linear(merged, weight, bias)
    # What a head writes: the output for joined heads of which the other is silent, without the bias.
    silence = [[0.0, 0.0] for _ in INPUTS]
    nothing = [0.0] * len(bias)
    written = [linear(join_columns(*pair), weight, nothing) for pair in ((heads[0], silence), (silence, heads[1]))]
    stacked = [given.matrices("equal", f"stacked.heads[{i}]") for i in range(2)]
    separate = join_columns(*(head(INPUTS, matrices, causal=True).context for matrices in stacked))
    alone = head(INPUTS, given.matrices("one-head", "single"), causal=True).context
    below = layer("drop-in", "joint", 2)
    tiny = layer("forgotten-scaling", "tiny", 2)
    return {
        "why/loose": [loose] * 2,
        "joint-shape/batch": [INPUTS] * 2,
        "joint-shape/output": [layer("joint-shape", "wider", 3)] * 2,
        "code/packed": [loose] * 2,
        "code/loose": [loose] * 2,
        "hints/hinted_context": [layer("hints", "hinted_layer", 2)] * 2,
        "out-weight/loose": [loose] * 2,
        "out-weight/W_out": weight,
        "sum-of-heads/written": written,
        "sum-of-heads/loose": [loose] * 2,
        "into-one-head/loose": [loose] * 2,
        "into-one-head/values": [list(split_heads(matmul(INPUTS, loose_weights.value), 2))] * 2,
        "hear-one-head/W_out": weight,
        "hear-one-head/change": [max(abs(number) for number in column) for column in transpose(written[0])],
        "fewer-products/counted": [[3 * num_heads for num_heads in (1, 2, 4, 12)], [4] * 4],
        "equal/context": [separate] * 2,
        "equal/separate": [separate] * 2,
        "equal-inside/gaps": [0.0] * 5,
        "one-head/context": [alone] * 2,
        "one-head/alone": [alone] * 2,
        "run/context": [layer("run", "attention", 2)] * 2,
        "forgotten-scaling/right_context": [tiny] * 2,
        "forgotten-scaling/forgetful": [tiny] * 2,
        "blind-spot/joined": [join_columns(*heads) for heads in given("blind-spot", "thin")],
        "blind-spot/thin": drawn(-6, 6),
        "drop-in/twice": [layer("drop-in", "above", 2, below)] * 2,
        "drop-in/below": [below] * 2,
        "remember/built": [loose] * 2,
        "remember/loose": [loose] * 2,
    }


# The comparison ------------------------------------------------------------------------------------------------------


def difference(found: Tensor, expected: Any) -> str:
    """Describe what is wrong with a shown tensor; "" if it is as expected."""
    assert found.values is not None, "too large to be compared"
    if isinstance(expected, Property):
        holds = expected.holds(nested(found.values, found.shape))
        return "" if holds else f"not so, although {expected.why}: {found.values}"
    allowed = expected if isinstance(expected, Within) else Within("as usual", expected)
    if found.shape != shape_of(allowed.numbers):
        return f"shape {found.shape}, the loops give {shape_of(allowed.numbers)}"
    pairs = enumerate(zip(found.values, flat(allowed.numbers), strict=True))
    return "\n".join(
        f"{place}: {number}, the loops give {wanted}"
        for place, (number, wanted) in pairs
        if not close(number, wanted, allowed.absolute, allowed.relative)
    )


def close(number: float, wanted: float, absolute: float = TOLERANCE, relative: float = TOLERANCE) -> bool:
    """Return whether two numbers are the same up to rounding; nan is the same as nan."""
    if math.isfinite(number) and math.isfinite(wanted):
        return abs(number - wanted) <= absolute + relative * abs(wanted)
    return number == wanted or (math.isnan(number) and math.isnan(wanted))


def with_operands(lesson: Lesson) -> Lesson:
    """Return the lesson with the operands of its oracle added to what its steps show."""
    steps = []
    for step in lesson.steps:
        wanted = OPERANDS[lesson.id].get(step.id, ())
        if isinstance(step, RunningStep):
            more = tuple(ShownTensor(name=operand(text), kind="vector", expr=text) for text in wanted)
            step = step.model_copy(update={"show": (*step.show, *more)})
        steps.append(step)
    return lesson.model_copy(update={"steps": tuple(steps)})


def operand(expression: str) -> str:
    """Return the name under which a step shows an operand."""
    return f"operand {expression}"


@dataclass(frozen=True)
class Case:
    """The tensors that a run of a lesson showed, by `step/name`, and the operands for its oracle.

    `made` maps each operand, by step and expression, to the operation that computed it in the run.
    """

    lesson: Lesson
    shown: Mapping[str, Tensor]
    given: Given
    made: Mapping[tuple[str, str], str]

    @functools.cached_property
    def table(self) -> Table:
        """The numbers that the loops compute."""
        return ORACLES[self.lesson.id](self.given)


Cases = Callable[[str], Case]


def case_of(worker: Session, lesson: Lesson) -> Case:
    """Run a lesson, and divide the tensors that it shows into those to compare and operands."""
    assert lesson.id in ORACLES, f"write an oracle for {lesson.id}"
    shown, operands, made = {}, {}, {}
    run = worker.run(with_operands(lesson))
    try:
        for step in run.steps:
            assert step.error is None, step
            wanted = {operand(text): text for text in OPERANDS[lesson.id].get(step.id, ())}
            for tensor in step.tensors:
                if tensor.name not in wanted:
                    shown[f"{step.id}/{tensor.name}"] = tensor
                    continue
                assert tensor.values is not None, f"too large to be given: {tensor.name}"
                key = step.id, wanted[tensor.name]
                operands[key] = nested(tensor.values, tensor.shape)
                explained = explain(run, step.id, tensor.name, (0,) * len(tensor.shape))
                made[key] = explained.op if isinstance(explained, Explanation) else str(explained)
    finally:
        run.close()
    return Case(lesson, shown, Given(lesson, operands), made)


def shown_tensors(lesson: Lesson) -> list[str]:
    """List the tensors that a lesson shows, each as its step and its name."""
    steps = [step for step in lesson.steps if isinstance(step, RunningStep)]
    return [f"{step.id}/{shown.name}" for step in steps for shown in step.tensors]


@pytest.fixture(scope="module")
def case(worker: Session) -> Cases:
    """Return a function that runs a core lesson once, by its id."""
    return functools.cache(lambda name: case_of(worker, COURSE.lesson(name)))


@pytest.mark.parametrize("lesson", CORE, ids=lambda lesson: lesson.id)
def test_loops_give_the_shown_numbers(case: Cases, subtests: pytest.Subtests, lesson: Lesson) -> None:
    found = case(lesson.id)
    for entry in shown_tensors(lesson):
        with subtests.test(entry):
            assert entry in found.table, f"add {entry!r} to the oracle of {lesson.id}"
            assert not (wrong := difference(found.shown[entry], found.table[entry])), wrong


@pytest.mark.parametrize("lesson", CORE, ids=lambda lesson: lesson.id)
def test_oracle_names_only_shown_tensors(case: Cases, lesson: Lesson) -> None:
    found = case(lesson.id)
    assert [entry for entry in found.table if entry not in found.shown] == []
    assert set(OPERANDS[lesson.id]) <= {step.id for step in lesson.steps}


@pytest.mark.parametrize("lesson", CORE, ids=lambda lesson: lesson.id)
def test_operands_are_random_draws(case: Cases, lesson: Lesson) -> None:
    """The mistakes of the run would be in any operand that it has computed."""
    assert {key: made for key, made in case(lesson.id).made.items() if made != "draw"} == {}


# The oracle can fail -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", CORE, ids=lambda lesson: lesson.id)
def test_changed_number_is_noticed(case: Cases, subtests: pytest.Subtests, lesson: Lesson) -> None:
    for entry in shown_tensors(lesson):
        with subtests.test(entry):
            tensor, expected = case(lesson.id).shown[entry], case(lesson.id).table[entry]
            assert difference(replace(tensor, values=change_a_number(tensor, expected)), expected)


def change_a_number(tensor: Tensor, expected: Any) -> tuple[float, ...]:
    """Change one number of a tensor a little, or all of them a lot if only a property of them is expected."""
    values = list(tensor.values or ())
    if isinstance(expected, Property):
        return tuple(value - 100 for value in values)
    place = max((i for i, value in enumerate(values) if math.isfinite(value)), default=0)
    values[place] = values[place] + 0.003 * (1 + abs(values[place])) if math.isfinite(values[place]) else 0.0
    return tuple(values)


def test_moved_number_is_noticed(case: Cases) -> None:
    found = case("all-queries")
    tensor, expected = found.shown["context/context"], found.table["context/context"]
    turned = tuple(flat(transpose(expected)))
    assert difference(replace(tensor, values=turned), expected)
    assert difference(replace(tensor, values=turned, shape=(3, 6)), expected).startswith("shape (3, 6)")
    assert difference(replace(tensor, values=(math.nan, *(tensor.values or ())[1:])), expected)


@pytest.mark.parametrize(
    ("lesson", "find", "instead", "fails"),
    [
        (
            "one-query",
            "torch.dot(x, query)",
            "torch.dot(x, query) / 2",
            "scores/scores softmax/weights context/context",
        ),
        (
            "all-queries",
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=0)",
            "weights/weights context/context",
        ),
        ("trainable-weights", "scores / head_dim ** 0.5", "scores / head_dim", "weights/weights context/context"),
        (
            "trainable-weights",
            "values = inputs @ W_value",
            "values = inputs @ W_key",
            "keys-values/values context/context",
        ),
        ("attention-classes", "new -= 0.1 * old.grad", "new += 0.1 * old.grad", "downhill/losses downhill/W_query"),
        ("causal-mask", "renormalized = zeroed / row_sums", "renormalized = zeroed", "renormalized/renormalized"),
        (
            "causal-mask",
            "(torch.ones(context_length, context_length), diagonal=1)",
            "(torch.ones(context_length, context_length))",
            "minus-inf/mask proof/context",
        ),
        ("dropout", "dropped = dropout(weights)", "dropped = dropout(weights) / 2", "dropped-weights/dropped"),
        ("causal-class", "transpose(1, 2)", "transpose(1, 2).neg()", "scores/scores in-place-weights/weights"),
        ("stacked-heads", "torch.cat(alone, dim=-1)", "torch.cat(alone[::-1], dim=-1)", "concatenate/joined"),
        ("weight-split", "cut.transpose(1, 2)", "cut.reshape(2, 2, 6, 2)", "split/split attend/weights merge/merged"),
    ],
)
def test_wrong_lesson_is_noticed(
    worker: Session, case: Cases, lesson: str, find: str, instead: str, fails: str
) -> None:
    """Wherever the code of a lesson has some text, the test replaces it; the lesson still draws the same numbers."""
    right = COURSE.lesson(lesson)
    steps = tuple(
        step.model_copy(update={"code": step.code.replace(find, instead)}) if isinstance(step, RunningStep) else step
        for step in right.steps
    )
    assert steps != right.steps, f"no step has the code {find!r}"
    shown = case_of(worker, right.model_copy(update={"steps": steps})).shown
    for entry in fails.split():
        assert difference(shown[entry], case(lesson).table[entry]), entry


@pytest.mark.parametrize(
    ("lesson", "key", "fails"),
    [
        ("trainable-weights", ("matrices", "W_query"), "query/query scores/scores weights/weights context/context"),
        ("trainable-weights", ("matrices", "W_value"), "keys-values/values context/parts context/context"),
        ("causal-class", ("run", "attention.W_key.weight"), "scores/scores run/context shorter/shorter"),
        ("multi-head-class", ("run", "attention.out_proj.bias"), "run/context"),
    ],
)
def test_wrong_operand_is_noticed(case: Cases, lesson: str, key: tuple[str, str], fails: str) -> None:
    found = case(lesson)
    operands = {**found.given.operands, key: scaled(found.given.operands[key], 1.01)}
    table = ORACLES[lesson](Given(found.lesson, operands))
    for entry in fails.split():
        assert difference(found.shown[entry], table[entry]), entry
