"""Attention without trainable weights: each token is query, key and value at once.

Three stages turn token embeddings into context vectors:

    scores   dot product of a query with every token         score[i, j]  = sum_d inputs[i, d] * inputs[j, d]
    weights  the scores of one query, made to sum to 1       weight[i, j] = exp(score[i, j]) / sum_k exp(score[i, k])
    context  the tokens, averaged with those weights         context[i]   = sum_j weight[i, j] * inputs[j]

Every stage is written twice: as a loop, where each number has its own line of Python, and as one matrix product.
Functions ending in ``_one`` serve a single query, functions ending in ``_all`` serve every token as the query.

Shapes: ``inputs`` is (num_tokens, d), a query is (d,). All functions raise ``ValueError`` for other shapes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._check import check_equal, check_matrix, check_vector

# -------------------------------------------------------------------------------------------- making weights sum to 1


def normalize_by_sum(scores: Tensor) -> Tensor:
    """Divide by the sum along the first axis: (n,) -> (n,).

    The result sums to 1, but it is only a set of weights while all scores are positive: a negative score gives a
    negative weight, and scores that cancel divide by zero. Softmax has neither problem.
    """
    return scores / scores.sum(dim=0)


def softmax_naive(x: Tensor) -> Tensor:
    """Softmax along the first axis, straight from its definition: (n,) -> (n,).

    In float32 ``exp`` overflows to inf above 88.72, and inf / inf is nan; a sum beyond 3.4e38 turns every entry into 0.
    When all entries lie below about -104 every ``exp`` is 0, and 0 / 0 is nan too. ``torch.softmax`` subtracts the
    largest entry first, which changes nothing in exact arithmetic and keeps every exponent at 0 or below.
    """
    return torch.exp(x) / torch.exp(x).sum(dim=0)


# --------------------------------------------------------------------------------------------------------- one query


def scores_one_loop(query: Tensor, inputs: Tensor) -> Tensor:
    """Scores of one query, one dot product per token: (d,), (num_tokens, d) -> (num_tokens,)."""
    _check_query(query, inputs)
    scores = torch.empty(
        inputs.shape[0], dtype=inputs.dtype, device=inputs.device
    )
    for j, token in enumerate(inputs):
        scores[j] = torch.dot(token, query)
    return scores


def scores_one(query: Tensor, inputs: Tensor) -> Tensor:
    """Scores of one query as a matrix-vector product: (d,), (num_tokens, d) -> (num_tokens,)."""
    _check_query(query, inputs)
    return inputs @ query


def weights_one(scores: Tensor) -> Tensor:
    """Weights of one query: (num_tokens,) -> (num_tokens,), summing to 1."""
    check_vector("scores", scores)
    return torch.softmax(scores, dim=0)


def context_one_loop(weights: Tensor, inputs: Tensor) -> Tensor:
    """Context vector of one query, adding one weighted token at a time: (num_tokens,), (num_tokens, d) -> (d,)."""
    _check_weights_one(weights, inputs)
    context = torch.zeros(
        inputs.shape[1], dtype=inputs.dtype, device=inputs.device
    )
    for weight, token in zip(weights, inputs, strict=True):
        context = context + weight * token
    return context


def context_one(weights: Tensor, inputs: Tensor) -> Tensor:
    """Context vector of one query as a vector-matrix product: (num_tokens,), (num_tokens, d) -> (d,)."""
    _check_weights_one(weights, inputs)
    return weights @ inputs


def simple_attention_one(query: Tensor, inputs: Tensor) -> Tensor:
    """All three stages for one query: (d,), (num_tokens, d) -> (d,)."""
    scores = scores_one(query, inputs)  # (n,)
    weights = weights_one(scores)  # (n,)
    context = context_one(weights, inputs)  # (d,)
    return context


# ------------------------------------------------------------------------------------------- every token as the query


def scores_all_loop(inputs: Tensor) -> Tensor:
    """Score of every pair of tokens, one dot product each: (num_tokens, d) -> (num_tokens, num_tokens)."""
    check_matrix("inputs", inputs)
    num_tokens = inputs.shape[0]
    scores = torch.empty(
        num_tokens, num_tokens, dtype=inputs.dtype, device=inputs.device
    )
    for i, query in enumerate(inputs):
        for j, token in enumerate(inputs):
            scores[i, j] = torch.dot(query, token)
    return scores


def scores_all(inputs: Tensor) -> Tensor:
    """Score of every pair of tokens as one matrix product: (num_tokens, d) -> (num_tokens, num_tokens)."""
    check_matrix("inputs", inputs)
    return inputs @ inputs.T


def weights_all(scores: Tensor) -> Tensor:
    """Softmax along the last axis, so that each row (each query) sums to 1: the shape stays the same."""
    check_matrix("scores", scores)
    return torch.softmax(scores, dim=-1)


def context_all_loop(weights: Tensor, inputs: Tensor) -> Tensor:
    """Every context vector, one row at a time: (num_tokens, num_tokens), (num_tokens, d) -> (num_tokens, d)."""
    _check_weights_all(weights, inputs)
    context = torch.empty(
        weights.shape[0],
        inputs.shape[1],
        dtype=inputs.dtype,
        device=inputs.device,
    )
    for i, row in enumerate(weights):
        context[i] = context_one_loop(row, inputs)
    return context


def context_all(weights: Tensor, inputs: Tensor) -> Tensor:
    """Every context vector as one matrix product: (num_tokens, num_tokens), (num_tokens, d) -> (num_tokens, d)."""
    _check_weights_all(weights, inputs)
    return weights @ inputs


def simple_attention(inputs: Tensor) -> Tensor:
    """All three stages for all tokens: (num_tokens, d) -> (num_tokens, d)."""
    scores = scores_all(inputs)  # (n, n)
    weights = weights_all(scores)  # (n, n)
    context = context_all(weights, inputs)  # (n, d)
    return context


# ------------------------------------------------------------------------------------------------------------ checks


def _check_query(query: Tensor, inputs: Tensor) -> None:
    check_vector("query", query)
    check_matrix("inputs", inputs)
    check_equal(
        "the width of the query",
        query.shape[0],
        "the width of the inputs",
        inputs.shape[1],
    )


def _check_weights_one(weights: Tensor, inputs: Tensor) -> None:
    check_vector("weights", weights)
    check_matrix("inputs", inputs)
    check_equal(
        "the number of weights",
        weights.shape[0],
        "the number of tokens",
        inputs.shape[0],
    )


def _check_weights_all(weights: Tensor, inputs: Tensor) -> None:
    check_matrix("weights", weights)
    check_matrix("inputs", inputs)
    check_equal(
        "the number of weights in a row",
        weights.shape[1],
        "the number of tokens",
        inputs.shape[0],
    )
