"""The lessons on the library's layer, on buffers and on the cache: their numbers and other statements."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attn_tutor.attention.cache import KeyValueCache, MultiHeadAttentionCached
from attn_tutor.attention.causal import CausalAttention, CausalAttentionWithoutBuffers
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.result import Tensor
from tests.course import COURSE
from tests.lessons.course_runs import CourseRuns

OURS = [COURSE.lesson(name) for name in ("library-attention", "buffers", "key-value-cache")]
each_lesson = pytest.mark.parametrize("lesson", OURS, ids=[lesson.id for lesson in OURS])


def shown_tensor(results: CourseRuns, path: str, name: str) -> Tensor:
    lesson, step = path.split("/")
    return next(tensor for tensor in results[lesson][step].tensors if tensor.name == name)


@each_lesson
def test_most_steps_have_claims(lesson: Lesson) -> None:
    """The linter checks that the claims are true."""
    claimed = [step for step in lesson.steps if getattr(step, "claims", ())]
    assert len(claimed) >= 8


@pytest.mark.parametrize(
    ("path", "name", "row"),
    [
        ("library-attention/own-projections", "own_context", [-0.1560, -0.4011]),
        ("library-attention/extra-out-proj", "extra_context", [0.5557, 0.2163, 0.2250]),
        ("buffers/plain", "sentence", [-0.4519, 0.2216]),
    ],
)
def test_first_row_has_the_known_numbers(results: CourseRuns, path: str, name: str, row: list[float]) -> None:
    tensor = shown_tensor(results, path, name)
    assert list(tensor.row((), 0, 0, len(row)) or ()) == pytest.approx(row, abs=1.01e-4)


def test_parameters_are_counted_as_the_library_counts_them(results: CourseRuns) -> None:
    text = results["library-attention"]["price"].text
    assert (text["second_out:,"], text["inner_bias:,"]) == ("590,592", "2,304")
    assert text["second_out + inner_bias:,"] == "592,896"
    assert text["layers * (second_out + inner_bias):,"] == "7,114,752"
    counts = shown_tensor(results, "library-attention/order-by-size", "counts")
    assert list(counts.values or ()) == [2_952_960, 2_360_064, 4_722_432, 2_362_368]


def test_quoted_messages_are_real(results: CourseRuns) -> None:
    assert "should be (8, 8)" in results["library-attention"]["longer"].text["refusal"]
    assert "same dtype" in results["buffers"]["precision"].text["mixed_types"]
    missing, unexpected, wrong_size = results["buffers"]["strict"].stdout.splitlines()
    assert missing == 'Missing key(s) in state_dict: "mask".'
    assert unexpected == 'Unexpected key(s) in state_dict: "mask".'
    assert wrong_size.startswith("size mismatch for mask: ")


# What questions say about calls that no run makes --------------------------------------------------------------------


def test_library_requires_all_three_arguments() -> None:
    """`what-to-pass`: a call with one argument raises a TypeError."""
    with pytest.raises(TypeError):
        nn.MultiheadAttention(3, 3, batch_first=True)(torch.randn(2, 6, 3))


def test_mask_reveals_a_missing_batch_first() -> None:
    """Without a mask there is no error; the mistake `batch-first-forgotten` relies on that."""
    x, hidden = torch.randn(2, 6, 4), torch.ones(6, 6).triu(1).bool()
    forgetful = nn.MultiheadAttention(4, 2)
    assert forgetful(x, x, x)[0].shape == x.shape
    with pytest.raises(RuntimeError, match=r"should be \(2, 2\)"):
        forgetful(x, x, x, attn_mask=hidden)


def test_is_causal_alone_is_refused_by_the_module() -> None:
    x = torch.randn(2, 6, 4)
    with pytest.raises(RuntimeError, match="Need attn_mask"):
        nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x, is_causal=True)


def test_mask_is_dropped_with_is_causal_unless_weights_or_the_fast_path_need_it() -> None:
    """`ignore-mask`, `fast-path` and the mistake `mask-against-is-causal`."""
    x, causal = torch.randn(2, 6, 4), torch.ones(6, 6).triu(1).bool()
    odd = causal.clone()
    odd[1:, 0] = True
    module = nn.MultiheadAttention(4, 2, batch_first=True)

    def result(mask: torch.Tensor, is_causal: bool, need_weights: bool) -> torch.Tensor:
        context: torch.Tensor = module(x, x, x, attn_mask=mask, is_causal=is_causal, need_weights=need_weights)[0]
        return context

    usual, asked = result(causal, False, False), result(odd, False, False)
    assert not torch.allclose(usual, asked, atol=1e-4)
    for training in (True, False):
        module.train(training)
        assert torch.allclose(result(odd, True, False), usual, atol=1e-6)
        assert torch.allclose(result(odd, True, True), asked, atol=1e-6)
    with torch.no_grad():
        assert torch.allclose(result(odd, True, False), asked, atol=1e-6)


def test_row_with_nothing_to_see_is_nan_or_the_bias(results: CourseRuns) -> None:
    """`nan-or-not`: by the weights wanted, by `eval()` and by `no_grad`."""
    shown = shown_tensor(results, "library-attention/nan-or-not", "is_nan")
    assert [list(shown.row((), i, 0, 2) or ()) for i in (0, 1, 2)] == [[1, 0], [1, 0], [1, 1]]


def test_function_gives_zeros_for_a_row_that_is_hidden_entirely() -> None:
    """`two-senses`: nan from the module, 0 from the function."""
    x = torch.randn(3, 4)
    nothing = torch.zeros(3, 3).bool()
    assert F.scaled_dot_product_attention(x, x, x, attn_mask=nothing).abs().max() == 0
    module = nn.MultiheadAttention(4, 2)
    assert module(x, x, x, attn_mask=~nothing)[0].isnan().all()


def test_keys_joined_on_another_axis_are_refused() -> None:
    """`write-append`: an error, unless sizes happen to fit."""
    old, new = torch.randn(2, 5, 2), torch.randn(2, 1, 2)
    for axis in (0, 2):
        with pytest.raises(RuntimeError, match="must match"):
            torch.cat((old, new), dim=axis)
    assert torch.cat((old[:, :1], new), dim=0).shape == (4, 1, 2)


def test_multiplications_agree_with_the_counter_of_torch(results: CourseRuns) -> None:
    """`work` counts by a formula: the first use of PyTorch's own counter takes seconds, too long for a step."""
    layer = MultiHeadAttentionCached(3, 4, 64, 0.0, num_heads=2)
    told = list(shown_tensor(results, "key-value-cache/work", "products").values or ())
    counted: list[float] = []
    for length in (8, 16, 32, 64):
        text, cache = torch.randn(1, length, 3), KeyValueCache()
        layer(text[:, :-1], cache)
        for given in ((text,), (text[:, -1:], cache)):
            with FlopCounterMode(display=False) as counter, torch.no_grad():
                layer(*given)
            # a product and a sum each
            counted.append(counter.get_total_flops() / 2)
    assert told == counted


def test_mask_left_behind_on_another_device_is_an_error(results: CourseRuns) -> None:
    """`device-error` makes the error; the line that the learner writes before repairs it."""
    assert results["buffers"]["device-error"].stdout.splitlines() == [
        "with a buffer: (2, 6, 2)",
        "plain: Tensor on device meta is not on the expected device cpu!",
    ]
    plain = CausalAttentionWithoutBuffers(3, 2, 6, 0.0).to("meta")
    plain.mask = plain.mask.to("meta")
    assert plain(torch.empty(2, 6, 3, device="meta")).shape == (2, 6, 2)


def test_frozen_truth_values_cannot_be_thawed() -> None:
    """`mask-as-frozen-parameter`: a mask of truth values has no gradient, so thawing is refused."""
    module = nn.Module()
    module.mask = nn.Parameter(torch.ones(2, 2).bool(), requires_grad=False)
    assert list(dict(module.named_parameters())) == ["mask"]
    with pytest.raises(RuntimeError, match="floating point"):
        module.requires_grad_(True)


def test_load_opens_no_whole_module_by_default(tmp_path: Path) -> None:
    """`edited`, `weights-only`: `weights_only=True` is the default since PyTorch 2.6."""
    torch.save(CausalAttention(3, 2, 6, 0.0), tmp_path / "module.pt")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(tmp_path / "module.pt")


def test_load_copies_what_fits_before_it_complains() -> None:
    """`fit-longer` shows rows of masks, not weights: they arrive in spite of the error."""
    old, longer = CausalAttention(3, 2, 6, 0.0), CausalAttention(3, 2, 8, 0.0)
    with pytest.raises(RuntimeError, match="size mismatch for mask"):
        longer.load_state_dict(old.state_dict())
    assert torch.equal(longer.W_query.weight, old.W_query.weight)


def test_mask_that_is_no_buffer_is_left_behind_by_any_move() -> None:
    kept, plain = CausalAttention(3, 2, 6, 0.0), CausalAttentionWithoutBuffers(3, 2, 6, 0.0)
    assert copy.deepcopy(kept).to("meta").mask.is_meta
    assert not copy.deepcopy(plain).to("meta").mask.is_meta
    for change, expected in ((nn.Module.double, torch.float64), (nn.Module.half, torch.float16)):
        assert change(copy.deepcopy(kept)).mask.dtype == expected
        assert change(copy.deepcopy(plain)).mask.dtype == torch.float32


def test_strict_false_ignores_names_but_not_sizes() -> None:
    """`strict`: `strict=False` passes over names, not over sizes."""
    state = CausalAttention(3, 2, 6, 0.0).state_dict()
    with pytest.raises(RuntimeError, match="size mismatch for mask"):
        CausalAttention(3, 2, 8, 0.0).load_state_dict(state, strict=False)
    state.pop("mask")
    result = CausalAttention(3, 2, 8, 0.0).load_state_dict(state, strict=False)
    assert result.missing_keys == ["mask"]


def test_forward_changes_a_buffer_and_an_optimizer_does_not() -> None:
    """`running`: one step of an optimizer, without the buffer among its parameters and with it."""
    norm = nn.BatchNorm1d(3)
    assert norm.running_mean is not None
    optimizer = torch.optim.SGD(norm.parameters(), lr=1.0)
    before = norm.running_mean.clone()
    optimizer.step()
    assert torch.equal(norm.running_mean, before)
    norm(torch.randn(5, 3))
    assert not torch.equal(norm.running_mean, before)
    before = norm.running_mean.clone()
    norm.eval()(torch.randn(5, 3))
    assert torch.equal(norm.running_mean, before)
