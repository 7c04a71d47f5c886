"""What the numbers of an operation with several results are called, and of tensors whose name was given away."""

from __future__ import annotations

import pytest
import torch

from attn_tutor.lessons.results import explanation as x
from tests.lessons.recorded_code import Traced

SETUP = """
F, nn = torch.nn.functional, torch.nn
torch.manual_seed(2)
a, b = torch.rand(3, 3), torch.tensor([3.0, 1.0, 3.0])
c = torch.rand(2, 3, 4)
mha, lstm = nn.MultiheadAttention(4, 2, batch_first=True), nn.LSTM(4, 3, batch_first=True)
"""

SELECTED = ["b.topk(2)[1]", "b.topk(2).values", "b.max(0).indices", "torch.std_mean(a, 1)[1]", "torch.linalg.svd(a).S"]


@pytest.mark.parametrize("code", SELECTED)
def test_a_result_that_the_code_selects_is_called_as_it_does(code: str) -> None:
    """The label is code that gives the tensor."""
    traced = Traced(f"{SETUP}r = {code} * 2")
    (operand,) = traced.explain("r", *[0] * traced.namespace["r"].dim()).operands
    assert operand.name == code
    assert float(eval(operand.label, dict(traced.namespace))) == operand.value


DESCRIBED = {
    "torch.unique(b, return_counts=True)[1]": "result 3 of unique2",
    "torch.var_mean(a, 1)[0]": "",
    "torch.linalg.eigh(a + a.T)[0]": "eigenvalues of linalg_eigh",
    "torch.linalg.qr(a)[1]": "R of linalg_qr",
    "torch.slogdet(a)[1]": "logabsdet of linalg_slogdet",
    "lstm(c)[0]": "result 1 of mkldnn_rnn_layer",
    "F.layer_norm(a, (3,))": "F.layer_norm(a, (3,))",
    "nn.BatchNorm1d(3)(a)": "nn.BatchNorm1d(3)(a)",
    "mha(c, c, c)[1]": "mean",
    "mha(c, c, c)[0]": "addmm",
    "F.max_pool2d(c, 2)": "F.max_pool2d(c, 2)",
}


@pytest.mark.parametrize("code", DESCRIBED)
def test_other_results_are_not_called_by_the_whole_call(code: str) -> None:
    traced = Traced(f"{SETUP}r = {code} * 2")
    operand = traced.explain("r", *[0] * traced.namespace["r"].dim()).operands[0]
    wanted, whole = DESCRIBED[code], code.rpartition("[")[0] or code
    assert operand.name in (wanted, f"({wanted} in {whole})", code if not wanted else "")


def test_the_count_of_samples_is_not_called_the_loss() -> None:
    traced = Traced(
        """
        F = torch.nn.functional
        scores, classes = torch.rand(3, 4, requires_grad=True), torch.tensor([0, 1, 2])
        loss = F.cross_entropy(scores, classes)
        loss.backward()
        g = scores.grad
        """
    )
    below = traced.follow(traced.explain("g", 0, 0).operands[0])
    count = next(operand for operand in below.operands if operand.value == 3)
    assert count.name == "(total_weight of nll_loss_forward in F.cross_entropy(scores, classes))"


def test_a_pair_of_tensors_gives_its_name_to_neither() -> None:
    """`p` is no tensor, and neither is what a module has given."""
    traced = Traced(
        f"""{SETUP}
p, q = b.topk(2), 0
both = mha(c, c, c)
r = p[0] + p.indices
s = both[1] * 2

def inside(x):
    pair = x.topk(2)
    values, places = x.topk(2)
    return pair[0] + values + places

t = inside(b)
"""
    )
    told = [traced.explain("r", 0), traced.explain("s", 0, 0, 0), traced.explain("t", 0)]
    told += [traced.follow(operand) for operand in told[2].operands]
    names = {operand.name for one in told for operand in one.operands}
    assert names >= {"(values of topk in b.topk(2))", "(indices of topk in b.topk(2))", "values", "places"}
    assert names.isdisjoint({"p", "both", "pair"})


RENAMED = {
    "prune": ("torch.nn.utils.prune.l1_unstructured(f, 'weight', amount=3)", "f.weight_orig"),
    "parametrization": ("nn.utils.parametrizations.weight_norm(f)", "f.parametrizations.weight.original1"),
    "by hand": ("f.v = f.weight\ndel f.weight\nf.weight = f.v * 2", "f.v"),
}


@pytest.mark.parametrize("way", RENAMED)
def test_a_parameter_that_was_renamed_has_its_new_name(way: str) -> None:
    """Its old name belongs to the tensor that took its place, or to none."""
    change, new = RENAMED[way]
    traced = Traced(f"import torch.nn.utils.prune\n{SETUP}f = nn.Linear(3, 2)\nbefore = f(b)\n{change}\nr = f(b)")
    pending = [traced.explain("r", 0)]
    found: dict[str, float] = {}
    while pending:
        current = pending.pop()
        found.update((operand.label, operand.value) for operand in current.operands)
        pending += map(traced.follow, current.operands)
    with torch.no_grad():
        f, renamed = traced.namespace["f"], eval(new, {"f": traced.namespace["f"]})
        for column in range(3):
            assert found[f"{new}[0,{column}]"] == float(renamed[0, column])
            told = found.get(f"f.weight[0,{column}]")
            assert told is None or told == float(f.weight[0, column])


def test_a_tensor_that_got_another_shape_is_called_by_its_present_indices() -> None:
    """By `out=`, or in place."""
    traced = Traced(
        """
        a = torch.rand(2, 3)
        o = torch.empty(0)
        torch.add(a, a, out=o)
        r = o * 2
        a.t_()
        s = a * 2
        a.unsqueeze_(0)
        t = a * 2
        """
    )
    assert traced.explain("r", 1, 2).operands[0].label == "o[1,2]"
    assert traced.explain("s", 2, 1).operands[0].label == "a[2,1]"
    assert traced.explain("t", 0, 2, 1).operands[0].label == "a[0,2,1]"


def test_a_number_that_a_library_made_is_not_called_what_it_was_given() -> None:
    """Pruning sets zeros; they are not the module that it was called with."""
    source = "import torch.nn.utils.prune as prune\nf = torch.nn.Linear(3, 2)"
    traced = Traced(f"{source}\nprune.l1_unstructured(f, 'weight', amount=3)\nr = f.weight_mask * 1")
    masked = (traced.namespace["r"] == 0).nonzero().tolist()[0]
    told = traced.follow(traced.explain("r", *masked).operands[0])
    assert told.notes == ("A number that Python gave to PyTorch here.",)
    assert isinstance(told, x.Explanation)


def test_a_parameter_of_a_module_without_a_name_is_not_called_like_the_module() -> None:
    traced = Traced("x = torch.rand(1, 2, 4)\ny = torch.nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x)[0] * 2")
    pending = [traced.explain("y", 0, 0, 0)]
    names: set[str] = set()
    while pending and len(names) < 200:
        current = pending.pop()
        names |= {operand.name for operand in current.operands}
        pending += map(traced.follow, current.operands)
    assert any("fill in torch.nn.MultiheadAttention(4, 2, batch_first=True)" in name for name in names)
    assert "torch.nn.MultiheadAttention(4, 2, batch_first=True)" not in names
