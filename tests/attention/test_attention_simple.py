"""Attention without trainable weights: loops against matrix products, and the edges of the naive softmax."""

from __future__ import annotations

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attention as at

FEW = settings(max_examples=20, deadline=None, derandomize=True, database=None)


@FEW
@given(num_tokens=st.integers(1, 6), width=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_loops_equal_matrix_products(num_tokens: int, width: int, seed: int) -> None:
    torch.manual_seed(seed)
    inputs = torch.randn(num_tokens, width, dtype=torch.float64)
    query = torch.randn(width, dtype=torch.float64)

    one = at.scores_one_loop(query, inputs)
    torch.testing.assert_close(at.scores_one(query, inputs), one)
    torch.testing.assert_close(at.context_one_loop(at.weights_one(one), inputs), at.simple_attention_one(query, inputs))
    scores = at.scores_all_loop(inputs)
    torch.testing.assert_close(at.scores_all(inputs), scores)
    torch.testing.assert_close(at.context_all_loop(at.weights_all(scores), inputs), at.simple_attention(inputs))
    for i in range(num_tokens):
        torch.testing.assert_close(at.simple_attention_one(inputs[i], inputs), at.simple_attention(inputs)[i])


def test_loops_keep_the_gradient() -> None:
    torch.manual_seed(0)
    inputs = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    by_loop = at.context_all_loop(at.weights_all(at.scores_all_loop(inputs)), inputs)
    (loop_gradient,) = torch.autograd.grad(by_loop.square().sum(), inputs)
    (matrix_gradient,) = torch.autograd.grad(at.simple_attention(inputs).square().sum(), inputs)
    torch.testing.assert_close(loop_gradient, matrix_gradient)


def test_orthogonal_vectors_score_zero() -> None:
    assert at.scores_all(torch.eye(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_naive_softmax_is_softmax_while_exp_stays_in_range() -> None:
    scores = torch.tensor([0.3, -1.2, 4.0, 0.0])
    torch.testing.assert_close(at.softmax_naive(scores), torch.softmax(scores, dim=0))
    columns = torch.tensor([[0.3, 1.0], [2.0, -1.0], [0.5, 0.5]])
    torch.testing.assert_close(at.softmax_naive(columns), torch.softmax(columns, dim=0))


@pytest.mark.parametrize(
    ("scores", "naive"),
    [
        ([89.0, 1.0], [math.nan, 0.0]),  # exp(89) is inf: inf / inf, and finite / inf
        ([88.7, 88.7], [0.0, 0.0]),  # each exp fits, their sum does not
        ([-200.0, -201.0], [math.nan, math.nan]),  # 0 / 0
    ],
)
def test_naive_softmax_fails_where_softmax_does_not(scores: list[float], naive: list[float]) -> None:
    x = torch.tensor(scores)
    torch.testing.assert_close(at.softmax_naive(x), torch.tensor(naive), equal_nan=True)
    assert torch.softmax(x, dim=0).sum().item() == pytest.approx(1.0)


def test_dividing_by_the_sum_can_give_negative_weights() -> None:
    weights = at.normalize_by_sum(torch.tensor([3.0, -1.0]))
    assert weights.tolist() == [1.5, -0.5]
    assert at.normalize_by_sum(torch.tensor([1.0, -1.0])).isinf().all()


def test_wrong_shapes_say_what_is_needed() -> None:
    inputs, query = torch.rand(6, 3), torch.rand(4)
    with pytest.raises(ValueError, match="the width of the query is 4, but the width of the inputs is 3"):
        at.scores_one(query, inputs)
    with pytest.raises(ValueError, match="the width of the query is 4, but the width of the inputs is 3"):
        at.scores_one_loop(query, inputs)
    with pytest.raises(ValueError, match=re.escape("query has shape (6, 3), but one vector (a single axis) is needed")):
        at.scores_one(inputs, inputs)
    with pytest.raises(ValueError, match="the number of weights is 4, but the number of tokens is 6"):
        at.context_one(query, inputs)
    with pytest.raises(ValueError, match="the number of weights is 4, but the number of tokens is 6"):
        at.context_one_loop(query, inputs)
    for function in (at.scores_all, at.scores_all_loop, at.simple_attention):
        with pytest.raises(ValueError, match=re.escape("inputs has shape (1, 6, 3), but a matrix (two axes)")):
            function(inputs.unsqueeze(0))
    for product in (at.context_all, at.context_all_loop):
        with pytest.raises(ValueError, match="the number of weights in a row is 5, but the number of tokens is 6"):
            product(torch.rand(6, 5), inputs)
    with pytest.raises(ValueError, match="scores has shape"):
        at.weights_one(inputs)
    with pytest.raises(ValueError, match="scores has shape"):
        at.weights_all(query)
