"""The lessons on the mask, on dropout and on the causal class: their statements, computed a second time."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from attn_tutor.attention.causal import CausalAttention
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


def intel_pattern(seed: int) -> list[list[float]]:
    """Drop half of 6x6 ones as Intel's MKL does: a congruential generator, seeded by a draw of a Mersenne Twister."""
    words = [seed]
    for place in range(1, 624):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + place) % 2**32)
    twister = random.Random()
    twister.setstate((3, (*words, 624), None))
    modulus = 2**31 - 1
    state = twister.getrandbits(32) % modulus
    kept = []
    for _ in range(36):
        kept.append(2.0 if state / modulus < 0.5 else 0.0)
        state = 1132489760 * state % modulus
    return [kept[start : start + 6] for start in range(0, 36, 6)]


def test_the_pattern_of_seed_42_is_that_of_an_intel_processor(results: CourseRuns) -> None:
    printed = {entry["id"]: entry.get("printed") for entry in json.loads(GOLDEN.read_text(encoding="utf-8"))}
    assert intel_pattern(123) == printed["s001.dropout.ones"]
    assert intel_pattern(42) == shown_tensor(results, "causal-class/ones-42/intel").tolist()


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


def test_a_mask_that_is_a_parameter_is_counted_but_not_trained() -> None:
    """Until `forward` computes with it: neither `bool()` nor `masked_fill` passes a gradient to a mask."""

    class ParameterMask(CausalAttention):
        def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
            assert tensor is not None
            setattr(self, name, nn.Parameter(tensor))

    model = ParameterMask(3, 2, 6, 0.0)
    before = model.mask.detach().clone()
    assert sum(p.numel() for p in model.parameters()) == 18 + 36
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.randn(2, 6, 3)).square().sum().backward()
        optimizer.step()
    assert model.mask.grad is None
    assert torch.equal(model.mask, before)


def test_sentences_of_a_batch_do_not_mix(results: CourseRuns) -> None:
    together, separate = (
        shown_tensor(results, "causal-class/run/context"),
        shown_tensor(results, "causal-class/separate/separate"),
    )
    torch.testing.assert_close(separate[0], together[0])
    assert not torch.allclose(separate[1], together[1], atol=1e-3)
