"""The recorder: its limits, random draws, and overwritten values."""

from __future__ import annotations

import re
import weakref
from typing import Any

import pytest
import torch

from attn_tutor.lessons.worker.recording import operation_info
from attn_tutor.lessons.worker.recording.operation_info import FAST
from attn_tutor.lessons.worker.recording.regions import Region
from tests.lessons.recorded_code import Traced, is_close


@pytest.mark.parametrize(
    "view",
    [
        *("x", "x.T", "x[1:]", "x[:, ::2]", "x[2]", "x.reshape(2, 2, 6).transpose(0, 2)", "x.expand(2, 4, 6)[:, 1]"),
        *("x.as_strided((4, 3), (1, 1))", "x.as_strided((3, 3), (2, 3))", "x.as_strided((2, 3, 2), (6, 5, 4), 1)"),
    ],
)
def test_a_region_finds_its_elements(view: str) -> None:
    """Each index has an offset that leads back to it; other offsets are not in the region."""
    tensor = eval(view, {"x": torch.arange(24.0).reshape(4, 6)})
    region = Region.of(tensor)
    held = {int(number) for number in tensor.flatten()}
    for offset in range(24):
        index = region.find(4 * offset)
        assert (index is not None) == (offset in held)
        if index is not None:
            assert tensor[index] == offset


DRAWS = """
first = torch.rand(2, 3)
second = torch.empty(3, 2).t().uniform_(-1, 2)
layer = torch.nn.Linear(3, 2)
weight = layer.weight
bias = layer.bias
"""


def test_uniform_draws_can_be_repeated() -> None:
    """Draw n of a seed is number n of `torch.rand` after that seed."""
    traced = Traced()
    torch.manual_seed(7)
    traced.run(DRAWS)
    torch.manual_seed(7)
    again = torch.rand(100).tolist()
    for name in ("first", "second", "weight", "bias"):
        tensor = traced.namespace[name].detach()
        for index in torch.ones_like(tensor).nonzero().tolist():
            explanation = traced.explain(name, *index)
            found = re.match(r"Uniform draw (\d+) of seed 7, between (\S+) and (\S+)\.", explanation.notes[0])
            assert found is not None, explanation.notes
            low, high = float(found[2]), float(found[3])
            assert abs(again[int(found[1]) - 1] * (high - low) + low - explanation.value) < 1e-5


@pytest.mark.parametrize(
    "code",
    [
        "torch.randn(3, 4)",
        "torch.randn(20)",
        "torch.randint(0, 9, (5,))",
        "torch.randperm(6)",
        "torch.bernoulli(torch.full((4,), 0.5))",
        "torch.rand(4, dtype=torch.float64)",
    ],
)
def test_other_draws_are_counted_by_operation(code: str) -> None:
    """Other operations consume random bits differently, so a draw is described by the count of random operations."""
    traced = Traced()
    torch.manual_seed(3)
    traced.run(f"before = torch.rand(2)\ndrawn = {code}\nafter = torch.rand(2)")
    torch.manual_seed(3)
    torch.rand(2)
    again = eval(code).flatten().tolist()
    drawn = traced.namespace["drawn"]
    for index in torch.ones_like(drawn).nonzero().tolist():
        explanation = traced.explain("drawn", *index)
        found = re.search(r" draw (\d+) of the 2nd random operation after seed 3", explanation.notes[0])
        assert found is not None, explanation.notes
        assert again[int(found[1]) - 1] == explanation.value
    assert "of the 3rd random operation after seed 3" in traced.explain("after", 0).notes[0]


def test_nothing_is_drawn_on_the_meta_device() -> None:
    """Numbers that nobody has are not counted among the draws of a seed."""
    traced = Traced()
    torch.manual_seed(3)
    traced.run(
        "first = torch.rand(2, device='meta')\nx = torch.rand(2)\nlast = torch.randn(2, device='meta')\ny = x.normal_()"
    )
    torch.manual_seed(3)
    torch.rand(2)
    assert float(torch.randn(2)[0]) == traced.explain("y", 0).value
    assert traced.explain("y", 0).notes[0].startswith("Normal draw 1 of the 2nd random operation after seed 3")


def test_draws_after_an_unrecorded_draw_are_not_counted() -> None:
    """After draws that were not recorded, the count is unknown."""
    traced = Traced()
    torch.manual_seed(3)
    torch.rand(5)
    traced.run("x = torch.rand(2)")
    assert traced.explain("x", 0).notes[0].startswith("Uniform draw of seed 3,")


@pytest.mark.parametrize("limit", [{"most": 6}, {"keep": 400}])
def test_recording_stops_at_its_limit_and_says_so(limit: dict[str, Any]) -> None:
    """The run goes on; earlier numbers are still explained unless they were overwritten later."""
    traced = Traced(**limit)
    traced.run(
        """
        a = torch.ones(4)
        b = a + 1
        c = torch.ones(3)
        d = c * 2
        for _ in range(20):
            e = torch.zeros(30) + 5
        b += 1
        f = e + 1
        """
    )
    assert traced.recorder.record.stopped
    assert len(traced.recorder.record.events) <= 8
    assert traced.namespace["f"][0] == 6
    late = traced.explain("f", 0)
    assert (late.op, late.value) == ("unrecorded", 6.0)
    assert "Recording had stopped at line" in late.notes[0]
    assert traced.explain("d", 1).op == "multiply"
    lost = traced.explain("b", 0)
    assert lost.op == "unrecorded"
    assert not lost.operands


def test_unrecorded_writes_give_no_formula() -> None:
    """If memory was changed without the recorder, the formula does not give the value and is not shown."""
    traced = Traced("x = torch.ones(3)\ny = x * 2")
    traced.namespace["y"].untyped_storage().fill_(0)
    explanation = traced.explain("y", 1)
    assert explanation.op == "unrecorded"
    assert "does not account" in explanation.notes[0]


def test_a_record_is_freed_with_its_recorder() -> None:
    """No circle of references keeps its tensors until the garbage collector comes."""
    traced = Traced("x = torch.ones(3)\ny = x * 2")
    record = weakref.ref(traced.recorder.record)
    del traced
    assert record() is None


def test_data_and_set_change_the_storage() -> None:
    """A tensor with a new storage is explained by the new storage; the old one is still recorded."""
    traced = Traced(
        """
        x = torch.ones(3)
        y = x * 2
        x.data = torch.full((3,), 5.0)
        z = x + 1
        x.set_(torch.full((3,), 7.0))
        w = x + 1
        """
    )
    for name, value in {"y": 2.0, "z": 6.0, "w": 8.0}.items():
        explanation = traced.explain(name, 0)
        assert explanation.value == value
        assert explanation.op != "unrecorded"
    traced.check_all("y", "z", "w")
    assert is_close(traced.explain("y", 0).operands[0].value, 1.0)


def test_a_node_of_autograd_may_have_attributes_of_its_own() -> None:
    """A function whose backward pass has kept something as `variable` does not end the record."""
    traced = Traced(
        """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.variable = 2
                return x * 2

            @staticmethod
            def backward(ctx, gradient):
                return gradient * ctx.variable

        x = torch.ones(3, requires_grad=True)
        Double.apply(x).sum().backward()
        gradient = x.grad * 1
        """
    )
    assert not traced.recorder.record.stopped
    traced.check_all("gradient")


SAMPLES = {
    "pow": (2,), "dot": "vv", "mv": "mv", "mm": "mm", "bmm": "bb", "addmm": "mmm", "permute": ([1, 0],),
    "unsqueeze": (0,), "expand": ([2, 3, 3],), "view": ([9],), "triu": (1,), "tril": (-1,), "embedding": "mi",
    "_softmax": (1, False), "_log_softmax": (1, False), "maximum": "mm", "copy_": "mm", "addcmul_": "mmm",
    "addcdiv_": "mmm", "transpose": (0, 1), "select": (0, 1), "squeeze": (0,), "lerp_": "mm0", "masked_fill": "mk0",
    "masked_fill_": "mk0", "native_layer_norm": ([3], None, None, 1e-5), "_softmax_backward_data": "mm1f",
    "_log_softmax_backward_data": "mm1f", "split": (2,), "unbind": (1,), "index_select": "m1i",
    "_local_scalar_dense": "e",
}  # fmt: skip
"""What operations take besides a matrix, or letters for all that they take."""


@pytest.mark.parametrize(("overload", "op"), [(overload, op) for overload, ops in FAST.items() for op in sorted(ops)])
def test_a_fast_call_gives_what_the_operation_gives(overload: str, op: str) -> None:
    """The function in `torch` takes the arguments of the operation in their order, for each in the list."""
    func = getattr(getattr(torch.ops.aten, op), overload or "default")
    torch.manual_seed(2)
    letters = {"v": torch.rand(3), "b": torch.rand(2, 3, 3), "i": torch.tensor([0, 2]), "k": torch.rand(3, 3) > 0.5}
    values = {**letters, "e": torch.rand(1), "0": 0.3, "1": 1, "f": torch.float32}
    default = {"Tensor": "mm", "Scalar": "m0", "dim": (0,), "dim_IntList": ([0], True)}.get(overload, ())
    given = SAMPLES.get(op, default) if (op, overload) != ("mean", "dim") else ([0], True)
    given = given if isinstance(given, str) else ("m", *given)
    results = []
    call = operation_info.read(func).call
    assert call is not None
    for function in (func, call):
        torch.manual_seed(3)
        args = [torch.rand(3, 3) if item == "m" else values[item] if isinstance(item, str) else item for item in given]
        out = function(*args)
        several = out if isinstance(out, tuple | list) else (out,)
        results.append([args[0], *map(torch.as_tensor, several)])
    for one, other in zip(*results, strict=True):
        assert one.dtype == other.dtype
        assert one.stride() == other.stride()
        assert torch.equal(one, other)


INFERENCE = """
with torch.inference_mode():
    normed = F.layer_norm(x, (3,))
    projected = F.linear(normed, weight, bias)
    pooled = F.max_pool1d(projected, 2)
    joined = torch.einsum("ij,kj->ik", projected, projected)
"""


def test_composite_operations_are_explained_in_inference_mode_too() -> None:
    """Without autograd, PyTorch hands them to a recorder as they are."""
    torch.manual_seed(0)
    given = {"F": torch.nn.functional, "x": torch.randn(2, 3), "weight": torch.randn(4, 3), "bias": torch.randn(4)}
    plain: dict[str, Any] = {"torch": torch, **given}
    exec(INFERENCE, plain)
    traced = Traced()
    traced.namespace.update(given)
    traced.run(INFERENCE)
    for name in ("normed", "projected", "pooled", "joined"):
        assert torch.equal(traced.namespace[name], plain[name])
        explanation = traced.explain(name, 1, 0)
        assert explanation.value is not None
        assert is_close(explanation.value, plain[name][1, 0].item())
        assert not [note for note in explanation.notes if "no rule" in note], name
