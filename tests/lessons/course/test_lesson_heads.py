"""The lessons on heads: the statements that their runs fill in, computed a second time in a different way."""

from __future__ import annotations

import itertools
import operator
import re

import pytest
import torch
from torch import nn

from attn_tutor.attention.causal import CausalAttention
from attn_tutor.attention.multi_head import MultiHeadAttention, MultiHeadAttentionWrapper
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import Course, RunningStep
from attn_tutor.lessons.reading import recorded_outputs
from tests.lessons.course_runs import CourseRuns

LESSONS = ("stacked-heads", "weight-split", "multi-head-class", "gpt2-size")


def numbers(results: CourseRuns, path: str) -> list[float]:
    """Return all numbers of a shown tensor, given as `lesson/step/name`, in reading order."""
    lesson, step, name = path.split("/")
    values = next(tensor for tensor in results[lesson][step].tensors if tensor.name == name).values
    assert values is not None
    return [float(value) for value in values]


@pytest.mark.parametrize("name", LESSONS)
def test_fields_that_print_true_or_false_are_claims(results: CourseRuns, course: Course, name: str) -> None:
    """Without a claim, the field could print the opposite and nobody would notice."""
    for step in course.lesson(name).steps:
        if isinstance(step, RunningStep):
            fields = {field.key for text in step.templates for field in template.fields(text)}
            if {"True", "False"} & {results[name][step.id].text[key] for key in fields}:
                assert step.claims, step.id


# Stacked heads -------------------------------------------------------------------------------------------------------


def test_first_columns_are_the_first_head(results: CourseRuns) -> None:
    """Step `wrapper`: with the same seed, single heads and the heads of the wrapper draw the same weights."""
    assert results["stacked-heads"]["wrapper"].text["num_heads * d_out"] == "4"
    context = torch.tensor(numbers(results, "stacked-heads/wrapper/context")).view(2, 6, 4)
    for path, name in enumerate(("Z_1", "Z_2")):
        alone = torch.tensor(numbers(results, f"stacked-heads/two-heads/{name}")).view(2, 6, 2)
        assert torch.equal(context[..., 2 * path : 2 * path + 2], alone)


def test_columns_of_joined_heads_say_which_head_wrote_them(results: CourseRuns, course: Course) -> None:
    recorded = recorded_outputs.load(course.lesson("stacked-heads"))
    for step in (results["stacked-heads"]["wrapper"], recorded["wrapper"]):
        labels = {tensor.name: tensor.col_labels for tensor in step.tensors}
        assert labels == {"context": ("h0 d0", "h0 d1", "h1 d0", "h1 d1"), "Z_1": ("d0", "d1")}


def test_linear_layers_are_counted_correctly(results: CourseRuns) -> None:
    """The lessons count linear layers; the test counts calls of them."""

    def calls(layer: nn.Module) -> int:
        made: list[nn.Module] = []
        for part in layer.modules():
            if isinstance(part, nn.Linear):
                part.register_forward_hook(lambda module, *_: made.append(module))
        layer(torch.randn(1, 6, 3))
        return len(made)

    stacked = [calls(MultiHeadAttentionWrapper(3, 1, 6, 0.0, heads)) for heads in (1, 2, 4, 12)]
    split = [calls(MultiHeadAttention(3, 12, 6, 0.0, heads)) for heads in (1, 2, 4, 12)]
    assert numbers(results, "stacked-heads/one-after-another/products") == stacked == [3, 6, 12, 36]
    assert numbers(results, "multi-head-class/fewer-products/counted") == stacked + split == [3, 6, 12, 36, 4, 4, 4, 4]


# Weight split --------------------------------------------------------------------------------------------------------


def test_strides_in_the_prose(results: CourseRuns) -> None:
    steps = results["weight-split"]
    assert steps["memory"].text["row.stride()"] == "(12, 4, 1)"
    assert steps["memory"].text["swap_row.stride()"] == "(12, 2, 4, 1)"
    assert steps["memory-cut"].text["pieces_of.stride()"] == "(12, 4, 2, 1)"
    assert steps["memory-cut"].text["int((shared.flatten() == -1).nonzero())"] == "6"
    assert [tensor.draw for tensor in steps["memory-back"].tensors] == ["memory", "memory"]


def test_drawings_of_memory_differ(results: CourseRuns) -> None:
    """One storage is drawn twice, since nothing moves; every other drawing has different numbers in its places."""

    def places(step: str, name: str) -> list[float]:
        tensor = next(tensor for tensor in results["weight-split"][step].tensors if tensor.name == name)
        assert tensor.values is not None
        assert tensor.layout is not None
        indices = itertools.product(*map(range, tensor.shape))
        offsets = [sum(map(operator.mul, index, tensor.layout.strides)) for index in indices]
        return [number for _, number in sorted(zip(offsets, tensor.values, strict=True))]

    drawn = [("memory", "row"), ("memory", "swap_row"), ("memory-cut", "shared"), ("memory-back", "back")]
    row, swapped, shared, back = (places(*item) for item in drawn)
    assert row == swapped == places("memory-back", "copied")
    assert len({tuple(found) for found in (row, shared, back)}) == 3


def test_error_messages_in_the_prose(results: CourseRuns) -> None:
    steps = results["weight-split"]
    said = steps["must-divide"].text
    assert said["said[0]"] == "shape '[2, 6, 3, 1]' is invalid for input of size 48"
    assert said["said[1]"] == "d_out must be divisible by num_heads"
    assert "leaves a remainder of 1" in said["said[2]"]
    assert steps["merge"].text["refusal_of_view"].startswith("view size is not compatible")


def test_wrong_divisor_flattens_the_weights(results: CourseRuns) -> None:
    """Step `divisors`: only the square root of a head's width brings the standard deviation of scores to about 1."""
    unscaled, by_head, by_all = numbers(results, "weight-split/divisors/spread")
    assert by_head == pytest.approx(1, abs=0.1)
    assert unscaled == pytest.approx(8 * by_head, rel=1e-4)
    assert by_all == pytest.approx(by_head / 12**0.5, rel=1e-4)


def test_only_the_output_projection_mixes_heads(results: CourseRuns) -> None:
    moved = numbers(results, "weight-split/who-changes/moved")
    assert [value > 0 for value in moved] == [True, True, False, False, True, True, True, True]


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_split_equals_stacked(heads: int) -> None:
    """Steps `one-head` and `equal`, with other sizes: blocks of rows, and an output projection that does nothing."""
    stacked = MultiHeadAttentionWrapper(5, 4, 7, 0.0, heads)
    split = MultiHeadAttention(5, 4 * heads, 7, 0.0, heads)
    with torch.no_grad():
        for name in ("W_query", "W_key", "W_value"):
            blocks: list[torch.Tensor] = [head.get_parameter(f"{name}.weight") for head in stacked.heads]
            split.get_parameter(f"{name}.weight").copy_(torch.cat(blocks))
        split.out_proj.weight.copy_(torch.eye(4 * heads))
        split.out_proj.bias.zero_()
    inputs = torch.randn(3, 6, 5)
    assert torch.allclose(stacked(inputs), split(inputs), atol=1e-6)
    if heads == 1:
        single = CausalAttention(5, 4, 7, 0.0)
        single.load_state_dict(stacked.heads[0].state_dict())
        assert torch.allclose(single(inputs), split(inputs), atol=1e-6)


# The size of GPT-2 ---------------------------------------------------------------------------------------------------


def test_parameter_counts_in_the_prose(results: CourseRuns) -> None:
    steps = results["gpt2-size"]
    assert steps["layer"].text["total:,"] == "2,360,064"
    assert steps["with-biases"].text["biased_total:,"] == "2,362,368"
    assert steps["four-models"].text["totals[-1]:,"] == "1,557,611,200"


def test_listing_has_no_line_for_the_mask(results: CourseRuns) -> None:
    listing = results["gpt2-size"]["listing"].stdout
    lines = re.findall(r"^  \((\w+)\)", listing, re.MULTILINE)
    assert lines == ["W_query", "W_key", "W_value", "out_proj", "dropout"]
    assert "mask" not in listing
    assert "mask" in dict(MultiHeadAttention(768, 768, 4, 0.0, 12).named_buffers())
