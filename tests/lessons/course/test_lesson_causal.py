"""The lessons on the mask, on dropout and on the causal class: their statements, computed a second time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from attention.causal import CausalAttention
from tests.lessons.course_runs import CourseRuns

LESSONS = ("causal-mask", "dropout", "causal-class")
GOLDEN = Path(__file__).parents[2] / "attention" / "golden.json"


def shown_tensor(results: CourseRuns, path: str) -> Tensor:
    """Return a shown tensor by its path, `lesson/step/name`."""
    lesson, step, name = path.split("/")
    tensor = next(tensor for tensor in results[lesson][step].tensors if tensor.name == name)
    assert tensor.values is not None
    return torch.tensor([float(value) for value in tensor.values]).view(tensor.shape)


# The mask ------------------------------------------------------------------------------------------------------------


def test_renormalized_rows_do_not_leak(results: CourseRuns) -> None:
    before, after = (
        shown_tensor(results, "causal-mask/does-it-leak/moved_before"),
        shown_tensor(results, "causal-mask/does-it-leak/moved_after"),
    )
    assert (before.tril()[:-1].sum(dim=-1) > 1e-3).all()
    assert after[:-1].max() < 1e-6 < after[-1].min()


def test_sums_without_keepdim_divide_columns(results: CourseRuns) -> None:
    zeroed = shown_tensor(results, "causal-mask/zeroed/zeroed")
    sums = [sum(row) for row in zeroed.tolist()]
    wrong = [[cell / sums[column] for column, cell in enumerate(row)] for row in zeroed.tolist()]
    torch.testing.assert_close(shown_tensor(results, "causal-mask/lost-axis/by_columns"), torch.tensor(wrong))


def test_a_row_without_a_visible_token_is_nan(results: CourseRuns) -> None:
    blind = shown_tensor(results, "causal-mask/blind-row/blind_weights")
    assert blind.isnan().any(dim=-1).tolist() == [True, False, False, False, False, False]


# Dropout -------------------------------------------------------------------------------------------------------------


def test_dropout_patterns_are_printed_in_the_output(results: CourseRuns) -> None:
    printed = {entry["id"]: entry.get("printed") for entry in json.loads(GOLDEN.read_text(encoding="utf-8"))}
    intel, other = (shown_tensor(results, f"dropout/patterns/{name}") for name in ("intel", "amd_arm"))
    for name in ("s001.dropout.ones", "s003.dropout.ones"):
        assert intel.tolist() == printed[name]
    assert set(other.unique().tolist()) == {0.0, 2.0}


def test_a_layer_drops_out_until_eval() -> None:
    layer, weights = nn.Dropout(0.5), torch.ones(100, 100)
    with torch.no_grad():
        assert 0 < int((layer(weights) == 0).sum()) < weights.numel()
    layer.eval()
    assert torch.equal(layer(weights), weights)


# The class -----------------------------------------------------------------------------------------------------------


class Unchecked(CausalAttention):
    """A common way to write the class: it cuts the mask to the input and never checks the length."""

    def weights(self, inputs: Tensor) -> Tensor:
        """Return the causal weights of a batch."""
        n = inputs.shape[1]
        queries, keys = self.W_query(inputs), self.W_key(inputs)
        scores = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        return torch.softmax(scores.masked_fill(self.mask[:n, :n].bool(), -torch.inf), dim=-1)


def test_inputs_that_are_too_long_fail_or_leak() -> None:
    batch = torch.randn(2, 6, 3)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(4\) must match the size of tensor b \(6\)"):
        Unchecked(3, 2, 4, 0.0).weights(batch)
    assert (Unchecked(3, 2, 1, 0.0).weights(batch) > 0).all()
    for length in (1, 4):
        with pytest.raises(ValueError, match=f"context_length={length}"):
            CausalAttention(3, 2, length, 0.0)(batch)


def test_the_lesson_quotes_the_messages_about_long_inputs(results: CourseRuns) -> None:
    assert "must match the size" in results["causal-class"]["too-long"].text["refusal"]
    assert "context_length=6" in results["causal-class"]["longer"].text["refusal"]
    assert (shown_tensor(results, "causal-class/one-token-mask/seeing") > 0).all()
    assert "inplace operation" in results["causal-class"]["in-place-weights"].text["complaint"]


def test_sentences_of_a_batch_do_not_mix(results: CourseRuns) -> None:
    together, separate = (
        shown_tensor(results, "causal-class/run/context"),
        shown_tensor(results, "causal-class/separate/separate"),
    )
    torch.testing.assert_close(separate[0], together[0])
    assert not torch.allclose(separate[1], together[1], atol=1e-3)
